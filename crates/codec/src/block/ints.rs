//! Columns of 64-bit integers: pages of at most [`PAGE`] numbers, each with the coding that suits it.
//!
//! `docs/reference/block.md`, "Integers", is the layout. What stands in a page depends on nothing
//! outside of it.

use super::bytes::{Input, put_framed, put_signed, put_varint};
use super::planes::{self, ESCAPE};
use super::predict::{self, Predictor};
use super::shape::{self, Shape};
use crate::error::DecodeError;
use alloc::vec::Vec;

/// Most numbers of a page that is no line.
pub(crate) const PAGE: usize = 1024;
/// Equal steps from which on they are a page of their own.
const LINE_MIN: usize = PAGE;

const LINE: u8 = 0;
const PACKED: u8 = 1;
const RICE: u8 = 2;
const BODY: u8 = 3;
const PREDICTOR_SHIFT: u8 = 2;
const PREDICTOR: u8 = 7 << PREDICTOR_SHIFT;
const DIVIDED: u8 = 1 << 5;
/// The numbers are places in the column's table.
pub(super) const INDEXED: u8 = 1 << 6;

/// Appends a column.
pub(super) fn put(numbers: &[i64], out: &mut Vec<u8>) {
    let mut rest = numbers;
    let mut habit = Habit::default();
    while !rest.is_empty() {
        let count = put_page(rest, 0, &mut habit, out);
        rest = &rest[count..];
    }
}

/// What was expected of the pages before, and what their numbers cost, in
/// sixteenths of a bit each.
#[derive(Default)]
pub(super) struct Habit {
    predictor: Option<Predictor>,
    kept: u32,
    bits: u32,
}

/// How many pages keep to a predictor, where they do not cost a sixteenth more than the first of them.
const KEPT_PAGES: u32 = 8;

impl Habit {
    fn predictor(&mut self, numbers: &[i64]) -> Predictor {
        let kept = self.predictor.filter(|_| self.kept < KEPT_PAGES);
        self.kept = if kept.is_some() { self.kept + 1 } else { 0 };
        kept.unwrap_or_else(|| predict::choose(numbers))
    }

    /// Goes on with a predictor after a page that it suited.
    fn keep(&mut self, predictor: Predictor, bits: u32) {
        let first = self.kept == 0;
        let may_not_suit = matches!(predictor, Predictor::None | Predictor::Rising);
        let suits = !may_not_suit && (first || bits <= self.bits + self.bits / 16);
        self.predictor = Some(predictor).filter(|_| suits);
        if first {
            self.bits = bits;
        }
    }
}

/// Appends a page of as many numbers as suit, all of them where they are at most [`PAGE`]; says how many.
pub(super) fn put_page(numbers: &[i64], flags: u8, habit: &mut Habit, out: &mut Vec<u8>) -> usize {
    let line = line_len(numbers);
    if line == numbers.len() || line >= LINE_MIN {
        let step = match numbers {
            [first, second, ..] => second.wrapping_sub(*first),
            _ => 0,
        };
        out.push(LINE | flags);
        put_varint(out, line as u64);
        put_signed(out, numbers[0]);
        put_signed(out, step);
        return line;
    }
    let count = numbers.len().min(PAGE);
    put_coded(&numbers[..count], flags, habit, out);
    count
}

/// How many numbers follow each other in equal steps.
fn line_len(numbers: &[i64]) -> usize {
    let [first, second, ..] = numbers else {
        return numbers.len();
    };
    let step = second.wrapping_sub(*first);
    let equal = |pair: &&[i64]| pair[1].wrapping_sub(pair[0]) == step;
    1 + numbers.windows(2).take_while(equal).count()
}

fn put_coded(numbers: &[i64], flags: u8, habit: &mut Habit, out: &mut Vec<u8>) {
    let mut scaled = [0; PAGE];
    let mut codes = [0; PAGE];
    let scaled = &mut scaled[..numbers.len()];
    let mut base = numbers[0];
    for (scaled, number) in scaled.iter_mut().zip(numbers) {
        *scaled = number.wrapping_sub(base);
    }
    let divisor = divisor(scaled);
    if divisor > 1 {
        scaled.iter_mut().for_each(|number| *number /= divisor);
    }
    let predictor = habit.predictor(scaled);
    let codes = match predictor {
        Predictor::None => {
            let least = scaled.iter().copied().min().unwrap_or_default();
            base = base.wrapping_add(least.wrapping_mul(divisor));
            for (code, number) in codes.iter_mut().zip(scaled.iter()) {
                *code = number.wrapping_sub(least) as u64;
            }
            &codes[..numbers.len()]
        }
        _ => {
            predict::errors(scaled, predictor, &mut codes);
            &codes[..numbers.len() - 1]
        }
    };
    let (shape, bits) = shape::choose(codes);
    habit.keep(predictor, bits * 16 / codes.len() as u32);
    put_head(shape, predictor, divisor, flags, numbers.len(), base, out);
    match shape {
        Shape::Packed(width) => put_packed(codes, width, out),
        Shape::Rice(width) => put_rice(codes, width, out),
    }
}

fn put_head(
    shape: Shape,
    predictor: Predictor,
    divisor: i64,
    flags: u8,
    count: usize,
    base: i64,
    out: &mut Vec<u8>,
) {
    let body = match shape {
        Shape::Packed(_) => PACKED,
        Shape::Rice(_) => RICE,
    };
    let (kind, gains) = match predictor {
        Predictor::None => (0, None),
        Predictor::Last => (1, None),
        Predictor::Line => (2, None),
        Predictor::Smooth(gains) => (3, Some(gains)),
        Predictor::Rising => (4, None),
    };
    let divided = if divisor > 1 { DIVIDED } else { 0 };
    out.push(body | kind << PREDICTOR_SHIFT | divided | flags);
    put_varint(out, count as u64);
    put_signed(out, base);
    if divisor > 1 {
        put_varint(out, divisor as u64);
    }
    gains.iter().for_each(|gains| out.extend_from_slice(gains));
}

/// Low bits of all, then those that need more.
fn put_packed(codes: &[u64], width: u32, out: &mut Vec<u8>) {
    out.push(width as u8);
    planes::pack(codes, width, out);
    let high = |code: u64| code.checked_shr(width).unwrap_or(0);
    let larger = codes.iter().filter(|code| high(**code) != 0).count();
    put_varint(out, larger as u64);
    let mut next = 0;
    if larger == 0 {
        return;
    }
    for (place, &code) in codes.iter().enumerate() {
        if high(code) != 0 {
            put_varint(out, (place - next) as u64);
            put_varint(out, high(code));
            next = place + 1;
        }
    }
}

fn put_rice(codes: &[u64], width: u32, out: &mut Vec<u8>) {
    out.push(width as u8);
    planes::pack(codes, width, out);
    put_framed(out, |out| planes::put_unary(codes, width, out));
    for code in codes {
        if code >> width >= ESCAPE {
            put_varint(out, (code >> width) - ESCAPE);
        }
    }
}

/// The greatest common divisor, 1 where it is nothing to gain.
fn divisor(numbers: &[i64]) -> i64 {
    let mut common = 0_u64;
    for number in numbers {
        let number = number.unsigned_abs();
        if common != 1 && (common == 0 || number % common != 0) {
            common = gcd(common, number);
            if common == 1 {
                break;
            }
        }
    }
    i64::try_from(common).unwrap_or(1).max(1)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What stands before a page's numbers.
#[derive(Clone, Copy)]
pub(super) struct Page {
    /// How many numbers.
    pub(super) count: usize,
    /// Whether they are places in a table.
    pub(super) indexed: bool,
    base: i64,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Line {
        step: i64,
    },
    Coded {
        rice: bool,
        predictor: Predictor,
        divisor: i64,
    },
}

impl Page {
    /// Reads the beginning of a page of at most `most` numbers.
    pub(super) fn read(input: &mut Input<'_>, flags: u8, most: usize) -> Result<Self, DecodeError> {
        let start = input.place();
        let tag = input.byte()?;
        if tag & !(BODY | PREDICTOR | DIVIDED | flags) != 0 || tag & BODY == BODY {
            return Err(DecodeError::expected(start, "a page of a known kind"));
        }
        let line = tag & BODY == LINE;
        if line && tag & !INDEXED != 0 {
            return Err(DecodeError::expected(
                start,
                "no predictor or divisor of a line",
            ));
        }
        let most = if line { most } else { most.min(PAGE) };
        let count = input.count(most, "numbers of a page")?;
        if count == 0 {
            return Err(DecodeError::expected(start, "a page with a number in it"));
        }
        let base = input.signed()?;
        let kind = if line {
            Kind::Line {
                step: input.signed()?,
            }
        } else {
            Self::read_coded(tag, input)?
        };
        Ok(Self {
            count,
            indexed: tag & INDEXED != 0,
            base,
            kind,
        })
    }

    fn read_coded(tag: u8, input: &mut Input<'_>) -> Result<Kind, DecodeError> {
        let start = input.place();
        let divisor = match tag & DIVIDED {
            0 => 1,
            _ => i64::try_from(input.varint()?)
                .ok()
                .filter(|divisor| *divisor > 1)
                .ok_or(DecodeError::expected(start, "a divisor from 2 to 2^63 - 1"))?,
        };
        let predictor = match (tag & PREDICTOR) >> PREDICTOR_SHIFT {
            0 => Predictor::None,
            1 => Predictor::Last,
            2 => Predictor::Line,
            3 => Predictor::Smooth(input.array()?),
            4 => Predictor::Rising,
            _ => return Err(DecodeError::expected(start, "a known predictor")),
        };
        Ok(Kind::Coded {
            rice: tag & BODY == RICE,
            predictor,
            divisor,
        })
    }

    /// Reads the numbers of the page, as many as there is room, which is its count.
    pub(super) fn numbers(
        &self,
        input: &mut Input<'_>,
        numbers: &mut [i64],
    ) -> Result<(), DecodeError> {
        let (rice, predictor, divisor) = match self.kind {
            Kind::Line { step } => {
                let mut next = self.base;
                for number in numbers {
                    *number = next;
                    next = next.wrapping_add(step);
                }
                return Ok(());
            }
            Kind::Coded {
                rice,
                predictor,
                divisor,
            } => (rice, predictor, divisor),
        };
        let mut codes = [0; PAGE];
        let count = self.count - usize::from(predictor != Predictor::None);
        let codes = &mut codes[..count];
        if rice {
            get_rice(input, codes)?;
        } else {
            get_packed(input, codes)?;
        }
        predict::restore(codes, predictor, self.base, divisor, numbers);
        Ok(())
    }
}

fn get_packed(input: &mut Input<'_>, codes: &mut [u64]) -> Result<(), DecodeError> {
    let start = input.place();
    let width = u32::from(input.byte()?);
    if width > 64 {
        return Err(DecodeError::expected(start, "a width of at most 64 bits"));
    }
    get_plane(input, width, codes)?;
    let larger = input.count(codes.len(), "exceptions of a page")?;
    let mut next = 0_usize;
    for _ in 0..larger {
        let gap = input.count(codes.len(), "numbers of a page")?;
        let place = next + gap;
        let Some(code) = codes.get_mut(place) else {
            return input.expected("an exception within the page");
        };
        *code |= input.varint()?.checked_shl(width).unwrap_or(0);
        next = place + 1;
    }
    Ok(())
}

fn get_rice(input: &mut Input<'_>, codes: &mut [u64]) -> Result<(), DecodeError> {
    let start = input.place();
    let width = u32::from(input.byte()?);
    if width > 63 {
        return Err(DecodeError::expected(start, "a width of at most 63 bits"));
    }
    let low = input.rest();
    input.take(planes::packed_len(codes.len(), width))?;
    let len = input.count(usize::MAX, "bytes of a plane")?;
    let start = input.place();
    let longest = planes::get_unary(input.take(len)?, codes)
        .filter(|longest| *longest <= ESCAPE)
        .ok_or(DecodeError::expected(start, "one unary code a number"))?;
    if longest == ESCAPE {
        for code in codes.iter_mut().filter(|code| **code == ESCAPE) {
            *code = input.varint()?.wrapping_add(ESCAPE);
        }
    }
    planes::unpack(low, width, codes);
    Ok(())
}

fn get_plane(input: &mut Input<'_>, width: u32, codes: &mut [u64]) -> Result<(), DecodeError> {
    let low = input.rest();
    input.take(planes::packed_len(codes.len(), width))?;
    planes::unpack(low, width, codes);
    Ok(())
}

/// Reads a column of as many numbers as there is room.
pub(super) fn get(input: &mut Input<'_>, numbers: &mut [i64]) -> Result<(), DecodeError> {
    let mut rest = numbers;
    while !rest.is_empty() {
        let page = Page::read(input, 0, rest.len())?;
        let (numbers, behind) = rest.split_at_mut(page.count);
        page.numbers(input, numbers)?;
        rest = behind;
    }
    Ok(())
}

/// Reads a column of numbers that are not negative, whose sum is at most `most`.
pub(super) fn get_sizes(
    input: &mut Input<'_>,
    most: usize,
    what: &'static str,
    sizes: &mut [i64],
) -> Result<usize, DecodeError> {
    let start = input.place();
    get(input, sizes)?;
    let mut sum = 0_usize;
    for &size in sizes.iter() {
        let larger = usize::try_from(size)
            .ok()
            .and_then(|size| sum.checked_add(size));
        sum = larger.ok_or(DecodeError::expected(start, "sizes that are not negative"))?;
    }
    if sum <= most {
        Ok(sum)
    } else {
        Err(DecodeError::over(start, what, most))
    }
}
