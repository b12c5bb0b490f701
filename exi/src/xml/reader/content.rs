//! What stands in elements: text, references, CDATA sections, comments, processing instructions
//! (XML 1.0 sections 2.4 to 2.7, 4.1, 4.4).

use super::{Found, Frame, Input, Span, State};
use crate::limits::Limit;
use crate::xml::chars::{CLASSES, TEXT_SPECIAL};
use crate::xml::doctype::Entity;
use crate::xml::entity::{ENTITY_DEPTH_MAX, enter, predefined};
use crate::xml::error::XmlError;
use crate::xml::scan::Scan;
use memchr::{memchr2, memchr3, memmem};

/// Bytes looked at one by one before a search in vectors pays.
const SHORT: usize = 16;

impl State {
    /// Reads what comes next in an element. A run that stands between two tags is borrowed.
    #[inline]
    pub(super) fn content(&mut self, input: Input<'_>) -> Result<Found, XmlError> {
        let text = self.text(input);
        let (bytes, start) = (text.as_bytes(), self.at);
        self.event_at = start;
        if bytes.get(start) == Some(&b'<') {
            match bytes.get(start + 1) {
                Some(b'/') => return self.end_tag(text),
                Some(b'!' | b'?') => {}
                _ => return self.start_tag(input),
            }
        } else {
            let end = self.run_end(bytes, start, input);
            let tag =
                bytes.get(end) == Some(&b'<') && !matches!(bytes.get(end + 1), Some(b'!' | b'?'));
            if tag {
                self.check_run(bytes, start, end, input)?;
                self.at = end;
                return Ok(Found::Characters(Span::Here(start, end)));
            }
        }
        self.gather(input)
    }

    /// Whether line ends are still to be normalized: in entities they are.
    #[inline]
    fn has_returns(&self, input: Input<'_>) -> bool {
        input.source.returns && self.frames.is_empty()
    }

    /// Where a run of text ends.
    #[inline]
    fn run_end(&self, bytes: &[u8], start: usize, input: Input<'_>) -> usize {
        let returns = self.has_returns(input);
        let rest = bytes.get(start..).unwrap_or_default();
        let short = &rest[..rest.len().min(SHORT)];
        let special = |&byte: &u8| {
            CLASSES[usize::from(byte)] & TEXT_SPECIAL != 0 && (returns || byte != b'\r')
        };
        if let Some(len) = short.iter().position(special) {
            return start + len;
        }
        let rest = &rest[short.len()..];
        let len = match returns {
            true => memchr3(b'<', b'&', b'\r', rest),
            false => memchr2(b'<', b'&', rest),
        };
        start + short.len() + len.unwrap_or(rest.len())
    }

    #[inline]
    fn check_run(
        &self,
        bytes: &[u8],
        start: usize,
        end: usize,
        input: Input<'_>,
    ) -> Result<(), XmlError> {
        if (end - start) as u64 > input.settings.limits.value_bytes {
            return Err(XmlError::over(start, Limit::ValueBytes));
        }
        if !input.source.brackets && self.frames.is_empty() {
            return Ok(());
        }
        match memmem::find(&bytes[start..end], b"]]>") {
            Some(at) => Err(XmlError::expected(start + at, "no ]]> in content")),
            None => Ok(()),
        }
    }

    /// Puts together what comes up to the next event that is told.
    fn gather(&mut self, input: Input<'_>) -> Result<Found, XmlError> {
        self.buffer.clear();
        loop {
            if self.buffer.is_empty() {
                self.event_at = self.at;
            }
            let text = self.text(input);
            let found = match text.as_bytes().get(self.at) {
                None => self.leave_entity(text)?,
                Some(b'<') => self.markup(text, input)?,
                Some(b'&') => self.reference(text, input)?,
                Some(b'\r') if self.has_returns(input) => {
                    let mut scan = Scan::new(text, self.at + 1);
                    scan.accept("\n");
                    self.buffer.push('\n');
                    self.at = scan.at;
                    None
                }
                Some(_) => self.run(text, input)?,
            };
            if self.buffer.len() as u64 > input.settings.limits.value_bytes {
                return Err(XmlError::over(self.event_at, Limit::ValueBytes));
            }
            if let Some(found) = found {
                return Ok(found);
            }
        }
    }

    fn run(&mut self, text: &str, input: Input<'_>) -> Result<Option<Found>, XmlError> {
        let (bytes, start) = (text.as_bytes(), self.at);
        let end = self.run_end(bytes, start, input);
        self.check_run(bytes, start, end, input)?;
        self.buffer
            .push_str(text.get(start..end).unwrap_or_default());
        self.at = end;
        Ok(None)
    }

    /// What was gathered, if anything: it is told before what ends it.
    fn gathered(&self) -> Option<Found> {
        let some = !self.buffer.is_empty();
        some.then_some(Found::Characters(Span::Buffer(0, self.buffer.len())))
    }

    fn markup(&mut self, text: &str, input: Input<'_>) -> Result<Option<Found>, XmlError> {
        let mut scan = Scan::new(text, self.at);
        let preserve = input.settings.preserve;
        if scan.accept("<![CDATA[") {
            let section = scan.until("]]>")?;
            self.at = scan.at;
            self.section(section);
            return Ok(None);
        }
        if scan.accept("<!--") {
            if preserve.comments && !self.buffer.is_empty() {
                return Ok(self.gathered());
            }
            let (start, end) = Self::comment(&mut scan)?;
            self.at = scan.at;
            return Ok(preserve
                .comments
                .then(|| Found::Comment(self.normalized(text, start, end))));
        }
        if scan.accept("<?") {
            if preserve.processing_instructions && !self.buffer.is_empty() {
                return Ok(self.gathered());
            }
            let (target, (start, end)) = Self::instruction(&mut scan)?;
            self.at = scan.at;
            let wanted = preserve.processing_instructions;
            return Ok(
                wanted.then(|| Found::Instruction(target, self.normalized(text, start, end)))
            );
        }
        if let Some(gathered) = self.gathered() {
            return Ok(Some(gathered));
        }
        match scan.rest().get(1) {
            Some(b'/') => self.end_tag(text).map(Some),
            _ => self.start_tag(input).map(Some),
        }
    }

    fn section(&mut self, section: &str) {
        match section.contains('\r') && self.frames.is_empty() {
            true => self.buffer.push_str(&crate::xml::doctype::lines(section)),
            false => self.buffer.push_str(section),
        }
    }

    /// Reads a reference (production 67): a character is added, an entity's text is gone into.
    fn reference(&mut self, text: &str, input: Input<'_>) -> Result<Option<Found>, XmlError> {
        let at = self.at;
        let mut scan = Scan::new(text, at + 1);
        if scan.accept("#") {
            self.buffer.push(scan.character()?);
            self.at = scan.at;
            return Ok(None);
        }
        let name = scan.ncname()?;
        let span = Span::Here(at + 1, scan.at);
        scan.expect(";")?;
        if let Some(character) = predefined(name) {
            self.buffer.push(character);
            self.at = scan.at;
            return Ok(None);
        }
        let entity = input.doctype.entity(name);
        if input.settings.preserve.dtd && (entity.is_some() || input.doctype.partial) {
            if let Some(gathered) = self.gathered() {
                return Ok(Some(gathered));
            }
            self.at = scan.at;
            return Ok(Some(Found::Reference(span)));
        }
        self.enter_entity(entity, scan.at, input)?;
        Ok(None)
    }

    fn enter_entity(
        &mut self,
        entity: Option<usize>,
        back: usize,
        input: Input<'_>,
    ) -> Result<(), XmlError> {
        let at = self.at;
        let Some(id) = entity else {
            return Err(XmlError::expected(at, "an entity that is declared"));
        };
        let Some(Entity::Internal(text)) = input.doctype.entities.get(id) else {
            return Err(XmlError::expected(
                at,
                "an entity whose text the document has",
            ));
        };
        enter(&mut self.expanded, text.len(), &input.settings.limits, at)?;
        let inside_itself = self.frames.iter().any(|frame| frame.entity == id);
        if inside_itself || self.frames.len() == ENTITY_DEPTH_MAX {
            return Err(XmlError::expected(
                at,
                "an entity that does not hold itself",
            ));
        }
        let reference = self.frames.first().map_or(at, |frame| frame.reference);
        self.frames.push(Frame {
            entity: id,
            back,
            reference,
            depth: self.open.len(),
        });
        self.at = 0;
        Ok(())
    }

    /// Goes on after the reference to the entity whose text has ended.
    fn leave_entity(&mut self, text: &str) -> Result<Option<Found>, XmlError> {
        let Some(frame) = self.frames.last() else {
            return Err(XmlError::truncated(text.len()));
        };
        if self.open.len() != frame.depth {
            return Err(XmlError::truncated(self.at));
        }
        (self.at, self.event_at) = (frame.back, frame.reference);
        self.frames.pop();
        Ok(None)
    }
}
