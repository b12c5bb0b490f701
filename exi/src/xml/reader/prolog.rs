//! What stands before and after the root element: the XML declaration, the document type, comments and
//! processing instructions (XML 1.0 section 2.8).

use super::{Found, Input, Settings, State, Step};
use crate::xml::doctype::Doctype;
use crate::xml::error::XmlError;
use crate::xml::scan::Scan;
use crate::xml::source::Source;

impl State {
    pub(super) fn begin(&mut self, input: Input<'_>) -> Result<Found, XmlError> {
        let mut scan = Scan::new(&input.source.text, 0);
        declaration(&mut scan)?;
        self.at = scan.at;
        self.step = Step::Prolog;
        Ok(Found::StartDocument)
    }

    pub(super) fn prolog(
        &mut self,
        source: &Source<'_>,
        doctype: &mut Doctype,
        settings: &Settings,
    ) -> Result<Found, XmlError> {
        loop {
            if let Some(found) = self.misc(&source.text, settings)? {
                return Ok(found);
            }
            let mut scan = Scan::new(&source.text, self.at);
            self.event_at = scan.at;
            if scan.accept("<!DOCTYPE") {
                if !doctype.name.is_empty() {
                    return Err(XmlError::expected(self.at, "one document type only"));
                }
                *doctype = Doctype::read(&mut scan, &settings.limits)?;
                self.at = scan.at;
                if settings.preserve.dtd {
                    return Ok(Found::DocType);
                }
                continue;
            }
            return match scan.peek() {
                Some(b'<') => self.start_tag(Input {
                    source,
                    doctype,
                    settings,
                }),
                None if settings.fragment => Ok(self.end()),
                _ => Err(scan.expected("an element")),
            };
        }
    }

    pub(super) fn epilog(&mut self, input: Input<'_>) -> Result<Found, XmlError> {
        let text = &*input.source.text;
        if let Some(found) = self.misc(text, input.settings)? {
            return Ok(found);
        }
        let scan = Scan::new(text, self.at);
        self.event_at = scan.at;
        match scan.peek() {
            None => Ok(self.end()),
            Some(b'<') if input.settings.fragment => self.start_tag(input),
            Some(_) => Err(scan.expected("the end of the document")),
        }
    }

    fn end(&mut self) -> Found {
        self.step = Step::Done;
        Found::EndDocument
    }

    /// Passes white space, comments and processing instructions; gives those that are asked for.
    fn misc(&mut self, text: &str, settings: &Settings) -> Result<Option<Found>, XmlError> {
        let mut scan = Scan::new(text, self.at);
        loop {
            scan.space();
            self.event_at = scan.at;
            self.at = scan.at;
            let found = if scan.accept("<!--") {
                let (start, end) = Self::comment(&mut scan)?;
                let wanted = settings.preserve.comments;
                wanted.then(|| Found::Comment(self.normalized(text, start, end)))
            } else if scan.accept("<?") {
                let (target, (start, end)) = Self::instruction(&mut scan)?;
                let wanted = settings.preserve.processing_instructions;
                wanted.then(|| Found::Instruction(target, self.normalized(text, start, end)))
            } else {
                return Ok(None);
            };
            self.at = scan.at;
            if found.is_some() {
                return Ok(found);
            }
        }
    }
}

/// Passes the XML declaration, if there is one (production 23).
fn declaration(scan: &mut Scan<'_>) -> Result<(), XmlError> {
    let mut inner = *scan;
    if !inner.accept("<?xml") || !inner.space() {
        return Ok(());
    }
    inner.expect("version")?;
    let (at, version) = pair(&mut inner)?;
    let digits = version.strip_prefix("1.").unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(XmlError::expected(at, "version 1.0"));
    }
    let mut spaced = inner.space();
    if spaced && inner.accept("encoding") {
        pair(&mut inner)?;
        spaced = inner.space();
    }
    if spaced && inner.accept("standalone") {
        let (at, standalone) = pair(&mut inner)?;
        if standalone != "yes" && standalone != "no" {
            return Err(XmlError::expected(at, "yes or no"));
        }
        inner.space();
    }
    inner.expect("?>")?;
    *scan = inner;
    Ok(())
}

/// Passes `="value"`.
fn pair<'t>(scan: &mut Scan<'t>) -> Result<(usize, &'t str), XmlError> {
    scan.space();
    scan.expect("=")?;
    scan.space();
    scan.quoted("a value in quotes")
}
