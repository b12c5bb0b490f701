//! What the binary syntaxes share: bytes taken from the front, with limits, and trees given as JSON.

use crate::error::DecodeError;
use crate::names::Names;
use crate::syntax::json::Json;
use crate::syntax::json_text::JsonText;
use crate::syntax::{
    COUNTED_TIME, DEPTH_MAX, Emit, Exact, Key, Kind, Mark, Open, Pull, is_since_2000,
};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::{Limits, Time};

/// A place in a message and how deep it lies.
#[derive(Clone)]
pub(crate) struct Input<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
    pub(crate) depth: usize,
    pub(crate) limits: &'a Limits,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &'a Limits) -> Self {
        Self {
            bytes,
            at: 0,
            depth: 0,
            limits,
        }
    }

    /// Marks the place before a value whose type was read already; the type is kept above the depth.
    pub(crate) fn mark_of(&self, next: u8) -> Mark {
        Mark {
            at: self.at,
            depth: self.depth << 8 | usize::from(next),
        }
    }

    /// Goes back to a mark; says the type that stands next there.
    pub(crate) fn rewind_of(&mut self, mark: Mark) -> u8 {
        self.at = mark.at;
        self.depth = mark.depth >> 8;
        mark.depth as u8
    }

    #[inline]
    pub(crate) fn peek(&self) -> Result<u8, DecodeError> {
        let byte = self.bytes.get(self.at).copied();
        byte.ok_or_else(|| DecodeError::truncated(self.at))
    }

    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let taken = self
            .at
            .checked_add(len)
            .and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| DecodeError::truncated(self.bytes.len()))?;
        self.at += len;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// Takes a big-endian unsigned integer of 1, 2, 4 or 8 bytes.
    pub(crate) fn unsigned(&mut self, width: usize) -> Result<u64, DecodeError> {
        Ok(self
            .take(width)?
            .iter()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }

    pub(crate) fn text(&mut self, len: u64) -> Result<&'a str, DecodeError> {
        let start = self.at;
        let bytes = self.string(len)?;
        core::str::from_utf8(bytes)
            .map_err(|error| DecodeError::expected(start + error.valid_up_to(), "UTF-8"))
    }

    pub(crate) fn string(&mut self, len: u64) -> Result<&'a [u8], DecodeError> {
        let limit = self.limits.text_bytes;
        match usize::try_from(len) {
            Ok(len) if len <= limit => self.take(len),
            _ => Err(DecodeError::over(self.at, "bytes of a string", limit)),
        }
    }

    /// Goes down into a map or array.
    pub(crate) fn descend(&mut self, left: Option<u64>, start: usize) -> Result<Open, DecodeError> {
        let limit = self.limits.depth.min(DEPTH_MAX);
        if self.depth >= limit {
            return Err(DecodeError::over(start, "nesting", limit));
        }
        self.depth += 1;
        Ok(Open { left, first: true })
    }

    pub(crate) fn finish(&self) -> Result<(), DecodeError> {
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(DecodeError::expected(self.at, "the end of the message"))
        }
    }
}

pub(crate) use crate::rows::finite;

/// Reads over a whole value.
pub(crate) fn skip(pull: &mut impl Pull) -> Result<(), DecodeError> {
    match pull.peek()? {
        Kind::Map => {
            let mut map = pull.map()?;
            while pull.key(&mut map)?.is_some() {
                skip(pull)?;
            }
        }
        Kind::Array => {
            let mut array = pull.array()?;
            while pull.item(&mut array)? {
                skip(pull)?;
            }
        }
        Kind::Text => drop(pull.text()?),
        Kind::Number => match pull.number() {
            Err(error) if !error.is_of_a_number() => return Err(error),
            _ => {}
        },
        Kind::Bool => drop(pull.bool()?),
        Kind::Null => pull.null()?,
        Kind::Time => drop(pull.time()?),
        Kind::Bytes => drop(pull.bytes()?),
    }
    Ok(())
}

/// Reads a map or array, in no map of which a name stands twice, as compact JSON text; times become RFC 3339, bytes
/// base64url.
pub(crate) fn json(
    pull: &mut impl Pull,
    limits: &Limits,
) -> Result<Cow<'static, str>, DecodeError> {
    let start = pull.at();
    let mut out = Vec::new();
    let mut emit = JsonText::new(&mut out);
    copy::<_, true>(pull, &mut emit)?;
    emit.finish();
    if out.len() > limits.text_bytes {
        return Err(DecodeError::over(
            start,
            "bytes of a string",
            limits.text_bytes,
        ));
    }
    let text = String::from_utf8(out).map_err(|_| DecodeError::expected(start, "UTF-8"))?;
    Ok(Cow::Owned(text))
}

/// Reads a number as the seconds, milliseconds, microseconds or nanoseconds since 1970 that it must be to lie between
/// 2000 and 2262, as [`Json`] does.
#[cold]
pub(crate) fn counted_time(pull: &mut impl Pull) -> Result<Time, DecodeError> {
    let at = pull.at();
    let number = pull.exact()?;
    let nanos = |a_second: i64| match number {
        Exact::Whole(number) => {
            let nanos = number.checked_mul(i128::from(NANOS / a_second))?;
            i64::try_from(nanos).ok()
        }
        Exact::Double(number) => Time::from_seconds(number / a_second as f64).map(Time::nanos),
    };
    let found = [1, 1000, 1_000_000, NANOS].into_iter().filter_map(nanos);
    let time = found.filter(is_since_2000).map(Time::from_nanos).next();
    time.ok_or_else(|| DecodeError::expected(at, COUNTED_TIME))
}

/// Nanoseconds of a second.
const NANOS: i64 = 1_000_000_000;

/// Writes JSON text as a tree of another syntax; null where it is not JSON.
pub(crate) fn write_json(json: &str, emit: &mut impl Emit) {
    let limits = Limits {
        message_bytes: usize::MAX,
        observations: usize::MAX,
        depth: DEPTH_MAX,
        text_bytes: usize::MAX,
    };
    let mut check = Json::new(json, &limits);
    match check.skip().and_then(|()| check.finish()) {
        // The text was just read over: copying it cannot fail.
        Ok(()) => drop(copy::<_, false>(&mut Json::new(json, &limits), emit)),
        Err(_) => emit.null(),
    }
}

/// Copies a tree; `CHECKED` says whether a name that stands twice in a map is refused.
fn copy<E: Emit, const CHECKED: bool>(
    pull: &mut impl Pull,
    emit: &mut E,
) -> Result<(), DecodeError> {
    match pull.peek()? {
        Kind::Map => copy_map::<E, CHECKED>(pull, emit)?,
        Kind::Array => copy_array::<E, CHECKED>(pull, emit)?,
        Kind::Text => emit.text(pull.text()?),
        Kind::Number => match pull.exact() {
            Ok(number) => write_exact(number, emit),
            // JSON has none.
            Err(error) if error.is_of_a_number() => emit.null(),
            Err(error) => return Err(error),
        },
        Kind::Bool => emit.bool(pull.bool()?),
        Kind::Time => emit.time(pull.time()?),
        Kind::Bytes => emit.text(&crate::base64::url(pull.bytes()?)),
        Kind::Null => {
            pull.null()?;
            emit.null();
        }
    }
    Ok(())
}

/// Whole numbers below this are the same as doubles.
const EXACT_DOUBLE_END: u128 = 1 << 53;

fn write_exact(number: Exact, emit: &mut impl Emit) {
    match number {
        Exact::Double(number) => emit.number(number),
        Exact::Whole(number) if number.unsigned_abs() < EXACT_DOUBLE_END => {
            emit.number(number as f64);
        }
        Exact::Whole(number) => emit.whole(number),
    }
}

fn copy_map<E: Emit, const CHECKED: bool>(
    pull: &mut impl Pull,
    emit: &mut E,
) -> Result<(), DecodeError> {
    emit.map(if E::COUNTS { count(pull)? } else { 0 });
    let (mut map, mut names) = (pull.map()?, Names::default());
    while let Some(key) = pull.key(&mut map)? {
        let name = match key {
            Key::Text(name) => Cow::Borrowed(name),
            Key::Number(number) => Cow::Owned(alloc::format!("{number}")),
        };
        emit.key(&name);
        if CHECKED {
            let name = name.into_owned();
            names.take(Cow::Owned(name), pull.at())?;
        }
        copy::<E, CHECKED>(pull, emit)?;
    }
    emit.end_map();
    Ok(())
}

fn copy_array<E: Emit, const CHECKED: bool>(
    pull: &mut impl Pull,
    emit: &mut E,
) -> Result<(), DecodeError> {
    emit.array(if E::COUNTS { count(pull)? } else { 0 });
    let mut array = pull.array()?;
    while pull.item(&mut array)? {
        copy::<E, CHECKED>(pull, emit)?;
    }
    emit.end_array();
    Ok(())
}

/// Number of members or items of what stands next: some syntaxes write it first, JSON does not say.
fn count(pull: &mut impl Pull) -> Result<usize, DecodeError> {
    let start = pull.mark();
    let mut count = 0;
    if pull.peek()? == Kind::Map {
        let mut map = pull.map()?;
        while pull.key(&mut map)?.is_some() {
            pull.skip()?;
            count += 1;
        }
    } else {
        let mut array = pull.array()?;
        while pull.item(&mut array)? {
            pull.skip()?;
            count += 1;
        }
    }
    pull.rewind(start);
    Ok(count)
}

/// Appends a number behind the type of the shorter of the two widths that holds it, big-endian.
pub(crate) fn put_float(number: f64, [single_type, double_type]: [u8; 2], out: &mut Vec<u8>) {
    let single = number as f32;
    if f64::from(single) == number {
        out.push(single_type);
        out.extend_from_slice(&single.to_be_bytes());
    } else {
        out.push(double_type);
        out.extend_from_slice(&number.to_be_bytes());
    }
}
