//! The EXI header (EXI 1.0 section 5): cookie, distinguishing bits, version, options document.

mod document;
mod grammar;

use alloc::sync::Arc;

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
        let schema = Arc::new(made.map_err(|_| Fault::Options("no schema of options documents"))?);
        self.0 = Some(schema.clone());
        Ok(schema)
    }
}

/// Reads a header; gives the options of the stream's own, if it has them, and the bit where the
/// body begins.
pub(crate) fn read(
    input: &[u8],
    agreed: &Options,
    schema: &mut OptionsSchema,
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
    if reader.bits(2)? != DISTINGUISHING {
        return Err(ErrorKind::NotExi.into());
    }
    let has_options = reader.bits(1)? == 1;
    version(&mut reader)?;
    let options = if has_options {
        let (options, bit) = document::read(input, reader.bit, schema.schema()?, limits)?;
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
    writer.bits(0, 5);
    if !header.options {
        return Ok(writer);
    }
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
    if options.strict && pruned {
        return Err(Fault::Options(
            "strict excludes dtd, prefixes, comments, pis and selfContained",
        ));
    }
    if options.self_contained && options.alignment.has_channels() {
        return Err(Fault::Options(
            "selfContained excludes compression and pre-compression",
        ));
    }
    if options.block_size == 0 {
        return Err(Fault::Options("blockSize is at least 1"));
    }
    Ok(())
}
