//! Names and prefixes (EXI 1.0 sections 7.1.7 and 7.3).

use super::body::{Body, Known, write_plain};
use crate::bits::width;
use crate::event::QName;
use crate::fault::Result;
use crate::names::NONE;

impl Body {
    /// What is known of a name, by the producer's number if it has been seen.
    pub(super) fn lookup(&mut self, name: &QName<'_>) -> Known {
        let hint = name.hint.filter(|_| self.saved.is_empty());
        if let Some(hint) = hint
            && let Some(known) = self.hints.get(hint.0 as usize).copied()
            && known != NONE
        {
            return Known {
                uri: self.machine.names.name(known).uri,
                name: known,
            };
        }
        let names = &self.machine.names;
        let uri = names.find_uri(name.uri);
        let found = uri
            .and_then(|uri| names.find(uri, name.local))
            .unwrap_or(NONE);
        self.remember(name, found);
        Known {
            uri: uri.unwrap_or(NONE),
            name: found,
        }
    }

    pub(super) fn remember(&mut self, name: &QName<'_>, id: u32) {
        let Some(hint) = name.hint.filter(|_| self.saved.is_empty() && id != NONE) else {
            return;
        };
        let at = hint.0 as usize;
        if at < self.limits.table_entries as usize {
            if self.hints.len() <= at {
                self.hints.resize(at + 1, NONE);
            }
            self.hints[at] = id;
        }
    }

    /// Uri, local name and prefix (section 7.1.7).
    pub(super) fn write_qname(&mut self, name: &QName<'_>, known: Known) -> Result<u32> {
        let uri = self.write_uri(name.uri, known.uri);
        self.write_local(name, uri, known)
    }

    /// The uri partition is optimized for compact identifiers (section 7.3.2).
    pub(super) fn write_uri(&mut self, text: &str, known: u32) -> u32 {
        let names = &mut self.machine.names;
        let width = width(names.uris_len() + 1);
        if known != NONE {
            self.writer.n_bit(known + 1, width);
            return known;
        }
        self.writer.n_bit(0, width);
        write_plain(&mut self.writer, text, 0);
        names.insert_uri(text)
    }

    /// Local-name partitions are optimized for literals (section 7.3.3).
    pub(super) fn write_local(&mut self, name: &QName<'_>, uri: u32, known: Known) -> Result<u32> {
        let names = &mut self.machine.names;
        let id = if known.name != NONE {
            self.writer.unsigned(0);
            self.writer
                .n_bit(names.name(known.name).local, width(names.locals_len(uri)));
            known.name
        } else {
            write_plain(&mut self.writer, name.local, 1);
            names.insert(uri, name.local)
        };
        names.check(&self.limits)?;
        self.remember(name, id);
        self.write_prefix(name.prefix, uri);
        Ok(id)
    }

    /// The local name and prefix of a name whose uri the production has.
    pub(super) fn write_name_in_uri(&mut self, name: &QName<'_>, known: Known) -> Result<u32> {
        self.write_local(name, known.uri, known)
    }

    /// The prefix, if prefixes are preserved; one that is not known yet is that of a namespace
    /// declaration to come (section 7.1.7).
    pub(super) fn write_prefix(&mut self, prefix: Option<&str>, uri: u32) {
        if !self.options.preserve.prefixes {
            return;
        }
        let names = &self.machine.names;
        let count = names.prefixes_of(uri).len() as u32;
        // [EXI-7.1.7-1]
        let code = prefix
            .and_then(|prefix| names.find_prefix(uri, prefix))
            .unwrap_or(0);
        self.writer.n_bit(code, width(count));
    }
}
