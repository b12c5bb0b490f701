//! Fragments (sections 8.5.2 and 8.5.3).

use super::support::{Grammars, schema};

const TWO: &str = "<xs:element name='e'><xs:complexType><xs:sequence>\
    <xs:element name='a' type='xs:int'/><xs:element name='b' type='xs:string'/></xs:sequence>\
    <xs:attribute name='x' type='xs:int'/></xs:complexType></xs:element>\
    <xs:element name='f'><xs:complexType><xs:sequence>\
    <xs:element name='a' type='xs:string'/><xs:element name='b' type='xs:string'/></xs:sequence>\
    <xs:attribute name='x' type='xs:int'/><xs:attribute name='y' type='xs:int'/>\
    </xs:complexType></xs:element>\
    <xs:element name='g'><xs:complexType><xs:attribute name='y' type='xs:string'/>\
    </xs:complexType></xs:element>";

#[test]
fn every_element_name_is_there_once_and_in_order() {
    let schema = schema(TWO);
    let names = schema
        .fragment_elements
        .iter()
        .map(|id| schema.elements[id.index()].name);
    let names: Vec<_> = names.map(|name| schema.shown(name)).collect();
    assert_eq!(names, ["a", "b", "e", "f", "g"]);
}

#[test]
fn names_that_mean_different_things_have_the_relaxed_grammar() {
    let schema = schema(TWO);
    let relaxed = schema.element_fragment.expect("needed");
    let types = schema
        .fragment_elements
        .iter()
        .map(|id| schema.elements[id.index()].element_type);
    let types: Vec<_> = types.map(|id| id == relaxed).collect();
    assert_eq!(types, [true, false, false, false, false]);
}

#[test]
fn the_relaxed_grammar_has_all_attributes_and_elements() {
    let schema = schema(TWO);
    let relaxed = schema.types[schema.element_fragment.expect("needed").index()];
    assert!(relaxed.castable);
    let elements = [
        "SE(a)",
        "SE(b)",
        "SE(e)",
        "SE(f)",
        "SE(g)",
        "SE(*)",
        "EE",
        "CH(string)",
    ];
    let mut all = vec!["AT(x)", "AT(y)", "AT(*)"];
    all.extend(elements);
    assert_eq!(schema.codes(relaxed.start), all);
    assert_eq!(schema.after(relaxed.start, &["AT(y)"]), relaxed.start);
    assert_eq!(
        schema.codes(schema.after(relaxed.start, &["SE(a)"])),
        elements
    );
    assert_eq!(
        schema.codes(relaxed.empty),
        ["AT(x)", "AT(y)", "AT(*)", "EE"]
    );
}

#[test]
fn attributes_of_two_meanings_are_strings_when_relaxed() {
    use weir_exi::grammar::{DatatypeId, Terminal};
    let schema = schema(TWO);
    let relaxed = schema.types[schema.element_fragment.expect("needed").index()];
    let productions = schema.productions_of(relaxed.start)[..2].iter();
    let datatypes: Vec<_> = productions
        .map(|production| match production.terminal {
            Terminal::Attribute { datatype, .. } => datatype == DatatypeId::STRING,
            _ => panic!("no attribute"),
        })
        .collect();
    assert_eq!(datatypes, [false, true]);
}

#[test]
fn where_names_are_clear_no_relaxed_grammar_is_needed() {
    assert_eq!(schema("<xs:element name='e'/>").element_fragment, None);
}
