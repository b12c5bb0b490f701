//! Geometries of GML 3.2 and 3.1 (OGC 07-036 clause 10), in degrees east and north.
//!
//! Points, lines and polygons of straight pieces, and collections of them; what is curved is refused.

use crate::area::{Area, system as system_of};
use crate::exception::Exception;
use crate::limits::COORDINATES_MAX;
use weir_codec::crs::Position;
use weir_codec::document::{Element, Xml};
use weir_geo::{Geometry, Point};

/// Says whether an element is a geometry by its name.
pub(crate) fn is_geometry(element: &Element) -> bool {
    let local = element.local.as_str();
    let single = ["Point", "LineString", "Polygon", "Envelope"].contains(&local);
    single || local.starts_with("Multi")
}

/// Reads a geometry.
pub(crate) fn read(parameter: &str, element: &Element) -> Result<Geometry, Exception> {
    let mut reader = Reader {
        parameter,
        into: Geometry::default(),
        count: 0,
    };
    reader.add(element, "")?;
    Ok(reader.into)
}

/// Writes `gml:pos`, whose prefix the document has, in one of two systems, the second of which has a height.
pub(crate) fn position(at: Position, systems: [&str; 2], xml: &mut Xml) {
    let Position { place, height } = at;
    let flat = format!("{} {}", place.latitude, place.longitude);
    let (system, text) = match height {
        None => (systems[0], flat),
        Some(height) => (systems[1], format!("{flat} {height}")),
    };
    xml.start("gml:pos").attribute("srsName", system);
    xml.text(&text).end();
}

struct Reader<'a> {
    parameter: &'a str,
    into: Geometry,
    count: usize,
}

impl Reader<'_> {
    /// `system` is that of what it stands in.
    fn add(&mut self, element: &Element, system: &str) -> Result<(), Exception> {
        let system = element.attribute("srsName").unwrap_or(system);
        match element.local.as_str() {
            "Point" => {
                let points = self.coordinates(element, system)?;
                self.into.points.extend(points);
            }
            "LineString" => {
                let line = self.coordinates(element, system)?;
                self.into.lines.push(line);
            }
            "Polygon" => {
                let rings = element.elements().map(|ring| {
                    let ring = ring.child("LinearRing").unwrap_or(ring);
                    self.coordinates(ring, system)
                });
                let rings = rings.collect::<Result<Vec<_>, _>>()?;
                self.into.polygons.push(rings);
            }
            "Envelope" => {
                let area = Area::of_envelope(self.parameter, element, system)?;
                self.into.polygons.push(vec![area.ring()]);
            }
            multiple if multiple.starts_with("Multi") => {
                let members = element.elements().flat_map(Element::elements);
                members
                    .into_iter()
                    .try_for_each(|member| self.add(member, system))?;
            }
            other => return Err(self.invalid(format!("{other} is not read as a geometry"))),
        }
        Ok(())
    }

    fn invalid(&self, sentence: impl Into<String>) -> Exception {
        Exception::invalid(self.parameter, sentence)
    }

    /// `gml:pos`, `gml:posList` and the `gml:coordinates` of before. All are asked in the plane, so a height would
    /// not be looked at.
    fn coordinates(&mut self, element: &Element, system: &str) -> Result<Vec<Point>, Exception> {
        let mut points = Vec::new();
        let outer = element.attribute("srsName").unwrap_or(system);
        for part in element.elements() {
            let system = part.attribute("srsName").unwrap_or(outer);
            let crs = system_of(self.parameter, system)?;
            let numbers = self.numbers(part)?;
            if numbers.len() % 2 == 1 {
                return Err(self.invalid(format!("{} needs pairs of coordinates", element.local)));
            }
            for pair in numbers.chunks_exact(2) {
                let position = crs.position(pair);
                let place = position.map_err(|what| {
                    self.invalid(format!("expected {what}, but filters lie in the plane"))
                })?;
                points.push((place.place.longitude, place.place.latitude));
            }
        }
        if points.is_empty() {
            Err(self.invalid(format!("{} has no coordinates", element.local)))
        } else {
            Ok(points)
        }
    }

    fn numbers(&mut self, part: &Element) -> Result<Vec<f64>, Exception> {
        let usual = [
            ("decimal", "."),
            ("cs", ","),
            ("ts", " "),
            ("srsDimension", "2"),
        ];
        for (name, usual) in usual {
            if part.attribute(name).is_some_and(|own| own != usual) {
                let sentence = format!("{name} of {} is read where it is `{usual}`", part.local);
                return Err(self.invalid(sentence));
            }
        }
        let mut numbers = Vec::new();
        let text = part.text();
        for word in text.split(|sign: char| sign.is_ascii_whitespace() || sign == ',') {
            match (word.is_empty(), word.parse::<f64>()) {
                (true, _) => {}
                (false, Ok(number)) if number.is_finite() => numbers.push(number),
                _ => return Err(self.invalid(format!("`{word}` is no coordinate"))),
            }
        }
        self.count += numbers.len();
        if self.count > COORDINATES_MAX {
            Err(self.invalid(format!("more than {COORDINATES_MAX} coordinates")))
        } else {
            Ok(numbers)
        }
    }
}
