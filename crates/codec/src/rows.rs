//! The door through which every decoder adds observations: counts them and gives errors a place.

use crate::error::{DecodeError, Fault};
use crate::names::stands_twice;
use crate::syntax::Exact;
use alloc::format;
use alloc::string::ToString;
use core::ops::{Deref, DerefMut};
use weir_model::{BatchBuilder, Extra, Flaw, FlawKind, KeptNames, Limits, Time, Value};

/// A batch under construction by one message.
pub(crate) struct Rows<'b> {
    builder: &'b mut BatchBuilder,
    /// Length of the batch that must not be passed.
    full: usize,
    limit: usize,
}

impl<'b> Rows<'b> {
    pub(crate) fn new(builder: &'b mut BatchBuilder, limits: &Limits) -> Self {
        let full = builder.len().saturating_add(limits.observations);
        let limit = limits.observations;
        Self {
            builder,
            full,
            limit,
        }
    }

    /// Whether the builder was empty when the message began.
    pub(crate) fn are_alone(&self) -> bool {
        self.full == self.limit
    }

    /// Starts an observation whose first byte is at `at`.
    pub(crate) fn begin(&mut self, at: usize) -> Result<(), DecodeError> {
        self.begin_as(at, KeptNames::NONE)
    }

    /// Starts an observation of a datastream whose names were kept.
    pub(crate) fn begin_as(&mut self, at: usize, names: KeptNames) -> Result<(), DecodeError> {
        if self.builder.len() >= self.full {
            return Err(DecodeError::over(at, "observations", self.limit));
        }
        self.builder.begin_as(names);
        Ok(())
    }

    /// Sets a result that is a number: a double, or the digits of an integer that is none.
    pub(crate) fn number(&mut self, number: Exact) {
        if let Exact::Whole(whole) = number
            && let Some(digits) = Value::of_digits(&whole.to_string())
        {
            return self.value(digits);
        }
        self.value(Value::Number(number.nearest()));
    }

    /// The same of a number that was read, or null where that is no finite one.
    #[inline]
    pub(crate) fn read_number(
        &mut self,
        read: Result<Exact, DecodeError>,
    ) -> Result<(), DecodeError> {
        match read {
            Ok(number) => self.number(number),
            Err(error) => set_null_for(self, error)?,
        }
        Ok(())
    }

    /// Sets the valid time of the observation whose first byte is at `at`, of which both ends or neither
    /// was given.
    pub(crate) fn valid(&mut self, ends: [Option<Time>; 2], at: usize) -> Result<(), DecodeError> {
        let valid = match ends {
            [Some(from), Some(to)] => Some((from, to)),
            [None, None] => return Ok(()),
            _ => {
                let what = "a valid time needs both `validFrom` and `validTo`";
                return Err(DecodeError::meaning(at, what));
            }
        };
        self.extra(Extra {
            valid,
            ..Extra::default()
        });
        Ok(())
    }

    /// Notes a member, a column or an attribute that no observation has.
    #[cold]
    pub(crate) fn pass_over(&mut self, name: &str) {
        let what = format!("`{name}` is passed over: no observation has that");
        self.note_flaw(Flaw::new(FlawKind::Unknown, what));
    }

    /// Ends the observation whose first byte is at `at`.
    pub(crate) fn end(&mut self, at: usize) -> Result<(), DecodeError> {
        let ended = self.builder.end();
        ended.map_err(|error| DecodeError::meaning(at, error.to_string()))
    }
}

/// A finite number, or the error at `at`.
pub(crate) fn finite(number: f64, at: usize) -> Result<f64, DecodeError> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(DecodeError::not_finite(at, number))
    }
}

/// Sets the result to a number that was read, or to null where that is no finite one.
#[inline]
pub(crate) fn set_number(
    out: &mut BatchBuilder,
    read: Result<f64, DecodeError>,
) -> Result<(), DecodeError> {
    match read {
        Ok(number) => out.value(Value::Number(number)),
        Err(error) => set_null_for(out, error)?,
    }
    Ok(())
}

/// Null stands for a number that is no finite one, and its quality says which; any other error stays.
#[cold]
fn set_null_for(out: &mut BatchBuilder, error: DecodeError) -> Result<(), DecodeError> {
    let Fault::NotFinite(which) = error.fault else {
        return Err(error);
    };
    out.value(Value::Null);
    out.extra(Extra {
        quality: Some(which),
        ..Extra::default()
    });
    let what = format!("{which} at byte {} is null", error.at);
    out.note(FlawKind::NotFinite, what);
    Ok(())
}

/// Members of an observation that were met: what one that stands there twice means, nobody can tell (RFC 8259 section
/// 4; RFC 7493 section 2.3).
#[derive(Clone, Copy, Default)]
pub(crate) struct MemberSet(u32);

impl MemberSet {
    /// Whether the member of this number, below 32, was met before.
    #[inline]
    pub(crate) fn is_again(&mut self, member: u32) -> bool {
        let bit = 1 << member;
        let again = self.0 & bit != 0;
        self.0 |= bit;
        again
    }
}

/// Refuses a name that stands there twice, or notes that what is read last counts.
#[cold]
pub(crate) fn check_again(
    name: &str,
    at: usize,
    rows: &mut BatchBuilder,
) -> Result<(), DecodeError> {
    let what = stands_twice(name);
    if !rows.is_forgiving() {
        return Err(DecodeError::meaning(at, what));
    }
    rows.note(FlawKind::Member, format!("{what}: the last one counts"));
    Ok(())
}

impl Deref for Rows<'_> {
    type Target = BatchBuilder;
    fn deref(&self) -> &BatchBuilder {
        self.builder
    }
}

impl DerefMut for Rows<'_> {
    fn deref_mut(&mut self) -> &mut BatchBuilder {
        self.builder
    }
}

/// Refuses a message that is too long before it is looked at.
pub(crate) fn check_length(bytes: &[u8], limits: &Limits) -> Result<(), DecodeError> {
    if bytes.len() > limits.message_bytes {
        Err(DecodeError::over(
            limits.message_bytes,
            "bytes of a message",
            limits.message_bytes,
        ))
    } else {
        Ok(())
    }
}

/// Takes a message as text.
pub(crate) fn utf8<'a>(bytes: &'a [u8], limits: &Limits) -> Result<&'a str, DecodeError> {
    check_length(bytes, limits)?;
    core::str::from_utf8(bytes).map_err(|error| match error.error_len() {
        // A character is begun and not ended.
        None => DecodeError::truncated(bytes.len()),
        Some(_) => DecodeError::expected(error.valid_up_to(), "UTF-8"),
    })
}

/// The mark that some put before UTF-8, which is no part of the text.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A message without a byte order mark before it, and how many bytes that is.
pub(crate) fn without_mark(bytes: &[u8]) -> (&[u8], usize) {
    match bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()) {
        Some(rest) => (rest, BYTE_ORDER_MARK.len()),
        None => (bytes, 0),
    }
}

/// Whether the first byte of a text that is no space is one of these.
pub(crate) fn begins_with(text: &[u8], any: &[u8]) -> bool {
    let first = without_mark(text).0.trim_ascii_start().first();
    first.is_some_and(|first| any.contains(first))
}

/// Reads a message as text, without a byte order mark before it; errors are counted from the message's beginning.
pub(crate) fn read_text(
    bytes: &[u8],
    limits: &Limits,
    read: impl FnOnce(&str) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    let (bytes, mark) = without_mark(bytes);
    let read = utf8(bytes, limits).and_then(read);
    read.map_err(|error| error.after(mark))
}

/// A text that never ends with NUL, as it is where a sender in C counts the end of its string in.
pub(crate) fn without_end(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0);
    &bytes[..end.map_or(0, |last| last + 1)]
}

/// Reads as [`read_text`] does a text that never ends with NUL.
pub(crate) fn read_terminated_text(
    bytes: &[u8],
    limits: &Limits,
    read: impl FnOnce(&str) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    read_text(without_end(bytes), limits, read)
}
