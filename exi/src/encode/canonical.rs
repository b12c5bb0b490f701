//! What the canonical form makes of options (Canonical EXI section 3).

use super::Canonical;
use crate::codec::{ASSOCIATED, EXI_URI, XSD_URI};
use crate::options::{Alignment, Options, Representation};

impl Canonical {
    /// The options that the canonical stream has where these were asked for.
    #[must_use]
    pub fn options(mut options: Options) -> Options {
        // DEFLATE has many streams for one input: what would be compressed MUST be pre-compressed.
        // [C14N-3-8]
        if options.alignment == Alignment::Compression {
            options.alignment = Alignment::PreCompression;
        }
        let lexical = options.preserve.lexical_values;
        let map = &mut options.datatype_representation_map;
        // [C14N-3-9] [C14N-3-11]
        map.retain(|entry| !lexical && !is_default(entry));
        // [C14N-3-10]
        map.sort_by(|one, other| {
            let key = |entry: &'_ Representation| {
                (entry.datatype.local.clone(), entry.datatype.uri.clone())
            };
            key(one).cmp(&key(other))
        });
        options
    }
}

/// Whether the datatype has this representation anyway (EXI 1.0 table 7-1).
fn is_default(entry: &Representation) -> bool {
    let (datatype, representation) = (&entry.datatype, &entry.representation);
    let usual = match datatype.local.as_str() {
        "float" | "double" => "double",
        "anySimpleType" => "string",
        local => local,
    };
    datatype.uri == XSD_URI
        && ASSOCIATED.contains(&datatype.local.as_str())
        && representation.uri == EXI_URI
        && representation.local == usual
}
