//! Built-in element grammars, which learn (EXI 1.0 section 8.4.3).

use alloc::boxed::Box;
use alloc::vec::Vec;

use hashbrown::HashMap;

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
    /// Where each attribute and element that is used was learned last, once there are many; empty
    /// before.
    places: Option<Box<HashMap<Name, u32>>>,
}

/// An attribute (true) or an element of a name.
type Name = (bool, u32);

/// So many are looked through faster than they are hashed.
const LOOKED_THROUGH_MAX: usize = 32;

impl Productions {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.width = 0;
        self.ghosts_from = None;
        if let Some(places) = &mut self.places {
            places.clear();
        }
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

    /// The least event code of AT with a name.
    #[inline]
    pub(crate) fn find_attribute(&self, name: u32) -> Option<u32> {
        match self.placed() {
            None => self.find(|learned| *learned == Learned::Attribute(name)),
            Some(places) => self.code_of(*places.get(&(true, name))?),
        }
    }

    /// The least event code of SE with a name, and the grammar of the element.
    #[inline]
    pub(crate) fn find_element(&self, name: u32) -> Option<(u32, Target)> {
        let code = match self.placed() {
            None => self.find(
                |learned| matches!(learned, Learned::StartElement(other, _) if *other == name),
            )?,
            Some(places) => self.code_of(*places.get(&(false, name))?)?,
        };
        match self.get(code)? {
            Learned::StartElement(_, target) => Some((code, target)),
            _ => None,
        }
    }

    #[inline]
    fn placed(&self) -> Option<&HashMap<Name, u32>> {
        self.places.as_deref().filter(|places| !places.is_empty())
    }

    fn code_of(&self, index: u32) -> Option<u32> {
        (self.len() - 1).checked_sub(index)
    }

    /// Remembers where the last production is; the first time that there are many, where all are.
    #[cold]
    fn place(&mut self) {
        if self.ghosts_from.is_some_and(|from| from < self.list.len()) {
            return;
        }
        let begun = self.placed().map_or(0, |_| self.list.len() - 1);
        let places = self.places.get_or_insert_default();
        for (index, learned) in self.list.iter().enumerate().skip(begun) {
            let name = match learned {
                Learned::Attribute(name) => (true, *name),
                Learned::StartElement(name, _) => (false, *name),
                Learned::EndElement | Learned::Characters => continue,
            };
            places.insert(name, index as u32);
        }
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
        if self.list.len() > LOOKED_THROUGH_MAX {
            self.place();
        }
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
