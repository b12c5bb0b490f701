//! Text and values of attributes as XML writes them.

use super::chars::is_char;
use alloc::vec::Vec;

/// Bytes looked at together: long enough for vectors, short enough that one special costs little.
const CHUNK: usize = 64;

/// Appends character data.
pub(super) fn text(text: &str, out: &mut Vec<u8>) -> Result<(), char> {
    write(text, out, is_text_special, |special| match special {
        b'\n' | b'\t' | b'"' => None,
        other => escaped(other),
    })
}

/// Appends the value of an attribute, to stand in `"`.
pub(super) fn value(text: &str, out: &mut Vec<u8>) -> Result<(), char> {
    write(text, out, is_value_special, escaped)
}

/// What text cannot hold as it is. From 0xEF on, U+FFFE may begin.
#[inline(always)]
const fn is_text_special(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t')
        || byte == b'<'
        || byte == b'>'
        || byte == b'&'
        || byte == 0xEF
}

#[inline(always)]
const fn is_value_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'<' || byte == b'"' || byte == b'&' || byte == 0xEF
}

const fn escaped(byte: u8) -> Option<&'static [u8]> {
    Some(match byte {
        b'<' => b"&lt;",
        b'>' => b"&gt;",
        b'&' => b"&amp;",
        b'"' => b"&quot;",
        b'\t' => b"&#9;",
        b'\n' => b"&#10;",
        b'\r' => b"&#13;",
        _ => return None,
    })
}

#[inline(always)]
fn write(
    text: &str,
    out: &mut Vec<u8>,
    special: impl Fn(u8) -> bool,
    escape: impl Fn(u8) -> Option<&'static [u8]>,
) -> Result<(), char> {
    let bytes = text.as_bytes();
    let (mut written, mut at) = (0, 0);
    while at < bytes.len() {
        let chunk = &bytes[at..bytes.len().min(at + CHUNK)];
        if !chunk.iter().fold(false, |any, &byte| any | special(byte)) {
            at += chunk.len();
            continue;
        }
        for (index, &byte) in chunk.iter().enumerate() {
            if !special(byte) {
                continue;
            }
            let place = at + index;
            let Some(escaped) = escape(byte) else {
                allowed(text, place)?;
                continue;
            };
            out.extend_from_slice(&bytes[written..place]);
            out.extend_from_slice(escaped);
            written = place + 1;
        }
        at += chunk.len();
    }
    out.extend_from_slice(&bytes[written..]);
    Ok(())
}

#[cold]
fn allowed(text: &str, at: usize) -> Result<(), char> {
    match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some(character) if !is_char(character) => Err(character),
        _ => Ok(()),
    }
}
