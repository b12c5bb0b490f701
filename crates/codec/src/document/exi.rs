//! EXI without a schema, default options: what `application/exi` means for a document of which neither side
//! has agreed on schemas (EXI 1.0 section 5.4).

use super::read::Tree;
use super::{BYTES_MAX, Element, Fault, limits};
use alloc::string::ToString;
use alloc::vec::Vec;
use weir_exi::xml::{Reader, Writer};
use weir_exi::{
    Alignment, Decoder, DecoderSettings, Encoder, EncoderSettings, Event, Options, Preserve,
};

/// Prefixes are kept: values such as that of `xsi:type` use them.
fn options() -> Options {
    Options {
        preserve: Preserve {
            prefixes: true,
            ..Preserve::default()
        },
        ..Options::default()
    }
}

/// An XML document as EXI, its options in the header.
pub fn from_xml(xml: &[u8]) -> Result<Vec<u8>, Fault> {
    encode(xml, options())
}

/// The same with its values in channels and deflated (EXI 1.0 section 9).
pub fn compressed_from_xml(xml: &[u8]) -> Result<Vec<u8>, Fault> {
    encode(
        xml,
        Options {
            alignment: Alignment::Compression,
            ..options()
        },
    )
}

fn encode(xml: &[u8], options: Options) -> Result<Vec<u8>, Fault> {
    let fault = |error: weir_exi::Error| Fault::new(error.byte as usize, error.kind);
    let preserve = options.preserve;
    let mut settings = EncoderSettings::new(options, None);
    settings.header.options = true;
    let mut encoder = Encoder::new(settings).map_err(fault)?;
    let mut reader = Reader::new(xml, preserve, limits()).map_err(fault)?;
    while let Some(event) = reader.next_event().map_err(fault)? {
        encoder.event(&event).map_err(fault)?;
    }
    let mut out = Vec::new();
    encoder.take(&mut out);
    Ok(out)
}

/// An EXI document as XML.
pub fn to_xml(exi: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut writer = Writer::new();
    let mut out = Vec::new();
    decode(exi, &mut |event| {
        writer
            .write(event, &mut out)
            .map_err(|error| error.kind.to_string())?;
        if out.len() > BYTES_MAX {
            Err("the document is too large".into())
        } else {
            Ok(())
        }
    })?;
    Ok(out)
}

/// An EXI document as a tree.
pub fn read(exi: &[u8]) -> Result<Element, Fault> {
    let mut tree = Tree::default();
    decode(exi, &mut |event| tree.take(event).map_err(Into::into))?;
    tree.finish()
        .ok_or_else(|| Fault::new(exi.len(), "an element was expected"))
}

fn decode(
    exi: &[u8],
    take: &mut dyn FnMut(&Event<'_>) -> Result<(), alloc::string::String>,
) -> Result<(), Fault> {
    // What a peer's header does not say is the default, whatever is written here.
    let mut settings = DecoderSettings::new(Options::default(), None);
    settings.limits = limits();
    let mut decoder = Decoder::new(exi, settings);
    loop {
        let taken = match decoder.next_event() {
            Ok(Some(Event::DocType { .. })) => {
                Err("a document type is not allowed here".to_string())
            }
            Ok(Some(ref event)) => take(event),
            Ok(None) => return Ok(()),
            Err(error) => return Err(Fault::new(error.byte as usize, error.kind)),
        };
        taken.map_err(|problem| Fault::new((decoder.begun_at() / 8) as usize, problem))?;
    }
}
