//! The column of extras: which rows have some, then each member.
//!
//! Layout: count of rows as a varint, the rows ([`super::ints`]); for each member (end, result time,
//! valid from, valid to, quality, feature, parameters) its presence, a byte a row as a run
//! ([`super::bytes`]), and the values present: times as what lies between them and the row's time,
//! texts as in [`super::texts`].

use super::bits::{BlockError, Input, put_varint};
use super::bytes;
use super::ints::{self, Scratch};
use super::rows::{Bag, Rows, Span};
use super::texts;

const TIMES: usize = 4;
const TEXTS: usize = 3;

fn times_of(bag: &Bag) -> [Option<i64>; TIMES] {
    let (from, to) = bag
        .valid
        .map_or((None, None), |(from, to)| (Some(from), Some(to)));
    [bag.end, bag.result_time, from, to]
}

fn texts_of(bag: &Bag) -> [Option<Span>; TEXTS] {
    [bag.quality, bag.feature, bag.parameters]
}

/// Appends the column.
pub(super) fn put(scratch: &mut Scratch, rows: &Rows, out: &mut Vec<u8>) {
    put_varint(out, rows.bags.len() as u64);
    let places: Vec<_> = rows.bags.iter().map(|bag| i64::from(bag.row)).collect();
    ints::put(scratch, &places, out);
    for member in 0..TIMES {
        let times = rows.bags.iter().map(|bag| (bag, times_of(bag)[member]));
        let presence: Vec<_> = times
            .clone()
            .map(|(_bag, time)| u8::from(time.is_some()))
            .collect();
        scratch.deflater.put(&presence, out);
        let since = |(bag, time): (&Bag, Option<i64>)| {
            time.map(|time| time.wrapping_sub(rows.times[bag.row as usize]))
        };
        ints::put(scratch, &times.filter_map(since).collect::<Vec<_>>(), out);
    }
    for member in 0..TEXTS {
        let spans = rows.bags.iter().map(|bag| texts_of(bag)[member]);
        let presence: Vec<_> = spans.clone().map(|span| u8::from(span.is_some())).collect();
        scratch.deflater.put(&presence, out);
        let present = spans.flatten();
        let text = |span: Span| &rows.texts[span.start as usize..(span.start + span.len) as usize];
        texts::put(scratch, present.map(text), out);
    }
}

/// Reads the column into `rows`, whose times are known.
pub(super) fn get(input: &mut Input<'_>, rows: &mut Rows) -> Result<(), BlockError> {
    let count = input.count(rows.len())?;
    let places = ints::get(input, count)?;
    let within = |pair: &[i64]| pair[0] < pair[1];
    let first_last = places.first().is_none_or(|&first| first >= 0)
        && places.last().is_none_or(|&last| last < rows.len() as i64);
    if !first_last || !places.windows(2).all(within) {
        return input.fail("extras of rows that are not there");
    }
    let mut bags: Vec<_> = places
        .iter()
        .map(|&row| Bag {
            row: row as u32,
            ..Bag::default()
        })
        .collect();
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let presence = presence(input, count)?;
        let mut since =
            ints::get(input, presence.iter().filter(|there| **there).count())?.into_iter();
        let time = |(bag, there): (&Bag, &bool)| {
            let row_time = rows.times[bag.row as usize];
            if *there {
                since.next().map(|since| row_time.wrapping_add(since))
            } else {
                None
            }
        };
        times.push(bags.iter().zip(&presence).map(time).collect::<Vec<_>>());
    }
    for (index, bag) in bags.iter_mut().enumerate() {
        (bag.end, bag.result_time) = (times[0][index], times[1][index]);
        bag.valid = times[2][index].zip(times[3][index]);
    }
    for member in 0..TEXTS {
        let presence = presence(input, count)?;
        let there = presence.iter().filter(|there| **there).count();
        let spans = texts::get(input, there, |text| rows.keep(text))?;
        let present = bags
            .iter_mut()
            .zip(&presence)
            .filter(|(_bag, there)| **there);
        for ((bag, _there), span) in present.zip(spans) {
            match member {
                0 => bag.quality = Some(span),
                1 => bag.feature = Some(span),
                _ => bag.parameters = Some(span),
            }
        }
    }
    rows.bags = bags;
    Ok(())
}

fn presence(input: &mut Input<'_>, count: usize) -> Result<Vec<bool>, BlockError> {
    let presence = bytes::get(input)?;
    if presence.len() != count {
        return input.fail("presence of another number of rows");
    }
    Ok(presence.into_iter().map(|byte| byte != 0).collect())
}
