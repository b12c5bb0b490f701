//! XML read: a pull parser for XML 1.0 (fifth edition) with namespaces.
//!
//! Events borrow the document wherever it says something as it stands; what has references, line ends
//! to be normalized or interruptions is put together in one buffer that is used again. A name costs no
//! allocation but the first time.
//!
//! Deliberately absent: external entities and subsets (nothing is fetched), validation. A document is
//! given whole: a stream of XML is read where it ends.

mod content;
mod prolog;
mod quick;
mod tag;

use self::tag::{Attribute, TypeName, spanned};
use super::doctype::Doctype;
use super::error::XmlError;
use super::names::{Hint, Names, Tag, Uri};
use super::namespaces::Namespaces;
use super::scan::Scan;
use super::source::Source;
use crate::error::Error;
use crate::event::{Event, NameHint, QName};
use crate::limits::{Limit, Limits};
use crate::options::Preserve;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// Reads one document, or one fragment.
#[derive(Debug)]
pub struct Reader<'a> {
    source: Source<'a>,
    doctype: Doctype,
    settings: Settings,
    state: State,
}

/// What the caller wants.
#[derive(Debug)]
struct Settings {
    limits: Limits,
    preserve: Preserve,
    fragment: bool,
}

/// What a step of the reader looks at and does not change.
#[derive(Clone, Copy)]
struct Input<'t> {
    source: &'t Source<'t>,
    doctype: &'t Doctype,
    settings: &'t Settings,
}

/// Where the reader is in the document's structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing was read.
    Begin,
    /// Before the root element.
    Prolog,
    /// Within a start tag: its declarations and then its attributes from this one on are to be told.
    Attributes(usize),
    /// Within an element.
    Content,
    /// After the root element.
    Epilog,
    /// The end was told.
    Done,
}

/// The text of a general entity that is read in place of the reference to it.
#[derive(Debug)]
struct Frame {
    entity: usize,
    /// Where the text goes on that refers to it.
    back: usize,
    /// The offset of the outermost reference, in the document.
    reference: usize,
    /// Elements that were open: the entity may end none of them.
    depth: usize,
}

/// What changes from step to step.
#[derive(Debug)]
struct State {
    at: usize,
    /// Offset of the event met last.
    event_at: usize,
    step: Step,
    /// The start tag read last was that of an empty element.
    empty: bool,
    names: Names,
    namespaces: Namespaces,
    /// Names of the elements that are open.
    open: Vec<Tag>,
    frames: Vec<Frame>,
    /// Of the start tag read last.
    element: (Tag, Uri, Hint),
    declarations: Vec<Attribute>,
    attributes: Vec<Attribute>,
    /// The value of the first attribute, if that is `xsi:type`.
    type_name: Option<TypeName>,
    /// Values that do not stand in the text as they are.
    buffer: String,
    /// Serial number of the start tag that had a name, by hint.
    marks: Vec<u32>,
    serial: u32,
    expanded: u64,
    events: u64,
    /// What is wrong, and told again whenever there should be another event.
    failed: Option<XmlError>,
}

/// A stretch of text.
#[derive(Clone, Copy, Debug)]
enum Span {
    /// Of what is being read.
    Here(usize, usize),
    /// Of the buffer.
    Buffer(usize, usize),
}

/// An event before it borrows.
#[derive(Clone, Copy, Debug)]
enum Found {
    StartDocument,
    DocType,
    StartElement,
    Declaration(usize),
    Attribute(usize),
    Characters(Span),
    Comment(Span),
    Instruction(Span, Span),
    Reference(Span),
    EndElement,
    EndDocument,
}

impl<'a> Reader<'a> {
    /// Begins to read a document. Comments, processing instructions and what belongs to the document
    /// type are passed over unless they are to be preserved; so are what would divide characters.
    ///
    /// # Errors
    /// The encoding is not known, or a character is none.
    pub fn new(bytes: &'a [u8], preserve: Preserve, limits: Limits) -> Result<Self, Error> {
        if bytes.len() as u64 > limits.input_bytes {
            return Err(XmlError::over(0, Limit::InputBytes).after(0));
        }
        let before = if bytes.starts_with(b"\xEF\xBB\xBF") {
            3
        } else {
            0
        };
        let source = Source::new(bytes).map_err(|error| error.after(before))?;
        let settings = Settings {
            limits,
            preserve,
            fragment: false,
        };
        Ok(Self {
            source,
            doctype: Doctype::default(),
            settings,
            state: State::new(),
        })
    }

    /// The same for a fragment: any number of elements, one after another (EXI 1.0 section 8.4.2).
    #[must_use]
    pub fn fragment(mut self) -> Self {
        self.settings.fragment = true;
        self
    }

    /// The next event, or none after the end.
    ///
    /// # Errors
    /// The document is not well-formed, or goes beyond a limit; the error says where. There is nothing
    /// after it but itself.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        let (source, doctype, settings) = (&self.source, &self.doctype, &self.settings);
        let input = Input {
            source,
            doctype,
            settings,
        };
        match self.state.quick(input) {
            Some(quick) => self.state.show_quick(quick, &self.source.text),
            None => self.any_event(),
        }
    }

    #[inline(never)]
    fn any_event(&mut self) -> Result<Option<Event<'_>>, Error> {
        if let Some(error) = self.state.failed {
            return Err(self.fail(error));
        }
        let found = match self.state.step {
            Step::Prolog => self.prolog(),
            Step::Done => return Ok(None),
            _ => {
                let (source, doctype, settings) = (&self.source, &self.doctype, &self.settings);
                self.state.step(Input {
                    source,
                    doctype,
                    settings,
                })
            }
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => return Err(self.fail(self.state.placed(error))),
        };
        self.state.events += 1;
        if self.state.events > self.settings.limits.events {
            let error = XmlError::over(self.state.event_at, Limit::Events);
            return Err(self.fail(error));
        }
        let (source, doctype, settings) = (&self.source, &self.doctype, &self.settings);
        Ok(Some(self.state.event(
            found,
            Input {
                source,
                doctype,
                settings,
            },
        )))
    }

    /// Stays with an error: what follows it would be read as if it were not there.
    #[cold]
    fn fail(&mut self, error: XmlError) -> Error {
        self.state.failed = Some(error);
        self.state.step = Step::Done;
        error.after(self.source.before)
    }

    /// Offset in bytes of the event given last; in a document that had to be transcoded, of its text
    /// as UTF-8.
    pub fn offset(&self) -> usize {
        self.source.before
            + self
                .state
                .frames
                .first()
                .map_or(self.state.event_at, |frame| frame.reference)
    }

    /// The namespace that a prefix is bound to where the reader is, for names in values.
    pub fn namespace(&self, prefix: &str) -> Option<&str> {
        self.state.namespace(prefix)
    }

    /// A step that may read the document type.
    fn prolog(&mut self) -> Result<Found, XmlError> {
        let mut doctype = core::mem::take(&mut self.doctype);
        let found = self
            .state
            .prolog(&self.source, &mut doctype, &self.settings);
        self.doctype = doctype;
        found
    }
}

impl State {
    fn new() -> Self {
        Self {
            at: 0,
            event_at: 0,
            step: Step::Begin,
            empty: false,
            names: Names::new(),
            namespaces: Namespaces::new(),
            open: Vec::new(),
            frames: Vec::new(),
            element: (0, 0, 0),
            declarations: Vec::new(),
            attributes: Vec::new(),
            type_name: None,
            buffer: String::new(),
            marks: Vec::new(),
            serial: 0,
            expanded: 0,
            events: 0,
            failed: None,
        }
    }

    fn step(&mut self, input: Input<'_>) -> Result<Found, XmlError> {
        match self.step {
            Step::Content => self.content(input),
            Step::Attributes(index) => self.attribute_or_content(index, input),
            Step::Epilog => self.epilog(input),
            Step::Begin | Step::Prolog | Step::Done => self.begin(input),
        }
    }

    /// Tells the next attribute; after the last, goes on with the content.
    #[inline]
    fn attribute_or_content(&mut self, index: usize, input: Input<'_>) -> Result<Found, XmlError> {
        let declared = self.declarations.len();
        self.step = Step::Attributes(index + 1);
        if let Some(declaration) = self.declarations.get(index) {
            self.event_at = declaration.at;
            return Ok(Found::Declaration(index));
        }
        if let Some(attribute) = self.attributes.get(index - declared) {
            self.event_at = attribute.at;
            return Ok(Found::Attribute(index - declared));
        }
        self.step = Step::Content;
        match self.empty {
            true => Ok(self.leave()),
            false => self.content(input),
        }
    }

    /// The text that is being read: the document's, or an entity's.
    #[inline]
    fn text<'t>(&self, input: Input<'t>) -> &'t str {
        match self.frames.last() {
            None => &input.source.text,
            Some(frame) => input.doctype.text(frame.entity).unwrap_or_default(),
        }
    }

    /// Errors in an entity are told where the document refers to it.
    fn placed(&self, error: XmlError) -> XmlError {
        match self.frames.first() {
            None => error,
            Some(frame) => error.in_entity(frame.reference),
        }
    }

    fn namespace(&self, prefix: &str) -> Option<&str> {
        let uri = self.namespaces.of(self.names.known_prefix(prefix)?)?;
        Some(self.namespaces.uri(uri))
    }

    #[inline(always)]
    fn name(&self, (tag, uri, hint): (Tag, Uri, Hint)) -> QName<'_> {
        let (prefix, local) = self.names.parts(tag);
        let uri = self.namespaces.uri(uri);
        QName {
            uri,
            local,
            prefix: Some(prefix),
            hint: Some(NameHint(hint)),
        }
    }

    #[inline]
    fn spanned<'t>(&'t self, span: Span, input: Input<'t>) -> &'t str {
        spanned(span, self.text(input), &self.buffer)
    }

    #[inline]
    fn event<'t>(&'t self, found: Found, input: Input<'t>) -> Event<'t> {
        match found {
            Found::StartElement => Event::StartElement(self.name(self.element)),
            Found::EndElement => Event::EndElement,
            Found::Characters(span) => Event::Characters(Value::Text(self.spanned(span, input))),
            Found::Declaration(index) => self.declaration_event(index, input),
            Found::Attribute(index) => self.attribute_event(index, input),
            Found::Comment(span) => Event::Comment(self.spanned(span, input)),
            Found::Instruction(target, data) => Event::ProcessingInstruction {
                target: self.spanned(target, input),
                data: self.spanned(data, input),
            },
            Found::Reference(span) => Event::EntityReference(self.spanned(span, input)),
            Found::DocType => Event::DocType {
                name: &input.doctype.name,
                public: &input.doctype.public,
                system: &input.doctype.system,
                text: &input.doctype.subset,
            },
            Found::StartDocument => Event::StartDocument,
            Found::EndDocument => Event::EndDocument,
        }
    }

    /// Passes a comment after its `<!--` (production 15).
    fn comment(scan: &mut Scan<'_>) -> Result<(usize, usize), XmlError> {
        let start = scan.at;
        let len = scan.until("--")?.len();
        scan.expect(">")?;
        Ok((start, start + len))
    }

    /// Passes a processing instruction after its `<?` (production 16): its target and data.
    fn instruction(scan: &mut Scan<'_>) -> Result<(Span, (usize, usize)), XmlError> {
        let start = scan.at;
        let target = scan.ncname()?;
        if target.eq_ignore_ascii_case("xml") {
            return Err(XmlError::expected(
                start,
                "no XML declaration but at the very beginning",
            ));
        }
        let target = Span::Here(start, scan.at);
        if !scan.space() {
            let start = scan.at;
            scan.expect("?>")?;
            return Ok((target, (start, start)));
        }
        let start = scan.at;
        let len = scan.until("?>")?.len();
        Ok((target, (start, start + len)))
    }

    /// A stretch of the text with its line ends normalized (section 2.11), in the buffer where that
    /// changes it.
    fn normalized(&mut self, text: &str, start: usize, end: usize) -> Span {
        let stretch = text.get(start..end).unwrap_or_default();
        if !stretch.contains('\r') || !self.frames.is_empty() {
            return Span::Here(start, end);
        }
        self.buffer.clear();
        self.buffer.push_str(&super::doctype::lines(stretch));
        Span::Buffer(0, self.buffer.len())
    }
}
