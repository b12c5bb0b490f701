//! Spatial filters (OGC 09-026r1 section 7.8): how the place of an observation, or of a feature, lies to a
//! geometry.
//!
//! Places are points; so several relations can hold only for some geometries, as between two points.

use crate::area::Area;
use crate::exception::{Code, Exception};
use crate::gml;
use weir_codec::document::Element;
use weir_geo::{Geometry, contains, crosses, distance, equals, intersects, overlaps, touches};
use weir_model::Place;

/// A spatial filter.
#[derive(Clone, Debug)]
pub(crate) enum Spatial {
    /// Within a box or on its border.
    Box(Area),
    /// In a relation to a geometry.
    Relation(Operator, Geometry),
    /// At most so many metres away, or more.
    Distance {
        /// From what.
        from: Geometry,
        /// How far.
        metres: f64,
        /// Whether more is wanted.
        beyond: bool,
    },
}

type Operator = fn(&Geometry, &Geometry) -> bool;

/// Relations by their names, of the place to the geometry.
const OPERATORS: &[(&str, Operator)] = &[
    ("Equals", equals),
    ("Disjoint", |place, other| !intersects(place, other)),
    ("Touches", touches),
    ("Within", |place, other| contains(other, place)),
    ("Overlaps", overlaps),
    ("Crosses", crosses),
    ("Intersects", intersects),
    ("Contains", contains),
];

/// All names, for GetCapabilities.
pub(crate) const NAMES: &[&str] = &[
    "BBOX",
    "Equals",
    "Disjoint",
    "Touches",
    "Within",
    "Overlaps",
    "Crosses",
    "Intersects",
    "Contains",
    "DWithin",
    "Beyond",
];

/// What a place is called at the end of a reference to it, by O&M 2.0 and 1.0, GML and the spatial filtering profile.
const GEOMETRIES: &[&str] = &[
    "shape",
    "samplingGeometry",
    "location",
    "position",
    "geometry",
];

/// Says that a value reference names something that is no place.
pub(crate) fn check_reference(parameter: &str, reference: &str) -> Result<(), Exception> {
    let local = reference.trim().rsplit([':', '/', '#']).next();
    if local.is_some_and(|local| GEOMETRIES.contains(&local)) {
        Ok(())
    } else {
        let sentence = format!(
            "`{reference}` is no place of observations: om:featureOfInterest/*/sams:shape is one"
        );
        Err(Exception::invalid(parameter, sentence))
    }
}

/// Mean radius of the Earth, metres.
const EARTH: f64 = 6_371_008.8;

// [SOS2-12.0-2]
impl Spatial {
    /// An operator of Filter Encoding 2.0 or 1.1.
    pub(crate) fn of_element(parameter: &str, filter: &Element) -> Result<Self, Exception> {
        let reference = filter.child("ValueReference");
        let reference = reference.or_else(|| filter.child("PropertyName"));
        reference.map_or(Ok(()), |own| check_reference(parameter, &own.text()))?;
        let operand = filter.elements().find(|inner| gml::is_geometry(inner));
        let operand = operand
            .ok_or_else(|| Exception::invalid(parameter, "the filter needs a geometry of GML"))?;
        if filter.local == "BBOX" {
            if operand.local != "Envelope" {
                return Err(Exception::invalid(parameter, "BBOX needs a gml:Envelope"));
            }
            return Ok(Spatial::Box(Area::of_envelope(parameter, operand, "")?));
        }
        let geometry = gml::read(parameter, operand)?;
        let distance = filter.child("Distance");
        let metres = distance.map(|distance| metres(parameter, distance));
        Self::named(parameter, &filter.local, geometry, metres.transpose()?)
    }

    /// An operator by its name.
    pub(crate) fn named(
        parameter: &str,
        name: &str,
        geometry: Geometry,
        metres: Option<f64>,
    ) -> Result<Self, Exception> {
        let relation = OPERATORS.iter().find(|(own, _)| *own == name);
        match (relation, name, metres) {
            (Some((_, operator)), ..) => Ok(Spatial::Relation(*operator, geometry)),
            (None, "DWithin" | "Beyond", Some(metres)) => Ok(Spatial::Distance {
                from: geometry,
                metres,
                beyond: name == "Beyond",
            }),
            (None, "DWithin" | "Beyond", None) => {
                Err(Exception::invalid(parameter, "a distance is missing"))
            }
            _ => Err(Exception::new(
                Code::OptionNotSupported,
                parameter,
                format!("there is no spatial operator {name}"),
            )),
        }
    }

    /// Corners that are looked at to tell of a place.
    pub(crate) fn corners(&self) -> usize {
        match self {
            Spatial::Box(_) => 0,
            Spatial::Relation(_, geometry) | Spatial::Distance { from: geometry, .. } => {
                geometry.corners().count()
            }
        }
    }

    /// Whether a place is wanted.
    pub(crate) fn holds(&self, place: Place) -> bool {
        let at = || Geometry {
            points: vec![(place.longitude, place.latitude)],
            ..Geometry::default()
        };
        match self {
            Spatial::Box(area) => area.holds(place),
            Spatial::Relation(operator, geometry) => operator(&at(), geometry),
            Spatial::Distance {
                from,
                metres,
                beyond,
            } => {
                let plane = |geometry: &Geometry| flattened(geometry, place.latitude);
                let far = distance(&plane(&at()), &plane(from)) > *metres;
                far == *beyond
            }
        }
    }
}

/// A geometry in metres, on a plane that touches the Earth at a latitude.
fn flattened(geometry: &Geometry, latitude: f64) -> Geometry {
    let scale = latitude.to_radians().cos();
    let point = |(x, y): &(f64, f64)| (x.to_radians() * EARTH * scale, y.to_radians() * EARTH);
    let chain = |chain: &Vec<(f64, f64)>| chain.iter().map(point).collect::<Vec<_>>();
    Geometry {
        points: geometry.points.iter().map(point).collect(),
        lines: geometry.lines.iter().map(chain).collect(),
        polygons: geometry
            .polygons
            .iter()
            .map(|rings| rings.iter().map(chain).collect())
            .collect(),
    }
}

/// A distance with its unit.
fn metres(parameter: &str, distance: &Element) -> Result<f64, Exception> {
    let unit = ["uom", "units"]
        .iter()
        .find_map(|name| distance.attribute(name));
    let unit = unit.unwrap_or("m").rsplit([':', '/', '#']).next();
    let scale = match unit.unwrap_or_default() {
        "m" | "metre" | "meter" | "meters" | "metres" | "9001" => 1.0,
        "km" | "kilometre" | "kilometer" => 1000.0,
        "deg" | "degree" | "degrees" | "9102" => 1f64.to_radians() * EARTH,
        other => {
            let sentence = format!("the unit `{other}` is not known: m, km and deg are");
            return Err(Exception::invalid(parameter, sentence));
        }
    };
    let number = distance.text().parse::<f64>();
    match number {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number * scale),
        _ => Err(Exception::invalid(parameter, "the distance is no number")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_codec::document::read_xml;

    fn filter(name: &str, inner: &str) -> Result<Spatial, Exception> {
        let xml = format!(
            "<fes:{name} xmlns:fes=\"http://www.opengis.net/fes/2.0\" \
             xmlns:gml=\"http://www.opengis.net/gml/3.2\"><fes:ValueReference>sams:shape</fes:ValueReference>\
             {inner}</fes:{name}>"
        );
        Spatial::of_element("spatialFilter", &read_xml(xml.as_bytes()).unwrap())
    }

    const SQUARE: &str = "<gml:Polygon><gml:exterior><gml:LinearRing>\
        <gml:posList>50 7 51 7 51 8 50 8 50 7</gml:posList></gml:LinearRing></gml:exterior>\
        </gml:Polygon>";
    const POINT: &str = "<gml:Point srsName=\"http://www.opengis.net/def/crs/OGC/1.3/CRS84\">\
        <gml:pos>7.5 50.5</gml:pos></gml:Point>";
    const LINE: &str =
        "<gml:LineString><gml:pos>50 7</gml:pos><gml:pos>51 8</gml:pos></gml:LineString>";

    fn held(inner: &str, latitude: f64, longitude: f64) -> Vec<&'static str> {
        let place = Place {
            latitude,
            longitude,
        };
        let all = OPERATORS.iter().map(|(name, _)| *name);
        all.filter(|name| filter(name, inner).unwrap().holds(place))
            .collect()
    }

    #[test]
    fn a_place_lies_to_a_geometry_as_the_names_say() {
        assert_eq!(held(SQUARE, 50.5, 7.5), ["Within", "Intersects"]);
        assert_eq!(held(SQUARE, 50.0, 7.5), ["Touches", "Intersects"]);
        assert_eq!(held(SQUARE, 52.0, 7.5), ["Disjoint"]);
        let same = ["Equals", "Within", "Intersects", "Contains"];
        assert_eq!(held(POINT, 50.5, 7.5), same);
        assert_eq!(held(LINE, 50.5, 7.5), ["Within", "Intersects"]);
    }

    #[test]
    fn distances_are_metres_on_the_ground() {
        let place = Place {
            latitude: 50.5,
            longitude: 7.6,
        };
        // A tenth of a degree of longitude at 50.5 degrees north is 7.07 km.
        for (name, distance, expected) in [
            (
                "DWithin",
                "<fes:Distance uom=\"m\">7100</fes:Distance>",
                true,
            ),
            (
                "DWithin",
                "<fes:Distance uom=\"km\">7</fes:Distance>",
                false,
            ),
            (
                "Beyond",
                "<fes:Distance uom=\"m\">7000</fes:Distance>",
                true,
            ),
        ] {
            let filter = filter(name, &format!("{POINT}{distance}")).unwrap();
            assert_eq!(filter.holds(place), expected, "{name} {distance}");
        }
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        let code = |name: &str, inner: &str| filter(name, inner).unwrap_err().code;
        assert_eq!(code("Near", SQUARE), Code::OptionNotSupported);
        for (name, inner) in [
            ("Within", ""),
            ("BBOX", POINT),
            ("DWithin", POINT),
            ("Within", "<gml:Point><gml:pos>1</gml:pos></gml:Point>"),
            ("Within", "<gml:Point><gml:pos>a b</gml:pos></gml:Point>"),
            (
                "Within",
                "<gml:Point srsName=\"EPSG:1\"><gml:pos>1 2</gml:pos></gml:Point>",
            ),
            (
                "Within",
                "<gml:MultiCurve><gml:a><gml:Curve/></gml:a></gml:MultiCurve>",
            ),
        ] {
            assert_eq!(
                code(name, inner),
                Code::InvalidParameterValue,
                "{name} {inner}"
            );
        }
    }
}
