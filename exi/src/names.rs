//! The partitions for namespaces, prefixes and local names (EXI 1.0 section 7.3), with names
//! resolved to dense identifiers.
//!
//! Everything only grows, so going back, to the start of a stream or of an event, is truncation. A
//! self-contained element begins anew with the initial entries: those of its surroundings are hidden
//! then, not copied (section 8.5.4.4.1).

use alloc::string::String;
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::fault::{Fault, Result};
use crate::grammar::SchemaParts;
use crate::limits::{Limit, Limits};
use crate::stored::Span;

/// No such thing.
pub(crate) const NONE: u32 = u32::MAX;

/// Identifiers of names that every stream has.
pub(crate) const XSI: u32 = 2;

/// One (uri, local name).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    pub(crate) uri: u32,
    pub(crate) uri_text: Span,
    /// Compact identifier in the local-name partition of the uri.
    pub(crate) local: u32,
    pub(crate) text: Span,
    /// Its value partition, if it has one.
    pub(crate) partition: u32,
    /// Its built-in element grammar, if it has one.
    pub(crate) grammar: u32,
    /// Its channel in the current block, if it has one.
    pub(crate) channel: u32,
}

#[derive(Debug, Clone, Default)]
struct Uri {
    text: Span,
    /// Its initial names, which stand one after the other, and those added since.
    first: u32,
    locals_base: u32,
    locals: Vec<u32>,
    prefixes: Vec<u32>,
    prefixes_base: u32,
}

impl Uri {
    /// Another one, empty, in the same memory.
    fn renamed(mut self, text: Span) -> Self {
        self.locals.clear();
        self.prefixes.clear();
        Self { text, ..self }
    }

    /// The same as it was at the start of the stream.
    fn initial(&self) -> Self {
        Self {
            locals: Vec::new(),
            prefixes: self.prefixes[..self.prefixes_base as usize].to_vec(),
            ..*self
        }
    }

    /// The names of its partition in the order of their compact identifiers.
    fn names(&self) -> impl Iterator<Item = u32> {
        let initial = self.first..self.first + self.locals_base;
        initial.chain(self.locals.iter().copied())
    }
}

/// The three kinds of partitions.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    text: String,
    uris: Vec<Uri>,
    /// Uris that are gone, for their memory.
    spare: Vec<Uri>,
    names: Vec<Name>,
    prefixes: Vec<Span>,
    base: Mark,
    /// Changes with every addition.
    version: u32,
    hasher: DefaultHashBuilder,
    index: HashTable<u32>,
    /// Whether names are looked up by their text, which only encoders need.
    indexed: bool,
    /// Names from here on are seen, besides the initial ones.
    own_from: u32,
    /// Initial names that have a value partition or a grammar; some may be there twice.
    touched: Vec<u32>,
    /// xsi:nil and xsi:type.
    pub(crate) xsi_nil: u32,
    pub(crate) xsi_type: u32,
}

/// How much there was at some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    text: usize,
    uris: usize,
    names: usize,
    prefixes: usize,
    version: u32,
}

/// What is hidden within a self-contained element.
#[derive(Debug)]
pub(crate) struct Hidden {
    uris: Vec<Uri>,
    own_from: u32,
    /// Initial names with their value partitions and grammars.
    states: Vec<(u32, u32, u32)>,
    /// How much there was.
    mark: Mark,
}

/// What schema-less streams begin with (appendix D).
const INITIAL: [(&str, &[&str], &[&str]); 3] = [
    ("", &[""], &[]),
    (
        "http://www.w3.org/XML/1998/namespace",
        &["xml"],
        &["base", "id", "lang", "space"],
    ),
    (
        "http://www.w3.org/2001/XMLSchema-instance",
        &["xsi"],
        &["nil", "type"],
    ),
];

impl Names {
    /// The partitions at the start of a stream with or without a schema.
    pub(crate) fn new(schema: Option<&SchemaParts>, indexed: bool) -> Self {
        let mut names = Self {
            text: String::new(),
            uris: Vec::new(),
            spare: Vec::new(),
            names: Vec::new(),
            prefixes: Vec::new(),
            base: Mark::default(),
            version: 0,
            hasher: DefaultHashBuilder::default(),
            index: HashTable::new(),
            indexed,
            own_from: 0,
            touched: Vec::new(),
            xsi_nil: NONE,
            xsi_type: NONE,
        };
        match schema {
            None => INITIAL.iter().for_each(|(uri, prefixes, locals)| {
                names.populate(uri, prefixes.iter().copied(), locals.iter().copied());
            }),
            Some(parts) => parts.uris.iter().for_each(|entry| {
                let (prefixes, locals) = (entry.prefixes.iter(), entry.locals.iter());
                names.populate(&entry.uri, prefixes.map(|s| &**s), locals.map(|s| &**s));
            }),
        }
        names.base = names.mark();
        let xsi = |local| names.find_in(XSI, local).unwrap_or(NONE);
        (names.xsi_nil, names.xsi_type) = (xsi("nil"), xsi("type"));
        names
    }

    fn populate<'t>(
        &mut self,
        uri: &str,
        prefixes: impl Iterator<Item = &'t str>,
        locals: impl Iterator<Item = &'t str>,
    ) {
        let id = self.uris.len() as u32;
        let text = self.push_text(uri);
        self.uris.push(Uri {
            text,
            ..Uri::default()
        });
        for prefix in prefixes {
            self.push_prefix(id, prefix);
        }
        let first = self.names.len() as u32;
        for local in locals {
            self.push_name(id, local);
        }
        let entry = &mut self.uris[id as usize];
        entry.first = first;
        entry.locals_base = self.names.len() as u32 - first;
        entry.locals.clear();
        entry.prefixes_base = entry.prefixes.len() as u32;
    }

    fn find_in(&self, uri: u32, local: &str) -> Option<u32> {
        let mut names = self.uris.get(uri as usize)?.names();
        names.find(|name| self.local(*name) == local)
    }

    fn push_text(&mut self, text: &str) -> Span {
        let at = self.text.len() as u32;
        self.text.push_str(text);
        Span {
            at,
            len: text.len() as u32,
        }
    }

    fn push_name(&mut self, uri: u32, local: &str) -> u32 {
        let text = self.push_text(local);
        self.add_name(uri, text)
    }

    fn add_name(&mut self, uri: u32, text: Span) -> u32 {
        let id = self.names.len() as u32;
        self.version += 1;
        let uri_text = self.uris[uri as usize].text;
        let local = self.locals_len(uri);
        self.uris[uri as usize].locals.push(id);
        let (partition, grammar, channel) = (NONE, NONE, NONE);
        self.names.push(Name {
            uri,
            uri_text,
            local,
            text,
            partition,
            grammar,
            channel,
        });
        if self.indexed {
            let hash = self.hash(uri, text.of(&self.text));
            let (names, text, hasher) = (&self.names, &self.text, &self.hasher);
            self.index.insert_unique(hash, id, |id| {
                let name = &names[*id as usize];
                hasher.hash_one((name.uri, name.text.of(text)))
            });
        }
        id
    }

    fn push_prefix(&mut self, uri: u32, prefix: &str) -> u32 {
        let text = self.push_text(prefix);
        let id = self.prefixes.len() as u32;
        self.prefixes.push(text);
        self.uris[uri as usize].prefixes.push(id);
        id
    }

    fn hash(&self, uri: u32, local: &str) -> u64 {
        self.hasher.hash_one((uri, local))
    }

    /// How much there is now.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            text: self.text.len(),
            uris: self.uris.len(),
            names: self.names.len(),
            prefixes: self.prefixes.len(),
            version: self.version,
        }
    }

    /// Whether anything was added since.
    #[inline]
    pub(crate) fn has_grown(&self, mark: &Mark) -> bool {
        self.version != mark.version
    }

    /// Goes back to an earlier state.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        if !self.has_grown(&mark) {
            return;
        }
        while self.names.len() > mark.names {
            self.pop_name();
        }
        self.prefixes.truncate(mark.prefixes);
        for uri in &mut self.uris {
            while uri
                .prefixes
                .last()
                .is_some_and(|prefix| *prefix as usize >= mark.prefixes)
            {
                uri.prefixes.pop();
            }
        }
        self.spare.extend(self.uris.drain(mark.uris..).rev());
        self.text.truncate(mark.text);
        self.version = mark.version;
    }

    /// Begins anew for a self-contained element: only the initial entries are seen, and these as at the
    /// start of the stream.
    pub(crate) fn hide(&mut self) -> Hidden {
        let initial = self.uris[..self.base.uris].iter().map(Uri::initial);
        let initial: Vec<_> = initial.collect();
        let mut states = Vec::new();
        for id in core::mem::take(&mut self.touched) {
            let name = &mut self.names[id as usize];
            states.push((id, name.partition, name.grammar));
            (name.partition, name.grammar) = (NONE, NONE);
        }
        let uris = core::mem::replace(&mut self.uris, initial);
        let own_from = core::mem::replace(&mut self.own_from, self.names.len() as u32);
        Hidden {
            uris,
            own_from,
            states,
            mark: self.mark(),
        }
    }

    /// Ends that: what was hidden is seen again, and what was added since is gone.
    pub(crate) fn unhide(&mut self, hidden: Hidden) {
        self.rewind(hidden.mark);
        for id in core::mem::take(&mut self.touched) {
            let name = &mut self.names[id as usize];
            (name.partition, name.grammar) = (NONE, NONE);
        }
        // The first state of a name that is there twice is the true one.
        for (id, partition, grammar) in hidden.states.into_iter().rev() {
            let name = &mut self.names[id as usize];
            (name.partition, name.grammar) = (partition, grammar);
            self.touched.push(id);
        }
        self.touched.reverse();
        (self.uris, self.own_from) = (hidden.uris, hidden.own_from);
    }

    /// Remembers that a name got its value partition or its grammar, if it is an initial one.
    pub(crate) fn touch(&mut self, name: u32) {
        if (name as usize) < self.base.names {
            self.touched.push(name);
        }
    }

    fn is_seen(&self, name: u32) -> bool {
        name >= self.own_from || (name as usize) < self.base.names
    }

    /// Goes back to the start of a stream, and keeps the memory.
    pub(crate) fn restart(&mut self) {
        // [EXI-7.3-1]
        self.rewind(self.base);
        self.touched.clear();
        for name in &mut self.names {
            (name.partition, name.grammar, name.channel) = (NONE, NONE, NONE);
        }
    }

    fn pop_name(&mut self) {
        let Some(name) = self.names.pop() else { return };
        let id = self.names.len() as u32;
        if self.indexed {
            let hash = self.hash(name.uri, name.text.of(&self.text));
            if let Ok(entry) = self.index.find_entry(hash, |other| *other == id) {
                entry.remove();
            }
        }
        self.uris[name.uri as usize].locals.pop();
    }

    /// Refuses to grow beyond the limits.
    pub(crate) fn check(&self, limits: &Limits) -> Result<()> {
        if self.text.len() as u64 > limits.table_bytes || self.text.len() > u32::MAX as usize / 2 {
            return Err(Fault::Limit(Limit::TableBytes));
        }
        let entries = self.names.len() + self.uris.len() + self.prefixes.len();
        if entries > limits.table_entries as usize + self.base.names {
            return Err(Fault::Limit(Limit::TableEntries));
        }
        Ok(())
    }

    pub(crate) fn uris_len(&self) -> u32 {
        self.uris.len() as u32
    }

    #[inline(always)]
    pub(crate) fn name(&self, name: u32) -> &Name {
        &self.names[name as usize]
    }

    pub(crate) fn name_mut(&mut self, name: u32) -> &mut Name {
        &mut self.names[name as usize]
    }

    #[inline]
    pub(crate) fn local(&self, name: u32) -> &str {
        self.names[name as usize].text.of(&self.text)
    }

    #[inline]
    pub(crate) fn uri(&self, uri: u32) -> &str {
        self.uris[uri as usize].text.of(&self.text)
    }

    pub(crate) fn prefix(&self, prefix: u32) -> &str {
        self.prefixes[prefix as usize].of(&self.text)
    }

    /// Names in the local-name partition of a namespace.
    pub(crate) fn locals_len(&self, uri: u32) -> u32 {
        let uri = &self.uris[uri as usize];
        uri.locals_base + uri.locals.len() as u32
    }

    /// The name with a compact identifier in the partition of a namespace.
    pub(crate) fn name_at(&self, uri: u32, local: u32) -> Result<u32> {
        let uri = self.uris.get(uri as usize).ok_or(Fault::Identifier)?;
        let Some(added) = local.checked_sub(uri.locals_base) else {
            return Ok(uri.first + local);
        };
        uri.locals
            .get(added as usize)
            .copied()
            .ok_or(Fault::Identifier)
    }

    /// Prefixes in the partition of a namespace.
    pub(crate) fn prefixes_of(&self, uri: u32) -> &[u32] {
        &self.uris[uri as usize].prefixes
    }

    /// The text that a reader appends to, and where it begins.
    pub(crate) fn append(&mut self, read: impl FnOnce(&mut String) -> Result<()>) -> Result<Span> {
        let at = self.text.len();
        if let Err(fault) = read(&mut self.text) {
            self.text.truncate(at);
            return Err(fault);
        }
        Ok(Span {
            at: at as u32,
            len: (self.text.len() - at) as u32,
        })
    }

    /// Adds a namespace whose text was appended.
    pub(crate) fn add_uri(&mut self, text: Span) -> u32 {
        self.version += 1;
        let spare = self.spare.pop().unwrap_or_default();
        self.uris.push(spare.renamed(text));
        // What goes back allocates nothing.
        self.spare.reserve(self.uris.len() - self.base.uris);
        self.uris.len() as u32 - 1
    }

    /// Adds a name whose text was appended.
    pub(crate) fn add_local(&mut self, uri: u32, text: Span) -> u32 {
        self.add_name(uri, text)
    }

    /// Adds a prefix whose text was appended.
    pub(crate) fn add_prefix(&mut self, uri: u32, text: Span) -> u32 {
        self.version += 1;
        let id = self.prefixes.len() as u32;
        self.prefixes.push(text);
        self.uris[uri as usize].prefixes.push(id);
        id
    }

    /// The namespace and the local part of a name.
    #[inline(always)]
    pub(crate) fn parts(&self, name: u32) -> (&str, &str) {
        let name = &self.names[name as usize];
        (name.uri_text.of(&self.text), name.text.of(&self.text))
    }

    /// The identifier of a namespace by its text.
    pub(crate) fn find_uri(&self, uri: &str) -> Option<u32> {
        (0..self.uris.len() as u32).find(|id| self.uri(*id) == uri)
    }

    /// The identifier of a name by its text.
    pub(crate) fn find(&self, uri: u32, local: &str) -> Option<u32> {
        if !self.indexed {
            return self.find_in(uri, local);
        }
        let same = |id: &u32| {
            self.names[*id as usize].uri == uri && self.local(*id) == local && self.is_seen(*id)
        };
        self.index.find(self.hash(uri, local), same).copied()
    }

    /// The compact identifier of a prefix in the partition of a namespace.
    pub(crate) fn find_prefix(&self, uri: u32, prefix: &str) -> Option<u32> {
        let position = self
            .prefixes_of(uri)
            .iter()
            .position(|id| self.prefix(*id) == prefix);
        position.map(|at| at as u32)
    }

    /// Adds a namespace.
    pub(crate) fn insert_uri(&mut self, uri: &str) -> u32 {
        let text = self.push_text(uri);
        self.add_uri(text)
    }

    /// Adds a name.
    pub(crate) fn insert(&mut self, uri: u32, local: &str) -> u32 {
        self.push_name(uri, local)
    }

    /// Adds a prefix to the partition of a namespace.
    pub(crate) fn insert_prefix(&mut self, uri: u32, prefix: &str) -> u32 {
        self.version += 1;
        self.push_prefix(uri, prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_self_contained_element_hides_comes_back() {
        let mut names = Names::new(None, true);
        let uri = names.insert_uri("u");
        let outer = names.insert(uri, "a");
        let space = names.find(1, "space").unwrap_or(NONE);
        names.name_mut(space).partition = 7;
        names.touch(space);
        let (before, entries) = (names.mark(), names.names.len());

        let hidden = names.hide();
        assert_eq!(
            (names.mark().text, names.names.len()),
            (before.text, entries)
        );
        assert_eq!((names.uris_len(), names.find_uri("u")), (3, None));
        assert_eq!(names.locals_len(1), 4);
        assert_eq!(names.name(space).partition, NONE);
        let again = names.insert_uri("v");
        assert_eq!(again, uri);
        assert_eq!(names.find(again, "a"), None);
        let inner = names.insert(again, "a");
        assert_eq!(names.find(again, "a"), Some(inner));
        assert_eq!(names.name_at(again, 0), Ok(inner));
        let added = names.insert(1, "inner");
        assert_eq!(names.name_at(1, 4), Ok(added));
        assert_eq!(names.name_at(1, 3), Ok(space));
        names.name_mut(space).partition = 1;
        names.touch(space);

        let deeper = names.hide();
        assert_eq!(names.find(1, "inner"), None);
        names.unhide(deeper);
        assert_eq!(names.find(1, "inner"), Some(added));
        assert_eq!(names.name(space).partition, 1);
        names.unhide(hidden);
        assert_eq!(names.mark(), before);
        assert_eq!(names.name(space).partition, 7);
        assert_eq!(names.find(1, "inner"), None);
        assert_eq!((names.find(uri, "a"), names.uri(uri)), (Some(outer), "u"));
    }
}
