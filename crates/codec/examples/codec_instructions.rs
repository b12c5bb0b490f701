//! Does one piece of the codec's work, for `cargo xtask instructions` to count what it takes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a tool")]

use std::hint::black_box;
use weir_codec::{Format, by_name, sample};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Limits, Time, Value};

fn main() {
    let work = std::env::args().nth(1).unwrap_or_default();
    let message = || sample::message(100, 7);
    let (name, way) = work.rsplit_once('-').unwrap_or_default();
    let format = by_name(name).unwrap_or_else(|| panic!("no work of the name {work:?}"));
    let batch = if name == "block" { series() } else { message() };
    match way {
        "encode" => encode(format, &batch),
        "decode" => decode(format, &batch),
        _ => panic!("no work of the name {work:?}"),
    }
}

/// The work that is counted, once everything has the memory that it needs. It gives something back, so that
/// it is a function that is come back to.
#[inline(never)]
fn counted_work(work: &mut dyn FnMut()) -> bool {
    work();
    black_box(true)
}

fn encode(format: &Format, batch: &Batch) {
    let mut out = Vec::new();
    let mut work = || {
        out.clear();
        (format.encode)(black_box(batch), &mut out);
    };
    work();
    assert!(counted_work(&mut work));
    assert!(!out.is_empty());
}

fn decode(format: &Format, batch: &Batch) {
    let (mut bytes, mut builder) = (Vec::new(), BatchBuilder::new());
    (format.encode)(batch, &mut bytes);
    let mut work = || {
        builder.clear();
        (format.decode)(black_box(&bytes), &mut builder, &Limits::default()).unwrap();
    };
    work();
    assert!(counted_work(&mut work));
    assert_eq!(builder.len(), batch.len());
}

/// Two sensors of 9,000 observations each: a wave of hundredths, and noise.
fn series() -> Batch {
    let mut builder = BatchBuilder::new();
    let mut noise = 1_u32;
    for row in 0..18_000_u32 {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (sensor, step) = (row / 9000, row % 9000);
        let turn = f64::from(step % 144) / 72.0 - 1.0;
        let hundredths = 800.0 * (1.0 - turn * turn) + f64::from(noise >> 27);
        let topic = format!("coast/station-{sensor}/temperature");
        builder.begin();
        builder.topic(Naming::Topic, &topic);
        builder.unit("Cel");
        let seconds = 1_700_000_000 + i64::from(step) * 600;
        builder.time(Time::from_nanos(seconds * 1_000_000_000));
        builder.value(Value::Number(hundredths.round() / 100.0));
        builder.end().unwrap();
    }
    builder.finish()
}
