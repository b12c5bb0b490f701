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

/// Lists of elements that may stand below an element that itself stands below `parent`.
pub(super) fn children(parent: Option<&str>, tag: &str) -> &'static [&'static [&'static str]] {
    match (tag, parent) {
        ("schema", _) => &[
            &["include", "import", "redefine", "element", "attribute"],
            &["notation"],
            DEFINITIONS,
        ],
        ("redefine", _) => &[DEFINITIONS],
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
pub(super) fn attributes(tag: &str) -> &'static [&'static str] {
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
        "element" => &[
            "abstract",
            "block",
            "default",
            "final",
            "fixed",
            "form",
            "maxOccurs",
            "minOccurs",
            "name",
            "nillable",
            "ref",
            "substitutionGroup",
            "type",
        ],
        "attribute" => &["default", "fixed", "form", "name", "ref", "type", "use"],
        "complexType" => &["abstract", "block", "final", "mixed", "name"],
        "complexContent" => &["mixed"],
        "extension" | "restriction" => &["base"],
        "group" => &["name", "ref", "minOccurs", "maxOccurs"],
        "all" | "choice" | "sequence" => &["minOccurs", "maxOccurs"],
        "any" => &["minOccurs", "maxOccurs", "namespace", "processContents"],
        "anyAttribute" => &["namespace", "processContents"],
        "attributeGroup" => &["name", "ref"],
        "simpleType" => &["final", "name"],
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
