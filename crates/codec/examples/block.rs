//! Prints what `block` costs on series of many kinds, beside pco, in Markdown: `docs/reference/block.md`
//! ends with it.
//!
//! `cargo run -p weir-codec --example block` prints sizes, with `-- speed` times too: the shortest of many
//! runs of one thread, from slices to bytes and back to slices, and from a batch with the names of its
//! datastreams to the message and back.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "it measures time and reads the recordings"
)]

mod timing;

use std::f64::consts::TAU;
use std::fmt::Write;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use timing::best;
use weir_codec::block::{decode_series, encode_series};
use weir_codec::by_name;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Limits, Time, Value};

fn main() {
    let speed = std::env::args().any(|argument| argument == "speed");
    print!("{}", table(speed));
}

/// Times in nanoseconds and numbers, series after series.
pub(crate) struct Series {
    name: &'static str,
    times: Vec<i64>,
    numbers: Vec<f64>,
}

/// The table.
pub(crate) fn table(speed: bool) -> String {
    let mut out = String::from(
        "| series | observations | block, bytes | bits each | of which times | pco, bytes \
         | block of pco |",
    );
    out += if speed {
        " encode Mobs/s | decode Mobs/s | whole encode | whole decode |\n"
    } else {
        "\n"
    };
    out += &format!("|---{}|\n", "|---".repeat(if speed { 10 } else { 6 }));
    for series in all() {
        line(&series, speed, &mut out);
    }
    out
}

fn line(series: &Series, speed: bool, out: &mut String) {
    let Series {
        name,
        times,
        numbers,
    } = series;
    let mut bytes = Vec::new();
    encode_series(times, numbers, &mut bytes);
    let mut only_times = Vec::new();
    encode_series(times, &vec![0.0; times.len()], &mut only_times);
    let config = pco::ChunkConfig::default();
    let pco = pco::standalone::simple_compress(times, &config)
        .unwrap()
        .len()
        + pco::standalone::simple_compress(numbers, &config)
            .unwrap()
            .len();
    let (len, count) = (bytes.len(), times.len());
    let bits = len as f64 * 8.0 / count as f64;
    let percent = len as f64 * 100.0 / pco as f64;
    write!(
        out,
        "| {name} | {count} | {len} | {bits:.2} | {} | {pco} | {percent:.1} % |",
        only_times.len()
    )
    .unwrap();
    if speed {
        let (encode, decode) = speeds(times, numbers, &bytes);
        write!(out, " {encode:.0} | {decode:.0} |").unwrap();
        let (encode, decode) = whole_speeds(times, numbers);
        write!(out, " {encode:.0} | {decode:.0} |").unwrap();
    }
    out.push('\n');
}

fn speeds(times: &[i64], numbers: &[f64], bytes: &[u8]) -> (f64, f64) {
    let mut out = Vec::new();
    let encode = best(|| {
        out.clear();
        encode_series(black_box(times), black_box(numbers), &mut out);
    });
    let (mut back_times, mut back) = (Vec::new(), Vec::new());
    let limits = Limits::default();
    let decode = best(|| {
        back_times.clear();
        back.clear();
        decode_series(black_box(bytes), &limits, &mut back_times, &mut back).unwrap();
    });
    assert_eq!(back_times, times);
    assert!(
        back.iter()
            .zip(numbers)
            .all(|(a, b)| a.to_bits() == b.to_bits())
    );
    let rate = |time: Duration| times.len() as f64 / time.as_secs_f64() / 1e6;
    (rate(encode), rate(decode))
}

/// The same of the format as a whole.
fn whole_speeds(times: &[i64], numbers: &[f64]) -> (f64, f64) {
    let format = by_name("block").unwrap();
    let batch = batch(times, numbers);
    let (mut out, mut builder) = (Vec::new(), BatchBuilder::new());
    let encode = best(|| {
        out.clear();
        (format.encode)(black_box(&batch), &mut out);
    });
    let decode = best(|| {
        builder.clear();
        (format.decode)(black_box(&out), &mut builder, &Limits::default()).unwrap();
    });
    assert!(*builder.batch() == batch);
    let rate = |time: Duration| times.len() as f64 / time.as_secs_f64() / 1e6;
    (rate(encode), rate(decode))
}

/// As a message: where time goes back, the next sensor's observations begin.
fn batch(times: &[i64], numbers: &[f64]) -> Batch {
    let mut builder = BatchBuilder::new();
    let (mut sensor, mut before) = (1, i64::MIN);
    for (&time, &number) in times.iter().zip(numbers) {
        sensor += usize::from(time < before);
        before = time;
        builder.begin();
        builder.topic(
            Naming::Topic,
            &format!("coast/station-{sensor}/temperature"),
        );
        builder.sensor(&format!("urn:ogc:object:feature:Sensor:station-{sensor}"));
        builder.property("urn:ogc:def:property:OGC::Temp");
        builder.unit("Cel");
        builder.time(Time::from_nanos(time));
        builder.value(Value::Number(number));
        builder.end().unwrap();
    }
    builder.finish()
}

/// SplitMix64, and normal deviates by Marsaglia's polar method.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ bits >> 31
    }

    /// From -1 to 1.
    fn even(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (self.even(), self.even());
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }
}

const BEGIN: i64 = 1_700_000_000_000_000_000;
const MINUTE: i64 = 60_000_000_000;

fn rounded(number: f64, decimals: i32) -> f64 {
    let power = 10_f64.powi(decimals);
    (number * power).round() / power
}

/// Sensors that measure every ten minutes: a day's wave and noise. Series after series.
fn waves(name: &'static str, sensors: usize, mean: f64, decimals: Option<i32>) -> Series {
    let mut random = Random(sensors as u64);
    let mut series = Series {
        name,
        times: Vec::new(),
        numbers: Vec::new(),
    };
    for sensor in 0..sensors {
        let end = |sensor: usize| 18_500 * sensor / sensors;
        for step in 0..end(sensor + 1) - end(sensor) {
            let phase = (step as f64 / 144.0 + sensor as f64 / 10.0) * TAU;
            let number = mean + 8.0 * phase.sin() + 0.15 * random.normal();
            series.times.push(BEGIN + step as i64 * 10 * MINUTE);
            series
                .numbers
                .push(decimals.map_or(number, |decimals| rounded(number, decimals)));
        }
    }
    series
}

/// Series of one sensor of which a function gives the next time, in milliseconds, and number.
fn steps(name: &'static str, mut next: impl FnMut(&mut Random, i64, f64) -> (i64, f64)) -> Series {
    let mut random = Random(7);
    let (mut millis, mut number) = (BEGIN / 1_000_000, 20.0);
    let mut series = Series {
        name,
        times: Vec::new(),
        numbers: Vec::new(),
    };
    for _ in 0..18_500 {
        (millis, number) = next(&mut random, millis, number);
        series.times.push(millis * 1_000_000);
        series.numbers.push(number);
    }
    series
}

/// The recordings that the demonstration ships.
fn recording(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../demo/data")
        .join(name);
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap();
    text
}

fn buoy() -> Series {
    let text = recording("sea_surface_temperature.csv.gz");
    let rows = text.lines().skip(1).map(|line| {
        let (time, number) = line.split_once(',').unwrap();
        let time: Time = time.parse().unwrap();
        (time.nanos(), number.parse::<f64>().unwrap())
    });
    let (times, numbers) = rows.unzip();
    Series {
        name: "buoy, sea surface temperature (recorded)",
        times,
        numbers,
    }
}

fn ride(name: &'static str, column: usize) -> Series {
    let text = recording("cycling.csv.gz");
    let rows = text.lines().skip(1).enumerate().map(|(second, line)| {
        let field = line.split(',').nth(column).unwrap();
        (
            BEGIN + second as i64 * 1_000_000_000,
            field.parse::<f64>().unwrap(),
        )
    });
    let (times, numbers) = rows.unzip();
    Series {
        name,
        times,
        numbers,
    }
}

fn all() -> Vec<Series> {
    let noise = |decimals: i32| {
        move |random: &mut Random, millis: i64, _last: f64| {
            (millis + 1000, rounded(20.0 + random.normal(), decimals))
        }
    };
    vec![
        waves("2 sensors, two decimals", 2, 15.0, Some(2)),
        waves("7 stations, two decimals", 7, 15.0, Some(2)),
        waves("2 sensors, unrounded", 2, 15.0, None),
        waves("2 sensors, unrounded around zero", 2, 0.0, None),
        steps("noise alone, one decimal", noise(1)),
        steps("noise alone, four decimals", noise(4)),
        steps(
            "irregular times, walk of three decimals",
            |random, millis, last| {
                let wait = (-1000.0 * ((random.even() + 1.0) / 2.0 + 1e-9).ln()) as i64;
                (millis + wait, rounded(last + 0.02 * random.normal(), 3))
            },
        ),
        steps("full precision, walk", |random, millis, last| {
            (millis + 1000, last + 0.02 * random.normal())
        }),
        steps("set point, changes seldom", |random, millis, last| {
            let changes = random.even() > 0.98;
            (
                millis + 1000,
                if changes {
                    rounded(20.0 + random.normal(), 1)
                } else {
                    last
                },
            )
        }),
        buoy(),
        ride("ride, altitude (recorded)", 3),
        ride("ride, power (recorded)", 4),
        ride("ride, cadence (recorded)", 5),
        ride("ride, distance (recorded)", 6),
        ride("ride, speed (recorded)", 7),
    ]
}
