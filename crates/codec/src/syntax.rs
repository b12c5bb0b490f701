//! Trees of names, in whatever bytes: the pair of traits between vocabularies and syntaxes.
//!
//! A *vocabulary* ([`crate::vocabulary`]) knows that an observation has a `unit`; a *syntax* knows
//! how a map, a string or a number looks. Each pair of them is monomorphic: no `dyn`, no value tree.
//!
//! Decode was settled first, on the hardest inputs:
//! - SenML's base values apply to the records that follow, so a reader is *pulled* in document order
//!   and the vocabulary owns the state; nothing is collected before it is understood.
//! - Members come in any order and twice; so the vocabulary sets members of a row as they come, and
//!   the row is checked at its end.
//! - Strings are borrowed from the input where they stand there as they are, and otherwise from a
//!   small buffer of the reader; both live until the next call, which is long enough to copy them
//!   into the batch's arena, the only place where they are kept.
//! - Labels are strings here and integers there (SenML in CBOR): a [`Key`] is either.
//! - CBOR and MessagePack say lengths first, JSON does not: [`Emit`] is told counts, [`Pull`] is not.
//! - Numbers, times and bytes are asked for by type ([`Pull::number`], [`Pull::time`]), since the same
//!   time is text in JSON, a tag in CBOR and an extension in MessagePack.
//!
//! Whatever is a document of qualified names with attributes (XML, EXI) goes through
//! [`crate::infoset`] instead; lines and columns (csv, plain) and numbered fields (protobuf) are
//! written directly.

#[cfg(any(
    feature = "bson",
    feature = "cbor",
    feature = "legacy",
    feature = "msgpack",
    feature = "senml-cbor"
))]
pub(crate) mod binary;
#[cfg(feature = "bson")]
pub(crate) mod bson;
#[cfg(any(feature = "cbor", feature = "senml-cbor"))]
pub(crate) mod cbor;
pub(crate) mod json;
pub(crate) mod json_text;
#[cfg(feature = "msgpack")]
pub(crate) mod msgpack;

use crate::error::DecodeError;
use alloc::borrow::Cow;
use weir_model::Time;

/// A name that the vocabulary knows, with its renderings made at compile time.
pub(crate) struct Label {
    /// The name.
    pub(crate) name: &'static str,
    /// The name as a JSON member begins: quoted, with the colon.
    pub(crate) json: &'static str,
    /// The integer that stands for it, in vocabularies that have such.
    pub(crate) number: Option<i64>,
}

/// Makes a [`Label`].
macro_rules! label {
    ($name:literal) => {
        label!($name, None)
    };
    ($name:literal, $number:expr) => {
        $crate::syntax::Label {
            name: $name,
            json: concat!("\"", $name, "\":"),
            number: $number,
        }
    };
}
pub(crate) use label;

/// Writes a tree.
pub(crate) trait Emit {
    /// Whether counts of members and items are written; else they need not be right.
    const COUNTS: bool;

    /// Begins a map of this many members.
    fn map(&mut self, members: usize);
    /// Ends a map.
    fn end_map(&mut self);
    /// Begins an array of this many items.
    fn array(&mut self, items: usize);
    /// Ends an array.
    fn end_array(&mut self);
    /// Names the member that follows.
    fn label(&mut self, label: &'static Label);
    /// Names the member that follows by a name met at run time.
    fn key(&mut self, name: &str);
    /// Writes null.
    fn null(&mut self);
    /// Writes a boolean.
    fn bool(&mut self, truth: bool);
    /// Writes a finite number.
    fn number(&mut self, number: f64);
    /// Writes a whole number; as the nearest double where the syntax has no such integers.
    fn whole(&mut self, number: i128) {
        self.number(number as f64);
    }
    /// Writes a string.
    fn text(&mut self, text: &str);
    /// Writes an instant.
    fn time(&mut self, time: Time);
    /// Writes an instant as a number of seconds since the epoch, to the nanosecond.
    fn seconds(&mut self, time: Time);
    /// Writes an array or object given as compact JSON text.
    fn json(&mut self, json: &str);
}

/// A number, as exactly as its syntax has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exact {
    /// A whole number, of which a double might drop the low digits.
    Whole(i128),
    /// Any other, as the nearest double.
    Double(f64),
}

impl Exact {
    /// The nearest double.
    pub(crate) const fn nearest(self) -> f64 {
        match self {
            Exact::Whole(number) => number as f64,
            Exact::Double(number) => number,
        }
    }
}

/// Reads a finite number, which is kept whole only where it may be no double: few are so long, and the
/// others are read but once.
#[cfg(any(feature = "senml-json", feature = "senml-cbor"))]
#[inline]
pub(crate) fn exact(pull: &mut impl Pull) -> Result<Exact, DecodeError> {
    let start = pull.mark();
    let number = pull.number()?;
    if number.abs() < weir_model::value::EXACT_INTEGER_MAX {
        return Ok(Exact::Double(number));
    }
    pull.rewind(start);
    pull.exact()
}

/// A member's name as met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    Text(&'a str),
    Number(i64),
}

/// What stands next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Map,
    Array,
    Text,
    Number,
    Bool,
    Null,
    Time,
    Bytes,
}

/// A map or array being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// Members or items still to come, where the syntax says so first.
    pub(crate) left: Option<u64>,
    /// Whether none was read yet.
    pub(crate) first: bool,
}

/// A place to come back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) at: usize,
    pub(crate) depth: usize,
}

/// Reads a tree in document order.
///
/// Every method but [`peek`](Self::peek) and [`at`](Self::at) consumes what it reads.
pub(crate) trait Pull {
    /// Offset of what stands next.
    fn at(&mut self) -> usize;
    /// What stands next.
    fn peek(&mut self) -> Result<Kind, DecodeError>;
    /// Remembers this place.
    fn mark(&self) -> Mark;
    /// Goes back to a place.
    fn rewind(&mut self, mark: Mark);
    /// Begins a map.
    fn map(&mut self) -> Result<Open, DecodeError>;
    /// The next member's name; `None` ends the map.
    fn key(&mut self, map: &mut Open) -> Result<Option<Key<'_>>, DecodeError>;
    /// Begins an array.
    fn array(&mut self) -> Result<Open, DecodeError>;
    /// Says whether another item follows; `false` ends the array.
    fn item(&mut self, array: &mut Open) -> Result<bool, DecodeError>;
    /// Reads null.
    fn null(&mut self) -> Result<(), DecodeError>;
    /// Reads a boolean.
    fn bool(&mut self) -> Result<bool, DecodeError>;
    /// Reads a finite number.
    fn number(&mut self) -> Result<f64, DecodeError>;
    /// Reads a finite number and keeps it whole where it is; integers of 64 bits, signed or not, always
    /// are where the syntax has them.
    fn exact(&mut self) -> Result<Exact, DecodeError> {
        self.number().map(Exact::Double)
    }
    /// Reads a number of seconds as nanoseconds, as exactly as it is written.
    fn seconds(&mut self) -> Result<i64, DecodeError>;
    /// Reads a string.
    fn text(&mut self) -> Result<&str, DecodeError>;
    /// Reads a byte string.
    fn bytes(&mut self) -> Result<&[u8], DecodeError>;
    /// Reads an instant.
    fn time(&mut self) -> Result<Time, DecodeError>;
    /// Reads an array or object as compact JSON text.
    fn json(&mut self) -> Result<Cow<'_, str>, DecodeError>;
    /// Whether null stands in the JSON text read last for a number that is no finite one.
    fn is_nulled(&self) -> bool {
        false
    }
    /// Reads over whatever stands next.
    fn skip(&mut self) -> Result<(), DecodeError>;
    /// Checks that nothing follows.
    fn finish(&mut self) -> Result<(), DecodeError>;
}

/// Midnight of January 1, 2000.
const YEAR_2000_NANOS: i64 = 946_684_800_000_000_000;
/// What a number can be where a time stands.
pub(crate) const COUNTED_TIME: &str =
    "a time after 2000, as seconds or milliseconds since 1970 or as text of RFC 3339";

/// Whether a time that was counted in some unit can be one in that unit.
pub(crate) fn is_since_2000(nanos: &i64) -> bool {
    *nanos >= YEAR_2000_NANOS
}

/// Deepest nesting whatever the limits say, so that recursion cannot exhaust a thread's stack.
pub(crate) const DEPTH_MAX: usize = 128;
