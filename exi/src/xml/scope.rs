//! The prefixes that a written document has bound so far, and the names written with them.

use super::namespaces::XML_URI;
use crate::event::NameHint;
use alloc::string::String;
use alloc::vec::Vec;

/// A prefix bound to a namespace.
#[derive(Debug)]
struct Binding {
    prefix: String,
    uri: String,
    depth: u32,
    /// Differs for every binding ever made.
    serial: u64,
}

/// A name as it was written the last time.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The binding that was the last one then; 0 is never one.
    serial: u64,
    prefix_len: usize,
    name: String,
}

/// The bindings in scope.
#[derive(Debug)]
pub(super) struct Scope {
    bindings: Vec<Binding>,
    /// Bindings that are out of scope, kept for their memory.
    spare: Vec<Binding>,
    serial: u64,
    /// The serial of the last binding when the document began.
    since: u64,
    generated: u32,
    /// Names of elements, names of attributes, by hint.
    known: [Vec<Known>; 2],
}

/// Names remembered by their hints, at most.
pub(super) const KNOWN_MAX: u32 = 1 << 16;

impl Scope {
    pub(super) fn new() -> Self {
        let (bindings, spare, known) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        let mut scope = Self {
            bindings,
            spare,
            serial: 0,
            since: 0,
            generated: 0,
            known,
        };
        scope.bind("", "", 0);
        scope.bind("xml", XML_URI, 0);
        scope
    }

    /// Binds a prefix within the element at a depth.
    pub(super) fn bind(&mut self, prefix: &str, uri: &str, depth: u32) {
        self.serial += 1;
        let empty = || Binding {
            prefix: String::new(),
            uri: String::new(),
            depth: 0,
            serial: 0,
        };
        let mut binding = self.spare.pop().unwrap_or_else(empty);
        binding.prefix.clear();
        binding.prefix.push_str(prefix);
        binding.uri.clear();
        binding.uri.push_str(uri);
        (binding.depth, binding.serial) = (depth, self.serial);
        self.bindings.push(binding);
    }

    /// Takes back what was bound at a depth.
    #[inline]
    pub(super) fn leave(&mut self, depth: u32) {
        while let Some(binding) = self.bindings.pop_if(|binding| binding.depth >= depth) {
            self.spare.push(binding);
        }
    }

    /// The declarations made at a depth.
    pub(super) fn declared(&self, depth: u32) -> impl Iterator<Item = (&str, &str)> {
        let made = self
            .bindings
            .iter()
            .rev()
            .take_while(move |binding| binding.depth >= depth)
            .count();
        let from = self.bindings.len() - made;
        self.bindings[from..]
            .iter()
            .map(|binding| (binding.prefix.as_str(), binding.uri.as_str()))
    }

    /// What a prefix is bound to.
    pub(super) fn of(&self, prefix: &str) -> Option<&str> {
        let found = self
            .bindings
            .iter()
            .rev()
            .find(|binding| binding.prefix == prefix);
        found.map(|binding| binding.uri.as_str())
    }

    /// Whether a prefix was bound at a depth.
    pub(super) fn is_declared(&self, prefix: &str, depth: u32) -> bool {
        self.declared(depth).any(|(declared, _)| declared == prefix)
    }

    /// The prefix bound last to a namespace, and not bound again since; attributes need one with letters.
    pub(super) fn prefix_of(&self, uri: &str, attribute: bool) -> Option<&str> {
        let candidates = self
            .bindings
            .iter()
            .rev()
            .filter(|binding| binding.uri == uri);
        let usable = candidates.map(|binding| binding.prefix.as_str());
        let mut usable = usable.filter(|prefix| !(attribute && prefix.is_empty()));
        usable.find(|prefix| self.of(prefix) == Some(uri))
    }

    /// A prefix that is bound to nothing.
    pub(super) fn fresh(&mut self) -> String {
        loop {
            let prefix = alloc::format!("ns{}", self.generated);
            self.generated += 1;
            if self.of(&prefix).is_none() {
                return prefix;
            }
        }
    }

    /// Begins another document: hints mean other names in it, and generated prefixes are counted anew.
    pub(super) fn restart(&mut self) {
        self.leave(1);
        self.generated = 0;
        self.serial += 1;
        self.since = self.serial;
        if let Some(last) = self.bindings.last_mut() {
            last.serial = self.serial;
        }
    }

    fn top(&self) -> u64 {
        self.bindings.last().map_or(0, |binding| binding.serial)
    }

    /// The name with this hint as it was written in this very scope.
    #[inline]
    pub(super) fn known(
        &self,
        hint: NameHint,
        prefix: Option<&str>,
        attribute: bool,
    ) -> Option<&str> {
        let known = self.known[usize::from(attribute)].get(hint.0 as usize)?;
        let same = known.serial == self.top()
            && prefix.is_none_or(|prefix| {
                prefix.len() == known.prefix_len && known.name.starts_with(prefix)
            });
        same.then_some(known.name.as_str())
    }

    /// Whether the name with this hint was written in this document, in whatever scope.
    pub(super) fn was_written(&self, hint: NameHint, attribute: bool) -> bool {
        let known = self.known[usize::from(attribute)].get(hint.0 as usize);
        known.is_some_and(|known| known.serial > 0 && known.serial >= self.since)
    }

    /// Remembers how a name is written in this scope.
    pub(super) fn remember(
        &mut self,
        hint: NameHint,
        prefix_len: usize,
        name: &str,
        attribute: bool,
    ) {
        if hint.0 >= KNOWN_MAX {
            return;
        }
        let (index, serial) = (hint.0 as usize, self.top());
        let all = &mut self.known[usize::from(attribute)];
        if all.len() <= index {
            all.resize(index + 1, Known::default());
        }
        let known = &mut all[index];
        (known.serial, known.prefix_len) = (serial, prefix_len);
        known.name.clear();
        known.name.push_str(name);
    }
}
