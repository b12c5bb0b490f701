//! The attributes of a start tag: none may be there twice, whatever its prefix (Namespaces in XML
//! section 6.3).
//!
//! Equal names may come with different hints, since a stream may hold the same name in two entries of
//! its string table. So each is given a number by its text when it is new, and by its hint later.

use super::scope::KNOWN_MAX;
use crate::event::QName;
use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// Names of attributes, and the start tag that had each last.
#[derive(Debug, Default)]
pub(super) struct Unique {
    ids: HashMap<String, u32>,
    /// By hint, the number of a name and one more; 0 where it is not known.
    by_hint: Vec<u32>,
    /// By number, the start tag that had the name last.
    last: Vec<u64>,
    tag: u64,
    key: String,
}

impl Unique {
    /// Begins another document, in which hints mean other names.
    pub(super) fn restart(&mut self) {
        self.by_hint.clear();
        if self.ids.len() > KNOWN_MAX as usize {
            self.ids.clear();
            self.last.clear();
        }
    }

    /// Begins another start tag.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.tag += 1;
    }

    /// Whether the start tag has no attribute of this name yet; from now on it has.
    #[inline]
    pub(super) fn add(&mut self, name: &QName<'_>) -> bool {
        let hint = name.hint.map_or(usize::MAX, |hint| hint.0 as usize);
        let id = match self.by_hint.get(hint) {
            Some(&known) if known > 0 => known - 1,
            _ => self.id(name),
        };
        match self.last.get_mut(id as usize) {
            Some(last) => core::mem::replace(last, self.tag) != self.tag,
            None => true,
        }
    }

    #[inline(never)]
    fn id(&mut self, name: &QName<'_>) -> u32 {
        // A local name has no blank, so that the first one divides.
        self.key.clear();
        self.key.push_str(name.local);
        self.key.push(' ');
        self.key.push_str(name.uri);
        let id = match self.ids.get(&self.key) {
            Some(&id) => id,
            None => {
                let id = self.last.len() as u32;
                self.ids.insert(self.key.clone(), id);
                self.last.push(0);
                id
            }
        };
        if let Some(hint) = name.hint.filter(|hint| hint.0 < KNOWN_MAX) {
            let index = hint.0 as usize;
            if self.by_hint.len() <= index {
                self.by_hint.resize(index + 1, 0);
            }
            self.by_hint[index] = id + 1;
        }
        id
    }
}
