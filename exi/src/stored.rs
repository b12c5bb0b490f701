//! Values in the decoder's own memory: offsets instead of borrowed parts, so that they can wait in
//! a channel or a list until their event is handed out.

use crate::value::{DateTime, DateTimeKind, Decimal, Float, Integer, List, TimeOfDay};
use crate::value::{Unsigned, Value};

/// A piece of the store, by offset and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) at: u32,
    pub(crate) len: u32,
}

impl Span {
    #[inline(always)]
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.at as usize..(self.at as usize + self.len as usize))
            .unwrap_or("")
    }
}

/// A number without sign: a word, or digits in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoredUnsigned {
    Small(u64),
    Big(Span),
}

/// A value whose text, bytes and items are elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stored {
    /// Text in the value partition's arena.
    Text(Span),
    /// Text in the scratch store.
    Scratch(Span),
    Boolean(bool),
    Integer {
        negative: bool,
        magnitude: StoredUnsigned,
    },
    Decimal {
        negative: bool,
        integral: StoredUnsigned,
        reversed_fraction: StoredUnsigned,
    },
    Float(Float),
    DateTime(StoredDateTime),
    Base64(Span),
    Hex(Span),
    List(Span),
}

/// A date or time without borrowed digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredDateTime {
    pub(crate) kind: DateTimeKind,
    pub(crate) year: i64,
    pub(crate) month: u8,
    pub(crate) day: u8,
    pub(crate) time: TimeOfDay,
    pub(crate) reversed_fraction: Option<StoredUnsigned>,
    pub(crate) zone_minutes: Option<i16>,
}

/// Where the parts of stored values are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Store<'a> {
    pub(crate) arena: &'a str,
    pub(crate) scratch: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) items: &'a [Stored],
}

/// Who keeps the parts of stored values. A list refers to its keeper instead of holding the four
/// parts of a [`Store`], which would make every event wider.
pub(crate) trait Keeper: core::fmt::Debug {
    fn store(&self) -> Store<'_>;
}

/// The items of a stored list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredList<'a> {
    keeper: &'a dyn Keeper,
    span: Span,
}

impl<'a> StoredList<'a> {
    pub(crate) fn len(&self) -> usize {
        self.span.len as usize
    }

    pub(crate) fn item(&self, index: usize) -> Option<Value<'a>> {
        if index >= self.len() {
            return None;
        }
        let store = self.keeper.store();
        let stored = store.items.get(self.span.at as usize + index)?;
        Some(stored.value(self.keeper))
    }
}

impl Stored {
    /// The value as it is handed out.
    pub(crate) fn value<'a>(&self, keeper: &'a dyn Keeper) -> Value<'a> {
        let store = keeper.store();
        match *self {
            Self::Text(span) => Value::Text(span.of(store.arena)),
            Self::Scratch(span) => Value::Text(span.of(store.scratch)),
            Self::Boolean(value) => Value::Boolean(value),
            Self::Integer {
                negative,
                magnitude,
            } => Value::Integer(Integer {
                negative,
                magnitude: store.unsigned(magnitude),
            }),
            Self::Decimal {
                negative,
                integral,
                reversed_fraction,
            } => Value::Decimal(Decimal {
                negative,
                integral: store.unsigned(integral),
                reversed_fraction: store.unsigned(reversed_fraction),
            }),
            Self::Float(value) => Value::Float(value),
            Self::DateTime(value) => Value::DateTime(store.date_time(&value)),
            Self::Base64(span) => Value::Base64(store.bytes_of(span)),
            Self::Hex(span) => Value::Hex(store.bytes_of(span)),
            Self::List(span) => Value::List(List::stored(StoredList { keeper, span })),
        }
    }
}

impl<'a> Store<'a> {
    fn bytes_of(&self, span: Span) -> &'a [u8] {
        let at = span.at as usize;
        self.bytes.get(at..at + span.len as usize).unwrap_or(&[])
    }

    fn unsigned(&self, number: StoredUnsigned) -> Unsigned<'a> {
        match number {
            StoredUnsigned::Small(value) => Unsigned::Small(value),
            StoredUnsigned::Big(span) => Unsigned::Big(span.of(self.scratch)),
        }
    }

    fn date_time(&self, value: &StoredDateTime) -> DateTime<'a> {
        DateTime {
            kind: value.kind,
            year: value.year,
            month: value.month,
            day: value.day,
            time: value.time,
            reversed_fraction: value
                .reversed_fraction
                .map(|fraction| self.unsigned(fraction)),
            zone_minutes: value.zone_minutes,
        }
    }
}
