//! The sensor message of paper 000 (section V, table 5): `n` nodes of a district heating network.
//!
//! A node is a substation with seven observations, each with latitude and longitude; in JSON it has
//! the size of the paper's, 1,478 characters for one node and 7,163 for five, within 2 %.

use alloc::format;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Time, Value};

/// Observations of one node.
pub const OBSERVATIONS_PER_NODE: usize = 7;

/// 2026-11-20T09:41:00.250Z, the time of second 0.
pub const START: Time = Time::from_millis(1_795_167_660_250);

/// One quantity that a substation measures: path, property, unit, mean, span.
const QUANTITIES: [(&str, &str, &str, f64, f64); OBSERVATIONS_PER_NODE] = [
    ("supply/temperature", "water-temperature", "Cel", 78.0, 6.0),
    ("return/temperature", "water-temperature", "Cel", 46.0, 4.0),
    ("supply/pressure", "water-pressure", "bar", 7.25, 0.5),
    ("return/pressure", "water-pressure", "bar", 4.75, 0.5),
    ("supply/flow", "water-volume-flow", "m3/h", 18.5, 3.0),
    ("supply/power", "thermal-power", "kW", 640.0, 90.0),
    ("supply/energy", "thermal-energy", "kW.h", 51_200.0, 0.0),
];

/// The message of `nodes` nodes at a second after [`START`]; the same arguments give the same message.
pub fn message(nodes: usize, second: u64) -> Batch {
    let mut builder = BatchBuilder::new();
    write(nodes, second, &mut builder);
    builder.finish()
}

/// Adds the message to a builder, which may be reused.
pub fn write(nodes: usize, second: u64, out: &mut BatchBuilder) {
    for node in 1..=nodes {
        for index in 0..OBSERVATIONS_PER_NODE {
            write_observation(node, index, second, out);
        }
    }
}

fn write_observation(node: usize, index: usize, second: u64, out: &mut BatchBuilder) {
    let (path, property, unit, mean, span) = QUANTITIES[index];
    out.begin();
    out.topic(Naming::Topic, &format!("heating/substation-{node}/{path}"));
    out.sensor(&format!(
        "urn:dev:mac:0024befffe80{:04x}",
        node * 16 + index
    ));
    out.property(property);
    out.unit(unit);
    out.time(START.plus_nanos((second as i64).saturating_mul(1_000_000_000)));
    let drift = if span == 0.0 {
        second as f64 * 0.25
    } else {
        span * wave(node + index, second)
    };
    out.value(Value::Number(hundredths(mean + drift)));
    // Whole microdegrees, so that the decimals stay six.
    out.latitude((44_812_503 + node * 1000) as f64 / 1e6);
    out.longitude((20_461_207 + node * 1000) as f64 / 1e6);
    // Every member is set and in range.
    let _always_whole = out.end();
}

/// A triangle between -1 and 1 with a period of ten minutes, shifted per phase.
fn wave(phase: usize, second: u64) -> f64 {
    let turn = ((second + phase as u64 * 97) % 600) as f64 / 300.0;
    if turn < 1.0 {
        turn * 2.0 - 1.0
    } else {
        3.0 - turn * 2.0
    }
}

fn hundredths(number: f64) -> f64 {
    (number * 100.0 + 0.5) as i64 as f64 / 100.0
}

#[cfg(all(test, feature = "json"))]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn characters(nodes: usize, second: u64) -> usize {
        let mut out = Vec::new();
        (crate::formats::json::FORMAT.encode)(&message(nodes, second), &mut out);
        out.len()
    }

    #[test]
    fn the_message_has_the_size_of_the_papers() {
        for (nodes, published) in [(1, 1478), (5, 7163)] {
            for second in [0, 17, 599, 3600] {
                let size = characters(nodes, second);
                assert!(
                    size.abs_diff(published) * 50 <= published,
                    "{nodes} nodes: {size}"
                );
            }
        }
    }
}
