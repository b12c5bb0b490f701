//! Lexical forms of binary values.

use alloc::vec::Vec;

use super::lexical::is_space;
use crate::stored::Span;

/// Reads base64 (RFC 4648 section 4), white space between the digits allowed.
pub(super) fn base64(text: &str, out: &mut Vec<u8>) -> Option<Span> {
    let at = out.len();
    let read = base64_into(text, out);
    finish(read, at, out)
}

fn base64_into(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let (mut word, mut digits, mut padding) = (0u32, 0u32, 0u32);
    for byte in text.bytes().filter(|byte| !is_space(char::from(*byte))) {
        if byte == b'=' {
            padding += 1;
            continue;
        }
        let digit = digit64(byte).filter(|_| padding == 0)?;
        word = word << 6 | digit;
        digits += 1;
        if digits % 4 == 0 {
            out.extend_from_slice(&word.to_be_bytes()[1..]);
        }
    }
    match (digits % 4, padding) {
        (0, 0) => Some(()),
        (2, 2) => {
            out.push((word >> 4) as u8);
            Some(())
        }
        (3, 1) => {
            out.extend_from_slice(&(word >> 2).to_be_bytes()[2..]);
            Some(())
        }
        _ => None,
    }
}

fn digit64(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(digit))
}

/// Reads hexadecimal digits.
pub(super) fn hex(text: &str, out: &mut Vec<u8>) -> Option<Span> {
    let at = out.len();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let pair = |[high, low]: &[u8; 2]| {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        Some((digit(*high)? << 4 | digit(*low)?) as u8)
    };
    let read = pairs.iter().try_for_each(|two| {
        out.push(pair(two)?);
        Some(())
    });
    finish(read.filter(|()| rest.is_empty()), at, out)
}

/// The span of what was read, or nothing left behind.
fn finish(read: Option<()>, at: usize, out: &mut Vec<u8>) -> Option<Span> {
    if read.is_none() {
        out.truncate(at);
        return None;
    }
    Some(Span {
        at: at as u32,
        len: (out.len() - at) as u32,
    })
}
