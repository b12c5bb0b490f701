//! The lines of `FORMATS` on a document's observations, and serde_json with a derived struct as the
//! reference of `json`.

use std::hint::black_box;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use weir_codec::{FORMATS, Format, by_name};
use weir_model::{Batch, BatchBuilder, Limits, Observation, Time, Value};

use super::{Coding, From, Prepared};
use crate::encoding::data::Document;

/// What a measured message may cost: the largest document, and more.
pub(super) const LIMITS: Limits = Limits {
    message_bytes: 256 << 20,
    observations: 1 << 20,
    depth: 32,
    text_bytes: 64 << 20,
};

pub(super) fn codings() -> Vec<Coding> {
    let coding = |format: &'static Format| Coding {
        format: format.name,
        target: weir_bench_model::results::OURS,
        from: From::Observations,
        prepare: Box::new(move |document| ours(format, document)),
    };
    let mut all: Vec<Coding> = FORMATS.iter().map(coding).collect();
    all.push(Coding {
        format: "json",
        target: "serde_json",
        from: From::Observations,
        prepare: Box::new(serde),
    });
    all
}

/// The observations of a document.
pub(super) fn batch_of(document: &Document) -> Result<&Batch, String> {
    let batch = document.batch.as_ref().filter(|batch| !batch.is_empty());
    batch.ok_or_else(|| "no observations".into())
}

fn ours(format: &'static Format, document: &Rc<Document>) -> Result<Prepared, String> {
    let mut bytes = Vec::new();
    (format.encode)(batch_of(document)?, &mut bytes);
    let (message, source) = (bytes.clone(), Rc::clone(document));
    let mut builder = BatchBuilder::new();
    let mut parse = move || {
        builder.clear();
        (format.decode)(&message, &mut builder, &LIMITS).map_err(|e| e.to_string())?;
        black_box(builder.batch());
        Ok(())
    };
    // A format that cannot read what it wrote of these observations takes no part.
    parse()?;
    let mut out = Vec::with_capacity(bytes.len());
    Ok(Prepared {
        bytes,
        parse: Some(Box::new(parse)),
        serialize: Some(Box::new(move || {
            out.clear();
            (format.encode)(batch_of(&source)?, &mut out);
            black_box(&out);
            Ok(())
        })),
        from_xml: None,
    })
}

/// What a program with serde would write and, borrowing, read. It is at hand before the clock runs
/// and its times are text already, which favours the reference.
#[derive(Serialize, Deserialize)]
struct Message<T> {
    observations: Vec<Row<T>>,
}

#[derive(Serialize, Deserialize)]
struct Row<T> {
    topic: T,
    sensor: T,
    #[serde(rename = "type")]
    property: T,
    value: f64,
    unit: T,
    time: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lon: Option<f64>,
}

fn serde(document: &Rc<Document>) -> Result<Prepared, String> {
    let batch = batch_of(document)?;
    let format = by_name("json").ok_or("this build has no json")?;
    let mut bytes = Vec::new();
    (format.encode)(batch, &mut bytes);
    let (read, message) = (bytes.clone(), message(batch));
    let mut out = Vec::with_capacity(bytes.len());
    Ok(Prepared {
        bytes,
        parse: Some(Box::new(move || {
            let message = serde_json::from_slice::<Message<&str>>(&read);
            black_box(message.map_err(|e| e.to_string())?);
            Ok(())
        })),
        serialize: Some(Box::new(move || {
            out.clear();
            serde_json::to_writer(&mut out, &message).map_err(|e| e.to_string())?;
            black_box(&out);
            Ok(())
        })),
        from_xml: None,
    })
}

fn message(batch: &Batch) -> Message<String> {
    let row = |row: Observation<'_>| Row {
        topic: row.topic.into(),
        sensor: row.sensor.unwrap_or_default().into(),
        property: row.property.unwrap_or_default().into(),
        value: number(row.value),
        unit: row.unit.unwrap_or_default().into(),
        time: row.time.map(instant).unwrap_or_default(),
        lat: row.place.map(|place| place.latitude),
        lon: row.place.map(|place| place.longitude),
    };
    Message {
        observations: batch.rows().map(row).collect(),
    }
}

fn instant(time: Time) -> String {
    let mut text = Vec::new();
    time.write_rfc3339(&mut text);
    String::from_utf8(text).unwrap_or_default()
}

fn number(value: Value<'_>) -> f64 {
    match value {
        Value::Number(number) => number,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_codec::sample;

    #[test]
    fn the_reference_writes_the_same_message() {
        let batch = sample::message(3, 7);
        let mut ours = Vec::new();
        (by_name("json").unwrap().encode)(&batch, &mut ours);
        let theirs = serde_json::to_vec(&message(&batch)).unwrap();
        let tree = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
        assert_eq!(tree(&ours), tree(&theirs));
        assert_eq!(ours.len(), theirs.len());
    }
}
