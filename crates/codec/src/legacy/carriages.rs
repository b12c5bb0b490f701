//! `block-cbor`, `block-swe` and the rest: a message of `block` inside other formats, each as a format.
//!
//! They are not in the list of formats, which is what is negotiated: who wants one asks for it by name,
//! as `weir convert` does. An error's place is that in the carriage.

use super::carried;
use crate::error::DecodeError;
use crate::format::Format;
use crate::formats::block::{decode, encode};
use crate::rows::check_length;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Datastream, Limits};

/// A carriage as a format.
macro_rules! carriage {
    ($name:literal, $media:literal, text: $text:literal, $encode:ident, $decode:ident) => {
        Format {
            text: $text,
            one_line: $text,
            ..Format::new($name, $media, $encode, $decode)
        }
    };
}
/// Messages of `block` inside other formats.
pub const CARRIAGES: &[Format] = &[
    carriage!("block-base64", "text/plain", text: true, to_base64, from_base64),
    carriage!("block-cbor", "application/cbor", text: false, to_cbor, from_cbor),
    carriage!("block-protobuf", "application/x-protobuf", text: false, to_protobuf, from_protobuf),
    carriage!("block-swe", "application/xml", text: true, to_swe, from_swe),
    #[cfg(feature = "senml-json")]
    carriage!("block-senml-json", "application/senml+json", text: true, to_json, from_json),
    #[cfg(feature = "senml-cbor")]
    carriage!("block-senml-cbor", "application/senml+cbor", text: false, to_pack, from_pack),
];

fn encoded(batch: &Batch) -> Vec<u8> {
    let mut block = Vec::new();
    encode(batch, &mut block);
    block
}

/// Adds the observations of a block, whose bytes stand at their `place` in what carried it.
fn add(
    block: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
    place: impl Fn(usize) -> usize,
) -> Result<(), DecodeError> {
    decode(block, out, limits).map_err(|error| DecodeError {
        at: place(error.at),
        ..error
    })
}

fn to_base64(batch: &Batch, out: &mut Vec<u8>) {
    carried::to_base64(&encoded(batch), out);
}

fn from_base64(text: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    check_length(text, limits)?;
    let mut block = Vec::new();
    carried::from_base64(text, &mut block)?;
    add(&block, out, limits, |at| carried::place_in_base64(text, at))
}

fn to_cbor(batch: &Batch, out: &mut Vec<u8>) {
    carried::to_cbor(&encoded(batch), out);
}

fn from_cbor(item: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    check_length(item, limits)?;
    let block = carried::from_cbor(item)?;
    add(block, out, limits, |at| item.len() - block.len() + at)
}

fn to_protobuf(batch: &Batch, out: &mut Vec<u8>) {
    carried::to_protobuf(&encoded(batch), out);
}

fn from_protobuf(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    let block = carried::from_protobuf(bytes)?;
    add(block, out, limits, |at| bytes.len() - block.len() + at)
}

/// The first quantity is described as far as all datastreams agree in what it is.
fn to_swe(batch: &Batch, out: &mut Vec<u8>) {
    let all = || (0..batch.stream_count()).map(|index| batch.stream(index));
    let first = all().next();
    let property = first.and_then(|stream| stream.property);
    let property = property.filter(|_| all().all(|stream| stream.property == property));
    let unit = first.and_then(|stream| stream.unit);
    let unit = unit.filter(|_| all().all(|stream| stream.unit == unit));
    let block = encoded(batch);
    carried::to_swe(
        &block,
        batch.len(),
        property.unwrap_or_default(),
        unit.unwrap_or_default(),
        out,
    );
}

/// What the block does not say of its datastreams, the description of the quantity does.
fn from_swe(document: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    let found = carried::from_swe(document, limits)?;
    let mut builder = BatchBuilder::new();
    add(&found.block, &mut builder, limits, |at| found.place(at))?;
    let mut batch = builder.finish();
    if found.count.is_some_and(|count| count != batch.len() as u64) {
        let what = "as many observations as the element count says";
        return Err(DecodeError::expected(found.place(0), what));
    }
    let said = |text: &str| Some(text.into()).filter(|_| !text.is_empty());
    let described = Datastream {
        property: said(&found.property),
        unit: said(&found.unit),
        ..Datastream::default()
    };
    for index in 0..batch.stream_count() {
        batch.fill(index, &described);
    }
    for row in batch.rows() {
        let added = out.push(&row);
        added.map_err(|error| DecodeError::meaning(found.place(0), alloc::format!("{error}")))?;
    }
    Ok(())
}

#[cfg(feature = "senml-json")]
fn to_json(batch: &Batch, out: &mut Vec<u8>) {
    carried::to_senml_json(&encoded(batch), out);
}

#[cfg(feature = "senml-json")]
fn from_json(pack: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    let mut block = Vec::new();
    let begin = carried::from_senml_json(pack, limits, &mut block)?;
    let place = |at| begin + carried::place_in_base64(&pack[begin..], at);
    add(&block, out, limits, place)
}

#[cfg(feature = "senml-cbor")]
fn to_pack(batch: &Batch, out: &mut Vec<u8>) {
    carried::to_senml_cbor(&encoded(batch), out);
}

#[cfg(feature = "senml-cbor")]
fn from_pack(pack: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    let mut block = Vec::new();
    let begin = carried::from_senml_cbor(pack, limits, &mut block)?;
    add(&block, out, limits, |at| begin + at)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::sample;
    use alloc::string::ToString;
    use weir_model::Value;
    use weir_model::batch::Naming;

    fn written(format: &Format, batch: &Batch) -> Vec<u8> {
        let mut out = Vec::new();
        (format.encode)(batch, &mut out);
        out
    }

    fn read(format: &Format, bytes: &[u8]) -> Result<Batch, DecodeError> {
        let mut builder = BatchBuilder::new();
        (format.decode)(bytes, &mut builder, &Limits::default())?;
        Ok(builder.finish())
    }

    #[test]
    fn a_message_comes_back_from_every_carriage() {
        for format in CARRIAGES {
            for nodes in [0, 1, 60] {
                let batch = sample::message(nodes, 3);
                let bytes = written(format, &batch);
                assert_eq!(read(format, &bytes).unwrap(), batch, "{}", format.name);
                assert!(!format.text || core::str::from_utf8(&bytes).is_ok());
                assert_eq!(crate::by_name(format.name), Some(format));
            }
        }
    }

    #[test]
    fn a_carriage_cut_or_changed_is_refused_within_its_bytes() {
        let batch = sample::message(2, 3);
        for format in CARRIAGES {
            let whole = written(format, &batch);
            for len in 1..whole.len() {
                let error = read(format, &whole[..len]).unwrap_err();
                assert!(error.at <= len, "{} of {len}: {error}", format.name);
            }
            for at in 0..whole.len() {
                let mut bad = whole.clone();
                bad[at] ^= 1;
                if let Err(error) = read(format, &bad) {
                    assert!(error.at <= bad.len(), "{} at {at}: {error}", format.name);
                }
            }
        }
    }

    #[test]
    fn the_place_of_an_error_in_the_block_is_that_in_the_carriage() {
        let mut block = encoded(&sample::message(1, 3));
        block[20] ^= 1;
        type Put = fn(&[u8], &mut Vec<u8>);
        let all: [(&str, Put); 6] = [
            ("block-base64", carried::to_base64),
            ("block-cbor", carried::to_cbor),
            ("block-protobuf", carried::to_protobuf),
            ("block-senml-json", carried::to_senml_json),
            ("block-senml-cbor", carried::to_senml_cbor),
            ("block-swe", |block, out| {
                carried::to_swe(block, 7, "", "", out)
            }),
        ];
        for (name, put) in all {
            let format = crate::by_name(name).unwrap();
            let mut carried = Vec::new();
            put(&block, &mut carried);
            let error = read(format, &carried).unwrap_err();
            assert!(error.to_string().contains("checksum"), "{name}: {error}");
            // The checksum is the block's byte 8: the tenth character of base64 holds its first bits.
            let (begin, behind) = if format.text {
                (&b"V0JLA"[..], 10)
            } else {
                (&b"WBK\x01"[..], 8)
            };
            let found = carried.windows(begin.len()).position(|part| part == begin);
            assert_eq!(error.at, found.unwrap() + behind, "{name}");
        }
    }

    #[test]
    fn swe_says_of_the_quantity_what_the_block_does_not() {
        let mut builder = BatchBuilder::new();
        for value in [1.0, 2.0] {
            builder.begin();
            builder.topic(Naming::Topic, "a");
            builder.value(Value::Number(value));
            builder.end().unwrap();
        }
        let block = encoded(&builder.finish());
        let mut document = Vec::new();
        carried::to_swe(&block, 2, "urn:x", "Cel", &mut document);
        let swe = crate::by_name("block-swe").unwrap();
        let stream = |batch: &Batch| {
            (
                batch.row(1).property.map(ToString::to_string),
                batch.row(1).unit.map(ToString::to_string),
            )
        };
        let batch = read(swe, &document).unwrap();
        assert_eq!(stream(&batch), (Some("urn:x".into()), Some("Cel".into())));
        document.clear();
        carried::to_swe(&block, 3, "", "", &mut document);
        let error = read(swe, &document).unwrap_err().to_string();
        assert!(error.contains("element count"), "{error}");
    }
}
