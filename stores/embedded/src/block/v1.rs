//! Blocks of version 1, which the store wrote before the codec had a columnar coder: reading only.
//!
//! They are read where a chunk begins with that version, and become the codec's blocks when chunks
//! are merged. Layout: version u8 (1), flags u8 (1 kinds differ, 2 places, 4 extras), row count as a
//! varint, then the columns, each self-delimiting: times ([`ints`]); kinds, one byte a row packed
//! ([`bytes`]), where they differ, and one byte for all where not; numbers ([`numbers`]) of the rows
//! of that kind; truths and texts likewise ([`texts`], JSON among them); places: presence, then two
//! columns of numbers; extras: rows, then each member with its presence. Varints are LEB128, signed
//! ones zigzag.

mod bits;
mod bytes;
mod extras;
mod ints;
mod numbers;
mod texts;

use super::Rows;
use super::rows::Cell;
use crate::limits::BLOCK_ROWS_MAX;
use bits::Input;
use weir_codec::DecodeError;
use weir_model::Place;

/// The byte that such a block begins with.
pub(super) const VERSION: u8 = 1;
const KINDS_DIFFER: u8 = 1;
const PLACES: u8 = 2;
const EXTRAS: u8 = 4;

/// Reads a block.
pub(super) fn decode(block: &[u8]) -> Result<Rows, DecodeError> {
    let mut input = Input::new(block);
    if input.byte()? != VERSION {
        return input.fail("a block of version 1");
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
        return input.fail("kinds of as many rows");
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
        input.fail("the end behind the last column")
    }
}

fn get_results(input: &mut Input<'_>, kinds: &[u8], rows: &mut Rows) -> Result<(), DecodeError> {
    let mut counts = [0; 5];
    for &kind in kinds {
        match counts.get_mut(usize::from(kind)) {
            Some(count) => *count += 1,
            None => return input.fail("a result of a known kind"),
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

fn get_places(input: &mut Input<'_>, rows: &mut Rows) -> Result<(), DecodeError> {
    let presence = bytes::get(input)?;
    if presence.len() != rows.len() {
        return input.fail("places of as many rows");
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

    proptest! {
        #[test]
        fn any_bytes_are_rows_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            flags in 0_u8..8,
            rows in 0_u8..9,
        ) {
            let block = [&[VERSION, flags, rows], &bytes[..]].concat();
            let _either = decode(&block);
        }
    }

    #[test]
    fn a_cut_block_is_refused() {
        let block = include_bytes!("../../tests/version-1.block");
        assert!(!decode(block).unwrap().is_empty());
        (0..block.len()).for_each(|end| assert!(decode(&block[..end]).is_err()));
    }
}
