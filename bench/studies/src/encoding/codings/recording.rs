//! The events of a document, kept: what a program holds before it serializes.

use weir_exi::event::NameHint;
use weir_exi::xml::Reader;
use weir_exi::{Event, Limits, Preserve, QName, Value};

/// A document as events.
pub(super) struct Recording {
    names: Vec<Name>,
    texts: String,
    events: Vec<Kept>,
}

struct Name {
    uri: String,
    local: String,
    prefix: Option<String>,
    hint: Option<NameHint>,
}

/// A stretch of the texts.
#[derive(Clone, Copy)]
struct Span(usize, usize);

/// An event whose names and texts are kept aside.
#[derive(Clone, Copy)]
enum Kept {
    StartDocument,
    EndDocument,
    StartElement(usize),
    EndElement,
    Attribute(usize, Span),
    TypeAttribute(usize, usize),
    Namespace(Span, Span, bool),
    Characters(Span),
}

/// The limits of what is measured: none that a document here reaches.
pub(super) const LIMITS: Limits = Limits {
    depth: 1000,
    input_bytes: 1 << 32,
    expanded_bytes: 1 << 32,
    table_bytes: 1 << 30,
    table_entries: 1 << 24,
    events: 1 << 32,
    attributes: 4096,
    value_bytes: 1 << 30,
};

/// What EXI keeps by default (EXI 1.0 section 6.3), with which all take part.
pub(super) fn preserve() -> Preserve {
    Preserve::default()
}

impl Recording {
    /// Of a document.
    pub(super) fn of(xml: &str) -> Result<Self, String> {
        let reader = Reader::new(xml.as_bytes(), preserve(), LIMITS);
        let mut reader = reader.map_err(|e| e.to_string())?;
        let mut this = Self {
            names: Vec::new(),
            texts: String::new(),
            events: Vec::new(),
        };
        while let Some(event) = reader.next_event().map_err(|e| e.to_string())? {
            this.keep(&event);
        }
        Ok(this)
    }

    fn keep(&mut self, event: &Event<'_>) {
        let kept = match *event {
            Event::StartDocument => Kept::StartDocument,
            Event::EndDocument => Kept::EndDocument,
            Event::StartElement(name) => Kept::StartElement(self.name(&name)),
            Event::EndElement => Kept::EndElement,
            Event::Attribute(name, Value::QName(value)) => {
                Kept::TypeAttribute(self.name(&name), self.name(&value))
            }
            Event::Attribute(name, ref value) => {
                Kept::Attribute(self.name(&name), self.text(&value.to_string()))
            }
            Event::Namespace {
                prefix,
                uri,
                local_element_ns,
            } => Kept::Namespace(self.text(prefix), self.text(uri), local_element_ns),
            Event::Characters(ref value) => Kept::Characters(self.text(&value.to_string())),
            // Not preserved.
            _ => return,
        };
        self.events.push(kept);
    }

    fn text(&mut self, text: &str) -> Span {
        let start = self.texts.len();
        self.texts.push_str(text);
        Span(start, self.texts.len())
    }

    fn name(&mut self, name: &QName<'_>) -> usize {
        let same = |own: &Name| {
            own.uri == name.uri
                && own.local == name.local
                && own.prefix.as_deref() == name.prefix
                && own.hint == name.hint
        };
        if let Some(known) = self.names.iter().position(same) {
            return known;
        }
        self.names.push(Name {
            uri: name.uri.into(),
            local: name.local.into(),
            prefix: name.prefix.map(Into::into),
            hint: name.hint,
        });
        self.names.len() - 1
    }

    /// The events again.
    pub(super) fn events(&self) -> impl Iterator<Item = Event<'_>> {
        self.events.iter().map(|kept| match *kept {
            Kept::StartDocument => Event::StartDocument,
            Kept::EndDocument => Event::EndDocument,
            Kept::StartElement(name) => Event::StartElement(self.name_at(name)),
            Kept::EndElement => Event::EndElement,
            Kept::Attribute(name, value) => {
                Event::Attribute(self.name_at(name), Value::Text(self.text_at(value)))
            }
            Kept::TypeAttribute(name, value) => {
                Event::Attribute(self.name_at(name), Value::QName(self.name_at(value)))
            }
            Kept::Namespace(prefix, uri, local_element_ns) => Event::Namespace {
                prefix: self.text_at(prefix),
                uri: self.text_at(uri),
                local_element_ns,
            },
            Kept::Characters(value) => Event::Characters(Value::Text(self.text_at(value))),
        })
    }

    fn text_at(&self, Span(start, end): Span) -> &str {
        &self.texts[start..end]
    }

    fn name_at(&self, index: usize) -> QName<'_> {
        let name = &self.names[index];
        QName {
            uri: &name.uri,
            local: &name.local,
            prefix: name.prefix.as_deref(),
            hint: name.hint,
        }
    }
}
