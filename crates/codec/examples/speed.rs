//! Prints how fast every format is written and read, and serde_json beside it on the same message.
//!
//! `cargo run -p weir-codec --example speed [nodes]`; MB/s are of the format's own bytes.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "it measures time"
)]

mod timing;

use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::time::Duration;
use timing::best;
use weir_codec::{FORMATS, Format, by_name, sample};
use weir_model::{Batch, BatchBuilder, Limits, Value};

#[derive(Serialize, Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    observations: Vec<Row<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Row<'a> {
    topic: &'a str,
    sensor: &'a str,
    #[serde(rename = "type")]
    property: &'a str,
    value: f64,
    unit: &'a str,
    time: &'a str,
    lat: f64,
    lon: f64,
}

fn main() {
    let nodes = std::env::args()
        .nth(1)
        .and_then(|nodes| nodes.parse().ok())
        .unwrap_or(100);
    let batch = sample::message(nodes, 0);
    println!("{nodes} nodes, {} observations", batch.len());
    println!(
        "{:<12} {:>10} {:>14} {:>14}",
        "format", "bytes", "write MB/s", "read MB/s"
    );
    for format in FORMATS {
        measure(format, &batch);
    }
    measure_serde(&batch);
}

fn measure(format: &Format, batch: &Batch) {
    let mut out = Vec::new();
    let write = best(|| {
        out.clear();
        (format.encode)(black_box(batch), &mut out);
    });
    let mut builder = BatchBuilder::new();
    let read = best(|| {
        builder.clear();
        (format.decode)(black_box(&out), &mut builder, &Limits::default()).unwrap();
    });
    show(format.name, out.len(), write, read);
}

fn measure_serde(batch: &Batch) {
    let mut text = Vec::new();
    (by_name("json").unwrap().encode)(batch, &mut text);
    let message: Message = serde_json::from_slice(&text).unwrap();
    let mut out = Vec::new();
    let write = best(|| {
        out.clear();
        serde_json::to_writer(&mut out, black_box(&message)).unwrap();
    });
    let read = best(|| {
        black_box(serde_json::from_slice::<Message>(black_box(&text)).unwrap());
    });
    show("serde_json", out.len(), write, read);
    // The same from the batch, with times to be rendered, which the struct above has as text.
    let with_times = best(|| {
        out.clear();
        let times: Vec<_> = batch
            .rows()
            .map(|row| row.time.unwrap().to_string())
            .collect();
        let rows = batch.rows().zip(&times);
        let observations = rows.map(|(row, time)| serde_row(&row, time)).collect();
        serde_json::to_writer(&mut out, &Message { observations }).unwrap();
    });
    show("serde, times", out.len(), with_times, read);
}

fn serde_row<'a>(row: &weir_model::Observation<'a>, time: &'a str) -> Row<'a> {
    let place = row.place.unwrap();
    let Value::Number(value) = row.value else {
        unreachable!()
    };
    Row {
        topic: row.topic,
        sensor: row.sensor.unwrap(),
        property: row.property.unwrap(),
        value,
        unit: row.unit.unwrap(),
        time,
        lat: place.latitude,
        lon: place.longitude,
    }
}

fn show(name: &str, bytes: usize, write: Duration, read: Duration) {
    let rate = |time: Duration| bytes as f64 / time.as_secs_f64() / 1e6;
    println!(
        "{name:<12} {bytes:>10} {:>14.0} {:>14.0}",
        rate(write),
        rate(read)
    );
}
