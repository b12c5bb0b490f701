//! EXI by our codec, of whole documents. Options are those that EXIficient is given: nothing is
//! preserved, white space between elements is left out, `xsi:schemaLocation` is an attribute like
//! others, the header is the shortest. Encoders and decoders begin again with the memory they have,
//! as a server's do; EXIficient has its factory ready likewise, and the heap of a machine that runs
//! for long.

use std::hint::black_box;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use weir_exi::decode::{Decoder, DecoderSettings};
use weir_exi::encode::{Encoder, EncoderSettings, SpaceBetween};
use weir_exi::xml::Reader;
use weir_exi::{Alignment, Event, Options, Schema, xsd};

use super::recording::{self, LIMITS, Recording};
use super::{Coding, From, Prepared};
use crate::encoding::data::Document;
use weir_bench_model::results::OURS;

/// The schema of the sensor message.
pub(crate) const WEIR_XSD: &str = include_str!("../../../../../crates/codec/schema/weir.xsd");

/// A way to write EXI.
#[derive(Clone, Copy)]
struct Mode {
    format: &'static str,
    alignment: Alignment,
    /// With the schema of the sensor message, strictly.
    informed: bool,
}

const MODES: [Mode; 6] = [
    Mode {
        format: "exi",
        alignment: Alignment::BitPacked,
        informed: false,
    },
    Mode {
        format: "exi-byte",
        alignment: Alignment::ByteAligned,
        informed: false,
    },
    Mode {
        format: "exi-pre",
        alignment: Alignment::PreCompression,
        informed: false,
    },
    Mode {
        format: "exi-c",
        alignment: Alignment::Compression,
        informed: false,
    },
    Mode {
        format: "exi-s",
        alignment: Alignment::BitPacked,
        informed: true,
    },
    Mode {
        format: "exi-sc",
        alignment: Alignment::Compression,
        informed: true,
    },
];

pub(super) fn codings() -> Vec<Coding> {
    let coding = |mode: Mode| Coding {
        format: mode.format,
        target: OURS,
        from: From::Document,
        prepare: Box::new(move |document| prepare(mode, document)),
    };
    MODES.into_iter().map(coding).collect()
}

/// A document's EXI in one of these formats.
pub(crate) fn exi_of(xml: &str, format: &str) -> Result<Vec<u8>, String> {
    let mode = MODES.into_iter().find(|mode| mode.format == format);
    let agreed = Agreed::of(mode.ok_or("no such way to write EXI")?)?;
    let mut bytes = Vec::new();
    transcode(&mut agreed.encoder()?, xml, &mut bytes)?;
    Ok(bytes)
}

/// What both directions are told.
struct Agreed {
    options: Options,
    schema: Option<Arc<Schema>>,
}

impl Agreed {
    fn of(mode: Mode) -> Result<Self, String> {
        let options = Options {
            alignment: mode.alignment,
            strict: mode.informed,
            ..Options::default()
        };
        let schema = mode.informed.then(schema).transpose()?;
        Ok(Self { options, schema })
    }

    fn encoder(&self) -> Result<Encoder, String> {
        let settings = EncoderSettings {
            options: self.options.clone(),
            schema: self.schema.clone(),
            space: SpaceBetween::Drop,
            limits: LIMITS,
            ..EncoderSettings::default()
        };
        Encoder::new(settings).map_err(|e| e.to_string())
    }

    fn decoder(&self) -> Decoder<'static> {
        let settings = DecoderSettings {
            options: self.options.clone(),
            schemas: self.schema.clone().into_iter().collect(),
            limits: LIMITS,
        };
        Decoder::new(&[], settings)
    }
}

/// The schema of the sensor message, which is the only one that documents here have.
fn schema() -> Result<Arc<Schema>, String> {
    let document = xsd::Document {
        location: "weir.xsd",
        bytes: WEIR_XSD.as_bytes(),
    };
    let schema = xsd::compile(&[document], &mut |_: &str| None);
    schema.map(Arc::new).map_err(|e| e.to_string())
}

fn prepare(mode: Mode, document: &Rc<Document>) -> Result<Prepared, String> {
    if mode.informed && document.data != "message" {
        return Err("no schema of such documents".into());
    }
    let agreed = Agreed::of(mode)?;
    let recording = Recording::of(&document.xml)?;
    let (mut encoder, mut encoder_of_xml) = (agreed.encoder()?, agreed.encoder()?);
    let mut bytes = Vec::new();
    encode(&mut encoder, recording.events(), &mut bytes)?;
    let (read, source) = (bytes.clone(), Rc::clone(document));
    let mut decoder = agreed.decoder();
    let mut out = Vec::with_capacity(bytes.len());
    let mut out_of_xml = Vec::with_capacity(bytes.len());
    Ok(Prepared {
        bytes,
        parse: Some(Box::new(move || decode(&mut decoder, &read))),
        serialize: Some(Box::new(move || {
            out.clear();
            encode(&mut encoder, recording.events(), &mut out)
        })),
        from_xml: Some(Box::new(move || {
            out_of_xml.clear();
            transcode(&mut encoder_of_xml, &source.xml, &mut out_of_xml)
        })),
    })
}

fn encode<'e>(
    encoder: &mut Encoder,
    events: impl Iterator<Item = Event<'e>>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    encoder.restart();
    for event in events {
        encoder.event(&event).map_err(|e| e.to_string())?;
    }
    encoder.take(out);
    black_box(out);
    Ok(())
}

fn transcode(encoder: &mut Encoder, xml: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let reader = Reader::new(xml.as_bytes(), recording::preserve(), LIMITS);
    let mut reader = reader.map_err(|e| e.to_string())?;
    encoder.restart();
    loop {
        match reader.next_event() {
            Ok(Some(ref event)) => encoder.event(event).map_err(|e| e.to_string())?,
            Ok(None) => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    encoder.take(out);
    black_box(out);
    Ok(())
}

fn decode(decoder: &mut Decoder<'static>, bytes: &[u8]) -> Result<(), String> {
    let mut reading = mem::take(decoder).restart(bytes);
    let read = read_all(&mut reading);
    *decoder = reading.restart(&[]);
    read
}

fn read_all(decoder: &mut Decoder<'_>) -> Result<(), String> {
    loop {
        match decoder.next_event() {
            Ok(Some(ref event)) => black_box(event),
            Ok(None) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
    }
}
