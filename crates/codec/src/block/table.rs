//! The table of a column whose numbers are few of those that lie between its least and its greatest.
//!
//! A sensor that counts in steps of its own, shown in decimals, leaves most decimals unused: places
//! in a table of those used need fewer bits. How many are used is estimated from a sample, by how many
//! of its numbers came once and how many twice (Chao's estimate of unseen species).

use super::decimal::{POWERS, decimals, ordered, scaled};
use alloc::vec::Vec;

/// Numbers of a column below which a table is not worth its bytes.
const NUMBERS_MIN: usize = 256;
const SAMPLE: usize = 512;
/// Most numbers of a table.
const TABLE_MAX: usize = 1 << 16;

/// Less than this, in bits a number, is not worth a search for each: a sample's estimate is a lower
/// bound, and falls short by about as much.
const GAP_BITS_MIN: f64 = 0.8;

/// A table, ascending; empty where there is none.
#[derive(Default)]
pub(super) struct Table {
    pub(super) numbers: Vec<i64>,
    decimals: Option<u8>,
    ranks: Ranks,
}

impl Table {
    /// Makes the table of a column where it would shrink it.
    pub(super) fn find(&mut self, column: &[f64]) {
        self.numbers.clear();
        if column.len() < NUMBERS_MIN || !self.is_promising(column) {
            return;
        }
        let decimals = self.decimals;
        let integers = || {
            column
                .iter()
                .filter_map(|&number| integer(number, decimals))
        };
        if !self.ranks.find(integers(), &mut self.numbers) {
            self.numbers.extend(integers());
            self.numbers.sort_unstable();
            self.numbers.dedup();
        }
        let range = range(&self.numbers);
        if !saves(column, decimals, self.numbers.len() as f64, range) {
            self.numbers.clear();
        }
    }

    fn is_promising(&mut self, column: &[f64]) -> bool {
        let mut sample = [0.0; SAMPLE];
        let stride = column.len().div_ceil(SAMPLE);
        let mut count = 0;
        for (place, number) in sample.iter_mut().zip(column.iter().step_by(stride)) {
            *place = *number;
            count += 1;
        }
        self.decimals = decimals(&sample[..count], 0, 2 * SAMPLE);
        let mut whole = [0; SAMPLE];
        for (whole, &number) in whole.iter_mut().zip(&sample[..count]) {
            *whole = integer(number, self.decimals).unwrap_or_default();
        }
        let whole = &mut whole[..count];
        whole.sort_unstable();
        let used = estimate(whole);
        saves(column, self.decimals, used, range(whole))
    }

    /// Puts places in the table for numbers, where it has all of them.
    pub(super) fn replace(&self, whole: &mut [i64], decimals: Option<u8>) -> bool {
        if self.numbers.is_empty() || decimals != self.decimals {
            return false;
        }
        let place = |number: &i64| {
            if self.ranks.words.is_empty() {
                self.numbers.binary_search(number).ok()
            } else {
                self.ranks.of(*number)
            }
        };
        if !whole.iter().all(|number| place(number).is_some()) {
            return false;
        }
        for number in whole {
            *number = place(number).unwrap_or_default() as i64;
        }
        true
    }
}

/// Which numbers of a range are there, a bit each, and how many before each word of them.
#[derive(Default)]
struct Ranks {
    least: i64,
    words: Vec<(u64, u32)>,
}

impl Ranks {
    /// Finds the different numbers, ascending, without sorting; `false` where they lie too far apart.
    fn find(&mut self, all: impl Iterator<Item = i64> + Clone, numbers: &mut Vec<i64>) -> bool {
        self.words.clear();
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for number in all.clone() {
            (least, most) = (least.min(number), most.max(number));
        }
        let range = most.wrapping_sub(least) as u64;
        if most < least || range >= TABLE_MAX as u64 {
            return false;
        }
        self.least = least;
        self.words.resize(range as usize / 64 + 1, (0, 0));
        for number in all {
            let place = number.wrapping_sub(least) as usize;
            self.words[place / 64].0 |= 1 << (place % 64);
        }
        for (index, (word, before)) in self.words.iter_mut().enumerate() {
            *before = numbers.len() as u32;
            let mut left = *word;
            while left != 0 {
                let place = index as i64 * 64 + i64::from(left.trailing_zeros());
                numbers.push(least + place);
                left &= left - 1;
            }
        }
        true
    }

    fn of(&self, number: i64) -> Option<usize> {
        let place = usize::try_from(number.wrapping_sub(self.least)).ok()?;
        let &(word, before) = self.words.get(place / 64)?;
        let bit = 1_u64 << (place % 64);
        let lower = (word & (bit - 1)).count_ones();
        (word & bit != 0).then_some((before + lower) as usize)
    }
}

fn integer(number: f64, decimals: Option<u8>) -> Option<i64> {
    let Some(decimals) = decimals else {
        return Some(ordered(number));
    };
    let (whole, exact) = scaled(number, POWERS[usize::from(decimals)]);
    exact.then_some(whole)
}

fn range(ascending: &[i64]) -> f64 {
    let (Some(&least), Some(&most)) = (ascending.first(), ascending.last()) else {
        return 0.0;
    };
    most as f64 - least as f64 + 1.0
}

/// How many different numbers there are, by a sorted sample of them.
fn estimate(sample: &[i64]) -> f64 {
    let (mut different, mut once, mut twice) = (0.0, 0.0, 0.0);
    for run in sample.chunk_by(|a, b| a == b) {
        different += 1.0;
        once += f64::from(u8::from(run.len() == 1));
        twice += f64::from(u8::from(run.len() == 2));
    }
    different + once * once / (2.0 * twice + 1.0)
}

/// Whether places among `used` numbers need so many bits less than numbers within `range` that the
/// table is paid for.
fn saves(column: &[f64], decimals: Option<u8>, used: f64, range: f64) -> bool {
    if used > TABLE_MAX as f64 || used * 2.0 > column.len() as f64 {
        return false;
    }
    let gap = bits(range / used);
    let saved = gap.min(step_bits(column, decimals)) * column.len() as f64;
    gap > GAP_BITS_MIN && saved > 1.5 * used * (gap + 2.0)
}

/// Bits of the difference between numbers that follow each other, at the beginning of the column.
fn step_bits(column: &[f64], decimals: Option<u8>) -> f64 {
    let steps = column.windows(2).take(SAMPLE / 2).map(|pair| {
        let [a, b] = [pair[0], pair[1]].map(|number| integer(number, decimals).unwrap_or_default());
        f64::from(64 - b.wrapping_sub(a).unsigned_abs().leading_zeros())
    });
    let count = steps.len().max(1) as f64;
    steps.sum::<f64>() / count
}

/// The binary logarithm, to a tenth or so: of the exponent, and the mantissa as a line.
fn bits(ratio: f64) -> f64 {
    let exponent = (ratio.to_bits() >> 52 & 0x7FF) as f64 - 1023.0;
    let mantissa = f64::from_bits(ratio.to_bits() & ((1 << 52) - 1) | 1023 << 52) - 1.0;
    (exponent + mantissa).max(0.0)
}
