//! Steps that every vocabulary takes through a document.

use crate::error::DecodeError;
use crate::infoset::{Event, Pull};
use alloc::string::String;

/// Goes to an element's content; says whether there is any.
pub(crate) fn enter(pull: &mut impl Pull) -> Result<bool, DecodeError> {
    loop {
        match pull.next()? {
            Event::Attribute(_) => {}
            Event::Content => return Ok(true),
            Event::End => return Ok(false),
            _ => return Err(DecodeError::expected(pull.at(), "text and no element")),
        }
    }
}

/// Leaves an element behind its content.
pub(crate) fn leave(pull: &mut impl Pull) -> Result<(), DecodeError> {
    match pull.next()? {
        Event::End => Ok(()),
        _ => Err(DecodeError::expected(pull.at(), "text and no element")),
    }
}

/// The text of an element just begun, up to its end.
pub(crate) fn text(pull: &mut impl Pull) -> Result<String, DecodeError> {
    let mut text = String::new();
    loop {
        match pull.next()? {
            Event::Attribute(_) => {}
            Event::Content => text.push_str(pull.text()),
            Event::End => return Ok(text),
            _ => return Err(DecodeError::expected(pull.at(), "text and no element")),
        }
    }
}

/// Reads over the rest of an element just begun.
pub(crate) fn skip(pull: &mut impl Pull) -> Result<(), DecodeError> {
    let mut depth = 1;
    while depth > 0 {
        match pull.next()? {
            Event::Start(_) => depth += 1,
            Event::End => depth -= 1,
            _ => {}
        }
    }
    Ok(())
}
