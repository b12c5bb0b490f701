//! Options as they stand in a message: read where they lie, written in order.

use super::option::Number;
use alloc::vec::Vec;
use core::fmt;
use smallvec::SmallVec;

/// What is wrong with the bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Offset of the byte at which it went wrong.
    pub at: usize,
    /// Which rule it breaks.
    pub rule: Rule,
}

/// The rules that make a message format error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Fewer bytes than a header.
    Short,
    /// A version other than 1 (RFC 7252 section 3).
    Version,
    /// A token length of 9 to 15 (RFC 7252 section 3).
    TokenLength,
    /// A token that the message is too short for.
    TokenTruncated,
    /// An empty message that carries something (RFC 7252 section 4.1).
    EmptyWithBytes,
    /// An option delta of 15 that is no payload marker (RFC 7252 section 3.1).
    DeltaReserved,
    /// An option length of 15 (RFC 7252 section 3.1).
    LengthReserved,
    /// An option whose head or value the message is too short for.
    OptionTruncated,
    /// An option number above 65,535.
    NumberOverflow,
    /// A payload marker with nothing behind it (RFC 7252 section 3).
    MarkerWithoutPayload,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::Short => "shorter than a header",
            Rule::Version => "the version is not 1",
            Rule::TokenLength => "a token has at most 8 bytes",
            Rule::TokenTruncated => "the token is cut off",
            Rule::EmptyWithBytes => "an empty message carries something",
            Rule::DeltaReserved => "an option delta of 15 is reserved",
            Rule::LengthReserved => "an option length of 15 is reserved",
            Rule::OptionTruncated => "an option is cut off",
            Rule::NumberOverflow => "an option number is above 65535",
            Rule::MarkerWithoutPayload => "nothing follows the payload marker",
        })
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.rule, self.at)
    }
}

/// Separates options from payload (RFC 7252 section 3).
pub(super) const MARKER: u8 = 0xff;

/// One option in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawOption<'a> {
    /// Its number.
    pub number: Number,
    /// Its value.
    pub value: &'a [u8],
}

impl RawOption<'_> {
    /// The value as an unsigned integer.
    pub fn uint(&self) -> u32 {
        uint(self.value)
    }
}

/// Options in the bytes of a message, checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawOptions<'a> {
    bytes: &'a [u8],
}

impl<'a> RawOptions<'a> {
    /// Splits what follows the token into options and payload; `at` is its offset in the message.
    pub fn split(bytes: &'a [u8], at: usize) -> Result<(Self, &'a [u8]), Malformed> {
        let mut reader = Reader {
            bytes,
            at: 0,
            number: 0,
        };
        loop {
            let start = reader.at;
            match reader.next() {
                Ok(Some(_)) => continue,
                Ok(None) => {
                    let options = Self {
                        bytes: &bytes[..start],
                    };
                    let payload = bytes.get(start + 1..).unwrap_or_default();
                    return Ok((options, payload));
                }
                Err(rule) => {
                    let at = at + reader.at.min(bytes.len());
                    return Err(Malformed { at, rule });
                }
            }
        }
    }

    /// The options in order.
    pub fn iter(&self) -> impl Iterator<Item = RawOption<'a>> + use<'a> {
        let mut reader = Reader {
            bytes: self.bytes,
            at: 0,
            number: 0,
        };
        core::iter::from_fn(move || reader.next().ok().flatten())
    }

    /// The options' bytes as they stand.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    number: u16,
}

impl<'a> Reader<'a> {
    /// The next option; none at the end or before a payload.
    // [RFC7252-3-4] [RFC7252-3.1-1] [RFC7252-3.1-2]
    fn next(&mut self) -> Result<Option<RawOption<'a>>, Rule> {
        let Some(&head) = self.bytes.get(self.at) else {
            return Ok(None);
        };
        if head == MARKER {
            return if self.bytes.len() > self.at + 1 {
                Ok(None)
            } else {
                Err(Rule::MarkerWithoutPayload)
            };
        }
        let (delta, length) = (head >> 4, head & 15);
        if delta == 15 {
            return Err(Rule::DeltaReserved);
        }
        if length == 15 {
            return Err(Rule::LengthReserved);
        }
        self.at += 1;
        let delta = self.extended(delta)?;
        let length = self.extended(length)? as usize;
        let number = u32::from(self.number) + delta;
        let number = u16::try_from(number).map_err(|_| Rule::NumberOverflow)?;
        let value = self.bytes.get(self.at..self.at + length);
        let value = value.ok_or(Rule::OptionTruncated)?;
        self.at += length;
        self.number = number;
        Ok(Some(RawOption {
            number: Number(number),
            value,
        }))
    }

    /// 13 and 14 are followed by one and two more bytes (RFC 7252 section 3.1).
    fn extended(&mut self, nibble: u8) -> Result<u32, Rule> {
        let more = match nibble {
            13 => 1,
            14 => 2,
            small => return Ok(u32::from(small)),
        };
        let bytes = self.bytes.get(self.at..self.at + more);
        let bytes = bytes.ok_or(Rule::OptionTruncated)?;
        self.at += more;
        Ok(uint(bytes) + if more == 1 { 13 } else { 269 })
    }
}

/// An unsigned integer of any length in network order; more than four bytes wrap (RFC 7252 section 3.2).
// [RFC7252-3.2-2]
pub fn uint(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

/// An unsigned integer in as few bytes as it takes (RFC 7252 section 3.2): the buffer and from where.
// [RFC7252-3.2-1]
pub fn uint_bytes(number: u32) -> ([u8; 4], usize) {
    (number.to_be_bytes(), number.leading_zeros() as usize / 8)
}

/// Bytes of options that lie in the message itself: those of most requests and responses. With more, a
/// message would be too large to be handed back as an error.
const INLINE_BYTES: usize = 54;

/// Options of a message of ours, in order, as they stand on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Options {
    bytes: SmallVec<[u8; INLINE_BYTES]>,
    last: u16,
}

impl Options {
    /// None.
    pub const fn new() -> Self {
        Self {
            bytes: SmallVec::new_const(),
            last: 0,
        }
    }

    /// Options whose bytes were checked, of which this is the last number.
    pub(super) fn of_checked(raw: &RawOptions<'_>, last: u16) -> Self {
        Self {
            bytes: SmallVec::from_slice(raw.bytes),
            last,
        }
    }

    /// The options in order.
    pub fn iter(&self) -> impl Iterator<Item = RawOption<'_>> {
        RawOptions { bytes: &self.bytes }.iter()
    }

    /// The options' bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Values of this number, in order.
    pub fn all(&self, number: Number) -> impl Iterator<Item = &[u8]> {
        self.iter()
            .take_while(move |option| option.number <= number)
            .filter(move |option| option.number == number)
            .map(|option| option.value)
    }

    /// The first value of this number.
    pub fn first(&self, number: Number) -> Option<&[u8]> {
        self.all(number).next()
    }

    /// The first value of this number, as an unsigned integer.
    pub fn uint(&self, number: Number) -> Option<u32> {
        self.first(number).map(uint)
    }

    /// Adds an option behind those of its number.
    // [RFC7252-3.1-3]
    pub fn push(&mut self, number: Number, value: &[u8]) {
        if number.0 >= self.last {
            return self.append(number, value);
        }
        let old = core::mem::take(self);
        let (before, after): (Vec<_>, Vec<_>) = old.iter().partition(|old| old.number <= number);
        self.bytes.reserve(old.bytes.len() + value.len() + 5);
        let added = RawOption { number, value };
        for option in before.into_iter().chain([added]).chain(after) {
            self.append(option.number, option.value);
        }
    }

    /// Adds an unsigned integer.
    pub fn push_uint(&mut self, number: Number, value: u32) {
        let (bytes, from) = uint_bytes(value);
        self.push(number, &bytes[from..]);
    }

    /// Leaves this as the only one of its number.
    // [RFC7252-5.4.5-2]
    pub fn set(&mut self, number: Number, value: &[u8]) {
        self.remove(number);
        self.push(number, value);
    }

    /// Leaves this unsigned integer as the only one of its number.
    pub fn set_uint(&mut self, number: Number, value: u32) {
        self.remove(number);
        self.push_uint(number, value);
    }

    /// Takes all of this number away.
    pub fn remove(&mut self, number: Number) {
        if self.first(number).is_some() {
            *self = self.filtered(|known| known != number);
        }
    }

    /// Those whose number passes.
    pub fn filtered(&self, passes: impl Fn(Number) -> bool) -> Self {
        let mut kept = Self::new();
        for option in self.iter().filter(|option| passes(option.number)) {
            kept.append(option.number, option.value);
        }
        kept
    }

    fn append(&mut self, number: Number, value: &[u8]) {
        let delta = usize::from(number.0 - self.last);
        let (delta, length) = (Extended::of(delta), Extended::of(value.len()));
        self.bytes.push(delta.nibble << 4 | length.nibble);
        self.bytes.extend_from_slice(delta.more());
        self.bytes.extend_from_slice(length.more());
        self.bytes.extend_from_slice(value);
        self.last = number.0;
    }
}

impl From<RawOptions<'_>> for Options {
    fn from(raw: RawOptions<'_>) -> Self {
        let last = raw.iter().last().map_or(0, |option| option.number.0);
        Self::of_checked(&raw, last)
    }
}

/// A delta or a length: a nibble and up to two bytes (RFC 7252 section 3.1).
struct Extended {
    nibble: u8,
    bytes: [u8; 2],
    from: usize,
}

impl Extended {
    fn of(number: usize) -> Self {
        let (nibble, rest, from) = match number {
            0..=12 => (number as u8, 0, 2),
            13..=268 => (13, number - 13, 1),
            _ => (14, number.min(65_804) - 269, 0),
        };
        Self {
            nibble,
            bytes: (rest as u16).to_be_bytes(),
            from,
        }
    }

    fn more(&self) -> &[u8] {
        &self.bytes[self.from..]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::vec;

    type Read = (Vec<(u16, Vec<u8>)>, Vec<u8>);

    fn split(bytes: &[u8]) -> Result<Read, Malformed> {
        let (options, payload) = RawOptions::split(bytes, 4)?;
        let options = options
            .iter()
            .map(|option| (option.number.0, option.value.to_vec()));
        Ok((options.collect(), payload.to_vec()))
    }

    /// [RFC7252-3.1-1]
    #[test]
    fn options_are_read_where_they_lie() {
        let bytes = [0xb3, b'a', b'b', b'c', 0x01, b'd', 0xff, 1, 2];
        let read = split(&bytes).unwrap();
        assert_eq!(
            read,
            (vec![(11, b"abc".to_vec()), (11, b"d".to_vec())], vec![1, 2])
        );
        let far = [0xd1, 252 - 13, 7, 0xe1, 0, 0, 9];
        assert_eq!(
            split(&far).unwrap().0,
            [(252, vec![7]), (252 + 269, vec![9])]
        );
    }

    /// [RFC7252-3-4] [RFC7252-3.1-2]
    #[test]
    fn what_the_format_forbids_is_named_with_its_place() {
        for (bytes, at, rule) in [
            (&[0xf0][..], 4, Rule::DeltaReserved),
            (&[0xb1, 0, 0xf1, 0], 6, Rule::DeltaReserved),
            (&[0x1f], 4, Rule::LengthReserved),
            (&[0x12, 0], 5, Rule::OptionTruncated),
            (&[0xd0], 5, Rule::OptionTruncated),
            (&[0xe0, 1], 5, Rule::OptionTruncated),
            (&[0x0e, 1], 5, Rule::OptionTruncated),
            (&[0xe0, 0xff, 0xff], 7, Rule::NumberOverflow),
            (&[0xff], 4, Rule::MarkerWithoutPayload),
            (&[0x10, 0xff], 5, Rule::MarkerWithoutPayload),
        ] {
            assert_eq!(split(bytes), Err(Malformed { at, rule }), "{bytes:02x?}");
        }
    }

    /// [RFC7252-3.2-1] [RFC7252-3.2-2]
    #[test]
    fn integers_take_no_leading_zeros_and_are_read_with_them() {
        let mut options = Options::new();
        options.push_uint(Number::MAX_AGE, 0);
        options.push_uint(Number::ACCEPT, 0x1_00);
        assert_eq!(options.as_bytes(), [0xd0, 1, 0x32, 1, 0]);
        assert_eq!(uint(&[0, 0, 1]), 1);
    }

    /// [RFC7252-3.1-3] [RFC7252-5.4.5-2]
    #[test]
    fn options_are_put_in_order_whatever_order_they_are_added_in() {
        let mut options = Options::new();
        options.push(Number::URI_QUERY, b"q");
        options.push(Number::URI_PATH, b"a");
        options.push(Number::URI_PATH, b"b");
        options.push_uint(Number::REQUEST_TAG, 3);
        options.set_uint(Number::OBSERVE, 0);
        options.set_uint(Number::OBSERVE, 1);
        let numbers: Vec<_> = options.iter().map(|option| option.number.0).collect();
        assert_eq!(numbers, [6, 11, 11, 15, 292]);
        let paths: Vec<_> = options.all(Number::URI_PATH).collect();
        assert_eq!(paths, [b"a", b"b"]);
        assert_eq!(options.uint(Number::OBSERVE), Some(1));
        let again = Options::from(RawOptions::split(options.as_bytes(), 0).unwrap().0);
        assert_eq!(again, options);
    }
}
