//! Simple types to representations (table 7-1).

use super::support::{Grammars, schema};
use weir_exi::grammar::{Representation, WhiteSpace};
use weir_exi::value::DateTimeKind;
use weir_exi::xsd::built_in_types;

fn built_in(name: &str) -> String {
    format!("{{http://www.w3.org/2001/XMLSchema}}{name}")
}

fn simple(body: &str) -> weir_exi::Schema {
    schema(&format!("<xs:simpleType name='T'>{body}</xs:simpleType>"))
}

fn restriction(base: &str, facets: &str) -> weir_exi::Schema {
    simple(&format!(
        "<xs:restriction base='{base}'>{facets}</xs:restriction>"
    ))
}

#[test]
fn built_in_types_have_the_representations_of_table_7_1() {
    let schema = built_in_types();
    for (name, expected) in [
        ("base64Binary", Representation::Base64),
        ("hexBinary", Representation::Hex),
        ("boolean", Representation::Boolean),
        ("dateTime", Representation::DateTime(DateTimeKind::DateTime)),
        (
            "gMonthDay",
            Representation::DateTime(DateTimeKind::GMonthDay),
        ),
        ("decimal", Representation::Decimal),
        ("double", Representation::Float),
        ("integer", Representation::Integer),
        ("long", Representation::Integer),
        ("negativeInteger", Representation::Integer),
        ("unsignedInt", Representation::UnsignedInteger),
        ("positiveInteger", Representation::UnsignedInteger),
        (
            "byte",
            Representation::BoundedInteger {
                min: -128,
                range: 256,
            },
        ),
        (
            "unsignedByte",
            Representation::BoundedInteger { min: 0, range: 256 },
        ),
        ("duration", Representation::String),
        ("QName", Representation::String),
        ("NCName", Representation::String),
    ] {
        assert_eq!(schema.representation(&built_in(name)), expected, "{name}");
    }
    let item = schema.representation(&built_in("IDREFS"));
    assert!(matches!(item, Representation::List(_)));
    assert_eq!(schema.datatype(&built_in("NCName")).character_set, None);
}

#[test]
fn bounds_make_integers_small() {
    let of = |facets: &str| restriction("xs:int", facets).representation("T");
    let bounded = |min, range| Representation::BoundedInteger { min, range };
    assert_eq!(
        of("<xs:minInclusive value='-5'/><xs:maxExclusive value='6'/>"),
        bounded(-5, 11)
    );
    assert_eq!(
        of("<xs:minExclusive value='-1'/>"),
        Representation::UnsignedInteger
    );
    assert_eq!(of("<xs:maxInclusive value='9'/>"), Representation::Integer);
    assert_eq!(
        of("<xs:minInclusive value='1'/><xs:maxInclusive value='4096'/>"),
        bounded(1, 4_096)
    );
}

#[test]
fn enumerated_values_keep_their_order_and_their_base() {
    let schema = restriction(
        "xs:token",
        "<xs:enumeration value=' b '/><xs:enumeration value='a'/>",
    );
    let Representation::Enumeration { first, count, of } = schema.representation("T") else {
        panic!("not enumerated");
    };
    assert_eq!(schema.enumeration(first, count), ["b", "a"]);
    assert_eq!(
        schema.datatypes[of.index()],
        schema.datatype(&built_in("token"))
    );
}

#[test]
fn a_type_derived_from_an_enumeration_is_enumerated() {
    let schema = schema(
        "<xs:simpleType name='A'><xs:restriction base='xs:string'><xs:enumeration value='a'/>\
         <xs:enumeration value='b'/></xs:restriction></xs:simpleType>\
         <xs:simpleType name='B'><xs:restriction base='A'><xs:maxLength value='3'/>\
         </xs:restriction></xs:simpleType><xs:simpleType name='C'><xs:restriction base='B'>\
         <xs:enumeration value='b'/></xs:restriction></xs:simpleType>",
    );
    assert_eq!(schema.representation("A"), schema.representation("B"));
    let Representation::Enumeration { first, count, of } = schema.representation("C") else {
        panic!("not enumerated");
    };
    assert_eq!(schema.enumeration(first, count), ["b"]);
    assert_eq!(
        schema.datatypes[of.index()].representation,
        Representation::String
    );
}

/// Section 7.2.
#[test]
fn lists_unions_and_names_are_not_enumerated() {
    let value = "<xs:enumeration value='a'/>";
    assert_eq!(
        restriction("xs:QName", value).representation("T"),
        Representation::String
    );
    let list = restriction("xs:NMTOKENS", value).representation("T");
    assert!(matches!(list, Representation::List(_)));
    let union = simple(&format!(
        "<xs:restriction><xs:simpleType><xs:union memberTypes='xs:int xs:NCName'/>\
         </xs:simpleType>{value}</xs:restriction>"
    ));
    assert_eq!(union.representation("T"), Representation::String);
}

#[test]
fn a_pattern_makes_a_boolean_keep_its_form() {
    let schema = restriction("xs:boolean", "<xs:pattern value='0|1'/>");
    assert_eq!(schema.representation("T"), Representation::BooleanPattern);
}

/// Section 7.1.10.1.
#[test]
fn patterns_restrict_the_characters_of_strings() {
    let set = |base: &str, facets: &str| {
        let schema = restriction(base, facets);
        let set = schema.datatype("T").character_set?;
        Some(
            schema.character_sets[set.index()]
                .iter()
                .collect::<String>(),
        )
    };
    let digits = "<xs:pattern value='[0-2]+'/>";
    assert_eq!(set("xs:string", digits).as_deref(), Some("012"));
    assert_eq!(set("xs:NMTOKEN", digits).as_deref(), Some("012"));
    let two = "<xs:pattern value='b+'/><xs:pattern value='a|c'/>";
    assert_eq!(set("xs:string", two).as_deref(), Some("abc"));
    assert_eq!(
        set(
            "xs:string",
            "<xs:pattern value='a'/><xs:pattern value='\\d'/>"
        ),
        None
    );
    assert_eq!(set("xs:anyURI", digits), None, "not derived from xs:string");
    assert_eq!(set("xs:integer", digits), None);
}

#[test]
fn the_most_derived_pattern_decides() {
    let derived = |facets: &str| {
        schema(&format!(
            "<xs:simpleType name='A'><xs:restriction base='xs:string'>\
             <xs:pattern value='[ab]*'/></xs:restriction></xs:simpleType>\
             <xs:simpleType name='T'><xs:restriction base='A'>{facets}</xs:restriction>\
             </xs:simpleType>"
        ))
    };
    let inherited = derived("<xs:maxLength value='2'/>");
    assert_eq!(
        inherited.datatype("T").character_set,
        inherited.datatype("A").character_set
    );
    assert_eq!(
        derived("<xs:pattern value='\\w'/>")
            .datatype("T")
            .character_set,
        None
    );
}

#[test]
fn lists_have_items_of_their_own_datatype() {
    let schema = simple(
        "<xs:list><xs:simpleType><xs:restriction base='xs:int'><xs:minInclusive value='0'/>\
         <xs:maxInclusive value='3'/></xs:restriction></xs:simpleType></xs:list>",
    );
    let Representation::List(item) = schema.representation("T") else {
        panic!("no list");
    };
    let item = schema.datatypes[item.index()].representation;
    assert_eq!(item, Representation::BoundedInteger { min: 0, range: 4 });
}

#[test]
fn white_space_follows_the_derivation() {
    let schema = restriction("xs:string", "<xs:whiteSpace value='replace'/>");
    assert_eq!(schema.datatype("T").white_space, WhiteSpace::Replace);
    let of = |name: &str| schema.datatype(&built_in(name)).white_space;
    assert_eq!(of("string"), WhiteSpace::Preserve);
    assert_eq!(of("normalizedString"), WhiteSpace::Replace);
    assert_eq!(of("int"), WhiteSpace::Collapse);
}

/// Section 7.4: what a datatype representation map hands down.
#[test]
fn bases_lead_to_the_primitive_type() {
    let schema = built_in_types();
    let mut chain = Vec::new();
    let mut next = schema.named(&built_in("byte")).datatype;
    while let Some(id) = next {
        let datatype = schema.datatypes[id.index()];
        chain.extend(datatype.name.map(|name| schema.shown(name)));
        next = datatype.base;
    }
    let expected = ["byte", "short", "int", "long", "integer", "decimal"].map(built_in);
    assert_eq!(chain, expected);
}
