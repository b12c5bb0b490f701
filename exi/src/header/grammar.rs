//! The schema of options documents (EXI 1.0 appendix C) as grammar tables.

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::codec::EXI_URI;
use crate::grammar::{
    Datatype, DatatypeId, Element, ElementId, NameId, Production, Representation, SchemaParts,
    State, StateId, Terminal, Type, TypeId, UriId, UriNames, WhiteSpace,
};
use crate::value::DateTimeKind;

/// Local names of the namespace of XML Schema (appendix D.3).
const XSD_NAMES: [&str; 46] = [
    "ENTITIES",
    "ENTITY",
    "ID",
    "IDREF",
    "IDREFS",
    "NCName",
    "NMTOKEN",
    "NMTOKENS",
    "NOTATION",
    "Name",
    "QName",
    "anySimpleType",
    "anyType",
    "anyURI",
    "base64Binary",
    "boolean",
    "byte",
    "date",
    "dateTime",
    "decimal",
    "double",
    "duration",
    "float",
    "gDay",
    "gMonth",
    "gMonthDay",
    "gYear",
    "gYearMonth",
    "hexBinary",
    "int",
    "integer",
    "language",
    "long",
    "negativeInteger",
    "nonNegativeInteger",
    "nonPositiveInteger",
    "normalizedString",
    "positiveInteger",
    "short",
    "string",
    "time",
    "token",
    "unsignedByte",
    "unsignedInt",
    "unsignedLong",
    "unsignedShort",
];

/// Local names that the schema declares: elements and types, sorted.
const EXI_NAMES: [&str; 39] = [
    "alignment",
    "base64Binary",
    "blockSize",
    "boolean",
    "byte",
    "comments",
    "common",
    "compression",
    "datatypeRepresentationMap",
    "date",
    "dateTime",
    "decimal",
    "double",
    "dtd",
    "fragment",
    "gDay",
    "gMonth",
    "gMonthDay",
    "gYear",
    "gYearMonth",
    "header",
    "hexBinary",
    "ieeeBinary32",
    "ieeeBinary64",
    "integer",
    "lesscommon",
    "lexicalValues",
    "pis",
    "pre-compress",
    "prefixes",
    "preserve",
    "schemaId",
    "selfContained",
    "strict",
    "string",
    "time",
    "uncommon",
    "valueMaxLength",
    "valuePartitionCapacity",
];

const ANY_TYPE: &str = "anyType";

/// What an element contains.
#[derive(Clone, Copy)]
enum Model {
    Empty,
    Simple(Representation),
    /// Each at most once, in this order.
    Sequence(&'static [Item]),
    /// Exactly one of these.
    Choice(&'static [Item]),
    /// Two of any name.
    Pair,
}

/// An element and its content; any name if there is none.
#[derive(Clone, Copy)]
struct Item {
    name: &'static str,
    model: Model,
    nillable: bool,
    /// Whether it may come several times.
    many: bool,
}

const fn item(name: &'static str, model: Model) -> Item {
    Item {
        name,
        model,
        nillable: false,
        many: false,
    }
}

const fn empty(name: &'static str) -> Item {
    item(name, Model::Empty)
}

const fn number(name: &'static str) -> Item {
    item(name, Model::Simple(Representation::UnsignedInteger))
}

const WILDCARD: Item = Item {
    many: true,
    ..empty("")
};

const HEADER: Item = item(
    "header",
    Model::Sequence(&[LESS_COMMON, COMMON, empty("strict")]),
);

const LESS_COMMON: Item = item(
    "lesscommon",
    Model::Sequence(&[UNCOMMON, PRESERVE, number("blockSize")]),
);

const UNCOMMON: Item = item(
    "uncommon",
    Model::Sequence(&[
        WILDCARD,
        item(
            "alignment",
            Model::Choice(&[empty("byte"), empty("pre-compress")]),
        ),
        empty("selfContained"),
        number("valueMaxLength"),
        number("valuePartitionCapacity"),
        Item {
            many: true,
            ..item("datatypeRepresentationMap", Model::Pair)
        },
    ]),
);

const PRESERVE: Item = item(
    "preserve",
    Model::Sequence(&[
        empty("dtd"),
        empty("prefixes"),
        empty("lexicalValues"),
        empty("comments"),
        empty("pis"),
    ]),
);

const COMMON: Item = item(
    "common",
    Model::Sequence(&[
        empty("compression"),
        empty("fragment"),
        Item {
            nillable: true,
            ..item("schemaId", Model::Simple(Representation::String))
        },
    ]),
);

/// Lowers the schema.
pub(super) fn parts() -> SchemaParts {
    let mut lower = Lower {
        parts: SchemaParts {
            uris: uris(),
            ..SchemaParts::default()
        },
    };
    lower.datatype(Representation::String);
    let header = lower.element(&HEADER);
    lower.parts.global_elements.push(header);
    lower.built_in_types();
    lower.parts
}

fn uris() -> Vec<UriNames> {
    let entry = |uri: &str, prefixes: &[&str], locals: &[&str]| UriNames {
        uri: uri.to_string(),
        prefixes: prefixes.iter().map(ToString::to_string).collect(),
        locals: locals.iter().map(ToString::to_string).collect(),
    };
    alloc::vec![
        entry("", &[""], &[]),
        entry(
            "http://www.w3.org/XML/1998/namespace",
            &["xml"],
            &["base", "id", "lang", "space"]
        ),
        entry(
            "http://www.w3.org/2001/XMLSchema-instance",
            &["xsi"],
            &["nil", "type"]
        ),
        entry("http://www.w3.org/2001/XMLSchema", &[], &XSD_NAMES),
        entry(EXI_URI, &[], &EXI_NAMES),
    ]
}

struct Lower {
    parts: SchemaParts,
}

impl Lower {
    fn name(&self, local: &str) -> NameId {
        let index = EXI_NAMES
            .iter()
            .position(|name| *name == local)
            .unwrap_or(0);
        self.parts.name(UriId(4), index)
    }

    fn datatype(&mut self, representation: Representation) -> DatatypeId {
        let id = DatatypeId(self.parts.datatypes.len() as u32);
        self.parts.datatypes.push(Datatype {
            name: None,
            base: None,
            white_space: WhiteSpace::Collapse,
            representation,
            character_set: None,
        });
        id
    }

    /// Adds a state; its productions may be set only once.
    fn state(&mut self, productions: &[Production]) -> StateId {
        let id = StateId(self.parts.states.len() as u32);
        self.parts.states.push(State {
            first: self.parts.productions.len() as u32,
            count: productions.len() as u32,
            is_first: false,
            has_attributes: false,
            content: id,
        });
        self.parts.productions.extend_from_slice(productions);
        id
    }

    fn end(&mut self) -> StateId {
        self.state(&[END])
    }

    fn element(&mut self, item: &Item) -> ElementId {
        let (start, datatype) = self.model(item.model);
        let empty = self.end();
        let element_type = self.definition(None, start, empty, datatype);
        let name = self.name(item.name);
        let id = ElementId(self.parts.elements.len() as u32);
        self.parts.elements.push(Element {
            name,
            element_type,
            nillable: item.nillable,
        });
        id
    }

    fn definition(
        &mut self,
        name: Option<NameId>,
        start: StateId,
        empty: StateId,
        datatype: Option<DatatypeId>,
    ) -> TypeId {
        for state in [start, empty] {
            let entry = &mut self.parts.states[state.index()];
            (entry.is_first, entry.has_attributes) = (true, true);
        }
        let id = TypeId(self.parts.types.len() as u32);
        self.parts.types.push(Type {
            name,
            start,
            empty,
            castable: false,
            datatype,
        });
        id
    }

    fn model(&mut self, model: Model) -> (StateId, Option<DatatypeId>) {
        match model {
            Model::Empty => (self.end(), None),
            Model::Simple(representation) => {
                let datatype = self.datatype(representation);
                (self.simple(datatype), Some(datatype))
            }
            Model::Sequence(items) => (self.sequence(items), None),
            Model::Choice(items) => {
                let next = self.end();
                let choice: Vec<Production> = items
                    .iter()
                    .map(|item| {
                        let terminal = Terminal::StartElement(self.element(item));
                        Production { terminal, next }
                    })
                    .collect();
                (self.state(&choice), None)
            }
            Model::Pair => {
                let next = self.end();
                let any = |next| Production {
                    terminal: Terminal::StartElementAny,
                    next,
                };
                let second = self.state(&[any(next)]);
                (self.state(&[any(second)]), None)
            }
        }
    }

    fn simple(&mut self, datatype: DatatypeId) -> StateId {
        let next = self.end();
        self.state(&[Production {
            terminal: Terminal::Characters(datatype),
            next,
        }])
    }

    /// Optional items: from the last to the first, each state has what may follow it, named
    /// elements before any name (section 8.5.4.3).
    fn sequence(&mut self, items: &[Item]) -> StateId {
        let mut following: Vec<Production> = Vec::new();
        let mut after = self.end();
        for item in items.iter().rev() {
            let terminal = if item.name.is_empty() {
                Terminal::StartElementAny
            } else {
                Terminal::StartElement(self.element(item))
            };
            // A repeated item goes back to the state that it is part of, which comes next.
            let here = StateId(self.parts.states.len() as u32);
            let next = if item.many { here } else { after };
            let production = Production { terminal, next };
            if terminal == Terminal::StartElementAny {
                following.push(production);
            } else {
                following.insert(0, production);
            }
            let mut state = following.clone();
            state.push(END);
            after = self.state(&state);
        }
        after
    }

    /// The built-in types of XML Schema, which xsi:type may ask for in user-defined metadata.
    fn built_in_types(&mut self) {
        for (index, local) in XSD_NAMES.iter().enumerate() {
            let name = Some(self.parts.name(UriId(3), index));
            let empty = self.end();
            if *local == ANY_TYPE {
                self.any_type(name);
                continue;
            }
            let datatype = self.datatype(representation(local));
            let datatype = match local.strip_suffix('S').or(local.strip_suffix("IES")) {
                Some(_) if matches!(*local, "ENTITIES" | "IDREFS" | "NMTOKENS") => {
                    self.datatype(Representation::List(datatype))
                }
                _ => datatype,
            };
            let start = self.simple(datatype);
            self.definition(name, start, empty, Some(datatype));
        }
    }

    fn any_type(&mut self, name: Option<NameId>) {
        let content = StateId(self.parts.states.len() as u32);
        let characters = Terminal::Characters(DatatypeId::STRING);
        let to = |terminal, next| Production { terminal, next };
        self.state(&[
            to(Terminal::StartElementAny, content),
            END,
            to(characters, content),
        ]);
        let start = StateId(self.parts.states.len() as u32);
        self.state(&[
            to(Terminal::AttributeAny, start),
            to(Terminal::StartElementAny, content),
            END,
            to(characters, content),
        ]);
        let empty = StateId(self.parts.states.len() as u32);
        self.state(&[to(Terminal::AttributeAny, empty), END]);
        self.definition(name, start, empty, None);
    }
}

const END: Production = Production {
    terminal: Terminal::EndElement,
    next: StateId(0),
};

/// Representations of the built-in types (table 7-1).
fn representation(local: &str) -> Representation {
    let bounded = |min, range| Representation::BoundedInteger { min, range };
    match local {
        "base64Binary" => Representation::Base64,
        "hexBinary" => Representation::Hex,
        "boolean" => Representation::Boolean,
        "decimal" => Representation::Decimal,
        "float" | "double" => Representation::Float,
        "byte" => bounded(-128, 256),
        "unsignedByte" => bounded(0, 256),
        "integer" | "int" | "long" | "short" | "negativeInteger" | "nonPositiveInteger" => {
            Representation::Integer
        }
        "nonNegativeInteger" | "positiveInteger" | "unsignedInt" | "unsignedLong"
        | "unsignedShort" => Representation::UnsignedInteger,
        "date" => Representation::DateTime(DateTimeKind::Date),
        "dateTime" => Representation::DateTime(DateTimeKind::DateTime),
        "time" => Representation::DateTime(DateTimeKind::Time),
        "gDay" => Representation::DateTime(DateTimeKind::GDay),
        "gMonth" => Representation::DateTime(DateTimeKind::GMonth),
        "gMonthDay" => Representation::DateTime(DateTimeKind::GMonthDay),
        "gYear" => Representation::DateTime(DateTimeKind::GYear),
        "gYearMonth" => Representation::DateTime(DateTimeKind::GYearMonth),
        _ => Representation::String,
    }
}
