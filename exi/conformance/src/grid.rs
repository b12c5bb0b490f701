//! Combinations of options, as weir has them and as the oracle has them.

use crate::document::Document;
use crate::random::Random;
use weir_exi::infoset::{Rules, WhiteSpace};
use weir_exi::options::{ExpandedName, Header, Profile, Representation, SchemaId};
use weir_exi::{Alignment, Canonical, Options, Preserve};

/// One combination.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) options: Options,
    pub(crate) header: Header,
    /// Whether the options are told in the header alone.
    pub(crate) in_band: bool,
    pub(crate) self_contained: Vec<ExpandedName>,
    pub(crate) canonical: Option<Canonical>,
}

const ALIGNMENTS: [(Alignment, &str); 4] = [
    (Alignment::BitPacked, "bit"),
    (Alignment::ByteAligned, "byte"),
    (Alignment::PreCompression, "precompress"),
    (Alignment::Compression, "compress"),
];

/// Elements of the schemas here whose types the oracle forgets with any map in use: lists, restricted sets
/// of characters, patterns of booleans.
const FORGOTTEN: [&str; 15] = [
    "<NMTOKENS>",
    "<letters>",
    "<flag>",
    "<colors>",
    "<decimals>",
    "<flags>",
    "<instants>",
    "<digits>",
    "<notA>",
    "<words>",
    "<twice>",
    "<faces>",
    "<many>",
    "<code>",
    "NMTOKENS\"",
];

/// The combination of a number: alignment, strict and what is preserved go round, the others are drawn.
pub(crate) fn case(number: usize, document: &Document, random: &mut Random) -> Case {
    let schema = document.schema.as_deref();
    // The oracle counts characters beyond U+FFFF twice.
    let countable = !document.is_astral();
    // With any map, it forgets lists, restricted characters, patterns of booleans, and more: the documents
    // made here are known for having none of these.
    let mappable = document.generated && !FORGOTTEN.iter().any(|element| document.has(element));
    let alignment = ALIGNMENTS[number % 4].0;
    let strict = schema.is_some() && number / 4 % 2 == 1;
    let letters = (number / 8 + random.below(32)) % 32;
    let canonical = random.one_in(3);
    let header = Header {
        cookie: random.one_in(4) && !canonical,
        options: random.one_in(2),
    };
    let canonical = canonical.then_some(Canonical {
        utc_time: random.one_in(3),
        omit_options: !header.options,
    });
    let plain =
        canonical.is_none() && !strict && !alignment.has_channels() && !document.has_types();
    let self_contained = plain && random.one_in(5);
    let kept = preserve(letters, strict, self_contained, document.has_types());
    let options = Options {
        alignment,
        strict,
        fragment: random.one_in(6) || document.fragment,
        preserve: kept,
        self_contained,
        schema_id: schema.map_or(SchemaId::None, |path| {
            SchemaId::Id(path.display().to_string())
        }),
        // The canonical form has no map where lexical values are kept (Canonical EXI section 3).
        datatype_representation_map: map(
            mappable && random.one_in(5) && !(canonical.is_some() && kept.lexical_values),
            strict,
        ),
        block_size: if random.one_in(3) {
            1 + random.below(40) as u32
        } else {
            Options::BLOCK_SIZE
        },
        value_max_length: (countable && random.one_in(4)).then(|| random.below(12) as u32),
        value_partition_capacity: random.one_in(4).then(|| random.below(20) as u32),
        profile: profile(random).filter(|_| canonical.is_none()),
        ..Options::default()
    };
    let in_band = header.options && random.one_in(2);
    let names = [
        ExpandedName::new("", "row"),
        ExpandedName::new("", "a"),
        ExpandedName::new("urn:weir:types", "record"),
    ];
    let self_contained = if self_contained {
        names.to_vec()
    } else {
        Vec::new()
    };
    Case {
        options,
        header,
        in_band,
        self_contained,
        canonical,
    }
}

/// Bounds of the EXI Profile, some of them none; all three none the oracle does not tell from the opposite.
fn profile(random: &mut Random) -> Option<Profile> {
    let mut bound = || (!random.one_in(3)).then(|| random.below(12) as u32);
    let (grammars, productions) = (bound(), bound());
    let profile = Profile {
        local_value_partitions: random.one_in(2) && (grammars, productions) != (None, None),
        built_in_element_grammars_max: grammars,
        built_in_productions_max: productions,
    };
    random.one_in(5).then_some(profile)
}

/// Strict streams keep nothing but lexical values (section 5.4). The type that a kept `xsi:type` names can
/// only be had with its prefix, and in self-contained elements the oracle knows no prefix from outside.
fn preserve(letters: usize, strict: bool, self_contained: bool, types: bool) -> Preserve {
    let has = |bit: usize| letters & (1 << bit) != 0 && (bit == 0 || !strict);
    let unresolved = types && (strict || self_contained);
    let lexical_values = has(0) && !unresolved;
    Preserve {
        lexical_values,
        comments: has(1),
        dtd: has(2),
        processing_instructions: has(3),
        prefixes: !self_contained && (has(4) || lexical_values && types),
    }
}

/// A map; in a strict stream a number with an exponent would have no decimal.
fn map(some: bool, strict: bool) -> Vec<Representation> {
    let xsd = |local| ExpandedName::new("http://www.w3.org/2001/XMLSchema", local);
    let exi = |local| ExpandedName::new("http://www.w3.org/2009/exi", local);
    let pair = |datatype, representation| Representation {
        datatype,
        representation,
    };
    let all = [
        pair(xsd("decimal"), exi("string")),
        pair(
            xsd("double"),
            exi(if strict { "string" } else { "decimal" }),
        ),
    ];
    if some { all.to_vec() } else { Vec::new() }
}

impl Case {
    /// The rules to compare by.
    pub(crate) fn rules(&self, typed: bool) -> Rules {
        Rules {
            preserve: self.options.preserve,
            typed,
            white_space: WhiteSpace::NotBetween,
        }
    }

    /// The options as the oracle reads them, for this document.
    pub(crate) fn settings(&self, document: &Document) -> Vec<String> {
        let (schema, references) = (document.schema.as_deref(), document.has_entities());
        let options = &self.options;
        let mut settings = Vec::new();
        let alignment = ALIGNMENTS
            .iter()
            .find(|(alignment, _)| *alignment == options.alignment);
        settings.extend(alignment.map(|(_, name)| format!("alignment={name}")));
        settings.extend(schema.map(|path| format!("schema={}", path.display())));
        let letters = letters(options.preserve);
        if !letters.is_empty() {
            settings.push(format!("preserve={letters}"));
        }
        let flags = [
            (options.strict, "strict"),
            (options.fragment, "fragment"),
            (
                options.preserve.dtd && references && !options.fragment,
                "references",
            ),
            (self.header.cookie, "cookie"),
            (self.header.options, "header"),
            (self.header.options, "schemaId"),
            // A document's own xsi:nil and xsi:schemaLocation are part of it.
            (true, "insignificantNil"),
            (true, "schemaLocation"),
        ];
        settings.extend(
            flags
                .iter()
                .filter(|(on, _)| *on)
                .map(|(_, name)| (*name).to_owned()),
        );
        if options.block_size != Options::BLOCK_SIZE {
            settings.push(format!("blockSize={}", options.block_size));
        }
        settings.extend(
            options
                .value_max_length
                .map(|length| format!("valueMaxLength={length}")),
        );
        settings.extend(
            options
                .value_partition_capacity
                .map(|count| format!("valueCapacity={count}")),
        );
        settings.extend(self.names());
        settings.extend(self.profile());
        if let Some(canonical) = self.canonical {
            settings.push("canonical".into());
            settings.extend(canonical.utc_time.then(|| "utc".into()));
        }
        settings
    }

    fn profile(&self) -> Vec<String> {
        let Some(profile) = self.options.profile else {
            return Vec::new();
        };
        let none = (!profile.local_value_partitions).then(|| "noLocalValues".into());
        let grammars = profile.built_in_element_grammars_max;
        let productions = profile.built_in_productions_max;
        let grammars = grammars.map(|max| format!("builtInElementGrammars={max}"));
        let productions = productions.map(|max| format!("builtInProductions={max}"));
        none.into_iter()
            .chain(grammars)
            .chain(productions)
            .collect()
    }

    fn names(&self) -> Vec<String> {
        let mut settings = Vec::new();
        let name = |name: &ExpandedName| match name.uri.as_str() {
            "" => name.local.clone(),
            uri => format!("{{{uri}}}{}", name.local),
        };
        if self.options.self_contained {
            let names: Vec<_> = self.self_contained.iter().map(name).collect();
            settings.push(format!("selfContained={}", names.join(",")));
        }
        let map = &self.options.datatype_representation_map;
        if !map.is_empty() {
            let pairs = map
                .iter()
                .flat_map(|pair| [name(&pair.datatype), name(&pair.representation)]);
            settings.push(format!("dtrm={}", pairs.collect::<Vec<_>>().join(",")));
        }
        settings
    }
}

/// The letters of what is preserved.
pub(crate) fn letters(preserve: Preserve) -> String {
    let all = [
        (preserve.comments, 'c'),
        (preserve.dtd, 'd'),
        (preserve.lexical_values, 'l'),
        (preserve.processing_instructions, 'p'),
        (preserve.prefixes, 'x'),
    ];
    all.iter()
        .filter(|(on, _)| *on)
        .map(|(_, letter)| letter)
        .collect()
}
