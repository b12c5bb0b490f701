//! A column of texts: each different one once, in order of appearance, and its index in every row.
//!
//! Layout: count of different texts as a varint, their lengths ([`super::ints`]), their bytes as a run
//! ([`super::bytes`]), the indices ([`super::ints`]).

use super::bits::Input;
use super::bytes;
use super::ints;
use weir_codec::DecodeError;

/// Reads a column of `count` texts: gives each different one to `keep`, and says what it answered for
/// each row. Texts are not repeated in memory, so that a small block cannot become a large one.
pub(super) fn get<K: Copy>(
    input: &mut Input<'_>,
    count: usize,
    mut keep: impl FnMut(&str) -> K,
) -> Result<Vec<K>, DecodeError> {
    let different = input.count(count)?;
    let lengths = ints::get(input, different)?;
    let Ok(all) = String::from_utf8(bytes::get(input)?) else {
        return input.fail("UTF-8");
    };
    let mut kept = Vec::with_capacity(different);
    let mut rest = &all[..];
    for length in lengths {
        let split = usize::try_from(length)
            .ok()
            .and_then(|length| rest.split_at_checked(length));
        let Some((text, behind)) = split else {
            return input.fail("a text no longer than all of them");
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
        None => input.fail("a text of the dictionary"),
    }
}
