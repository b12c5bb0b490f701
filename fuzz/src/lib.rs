//! What fuzz targets share: pieces of an input, options of EXI drawn from its first bytes, schemas, limits.
//!
//! It deliberately draws no combination that EXI forbids: encoders refuse those at once.

use std::sync::{Arc, LazyLock};
use weir_exi::options::{ExpandedName, Profile, Representation, SchemaId};
use weir_exi::xsd::{Document, built_in_types, compile};
use weir_exi::{Alignment, Limits, Options, Preserve, Schema};

/// The pieces of an input: each has its length before it in a byte, and the last what is left.
pub fn pieces(mut input: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (&length, rest) = input.split_first()?;
        let (piece, behind) = rest.split_at(rest.len().min(usize::from(length)));
        input = behind;
        Some(piece)
    })
}

/// Bytes of an input that options are drawn from.
pub const CHOICES: usize = 5;

/// Limits under which an input costs milliseconds.
pub const LIMITS: Limits = Limits {
    depth: 100,
    input_bytes: 1 << 20,
    expanded_bytes: 1 << 20,
    table_bytes: 1 << 20,
    table_entries: 1 << 14,
    events: 20_000,
    attributes: 256,
    value_bytes: 1 << 18,
};

/// The schemas that streams are read with.
static SCHEMAS: LazyLock<[Arc<Schema>; 3]> = LazyLock::new(|| {
    let types = include_bytes!("../../exi/conformance/corpus/types.xsd");
    let edges = include_bytes!("../../exi/conformance/corpus/edges.xsd");
    [Arc::new(built_in_types()), schema(types), schema(edges)]
});

fn schema(bytes: &[u8]) -> Arc<Schema> {
    let document = Document {
        location: "",
        bytes,
    };
    Arc::new(compile(&[document], &mut |_: &str| None).expect("a schema of ours"))
}

/// Options and schema of a stream.
pub struct Drawn {
    pub options: Options,
    pub schema: Option<Arc<Schema>>,
    /// Bits that are still free, for what else a target draws.
    pub free: u8,
}

/// Draws options from the first bytes; gives the rest.
pub fn draw(input: &[u8]) -> Option<(Drawn, &[u8])> {
    let (&[layout, kept, sizes, others, free], rest) = input.split_first_chunk::<CHOICES>()?;
    let has = |byte: u8, bit: u8| byte & 1 << bit != 0;
    let schema = match layout >> 4 & 3 {
        0 => None,
        number => Some(Arc::clone(&SCHEMAS[usize::from(number) - 1])),
    };
    let strict = has(layout, 2) && schema.is_some();
    let alignment = [
        Alignment::BitPacked,
        Alignment::ByteAligned,
        Alignment::PreCompression,
        Alignment::Compression,
    ][usize::from(layout & 3)];
    let lexical_values = has(kept, 2);
    let options = Options {
        alignment,
        strict,
        fragment: has(layout, 3),
        preserve: Preserve {
            comments: has(kept, 0) && !strict,
            processing_instructions: has(kept, 1) && !strict,
            dtd: has(kept, 3) && !strict,
            prefixes: has(kept, 4) && !strict,
            lexical_values,
        },
        self_contained: has(kept, 5) && !strict && !alignment.has_channels(),
        schema_id: if schema.is_none() {
            SchemaId::None
        } else {
            SchemaId::Unspecified
        },
        datatype_representation_map: map(others & 7, schema.is_some()),
        block_size: if has(sizes, 0) {
            1 + u32::from(sizes >> 5)
        } else {
            Options::BLOCK_SIZE
        },
        value_max_length: has(sizes, 1).then_some(u32::from(sizes >> 4)),
        value_partition_capacity: has(sizes, 2).then_some(u32::from(sizes >> 5)),
        profile: has(others, 3).then(|| Profile {
            local_value_partitions: has(others, 4),
            built_in_element_grammars_max: has(others, 5).then_some(u32::from(others >> 6)),
            built_in_productions_max: has(others, 6).then_some(u32::from(free >> 5)),
        }),
        user_defined: Vec::new(),
    };
    Some((
        Drawn {
            options,
            schema,
            free,
        },
        rest,
    ))
}

/// Maps of datatypes to representations.
fn map(choice: u8, schema: bool) -> Vec<Representation> {
    let pairs: &[(&str, &str)] = match choice {
        1 => &[("decimal", "string"), ("double", "decimal")],
        2 => &[("integer", "decimal"), ("boolean", "integer")],
        3 => &[("dateTime", "string"), ("string", "dateTime")],
        4 => &[("base64Binary", "hexBinary"), ("hexBinary", "string")],
        5 => &[("string", "integer"), ("integer", "double")],
        _ => &[],
    };
    let pairs = pairs.iter().filter(|_| schema);
    let pair = |&(datatype, representation): &(&str, &str)| Representation {
        datatype: ExpandedName::new("http://www.w3.org/2001/XMLSchema", datatype),
        representation: ExpandedName::new("http://www.w3.org/2009/exi", representation),
    };
    pairs.map(pair).collect()
}
