//! Which characters XML 1.0 allows where (productions 2, 3, 4 and 4a), and the tables by byte that
//! scanning looks up.

use memchr::memchr3;

/// Production 2: a character that a document may hold at all.
pub(super) const fn is_char(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

/// Production 4 without the colon, which namespaces took (Namespaces in XML, production 4).
pub(super) const fn is_name_start(character: char) -> bool {
    matches!(character,
        'A'..='Z' | '_' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// Production 4a without the colon.
pub(super) const fn is_name_char(character: char) -> bool {
    is_name_start(character)
        || matches!(character,
            '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// A name without colons (Namespaces in XML, production 4).
pub(super) fn is_ncname(name: &str) -> bool {
    let bytes = name.as_bytes();
    match bytes.first() {
        Some(first) if first.is_ascii_alphabetic() || *first == b'_' => {}
        Some(first) if !first.is_ascii() => return is_foreign_ncname(name),
        _ => return false,
    }
    let plain = |byte: &u8| CLASSES[usize::from(*byte)] & NAME_END == 0 && *byte != b':';
    bytes.iter().all(plain) || is_foreign_ncname(name)
}

/// The same for names that are not all ASCII.
#[cold]
fn is_foreign_ncname(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(is_name_start) && characters.all(is_name_char)
}

/// Production 3: white space.
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// What is not an ASCII character of names, the colon counted among them.
pub(super) const NAME_END: u8 = 1;
/// What ends or changes the value of an attribute: quotes, `<`, `&`, white space but blanks.
pub(super) const VALUE_SPECIAL: u8 = 2;
/// What ends or changes character data: `<`, `&` and a carriage return.
pub(super) const TEXT_SPECIAL: u8 = 4;

/// The classes of each byte.
pub(super) static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = class(byte as u8);
        byte += 1;
    }
    classes
}

const fn class(byte: u8) -> u8 {
    let name = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    let value = matches!(byte, b'"' | b'\'' | b'<' | b'&' | b'\t' | b'\n' | b'\r');
    let text = matches!(byte, b'<' | b'&' | b'\r');
    (if name { 0 } else { NAME_END })
        | (if value { VALUE_SPECIAL } else { 0 })
        | (if text { TEXT_SPECIAL } else { 0 })
}

/// Where the first byte of a class stands from `at` on, or the end.
#[inline]
pub(super) fn find(bytes: &[u8], at: usize, class: u8) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let found = rest
        .iter()
        .position(|&byte| CLASSES[usize::from(byte)] & class != 0);
    at + found.unwrap_or(rest.len())
}

/// A byte in every place of a word.
const fn all(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

/// Marks the bytes of a word that are zero by their highest bit. Above the lowest of them others may
/// be marked too, so only the lowest mark tells something.
#[inline(always)]
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(all(1)) & !word & all(0x80)
}

/// The same for bytes below a blank.
#[inline(always)]
const fn controls(word: u64) -> u64 {
    word.wrapping_sub(all(b' ')) & !word & all(0x80)
}

/// Bytes of text looked at by words before a search in vectors pays.
const SHORT: usize = 32;

/// Where character data ends or changes from `at` on: at `<`, `&` or a carriage return; or the end.
#[inline(always)]
pub(super) fn find_in_text(bytes: &[u8], at: usize) -> usize {
    let marks =
        |word: u64| zeros(word ^ all(b'<')) | zeros(word ^ all(b'&')) | zeros(word ^ all(b'\r'));
    let Some(short) = bytes.get(..at + SHORT) else {
        return find_marked(bytes, at, marks, TEXT_SPECIAL);
    };
    match find_marked(short, at, marks, TEXT_SPECIAL) {
        end if end == short.len() => find_in_long_text(bytes, end),
        end => end,
    }
}

#[inline(never)]
fn find_in_long_text(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + memchr3(b'<', b'&', b'\r', rest).unwrap_or(rest.len())
}

/// Where the value of an attribute ends or changes from `at` on: at its quote, at `<`, `&` or white
/// space other than blanks; or the end.
#[inline(always)]
pub(super) fn find_in_value(bytes: &[u8], at: usize, quote: u8) -> usize {
    let quotes = all(1) * u64::from(quote);
    let marks = |word: u64| {
        zeros(word ^ quotes) | zeros(word ^ all(b'<')) | zeros(word ^ all(b'&')) | controls(word)
    };
    find_marked(bytes, at, marks, VALUE_SPECIAL)
}

/// Looks at eight bytes at a time, and by their class at those that are left.
#[inline(always)]
fn find_marked(bytes: &[u8], at: usize, marks: impl Fn(u64) -> u64, class: u8) -> usize {
    let mut at = at;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let marked = marks(u64::from_le_bytes(*chunk));
        if marked != 0 {
            return at + (marked.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    find(bytes, at, class)
}
