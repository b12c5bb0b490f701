//! Options documents: EXI bodies by the schema of appendix C and the option strict (EXI 1.0
//! section 5.4).

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

use crate::bits::Writer;
use crate::codec::EXI_URI;
use crate::decode::Body as DecoderBody;
use crate::encode::{Body as EncoderBody, Manner};
use crate::event::{Event, QName};
use crate::fault::{Fault, Result};
use crate::grammar::Schema;
use crate::limits::Limits;
use crate::options::{Alignment, ExpandedName, Options, Profile, Representation, SchemaId};
use crate::value::{Decimal, Integer, Unsigned, Value};

/// The element of the EXI Profile among the user-defined ones.
const PROFILE: &str = "p";

fn strict() -> Options {
    Options {
        strict: true,
        ..Options::default()
    }
}

/// Reads documents one after the other, each as its bytes arrive.
#[derive(Debug, Default)]
pub(super) struct DocumentReader {
    body: Option<Box<DecoderBody>>,
    gather: Gather,
    /// Whether a document is begun and not ended.
    begun: bool,
}

impl DocumentReader {
    /// Leaves the document that is begun.
    pub(super) fn restart(&mut self) {
        self.begun = false;
    }

    /// Bits before what was wrong.
    pub(super) fn failed_at(&self) -> usize {
        match &self.body {
            Some(body) if self.begun => body.failed_at.0,
            _ => 0,
        }
    }

    /// Reads the document from a bit on; gives the options and the bit behind it.
    pub(super) fn read(
        &mut self,
        input: &[u8],
        bit: usize,
        schema: Arc<Schema>,
        limits: Limits,
    ) -> Result<(Options, usize)> {
        // [EXI-5.4-3]
        let made = || Box::new(DecoderBody::new(Some(schema), strict(), limits));
        let body = self.body.get_or_insert_with(made);
        if !mem::replace(&mut self.begun, true) {
            body.restart();
            body.bit = bit;
            self.gather = Gather::default();
        }
        while !body.is_done() {
            let raw = body.next(input)?;
            self.gather.event(&body.show(raw))?;
        }
        let options = mem::take(&mut self.gather).finish()?;
        super::check(&options)?;
        self.begun = false;
        Ok((options, body.bit))
    }
}

#[derive(Debug, Default)]
struct Gather {
    options: Options,
    path: Vec<ExpandedName>,
    /// The first name of a pair in datatypeRepresentationMap.
    datatype: Option<ExpandedName>,
    compression: bool,
    nil: bool,
}

impl Gather {
    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        match event {
            Event::StartElement(name) => {
                let name = ExpandedName::new(name.uri, name.local);
                self.start(&name);
                self.path.push(name);
                Ok(())
            }
            Event::EndElement => self.end(),
            Event::Attribute(name, Value::Boolean(nil)) if name.local == "nil" => {
                self.nil = *nil;
                Ok(())
            }
            Event::Characters(value) => self.value(value),
            _ => Ok(()),
        }
    }

    fn start(&mut self, name: &ExpandedName) {
        let parent = self.path.last().map_or("", |parent| &parent.local);
        let options = &mut self.options;
        match (parent, &*name.local) {
            ("datatypeRepresentationMap", _) if self.path.len() == 4 => {
                match self.datatype.take() {
                    None => self.datatype = Some(name.clone()),
                    Some(datatype) => options.datatype_representation_map.push(Representation {
                        datatype,
                        representation: name.clone(),
                    }),
                }
            }
            ("alignment", "byte") => options.alignment = Alignment::ByteAligned,
            ("alignment", "pre-compress") => options.alignment = Alignment::PreCompression,
            ("uncommon", "selfContained") => options.self_contained = true,
            ("preserve", "dtd") => options.preserve.dtd = true,
            ("preserve", "prefixes") => options.preserve.prefixes = true,
            ("preserve", "lexicalValues") => options.preserve.lexical_values = true,
            ("preserve", "comments") => options.preserve.comments = true,
            ("preserve", "pis") => options.preserve.processing_instructions = true,
            ("common", "compression") => self.compression = true,
            ("common", "fragment") => options.fragment = true,
            ("common", "schemaId") => {
                options.schema_id = SchemaId::BuiltInTypes;
                self.nil = false;
            }
            ("header", "strict") => options.strict = true,
            // [EXI-5.4-8]
            ("uncommon", local) if !is_option(local) => options.user_defined.push(name.clone()),
            _ => {}
        }
    }

    fn end(&mut self) -> Result<()> {
        let name = self.path.pop().ok_or(Fault::Code)?;
        if name.local == "schemaId" && self.nil {
            self.options.schema_id = SchemaId::None;
        }
        Ok(())
    }

    fn value(&mut self, value: &Value<'_>) -> Result<()> {
        let name = self.path.last().map_or("", |name| &name.local);
        let options = &mut self.options;
        match (name, value) {
            ("valueMaxLength", _) => options.value_max_length = Some(number(value)?),
            ("valuePartitionCapacity", _) => {
                options.value_partition_capacity = Some(number(value)?);
            }
            ("blockSize", _) => options.block_size = number(value)?,
            ("schemaId", Value::Text("")) => options.schema_id = SchemaId::BuiltInTypes,
            ("schemaId", value) => options.schema_id = SchemaId::Id(value.to_string()),
            (PROFILE, Value::Decimal(decimal)) if self.path.len() == 4 => {
                options.profile = Some(profile(decimal));
                options.user_defined.pop();
            }
            _ => {}
        }
        Ok(())
    }

    /// The "alignment" element MUST NOT appear together with "compression" (section 5.4).
    fn finish(mut self) -> Result<Options> {
        if self.compression {
            // [EXI-5.4-4] [EXI-5.4-9]
            if self.options.alignment != Alignment::BitPacked {
                return Err(Fault::Options(
                    "alignment and compression exclude each other",
                ));
            }
            self.options.alignment = Alignment::Compression;
        }
        Ok(self.options)
    }
}

fn is_option(local: &str) -> bool {
    matches!(
        local,
        "alignment" | "valueMaxLength" | "valuePartitionCapacity" | "datatypeRepresentationMap"
    )
}

fn number(value: &Value<'_>) -> Result<u32> {
    let Value::Integer(Integer {
        magnitude: Unsigned::Small(value),
        ..
    }) = value
    else {
        return Err(Fault::Options("a number in them is too large"));
    };
    // Larger ones bound nothing that memory holds.
    Ok(u32::try_from(*value).unwrap_or(u32::MAX - 1))
}

/// The parameters of the EXI Profile as one decimal: sign, integral and reversed fraction (EXI
/// Profile section 3).
fn profile(decimal: &Decimal<'_>) -> Profile {
    let parameter = |number: &Unsigned<'_>| match number {
        Unsigned::Small(value) => u32::try_from(*value).ok()?.checked_sub(1),
        Unsigned::Big(_) => None,
    };
    Profile {
        local_value_partitions: decimal.negative,
        built_in_element_grammars_max: parameter(&decimal.integral),
        built_in_productions_max: parameter(&decimal.reversed_fraction),
    }
}

/// Writes the document behind the bits of a writer.
pub(super) fn write(
    options: &Options,
    canonical: bool,
    schema: Arc<Schema>,
    writer: Writer,
) -> Result<Writer> {
    let manner = Manner::default();
    let body = EncoderBody::new(Some(schema), strict(), Limits::default(), manner, writer);
    let mut out = Out { body };
    out.body.event(&Event::StartDocument)?;
    out.open("header")?;
    out.less_common(options, canonical)?;
    out.common(options)?;
    if options.strict {
        out.empty("strict")?;
    }
    out.close()?;
    // ED takes no bits, and the body follows without padding.
    Ok(out.body.into_writer())
}

struct Out {
    body: EncoderBody,
}

impl Out {
    fn open(&mut self, local: &str) -> Result<()> {
        self.body
            .event(&Event::StartElement(QName::new(EXI_URI, local)))
    }

    fn close(&mut self) -> Result<()> {
        self.body.event(&Event::EndElement)
    }

    fn empty(&mut self, local: &str) -> Result<()> {
        self.open(local)?;
        self.close()
    }

    fn number(&mut self, local: &str, value: u32) -> Result<()> {
        self.open(local)?;
        let value = Value::Integer(Integer::from(u64::from(value)));
        self.body.event(&Event::Characters(value))?;
        self.close()
    }

    fn less_common(&mut self, options: &Options, canonical: bool) -> Result<()> {
        let preserve = options.preserve;
        let preserves = preserve != crate::options::Preserve::default();
        // Without channels blockSize says nothing, and Canonical EXI leaves it out.
        // [C14N-3-6] [C14N-3-7]
        let has_block_size = options.block_size != Options::BLOCK_SIZE
            && (options.alignment.has_channels() || !canonical);
        let uncommon = is_uncommon(options);
        // [C14N-3-14]
        if !uncommon && !preserves && !has_block_size {
            return Ok(());
        }
        self.open("lesscommon")?;
        if uncommon {
            self.uncommon(options)?;
        }
        if preserves {
            self.open("preserve")?;
            for (local, kept) in [
                ("dtd", preserve.dtd),
                ("prefixes", preserve.prefixes),
                ("lexicalValues", preserve.lexical_values),
                ("comments", preserve.comments),
                ("pis", preserve.processing_instructions),
            ] {
                if kept {
                    self.empty(local)?;
                }
            }
            self.close()?;
        }
        if has_block_size {
            self.number("blockSize", options.block_size)?;
        }
        self.close()
    }

    fn uncommon(&mut self, options: &Options) -> Result<()> {
        self.open("uncommon")?;
        if let Some(profile) = &options.profile {
            self.profile(profile)?;
        }
        for name in &options.user_defined {
            self.body
                .event(&Event::StartElement(QName::new(&name.uri, &name.local)))?;
            self.close()?;
        }
        let alignment = match options.alignment {
            Alignment::ByteAligned => Some("byte"),
            Alignment::PreCompression => Some("pre-compress"),
            Alignment::BitPacked | Alignment::Compression => None,
        };
        if let Some(alignment) = alignment {
            self.open("alignment")?;
            self.empty(alignment)?;
            self.close()?;
        }
        if options.self_contained {
            self.empty("selfContained")?;
        }
        if let Some(length) = options.value_max_length {
            self.number("valueMaxLength", length)?;
        }
        if let Some(capacity) = options.value_partition_capacity {
            self.number("valuePartitionCapacity", capacity)?;
        }
        self.map(options)?;
        self.close()
    }

    fn map(&mut self, options: &Options) -> Result<()> {
        for entry in &options.datatype_representation_map {
            // [EXI-7.4-1] [EXI-7.4-3]
            self.open("datatypeRepresentationMap")?;
            for name in [&entry.datatype, &entry.representation] {
                self.body
                    .event(&Event::StartElement(QName::new(&name.uri, &name.local)))?;
                self.close()?;
            }
            self.close()?;
        }
        Ok(())
    }

    fn profile(&mut self, profile: &Profile) -> Result<()> {
        let parameter =
            |value: Option<u32>| Unsigned::Small(value.map_or(0, |value| u64::from(value) + 1));
        self.open(PROFILE)?;
        let decimal = QName::new("http://www.w3.org/2001/XMLSchema", "decimal");
        let xsi_type = QName::new("http://www.w3.org/2001/XMLSchema-instance", "type");
        self.body
            .event(&Event::Attribute(xsi_type, Value::QName(decimal)))?;
        let value = Decimal {
            negative: profile.local_value_partitions,
            integral: parameter(profile.built_in_element_grammars_max),
            reversed_fraction: parameter(profile.built_in_productions_max),
        };
        self.body.event(&Event::Characters(Value::Decimal(value)))?;
        self.close()
    }

    fn common(&mut self, options: &Options) -> Result<()> {
        let compressed = options.alignment == Alignment::Compression;
        let has_schema_id = options.schema_id != SchemaId::Unspecified;
        if !compressed && !options.fragment && !has_schema_id {
            return Ok(());
        }
        self.open("common")?;
        if compressed {
            self.empty("compression")?;
        }
        if options.fragment {
            self.empty("fragment")?;
        }
        if has_schema_id {
            self.schema_id(&options.schema_id)?;
        }
        self.close()
    }

    fn schema_id(&mut self, id: &SchemaId) -> Result<()> {
        self.open("schemaId")?;
        match id {
            SchemaId::Unspecified => {}
            SchemaId::None => {
                let nil = QName::new("http://www.w3.org/2001/XMLSchema-instance", "nil");
                self.body
                    .event(&Event::Attribute(nil, Value::Boolean(true)))?;
            }
            SchemaId::BuiltInTypes => {}
            SchemaId::Id(id) => {
                let id: &String = id;
                self.body.event(&Event::Characters(Value::Text(id)))?;
            }
        }
        self.close()
    }
}

/// Whether the element "uncommon" has something to say.
fn is_uncommon(options: &Options) -> bool {
    let mapped = !options.datatype_representation_map.is_empty();
    options.profile.is_some()
        || !options.user_defined.is_empty()
        || matches!(
            options.alignment,
            Alignment::ByteAligned | Alignment::PreCompression
        )
        || options.self_contained
        || options.value_max_length.is_some()
        || options.value_partition_capacity.is_some()
        || mapped
}
