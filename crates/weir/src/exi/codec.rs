//! XML through the encoder, EXI through the decoder.

use super::arguments::Coding;
use super::effect::shown;
use std::sync::Arc;
use weir_exi::decode::{Decoder, DecoderSettings};
use weir_exi::encode::{Canonical, Encoder, EncoderSettings};
use weir_exi::error::ErrorKind;
use weir_exi::options::{ExpandedName, SchemaId};
use weir_exi::xml::{Reader, Writer, position};
use weir_exi::{Error, Event, Limits, Options, Schema};
use weir_program::Failure;

/// An XML document as EXI.
pub(super) fn encode(
    document: &[u8],
    coding: &Coding,
    options: &Options,
    schema: Option<&Arc<Schema>>,
) -> Result<Vec<u8>, Failure> {
    let canonical = Canonical {
        utc_time: coding.utc,
        omit_options: !coding.options_in_header(),
    };
    let settings = EncoderSettings {
        header: coding.header(),
        canonical: coding.canonical.then_some(canonical),
        ..EncoderSettings::new(options.clone(), schema.cloned())
    };
    // Options stand at no place of a stream that is not begun.
    let encoder = Encoder::new(settings);
    let mut encoder = encoder.map_err(|error| Failure::usage(error.kind))?;
    let reader = Reader::new(document, options.preserve, Limits::default());
    let mut reader = reader.map_err(|error| in_document(document, &error))?;
    if options.fragment {
        reader = reader.fragment();
    }
    let mut alone = Alone::new(coding.self_contained_names()?);
    loop {
        let taken = match reader.next_event() {
            Ok(Some(ref event)) => alone.take(&mut encoder, event),
            Ok(None) => break,
            Err(error) => return Err(in_document(document, &error)),
        };
        taken.map_err(|error| in_place(document, reader.offset(), &error.kind))?;
    }
    alone.check()?;
    let mut out = Vec::new();
    encoder.take(&mut out);
    Ok(out)
}

/// The elements to make self-contained, and whether there was any of the name.
struct Alone(Vec<(ExpandedName, bool)>);

impl Alone {
    fn new(names: Vec<ExpandedName>) -> Self {
        Self(names.into_iter().map(|name| (name, false)).collect())
    }

    /// Encodes an event, and what follows it where it begins such an element.
    fn take(&mut self, encoder: &mut Encoder, event: &Event<'_>) -> Result<(), Error> {
        encoder.event(event)?;
        if let Event::StartElement(name) = event
            && let Some((_, met)) = self
                .0
                .iter_mut()
                .find(|(own, _)| own.uri == name.uri && own.local == name.local)
        {
            *met = true;
            encoder.event(&Event::SelfContained)?;
        }
        Ok(())
    }

    /// Fails where a name was no element's.
    fn check(&self) -> Result<(), Failure> {
        match self.0.iter().find(|(_, met)| !met) {
            Some((name, _)) => Err(Failure::no(format!(
                "--self-contained: the document has no element {}",
                shown(name)
            ))),
            None => Ok(()),
        }
    }
}

fn in_document(document: &[u8], error: &Error) -> Failure {
    in_place(
        document,
        usize::try_from(error.byte).unwrap_or(usize::MAX),
        &error.kind,
    )
}

fn in_place(document: &[u8], offset: usize, what: &impl ToString) -> Failure {
    let (line, column) = position(document, offset);
    Failure::no(format!("{line}:{column}: {}", what.to_string()))
}

/// EXI as an XML document.
pub(super) fn decode(
    stream: &[u8],
    options: &Options,
    schema: Option<&Arc<Schema>>,
) -> Result<Vec<u8>, Failure> {
    let settings = DecoderSettings::new(out_of_band(options, schema), schema.cloned());
    let mut decoder = Decoder::new(stream, settings);
    let mut writer = if options.fragment {
        Writer::new().fragment()
    } else {
        Writer::new().with_declaration()
    };
    let mut out = Vec::new();
    begin(&mut decoder, schema)?;
    writer
        .write(&Event::StartDocument, &mut out)
        .map_err(Failure::no)?;
    loop {
        // Events are wide, and looked at where they lie.
        let written = match decoder.next_event() {
            Ok(Some(ref event)) => writer.write(event, &mut out),
            Ok(None) => break,
            Err(error) => return Err(Failure::no(error)),
        };
        // What is wrong with an event is told by its place in the stream, not in the text.
        written.map_err(|error| Failure::no(Error::at_bit(error.kind, decoder.begun_at())))?;
    }
    let rest = stream.len() - decoder.consumed().min(stream.len());
    if rest > 0 {
        return Err(Failure::no(format!(
            "{rest} bytes follow the document at byte {}",
            stream.len() - rest
        )));
    }
    out.push(b'\n');
    Ok(out)
}

/// Reads the header. A stream of another schema than the one given would be read as something else.
fn begin(decoder: &mut Decoder<'_>, schema: Option<&Arc<Schema>>) -> Result<(), Failure> {
    let given = schema.and_then(|schema| schema.id.as_deref());
    let failed = decoder.next_event().err();
    let named = match (&failed, decoder.options()) {
        (Some(error), _) => match &error.kind {
            ErrorKind::UnknownSchema(id) => Some(format!("{id:?}")),
            _ => return Err(Failure::no(error)),
        },
        (None, Some(options)) => match (&options.schema_id, given) {
            (SchemaId::None, Some(_)) => Some("none".to_owned()),
            (SchemaId::BuiltInTypes, Some(id)) if !id.is_empty() => Some(r#""""#.to_owned()),
            _ => None,
        },
        (None, None) => None,
    };
    match (named, given) {
        (None, _) => Ok(()),
        (Some(named), None) => Err(Failure::no(format!(
            "the header names schema {named}, and none is given: --schema is its file"
        ))),
        (Some(named), Some(given)) => Err(Failure::no(format!(
            "the header names schema {named}, and the one given is {given:?}; if they are the same, \
             --schema-id gives it that name"
        ))),
    }
}

/// A stream that names no schema is read with the one given.
fn out_of_band(options: &Options, schema: Option<&Arc<Schema>>) -> Options {
    let schema_id = if schema.is_some() {
        SchemaId::Unspecified
    } else {
        SchemaId::None
    };
    Options {
        schema_id,
        ..options.clone()
    }
}
