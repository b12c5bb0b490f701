//! An observation as `idl/Observation.idl` lays it out.

use super::{Encapsulation, Fault, Reader, Writer};
use alloc::vec::Vec;
use weir_model::batch::Naming;
use weir_model::{Extra, Observation, Place, Time, Value};

/// Discriminators of `Result`.
const NOTHING: u32 = 0;
const NUMBER: u32 = 1;
const TRUTH: u32 = 2;
const TEXT: u32 = 3;
const JSON: u32 = 4;

/// A sample, read where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// The observation.
    pub observation: Observation<'a>,
    /// Place in weir's log after the message whose last sample this is, or nothing.
    pub cursor: &'a str,
    /// What is missing before this sample, as JSON, or nothing.
    pub gap: &'a str,
}

impl<'a> Sample<'a> {
    /// Reads a sample behind its encapsulation; bytes behind it are a newer type's, and left alone.
    pub fn read(bytes: &'a [u8], layout: Encapsulation) -> Result<Self, Fault> {
        let mut reader = Reader::new(bytes, layout);
        let topic = reader.string("topic")?;
        let mut said = |member| reader.string(member).map(Some);
        let (sensor, property, unit) = (said("sensor")?, said("type")?, said("unit")?);
        let value = read_value(&mut reader)?;
        let time = reader.long("time")?;
        let place = read_place(&mut reader)?;
        let mut said = |member| reader.string(member).map(some);
        let extra = Extra {
            quality: said("quality")?,
            feature: said("feature")?,
            parameters: said("parameters")?,
            ..Extra::default()
        };
        let observation = Observation {
            naming: Naming::Topic,
            topic,
            sensor: sensor.and_then(some),
            property: property.and_then(some),
            unit: unit.and_then(some),
            description: 0,
            value,
            time: (time != 0).then(|| Time::from_nanos(time)),
            place,
            extra,
        };
        Ok(Self {
            observation,
            cursor: reader.string("cursor")?,
            gap: reader.string("gap")?,
        })
    }
}

/// Strings that are empty say nothing.
fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn read_value<'a>(reader: &mut Reader<'a>) -> Result<Value<'a>, Fault> {
    Ok(match reader.unsigned("value")? {
        NOTHING => reader.octet("value.nothing").map(|_| Value::Null)?,
        NUMBER => Value::Number(reader.double("value.number")?),
        TRUTH => Value::Bool(reader.boolean("value.truth")?),
        TEXT => Value::Text(reader.string("value.text")?),
        JSON => Value::Json(reader.string("value.json")?),
        _ => return Err(reader.fault("value", "a kind of result that is none of the type's")),
    })
}

fn read_place(reader: &mut Reader<'_>) -> Result<Option<Place>, Fault> {
    match reader.unsigned("location")? {
        0 => Ok(None),
        1 => Ok(Some(Place {
            latitude: reader.double("location.latitude")?,
            longitude: reader.double("location.longitude")?,
        })),
        _ => Err(reader.fault("location", "more than one location")),
    }
}

/// Appends a sample, as [`Encapsulation::WRITTEN`] lays it out.
pub fn write(observation: &Observation<'_>, cursor: &str, gap: &str, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.string(observation.topic);
    for text in [observation.sensor, observation.property, observation.unit] {
        writer.string(text.unwrap_or_default());
    }
    write_value(&observation.value, &mut writer);
    writer.long(observation.time.map_or(0, Time::nanos));
    writer.unsigned(observation.place.is_some().into());
    if let Some(place) = observation.place {
        writer.double(place.latitude);
        writer.double(place.longitude);
    }
    let extra = &observation.extra;
    for text in [extra.quality, extra.feature, extra.parameters] {
        writer.string(text.unwrap_or_default());
    }
    writer.string(cursor);
    writer.string(gap);
}

fn write_value(value: &Value<'_>, writer: &mut Writer<'_>) {
    match *value {
        Value::Null => {
            writer.unsigned(NOTHING);
            writer.octet(0);
        }
        Value::Number(number) => {
            writer.unsigned(NUMBER);
            writer.double(number);
        }
        Value::Bool(truth) => {
            writer.unsigned(TRUTH);
            writer.octet(truth.into());
        }
        Value::Text(text) => {
            writer.unsigned(TEXT);
            writer.string(text);
        }
        Value::Json(text) => {
            writer.unsigned(JSON);
            writer.string(text);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn observation<'a>(topic: &'a str, value: Value<'a>) -> Observation<'a> {
        Observation {
            naming: Naming::Topic,
            topic,
            sensor: None,
            property: Some("temperature"),
            unit: Some("Cel"),
            description: 0,
            value,
            time: Some(Time::from_nanos(1_700_000_000_123_456_789)),
            place: None,
            extra: Extra::default(),
        }
    }

    fn written(observation: &Observation<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        write(observation, "1-2", "", &mut out);
        out
    }

    #[test]
    fn a_sample_reads_back_what_it_was() {
        let mut whole = observation("plant/boiler", Value::Number(21.5));
        whole.place = Some(Place {
            latitude: 44.8,
            longitude: 20.5,
        });
        whole.extra.quality = Some("good");
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Text("warm"),
            Value::Json("[1,2]"),
            Value::Number(-0.5),
        ];
        for value in values {
            let of = Observation { value, ..whole };
            let bytes = written(&of);
            let read = Sample::read(&bytes, Encapsulation::WRITTEN).unwrap();
            assert_eq!(read.observation, of);
            assert_eq!((read.cursor, read.gap), ("1-2", ""));
        }
    }

    #[test]
    fn doubles_are_aligned_to_eight_in_version_1_four_in_2() {
        // topic "a" and three empty strings, then the number 1.5, time 7, and nothing else.
        let mut plain: Vec<u8> = [
            &[2, 0, 0, 0, b'a', 0, 0, 0][..],
            &[1, 0, 0, 0, 0, 0, 0, 0].repeat(3),
            &[1, 0, 0, 0],
        ]
        .concat();
        let tail = [
            &1.5_f64.to_le_bytes()[..],
            &7_i64.to_le_bytes(),
            &[0; 4],
            &[1, 0, 0, 0, 0, 0, 0, 0].repeat(4),
            &[1, 0, 0, 0, 0],
        ]
        .concat();
        let version_2 = [&plain[..], &tail].concat();
        plain.extend([0; 4]);
        let version_1 = [&plain[..], &tail].concat();
        for (bytes, widest) in [(version_1, 8), (version_2, 4)] {
            let layout = Encapsulation {
                is_big: false,
                widest,
            };
            let read = Sample::read(&bytes, layout).unwrap();
            assert_eq!(read.observation.value, Value::Number(1.5), "{widest}");
            assert_eq!(read.observation.time, Some(Time::from_nanos(7)));
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let whole = written(&observation("a", Value::Bool(true)));
        let layout = Encapsulation::WRITTEN;
        let cut = Sample::read(&whole[..5], layout).unwrap_err();
        assert_eq!((cut.offset, cut.member), (4, "topic"));
        let mut long = whole.clone();
        long[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        let fault = Sample::read(&long, layout).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "byte 4: `topic`: a string of more bytes than are taken"
        );
        let mut open = whole.clone();
        open[5] = b'b';
        let fault = Sample::read(&open, layout).unwrap_err();
        assert_eq!(fault.problem, "a string ends with NUL");
    }

    proptest! {
        #[test]
        fn no_bytes_are_read_beyond_their_end(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            is_big: bool,
            is_second: bool,
        ) {
            let widest = if is_second { 4 } else { 8 };
            let layout = Encapsulation { is_big, widest };
            if let Err(fault) = Sample::read(&bytes, layout) {
                prop_assert!(fault.offset <= bytes.len() + 8);
            }
        }

        #[test]
        fn a_sample_that_was_changed_is_read_or_refused(
            at in 0_usize..150,
            to: u8,
            end in 0_usize..200,
        ) {
            let mut bytes = written(&observation("plant/boiler", Value::Text("warm")));
            let at = at % bytes.len();
            bytes[at] = to;
            bytes.truncate(end.max(1));
            let _either = Sample::read(&bytes, Encapsulation::WRITTEN);
        }
    }
}
