//! Lexical values read by their datatype (XML Schema part 2), as far as the representations go.
//!
//! What has no such reading is no error here: a stream that is not strict keeps it as untyped text.

use alloc::string::String;
use alloc::vec::Vec;

use crate::codec::{Codec, Codecs};
use crate::grammar::Schema;
use crate::stored::{Keeper, Span, Store, Stored, StoredUnsigned};
use crate::value::{Float, Integer, Unsigned, Value, push_lexical};

/// Memory for parts of values that were read.
#[derive(Debug, Default)]
pub(crate) struct Stash {
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) items: Vec<Stored>,
}

/// What tells how a value is read.
#[derive(Clone, Copy)]
pub(crate) struct Datatypes<'a> {
    pub(crate) codecs: &'a Codecs,
    pub(crate) schema: Option<&'a Schema>,
    /// Whether equal values are to have equal bytes.
    pub(crate) canonical: bool,
}

/// White space of XML Schema (section 4.3.6 of part 2).
pub(crate) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

impl Keeper for Stash {
    fn store(&self) -> Store<'_> {
        Store {
            arena: "",
            scratch: &self.text,
            bytes: &self.bytes,
            items: &self.items,
        }
    }
}

impl Stash {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.bytes.clear();
        self.items.clear();
    }

    pub(crate) fn push(&mut self, text: &str) -> Span {
        let at = self.text.len() as u32;
        self.text.push_str(text);
        Span {
            at,
            len: text.len() as u32,
        }
    }

    /// Reads text in a representation; `None` if it has no such value.
    pub(crate) fn read(&mut self, types: Datatypes<'_>, codec: u32, text: &str) -> Option<Stored> {
        self.read_as(types, types.codecs.codec(codec), text)
    }

    fn read_as(&mut self, types: Datatypes<'_>, codec: Codec, text: &str) -> Option<Stored> {
        let trimmed = text.trim_matches(is_space);
        match codec {
            Codec::String | Codec::Restricted(_) => Some(Stored::Scratch(self.push(text))),
            Codec::Boolean => boolean(trimmed).map(Stored::Boolean),
            Codec::BooleanPattern => {
                boolean(trimmed)?;
                Some(Stored::Scratch(self.push(trimmed)))
            }
            Codec::Decimal => self.decimal(trimmed),
            Codec::Float => float(trimmed).map(Stored::Float),
            Codec::Integer => self.integer(trimmed),
            Codec::Unsigned => match self.integer(trimmed)? {
                Stored::Integer { negative: true, .. } => None,
                stored => Some(stored),
            },
            Codec::Bounded { min, range } => {
                let value: i128 = sign_of(trimmed)
                    .and_then(|(_, _)| trimmed.strip_prefix('+').unwrap_or(trimmed).parse().ok())?;
                let offset = value.checked_sub(min)?;
                if !(0..i128::from(range)).contains(&offset) {
                    return None;
                }
                let (negative, magnitude) = (false, StoredUnsigned::Small(offset as u64));
                Some(Stored::Integer {
                    negative,
                    magnitude,
                })
            }
            Codec::DateTime(kind) => super::date_time::read(kind, trimmed, self),
            Codec::Base64 => super::binary::base64(trimmed, &mut self.bytes).map(Stored::Base64),
            Codec::Hex => super::binary::hex(trimmed, &mut self.bytes).map(Stored::Hex),
            Codec::List { item } => self.list(types, item, trimmed),
            Codec::Enumeration { first, count, of } => {
                let index = self.enumerated(types, first, count, of, text)?;
                let (negative, magnitude) = (false, StoredUnsigned::Small(u64::from(index)));
                Some(Stored::Integer {
                    negative,
                    magnitude,
                })
            }
            Codec::Foreign => None,
        }
    }

    fn list(&mut self, types: Datatypes<'_>, item: u32, text: &str) -> Option<Stored> {
        let words = text.split(is_space).filter(|word| !word.is_empty());
        let at = self.items.len();
        for word in words {
            let Some(stored) = self.read(types, item, word) else {
                self.items.truncate(at);
                return None;
            };
            self.items.push(stored);
        }
        Some(Stored::List(Span {
            at: at as u32,
            len: (self.items.len() - at) as u32,
        }))
    }

    /// The index of an enumerated value, compared as values of the base type (section 7.2), whatever a map
    /// says of that.
    fn enumerated(
        &mut self,
        types: Datatypes<'_>,
        first: u32,
        count: u32,
        of: u32,
        text: &str,
    ) -> Option<u32> {
        let values = types.schema?.enumeration(first, count);
        // [C14N-4.5.2-1]
        let literal = values.iter().position(|value| value == text);
        if let Some(index) = literal.filter(|index| *index == 0 || !types.canonical) {
            return Some(index as u32);
        }
        let base = crate::codec::declared(types.schema?.datatypes.get(of as usize)?);
        let canonical = |stash: &mut Self, text: &str| {
            let form = collapsed(text, types.codecs.white_space(of));
            let stored = same_for_equal(stash.read_as(types, base, &form)?);
            let mut form = String::new();
            push_lexical(&stored.value(&*stash), &mut form);
            Some(form)
        };
        let wanted = canonical(self, text)?;
        let same = |value: &String| canonical(self, value).is_some_and(|form| form == wanted);
        values.iter().position(same).map(|index| index as u32)
    }

    fn unsigned(&mut self, digits: &str) -> StoredUnsigned {
        match digits.parse() {
            Ok(value) => StoredUnsigned::Small(value),
            Err(_) => StoredUnsigned::Big(self.push(digits)),
        }
    }

    fn integer(&mut self, text: &str) -> Option<Stored> {
        let (negative, digits) = sign_of(text)?;
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        let negative = negative && !digits.is_empty();
        let magnitude = if digits.is_empty() {
            StoredUnsigned::Small(0)
        } else {
            self.unsigned(digits)
        };
        Some(Stored::Integer {
            negative,
            magnitude,
        })
    }

    fn decimal(&mut self, text: &str) -> Option<Stored> {
        let (negative, digits) = sign_of(text)?;
        let (integral, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let both = integral.bytes().chain(fraction.bytes());
        if integral.len() + fraction.len() == 0 || !both.clone().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let integral = integral.trim_start_matches('0');
        let integral = if integral.is_empty() { "0" } else { integral };
        let integral = self.unsigned(integral);
        let reversed_fraction = self.reversed(fraction);
        Some(Stored::Decimal {
            negative,
            integral,
            reversed_fraction,
        })
    }

    /// Digits after the point as the number they make in reverse order; trailing zeros vanish.
    pub(crate) fn reversed(&mut self, fraction: &str) -> StoredUnsigned {
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() {
            return StoredUnsigned::Small(0);
        }
        let at = self.text.len();
        self.text.extend(fraction.chars().rev());
        let len = self.text.len() - at;
        let (at, digits) = (at as u32, self.text.get(at..).unwrap_or(""));
        match digits.parse() {
            Ok(value) => {
                self.text.truncate(at as usize);
                StoredUnsigned::Small(value)
            }
            Err(_) => StoredUnsigned::Big(Span {
                at,
                len: len as u32,
            }),
        }
    }

    /// Takes a typed value in a representation; `None` where its text must be read instead.
    pub(crate) fn typed(&mut self, codec: Codec, value: &Value<'_>) -> Option<Stored> {
        match (codec, value) {
            (Codec::Boolean, Value::Boolean(value)) => Some(Stored::Boolean(*value)),
            (Codec::Integer, Value::Integer(integer)) => Some(self.take_integer(integer)),
            (Codec::Unsigned, Value::Integer(integer)) if !integer.negative => {
                Some(self.take_integer(integer))
            }
            (Codec::Bounded { min, range }, Value::Integer(integer)) => {
                let offset = i128::from(integer.to_i64()?) - min;
                let magnitude = StoredUnsigned::Small(u64::try_from(offset).ok()?);
                let good = offset < i128::from(range);
                good.then_some(Stored::Integer {
                    negative: false,
                    magnitude,
                })
            }
            (Codec::Decimal, Value::Decimal(decimal)) => Some(Stored::Decimal {
                negative: decimal.negative,
                integral: self.take_unsigned(&decimal.integral),
                reversed_fraction: self.take_unsigned(&decimal.reversed_fraction),
            }),
            (Codec::Float, Value::Float(float)) => Some(Stored::Float(*float)),
            (Codec::Base64, Value::Base64(bytes) | Value::Hex(bytes)) => {
                Some(Stored::Base64(self.take_bytes(bytes)))
            }
            (Codec::Hex, Value::Base64(bytes) | Value::Hex(bytes)) => {
                Some(Stored::Hex(self.take_bytes(bytes)))
            }
            (Codec::DateTime(kind), Value::DateTime(value)) if value.kind == kind => {
                Some(super::date_time::take(value, self))
            }
            _ => None,
        }
    }

    fn take_bytes(&mut self, bytes: &[u8]) -> Span {
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        Span {
            at,
            len: bytes.len() as u32,
        }
    }

    pub(super) fn take_unsigned(&mut self, number: &Unsigned<'_>) -> StoredUnsigned {
        match number {
            Unsigned::Small(value) => StoredUnsigned::Small(*value),
            Unsigned::Big(digits) => self.unsigned(digits),
        }
    }

    fn take_integer(&mut self, integer: &Integer<'_>) -> Stored {
        let magnitude = self.take_unsigned(&integer.magnitude);
        let negative = integer.negative && magnitude != StoredUnsigned::Small(0);
        Stored::Integer {
            negative,
            magnitude,
        }
    }
}

/// One of all stored values that are equal: instants in UTC, no minus zero.
fn same_for_equal(stored: Stored) -> Stored {
    const ZERO: StoredUnsigned = StoredUnsigned::Small(0);
    match stored {
        Stored::DateTime(value) => {
            Stored::DateTime(super::utc::normalized(&super::utc::midnight(&value)))
        }
        Stored::Decimal {
            integral: ZERO,
            reversed_fraction: ZERO,
            ..
        } => Stored::Decimal {
            negative: false,
            integral: ZERO,
            reversed_fraction: ZERO,
        },
        other => other,
    }
}

/// Applies the facet whiteSpace.
pub(super) fn collapsed(text: &str, white_space: crate::grammar::WhiteSpace) -> String {
    use crate::grammar::WhiteSpace;
    match white_space {
        WhiteSpace::Preserve => text.into(),
        WhiteSpace::Replace => text.replace(is_space, " "),
        WhiteSpace::Collapse => {
            let words = text.split(is_space).filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" ")
        }
    }
}

fn sign_of(text: &str) -> Option<(bool, &str)> {
    match text.as_bytes().first()? {
        b'-' => Some((true, &text[1..])),
        b'+' => Some((false, &text[1..])),
        _ => Some((false, text)),
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Mantissa and exponent of a decimal in scientific notation. Values outside of the ranges MUST NOT
/// be represented as float (section 7.1.4).
fn float(text: &str) -> Option<Float> {
    match text {
        "INF" => return Some(Float::INFINITY),
        "-INF" => return Some(Float::NEG_INFINITY),
        // [C14N-4.5.4-3]
        "NaN" => return Some(Float::NAN),
        _ => {}
    }
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent_of(exponent)?),
        None => (text, 0),
    };
    // [EXI-7.1.4-1]
    let (negative, digits) = sign_of(number)?;
    let (integral, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if integral.len() + fraction.len() == 0 {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let mut mantissa: i64 = 0;
    for byte in integral.bytes().chain(fraction.bytes()) {
        if !byte.is_ascii_digit() {
            return None;
        }
        let digit = i64::from(byte - b'0');
        mantissa = mantissa.checked_mul(10)?;
        mantissa = if negative {
            mantissa.checked_sub(digit)?
        } else {
            mantissa.checked_add(digit)?
        };
    }
    let exponent = exponent.checked_sub(fraction.len() as i64)?;
    let in_range = (i64::from(Float::SPECIAL) + 1..=16_383).contains(&exponent);
    let exponent = i16::try_from(exponent).ok().filter(|_| in_range)?;
    Some(normalized(mantissa, exponent))
}

fn exponent_of(text: &str) -> Option<i64> {
    let (negative, digits) = sign_of(text)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value: i64 = digits.parse().ok()?;
    Some(if negative { -value } else { value })
}

/// The shortest mantissa: without trailing zeros, as Canonical EXI section 4.5.4 asks.
fn normalized(mantissa: i64, exponent: i16) -> Float {
    let (mut mantissa, mut exponent) = (mantissa, exponent);
    // [C14N-4.5.4-1]
    if mantissa == 0 {
        return Float {
            mantissa: 0,
            exponent: 0,
        };
    }
    // [C14N-4.5.4-2]
    while mantissa % 10 == 0 && exponent < 16_383 {
        mantissa /= 10;
        exponent += 1;
    }
    Float { mantissa, exponent }
}
