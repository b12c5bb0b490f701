//! The catalog's entry as JSON: in the log, and in `PUT /catalog/{topic}`.

use crate::fault::Fault;
use crate::json;
use crate::limits::{ABOUT_BYTES_MAX, NAME_BYTES_MAX};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use weir_model::{Datastream, Description, Place, Time};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    sensor: Option<Cow<'a, str>>,
    #[serde(
        default,
        rename = "type",
        skip_serializing_if = "Option::is_none",
        borrow
    )]
    property: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    unit: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lat: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lon: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maximum: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "json::members"
    )]
    about: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default, skip_serializing_if = "is_false")]
    declared: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty", borrow)]
    descriptions: Vec<Described<'a>>,
}

/// One of the descriptions that a datastream had; times are nanoseconds since the Unix epoch.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described<'a> {
    from: i64,
    learned: i64,
    #[serde(default, skip_serializing_if = "is_false")]
    declared: bool,
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    sensor: Option<Cow<'a, str>>,
    #[serde(
        default,
        rename = "type",
        skip_serializing_if = "Option::is_none",
        borrow
    )]
    property: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    unit: Option<Cow<'a, str>>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl<'a> Described<'a> {
    fn of(own: &'a Description) -> Self {
        let says = own.says();
        Self {
            from: own.from.nanos(),
            learned: own.learned.nanos(),
            declared: own.declared,
            sensor: says.sensor.map(Cow::Borrowed),
            property: says.property.map(Cow::Borrowed),
            unit: says.unit.map(Cow::Borrowed),
        }
    }

    fn read(self) -> Description {
        Description {
            from: Time::from_nanos(self.from),
            learned: Time::from_nanos(self.learned),
            declared: self.declared,
            sensor: self.sensor.map(|text| text.into()),
            property: self.property.map(|text| text.into()),
            unit: self.unit.map(|text| text.into()),
        }
    }
}

impl<'a> Entry<'a> {
    fn of(datastream: &'a Datastream) -> Self {
        Self {
            name: datastream.name.as_deref().map(Cow::Borrowed),
            sensor: datastream.sensor.as_deref().map(Cow::Borrowed),
            property: datastream.property.as_deref().map(Cow::Borrowed),
            unit: datastream.unit.as_deref().map(Cow::Borrowed),
            lat: datastream.place.map(|place| place.latitude),
            lon: datastream.place.map(|place| place.longitude),
            maximum: datastream.maximum,
            number: datastream.number,
            about: datastream.about.as_deref().and_then(object),
            declared: datastream.declared,
            descriptions: datastream.descriptions.iter().map(Described::of).collect(),
        }
    }

    fn read(self) -> Result<Datastream, &'static str> {
        let place = match (self.lat, self.lon) {
            (None, None) => None,
            (Some(latitude), Some(longitude))
                if (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude) =>
            {
                Some(Place {
                    latitude,
                    longitude,
                })
            }
            _ => return Err("`lat` (-90 to 90) and `lon` (-180 to 180) go together"),
        };
        Ok(Datastream {
            name: self.name.map(|text| text.into()),
            sensor: self.sensor.map(|text| text.into()),
            property: self.property.map(|text| text.into()),
            unit: self.unit.map(|text| text.into()),
            place,
            maximum: self.maximum,
            number: self.number,
            about: self
                .about
                .map(|about| serde_json::Value::Object(about).to_string().into()),
            declared: self.declared,
            descriptions: self.descriptions.into_iter().map(Described::read).collect(),
        })
    }
}

/// Writes `{"name":...,"sensor":...,"type":...,"unit":...,"lat":...,"lon":...,"maximum":...,"about":{...}}`,
/// what is not known left out.
pub fn to_json(datastream: &Datastream) -> Vec<u8> {
    serde_json::to_vec(&Entry::of(datastream)).unwrap_or_default()
}

/// Reads what [`to_json`] writes; an unknown member is refused by name, since it would be lost.
pub fn from_json(body: &[u8]) -> Result<Datastream, String> {
    // A list would be read as the members in their order.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err("expected an object".into());
    }
    let entry: Entry<'_> = json::read_as(body).map_err(|error| error.to_string())?;
    entry.read().map_err(Into::into)
}

/// A declaration in a shared log, where what is known when it is taken is not what was when it was made.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration<'a> {
    /// What the datastream is by it, as far as who made it knew: for who takes it without what came before.
    #[serde(borrow)]
    entry: Entry<'a>,
    /// What was said.
    #[serde(borrow)]
    said: Entry<'a>,
    #[serde(default, skip_serializing_if = "is_false")]
    correct: bool,
}

/// A record of the log that says what a datastream is.
pub(crate) struct Recorded {
    /// What it is, as far as was known when the record was made.
    pub(crate) datastream: Datastream,
    /// What was said, where somebody declared it in a shared log; and whether it was so all along.
    pub(crate) said: Option<(Datastream, bool)>,
}

/// Writes a declaration of a shared log.
pub(crate) fn declaration(
    datastream: &Datastream,
    said: &Datastream,
    is_correction: bool,
) -> Vec<u8> {
    let declaration = Declaration {
        entry: Entry::of(datastream),
        said: Entry::of(said),
        correct: is_correction,
    };
    serde_json::to_vec(&declaration).unwrap_or_default()
}

/// Reads a record of the log, which is an entry or a declaration; `None` of one that is neither.
pub(crate) fn of_log(body: &[u8]) -> Option<Recorded> {
    if !body.starts_with(br#"{"entry":"#) {
        return Some(Recorded {
            datastream: from_json(body).ok()?,
            said: None,
        });
    }
    let read: Declaration<'_> = json::read_as(body).ok()?;
    Some(Recorded {
        datastream: read.entry.read().ok()?,
        said: Some((read.said.read().ok()?, read.correct)),
    })
}

fn object(text: &str) -> Option<serde_json::Map<String, serde_json::Value>> {
    serde_json::from_str(text).ok()
}

/// Refuses more than the catalog keeps of what services know beyond a datastream's core.
pub(crate) fn check_about(about: Option<&str>) -> Result<(), Fault> {
    match about.is_some_and(|about| about.len() > ABOUT_BYTES_MAX) {
        false => Ok(()),
        true => Err(Fault::OverLimit {
            what: "bytes of what is known of a datastream",
            limit: ABOUT_BYTES_MAX,
        }),
    }
}

/// Refuses what is longer than the catalog keeps; each is said by what it is.
pub(crate) fn check_lengths(texts: &[(&'static str, Option<&str>)]) -> Result<(), Fault> {
    let long = |text: &str| text.len() > NAME_BYTES_MAX;
    match texts.iter().find(|(_, text)| text.is_some_and(long)) {
        None => Ok(()),
        Some((what, _)) => Err(Fault::OverLimit {
            what,
            limit: NAME_BYTES_MAX,
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_entry_reads_back_and_an_unknown_member_is_named() {
        let entry = Datastream {
            sensor: Some("urn:x".into()),
            unit: Some("Cel".into()),
            place: Some(Place {
                latitude: 44.8,
                longitude: 20.4,
            }),
            ..Datastream::default()
        };
        assert_eq!(from_json(&to_json(&entry)), Ok(entry.clone()));
        let mut changed = entry.clone();
        let kelvin = weir_model::Described {
            unit: Some("K"),
            ..entry.says()
        };
        let at = Time::from_nanos(5);
        assert_eq!(changed.describe((at, None), at, kelvin), Some(1));
        assert_eq!(from_json(&to_json(&changed)), Ok(changed));
        assert!(
            from_json(br#"{"colour":"red"}"#)
                .unwrap_err()
                .contains("colour")
        );
        assert!(from_json(br#"{"lat":1}"#).is_err());
    }
}
