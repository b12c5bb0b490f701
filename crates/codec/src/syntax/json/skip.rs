//! What stands next read over, and each object looked through for a name that stands there twice.

use super::{Found, Json};
use crate::error::DecodeError;
use crate::names::Names;
use crate::syntax::{Key, Kind, Open, Pull};
use alloc::borrow::Cow;

impl<'a> Json<'a> {
    pub(super) fn skip_number(&mut self) -> Result<(), DecodeError> {
        match self.expect_decimal() {
            Err(error) if !error.is_of_a_number() => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn skip_map(&mut self) -> Result<(), DecodeError> {
        let mut map = self.map()?;
        while self.key(&mut map)?.is_some() {
            self.skip()?;
        }
        Ok(())
    }

    pub(super) fn skip_array(&mut self) -> Result<(), DecodeError> {
        let mut array = self.array()?;
        while self.item(&mut array)? {
            self.skip()?;
        }
        Ok(())
    }

    /// The next member's name, which is refused if it is among the names met; `None` ends the map.
    pub(crate) fn new_key(
        &mut self,
        map: &mut Open,
        names: &mut Names<'a>,
    ) -> Result<Option<Key<'_>>, DecodeError> {
        if !self.before_name(map)? {
            return Ok(None);
        }
        let name = self.string()?;
        self.expect(b':', "a colon")?;
        let kept = match name {
            Found::Plain(from, to) => Cow::Borrowed(&self.text[from..to]),
            Found::Unescaped => Cow::Owned(self.found(&name).into()),
        };
        let at = self.at();
        names.take(kept, at)?;
        Ok(Some(Key::Text(self.found(&name))))
    }

    /// Reads over what stands next, in no object of which a name stands twice.
    pub(super) fn skip_checked(&mut self) -> Result<(), DecodeError> {
        match self.peek()? {
            Kind::Map => {
                let (mut map, mut names) = (self.map()?, Names::default());
                while self.new_key(&mut map, &mut names)?.is_some() {
                    self.skip_checked()?;
                }
            }
            Kind::Array => {
                let mut array = self.array()?;
                while self.item(&mut array)? {
                    self.skip_checked()?;
                }
            }
            _ => self.skip()?,
        }
        Ok(())
    }
}
