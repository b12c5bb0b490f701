//! What can be typed after `weir exi`, and the options of EXI that it means.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use weir_exi::options::{ExpandedName, Header, Profile, Representation, SchemaId};
use weir_exi::{Alignment, Canonical, Options, Preserve};
use weir_program::Failure;

/// The command.
#[derive(Args)]
pub(crate) struct Exi {
    #[command(subcommand)]
    pub(super) direction: Direction,
}

/// Which way.
#[derive(Subcommand)]
pub(super) enum Direction {
    /// Turn an XML document into EXI
    Encode(Coding),
    /// Turn EXI into an XML document; a header with options decides over what is given here
    Decode(Coding),
}

/// Layout of the stream.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Layout {
    /// Packed in bits
    Bit,
    /// Aligned on bytes
    Byte,
    /// Values in channels, not compressed
    Precompress,
    /// Values in channels, compressed
    Compress,
}

/// The options of EXI (EXI 1.0 section 5.4) and what an encoder may choose.
#[derive(Args)]
pub(super) struct Coding {
    /// Compile this XML Schema and code by it; "" means the built-in datatypes alone
    #[arg(long, value_name = "XSD")]
    pub(super) schema: Option<String>,
    /// Name of the schema in the header of a stream, where it is not the path given
    #[arg(long, value_name = "ID")]
    pub(super) schema_id: Option<String>,
    /// Only what the grammars of the schema have room for
    #[arg(long)]
    pub(super) strict: bool,
    /// Any number of elements instead of a document
    #[arg(long)]
    pub(super) fragment: bool,
    /// Layout of the stream
    #[arg(long, value_enum, default_value = "bit")]
    pub(super) alignment: Layout,
    /// Keep comments (c), document type (d), lexical values (l), processing instructions (p), prefixes (x)
    #[arg(long, value_name = "cdlpx", default_value = "")]
    preserve: String,
    /// Datatypes and their representations: xsd:decimal=exi:string,{uri}name=exi:integer
    #[arg(long, value_name = "MAP", default_value = "")]
    pub(super) dtrm: String,
    /// Values in a block of a compressed stream
    #[arg(long, value_name = "N")]
    pub(super) block_size: Option<u32>,
    /// Strings kept in the value partitions
    #[arg(long, value_name = "N")]
    value_capacity: Option<u32>,
    /// Characters of the longest string kept
    #[arg(long, value_name = "N")]
    value_max_length: Option<u32>,
    /// Allow self-contained elements; with names ({uri}local,...), make those self-contained
    #[arg(long, value_name = "NAMES", num_args = 0..=1)]
    #[arg(require_equals = true, default_missing_value = "")]
    pub(super) self_contained: Option<String>,
    /// EXI Profile: no local value partitions
    #[arg(long)]
    no_local_values: bool,
    /// EXI Profile: element grammars that may learn
    #[arg(long, value_name = "N")]
    pub(super) built_in_grammars: Option<u32>,
    /// EXI Profile: productions that may be learned
    #[arg(long, value_name = "N")]
    pub(super) built_in_productions: Option<u32>,
    /// Begin with the cookie $EXI
    #[arg(long)]
    cookie: bool,
    /// Write the options into the header
    #[arg(long)]
    options_in_header: bool,
    /// Write canonical EXI
    #[arg(long)]
    pub(super) canonical: bool,
    /// Canonical: date and time in UTC
    #[arg(long, requires = "canonical")]
    pub(super) utc: bool,
    /// Input; standard input without, or where it is `-`
    pub(super) file: Option<PathBuf>,
}

impl Coding {
    /// The options as EXI names them, those of the canonical stream where it is asked for.
    pub(super) fn options(&self) -> Result<Options, Failure> {
        let options = Options {
            alignment: match self.alignment {
                Layout::Bit => Alignment::BitPacked,
                Layout::Byte => Alignment::ByteAligned,
                Layout::Precompress => Alignment::PreCompression,
                Layout::Compress => Alignment::Compression,
            },
            strict: self.strict,
            fragment: self.fragment,
            preserve: preserve(&self.preserve)?,
            self_contained: self.self_contained.is_some(),
            schema_id: self.schema_id(),
            datatype_representation_map: representations(&self.dtrm)?,
            block_size: self.block_size.unwrap_or(Options::BLOCK_SIZE),
            value_max_length: self.value_max_length,
            value_partition_capacity: self.value_capacity,
            profile: self.profile(),
            ..Options::default()
        };
        Ok(match self.canonical {
            true => Canonical::options(options),
            false => options,
        })
    }

    /// The EXI Profile, if one of its parameters is given.
    fn profile(&self) -> Option<Profile> {
        let bounds = (self.built_in_grammars, self.built_in_productions);
        let given = self.no_local_values || bounds != (None, None);
        given.then_some(Profile {
            local_value_partitions: !self.no_local_values,
            built_in_element_grammars_max: self.built_in_grammars,
            built_in_productions_max: self.built_in_productions,
        })
    }

    fn schema_id(&self) -> SchemaId {
        match self.schema.as_deref() {
            None => SchemaId::None,
            Some("") => SchemaId::BuiltInTypes,
            Some(path) => SchemaId::Id(self.schema_id.as_deref().unwrap_or(path).to_owned()),
        }
    }

    /// Whether the header has the options.
    pub(super) const fn options_in_header(&self) -> bool {
        self.options_in_header
    }

    /// What stands before the body.
    pub(super) const fn header(&self) -> Header {
        Header {
            cookie: self.cookie,
            options: self.options_in_header,
        }
    }

    /// The elements to make self-contained.
    pub(super) fn self_contained_names(&self) -> Result<Vec<ExpandedName>, Failure> {
        let list = self.self_contained.as_deref().unwrap_or_default();
        list.split(',')
            .filter(|name| !name.is_empty())
            .map(name)
            .collect()
    }
}

fn preserve(letters: &str) -> Result<Preserve, Failure> {
    let mut preserve = Preserve::default();
    for letter in letters.chars() {
        match letter {
            'c' => preserve.comments = true,
            'd' => preserve.dtd = true,
            'l' => preserve.lexical_values = true,
            'p' => preserve.processing_instructions = true,
            'x' => preserve.prefixes = true,
            other => {
                return Err(Failure::usage(format!(
                    "--preserve has no `{other}`; it takes of cdlpx"
                )));
            }
        }
    }
    Ok(preserve)
}

fn representations(map: &str) -> Result<Vec<Representation>, Failure> {
    let pairs = map.split(',').filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        // A namespace may hold `=`; the last one divides.
        let (datatype, representation) = pair.rsplit_once('=').ok_or_else(|| {
            Failure::usage(format!("--dtrm: `{pair}` is not DATATYPE=REPRESENTATION"))
        })?;
        Ok(Representation {
            datatype: name(datatype)?,
            representation: name(representation)?,
        })
    };
    pairs.map(pair).collect()
}

/// `{namespace}local`, or `xsd:local`, `exi:local`, `local`.
fn name(text: &str) -> Result<ExpandedName, Failure> {
    if let Some((uri, local)) = text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        return Ok(ExpandedName::new(uri, local));
    }
    match text.split_once(':') {
        Some(("xsd" | "xs", local)) => {
            Ok(ExpandedName::new("http://www.w3.org/2001/XMLSchema", local))
        }
        Some(("exi", local)) => Ok(ExpandedName::new("http://www.w3.org/2009/exi", local)),
        Some(_) => Err(Failure::usage(format!(
            "`{text}`: of prefixes only xsd and exi are known; write {{uri}}name"
        ))),
        None => Ok(ExpandedName::new("", text)),
    }
}
