//! A box of degrees: the most asked for of spatial filters.

use crate::exception::Exception;
use crate::spatial::check_reference;
use weir_codec::crs::Crs;
use weir_codec::document::Element;
use weir_model::Place;

/// A box of degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    lower: Place,
    upper: Place,
}

impl Area {
    pub(crate) fn holds(&self, place: Place) -> bool {
        (self.lower.latitude..=self.upper.latitude).contains(&place.latitude)
            && (self.lower.longitude..=self.upper.longitude).contains(&place.longitude)
    }

    /// The least box that holds places.
    pub(crate) fn around(places: impl Iterator<Item = Place>) -> Option<Self> {
        places.fold(None, |area, place| {
            let Area { lower, upper } = area.unwrap_or(Area {
                lower: place,
                upper: place,
            });
            Some(Area {
                lower: Place {
                    latitude: lower.latitude.min(place.latitude),
                    longitude: lower.longitude.min(place.longitude),
                },
                upper: Place {
                    latitude: upper.latitude.max(place.latitude),
                    longitude: upper.longitude.max(place.longitude),
                },
            })
        })
    }

    /// Its border, degrees east and north, closed.
    pub(crate) fn ring(&self) -> Vec<(f64, f64)> {
        let (west, east) = (self.lower.longitude, self.upper.longitude);
        let (south, north) = (self.lower.latitude, self.upper.latitude);
        let corners = [(west, south), (east, south), (east, north), (west, north)];
        corners.into_iter().chain([(west, south)]).collect()
    }

    /// `lower` and `upper` as GML writes them, latitude first.
    pub(crate) fn corners(&self) -> [String; 2] {
        [self.lower, self.upper].map(|place| format!("{} {}", place.latitude, place.longitude))
    }

    /// KVP: `om:featureOfInterest/*/sams:shape,minx,miny,maxx,maxy,crs`.
    pub(crate) fn of_text(parameter: &str, text: &str) -> Result<Self, Exception> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let numbers = match &parts[..] {
            [reference, numbers @ ..] if reference.parse::<f64>().is_err() => {
                check_reference(parameter, reference)?;
                numbers
            }
            numbers => numbers,
        };
        let bad = || Exception::invalid(parameter, "expected REFERENCE,a,b,c,d[,CRS]");
        let (corners, system) = match numbers {
            [a, b, c, d] => ([*a, *b, *c, *d], ""),
            [a, b, c, d, system] => ([*a, *b, *c, *d], *system),
            _ => return Err(bad()),
        };
        let mut degrees = [0.0; 4];
        for (degree, text) in degrees.iter_mut().zip(corners) {
            *degree = text.parse().map_err(|_| bad())?;
        }
        Self::of_corners(parameter, degrees, system)
    }

    /// An envelope of GML; `outer` is the system of what it stands in.
    pub(crate) fn of_envelope(
        parameter: &str,
        envelope: &Element,
        outer: &str,
    ) -> Result<Self, Exception> {
        let corner = |name: &str| envelope.child(name).map(Element::text).unwrap_or_default();
        let text = format!("{} {}", corner("lowerCorner"), corner("upperCorner"));
        let bad = || {
            let sentence = "the envelope needs two corners of two numbers each";
            Exception::invalid(parameter, sentence)
        };
        let words = text.split_ascii_whitespace();
        let numbers: Result<Vec<f64>, _> = words.map(str::parse).collect();
        let numbers: [f64; 4] = numbers
            .ok()
            .and_then(|numbers| numbers.try_into().ok())
            .ok_or_else(bad)?;
        let own = |name: &str| envelope.child(name)?.attribute("srsName");
        let outer = envelope.attribute("srsName").unwrap_or(outer);
        let [lower, upper] = ["lowerCorner", "upperCorner"].map(|name| own(name).unwrap_or(outer));
        if system(parameter, lower)? != system(parameter, upper)? {
            let sentence = "the corners are of different reference systems";
            return Err(Exception::invalid(parameter, sentence));
        }
        Self::of_corners(parameter, numbers, lower)
    }

    fn of_corners(parameter: &str, corners: [f64; 4], name: &str) -> Result<Self, Exception> {
        let crs = system(parameter, name)?;
        let [a, b, c, d] = corners;
        let place = |corner: [f64; 2]| {
            let position = crs.position(&corner);
            position.map_err(|what| Exception::invalid(parameter, format!("{what} were expected")))
        };
        let (lower, upper) = (place([a, b])?.place, place([c, d])?.place);
        let in_order = lower.latitude <= upper.latitude && lower.longitude <= upper.longitude;
        if in_order {
            Ok(Self { lower, upper })
        } else {
            Err(Exception::invalid(
                parameter,
                "the lower corner is not below the upper one",
            ))
        }
    }
}

// [SOS2-12.0-3]
/// The reference system of a name, which may be empty.
pub(crate) fn system(parameter: &str, name: &str) -> Result<Crs, Exception> {
    if name.is_empty() {
        Ok(Crs::Unnamed)
    } else {
        Crs::read(name).map_err(|sentence| Exception::invalid(parameter, sentence))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::exception::Code;

    fn place(latitude: f64, longitude: f64) -> Place {
        Place {
            latitude,
            longitude,
        }
    }

    #[test]
    fn a_box_holds_what_lies_in_it_in_either_order_of_axes() {
        let text = "om:featureOfInterest/*/sams:shape,44,20,45,21,urn:ogc:def:crs:EPSG::4326";
        let area = Area::of_text("spatialFilter", text).unwrap();
        assert!(area.holds(place(44.8, 20.4)) && !area.holds(place(20.4, 44.8)));
        let turned = "20,44,21,45,http://www.opengis.net/def/crs/OGC/1.3/CRS84";
        assert_eq!(Area::of_text("spatialFilter", turned).unwrap(), area);
        for text in [
            "1,2,3",
            "45,20,44,21",
            "1,2,3,4,EPSG:31467",
            "1,2,3,4,EPSG:14326",
            "1,2,3,4,CRS84 turned",
            "1,2,3,4,EPSG:4979",
            "sams:shape,1,2,x,4",
            "om:resultTime,1,2,3,4",
        ] {
            let exception = Area::of_text("spatialFilter", text).unwrap_err();
            assert_eq!(exception.code, Code::InvalidParameterValue, "{text}");
        }
    }
}
