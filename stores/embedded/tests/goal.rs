//! The goal on real data: at most two bytes an observation, times included.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::Read;
use std::path::Path;
use weir_embedded::block::{Encoder, Rows, decode};
use weir_model::{Extra, Place, Time, Value};

/// The recordings that the demonstration ships.
fn recording(name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../crates/demo/data")
        .join(name);
    let file = std::fs::File::open(path).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}

/// Bytes and rows of a datastream in chunks as the store makes them.
fn size(rows: &Rows) -> (usize, usize) {
    let mut encoder = Encoder::default();
    let mut bytes = 0;
    let mut row = 0;
    while row < rows.len() {
        let mut chunk = Rows::default();
        (row..rows.len().min(row + 4096)).for_each(|row| chunk.push_row(rows, row));
        row += chunk.len();
        let mut block = Vec::new();
        encoder.encode(&chunk, &mut block);
        assert_eq!(decode(&block).unwrap(), chunk);
        bytes += block.len();
    }
    (bytes, rows.len())
}

fn buoy() -> Rows {
    let text = recording("sea_surface_temperature.csv.gz").expect("the buoy's recording");
    let mut rows = Rows::default();
    for line in text.lines().skip(1) {
        let (time, value) = line.split_once(',').unwrap();
        let time: Time = time.parse().unwrap();
        rows.push(
            time.nanos(),
            Value::Number(value.parse().unwrap()),
            None,
            &Extra::default(),
        );
    }
    rows
}

/// Altitude, power, cadence, distance and speed, as recorded, and as the demonstration publishes them:
/// to a thousandth, each with the place.
fn ride(rounded: bool) -> Vec<Rows> {
    let text = recording("cycling.csv.gz").expect("the ride's recording");
    let mut all = vec![Rows::default(); 5];
    for (second, line) in text.lines().skip(1).enumerate() {
        let fields: Vec<_> = line.split(',').collect();
        let degrees = |text: &str| {
            let degrees = text.parse::<f64>().unwrap() * 180.0 / 2_147_483_648.0;
            (degrees * 1e7).round() / 1e7
        };
        let place = Place {
            latitude: degrees(fields[1]),
            longitude: degrees(fields[2]),
        };
        let time = second as i64 * 1_000_000_000 + 1_400_000_000_000_000_000;
        for (rows, field) in all.iter_mut().zip(&fields[3..8]) {
            let number: f64 = field.parse().unwrap();
            let number = if rounded {
                (number * 1000.0).round() / 1000.0
            } else {
                number
            };
            let place = rounded.then_some(place);
            rows.push(time, Value::Number(number), place, &Extra::default());
        }
    }
    all
}

#[test]
fn real_observations_take_at_most_two_bytes_times_included() {
    let mut whole = (0, 0);
    for (name, rows) in [("buoy", vec![buoy()]), ("ride", ride(false))] {
        let sizes: Vec<_> = rows.iter().map(size).collect();
        let bytes: usize = sizes.iter().map(|size| size.0).sum();
        let count: usize = sizes.iter().map(|size| size.1).sum();
        println!(
            "{name}: {count} observations, {:.2} bytes each",
            bytes as f64 / count as f64
        );
        for (bytes, count) in sizes {
            println!("  {:.3}", bytes as f64 / count as f64);
        }
        whole = (whole.0 + bytes, whole.1 + count);
    }
    let each = whole.0 as f64 / whole.1 as f64;
    println!("together: {each:.2} bytes an observation");
    assert!(each <= 2.0, "{each}");
    let placed: Vec<_> = ride(true).iter().map(size).collect();
    let bytes: usize = placed.iter().map(|size| size.0).sum();
    let count: usize = placed.iter().map(|size| size.1).sum();
    println!(
        "ride with the place in each: {:.2} bytes",
        bytes as f64 / count as f64
    );
}
