//! Built-in element grammars, which learn (EXI 1.0 section 8.4.3).

use alloc::vec::Vec;

use super::Target;
use crate::bits::width;

/// A production with an event code of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learned {
    Attribute(u32),
    StartElement(u32, Target),
    EndElement,
    Characters,
}

/// The productions of one left-hand side. New ones get event code 0 and push the others up, so they
/// are kept in reverse: the code of index i is `len - 1 - i`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Productions {
    list: Vec<Learned>,
    /// Kept, since every event asks for it.
    width: u8,
    has_characters: bool,
    has_end: bool,
    /// Productions from here on are there for others to count, and not used (EXI Profile).
    ghosts_from: Option<usize>,
}

impl Productions {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.width = 0;
        self.ghosts_from = None;
        (self.has_characters, self.has_end) = (false, false);
    }

    pub(crate) fn len(&self) -> u32 {
        self.list.len() as u32
    }

    /// Bits of the first part: all productions and one code that leads to the second part.
    #[inline(always)]
    pub(crate) fn width(&self) -> u32 {
        u32::from(self.width)
    }

    /// The production with an event code.
    #[inline(always)]
    pub(crate) fn get(&self, code: u32) -> Option<Learned> {
        let index = self.list.len().checked_sub(code as usize + 1)?;
        self.list.get(index).copied()
    }

    /// The least event code of a production that fits.
    #[inline]
    pub(crate) fn find(&self, fits: impl Fn(&Learned) -> bool) -> Option<u32> {
        let used = self.ghosts_from.unwrap_or(self.list.len());
        let index = self.list[..used].iter().rposition(fits)?;
        Some((self.list.len() - 1 - index) as u32)
    }

    /// Whether a production was learned, used or not.
    pub(crate) fn has(&self, production: Learned) -> bool {
        self.list.contains(&production)
    }

    pub(crate) fn find_characters(&self) -> Option<u32> {
        if !self.has_characters {
            return None;
        }
        self.find(|learned| *learned == Learned::Characters)
    }

    pub(crate) fn find_end(&self) -> Option<u32> {
        if !self.has_end {
            return None;
        }
        self.find(|learned| *learned == Learned::EndElement)
    }

    /// Uses no production that is learned from here on.
    pub(crate) fn stop(&mut self) {
        self.ghosts_from.get_or_insert(self.list.len());
    }

    /// Adds a production; CH and EE only once. Says whether it was added.
    pub(crate) fn learn(&mut self, production: Learned) -> bool {
        let known = match production {
            Learned::Characters => &mut self.has_characters,
            Learned::EndElement => &mut self.has_end,
            _ => &mut false,
        };
        if core::mem::replace(known, true) {
            return false;
        }
        self.list.push(production);
        self.width = width(self.len() + 1) as u8;
        true
    }
}

/// One grammar: StartTagContent and ElementContent.
#[derive(Debug, Clone)]
pub(crate) struct BuiltIn {
    pub(crate) start: Productions,
    pub(crate) content: Productions,
}

impl Default for BuiltIn {
    fn default() -> Self {
        let mut content = Productions::default();
        content.learn(Learned::EndElement);
        Self {
            start: Productions::default(),
            content,
        }
    }
}

impl BuiltIn {
    /// Whether it learned anything but AT(xsi:type), whose name is given.
    pub(crate) fn has_evolved(&self, xsi_type: u32) -> bool {
        let other = |learned: &Learned| *learned != Learned::Attribute(xsi_type);
        self.content.len() > 1 || self.start.list.iter().any(other)
    }

    pub(crate) fn clear(&mut self) {
        self.start.clear();
        self.content.clear();
        self.content.learn(Learned::EndElement);
    }
}
