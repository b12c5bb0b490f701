//! What string tables begin with (section 7.3.1, appendix D).

use super::support::{Grammars, compiled, document, schema};
use weir_exi::xsd::built_in_types;

/// Tables D-1 to D-5.
#[test]
fn built_in_types_have_the_entries_of_appendix_d() {
    let schema = built_in_types();
    let uris: Vec<_> = schema.uris.iter().map(|uri| uri.uri.as_str()).collect();
    assert_eq!(
        uris,
        [
            "",
            "http://www.w3.org/XML/1998/namespace",
            "http://www.w3.org/2001/XMLSchema-instance",
            "http://www.w3.org/2001/XMLSchema"
        ]
    );
    assert!(schema.uris[0].locals.is_empty());
    assert_eq!(schema.uris[1].locals, ["base", "id", "lang", "space"]);
    assert_eq!(schema.uris[2].locals, ["nil", "type"]);
    let names = &schema.uris[3].locals;
    assert_eq!(
        (names.len(), names[0].as_str(), names[45].as_str()),
        (46, "ENTITIES", "unsignedShort")
    );
    let prefixes: Vec<_> = schema
        .uris
        .iter()
        .map(|uri| uri.prefixes.concat())
        .collect();
    assert_eq!(prefixes, ["", "xml", "xsi", ""]);
    assert!(schema.global_elements.is_empty());
}

#[test]
fn names_are_sorted_in_their_namespace() {
    let body = "<xs:complexType name='b'><xs:sequence><xs:element name='c' form='unqualified'/>\
                </xs:sequence><xs:attribute name='d'/></xs:complexType>\
                <xs:attribute name='a'/><xs:element name='B' type='b'/>";
    let schema = compiled(&[("a.xsd", document("urn:t", body))]).expect("a schema");
    assert_eq!(schema.uris[0].locals, ["c", "d"]);
    assert_eq!(schema.uris[4].uri, "urn:t");
    assert_eq!(schema.uris[4].locals, ["B", "a", "b"]);
}

#[test]
fn namespaces_of_wildcards_are_there_and_sorted() {
    let schema = schema(
        "<xs:complexType name='T'><xs:sequence><xs:any namespace='urn:c urn:a'/></xs:sequence>\
         <xs:anyAttribute namespace='urn:b'/></xs:complexType>",
    );
    let uris: Vec<_> = schema.uris[4..]
        .iter()
        .map(|uri| uri.uri.as_str())
        .collect();
    assert_eq!(uris, ["urn:a", "urn:b", "urn:c"]);
}

/// Section 8.5.1.
#[test]
fn global_elements_are_in_order_of_local_name_and_namespace() {
    let first = document(
        "urn:b",
        "<xs:import namespace='urn:a' schemaLocation='a.xsd'/><xs:element name='y'/>\
         <xs:element name='x'/>",
    );
    let second = document("urn:a", "<xs:element name='y'/><xs:element name='z'/>");
    let schema = compiled(&[("b.xsd", first), ("a.xsd", second)]).expect("a schema");
    let names = schema
        .global_elements
        .iter()
        .map(|id| schema.elements[id.index()].name);
    let names: Vec<_> = names.map(|name| schema.shown(name)).collect();
    assert_eq!(names, ["{urn:b}x", "{urn:a}y", "{urn:b}y", "{urn:a}z"]);
}
