//! weir's encoder and decoder, as the check needs them.

use crate::grid::Case;
use std::path::Path;
use std::sync::Arc;
use weir_exi::decode::{Decoder, DecoderSettings};
use weir_exi::encode::{Encoder, EncoderSettings};
use weir_exi::infoset::{Infoset, Item};
use weir_exi::options::{ExpandedName, SchemaId};
use weir_exi::xml::Reader;
use weir_exi::xsd::{Document, compile};
use weir_exi::{Canonical, Event, Limits, Options, Schema};

/// Compiles a schema.
pub(crate) fn schema(path: &Path) -> Result<Arc<Schema>, String> {
    let location = path.to_string_lossy();
    let bytes = std::fs::read(path).unwrap_or_default();
    let document = Document {
        location: &location,
        bytes: &bytes,
    };
    let mut loader = |location: &str| std::fs::read(location).ok();
    let compiled = compile(&[document], &mut loader);
    compiled.map(Arc::new).map_err(|error| error.to_string())
}

/// A document as EXI.
pub(crate) fn encode(
    text: &[u8],
    case: &Case,
    schema: Option<&Arc<Schema>>,
) -> Result<Vec<u8>, String> {
    let said = |error: weir_exi::Error| error.to_string();
    let settings = EncoderSettings {
        header: case.header,
        canonical: case.canonical,
        ..EncoderSettings::new(case.options.clone(), schema.cloned())
    };
    let mut encoder = Encoder::new(settings).map_err(said)?;
    let mut reader = Reader::new(text, case.options.preserve, Limits::default()).map_err(said)?;
    if case.options.fragment {
        reader = reader.fragment();
    }
    while let Some(event) = reader.next_event().map_err(said)? {
        encoder.event(&event).map_err(said)?;
        let alone = match event {
            Event::StartElement(name) => {
                let name = ExpandedName::new(name.uri, name.local);
                case.self_contained.contains(&name)
            }
            _ => false,
        };
        if alone {
            encoder.event(&Event::SelfContained).map_err(said)?;
        }
    }
    let mut out = Vec::new();
    encoder.take(&mut out);
    Ok(out)
}

/// The items of a stream.
pub(crate) fn decode(
    stream: &[u8],
    case: &Case,
    schema: Option<&Arc<Schema>>,
) -> Result<Vec<Item>, String> {
    let typed = schema.is_some();
    let options = match case.in_band {
        true => Options {
            schema_id: SchemaId::Unspecified,
            ..Options::default()
        },
        false if case.canonical.is_some() => Canonical::options(case.options.clone()),
        false => case.options.clone(),
    };
    let mut decoder = Decoder::new(stream, DecoderSettings::new(options, schema.cloned()));
    let mut infoset = Infoset::new(case.rules(typed));
    while let Some(event) = decoder.next_event().map_err(|error| error.to_string())? {
        infoset.push(&event);
    }
    Ok(infoset.finish())
}
