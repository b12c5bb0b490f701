//! XML through the encoder, EXI through the decoder.

use super::arguments::Coding;
use crate::Failure;
use std::sync::Arc;
use weir_exi::decode::{Decoder, DecoderSettings};
use weir_exi::encode::{Canonical, Encoder, EncoderSettings};
use weir_exi::options::{ExpandedName, SchemaId};
use weir_exi::xml::{Reader, Writer, position};
use weir_exi::{Error, Event, Limits, Options, Schema};

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
    let mut encoder = Encoder::new(settings).map_err(Failure::usage)?;
    let reader = Reader::new(document, options.preserve, Limits::default());
    let mut reader = reader.map_err(|error| in_document(document, &error))?;
    if options.fragment {
        reader = reader.fragment();
    }
    let alone = coding.self_contained_names()?;
    loop {
        let taken = match reader.next_event() {
            Ok(Some(ref event)) => take(&mut encoder, event, &alone),
            Ok(None) => break,
            Err(error) => return Err(in_document(document, &error)),
        };
        taken.map_err(|error| in_place(document, reader.offset(), &error.kind))?;
    }
    let mut out = Vec::new();
    encoder.take(&mut out);
    Ok(out)
}

fn take(encoder: &mut Encoder, event: &Event<'_>, alone: &[ExpandedName]) -> Result<(), Error> {
    encoder.event(event)?;
    match event {
        Event::StartElement(name)
            if alone
                .iter()
                .any(|own| own.uri == name.uri && own.local == name.local) =>
        {
            encoder.event(&Event::SelfContained)
        }
        _ => Ok(()),
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
        Writer::new()
    } else {
        Writer::new().with_declaration()
    };
    let mut out = Vec::new();
    loop {
        // Events are wide, and looked at where they lie.
        let written = match decoder.next_event() {
            Ok(Some(ref event)) => writer.write(event, &mut out),
            Ok(None) => break,
            Err(error) => return Err(Failure::no(error)),
        };
        written.map_err(|error| Failure::no(format!("as XML: {}", error.kind)))?;
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
