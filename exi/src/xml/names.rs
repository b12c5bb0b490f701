//! Names met in a document, each kept once: as written (`gml:id`), and as (namespace, local name),
//! which has the number that events carry.
//!
//! A name costs one comparison where it follows the four names it followed the last time, as in records
//! of one kind, and one hash elsewhere.
//! What a name means is remembered with the namespace it was resolved in, so that it is looked up again
//! only where its prefix means something else.

use super::chars::{NAME_END, find};
use super::error::XmlError;
use super::scan::Scan;
use crate::limits::{Limit, Limits};
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

/// A name as written.
pub(super) type Tag = u32;
/// A prefix; see [`DEFAULT`], [`XML`], [`XMLNS`].
pub(super) type Prefix = u32;
/// A namespace.
pub(super) type Uri = u32;
/// A namespace and a local name.
pub(super) type Hint = u32;

/// No prefix.
pub(super) const DEFAULT: Prefix = 0;
/// The prefix `xml`.
pub(super) const XML: Prefix = 1;
/// The prefix `xmlns`.
pub(super) const XMLNS: Prefix = 2;

/// No prefix at all, not even the empty one.
const NOTHING: Prefix = Prefix::MAX;

/// A name as written, and what it meant the last time.
#[derive(Debug)]
struct Written {
    start: u32,
    len: u32,
    /// Offset of the local name in the name.
    local_at: u32,
    prefix: Prefix,
    /// The prefix that an attribute of this name declares, or [`NOTHING`].
    declares: Prefix,
    /// Number of the local name.
    local: u32,
    /// Namespace that it was resolved in, and the result.
    resolved: (Uri, Hint),
}

/// All names of a document.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The names as written, end to end.
    text: String,
    written: Vec<Written>,
    tags: HashTable<Tag>,
    hasher: DefaultHashBuilder,
    prefixes: HashMap<String, Prefix>,
    locals: HashMap<String, u32>,
    hints: HashMap<(Uri, u32), Hint>,
    /// The names met last, a byte of each, and which name followed such a row the last time.
    row: u32,
    followers: Vec<Tag>,
}

/// Rows told apart by [`Names::followers`].
const ROWS: usize = 256;

impl Names {
    pub(super) fn new() -> Self {
        let mut names = Self {
            followers: alloc::vec![0; ROWS],
            ..Self::default()
        };
        for (prefix, id) in [("", DEFAULT), ("xml", XML), ("xmlns", XMLNS)] {
            names.prefixes.insert(String::from(prefix), id);
        }
        names
    }

    /// Passes a name of an element or attribute.
    #[inline]
    pub(super) fn pass(&mut self, scan: &mut Scan<'_>, limits: &Limits) -> Result<Tag, XmlError> {
        let guess = self.followers[self.place()];
        let name = self.bytes(guess);
        let after = scan.rest().strip_prefix(name).and_then(<[u8]>::first);
        if after.is_some_and(|&byte| Scan::ends_name(byte)) && !name.is_empty() {
            scan.at += name.len();
            self.remember(guess);
            return Ok(guess);
        }
        self.find(scan, limits)
    }

    /// Where the follower of the names met last is kept.
    #[inline(always)]
    fn place(&self) -> usize {
        (self.row.wrapping_mul(0x9e37_79b1) >> 24) as usize % ROWS
    }

    #[inline(always)]
    fn remember(&mut self, tag: Tag) {
        self.row = self.row << 8 | tag & 0xff;
    }

    fn find(&mut self, scan: &mut Scan<'_>, limits: &Limits) -> Result<Tag, XmlError> {
        let start = scan.at;
        scan.at = find(scan.text.as_bytes(), start, NAME_END);
        if scan.peek().is_some_and(|byte| byte >= 0x80) {
            scan.at = start;
            scan.name()?;
        }
        if scan.at == start {
            return Err(scan.expected("a name"));
        }
        let tag = self.named(scan.since(start), start, limits)?;
        let place = self.place();
        self.followers[place] = tag;
        self.remember(tag);
        Ok(tag)
    }

    /// The number of a name as written, which stands at an offset.
    pub(super) fn named(
        &mut self,
        name: &str,
        at: usize,
        limits: &Limits,
    ) -> Result<Tag, XmlError> {
        let hash = self.hasher.hash_one(name);
        let (written, text) = (&self.written, &self.text);
        let known = self
            .tags
            .find(hash, |&tag| written_as(written, text, tag) == name)
            .copied();
        match known {
            Some(tag) => Ok(tag),
            None => self.add(name, at, hash, limits),
        }
    }

    /// Keeps a new name, once it is found to be one (Namespaces in XML, productions 7 to 11).
    #[cold]
    fn add(&mut self, name: &str, at: usize, hash: u64, limits: &Limits) -> Result<Tag, XmlError> {
        let mut scan = Scan::new(name, 0);
        let checked = qualified(&mut scan);
        let local_at = checked.map_err(|error| XmlError {
            at: at + error.at,
            ..error
        })?;
        let (tag, start) = (self.written.len() as u32, self.text.len());
        if tag >= limits.table_entries {
            return Err(XmlError::over(at, Limit::TableEntries));
        }
        if start as u64 + name.len() as u64 > limits.table_bytes.min(u64::from(u32::MAX)) {
            return Err(XmlError::over(at, Limit::TableBytes));
        }
        self.text.push_str(name);
        let prefix = self.prefix(name[..local_at].strip_suffix(':').unwrap_or_default());
        let local = self.local(&name[local_at..]);
        let declares = match (prefix, name) {
            (XMLNS, _) => self.prefix(&name[local_at..]),
            (_, "xmlns") => DEFAULT,
            _ => NOTHING,
        };
        let (start, len, local_at) = (start as u32, name.len() as u32, local_at as u32);
        let resolved = (u32::MAX, 0);
        self.written.push(Written {
            start,
            len,
            local_at,
            prefix,
            declares,
            local,
            resolved,
        });
        let (written, text, hasher) = (&self.written, &self.text, &self.hasher);
        let rehash = |&tag: &Tag| hasher.hash_one(written_as(written, text, tag));
        self.tags.insert_unique(hash, tag, rehash);
        Ok(tag)
    }

    /// The number of a prefix.
    pub(super) fn prefix(&mut self, prefix: &str) -> Prefix {
        let next = self.prefixes.len() as Prefix;
        *self.prefixes.entry_ref(prefix).or_insert(next)
    }

    /// The number of a prefix that was met before.
    pub(super) fn known_prefix(&self, prefix: &str) -> Option<Prefix> {
        self.prefixes.get(prefix).copied()
    }

    fn local(&mut self, local: &str) -> u32 {
        let next = self.locals.len() as u32;
        *self.locals.entry_ref(local).or_insert(next)
    }

    /// The number of a name in a namespace.
    #[inline]
    pub(super) fn resolve(&mut self, tag: Tag, uri: Uri) -> Hint {
        let Some(written) = self.written.get_mut(tag as usize) else {
            return 0;
        };
        if written.resolved.0 == uri {
            return written.resolved.1;
        }
        let next = self.hints.len() as Hint;
        let hint = *self.hints.entry((uri, written.local)).or_insert(next);
        written.resolved = (uri, hint);
        hint
    }

    /// The number of a name in a namespace that no tag wrote: of a value.
    pub(super) fn hint(&mut self, uri: Uri, local: &str) -> Hint {
        let local = self.local(local);
        let next = self.hints.len() as Hint;
        *self.hints.entry((uri, local)).or_insert(next)
    }

    /// How many numbers were given.
    pub(super) fn hint_count(&self) -> usize {
        self.hints.len()
    }

    /// The prefix of a name.
    #[inline]
    pub(super) fn prefix_of(&self, tag: Tag) -> Prefix {
        self.written
            .get(tag as usize)
            .map_or(DEFAULT, |written| written.prefix)
    }

    /// The prefix that an attribute of this name declares.
    #[inline]
    pub(super) fn declares(&self, tag: Tag) -> Option<Prefix> {
        let declares = self.written.get(tag as usize)?.declares;
        (declares != NOTHING).then_some(declares)
    }

    /// A name as written.
    #[inline]
    pub(super) fn as_written(&self, tag: Tag) -> &str {
        written_as(&self.written, &self.text, tag)
    }

    #[inline]
    pub(super) fn bytes(&self, tag: Tag) -> &[u8] {
        self.as_written(tag).as_bytes()
    }

    /// A name as its prefix and its local name.
    #[inline(always)]
    pub(super) fn parts(&self, tag: Tag) -> (&str, &str) {
        let Some(name) = self.written.get(tag as usize) else {
            return ("", "");
        };
        let (start, local) = (name.start as usize, (name.start + name.local_at) as usize);
        let prefix = start..local - usize::from(name.local_at > 0);
        let local = local..start + name.len as usize;
        (
            self.text.get(prefix).unwrap_or_default(),
            self.text.get(local).unwrap_or_default(),
        )
    }
}

#[inline]
fn written_as<'t>(written: &[Written], text: &'t str, tag: Tag) -> &'t str {
    let Some(name) = written.get(tag as usize) else {
        return "";
    };
    let start = name.start as usize;
    text.get(start..start + name.len as usize)
        .unwrap_or_default()
}

/// Reads a qualified name; gives the offset of its local name.
fn qualified(scan: &mut Scan<'_>) -> Result<usize, XmlError> {
    let whole = scan.text;
    let Some(colon) = whole.find(':') else {
        return scan.ncname().map(|_| 0);
    };
    let mut prefix = Scan::new(&whole[..colon], 0);
    prefix
        .ncname()
        .map_err(|_| XmlError::expected(0, "a name before the colon"))?;
    let mut local = Scan::new(whole, colon + 1);
    local
        .ncname()
        .map_err(|_| XmlError::expected(colon + 1, "a name after the colon"))?;
    Ok(colon + 1)
}
