//! What may stand where in a schema document (XML Schema part 1 appendix A): which elements below
//! which, and which attributes they have.
//!
//! Whatever else stands there is a mistake, or of XML Schema 1.1, and a grammar that left it out would
//! not be that of the schema. It deliberately does not count: how many of each, and in which order, is
//! looked at where it matters.

/// Of a complex type, and of what derives one.
const ATTRIBUTES: &[&str] = &["attribute", "attributeGroup", "anyAttribute"];
const MODELS: &[&str] = &["group", "all", "choice", "sequence"];
const PARTICLES: &[&str] = &["element", "group", "choice", "sequence", "any"];
const FACETS: &[&str] = &[
    "minExclusive",
    "minInclusive",
    "maxExclusive",
    "maxInclusive",
    "totalDigits",
    "fractionDigits",
    "length",
    "minLength",
    "maxLength",
    "enumeration",
    "whiteSpace",
    "pattern",
];
const DEFINITIONS: &[&str] = &["simpleType", "complexType", "group", "attributeGroup"];
const TYPES: &[&str] = &["simpleType", "complexType"];

/// Where an element stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    /// The element around it.
    pub(super) parent: Option<&'p str>,
    /// Whether it refers to what is declared elsewhere.
    pub(super) refers: bool,
}

/// Lists of elements that may stand below an element.
pub(super) fn children(place: Place<'_>, tag: &str) -> &'static [&'static [&'static str]] {
    match (tag, place.parent) {
        ("schema", _) => &[
            &["include", "import", "redefine", "element", "attribute"],
            &["notation"],
            DEFINITIONS,
        ],
        ("redefine", _) => &[DEFINITIONS],
        ("element" | "attribute", _) if place.refers => &[],
        ("element", _) => &[TYPES, &["unique", "key", "keyref"]],
        ("unique" | "key" | "keyref", _) => &[&["selector", "field"]],
        ("attribute", _) | ("list" | "union", _) => &[&["simpleType"]],
        ("complexType", _) => &[&["simpleContent", "complexContent"], MODELS, ATTRIBUTES],
        ("simpleContent" | "complexContent", _) => &[&["restriction", "extension"]],
        ("extension", Some("simpleContent")) => &[ATTRIBUTES],
        ("restriction", Some("simpleContent")) => &[&["simpleType"], FACETS, ATTRIBUTES],
        ("restriction", Some("simpleType")) => &[&["simpleType"], FACETS],
        ("extension" | "restriction", _) => &[MODELS, ATTRIBUTES],
        ("group", Some("schema" | "redefine")) => &[&["all", "choice", "sequence"]],
        ("all", _) => &[&["element"]],
        ("choice" | "sequence", _) => &[PARTICLES],
        ("attributeGroup", Some("schema" | "redefine")) => &[ATTRIBUTES],
        ("simpleType", _) => &[&["restriction", "list", "union"]],
        _ => &[],
    }
}

/// Names of the attributes without namespace that an element may have, `id` aside.
pub(super) fn attributes(place: Place<'_>, tag: &str) -> &'static [&'static str] {
    let global = matches!(place.parent, Some("schema" | "redefine"));
    match tag {
        "element" => element(global, place.refers),
        "attribute" if global => &["default", "fixed", "name", "type"],
        "attribute" if place.refers => &["default", "fixed", "ref", "use"],
        "attribute" => &["default", "fixed", "form", "name", "type", "use"],
        "complexType" if global => &["abstract", "block", "final", "mixed", "name"],
        "simpleType" if global => &["final", "name"],
        "group" | "attributeGroup" if global => &["name"],
        "group" => &["ref", "minOccurs", "maxOccurs"],
        "attributeGroup" => &["ref"],
        _ => others(tag),
    }
}

fn element(global: bool, refers: bool) -> &'static [&'static str] {
    match (global, refers) {
        (true, _) => &[
            "abstract",
            "block",
            "default",
            "final",
            "fixed",
            "name",
            "nillable",
            "substitutionGroup",
            "type",
        ],
        (false, true) => &["ref", "minOccurs", "maxOccurs"],
        (false, false) => &[
            "block",
            "default",
            "fixed",
            "form",
            "maxOccurs",
            "minOccurs",
            "name",
            "nillable",
            "type",
        ],
    }
}

/// Of elements that have the same wherever they stand.
fn others(tag: &str) -> &'static [&'static str] {
    match tag {
        "schema" => &[
            "targetNamespace",
            "version",
            "finalDefault",
            "blockDefault",
            "attributeFormDefault",
            "elementFormDefault",
        ],
        "include" | "redefine" => &["schemaLocation"],
        "import" => &["namespace", "schemaLocation"],
        "complexType" | "complexContent" => &["mixed"],
        "extension" | "restriction" => &["base"],
        "all" | "choice" | "sequence" => &["minOccurs", "maxOccurs"],
        "any" => &["minOccurs", "maxOccurs", "namespace", "processContents"],
        "anyAttribute" => &["namespace", "processContents"],
        "list" => &["itemType"],
        "union" => &["memberTypes"],
        "unique" | "key" => &["name"],
        "keyref" => &["name", "refer"],
        "selector" | "field" => &["xpath"],
        "notation" => &["name", "public", "system"],
        facet if FACETS.contains(&facet) => &["value", "fixed"],
        _ => &[],
    }
}
