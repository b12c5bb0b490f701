//! Does one thing with a document over and over, for a profiler to look at. Events are looked at
//! where they lie: what `?` hands on is moved first, and moving costs as much as reading.
//!
//! `again DOCUMENT.xml read|encode|decode|write bit-packed|byte-aligned|pre-compression|compression TIMES`.

#![allow(clippy::disallowed_methods, reason = "an example that reads a file")]

use std::error::Error;
use std::hint::black_box;
use weir_exi::xml::{Reader, Writer};
use weir_exi::{
    Alignment, Decoder, DecoderSettings, Encoder, EncoderSettings, Limits, Options, Preserve,
    SpaceBetween,
};

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, work, alignment, times] = arguments.as_slice() else {
        return Err("DOCUMENT.xml read|encode|decode|write ALIGNMENT TIMES".into());
    };
    let xml = std::fs::read(path)?;
    let options = Options {
        alignment: alignment_of(alignment)?,
        ..Options::default()
    };
    let mut encoder = Encoder::new(EncoderSettings {
        space: SpaceBetween::Drop,
        ..EncoderSettings::new(options.clone(), None)
    })?;
    let mut exi = Vec::new();
    encode(&xml, &mut encoder, &mut exi)?;
    let mut decoder = Decoder::new(&exi, DecoderSettings::new(options, None));
    let (mut events, mut out) = (0, Vec::with_capacity(exi.len()));
    for _ in 0..times.parse()? {
        events = match work.as_str() {
            "read" => read(&xml)?,
            "encode" => {
                out.clear();
                encode(&xml, &mut encoder, &mut out)?
            }
            "decode" => {
                decoder = decoder.restart(&exi);
                decode(&mut decoder)?
            }
            "write" => {
                decoder = decoder.restart(&exi);
                out.clear();
                write(&mut decoder, &mut out)?
            }
            _ => return Err("read, encode, decode or write".into()),
        };
    }
    println!("{events} events, {} bytes of {}", exi.len(), xml.len());
    Ok(())
}

fn alignment_of(name: &str) -> Done<Alignment> {
    Ok(match name {
        "bit-packed" => Alignment::BitPacked,
        "byte-aligned" => Alignment::ByteAligned,
        "pre-compression" => Alignment::PreCompression,
        "compression" => Alignment::Compression,
        _ => return Err("no such alignment".into()),
    })
}

fn read(xml: &[u8]) -> Done<usize> {
    let mut reader = Reader::new(xml, Preserve::default(), Limits::default())?;
    let mut events = 0;
    loop {
        match reader.next_event() {
            Ok(Some(ref event)) => black_box(event),
            Ok(None) => return Ok(events),
            Err(error) => return Err(error.into()),
        };
        events += 1;
    }
}

fn encode(xml: &[u8], encoder: &mut Encoder, exi: &mut Vec<u8>) -> Done<usize> {
    let mut reader = Reader::new(xml, Preserve::default(), Limits::default())?;
    encoder.restart();
    let mut events = 0;
    loop {
        match reader.next_event() {
            Ok(Some(ref event)) => encoder.event(event)?,
            Ok(None) => break,
            Err(error) => return Err(error.into()),
        }
        events += 1;
    }
    encoder.take(exi);
    Ok(events)
}

fn decode(decoder: &mut Decoder<'_>) -> Done<usize> {
    let mut events = 0;
    loop {
        match decoder.next_event() {
            Ok(Some(ref event)) => black_box(event),
            Ok(None) => return Ok(events),
            Err(error) => return Err(error.into()),
        };
        events += 1;
    }
}

/// EXI to XML.
fn write(decoder: &mut Decoder<'_>, xml: &mut Vec<u8>) -> Done<usize> {
    let (mut writer, mut events) = (Writer::new(), 0);
    loop {
        match decoder.next_event() {
            Ok(Some(ref event)) => writer.write(event, xml)?,
            Ok(None) => return Ok(events),
            Err(error) => return Err(error.into()),
        };
        events += 1;
    }
}
