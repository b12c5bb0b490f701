//! Columns of doubles, exact to the bit, page by page in the way that suits each page.
//!
//! `docs/reference/block.md`, "Numbers", is the layout: decimals without their point; doubles by
//! their order; their upper bits apart from the lower (ALP-RD's idea); decimals and how far beside
//! them the double lies. Which of the last three is tried at the first page that is not decimal, and
//! again each sixteenth.

use super::bytes::{Input, put_varint};
use super::decimal::{self, DECIMALS_READ_MAX, POWERS, decimals, ordered, scaled, unordered};
use super::ints::{self, Habit, INDEXED, PAGE, Page};
use super::planes;
use super::table::Table;
use crate::error::DecodeError;
use alloc::vec::Vec;

const ORDERED: u8 = 0x20;
const SPLIT: u8 = 0x21;
const NEAR: u8 = 0x40;
const NEAR_DECIMALS_MAX: u8 = 12;
const PATCHED: u8 = 0x80;

/// Lower bits of a split number: below sign, exponent and four bits of the mantissa.
const SPLIT_BITS: u32 = 48;
/// One in so many numbers may be no decimal where the others are.
const RARE: usize = 32;
/// How many pages keep to the way that was found best.
const KEPT_PAGES: u32 = 16;

/// Writes columns of numbers; holds the memory for it.
#[derive(Default)]
pub(super) struct Numbers {
    table: Table,
    decimals: u8,
    way: Option<(u8, u32)>,
    habit: Habit,
}

impl Numbers {
    /// Appends a column.
    pub(super) fn put(&mut self, numbers: &[f64], out: &mut Vec<u8>) {
        self.decimals = 0;
        self.way = None;
        self.habit = Habit::default();
        self.table.find(numbers);
        out.push(u8::from(!self.table.numbers.is_empty()));
        if !self.table.numbers.is_empty() {
            put_varint(out, self.table.numbers.len() as u64);
            ints::put(&self.table.numbers, out);
        }
        for page in numbers.chunks(PAGE) {
            self.put_page(page, out);
        }
    }

    fn put_page(&mut self, numbers: &[f64], out: &mut Vec<u8>) {
        let mut whole = [0; PAGE];
        let whole = &mut whole[..numbers.len()];
        if decimal::scale(numbers, self.decimals, whole) {
            out.push(self.decimals);
            return self.put_ints(whole, Some(self.decimals), out);
        }
        match decimals(numbers, self.decimals, RARE) {
            Some(decimals) if self.put_patched(numbers, decimals, whole, out) => {}
            _ => self.put_other(numbers, out),
        }
    }

    /// A page of integers, by their places in the table where it has all of them.
    fn put_ints(&mut self, whole: &mut [i64], decimals: Option<u8>, out: &mut Vec<u8>) {
        let flags = if self.table.replace(whole, decimals) {
            INDEXED
        } else {
            0
        };
        ints::put_page(whole, flags, &mut self.habit, out);
    }

    /// Appends decimals and those that are none, where these are few; says whether they are.
    fn put_patched(
        &mut self,
        numbers: &[f64],
        decimals: u8,
        whole: &mut [i64],
        out: &mut Vec<u8>,
    ) -> bool {
        let power = POWERS[usize::from(decimals)];
        let mut last = 0;
        let mut patches = 0;
        for (whole, &number) in whole.iter_mut().zip(numbers) {
            let (scaled, exact) = scaled(number, power);
            if exact {
                last = scaled;
            }
            patches += usize::from(!exact);
            *whole = last;
        }
        if patches * RARE > numbers.len() {
            return false;
        }
        self.decimals = decimals;
        out.push(decimals | if patches > 0 { PATCHED } else { 0 });
        self.put_ints(whole, Some(decimals), out);
        if patches == 0 {
            return true;
        }
        put_varint(out, patches as u64);
        let mut next = 0;
        for (place, &number) in numbers.iter().enumerate() {
            if !scaled(number, power).1 {
                put_varint(out, (place - next) as u64);
                out.extend_from_slice(&number.to_bits().to_le_bytes());
                next = place + 1;
            }
        }
        true
    }

    fn put_other(&mut self, numbers: &[f64], out: &mut Vec<u8>) {
        if let Some((way, left @ 1..)) = self.way {
            self.way = Some((way, left - 1));
            return self.put_way(way, numbers, out);
        }
        let start = out.len();
        let mut best = (usize::MAX, ORDERED);
        for way in [NEAR | near_decimals(numbers), SPLIT, ORDERED] {
            out.truncate(start);
            self.put_way(way, numbers, out);
            best = best.min((out.len() - start, way));
        }
        self.way = Some((best.1, KEPT_PAGES));
        if best.1 != ORDERED {
            out.truncate(start);
            self.put_way(best.1, numbers, out);
        }
    }

    fn put_way(&mut self, way: u8, numbers: &[f64], out: &mut Vec<u8>) {
        let mut whole = [0; PAGE];
        let whole = &mut whole[..numbers.len()];
        out.push(way);
        match way {
            ORDERED => {
                for (whole, &number) in whole.iter_mut().zip(numbers) {
                    *whole = ordered(number);
                }
                self.put_ints(whole, None, out);
            }
            SPLIT => put_split(numbers, whole, out),
            _ => put_near(numbers, POWERS[usize::from(way - NEAR)], whole, out),
        }
    }
}

fn put_split(numbers: &[f64], upper: &mut [i64], out: &mut Vec<u8>) {
    let mut lower = [0; PAGE];
    for ((upper, lower), number) in upper.iter_mut().zip(&mut lower).zip(numbers) {
        *upper = (number.to_bits() >> SPLIT_BITS) as i64;
        *lower = number.to_bits();
    }
    out.push(SPLIT_BITS as u8);
    ints::put_page(upper, 0, &mut Habit::default(), out);
    planes::pack(&lower[..numbers.len()], SPLIT_BITS, out);
}

/// The nearest decimal and how many doubles the number lies beyond it.
#[inline]
fn near(number: f64, power: f64) -> (i64, i64) {
    let (whole, _exact) = scaled(number, power);
    let beyond = ordered(number).wrapping_sub(ordered(whole as f64 / power));
    (whole, beyond)
}

fn put_near(numbers: &[f64], power: f64, whole: &mut [i64], out: &mut Vec<u8>) {
    let mut beyond = [0; PAGE];
    for ((whole, beyond), &number) in whole.iter_mut().zip(&mut beyond).zip(numbers) {
        (*whole, *beyond) = near(number, power);
    }
    ints::put_page(whole, 0, &mut Habit::default(), out);
    ints::put_page(&beyond[..numbers.len()], 0, &mut Habit::default(), out);
}

/// With how many decimals the numbers lie nearest to decimals, by a sample.
fn near_decimals(numbers: &[f64]) -> u8 {
    let cost = |decimals: &u8| -> u32 {
        let power = POWERS[usize::from(*decimals)];
        let bits = |&number: &f64| {
            let (whole, beyond) = near(number, power);
            128 - whole.unsigned_abs().leading_zeros() - beyond.unsigned_abs().leading_zeros()
        };
        numbers.iter().take(64).map(bits).sum()
    };
    (0..6).min_by_key(cost).unwrap_or(0)
}

/// Reads a column of as many numbers as there is room.
pub(super) fn get(
    input: &mut Input<'_>,
    table: &mut Vec<i64>,
    numbers: &mut [f64],
) -> Result<(), DecodeError> {
    table.clear();
    let start = input.place();
    match input.byte()? {
        0 => {}
        1 => {
            let count = input.count(numbers.len(), "numbers of a table")?;
            table.resize(count, 0);
            ints::get(input, table)?;
        }
        _ => {
            return Err(DecodeError::expected(
                start,
                "a column with a table or none",
            ));
        }
    }
    let mut rest = numbers;
    while !rest.is_empty() {
        let count = get_page(input, table, rest)?;
        rest = &mut rest[count..];
    }
    Ok(())
}

fn get_page(
    input: &mut Input<'_>,
    table: &[i64],
    numbers: &mut [f64],
) -> Result<usize, DecodeError> {
    let start = input.place();
    let most = numbers.len().min(PAGE);
    let mut whole = [0; PAGE];
    let way = input.byte()?;
    if way == SPLIT {
        return get_split(input, &mut whole[..most], numbers);
    }
    let near_decimals = way.wrapping_sub(NEAR);
    let decimals = way & !PATCHED;
    if way != ORDERED && near_decimals > NEAR_DECIMALS_MAX && decimals > DECIMALS_READ_MAX {
        return Err(DecodeError::expected(start, "numbers in a known way"));
    }
    let whole = get_ints(input, table, &mut whole[..most])?;
    let numbers = &mut numbers[..whole.len()];
    if way == ORDERED {
        for (number, &place) in numbers.iter_mut().zip(whole.iter()) {
            *number = unordered(place);
        }
    } else if near_decimals <= NEAR_DECIMALS_MAX {
        get_near(input, whole, POWERS[usize::from(near_decimals)], numbers)?;
    } else {
        let power = POWERS[usize::from(decimals)];
        for (number, &whole) in numbers.iter_mut().zip(whole.iter()) {
            *number = whole as f64 / power;
        }
        if way & PATCHED != 0 {
            get_patches(input, numbers)?;
        }
    }
    Ok(numbers.len())
}

fn get_ints<'a>(
    input: &mut Input<'_>,
    table: &[i64],
    whole: &'a mut [i64],
) -> Result<&'a mut [i64], DecodeError> {
    let start = input.place();
    let page = Page::read(input, INDEXED, whole.len())?;
    let whole = &mut whole[..page.count];
    page.numbers(input, whole)?;
    if page.indexed {
        for number in whole.iter_mut() {
            let known = usize::try_from(*number)
                .ok()
                .and_then(|place| table.get(place));
            *number = *known.ok_or(DecodeError::expected(start, "numbers of the table"))?;
        }
    }
    Ok(whole)
}

fn get_split(
    input: &mut Input<'_>,
    upper: &mut [i64],
    numbers: &mut [f64],
) -> Result<usize, DecodeError> {
    let start = input.place();
    let width = u32::from(input.byte()?);
    if !(1..64).contains(&width) {
        return Err(DecodeError::expected(start, "a width from 1 to 63 bits"));
    }
    let upper = get_ints(input, &[], upper)?;
    let mut bits = [0; PAGE];
    let bits = &mut bits[..upper.len()];
    for (bits, &upper) in bits.iter_mut().zip(upper.iter()) {
        *bits = upper as u64;
    }
    let plane = input.rest();
    input.take(planes::packed_len(bits.len(), width))?;
    planes::unpack(plane, width, bits);
    for (number, &bits) in numbers.iter_mut().zip(bits.iter()) {
        *number = f64::from_bits(bits);
    }
    Ok(upper.len())
}

fn get_near(
    input: &mut Input<'_>,
    whole: &[i64],
    power: f64,
    numbers: &mut [f64],
) -> Result<(), DecodeError> {
    let start = input.place();
    let page = Page::read(input, 0, whole.len())?;
    if page.count != whole.len() {
        return Err(DecodeError::expected(start, "as many numbers as decimals"));
    }
    let mut beyond = [0; PAGE];
    page.numbers(input, &mut beyond[..whole.len()])?;
    for ((number, &whole), beyond) in numbers.iter_mut().zip(whole).zip(beyond) {
        *number = unordered(ordered(whole as f64 / power).wrapping_add(beyond));
    }
    Ok(())
}

fn get_patches(input: &mut Input<'_>, numbers: &mut [f64]) -> Result<(), DecodeError> {
    let patches = input.count(numbers.len(), "exceptions of a page")?;
    let mut next = 0;
    for _ in 0..patches {
        let place = next + input.count(numbers.len(), "numbers of a page")?;
        let Some(number) = numbers.get_mut(place) else {
            return input.expected("an exception within the page");
        };
        *number = f64::from_bits(u64::from_le_bytes(input.array()?));
        next = place + 1;
    }
    Ok(())
}
