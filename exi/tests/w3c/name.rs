//! The options of a stream, which its file name tells:
//! `name.exi%<preserve>%<flags>%<capacity>%<max length>%<block size>%<schema>[%<datatype-representation>]...`.

use weir_exi::options::{ExpandedName, Representation, SchemaId};
use weir_exi::{Alignment, Options, Preserve};

/// A file name, read.
#[derive(Debug)]
pub(crate) struct Name {
    /// Folder and name of the source, without its ending.
    pub(crate) source: String,
    pub(crate) options: Options,
    pub(crate) schema: Grammar,
}

/// Where a stream's grammars come from.
#[derive(Debug)]
pub(crate) enum Grammar {
    /// No schema.
    None,
    /// The built-in types of XML Schema alone: a schema is told, and none named.
    BuiltInTypes,
    /// A file of the suite.
    File(String),
}

impl Name {
    /// Reads a path in the suite.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let (folder, file) = path.rsplit_once('/')?;
        let mut fields = file.split('%');
        let stem = fields.next()?.strip_suffix(".exi")?;
        let folder = folder.rsplit_once("data/")?.1;
        let source = format!("data/{folder}/{stem}");
        let mut options = Options {
            schema_id: SchemaId::Unspecified,
            ..Options::default()
        };
        options.preserve = preserve(fields.next()?);
        let letters = fields.next()?;
        flags(letters, &mut options);
        let number = |field: &str| field.parse::<u32>().ok();
        options.value_partition_capacity = number(fields.next()?);
        options.value_max_length = number(fields.next()?);
        options.block_size = number(fields.next()?).unwrap_or(Options::BLOCK_SIZE);
        // One of the suite's archives has a field more here.
        let rest: Vec<_> = fields.filter(|field| !field.is_empty()).collect();
        let schema = match rest.iter().find(|field| field.starts_with("data@")) {
            Some(path) => Grammar::File(path.replace('@', "/")),
            None if letters.contains('i') => Grammar::BuiltInTypes,
            None => Grammar::None,
        };
        let pairs = rest.iter().filter(|field| !field.starts_with("data@"));
        options.datatype_representation_map =
            pairs.filter_map(|pair| representation(pair)).collect();
        Some(Self {
            source,
            options,
            schema,
        })
    }
}

fn preserve(letters: &str) -> Preserve {
    let has = |letter| letters.contains(letter);
    Preserve {
        comments: has('c'),
        dtd: has('d'),
        lexical_values: has('l'),
        processing_instructions: has('p'),
        prefixes: has('x'),
    }
}

/// Others: `i` (a schema, not strict), `o` (options in the header), `m` (cookie): the stream tells them.
fn flags(letters: &str, options: &mut Options) {
    for letter in letters.chars() {
        match letter {
            'v' => options.strict = true,
            'f' => options.fragment = true,
            'r' => options.self_contained = true,
            'c' => options.alignment = Alignment::Compression,
            'p' => options.alignment = Alignment::PreCompression,
            'a' => options.alignment = Alignment::ByteAligned,
            _ => {}
        }
    }
}

/// Datatypes of XML Schema that the suite maps.
const BUILT_IN: [&str; 7] = [
    "anySimpleType",
    "decimal",
    "double",
    "int",
    "integer",
    "string",
    "token",
];

fn representation(pair: &str) -> Option<Representation> {
    let (datatype, representation) = pair.split_once('-')?;
    // Types of the suite's own are all in one namespace.
    let uri = match BUILT_IN.contains(&datatype) {
        true => "http://www.w3.org/2001/XMLSchema",
        false => "urn:foo",
    };
    Some(Representation {
        datatype: ExpandedName::new(uri, datatype),
        representation: ExpandedName::new("http://www.w3.org/2009/exi", representation),
    })
}
