//! The bytes of a document as its text: byte order marks, encodings, and the one look at every
//! character, which spares the reader from looking again.
//!
//! XML 1.0 section 4.3.3 asks for UTF-8 and UTF-16; ISO 8859-1 and US-ASCII are read too. UTF-8 is
//! borrowed, the others are transcoded.

use super::chars::{is_char, is_space};
use super::error::XmlError;
use alloc::borrow::Cow;
use alloc::string::String;
use memchr::memmem;

/// The text of a document, and what is known of all of it.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: Cow<'a, str>,
    /// Bytes of a byte order mark, which offsets in the text do not count.
    pub(super) before: usize,
    /// Whether line ends are to be normalized anywhere.
    pub(super) returns: bool,
    /// Whether `]]>` stands anywhere, in content or at the end of a CDATA section.
    pub(super) brackets: bool,
}

impl<'a> Source<'a> {
    /// Finds out the encoding (XML 1.0 appendix F) and checks each character (production 2).
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, XmlError> {
        let text = match bytes {
            [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(utf8(rest)?),
            [0xFE, 0xFF, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
            [0xFF, 0xFE, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
            [0, b'<', 0, _, ..] => Cow::Owned(utf16(bytes, u16::from_be_bytes)?),
            [b'<', 0, _, 0, ..] => Cow::Owned(utf16(bytes, u16::from_le_bytes)?),
            _ => eight_bits(bytes)?,
        };
        let before = if bytes.starts_with(b"\xEF\xBB\xBF") {
            3
        } else {
            0
        };
        Self::checked(text, before)
    }

    fn checked(text: Cow<'a, str>, before: usize) -> Result<Self, XmlError> {
        let census = Census::of(text.as_bytes());
        if census.forbidden || census.specials && has_noncharacter(text.as_bytes()) {
            let wrong = text
                .char_indices()
                .find(|&(_, character)| !is_char(character));
            if let Some((at, _)) = wrong {
                return Err(XmlError::expected(at, "a character that XML allows"));
            }
        }
        let brackets = memmem::find(text.as_bytes(), b"]]>").is_some();
        Ok(Self {
            text,
            before,
            returns: census.returns,
            brackets,
        })
    }
}

/// Which of the bytes that matter occur at all.
struct Census {
    forbidden: bool,
    returns: bool,
    specials: bool,
}

impl Census {
    /// Reads all bytes once, in a loop that compiles to vectors.
    fn of(bytes: &[u8]) -> Self {
        let (mut forbidden, mut returns, mut specials) = (0_u8, 0_u8, 0_u8);
        for &byte in bytes {
            let control = u8::from(byte < 0x20);
            let allowed =
                u8::from(byte == b'\t') | u8::from(byte == b'\n') | u8::from(byte == b'\r');
            forbidden |= control & !allowed;
            returns |= u8::from(byte == b'\r');
            specials |= u8::from(byte == 0xEF);
        }
        Self {
            forbidden: forbidden != 0,
            returns: returns != 0,
            specials: specials != 0,
        }
    }
}

/// Whether U+FFFE or U+FFFF occurs.
fn has_noncharacter(bytes: &[u8]) -> bool {
    memmem::find_iter(bytes, b"\xEF\xBF").any(|at| matches!(bytes.get(at + 2), Some(0xBE | 0xBF)))
}

fn utf8(bytes: &[u8]) -> Result<&str, XmlError> {
    core::str::from_utf8(bytes)
        .map_err(|error| XmlError::expected(error.valid_up_to(), "a character in UTF-8"))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, XmlError> {
    let (units, odd) = bytes.as_chunks::<2>();
    if !odd.is_empty() {
        return Err(XmlError::truncated(bytes.len()));
    }
    let mut text = String::with_capacity(units.len());
    for character in char::decode_utf16(units.iter().map(|&pair| unit(pair))) {
        match character {
            Ok(character) => text.push(character),
            Err(_) => return Err(XmlError::expected(text.len(), "a pair of surrogates")),
        }
    }
    Ok(text)
}

/// Text whose encoding is UTF-8 or what its declaration names.
fn eight_bits(bytes: &[u8]) -> Result<Cow<'_, str>, XmlError> {
    let Some((at, name)) = declared(bytes) else {
        return utf8(bytes).map(Cow::Borrowed);
    };
    let is = |own: &str| name.eq_ignore_ascii_case(own.as_bytes());
    if is("utf-8") || is("us-ascii") || is("ascii") || is("utf8") {
        return utf8(bytes).map(Cow::Borrowed);
    }
    if is("iso-8859-1") || is("latin1") || is("iso_8859-1") {
        return Ok(Cow::Owned(bytes.iter().copied().map(char::from).collect()));
    }
    Err(XmlError::expected(
        at,
        "the encoding UTF-8, UTF-16, ISO-8859-1 or US-ASCII",
    ))
}

/// The encoding that the XML declaration names, and where it does.
fn declared(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let head = bytes.get(..bytes.len().min(256))?;
    if !head.starts_with(b"<?xml") || !head.get(5).copied().is_some_and(is_space) {
        return None;
    }
    let end = memmem::find(head, b"?>")?;
    let mut at = memmem::find(&head[..end], b"encoding")? + 8;
    while head
        .get(at)
        .is_some_and(|&byte| is_space(byte) || byte == b'=')
    {
        at += 1;
    }
    let quote = *head
        .get(at)
        .filter(|&&byte| byte == b'"' || byte == b'\'')?;
    let name = &head[at + 1..end];
    let len = name.iter().position(|&byte| byte == quote)?;
    Some((at + 1, &name[..len]))
}
