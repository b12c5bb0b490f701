//! Columns of texts: each different one once, and its number in every row, 0 for none.
//!
//! Of a text that begins like the one before only the rest is kept; all rests lie together, packed
//! ([`super::lz`]). That a text is kept once is an effort, not a promise: the memory for telling is
//! fixed.

use super::Span;
use super::bytes::{Input, put_framed, put_varint};
use super::few::Few;
use super::ints;
use super::lz;
use crate::error::DecodeError;
use alloc::vec::Vec;
use weir_model::Limits;

const SLOTS: usize = 1024;
const PROBES: usize = 4;
/// Fewer bytes are not packed.
const PACKED_MIN: usize = 48;

/// Bytes of texts, some kilobytes of them in place.
pub(super) type Arena = Few<u8, 4096>;

/// Writes columns of texts; holds the memory for it.
#[derive(Default)]
pub(super) struct Texts {
    numbers: Few<i64, 256>,
    firsts: Few<u32, 256>,
    shared: Few<i64, 256>,
    rests: Few<i64, 256>,
    bytes: Arena,
}

impl Texts {
    /// Appends a column of `count` texts.
    pub(super) fn put<'a>(
        &mut self,
        count: usize,
        text: impl Fn(usize) -> Option<&'a str>,
        out: &mut Vec<u8>,
    ) {
        self.number(count, &text);
        put_varint(out, self.firsts.len() as u64);
        if self.firsts.is_empty() {
            return;
        }
        self.shared.clear();
        self.rests.clear();
        self.bytes.clear();
        let mut before = "";
        for &first in self.firsts.iter() {
            let text = text(first as usize).unwrap_or_default();
            let pairs = text.bytes().zip(before.bytes());
            let shared = pairs.take_while(|(a, b)| a == b).count();
            self.shared.push(shared as i64);
            self.rests.push((text.len() - shared) as i64);
            self.bytes.extend(&text.as_bytes()[shared..]);
            before = text;
        }
        ints::put(&self.shared, out);
        ints::put(&self.rests, out);
        put_bytes(&self.bytes, out);
        ints::put(&self.numbers, out);
    }

    /// Gives every row the number of its text, from 1 on in the order of appearance.
    fn number<'a>(&mut self, count: usize, text: &impl Fn(usize) -> Option<&'a str>) {
        self.numbers.clear();
        self.firsts.clear();
        let mut slots = [0_u32; SLOTS];
        for row in 0..count {
            let number = match text(row) {
                None => 0,
                Some(wanted) => self.number_of(row, wanted, text, &mut slots),
            };
            self.numbers.push(i64::from(number));
        }
    }

    fn number_of<'a>(
        &mut self,
        row: usize,
        wanted: &str,
        text: &impl Fn(usize) -> Option<&'a str>,
        slots: &mut [u32; SLOTS],
    ) -> u32 {
        let slot = hash(wanted) as usize;
        for probe in 0..PROBES {
            let number = &mut slots[(slot + probe) % SLOTS];
            if *number == 0 {
                self.firsts.push(row as u32);
                *number = self.firsts.len() as u32;
                return *number;
            }
            let first = self.firsts[*number as usize - 1] as usize;
            if text(first) == Some(wanted) {
                return *number;
            }
        }
        self.firsts.push(row as u32);
        let number = self.firsts.len() as u32;
        // The newest is likelier to come again than the oldest.
        slots[slot % SLOTS] = number;
        number
    }
}

/// FNV-1a.
fn hash(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = text.bytes().fold(0x811C_9DC5, step);
    hash ^ hash >> 15
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_varint(out, bytes.len() as u64);
    let start = out.len();
    out.push(1);
    if bytes.len() >= PACKED_MIN {
        put_framed(out, |out| lz::pack(bytes, out));
    }
    if bytes.len() < PACKED_MIN || out.len() - start > bytes.len() {
        out.truncate(start);
        out.push(0);
        out.extend_from_slice(bytes);
    }
}

/// What texts may still cost.
pub(super) struct Budget<'a> {
    pub(super) limits: &'a Limits,
    /// Bytes that rows may still show, however often one text is shown.
    pub(super) left: usize,
}

impl Budget<'_> {
    fn over<T>(&self, at: usize) -> Result<T, DecodeError> {
        let limit = self.limits.message_bytes;
        Err(DecodeError::over(at, "bytes of texts", limit))
    }
}

/// Reads a column of as many texts as there are `spans`; their bytes go behind those of `arena`.
pub(super) fn get(
    input: &mut Input<'_>,
    budget: &mut Budget<'_>,
    arena: &mut Arena,
    spans: &mut [Span],
) -> Result<(), DecodeError> {
    let start = input.place();
    let count = input.count(spans.len(), "texts")?;
    spans.fill(Span::ABSENT);
    if count == 0 {
        return Ok(());
    }
    let mut texts = Few::<Span, 256>::default();
    get_texts(input, count, budget, arena, &mut texts)?;
    let mut numbers = Few::<i64, 256>::default();
    numbers.fill(spans.len(), 0);
    ints::get(input, &mut numbers)?;
    for (span, &number) in spans.iter_mut().zip(numbers.iter()) {
        if number == 0 {
            continue;
        }
        let known = usize::try_from(number - 1)
            .ok()
            .and_then(|number| texts.get(number));
        *span = *known.ok_or(DecodeError::expected(start, "numbers of the texts"))?;
        match budget.left.checked_sub(span.len as usize) {
            Some(left) => budget.left = left,
            None => return budget.over(start),
        }
    }
    Ok(())
}

fn get_texts(
    input: &mut Input<'_>,
    count: usize,
    budget: &Budget<'_>,
    arena: &mut Arena,
    texts: &mut Few<Span, 256>,
) -> Result<(), DecodeError> {
    let start = input.place();
    let limits = budget.limits;
    let (mut shared, mut rests) = (Few::<i64, 256>::default(), Few::<i64, 256>::default());
    shared.fill(count, 0);
    rests.fill(count, 0);
    ints::get_sizes(input, limits.message_bytes, "bytes of texts", &mut shared)?;
    let sum = ints::get_sizes(input, limits.message_bytes, "bytes of texts", &mut rests)?;
    let mut bytes = Arena::default();
    get_bytes(input, sum, &mut bytes)?;
    let mut rest = &bytes[..];
    let (mut before, mut begin) = (Span::default(), arena.len());
    for (&shared, &len) in shared.iter().zip(rests.iter()) {
        let (shared, len) = (shared as usize, len as usize);
        if shared > before.len as usize {
            return Err(DecodeError::expected(
                start,
                "no more shared than the text before has",
            ));
        }
        if shared + len > limits.text_bytes {
            return Err(DecodeError::over(
                start,
                "bytes of a string",
                limits.text_bytes,
            ));
        }
        if arena.len() + shared + len > limits.message_bytes {
            return budget.over(start);
        }
        arena.repeat(before.start as usize, shared);
        let (own, behind) = rest.split_at(len);
        arena.extend(own);
        rest = behind;
        before = Span {
            start: begin as u32,
            len: (shared + len) as u32,
        };
        if core::str::from_utf8(&arena[begin..]).is_err() {
            return Err(DecodeError::expected(start, "UTF-8"));
        }
        begin = arena.len();
        texts.push(before);
    }
    Ok(())
}

fn get_bytes(input: &mut Input<'_>, sum: usize, bytes: &mut Arena) -> Result<(), DecodeError> {
    let start = input.place();
    let len = input.count(sum, "bytes of texts")?;
    if len != sum {
        return Err(DecodeError::expected(
            start,
            "as many bytes as the texts have",
        ));
    }
    let start = input.place();
    match input.byte()? {
        0 => bytes.extend(input.take(len)?),
        1 => {
            let packed = input.count(usize::MAX, "packed bytes")?;
            let packed = input.take(packed)?;
            lz::unpack(packed, len, bytes)
                .ok_or(DecodeError::expected(start, "an LZ4 block of that length"))?;
        }
        _ => return Err(DecodeError::expected(start, "bytes stored or packed")),
    }
    Ok(())
}
