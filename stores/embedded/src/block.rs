//! A block: the observations of one datastream in compressed columns; pure functions, no I/O.
//!
//! The codec's columnar coder (`docs/reference/block.md`) does it; here are the rows in memory, and
//! the byte before each block that says its version: 2, then the body of a chunk, whose checksum and
//! length the store keeps itself. Blocks of version 1 are read as they were written ([`v1`]) and become
//! version 2 as chunks are merged.

mod rows;
mod v1;

use crate::limits::BLOCK_ROWS_MAX;
pub use rows::Rows;
use weir_codec::DecodeError;
use weir_codec::block::{self, Chunk, Columns};
use weir_model::{Extra, Limits, Place, Time, Value};

const VERSION: u8 = 2;

/// What a block may cost: spans in memory are of 32 bits, and what was written must be read.
const LIMITS: Limits = Limits {
    message_bytes: u32::MAX as usize,
    observations: BLOCK_ROWS_MAX,
    depth: 0,
    text_bytes: u32::MAX as usize,
};

/// Writes blocks; holds the memory for it.
#[derive(Default)]
pub struct Encoder(Box<block::Encoder>);

impl Encoder {
    /// Appends the block of these rows, in their order.
    pub fn encode(&mut self, rows: &Rows, out: &mut Vec<u8>) {
        out.push(VERSION);
        self.0.encode_body(rows, out);
    }
}

impl block::Rows for Rows {
    fn len(&self) -> usize {
        self.len()
    }

    fn time(&self, row: usize) -> Option<Time> {
        Some(Time::from_nanos(self.time(row)))
    }

    fn value(&self, row: usize) -> Value<'_> {
        self.value(row)
    }

    fn place(&self, row: usize) -> Option<Place> {
        self.place(row)
    }

    fn extra(&self, row: usize) -> Extra<'_> {
        self.extra(row)
    }

    fn may_have_places(&self) -> bool {
        !self.places.is_empty()
    }

    fn may_have_extras(&self) -> bool {
        !self.bags.is_empty()
    }

    fn descriptions(&self) -> Option<&[u8]> {
        Some(&self.descriptions[..]).filter(|numbers| !numbers.is_empty())
    }
}

/// Reads a block of either version.
pub fn decode(block: &[u8]) -> Result<Rows, DecodeError> {
    let Some((&VERSION, body)) = block.split_first() else {
        return v1::decode(block);
    };
    let chunk = Chunk::body(body, 1, &LIMITS)?;
    let mut columns = Box::<Columns>::default();
    columns.read(&chunk, &LIMITS)?;
    let mut rows = Rows::default();
    for row in 0..columns.len() {
        let time = columns.times()[row];
        rows.push(
            time,
            columns.value(row),
            columns.place(row),
            &columns.extra(row),
        );
        rows.describe(columns.description(row));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use weir_model::{Extra, Time, Value};

    /// Time, kind, number, text.
    fn any_row() -> impl Strategy<Value = (i64, u8, f64, String)> {
        (any::<i64>(), 0_u8..7, any::<f64>(), ".{0,9}")
    }

    proptest! {
        #[test]
        fn any_rows_are_a_block_and_any_bytes_are_rows_or_an_error(
            rows in proptest::collection::vec(any_row(), 0..80),
            cut in 0_usize..400,
        ) {
            let mut all = Rows::default();
            for (time, kind, number, text) in &rows {
                let value = match kind {
                    0 | 1 => Value::Number(*number),
                    2 => Value::Bool(*time > 0),
                    3 => Value::Text(text),
                    4 => Value::Json(text),
                    _ => Value::Null,
                };
                let epoch = Time::from_nanos(0);
                let extra = Extra {
                    end: (kind % 2 == 0).then_some(Time::from_nanos(time.wrapping_add(1))),
                    valid: (kind % 3 == 0).then_some((Time::from_nanos(*time), epoch)),
                    feature: (kind % 4 == 0).then_some(text),
                    ..Extra::default()
                };
                let place = Place { latitude: (time % 90) as f64, longitude: number % 180.0 };
                let known = (*kind > 3 && !place.longitude.is_nan()).then_some(place);
                all.push(*time, value, known, &extra);
                all.describe(if *kind > 2 { kind * 40 } else { 0 });
            }
            let mut block = Vec::new();
            Encoder::default().encode(&all, &mut block);
            let back = decode(&block).unwrap();
            let finite = rows.iter().all(|row| !row.2.is_nan());
            prop_assert!(!finite || back == all);
            if cut < block.len() {
                // Cut between two columns it is a block without the later ones, as which only the
                // checksum around it tells it apart.
                let between = decode(&block[..cut]).map(|rows| rows.len());
                prop_assert!(between.is_err() || between == Ok(all.len()));
                let mut spoilt = block.clone();
                spoilt[cut] = spoilt[cut].wrapping_add(1);
                let _either = decode(&spoilt);
            }
        }
    }

    #[test]
    fn a_block_of_the_version_before_still_opens() {
        let rows = decode(include_bytes!("../tests/version-1.block")).unwrap();
        assert_eq!(rows, tests_rows());
        let mut again = Vec::new();
        Encoder::default().encode(&rows, &mut again);
        assert_eq!(again[0], VERSION);
        assert_eq!(decode(&again).unwrap(), rows);
    }

    /// Every kind of result, places and extras.
    fn tests_rows() -> Rows {
        let mut rows = Rows::default();
        for index in 0..40_i64 {
            let text = format!("text {}", index % 3);
            let value = match index % 5 {
                0 | 1 => Value::Number(index as f64 / 8.0 + 20.0),
                2 => Value::Bool(index % 2 == 0),
                3 => Value::Text(&text),
                _ if index > 30 => Value::Null,
                _ => Value::Json("[1,2]"),
            };
            let place = Place {
                latitude: 44.5,
                longitude: 20.0 + index as f64 / 100.0,
            };
            let time = Time::from_nanos(1_400_000_000_000_000_000 + index * 1_000_000_000);
            let extra = Extra {
                end: (index % 4 == 0).then_some(time.plus_nanos(5)),
                valid: (index % 7 == 0).then_some((time, time.plus_nanos(index))),
                quality: (index % 6 == 0).then_some("good"),
                parameters: (index == 20).then_some("{}"),
                ..Extra::default()
            };
            rows.push(
                time.nanos(),
                value,
                (index % 3 == 0).then_some(place),
                &extra,
            );
        }
        rows
    }
}
