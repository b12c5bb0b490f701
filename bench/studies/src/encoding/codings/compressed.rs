//! XML compressed as a whole: gzip, bzip2, zstd. Reading is unpacking and then parsing, since the
//! other codings of documents also end at events.

use std::hint::black_box;
use std::io::{Read, Write};
use std::rc::Rc;

use super::xml::parse;
use super::{Coding, From, Prepared};
use crate::encoding::data::Document;

/// A compressor of the whole document.
#[derive(Clone, Copy)]
struct Compressor {
    format: &'static str,
    target: &'static str,
    pack: fn(&[u8]) -> std::io::Result<Vec<u8>>,
    unpack: fn(&[u8]) -> std::io::Result<Vec<u8>>,
}

const COMPRESSORS: [Compressor; 3] = [
    Compressor {
        format: "xml-gzip",
        target: "flate2",
        pack: gzip,
        unpack: gunzip,
    },
    Compressor {
        format: "xml-bzip2",
        target: "bzip2",
        pack: bzip2,
        unpack: bunzip2,
    },
    Compressor {
        format: "xml-zstd",
        target: "zstd",
        pack: zstd,
        unpack: unzstd,
    },
];

pub(super) fn codings() -> Vec<Coding> {
    let coding = |compressor: Compressor| Coding {
        format: compressor.format,
        target: compressor.target,
        from: From::Document,
        prepare: Box::new(move |document| prepare(compressor, document)),
    };
    COMPRESSORS.into_iter().map(coding).collect()
}

fn prepare(compressor: Compressor, document: &Rc<Document>) -> Result<Prepared, String> {
    let bytes = (compressor.pack)(document.xml.as_bytes()).map_err(|e| e.to_string())?;
    let (packed, source) = (bytes.clone(), Rc::clone(document));
    Ok(Prepared {
        bytes,
        parse: Some(Box::new(move || {
            let xml = (compressor.unpack)(&packed).map_err(|e| e.to_string())?;
            parse(std::str::from_utf8(&xml).map_err(|e| e.to_string())?)
        })),
        serialize: None,
        from_xml: Some(Box::new(move || {
            let packed = (compressor.pack)(source.xml.as_bytes());
            black_box(packed.map_err(|e| e.to_string())?);
            Ok(())
        })),
    })
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn gunzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    all_of(flate2::read::GzDecoder::new(bytes))
}

fn bzip2(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn bunzip2(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    all_of(bzip2::read::BzDecoder::new(bytes))
}

fn zstd(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, 3)
}

fn unzstd(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::stream::decode_all(bytes)
}

fn all_of(mut reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    Ok(bytes)
}
