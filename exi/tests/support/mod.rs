//! Documents as trees, and their way through the codec.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::sync::Arc;
use weir_exi::options::{Header, Preserve};
use weir_exi::{
    Alignment, Decoder, DecoderSettings, Encoder, EncoderSettings, Event, Options, PieceDecoder,
    QName, Schema, SpaceBetween, Value,
};

pub const ALIGNMENTS: [Alignment; 4] = [
    Alignment::BitPacked,
    Alignment::ByteAligned,
    Alignment::PreCompression,
    Alignment::Compression,
];

/// An event that owns its text; values by their lexical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owned {
    Start(String, String),
    End,
    Attribute(String, String, String),
    Namespace(String, String),
    Text(String),
    Comment(String),
    Instruction(String, String),
    DocType([String; 4]),
    Reference(String),
    SelfContained,
    Document,
    EndDocument,
}

impl Owned {
    pub fn event(&self) -> Event<'_> {
        match self {
            Self::Start(uri, local) => Event::StartElement(QName::new(uri, local)),
            Self::End => Event::EndElement,
            Self::Attribute(uri, local, value) => {
                Event::Attribute(QName::new(uri, local), Value::Text(value))
            }
            Self::Namespace(prefix, uri) => Event::Namespace {
                prefix,
                uri,
                local_element_ns: false,
            },
            Self::Text(text) => Event::Characters(Value::Text(text)),
            Self::Comment(text) => Event::Comment(text),
            Self::Instruction(target, data) => Event::ProcessingInstruction { target, data },
            Self::DocType([name, public, system, text]) => Event::DocType {
                name,
                public,
                system,
                text,
            },
            Self::Reference(name) => Event::EntityReference(name),
            Self::SelfContained => Event::SelfContained,
            Self::Document => Event::StartDocument,
            Self::EndDocument => Event::EndDocument,
        }
    }

    pub fn of(event: &Event<'_>) -> Self {
        let own = |name: &QName<'_>| (name.uri.to_string(), name.local.to_string());
        match event {
            Event::StartElement(name) => {
                let (uri, local) = own(name);
                Self::Start(uri, local)
            }
            Event::EndElement => Self::End,
            Event::Attribute(name, value) => {
                let (uri, local) = own(name);
                let value = match value {
                    Value::QName(name) => format!("{{{}}}{}", name.uri, name.local),
                    other => other.to_string(),
                };
                Self::Attribute(uri, local, value)
            }
            Event::Namespace { prefix, uri, .. } => {
                Self::Namespace(prefix.to_string(), uri.to_string())
            }
            Event::Characters(value) => Self::Text(value.to_string()),
            Event::Comment(text) => Self::Comment(text.to_string()),
            Event::ProcessingInstruction { target, data } => {
                Self::Instruction(target.to_string(), data.to_string())
            }
            Event::DocType {
                name,
                public,
                system,
                text,
            } => Self::DocType([name, public, system, text].map(ToString::to_string)),
            Event::EntityReference(name) => Self::Reference(name.to_string()),
            Event::SelfContained => Self::SelfContained,
            Event::StartDocument => Self::Document,
            Event::EndDocument => Self::EndDocument,
        }
    }
}

pub fn options(alignment: Alignment) -> Options {
    Options {
        alignment,
        ..Options::default()
    }
}

pub fn preserving(alignment: Alignment) -> Options {
    Options {
        alignment,
        preserve: Preserve::ALL,
        ..Options::default()
    }
}

/// Events to EXI with the options document in the header.
pub fn encode(
    events: &[Owned],
    options: &Options,
    schema: Option<Arc<Schema>>,
) -> Result<Vec<u8>, weir_exi::Error> {
    let mut settings = EncoderSettings::new(options.clone(), schema);
    settings.header = Header {
        cookie: true,
        options: true,
    };
    settings.space = SpaceBetween::Keep;
    let mut encoder = Encoder::new(settings)?;
    let mut bytes = Vec::new();
    for event in events {
        encoder.event(&event.event())?;
        encoder.take(&mut bytes);
    }
    Ok(bytes)
}

/// EXI to events, from a slice.
pub fn decode(bytes: &[u8], schema: Option<Arc<Schema>>) -> Result<Vec<Owned>, weir_exi::Error> {
    let settings = DecoderSettings::new(Options::default(), schema);
    decode_with(bytes, settings)
}

pub fn decode_with(bytes: &[u8], settings: DecoderSettings) -> Result<Vec<Owned>, weir_exi::Error> {
    let mut decoder = Decoder::new(bytes, settings);
    let mut events = Vec::new();
    while let Some(event) = decoder.next_event()? {
        events.push(Owned::of(&event));
    }
    Ok(events)
}

/// EXI to events, fed in pieces of a length.
pub fn decode_pieces(bytes: &[u8], length: usize) -> Result<Vec<Owned>, weir_exi::Error> {
    let settings = DecoderSettings::new(Options::default(), None);
    let mut decoder = PieceDecoder::new(settings);
    let mut events = Vec::new();
    for piece in bytes.chunks(length) {
        decoder.feed(piece)?;
        while let Some(event) = decoder.next_event()? {
            events.push(Owned::of(&event));
        }
    }
    decoder.finish();
    while let Some(event) = decoder.next_event()? {
        events.push(Owned::of(&event));
    }
    decoder.close()?;
    Ok(events)
}

/// A document from a short notation: `<a`, `@b=c`, `"text`, `>`.
pub fn document(notation: &[&str]) -> Vec<Owned> {
    let mut events = vec![Owned::Document];
    for part in notation {
        let (kind, rest) = part.split_at(1);
        let name = |name: &str| match name.split_once('}') {
            Some((uri, local)) => (uri.trim_start_matches('{').to_string(), local.to_string()),
            None => (String::new(), name.to_string()),
        };
        events.push(match kind {
            "<" => {
                let (uri, local) = name(rest);
                Owned::Start(uri, local)
            }
            "@" => {
                let (attribute, value) = rest.split_once('=').expect("a value");
                let (uri, local) = name(attribute);
                Owned::Attribute(uri, local, value.to_string())
            }
            "\"" => Owned::Text(rest.to_string()),
            "!" => Owned::Comment(rest.to_string()),
            "?" => Owned::Instruction(rest.to_string(), "data".to_string()),
            "&" => Owned::Reference(rest.to_string()),
            "^" => Owned::SelfContained,
            _ => Owned::End,
        });
    }
    events.push(Owned::EndDocument);
    events
}
