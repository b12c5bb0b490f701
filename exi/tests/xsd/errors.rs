//! What is wrong with a schema is said with its place.

use super::support::{compiled, document};
use weir_exi::xsd::{Document, Loader, XsdError};

/// The error of a schema whose body begins on line 2, after a column that is known.
fn error(body: &str) -> String {
    let text = document("", &format!("\n{body}"));
    match compiled(&[("test.xsd", text)]) {
        Ok(_) => panic!("compiled: {body}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn references_to_nothing_name_the_component_and_what_is_missing() {
    assert_eq!(
        error("<xs:element name='e' type='T'/>"),
        "test.xsd:3:1: element e: there is no type T (src-resolve)"
    );
    assert_eq!(
        error(
            "<xs:complexType name='C'><xs:sequence>\n<xs:element ref='x'/></xs:sequence></xs:complexType>"
        ),
        "test.xsd:4:1: element x: there is no element x (src-resolve)"
    );
    assert_eq!(
        error("<xs:complexType name='C'>\n <xs:attributeGroup ref='g'/></xs:complexType>"),
        "test.xsd:4:2: attributeGroup g: there is no attributeGroup g (src-resolve)"
    );
}

/// Gives nothing, and lets imports be missed.
struct Lenient(Vec<String>);

impl Loader for Lenient {
    fn load(&mut self, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn missed(&mut self, import: XsdError) -> Result<(), XsdError> {
        self.0.push(import.to_string());
        Ok(())
    }
}

#[test]
fn an_import_that_brings_nothing_is_an_error_unless_let_pass() {
    let body = "<xs:import namespace='urn:n' schemaLocation='n.xsd'/>";
    let missed = "test.xsd:3:1: import: no document at \"n.xsd\" (src-include, src-import)";
    assert_eq!(error(body), missed);
    assert!(compiled(&[("test.xsd", document("", "<xs:import namespace='urn:n'/>"))]).is_ok());
    let referring = format!("\n{body}<xs:element name='e' type='n:T' xmlns:n='urn:n'/>");
    for (body, compiles) in [(format!("\n{body}"), true), (referring, false)] {
        let (text, mut loader) = (document("", &body), Lenient(Vec::new()));
        let given = Document {
            location: "test.xsd",
            bytes: text.as_bytes(),
        };
        match weir_exi::xsd::compile(&[given], &mut loader) {
            Ok(_) => assert!(compiles, "{body}"),
            Err(error) => {
                assert!(!compiles, "{body}");
                let told = "{urn:n}T (nothing was found at \"n.xsd\") (src-resolve)";
                assert!(error.to_string().ends_with(told), "{error}");
            }
        }
        assert_eq!(loader.0, [missed]);
    }
}

#[test]
fn what_no_schema_document_holds_is_told_with_its_line() {
    for (body, told) in [
        (
            "<xs:elemnt name='e'/>",
            "3:1: elemnt e: element xs:elemnt does not stand below xs:schema in XML Schema 1.0",
        ),
        (
            "<xs:complexType name='C'>\n<xs:sequnce/></xs:complexType>",
            "4:1: complexType C: element xs:sequnce does not stand below xs:complexType",
        ),
        (
            "<xs:complexType name='C'><xs:sequence>\n<xs:element name='a' minOccur='0'/>\
             </xs:sequence></xs:complexType>",
            "4:1: element a: no attribute minOccur is there in XML Schema 1.0",
        ),
        (
            "<xs:complexType name='C'><xs:assert test='true()'/></xs:complexType>",
            "element xs:assert does not stand below xs:complexType in XML Schema 1.0",
        ),
        (
            "<xs:complexType name='C'><e xmlns='urn:x'/></xs:complexType>",
            "element {urn:x}e does not stand below xs:complexType in XML Schema 1.0",
        ),
        (
            "<xs:complexType name='C'><xs:simpleContent><xs:extension base='xs:int'>\
             <xs:sequence/></xs:extension></xs:simpleContent></xs:complexType>",
            "element xs:sequence does not stand below xs:extension",
        ),
        (
            "<xs:simpleType name='S'><xs:restriction base='xs:int'><xs:maxInclusve value='1'/>\
             </xs:restriction></xs:simpleType>",
            "element xs:maxInclusve does not stand below xs:restriction",
        ),
        (
            "<xs:element name='e' minOccurs='0'/>",
            "element e: no attribute minOccurs is there",
        ),
        (
            "<xs:element name='e'/><xs:complexType name='C'><xs:sequence>\
             <xs:element ref='e' type='xs:int'/></xs:sequence></xs:complexType>",
            "element e: no attribute type is there",
        ),
        (
            "<xs:element name='e'/><xs:complexType name='C'><xs:sequence>\
             <xs:element ref='e'><xs:simpleType/></xs:element></xs:sequence></xs:complexType>",
            "element xs:simpleType does not stand below xs:element",
        ),
        (
            "<xs:complexType name='C'><xs:attribute name='a'><xs:simpleType name='S'/>\
             </xs:attribute></xs:complexType>",
            "simpleType S: no attribute name is there",
        ),
    ] {
        let message = error(body);
        assert!(message.contains(told), "{message}");
    }
    let default =
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' elementFormDefault='Qualified'/>";
    let message = compiled(&[("a.xsd", default.into())])
        .expect_err("refused")
        .to_string();
    let told = "elementFormDefault=\"Qualified\", but qualified or unqualified was expected";
    assert!(message.contains(told), "{message}");
    let annotated = document(
        "",
        "<xs:annotation><xs:appinfo><x xmlns='urn:x'/></xs:appinfo></xs:annotation>\
         <xs:element name='e' x:hint='1' id='i' xmlns:x='urn:x'/>",
    );
    assert!(compiled(&[("test.xsd", annotated)]).is_ok());
}

const MISTAKES: &[(&str, &str)] = &[
    ("<xs:include schemaLocation='x.xsd'/>", "no document at"),
    (
        "<xs:element name='e' type='p:T'/>",
        "prefix \"p\" is not declared",
    ),
    (
        "<xs:element name='e'/><xs:element name='e'/>",
        "e is there twice",
    ),
    ("<xs:element/>", "expected name"),
    (
        "<xs:simpleType name='S'/>",
        "expected restriction, list or union",
    ),
    (
        "<xs:simpleType name='S'><xs:restriction base='S'/></xs:simpleType>",
        "it refers to itself",
    ),
    (
        "<xs:simpleType name='S'><xs:list itemType='S'/></xs:simpleType>",
        "it refers to itself",
    ),
    (
        "<xs:element name='a' substitutionGroup='b'/>\
         <xs:element name='b' substitutionGroup='a'/>",
        "it refers to itself",
    ),
    (
        "<xs:group name='g'><xs:sequence><xs:group ref='g'/></xs:sequence></xs:group>\
         <xs:complexType name='C'><xs:group ref='g'/></xs:complexType>",
        "it refers to itself",
    ),
    (
        "<xs:simpleType name='S'><xs:restriction base='xs:string'>\
         <xs:pattern value='a('/></xs:restriction></xs:simpleType>",
        "pattern, character 2: expected a closing parenthesis",
    ),
    (
        "<xs:simpleType name='S'><xs:restriction base='xs:int'>\
         <xs:minInclusive value='x'/></xs:restriction></xs:simpleType>",
        "value=\"x\", but a whole number was expected",
    ),
    (
        "<xs:complexType name='C'><xs:sequence maxOccurs='-1'/></xs:complexType>",
        "maxOccurs=\"-1\", but a number of occurrences was expected",
    ),
    (
        "<xs:complexType name='C'><xs:complexContent><xs:extension base='xs:int'/>\
         </xs:complexContent></xs:complexType>",
        "the base of complex content is a simple type",
    ),
    (
        "<xs:complexType name='B'/><xs:complexType name='C'><xs:simpleContent>\
         <xs:extension base='B'/></xs:simpleContent></xs:complexType>",
        "the base type has no simple content",
    ),
    (
        "<xs:complexType name='C'/><xs:attribute name='a' type='C'/>",
        "a simple type was expected",
    ),
    (
        "<xs:complexType name='C'><xs:attribute name='a'/><xs:attribute name='a'/>\
         </xs:complexType>",
        "a is there twice",
    ),
    (
        "<xs:complexType name='C'><xs:sequence><xs:attribute name='a'/></xs:sequence>\
         </xs:complexType>",
        "element xs:attribute does not stand below xs:sequence",
    ),
];

#[test]
fn every_mistake_has_its_rule() {
    for (body, rule) in MISTAKES {
        let message = error(body);
        assert!(message.contains(rule), "{message}");
    }
}

#[test]
fn what_is_no_schema_is_said() {
    let of = |text: &str| match compiled(&[("a.xsd", text.to_string())]) {
        Ok(_) => panic!("compiled: {text}"),
        Err(error) => error.to_string(),
    };
    assert!(of("<a><b></a>").starts_with("a.xsd:1:"));
    assert_eq!(of("<html/>"), "a.xsd: xs:schema was expected, not html");
}

#[test]
fn a_document_of_another_namespace_is_refused() {
    let outer = document("urn:a", "<xs:include schemaLocation='b.xsd'/>");
    let inner = document("urn:b", "");
    let error = compiled(&[("a.xsd", outer), ("b.xsd", inner)]).expect_err("refused");
    assert!(
        error
            .to_string()
            .contains("the target namespace is \"urn:b\", not \"urn:a\"")
    );
}

#[test]
fn occurrences_beyond_the_limit_are_refused_with_their_type() {
    let message = error(
        "<xs:complexType name='C'><xs:sequence maxOccurs='4000000000'><xs:element name='a'/>\
         </xs:sequence></xs:complexType>",
    );
    let expected = "complexType C: limit reached: occurrences in one content model";
    assert!(message.ends_with(expected), "{message}");
}

#[test]
fn occurrences_inside_each_other_are_refused_early() {
    let pair = |one: &str, other: &str, bound: &str| {
        format!(
            "<xs:sequence {bound}><xs:element name='{one}'/><xs:element name='{other}'/>\
             </xs:sequence>"
        )
    };
    let message = error(&format!(
        "<xs:complexType name='C'><xs:sequence minOccurs='0' maxOccurs='6'>\
         <xs:choice maxOccurs='unbounded'>{}{}</xs:choice><xs:element name='z'/>\
         </xs:sequence></xs:complexType>",
        pair("a", "b", ""),
        pair("c", "d", "maxOccurs='782'"),
    ));
    let expected = "complexType C: limit reached: steps between the particles of content models";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn groups_that_are_empty_count_where_they_occur_often() {
    let empty = "<xs:sequence/>".repeat(100);
    let message = error(&format!(
        "<xs:complexType name='C'><xs:sequence maxOccurs='250000'>{empty}<xs:element name='a'/>\
         </xs:sequence></xs:complexType>"
    ));
    assert!(
        message.contains("limit reached: steps between"),
        "{message}"
    );
}

#[test]
fn one_long_bound_is_no_trouble() {
    let text = document(
        "",
        "<xs:complexType name='C'><xs:sequence><xs:element name='a' maxOccurs='50000'/>\
         </xs:sequence></xs:complexType>",
    );
    assert!(compiled(&[("test.xsd", text)]).is_ok());
}

#[test]
fn derivation_deeper_than_the_limit_is_refused() {
    let types = (1..400).rev().map(|at| {
        let base = at - 1;
        format!(
            "<xs:complexType name='T{at}'><xs:complexContent><xs:extension base='T{base}'/>\
             </xs:complexContent></xs:complexType>"
        )
    });
    let message = error(&format!(
        "{}<xs:complexType name='T0'/>",
        types.collect::<String>()
    ));
    assert!(
        message.contains("limit reached: depth of definitions"),
        "{message}"
    );
}
