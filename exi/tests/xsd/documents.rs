//! Schemas of more than one document.

use super::support::{Grammars, compiled, document};

fn text(target: &str, body: &str) -> String {
    document(target, body)
}

#[test]
fn an_included_document_takes_the_namespace_of_the_other() {
    let outer = text(
        "urn:t",
        "<xs:include schemaLocation='inner.xsd'/><xs:element name='e' type='T'/>",
    );
    let inner = text(
        "",
        "<xs:complexType name='T'><xs:sequence><xs:element ref='a'/></xs:sequence>\
         </xs:complexType><xs:element name='a' type='S'/>\
         <xs:simpleType name='S'><xs:restriction base='xs:int'/></xs:simpleType>",
    );
    let schema = compiled(&[("outer.xsd", outer), ("inner.xsd", inner)]).expect("a schema");
    assert_eq!(schema.codes(schema.start("{urn:t}e")), ["SE({urn:t}a)"]);
    assert!(schema.uris[0].locals.is_empty());
}

#[test]
fn a_chameleon_is_one_per_namespace() {
    let a = text(
        "urn:a",
        "<xs:include schemaLocation='c.xsd'/>\
         <xs:import namespace='urn:b' schemaLocation='b.xsd'/>",
    );
    let b = text("urn:b", "<xs:include schemaLocation='c.xsd'/>");
    let c = text("", "<xs:element name='e'/>");
    let schema = compiled(&[("a.xsd", a), ("b.xsd", b), ("c.xsd", c)]).expect("a schema");
    assert_eq!(schema.global_elements.len(), 2);
}

#[test]
fn documents_may_refer_to_each_other() {
    let a = text(
        "urn:a",
        "<xs:import namespace='urn:b' schemaLocation='x/b.xsd'/>\
         <xs:element name='a' xmlns:b='urn:b'><xs:complexType><xs:sequence>\
         <xs:element ref='b:b'/></xs:sequence></xs:complexType></xs:element>",
    );
    let b = text(
        "urn:b",
        "<xs:import namespace='urn:a' schemaLocation='../a.xsd'/>\
         <xs:element name='b' xmlns:a='urn:a'><xs:complexType><xs:sequence>\
         <xs:element ref='a:a' minOccurs='0'/></xs:sequence></xs:complexType></xs:element>",
    );
    let schema = compiled(&[("a.xsd", a), ("x/b.xsd", b)]).expect("a schema");
    assert_eq!(schema.codes(schema.start("{urn:a}a")), ["SE({urn:b}b)"]);
    assert_eq!(
        schema.codes(schema.start("{urn:b}b")),
        ["SE({urn:a}a)", "EE"]
    );
}

#[test]
fn one_document_under_two_locations_is_one_document() {
    let a = text(
        "",
        "<xs:include schemaLocation='b.xsd'/><xs:include schemaLocation='copy.xsd'/>",
    );
    let b = text("", "<xs:element name='e'/>");
    let schema = compiled(&[("a.xsd", a), ("b.xsd", b.clone()), ("copy.xsd", b)]);
    assert_eq!(schema.expect("a schema").global_elements.len(), 1);
}

#[test]
fn a_redefined_type_is_derived_from_what_it_was() {
    let outer = text(
        "",
        "<xs:redefine schemaLocation='inner.xsd'>\
         <xs:complexType name='T'><xs:complexContent><xs:extension base='T'><xs:sequence>\
         <xs:element name='b'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>\
         <xs:group name='g'><xs:choice><xs:group ref='g'/><xs:element name='y'/></xs:choice>\
         </xs:group>\
         <xs:attributeGroup name='h'><xs:attributeGroup ref='h'/><xs:attribute name='n'/>\
         </xs:attributeGroup></xs:redefine>",
    );
    let inner = text(
        "",
        "<xs:complexType name='T'><xs:sequence><xs:element name='a'/></xs:sequence>\
         </xs:complexType><xs:group name='g'><xs:sequence><xs:element name='x'/></xs:sequence>\
         </xs:group><xs:attributeGroup name='h'><xs:attribute name='m'/></xs:attributeGroup>\
         <xs:element name='e' type='T'/>\
         <xs:complexType name='U'><xs:group ref='g'/><xs:attributeGroup ref='h'/></xs:complexType>",
    );
    let schema = compiled(&[("outer.xsd", outer), ("inner.xsd", inner)]).expect("a schema");
    let start = schema.start("e");
    assert_eq!(schema.codes(schema.after(start, &["SE(a)"])), ["SE(b)"]);
    let other = schema.named("U").start;
    assert_eq!(schema.codes(other), ["AT(m)", "AT(n)", "SE(x)", "SE(y)"]);
}

#[test]
fn the_xml_namespace_needs_no_document() {
    let a = text(
        "",
        "<xs:import namespace='http://www.w3.org/XML/1998/namespace'/>\
         <xs:element name='e'><xs:complexType><xs:attribute ref='xml:lang'/></xs:complexType>\
         </xs:element>",
    );
    let schema = compiled(&[("a.xsd", a)]).expect("a schema");
    let lang = "AT({http://www.w3.org/XML/1998/namespace}lang)";
    assert_eq!(schema.codes(schema.start("e")), [lang, "EE"]);
}
