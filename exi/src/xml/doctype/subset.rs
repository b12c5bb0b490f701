//! The declarations of an internal subset (XML 1.0 section 2.8, productions 28a to 29).

use super::content;
use super::{Declared, Doctype, Entity, external_id, lines, public_literal};
use crate::limits::{Limit, Limits};
use crate::xml::entity::Expansion;
use crate::xml::error::XmlError;
use crate::xml::scan::Scan;
use alloc::string::String;

/// Parameter entities within one another, at most.
const PARAMETER_DEPTH_MAX: usize = 16;

/// Reads declarations into a document type.
pub(in crate::xml) struct Declarations<'d, 't> {
    doctype: &'d mut Doctype,
    scan: Scan<'t>,
    limits: &'d Limits,
    /// Bytes of the parameter entities that were read in.
    expanded: u64,
    depth: usize,
}

impl<'d, 't> Declarations<'d, 't> {
    pub(in crate::xml) fn new(
        doctype: &'d mut Doctype,
        scan: Scan<'t>,
        limits: &'d Limits,
    ) -> Self {
        Self {
            doctype,
            scan,
            limits,
            expanded: 0,
            depth: 0,
        }
    }

    /// Where it is.
    pub(in crate::xml) const fn at(&self) -> usize {
        self.scan.at
    }

    /// Reads up to what is no declaration.
    pub(in crate::xml) fn read(&mut self) -> Result<(), XmlError> {
        loop {
            self.scan.space();
            match self.scan.peek() {
                Some(b'%') => self.parameter_reference()?,
                Some(b'<') => self.declaration()?,
                _ => return Ok(()),
            }
        }
    }

    fn declaration(&mut self) -> Result<(), XmlError> {
        if self.scan.accept("<!--") {
            self.scan.until("--")?;
            return self.scan.expect(">");
        }
        if self.scan.accept("<?") {
            self.scan.ncname()?;
            return self.scan.until("?>").map(drop);
        }
        if self.scan.accept("<!ENTITY") {
            self.entity()?;
        } else if self.scan.accept("<!ATTLIST") {
            self.attributes()?;
        } else if self.scan.accept("<!ELEMENT") {
            content::element(&mut self.scan)?;
        } else if self.scan.accept("<!NOTATION") {
            self.notation()?;
        } else {
            return Err(self.scan.expected("a declaration"));
        }
        self.scan.space();
        self.scan.expect(">")
    }

    /// Reads the declarations that a parameter entity holds (section 4.4.8).
    fn parameter_reference(&mut self) -> Result<(), XmlError> {
        let at = self.scan.at;
        self.scan.at += 1;
        let name = self.scan.ncname()?;
        self.scan.expect(";")?;
        let Some(Some(text)) = self.doctype.parameters.get(name).cloned() else {
            // One that is declared elsewhere may declare anything (section 5.1).
            self.doctype.partial = true;
            self.doctype.unread = true;
            return Ok(());
        };
        self.expanded += text.len() as u64;
        if self.expanded > self.limits.expanded_bytes {
            return Err(XmlError::over(at, Limit::ExpandedBytes));
        }
        if self.depth == PARAMETER_DEPTH_MAX {
            return Err(XmlError::expected(
                at,
                "parameter entities less deep in one another",
            ));
        }
        self.included(&text).map_err(|error| error.in_entity(at))
    }

    fn included(&mut self, text: &str) -> Result<(), XmlError> {
        let mut inner = Declarations {
            doctype: self.doctype,
            scan: Scan::new(text, 0),
            limits: self.limits,
            expanded: self.expanded,
            depth: self.depth + 1,
        };
        inner.read()?;
        self.expanded = inner.expanded;
        match inner.scan.at == text.len() {
            true => Ok(()),
            false => Err(inner.scan.expected("declarations alone")),
        }
    }

    /// Reads an entity's declaration (productions 70 to 76). The first one of a name binds.
    fn entity(&mut self) -> Result<(), XmlError> {
        self.scan.needs_space()?;
        let parameter = self.scan.accept("%");
        if parameter {
            self.scan.needs_space()?;
        }
        let name = String::from(self.scan.ncname()?);
        self.scan.needs_space()?;
        let entity = self.definition(parameter)?;
        if self.doctype.unread {
            return Ok(());
        }
        if !parameter {
            let id = self.doctype.entities.len();
            if *self.doctype.entity_ids.entry(name).or_insert(id) == id {
                self.doctype.entities.push(entity);
            }
            return Ok(());
        }
        let text = match entity {
            Entity::Internal(text) => Some(text),
            _ => None,
        };
        self.doctype.parameters.entry(name).or_insert(text);
        Ok(())
    }

    fn definition(&mut self, parameter: bool) -> Result<Entity, XmlError> {
        if matches!(self.scan.peek(), Some(b'"' | b'\'')) {
            return self.replacement().map(Entity::Internal);
        }
        external_id(&mut self.scan)?;
        let mut after = self.scan;
        if !parameter && after.space() && after.accept("NDATA") {
            after.needs_space()?;
            after.ncname()?;
            self.scan = after;
            return Ok(Entity::Unparsed);
        }
        Ok(Entity::External)
    }

    /// Reads an entity's value (production 9): character references are replaced, others stay
    /// (section 4.5).
    fn replacement(&mut self) -> Result<String, XmlError> {
        let (start, literal) = self.scan.quoted("an entity's value in quotes")?;
        let mut value = String::with_capacity(literal.len());
        let mut scan = Scan::new(&self.scan.text[..start + literal.len()], start);
        while let Some(len) = scan
            .rest()
            .iter()
            .position(|byte| matches!(byte, b'&' | b'%'))
        {
            let passed = scan.at;
            scan.at += len;
            value.push_str(&lines(scan.since(passed)));
            let reference = scan.at;
            if scan.accept("%") {
                return Err(XmlError::expected(
                    reference,
                    "no parameter entity within a declaration",
                ));
            }
            scan.at += 1;
            match scan.accept("#") {
                true => value.push(scan.character()?),
                false => {
                    scan.ncname()?;
                    scan.expect(";")?;
                    value.push_str(scan.since(reference));
                }
            }
        }
        value.push_str(&lines(&scan.text[scan.at..]));
        Ok(value)
    }

    /// Reads declarations of attributes (productions 52 and 53). The first one of a name binds.
    fn attributes(&mut self) -> Result<(), XmlError> {
        self.scan.needs_space()?;
        let element = String::from(self.scan.name()?);
        loop {
            let spaced = self.scan.space();
            if self.scan.peek() == Some(b'>') {
                return Ok(());
            }
            if !spaced {
                return Err(self.scan.expected("white space"));
            }
            let declared = self.attribute()?;
            if self.doctype.unread {
                continue;
            }
            let of_element = self.doctype.attributes.entry(element.clone()).or_default();
            if of_element.len() as u32 == self.limits.attributes {
                return Err(XmlError::over(self.scan.at, Limit::Attributes));
            }
            if of_element.iter().all(|other| other.name != declared.name) {
                of_element.push(declared);
            }
        }
    }

    fn attribute(&mut self) -> Result<Declared, XmlError> {
        let name = String::from(self.scan.name()?);
        self.scan.needs_space()?;
        let tokenized = self.attribute_type()?;
        self.scan.needs_space()?;
        let default = self.default_value(tokenized)?;
        Ok(Declared {
            name,
            tokenized,
            default,
        })
    }

    /// Reads a type (productions 54 to 59): whether it is another than `CDATA`.
    fn attribute_type(&mut self) -> Result<bool, XmlError> {
        if self.scan.peek() == Some(b'(') {
            content::choice(&mut self.scan)?;
            return Ok(true);
        }
        let at = self.scan.at;
        match self.scan.ncname()? {
            "CDATA" => Ok(false),
            "ID" | "IDREF" | "IDREFS" | "ENTITY" | "ENTITIES" | "NMTOKEN" | "NMTOKENS" => Ok(true),
            "NOTATION" => {
                self.scan.needs_space()?;
                content::choice(&mut self.scan)?;
                Ok(true)
            }
            _ => Err(XmlError::expected(at, "the type of an attribute")),
        }
    }

    /// Reads a default (production 60).
    fn default_value(&mut self, tokenized: bool) -> Result<Option<String>, XmlError> {
        if self.scan.accept("#REQUIRED") || self.scan.accept("#IMPLIED") {
            return Ok(None);
        }
        if self.scan.accept("#FIXED") {
            self.scan.needs_space()?;
        }
        let (at, literal) = self.scan.quoted("a default in quotes")?;
        let mut value = String::new();
        let mut expansion = Expansion::new(self.doctype, self.limits);
        expansion.attribute(
            Scan::new(&self.scan.text[..at + literal.len()], at),
            &mut value,
        )?;
        if tokenized {
            crate::xml::entity::collapse(&mut value, 0);
        }
        Ok(Some(value))
    }

    /// Reads a notation's declaration (production 82).
    fn notation(&mut self) -> Result<(), XmlError> {
        self.scan.needs_space()?;
        self.scan.ncname()?;
        self.scan.needs_space()?;
        if !self.scan.accept("PUBLIC") {
            return external_id(&mut self.scan).map(drop);
        }
        self.scan.needs_space()?;
        public_literal(&mut self.scan)?;
        let mut after = self.scan;
        if after.space() && matches!(after.peek(), Some(b'"' | b'\'')) {
            after.quoted("a system identifier in quotes")?;
            self.scan = after;
        }
        Ok(())
    }
}
