//! What sensors measured: series of (time, value), from which documents and batches are made.

use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Time, Value};

use weir_bench_model::random::Random;

/// One datastream's observations.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// URN of the sensor, or of the station it stands at.
    pub sensor: String,
    /// URN of what it observes.
    pub property: &'static str,
    /// When and what.
    pub points: Vec<(Time, f64)>,
}

/// How values are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// To hundredths, as sensors tell them.
    Hundredths,
    /// Not at all: all bits of a double.
    Full,
}

/// 2010-01-01T00:00:00Z.
const START: Time = Time::from_millis(1_262_304_000_000);
/// Seconds between two observations.
const STEP_SECONDS: i64 = 600;
/// Observations of a day.
const PER_DAY: f64 = 144.0;
/// Observations of a year.
const PER_YEAR: f64 = PER_DAY * 365.25;

/// So many observations of temperature, shared out evenly among stations: a year's and a day's wave
/// with noise of deviation 0.15, every ten minutes.
pub(crate) fn temperatures(
    count: usize,
    stations: usize,
    precision: Precision,
    random: &mut Random,
) -> Vec<Series> {
    let share = |station: usize| count / stations + usize::from(station < count % stations);
    (0..stations)
        .map(|station| Series {
            sensor: format!("urn:ogc:object:feature:Sensor:station-{}", station + 1),
            property: "urn:ogc:def:property:OGC::Temp",
            points: points(share(station), station, precision, random),
        })
        .collect()
}

fn points(
    count: usize,
    station: usize,
    precision: Precision,
    random: &mut Random,
) -> Vec<(Time, f64)> {
    let wave = |index: f64, period: f64| (std::f64::consts::TAU * index / period).sin();
    (0..count)
        .map(|index| {
            let at = START.plus_nanos(index as i64 * STEP_SECONDS * 1_000_000_000);
            let index = index as f64;
            let mean = 14.0 + station as f64 * 0.5 - 6.0 * wave(index + PER_YEAR / 4.0, PER_YEAR);
            let value = mean + 3.0 * wave(index, PER_DAY) + 0.15 * random.normal();
            (at, round(value, precision))
        })
        .collect()
}

fn round(value: f64, precision: Precision) -> f64 {
    match precision {
        Precision::Hundredths => (value * 100.0).round() / 100.0,
        Precision::Full => value,
    }
}

/// All of the series in one message.
pub(crate) fn batch(series: &[Series]) -> Batch {
    let mut builder = BatchBuilder::new();
    for (index, one) in series.iter().enumerate() {
        let topic = format!("coast/station-{}/temperature", index + 1);
        for &(time, value) in &one.points {
            builder.begin();
            builder.topic(Naming::Topic, &topic);
            builder.sensor(&one.sensor);
            builder.property(one.property);
            builder.unit("Cel");
            builder.time(time);
            builder.value(Value::Number(value));
            // Every member is set and in range.
            let _always_whole = builder.end();
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_share_out_what_is_asked() {
        let series = temperatures(11, 2, Precision::Hundredths, &mut Random::new(1, "test"));
        let counts: Vec<usize> = series.iter().map(|one| one.points.len()).collect();
        assert_eq!(counts, [6, 5]);
        assert_eq!(batch(&series).len(), 11);
    }

    #[test]
    fn hundredths_are_hundredths() {
        let series = temperatures(500, 1, Precision::Hundredths, &mut Random::new(1, "test"));
        for (_, value) in &series[0].points {
            assert_eq!(format!("{value:.2}").parse(), Ok(*value));
        }
    }
}
