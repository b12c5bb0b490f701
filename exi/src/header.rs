//! The EXI header (EXI 1.0 section 5): cookie, distinguishing bits, version, options document.

mod document;
mod grammar;

use alloc::sync::Arc;
use alloc::vec::Vec;

use document::DocumentReader;

use crate::bits::{Reader, Writer};
use crate::error::ErrorKind;
use crate::fault::{Fault, Result};
use crate::grammar::Schema;
use crate::limits::Limits;
use crate::options::{Alignment, Header, Options};

const COOKIE: &[u8; 4] = b"$EXI";

/// The distinguishing bits: 1, 0 (section 5.2).
const DISTINGUISHING: u32 = 0b10;

/// The schema of options documents, made when it is first wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct OptionsSchema(Option<Arc<Schema>>);

impl OptionsSchema {
    fn schema(&mut self) -> Result<Arc<Schema>> {
        if let Some(schema) = &self.0 {
            return Ok(schema.clone());
        }
        let made = Schema::new(grammar::parts());
        let schema = Arc::new(made.map_err(|_| Fault::Options("their own schema is damaged"))?);
        self.0 = Some(schema.clone());
        Ok(schema)
    }
}

/// Reads the headers of streams that follow each other, and one whose bytes arrive in pieces.
#[derive(Debug, Default)]
pub(crate) struct HeaderReader {
    schema: OptionsSchema,
    document: DocumentReader,
    last: Option<Last>,
}

/// A header with options. The next stream nearly always has the same one, which is then not read.
#[derive(Debug)]
struct Last {
    bytes: Vec<u8>,
    bit: usize,
    options: Options,
}

/// Bytes of a header that is worth keeping.
const LAST_BYTES: usize = 256;

impl Last {
    fn begins(&self, input: &[u8]) -> bool {
        let whole = self.bit / 8;
        let same = self.bytes.get(..whole) == input.get(..whole);
        match (self.bytes.get(whole), input.get(whole)) {
            (None, _) => same,
            (Some(own), Some(other)) => same && (own ^ other) >> (8 - self.bit % 8) == 0,
            (Some(_), None) => false,
        }
    }
}

impl HeaderReader {
    /// Goes to the start of another stream.
    pub(crate) fn restart(&mut self) {
        self.document.restart();
    }

    /// Bits before what was wrong.
    pub(crate) fn failed_at(&self) -> usize {
        self.document.failed_at()
    }

    /// Reads a header; gives the options of the stream's own, if it has them, and the bit where the
    /// body begins. Where bytes are missing it goes on from there when it is asked again.
    pub(crate) fn read(
        &mut self,
        input: &[u8],
        agreed: &Options,
        limits: Limits,
    ) -> Result<(Option<Options>, usize)> {
        if let Some(last) = self.last.as_ref().filter(|last| last.begins(input)) {
            return Ok((Some(last.options.clone()), last.bit));
        }
        let (options, bit) = self.read_anew(input, agreed, limits)?;
        let bytes = input.get(..bit.div_ceil(8)).unwrap_or(&[]);
        if let Some(options) = &options
            && bytes.len() <= LAST_BYTES
        {
            self.last = Some(Last {
                bytes: bytes.into(),
                bit,
                options: options.clone(),
            });
        }
        Ok((options, bit))
    }

    fn read_anew(
        &mut self,
        input: &[u8],
        agreed: &Options,
        limits: Limits,
    ) -> Result<(Option<Options>, usize)> {
        let mut reader = Reader::new(input, 0, false);
        if input.first() == Some(&COOKIE[0]) {
            for byte in COOKIE {
                if reader.bits(8)? != u32::from(*byte) {
                    return Err(ErrorKind::NotExi.into());
                }
            }
        }
        // [EXI-5.2-1]
        if reader.bits(2)? != DISTINGUISHING {
            return Err(ErrorKind::NotExi.into());
        }
        let has_options = reader.bits(1)? == 1;
        version(&mut reader)?;
        let options = if has_options {
            let schema = self.schema.schema()?;
            let (options, bit) = self.document.read(input, reader.bit, schema, limits)?;
            reader.bit = bit;
            Some(options)
        } else {
            None
        };
        // Padding bits follow unless the alignment is bit-packed (section 5).
        if options.as_ref().unwrap_or(agreed).alignment != Alignment::BitPacked {
            reader.align();
        }
        Ok((options, reader.bit))
    }
}

/// Processors of the final version MUST use 0 0000 (section 5.3), and the encoder does. Of previews the
/// working group's own test streams are full, written when nothing was left to change: they are read
/// as what they became. Later versions are refused.
fn version(reader: &mut Reader<'_>) -> Result<()> {
    let preview = reader.bits(1)? == 1;
    let mut version = 1;
    loop {
        let part = reader.bits(4)?;
        version += part;
        if part < 15 {
            break;
        }
        if version > 1_000 {
            return Err(ErrorKind::UnsupportedVersion(version).into());
        }
    }
    // [EXI-5.3-1]
    if !preview && version != 1 {
        return Err(ErrorKind::UnsupportedVersion(version).into());
    }
    Ok(())
}

/// Writes a header up to the padding bits.
pub(crate) fn write(
    header: Header,
    options: &Options,
    canonical: bool,
    schema: &mut OptionsSchema,
) -> Result<Writer> {
    let mut writer = Writer::new(false);
    if header.cookie {
        writer.octets(COOKIE);
    }
    writer.bits(DISTINGUISHING, 2);
    writer.boolean(header.options);
    // [EXI-5.3-2]
    writer.bits(0, 5);
    if !header.options {
        return Ok(writer);
    }
    // [EXI-5.4-2] [C14N-3-5]
    document::write(options, canonical, schema.schema()?, writer)
}

/// What options may not be combined (section 5.4).
pub(crate) fn check(options: &Options) -> Result<()> {
    let preserve = options.preserve;
    let pruned = preserve.comments
        || preserve.processing_instructions
        || preserve.dtd
        || preserve.prefixes
        || options.self_contained;
    // [EXI-5.4-5] [EXI-5.4-6]
    if options.strict && pruned {
        return Err(Fault::Options(
            "strict excludes dtd, prefixes, comments, pis and selfContained",
        ));
    }
    // [EXI-5.4-10]
    if options.self_contained && options.alignment.has_channels() {
        return Err(Fault::Options(
            "selfContained excludes compression and pre-compression",
        ));
    }
    if options.block_size == 0 {
        return Err(Fault::Options("blockSize must be at least 1"));
    }
    Ok(())
}
