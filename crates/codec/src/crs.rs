//! Coordinate reference systems by their names: what the numbers of a position are.
//!
//! The one reader of such names, wherever one stands: `srsName` of GML, `referenceFrame` of SWE Common, the last
//! part of a box in KVP, `crs` of GeoJSON. Known are the systems whose coordinates are degrees of WGS 84, as EPSG
//! and OGC name them. Deliberately no transformation: a position in any other system is refused.

use crate::lexical;
use alloc::format;
use alloc::string::String;
use weir_model::Place;

/// What is known, for who is told that something else is not.
pub const KNOWN: &str = "EPSG 4326, EPSG 4979, CRS84 and CRS84h are";

/// Name of the parameter of an observation that is the height of the place where it was made, metres above the
/// ellipsoid: a place has none.
pub const HEIGHT: &str = "heightAboveEllipsoid";

/// EPSG 4326 as nearly all write it, weir among them: it is known without being taken apart.
pub(crate) const USUAL: &str = "http://www.opengis.net/def/crs/EPSG/0/4326";

/// A system of degrees of WGS 84.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crs {
    /// None is named: latitude and longitude, and a height where there is a third number.
    #[default]
    Unnamed,
    /// EPSG 4326: latitude and longitude.
    Epsg4326,
    /// EPSG 4979: latitude, longitude and height above the ellipsoid.
    Epsg4979,
    /// CRS84 of OGC: longitude and latitude.
    Crs84,
    /// CRS84h of OGC: longitude, latitude and height above the ellipsoid.
    Crs84h,
}

/// A position as it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Where it is on the ellipsoid.
    pub place: Place,
    /// Metres above the ellipsoid, where they were said.
    pub height: Option<f64>,
}

impl Crs {
    /// The system of a name, which is whole or `None`: a URN or URL of OGC, or authority and code.
    pub fn named(name: &str) -> Option<Self> {
        if name == USUAL {
            return Some(Crs::Epsg4326);
        }
        let (authority, code) = split(name.trim_ascii())?;
        let of = |own: &str| authority.eq_ignore_ascii_case(own);
        match code {
            "4326" if of("EPSG") => Some(Crs::Epsg4326),
            "4979" if of("EPSG") => Some(Crs::Epsg4979),
            "84" | "CRS84" if of("OGC") || of("CRS") => Some(Crs::Crs84),
            "CRS84h" if of("OGC") => Some(Crs::Crs84h),
            _ => None,
        }
    }

    /// The same, or why not.
    pub fn read(name: &str) -> Result<Self, String> {
        Self::named(name)
            .ok_or_else(|| format!("the reference system `{name}` is not known: {KNOWN}"))
    }

    /// Whether the longitude stands first.
    pub fn is_longitude_first(self) -> bool {
        matches!(self, Crs::Crs84 | Crs::Crs84h)
    }

    /// How many numbers a position has at least and at most.
    fn dimensions(self) -> (usize, usize) {
        match self {
            Crs::Unnamed => (2, 3),
            Crs::Epsg4326 | Crs::Crs84 => (2, 2),
            Crs::Epsg4979 | Crs::Crs84h => (3, 3),
        }
    }

    /// The position of coordinates, or how many this system has.
    pub fn position(self, coordinates: &[f64]) -> Result<Position, &'static str> {
        let (least, most) = self.dimensions();
        let (one, other) = match *coordinates {
            [one, other, ..] if (least..=most).contains(&coordinates.len()) => (one, other),
            _ => return Err(TEXTS[least + most - 4]),
        };
        let (latitude, longitude) = if self.is_longitude_first() {
            (other, one)
        } else {
            (one, other)
        };
        Ok(Position {
            place: Place {
                latitude,
                longitude,
            },
            height: coordinates.get(2).copied(),
        })
    }

    /// The position of a text of numbers between blanks or commas.
    pub(crate) fn position_of(self, text: &str) -> Result<Position, &'static str> {
        let is_between = |sign: u8| sign.is_ascii_whitespace() || sign == b',';
        let (mut numbers, mut count, mut rest) = ([0.0; 4], 0, text);
        while let Some(begin) = rest.bytes().position(|byte| !is_between(byte)) {
            rest = &rest[begin..];
            let end = rest.bytes().position(is_between).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            let number = lexical::number(word).ok_or("coordinates that are decimal numbers")?;
            *numbers.get_mut(count).ok_or("one position")? = number;
            (count, rest) = (count + 1, behind);
        }
        self.position(&numbers[..count])
    }
}

/// What is expected, by how many coordinates a system has at least and at most.
const TEXTS: [&str; 3] = [
    "two coordinates, as the reference system has",
    "two or three coordinates",
    "three coordinates, as the reference system has",
];

/// Authority and code.
fn split(name: &str) -> Option<(&str, &str)> {
    let after = |begin: &str| {
        let head = name.get(..begin.len())?;
        head.eq_ignore_ascii_case(begin)
            .then(|| &name[begin.len()..])
    };
    // OGC 09-048r5 (URN; the second form is of before the first was registered), 11-135r2 (URL), GML 2 and 3.1.
    if let Some(rest) = after("urn:ogc:def:crs:").or_else(|| after("urn:x-ogc:def:crs:")) {
        let mut parts = rest.split(':');
        let (authority, code) = (parts.next()?, parts.next_back()?);
        return (parts.count() <= 1).then_some((authority, code));
    }
    let url = after("http://www.opengis.net/def/crs/");
    if let Some(rest) = url.or_else(|| after("https://www.opengis.net/def/crs/")) {
        let (authority, rest) = rest.split_once('/')?;
        let (_, code) = rest.split_once('/')?;
        return Some((authority, code));
    }
    if let Some(code) = after("http://www.opengis.net/gml/srs/epsg.xml#") {
        return Some(("EPSG", code));
    }
    match name.split_once(':') {
        Some((authority, code)) => Some((authority, code.strip_prefix(':').unwrap_or(code))),
        None => Some(("OGC", name)).filter(|_| name.starts_with("CRS84")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_system_has_its_urn_its_url_and_short_names() {
        for (expected, names) in [
            (
                Crs::Epsg4326,
                &[
                    "EPSG:4326",
                    "epsg:4326",
                    "EPSG::4326",
                    " urn:ogc:def:crs:EPSG::4326 ",
                    "urn:ogc:def:crs:EPSG:6.9:4326",
                    "urn:ogc:def:crs:EPSG:4326",
                    "URN:OGC:DEF:CRS:EPSG::4326",
                    "urn:x-ogc:def:crs:EPSG:4326",
                    "http://www.opengis.net/def/crs/EPSG/0/4326",
                    "https://www.opengis.net/def/crs/EPSG/9.9.1/4326",
                    "http://www.opengis.net/gml/srs/epsg.xml#4326",
                ][..],
            ),
            (
                Crs::Epsg4979,
                &["EPSG:4979", "http://www.opengis.net/def/crs/EPSG/0/4979"],
            ),
            (
                Crs::Crs84,
                &[
                    "CRS84",
                    "CRS:84",
                    "OGC:CRS84",
                    "urn:ogc:def:crs:OGC:1.3:CRS84",
                    "urn:ogc:def:crs:OGC::CRS84",
                    "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
                ],
            ),
            (
                Crs::Crs84h,
                &["CRS84h", "http://www.opengis.net/def/crs/OGC/0/CRS84h"],
            ),
        ] {
            for name in names {
                assert_eq!(Crs::named(name), Some(expected), "{name}");
            }
        }
    }

    #[test]
    fn what_merely_contains_or_ends_as_a_known_name_is_another() {
        for name in [
            "",
            "4326",
            "EPSG:3857",
            "EPSG:14326",
            "EPSG:43260",
            "EPSG:4326+5773",
            "EPSG:84",
            "urn:ogc:def:crs:EPSG::3857",
            "urn:ogc:def:crs:EPSG:1:2:4326",
            "urn:ogc:def:crs,crs:EPSG::4326,crs:EPSG::5773",
            "urn:ogc:def:crs:OGC:1.3:CRS84:other",
            "http://www.opengis.net/def/crs/EPSG/0/4258",
            "http://www.opengis.net/def/crs/OGC/0/NotCRS84",
            "http://www.opengis.net/def/crs/EPSG/0/4326/more",
            "http://example.org/def/crs/EPSG/0/4326",
            "my CRS84",
            "CRS:83",
            "CRS84i",
        ] {
            assert_eq!(Crs::named(name), None, "{name}");
        }
    }

    #[test]
    fn coordinates_are_as_many_as_the_system_has() {
        let at = |crs: Crs, text: &str| {
            let position = crs.position_of(text).ok()?;
            Some((
                position.place.latitude,
                position.place.longitude,
                position.height,
            ))
        };
        assert_eq!(at(Crs::Unnamed, "52.9 7.52"), Some((52.9, 7.52, None)));
        assert_eq!(
            at(Crs::Unnamed, "52.9,7.52 12"),
            Some((52.9, 7.52, Some(12.0)))
        );
        assert_eq!(at(Crs::Crs84, "7.52 52.9"), Some((52.9, 7.52, None)));
        assert_eq!(
            at(Crs::Crs84h, "7.52 52.9 -3"),
            Some((52.9, 7.52, Some(-3.0)))
        );
        assert_eq!(
            at(Crs::Epsg4979, "52.9 7.52 12"),
            Some((52.9, 7.52, Some(12.0)))
        );
        for (crs, text) in [
            (Crs::Unnamed, "1"),
            (Crs::Unnamed, "1 2 3 4"),
            (Crs::Unnamed, "1 2 3 4 5"),
            (Crs::Unnamed, "1 b"),
            (Crs::Epsg4326, "1 2 3"),
            (Crs::Crs84, "1"),
            (Crs::Epsg4979, "1 2"),
            (Crs::Crs84h, "1 2 3 4"),
        ] {
            assert_eq!(at(crs, text), None, "{crs:?} {text}");
        }
    }
}
