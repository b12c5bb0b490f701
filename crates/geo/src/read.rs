//! Reading WKT and GeoJSON.

use super::{Geometry, Point};
use serde_json::Value as Json;

/// Coordinates of one geometry at most.
const COORDINATES_MAX: usize = 10_000;
/// Collections in collections.
const DEPTH_MAX: usize = 8;

/// Reads WKT; `None` where it is none, or in another reference system than that of degrees (4326, the same as none).
pub fn parse(text: &str) -> Option<Geometry> {
    let text = match text.split_once(';') {
        Some((srid, rest)) => {
            let srid = srid.trim().to_uppercase();
            matches!(&*srid, "SRID=4326" | "SRID=0").then_some(rest)?
        }
        None => text,
    };
    let mut reader = Reader {
        rest: text.trim(),
        coordinates: 0,
    };
    let mut geometry = Geometry::default();
    reader.geometry(&mut geometry, 0)?;
    reader.rest.is_empty().then_some(geometry)
}

struct Reader<'a> {
    rest: &'a str,
    coordinates: usize,
}

impl Reader<'_> {
    fn skip(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(sign)?.trim_start();
        Some(())
    }

    fn word(&mut self) -> String {
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphabetic());
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        word.to_uppercase()
    }

    fn geometry(&mut self, into: &mut Geometry, depth: usize) -> Option<()> {
        let mut kind = self.word();
        if kind.ends_with('Z') && kind.len() > 1 {
            kind.pop();
        }
        if self.rest.starts_with(['Z', 'z']) {
            self.word();
        }
        match &*kind {
            "POINT" => into.points.extend(self.chain()?),
            "MULTIPOINT" => into.points.extend(self.points()?),
            "LINESTRING" => into.lines.push(self.chain()?),
            "MULTILINESTRING" => into.lines.extend(self.chains()?),
            "POLYGON" => into.polygons.push(self.chains()?),
            "MULTIPOLYGON" => into.polygons.extend(self.list(Self::chains)?),
            "GEOMETRYCOLLECTION" if depth < DEPTH_MAX => {
                self.skip('(')?;
                loop {
                    self.geometry(into, depth + 1)?;
                    if self.skip(',').is_none() {
                        return self.skip(')');
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.skip('(')?;
        let mut items = vec![item(self)?];
        while self.skip(',').is_some() {
            items.push(item(self)?);
        }
        self.skip(')')?;
        Some(items)
    }

    fn chain(&mut self) -> Option<Vec<Point>> {
        self.list(Self::point)
    }

    fn chains(&mut self) -> Option<Vec<Vec<Point>>> {
        self.list(Self::chain)
    }

    /// Points with brackets of their own or without.
    fn points(&mut self) -> Option<Vec<Point>> {
        self.list(|reader| {
            if reader.rest.starts_with('(') {
                reader.chain()?.first().copied()
            } else {
                reader.point()
            }
        })
    }

    /// Two numbers, and a height that is passed over.
    fn point(&mut self) -> Option<Point> {
        self.coordinates += 1;
        if self.coordinates > COORDINATES_MAX {
            return None;
        }
        let end = self.rest.find([',', ')', '('])?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let mut numbers = text
            .split_whitespace()
            .map(|number| number.parse::<f64>().ok());
        let point = (numbers.next()??, numbers.next()??);
        if numbers.any(|number| number.is_none()) {
            return None;
        }
        (point.0.is_finite() && point.1.is_finite()).then_some(point)
    }
}

/// The reference system that GeoJSON names (`crs` of the version before RFC 7946) for all of a geometry or feature,
/// if it names any; an error where it says it in another way, or of a part alone.
pub fn system(json: &Json) -> Result<Option<&str>, &'static str> {
    let parts = json["geometries"].as_array().into_iter().flatten();
    let own = match &json["crs"] {
        Json::Null => None,
        Json::String(name) => Some(name.as_str()),
        said => Some(said["properties"]["name"].as_str().ok_or(NAMED)?),
    };
    for part in parts.chain(json.get("geometry")) {
        if system(part)?.is_some_and(|name| own != Some(name)) {
            return Err("`crs` stands once, for all parts");
        }
    }
    Ok(own)
}

const NAMED: &str = "`crs` names a system in `properties`";

/// Reads a GeoJSON geometry, or a feature's; `None` where it is none, or has too many coordinates.
pub fn of_json(json: &Json) -> Option<Geometry> {
    let mut geometry = Geometry::default();
    Counted(0).add(json, &mut geometry, 0)?;
    Some(geometry)
}

/// Reads GeoJSON and counts its coordinates.
struct Counted(usize);

impl Counted {
    fn add(&mut self, json: &Json, into: &mut Geometry, depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        let coordinates = &json["coordinates"];
        match json["type"].as_str()? {
            "Point" => into.points.push(self.point(coordinates)?),
            "MultiPoint" => into.points.extend(self.chain(coordinates)?),
            "LineString" => into.lines.push(self.chain(coordinates)?),
            "MultiLineString" => into.lines.extend(self.chains(coordinates)?),
            "Polygon" => into.polygons.push(self.chains(coordinates)?),
            "MultiPolygon" => into.polygons.extend(self.each(coordinates, Self::chains)?),
            "Feature" => self.add(&json["geometry"], into, depth + 1)?,
            "GeometryCollection" => {
                for one in json["geometries"].as_array()? {
                    self.add(one, into, depth + 1)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn each<T>(
        &mut self,
        json: &Json,
        mut of: impl FnMut(&mut Self, &Json) -> Option<T>,
    ) -> Option<Vec<T>> {
        json.as_array()?.iter().map(|item| of(self, item)).collect()
    }

    fn chains(&mut self, json: &Json) -> Option<Vec<Vec<Point>>> {
        self.each(json, Self::chain)
    }

    fn chain(&mut self, json: &Json) -> Option<Vec<Point>> {
        self.each(json, Self::point)
    }

    fn point(&mut self, json: &Json) -> Option<Point> {
        self.0 += 1;
        if self.0 > COORDINATES_MAX {
            return None;
        }
        Some((json[0].as_f64()?, json[1].as_f64()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn coordinates_are_counted_over_all_of_a_geometry() {
        let collection = |corners: usize| {
            let line = |count| json!({"type": "LineString", "coordinates": vec![[7, 50]; count]});
            let lines = [line(corners / 2), line(corners - corners / 2)];
            of_json(&json!({"type": "GeometryCollection", "geometries": lines}))
        };
        let most = collection(COORDINATES_MAX).map(|most| most.corners().count());
        assert_eq!(most, Some(COORDINATES_MAX));
        assert_eq!(collection(COORDINATES_MAX + 1), None);
    }
}
