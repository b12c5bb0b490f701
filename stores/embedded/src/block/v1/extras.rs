//! The column of extras: which rows have some, then each member.
//!
//! Layout: count of rows as a varint, the rows ([`super::ints`]); for each member (end, result time,
//! valid from, valid to, quality, feature, parameters) its presence, a byte a row as a run
//! ([`super::bytes`]), and the values present: times as what lies between them and the row's time,
//! texts as in [`super::texts`].

use super::bits::Input;
use super::bytes;
use super::ints;
use super::texts;
use crate::block::rows::{Bag, Rows};
use weir_codec::DecodeError;

const TIMES: usize = 4;
const TEXTS: usize = 3;

/// Reads the column into `rows`, whose times are known.
pub(super) fn get(input: &mut Input<'_>, rows: &mut Rows) -> Result<(), DecodeError> {
    let count = input.count(rows.len())?;
    let places = ints::get(input, count)?;
    let within = |pair: &[i64]| pair[0] < pair[1];
    let first_last = places.first().is_none_or(|&first| first >= 0)
        && places.last().is_none_or(|&last| last < rows.len() as i64);
    if !first_last || !places.windows(2).all(within) {
        return input.fail("extras of rows that are there");
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

fn presence(input: &mut Input<'_>, count: usize) -> Result<Vec<bool>, DecodeError> {
    let presence = bytes::get(input)?;
    if presence.len() != count {
        return input.fail("presence of as many rows");
    }
    Ok(presence.into_iter().map(|byte| byte != 0).collect())
}
