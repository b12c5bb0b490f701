//! Comments, processing instructions, the document type and references to entities.

use super::Writer;
use super::names::ncname;
use crate::error::ErrorKind;
use crate::event::Event;
use crate::limits::Limits;
use crate::xml::chars::is_char;
use crate::xml::doctype::{Doctype, Entity, lines};
use crate::xml::entity::predefined;
use crate::xml::scan::Scan;
use alloc::string::String;
use alloc::vec::Vec;

/// What a document type declaration begins with.
const DOCTYPE: &str = "<!DOCTYPE";

impl Writer {
    /// Writes what is neither an element nor of one.
    pub(super) fn misc(&mut self, event: &Event<'_>, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        match *event {
            Event::Comment(text) => {
                if text.contains("--") || text.ends_with('-') {
                    return Err(ErrorKind::Xml("no -- in a comment"));
                }
                plain(&["<!--", text, "-->"], out)
            }
            Event::ProcessingInstruction { target, data } => instruction(target, data, out),
            Event::EntityReference(name) => {
                self.within_element()?;
                self.reference(name, out)
            }
            Event::DocType {
                name,
                public,
                system,
                text,
            } => self.doctype(name, public, system, text, out),
            _ => Ok(()),
        }
    }

    /// Writes a reference to an entity that can be there (XML 1.0 section 4.1, Entity Declared and
    /// Parsed Entity).
    fn reference(&self, name: &str, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        ncname(name)?;
        let entity = self.doctype.as_ref().and_then(|doctype| {
            let id = doctype.entity(name)?;
            doctype.entities.get(id)
        });
        let partial = self.doctype.as_ref().map_or(self.fragment, |d| d.partial);
        match entity {
            Some(Entity::Unparsed) => Err(ErrorKind::Xml("no reference to an unparsed entity")),
            None if !partial && predefined(name).is_none() => {
                Err(ErrorKind::Xml("an entity that is declared"))
            }
            _ => plain(&["&", name, ";"], out),
        }
    }

    fn doctype(
        &mut self,
        name: &str,
        public: &str,
        system: &str,
        text: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorKind> {
        if self.rooted || self.doctype.is_some() {
            return Err(ErrorKind::NotAllowed(
                "a document type after another one or after an element",
            ));
        }
        let written = declaration(name, public, system, text);
        let doctype = read_again(&written)?;
        let mut identifier = public.split_ascii_whitespace();
        let same = doctype.name == name
            && doctype.public.split_ascii_whitespace().eq(&mut identifier)
            && doctype.system == lines(system)
            && doctype.subset == lines(text);
        if !same {
            return Err(ErrorKind::Xml("a document type declaration"));
        }
        plain(&[&written], out)?;
        self.doctype = Some(doctype);
        Ok(())
    }
}

/// The declaration as text.
fn declaration(name: &str, public: &str, system: &str, text: &str) -> String {
    let quote = if system.contains('"') { "'" } else { "\"" };
    let external = match (public, system) {
        ("", "") => String::new(),
        ("", system) => [" SYSTEM ", quote, system, quote].concat(),
        (public, system) => [" PUBLIC \"", public, "\" ", quote, system, quote].concat(),
    };
    let subset = match text {
        "" => String::new(),
        text => [" [", text, "]"].concat(),
    };
    [DOCTYPE, " ", name, &external, &subset, ">"].concat()
}

/// Reads a declaration as everybody else will: it must be one, and end where it ends.
fn read_again(written: &str) -> Result<Doctype, ErrorKind> {
    let mut scan = Scan::new(written, DOCTYPE.len());
    let doctype = Doctype::read(&mut scan, &Limits::default());
    match doctype {
        Ok(doctype) if scan.at == written.len() => Ok(doctype),
        _ => Err(ErrorKind::Xml("a document type declaration")),
    }
}

fn instruction(target: &str, data: &str, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    ncname(target)?;
    if target.eq_ignore_ascii_case("xml") {
        return Err(ErrorKind::Xml("no processing instruction named xml"));
    }
    if data.contains("?>") {
        return Err(ErrorKind::Xml("no ?> in a processing instruction"));
    }
    let space = if data.is_empty() { "" } else { " " };
    plain(&["<?", target, space, data, "?>"], out)
}

fn plain(parts: &[&str], out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    for part in parts {
        if !part.chars().all(is_char) {
            return Err(ErrorKind::Xml("a character that XML allows"));
        }
        out.extend_from_slice(part.as_bytes());
    }
    Ok(())
}
