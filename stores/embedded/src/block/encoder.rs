//! Rows to a block and back.

use super::bits::{BlockError, Input, put_varint};
use super::bytes;
use super::extras;
use super::ints::{self, Scratch};
use super::numbers;
use super::rows::{Cell, Rows, Span};
use super::texts;
use crate::limits::BLOCK_ROWS_MAX;
use weir_model::Place;

const VERSION: u8 = 1;
const KINDS_DIFFER: u8 = 1;
const PLACES: u8 = 2;
const EXTRAS: u8 = 4;

/// Writes blocks; holds the memory for it.
#[derive(Default)]
pub struct Encoder {
    scratch: Scratch,
    numbers: Vec<f64>,
}

fn kind(cell: &Cell) -> u8 {
    match cell {
        Cell::Number(_) => 0,
        Cell::Bool(_) => 1,
        Cell::Text(_) => 2,
        Cell::Null => 3,
        Cell::Json(_) => 4,
    }
}

impl Encoder {
    /// Appends the block of these rows, in their order.
    pub fn encode(&mut self, rows: &Rows, out: &mut Vec<u8>) {
        let first = rows.cells.first().map_or(0, kind);
        let differ = rows.cells.iter().any(|cell| kind(cell) != first);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = flag(differ, KINDS_DIFFER)
            | flag(!rows.places.is_empty(), PLACES)
            | flag(!rows.bags.is_empty(), EXTRAS);
        out.extend_from_slice(&[VERSION, flags]);
        put_varint(out, rows.len() as u64);
        ints::put(&mut self.scratch, &rows.times, out);
        if differ {
            let kinds: Vec<_> = rows.cells.iter().map(kind).collect();
            self.scratch.deflater.put(&kinds, out);
        } else {
            out.push(first);
        }
        self.put_results(rows, out);
        if flags & PLACES != 0 {
            self.put_places(rows, out);
        }
        if flags & EXTRAS != 0 {
            extras::put(&mut self.scratch, rows, out);
        }
    }

    fn put_results(&mut self, rows: &Rows, out: &mut Vec<u8>) {
        let scratch = &mut self.scratch;
        self.numbers.clear();
        let mut truths = Vec::new();
        let mut spans = Vec::new();
        for cell in &rows.cells {
            match *cell {
                Cell::Number(number) => self.numbers.push(number),
                Cell::Bool(truth) => truths.push(i64::from(truth)),
                Cell::Text(span) | Cell::Json(span) => spans.push(span),
                Cell::Null => {}
            }
        }
        if !self.numbers.is_empty() {
            numbers::put(scratch, &self.numbers, out);
        }
        if !truths.is_empty() {
            ints::put(scratch, &truths, out);
        }
        if !spans.is_empty() {
            let text = |span: Span| &rows.texts[span.start as usize..][..span.len as usize];
            texts::put(scratch, spans.into_iter().map(text), out);
        }
    }

    fn put_places(&mut self, rows: &Rows, out: &mut Vec<u8>) {
        let presence: Vec<_> = (0..rows.len())
            .map(|row| u8::from(rows.place(row).is_some()))
            .collect();
        self.scratch.deflater.put(&presence, out);
        for member in [
            |place: &Place| place.latitude,
            |place: &Place| place.longitude,
        ] {
            self.numbers.clear();
            self.numbers
                .extend(rows.places.iter().flatten().map(member));
            numbers::put(&mut self.scratch, &self.numbers, out);
        }
    }
}

/// Reads a block.
pub fn decode(block: &[u8]) -> Result<Rows, BlockError> {
    let mut input = Input::new(block);
    if input.byte()? != VERSION {
        return input.fail("a block of another version");
    }
    let flags = input.byte()?;
    let count = input.count(BLOCK_ROWS_MAX)?;
    let mut rows = Rows {
        times: ints::get(&mut input, count)?,
        ..Rows::default()
    };
    let kinds = if flags & KINDS_DIFFER == 0 {
        vec![input.byte()?; count]
    } else {
        bytes::get(&mut input)?
    };
    if kinds.len() != count {
        return input.fail("kinds of another number of rows");
    }
    get_results(&mut input, &kinds, &mut rows)?;
    if flags & PLACES != 0 {
        get_places(&mut input, &mut rows)?;
    }
    if flags & EXTRAS != 0 {
        extras::get(&mut input, &mut rows)?;
    }
    if input.is_at_end() {
        Ok(rows)
    } else {
        input.fail("bytes behind the last column")
    }
}

fn get_results(input: &mut Input<'_>, kinds: &[u8], rows: &mut Rows) -> Result<(), BlockError> {
    let mut counts = [0; 5];
    for &kind in kinds {
        match counts.get_mut(usize::from(kind)) {
            Some(count) => *count += 1,
            None => return input.fail("a result of an unknown kind"),
        }
    }
    let [numbers, truths, texts, _nulls, json] = counts;
    let numbers = if numbers > 0 {
        numbers::get(input, numbers)?
    } else {
        Vec::new()
    };
    let truths = if truths > 0 {
        ints::get(input, truths)?
    } else {
        Vec::new()
    };
    let spans = match texts + json {
        0 => Vec::new(),
        texts => texts::get(input, texts, |text| rows.keep(text))?,
    };
    let (mut numbers, mut truths, mut spans) =
        (numbers.into_iter(), truths.into_iter(), spans.into_iter());
    // The columns were read with as many rows as there are kinds, so none ends early.
    let cell = |kind: &u8| match kind {
        0 => numbers.next().map(Cell::Number),
        1 => truths.next().map(|truth| Cell::Bool(truth != 0)),
        2 => spans.next().map(Cell::Text),
        4 => spans.next().map(Cell::Json),
        _ => Some(Cell::Null),
    };
    rows.cells = kinds.iter().filter_map(cell).collect();
    Ok(())
}

fn get_places(input: &mut Input<'_>, rows: &mut Rows) -> Result<(), BlockError> {
    let presence = bytes::get(input)?;
    if presence.len() != rows.len() {
        return input.fail("places of another number of rows");
    }
    let count = presence.iter().filter(|there| **there != 0).count();
    let latitudes = numbers::get(input, count)?;
    let longitudes = numbers::get(input, count)?;
    let mut places = latitudes.into_iter().zip(longitudes);
    let mut place = |there: u8| {
        let there = (there != 0).then(|| places.next()).flatten();
        there.map(|(latitude, longitude)| Place {
            latitude,
            longitude,
        })
    };
    rows.places = presence.into_iter().map(&mut place).collect();
    Ok(())
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
            }
            let mut block = Vec::new();
            Encoder::default().encode(&all, &mut block);
            let back = decode(&block).unwrap();
            let finite = rows.iter().all(|row| !row.2.is_nan());
            prop_assert!(!finite || back == all);
            if cut < block.len() {
                prop_assert!(decode(&block[..cut]).is_err());
                let mut spoilt = block.clone();
                spoilt[cut] = spoilt[cut].wrapping_add(1);
                let _either = decode(&spoilt);
            }
        }
    }
}
