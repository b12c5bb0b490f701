//! The two recordings that are shipped: an ocean buoy and a bicycle ride.
//!
//! Origin and terms stand in `data/NOTICE.md`. The files are kept as they came, so that their
//! checksums can be compared.

use crate::csv::{CsvError, Table};
use crate::message::Stream;
use crate::replay::{Pace, Recording};
use core::time::Duration;
use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::Arc;
use weir_model::Place;

static BUOY: &[u8] = include_bytes!("../data/sea_surface_temperature.csv.gz");
static RIDE: &[u8] = include_bytes!("../data/cycling.csv.gz");

/// Terms and attribution of both recordings.
pub static NOTICE: &str = include_str!("../data/NOTICE.md");

/// Station B01, Western Maine Shelf.
const BUOY_PLACE: Place = Place {
    latitude: 43.1805,
    longitude: -70.4279,
};

const ONE_SECOND: Pace = Pace::Fixed(Duration::from_secs(1));

/// 19,226 half-hourly sea-surface temperatures: the past at once, then one a second.
pub fn buoy() -> Result<Recording, CsvError> {
    let table = unpack(BUOY)?;
    let topic = "ocean/buoy-b01/sea/temperature".to_owned();
    let stream = Stream {
        topic: topic.clone(),
        name: "NERACOOS buoy B01 sea surface temperature".into(),
        sensor: "urn:ioos:station:org.neracoos:B01".into(),
        property: "temperature".into(),
        unit: "Cel".into(),
        place: Some(BUOY_PLACE),
        maximum: Some(25.0),
    };
    Ok(Recording {
        topic,
        streams: vec![Arc::new(stream)],
        table,
        backfill: true,
        pace: ONE_SECOND,
    })
}

/// A ride of 73 minutes, one row a second: altitude, power, cadence, distance, speed, each with the
/// position it was observed at.
pub fn ride() -> Result<Recording, CsvError> {
    let mut table = unpack(RIDE)?;
    let position = [
        column(&table, "position_lat")?,
        column(&table, "position_long")?,
    ];
    for row in &mut table.rows {
        let [lat, lon] = position.map(|index| row.values[index].map(degrees));
        row.place = lat.zip(lon).map(|(latitude, longitude)| Place {
            latitude,
            longitude,
        });
    }
    let kept = [
        ("altitude", "altitude", "m", 100.0),
        ("power", "power", "W", 450.0),
        ("cadence", "cadence", "/min", 120.0),
        ("distance", "distance", "m", 40_000.0),
        ("speed", "speed", "m/s", 16.0),
    ];
    let mut indices = Vec::with_capacity(kept.len());
    let mut streams = Vec::with_capacity(kept.len());
    for (name, property, unit, maximum) in kept {
        indices.push(column(&table, name)?);
        streams.push(Arc::new(Stream {
            topic: format!("ride/{name}"),
            name: format!("ride {name}"),
            sensor: format!("urn:dev:mac:0024befffe90{:04x}", streams.len()),
            property: property.into(),
            unit: unit.into(),
            place: None,
            maximum: Some(maximum),
        }));
    }
    for row in &mut table.rows {
        row.values = indices
            .iter()
            .map(|&index| row.values[index].map(tidy))
            .collect();
    }
    table.columns = kept.map(|(name, ..)| name.to_owned()).to_vec();
    Ok(Recording {
        topic: "ride".into(),
        streams,
        table,
        backfill: false,
        pace: ONE_SECOND,
    })
}

/// Semicircles, the unit of the recorder, as degrees with seven decimals (a centimetre).
fn degrees(semicircles: f64) -> f64 {
    (semicircles * 180.0 / 2_147_483_648.0 * 1e7).round() / 1e7
}

/// The number the recorder meant: its resolution is 0.2 m at best, its export had 15 decimals.
fn tidy(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn column(table: &Table, name: &str) -> Result<usize, CsvError> {
    let found = table.columns.iter().position(|column| column == name);
    found.ok_or_else(|| CsvError {
        line: 1,
        column: 0,
        rule: format!("no column `{name}`"),
    })
}

fn unpack(packed: &[u8]) -> Result<Table, CsvError> {
    let mut text = String::new();
    match GzDecoder::new(packed).read_to_string(&mut text) {
        Ok(_) => Table::parse(&text),
        Err(reason) => Err(CsvError {
            line: 1,
            column: 0,
            rule: reason.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_model::Time;

    #[test]
    fn the_buoy_has_all_its_temperatures() {
        let buoy = buoy().unwrap();
        assert_eq!(buoy.table.rows.len(), 19_226);
        assert_eq!(buoy.table.rows[0].values, [Some(4.929)]);
        let sent: usize = buoy
            .past(Time::from_millis(0))
            .map(|message| message.observations.len())
            .sum();
        assert_eq!(sent, 19_226);
    }

    #[test]
    fn the_ride_has_its_positions_in_degrees() {
        let ride = ride().unwrap();
        assert_eq!(ride.table.rows.len(), 4391);
        let first = &ride.table.rows[0];
        assert_eq!(first.values, [12.8, 68.0, 5.0, 2.07, 1.621].map(Some));
        assert_eq!(
            first.place,
            Some(Place {
                latitude: -11.6364178,
                longitude: 166.9724572
            })
        );
    }

    #[test]
    fn the_notice_names_both_owners() {
        assert!(NOTICE.contains("NERACOOS") && NOTICE.contains("CC0-1.0"));
    }
}
