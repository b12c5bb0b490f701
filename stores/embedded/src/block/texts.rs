//! A column of texts: each different one once, in order of appearance, and its index in every row.
//!
//! Layout: count of different texts as a varint, their lengths ([`super::ints`]), their bytes as a run
//! ([`super::bytes`]), the indices ([`super::ints`]).

use super::bits::{BlockError, Input, put_varint};
use super::bytes;
use super::ints::{self, Scratch};
use std::collections::HashMap;

/// Appends a column.
pub fn put<'a>(scratch: &mut Scratch, texts: impl Iterator<Item = &'a str>, out: &mut Vec<u8>) {
    let mut places: HashMap<&str, i64> = HashMap::new();
    let (mut lengths, mut all, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for text in texts {
        let next = places.len() as i64;
        let index = *places.entry(text).or_insert_with(|| {
            lengths.push(text.len() as i64);
            all.extend_from_slice(text.as_bytes());
            next
        });
        indices.push(index);
    }
    put_varint(out, lengths.len() as u64);
    ints::put(scratch, &lengths, out);
    scratch.deflater.put(&all, out);
    ints::put(scratch, &indices, out);
}

/// Reads a column of `count` texts: gives each different one to `keep`, and says what it answered for
/// each row. Texts are not repeated in memory, so that a small block cannot become a large one.
pub fn get<K: Copy>(
    input: &mut Input<'_>,
    count: usize,
    mut keep: impl FnMut(&str) -> K,
) -> Result<Vec<K>, BlockError> {
    let different = input.count(count)?;
    let lengths = ints::get(input, different)?;
    let Ok(all) = String::from_utf8(bytes::get(input)?) else {
        return input.fail("a text is not UTF-8");
    };
    let mut kept = Vec::with_capacity(different);
    let mut rest = &all[..];
    for length in lengths {
        let split = usize::try_from(length)
            .ok()
            .and_then(|length| rest.split_at_checked(length));
        let Some((text, behind)) = split else {
            return input.fail("a text is longer than all of them");
        };
        kept.push(keep(text));
        rest = behind;
    }
    let indices = ints::get(input, count)?.into_iter();
    let of = |index: i64| {
        usize::try_from(index)
            .ok()
            .and_then(|index| kept.get(index).copied())
    };
    match indices.map(of).collect() {
        Some(rows) => Ok(rows),
        None => input.fail("a text is not in the dictionary"),
    }
}
