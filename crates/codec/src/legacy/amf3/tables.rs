//! The tables of strings, objects and traits that references count through (section 2.2).
//!
//! A table keeps offsets, not values. What is read twice is entered once: definitions stand in the
//! order of their numbers, so one mark says up to where they are known.

use crate::error::DecodeError;
use crate::inline::Inline;
use crate::referred::Referred;
use crate::syntax::binary::Input;
use weir_model::Limits;

/// Where the strings, objects and traits met so far stand.
pub(crate) struct Tables {
    /// Begin and length of each.
    strings: Inline<(u32, u32), 192>,
    /// Offset of each one's marker.
    objects: Inline<u32, 192>,
    /// Offset of each one's head.
    traits: Inline<u32, 16>,
    /// What stands before this offset is entered.
    entered: usize,
    referred: Referred,
}

impl Tables {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            strings: Inline::default(),
            objects: Inline::default(),
            traits: Inline::default(),
            entered: 0,
            referred: Referred::new(limits),
        }
    }

    /// Says whether a definition at this offset is met for the first time.
    fn is_new(&mut self, at: usize) -> bool {
        let new = at >= self.entered;
        if new {
            self.entered = at + 1;
        }
        new
    }

    /// Enters the object whose marker stands at `at`.
    pub(crate) fn enter_object(&mut self, at: usize) {
        if self.is_new(at) {
            self.objects.push(at as u32);
        }
    }

    /// Enters the traits whose head stands at `at`.
    pub(crate) fn enter_traits(&mut self, at: usize) {
        if self.is_new(at) {
            self.traits.push(at as u32);
        }
    }

    fn enter_string(&mut self, at: usize, start: usize, len: usize) {
        if len > 0 && self.is_new(at) {
            self.strings.push((start as u32, len as u32));
        }
    }

    /// The marker of the object with this number.
    pub(crate) fn object(&self, index: u32, at: usize) -> Result<usize, DecodeError> {
        let what = "a reference to an object before it";
        let found = self.objects.get(index as usize);
        let found = found.filter(|&object| (object as usize) < at);
        found
            .map(|at| at as usize)
            .ok_or_else(|| DecodeError::expected(at, what))
    }

    /// The head of the traits with this number.
    pub(crate) fn traits(&self, index: u32, at: usize) -> Result<usize, DecodeError> {
        let what = "a reference to traits before it";
        let found = self.traits.get(index as usize);
        found
            .map(|at| at as usize)
            .ok_or_else(|| DecodeError::expected(at, what))
    }

    /// Reads a string without its marker; those met for the first time are entered.
    pub(crate) fn string<'a>(&mut self, input: &mut Input<'a>) -> Result<&'a str, DecodeError> {
        let at = input.at;
        let inline = u29(&mut input.clone())? & 1 == 1;
        let text = self.look_at_string(input)?;
        if inline {
            self.enter_string(at, input.at - text.len(), text.len());
            return Ok(text);
        }
        self.referred.take(text.len(), at)?;
        Ok(text)
    }

    /// Reads a string without its marker and enters none.
    pub(crate) fn look_at_string<'a>(&self, input: &mut Input<'a>) -> Result<&'a str, DecodeError> {
        let at = input.at;
        let head = u29(input)?;
        if head & 1 == 1 {
            return input.text(u64::from(head >> 1));
        }
        let what = "a reference to a string before it";
        let found = self.strings.get((head >> 1) as usize);
        let (start, len) = found.ok_or_else(|| DecodeError::expected(at, what))?;
        let bytes = input.bytes.get(start as usize..(start + len) as usize);
        // It was valid when it was entered.
        Ok(core::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default())
    }
}

/// Reads an integer of 29 bits: seven of each of three bytes, eight of the fourth (section 1.3.1).
pub(crate) fn u29(input: &mut Input<'_>) -> Result<u32, DecodeError> {
    let mut number = 0;
    for _ in 0..3 {
        let byte = input.take(1)?[0];
        number = number << 7 | u32::from(byte & 0x7F);
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Ok(number << 8 | u32::from(input.take(1)?[0]))
}
