//! Derivation, attributes, wildcards of attributes, and what xsi:type and xsi:nil need.

use super::support::{Grammars, schema};

const XSD: &str = "{http://www.w3.org/2001/XMLSchema}";

#[test]
fn an_extension_appends_to_content_and_attributes_of_its_base() {
    let schema = schema(
        "<xs:complexType name='B'><xs:sequence><xs:element name='a'/></xs:sequence>\
         <xs:attribute name='m'/></xs:complexType>\
         <xs:complexType name='D'><xs:complexContent><xs:extension base='B'>\
         <xs:sequence><xs:element name='b' minOccurs='0'/></xs:sequence>\
         <xs:attribute name='c' use='required'/></xs:extension></xs:complexContent>\
         </xs:complexType>",
    );
    let start = schema.named("D").start;
    assert_eq!(schema.codes(start), ["AT(c)"]);
    let content = schema.after(start, &["AT(c)", "AT(m)"]);
    assert_eq!(schema.codes(content), ["SE(a)"]);
    assert_eq!(
        schema.codes(schema.after(content, &["SE(a)"])),
        ["SE(b)", "EE"]
    );
}

#[test]
fn a_restriction_has_its_own_content_and_fewer_attributes() {
    let schema = schema(
        "<xs:complexType name='B'><xs:sequence><xs:element name='a' minOccurs='0'/></xs:sequence>\
         <xs:attribute name='m'/><xs:attribute name='n'/><xs:attribute name='o'/>\
         <xs:anyAttribute/></xs:complexType>\
         <xs:complexType name='D'><xs:complexContent><xs:restriction base='B'>\
         <xs:sequence><xs:element name='a'/></xs:sequence>\
         <xs:attribute name='m' use='prohibited'/><xs:attribute name='n' use='required'/>\
         </xs:restriction></xs:complexContent></xs:complexType>",
    );
    let start = schema.named("D").start;
    assert_eq!(schema.codes(start), ["AT(n)"]);
    assert_eq!(
        schema.codes(schema.after(start, &["AT(n)"])),
        ["AT(o)", "SE(a)"]
    );
}

#[test]
fn simple_content_is_one_value_after_the_attributes() {
    let schema = schema(
        "<xs:complexType name='M'><xs:simpleContent><xs:extension base='xs:decimal'>\
         <xs:attribute name='uom' use='required'/></xs:extension></xs:simpleContent>\
         </xs:complexType>\
         <xs:complexType name='P'><xs:simpleContent><xs:restriction base='M'>\
         <xs:minInclusive value='0'/></xs:restriction></xs:simpleContent></xs:complexType>",
    );
    for name in ["M", "P"] {
        let start = schema.named(name).start;
        assert_eq!(schema.codes(start), ["AT(uom)"]);
        let value = schema.after(start, &["AT(uom)"]);
        assert_eq!(schema.codes(value), ["CH"]);
        assert_eq!(schema.codes(schema.after(value, &["CH"])), ["EE"]);
        assert_eq!(
            schema.representation(name),
            weir_exi::grammar::Representation::Decimal
        );
    }
}

#[test]
fn a_simple_type_is_characters_and_its_empty_grammar_ends() {
    let schema = schema("<xs:element name='e' type='xs:int' nillable='true'/>");
    let element = schema.global("e");
    assert!(element.nillable);
    let definition = schema.types[element.element_type.index()];
    assert_eq!(schema.codes(definition.start), ["CH"]);
    assert_eq!(schema.codes(definition.empty), ["EE"]);
    assert!(schema.states[definition.empty.index()].is_first);
}

#[test]
fn the_empty_grammar_of_a_complex_type_has_its_attributes() {
    let schema = schema(
        "<xs:complexType name='T'><xs:sequence><xs:element name='a'/></xs:sequence>\
         <xs:attribute name='x'/></xs:complexType>",
    );
    let empty = schema.named("T").empty;
    assert_eq!(schema.codes(empty), ["AT(x)", "EE"]);
    assert_eq!(schema.codes(schema.after(empty, &["AT(x)"])), ["EE"]);
}

#[test]
fn attributes_are_in_order_of_local_names() {
    let schema = schema(
        "<xs:attributeGroup name='g'><xs:attribute name='b'/><xs:attributeGroup ref='h'/>\
         </xs:attributeGroup><xs:attributeGroup name='h'><xs:attribute name='a'/>\
         </xs:attributeGroup><xs:complexType name='T'><xs:attribute name='c'/>\
         <xs:attributeGroup ref='g'/></xs:complexType>",
    );
    let start = schema.named("T").start;
    assert_eq!(schema.codes(start), ["AT(a)", "AT(b)", "AT(c)", "EE"]);
    assert_eq!(
        schema.codes(schema.after(start, &["AT(b)"])),
        ["AT(c)", "EE"]
    );
    assert_eq!(schema.codes(schema.after(start, &["AT(c)"])), ["EE"]);
}

#[test]
fn an_attribute_wildcard_is_in_every_state_before_the_content() {
    let schema = schema(
        "<xs:complexType name='T'><xs:sequence><xs:element name='a'/></xs:sequence>\
         <xs:attribute name='x'/><xs:anyAttribute namespace='urn:b urn:a'/></xs:complexType>",
    );
    let start = schema.named("T").start;
    let all = ["AT(x)", "AT({urn:a}*)", "AT({urn:b}*)", "SE(a)"];
    assert_eq!(schema.codes(start), all);
    assert_eq!(schema.after(start, &["AT({urn:a}*)"]), start);
    let after = schema.after(start, &["AT(x)"]);
    assert_eq!(schema.codes(after), all[1..]);
    assert_eq!(schema.codes(schema.after(after, &["SE(a)"])), ["EE"]);
}

#[test]
fn an_extension_widens_the_attribute_wildcard() {
    let schema = schema(
        "<xs:complexType name='B'><xs:anyAttribute namespace='urn:a'/></xs:complexType>\
         <xs:complexType name='D'><xs:complexContent><xs:extension base='B'>\
         <xs:anyAttribute namespace='##local'/></xs:extension></xs:complexContent>\
         </xs:complexType>",
    );
    assert_eq!(
        schema.codes(schema.named("D").start),
        ["AT({}*)", "AT({urn:a}*)", "EE"]
    );
}

/// Section 8.5.4.4.2.
#[test]
fn types_with_named_sub_types_and_unions_can_be_cast() {
    let schema = schema(
        "<xs:complexType name='B'/>\
         <xs:complexType name='D'><xs:complexContent><xs:extension base='B'/>\
         </xs:complexContent></xs:complexType>\
         <xs:simpleType name='U'><xs:union memberTypes='xs:int xs:string'/></xs:simpleType>\
         <xs:simpleType name='L'><xs:list itemType='xs:float'/></xs:simpleType>\
         <xs:element name='e'><xs:complexType><xs:complexContent><xs:extension base='D'/>\
         </xs:complexContent></xs:complexType></xs:element>",
    );
    let castable = |name: &str| schema.named(name).castable;
    assert!(castable("B") && castable("U"));
    assert!(!castable("D"), "only an anonymous type is derived from it");
    assert!(!castable("L"));
    let xsd = |name: &str| castable(&format!("{XSD}{name}"));
    assert!(xsd("anyType") && xsd("anySimpleType") && xsd("string") && xsd("integer"));
    assert!(!xsd("boolean") && !xsd("float") && !xsd("unsignedByte") && !xsd("NMTOKENS"));
}

#[test]
fn elements_may_contain_themselves() {
    let schema = schema(
        "<xs:element name='e'><xs:complexType><xs:sequence>\
         <xs:element ref='e' minOccurs='0'/></xs:sequence></xs:complexType></xs:element>",
    );
    let start = schema.start("e");
    assert_eq!(schema.codes(start), ["SE(e)", "EE"]);
    assert_eq!(schema.child(start, "SE(e)"), schema.global("e"));
}

#[test]
fn an_element_without_type_is_of_any_type() {
    let schema = schema("<xs:element name='e'/>");
    let any = schema.named(&format!("{XSD}anyType"));
    assert_eq!(schema.types[schema.global("e").element_type.index()], any);
    let start = any.start;
    assert_eq!(schema.after(start, &["AT(*)"]), start);
    let content = schema.after(start, &["SE(*)"]);
    assert_eq!(schema.codes(content), ["SE(*)", "EE", "CH(string)"]);
    assert_eq!(schema.codes(any.empty), ["AT(*)", "EE"]);
}
