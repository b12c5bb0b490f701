//! Names of the members of an object, each of which may stand there once: what one that stands there twice means,
//! nobody can tell (RFC 8259 section 4, RFC 7493 section 2.3, RFC 8949 section 5.6).

use crate::error::DecodeError;
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

/// What is said of a name that stands in an object for the second time.
pub fn stands_twice(name: &str) -> String {
    format!("`{name}` stands there twice")
}

/// Names of one object that are kept without memory of their own.
const FEW: usize = 16;

/// The names of one object that were met.
#[derive(Default)]
pub(crate) struct Names<'a> {
    few: [&'a str; FEW],
    count: usize,
    /// Those behind the first, and those that stand nowhere as they are read.
    more: BTreeSet<Cow<'a, str>>,
}

impl<'a> Names<'a> {
    /// Takes the next name, or refuses one that was met; `at` is the place of what it names.
    pub(crate) fn take(&mut self, name: Cow<'a, str>, at: usize) -> Result<(), DecodeError> {
        if self.few[..self.count].contains(&&*name) || self.more.contains(&*name) {
            return Err(DecodeError::meaning(at, stands_twice(&name)));
        }
        match name {
            Cow::Borrowed(name) if self.count < FEW => {
                self.few[self.count] = name;
                self.count += 1;
            }
            name => drop(self.more.insert(name)),
        }
        Ok(())
    }
}
