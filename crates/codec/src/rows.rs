//! The door through which every decoder adds observations: counts them and gives errors a place.

use crate::error::DecodeError;
use alloc::string::ToString;
use core::ops::{Deref, DerefMut};
use weir_model::{BatchBuilder, Extra, KeptNames, Limits, Time};

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

    /// Ends the observation whose first byte is at `at`.
    pub(crate) fn end(&mut self, at: usize) -> Result<(), DecodeError> {
        let ended = self.builder.end();
        ended.map_err(|error| DecodeError::meaning(at, error.to_string()))
    }
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
    match bytes.len() > limits.message_bytes {
        true => Err(DecodeError::over(
            limits.message_bytes,
            "bytes of a message",
            limits.message_bytes,
        )),
        false => Ok(()),
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
