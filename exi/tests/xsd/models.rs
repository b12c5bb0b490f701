//! Particles, model groups, wildcards and substitution groups (sections 8.5.4.1.5 to 8.5.4.1.8).

use super::support::{Grammars, compiled, document, schema};
use weir_exi::Schema;
use weir_exi::grammar::StateId;

/// A schema whose element `e` has the given content.
fn content(model: &str) -> (Schema, StateId) {
    let schema = schema(&format!(
        "<xs:element name='e'><xs:complexType>{model}</xs:complexType></xs:element>\
         <xs:element name='r' type='xs:int'/>"
    ));
    let start = schema.start("e");
    (schema, start)
}

fn element(name: &str, occurs: &str) -> String {
    format!("<xs:element name='{name}' type='xs:string' {occurs}/>")
}

#[test]
fn a_sequence_follows_its_order_and_skips_what_is_optional() {
    let (a, b, c) = (
        element("a", "minOccurs='0'"),
        element("b", "minOccurs='0'"),
        element("c", ""),
    );
    let (schema, start) = content(&format!("<xs:sequence>{a}{b}{c}</xs:sequence>"));
    assert_eq!(schema.codes(start), ["SE(a)", "SE(b)", "SE(c)"]);
    assert_eq!(schema.codes(schema.after(start, &["SE(b)"])), ["SE(c)"]);
    assert_eq!(schema.codes(schema.after(start, &["SE(c)"])), ["EE"]);
}

#[test]
fn a_choice_takes_one_and_an_optional_choice_may_end() {
    let (a, b) = (element("a", ""), element("b", ""));
    let (schema, start) = content(&format!("<xs:choice minOccurs='0'>{a}{b}</xs:choice>"));
    assert_eq!(schema.codes(start), ["SE(a)", "SE(b)", "EE"]);
    let after = schema.after(start, &["SE(a)"]);
    assert_eq!(schema.codes(after), ["EE"]);
    assert_eq!(schema.after(start, &["SE(b)"]), after);
}

#[test]
fn an_unbounded_choice_comes_back_to_one_state() {
    let (a, b) = (element("a", ""), element("b", "minOccurs='0'"));
    let (schema, start) = content(&format!(
        "<xs:choice maxOccurs='unbounded'>{a}{b}</xs:choice>"
    ));
    assert_eq!(schema.codes(start), ["SE(a)", "SE(b)", "EE"]);
    let after = schema.after(start, &["SE(a)"]);
    assert_eq!(schema.codes(after), ["SE(a)", "SE(b)", "EE"]);
    assert_eq!(schema.after(after, &["SE(b)", "SE(a)"]), after);
    assert_ne!(after, start);
}

#[test]
fn occurrence_bounds_are_counted() {
    let (schema, start) = content(&format!(
        "<xs:sequence>{}</xs:sequence>",
        element("a", "minOccurs='2' maxOccurs='4'")
    ));
    let codes: Vec<_> = (0..5)
        .map(|count| schema.codes(schema.after(start, &vec!["SE(a)"; count])))
        .collect();
    assert_eq!(
        codes,
        [
            vec!["SE(a)"],
            vec!["SE(a)"],
            vec!["SE(a)", "EE"],
            vec!["SE(a)", "EE"],
            vec!["EE"]
        ]
    );
}

#[test]
fn ten_thousand_occurrences_are_ten_thousand_states() {
    let (schema, start) = content(&format!(
        "<xs:sequence>{}</xs:sequence>",
        element("a", "minOccurs='0' maxOccurs='10000'")
    ));
    let last = schema.after(start, &vec!["SE(a)"; 9_999]);
    assert_eq!(schema.codes(last), ["SE(a)", "EE"]);
    assert_eq!(schema.codes(schema.after(last, &["SE(a)"])), ["EE"]);
    assert!(schema.states.len() < 10_500);
}

/// Schema order is that of the particles, not that of the copies (section 8.5.4.3).
#[test]
fn a_repeated_sequence_keeps_the_order_of_its_particles() {
    let (a, b) = (
        element("a", ""),
        element("b", "minOccurs='0' maxOccurs='unbounded'"),
    );
    let (schema, start) = content(&format!(
        "<xs:sequence maxOccurs='unbounded'>{a}{b}</xs:sequence>"
    ));
    let after = schema.after(start, &["SE(a)"]);
    assert_eq!(schema.codes(after), ["SE(a)", "SE(b)", "EE"]);
    assert_eq!(
        schema.codes(schema.after(after, &["SE(b)"])),
        ["SE(a)", "SE(b)", "EE"]
    );
}

/// Section 8.5.4.2.2: two productions with one terminal become one.
#[test]
fn equal_terminals_are_merged() {
    let (a, b, c) = (
        element("a", "minOccurs='0'"),
        element("b", ""),
        element("c", ""),
    );
    let (schema, start) = content(&format!(
        "<xs:choice><xs:sequence>{a}{b}</xs:sequence><xs:sequence>{a}{c}</xs:sequence></xs:choice>"
    ));
    assert_eq!(schema.codes(start), ["SE(a)", "SE(b)", "SE(c)"]);
    assert_eq!(
        schema.codes(schema.after(start, &["SE(a)"])),
        ["SE(b)", "SE(c)"]
    );
}

/// Section 8.5.4.1.8.3: any of the particles in any order, any number of times.
#[test]
fn an_all_group_is_one_state_that_repeats() {
    let (a, b) = (element("a", ""), element("b", "minOccurs='0'"));
    let (schema, start) = content(&format!("<xs:all>{a}{b}</xs:all>"));
    assert_eq!(schema.codes(start), ["SE(a)", "SE(b)", "EE"]);
    let after = schema.after(start, &["SE(b)"]);
    assert_eq!(schema.codes(after), ["SE(a)", "SE(b)", "EE"]);
    assert_eq!(schema.after(after, &["SE(a)"]), after);
}

#[test]
fn what_may_not_occur_is_not_there() {
    let (a, b) = (
        element("a", "minOccurs='0' maxOccurs='0'"),
        element("b", ""),
    );
    let (schema, start) = content(&format!("<xs:sequence>{a}{b}</xs:sequence>"));
    assert_eq!(schema.codes(start), ["SE(b)"]);
}

#[test]
fn empty_groups_are_empty_content() {
    for model in [
        "",
        "<xs:sequence/>",
        "<xs:all/>",
        "<xs:choice minOccurs='0'/>",
    ] {
        let (schema, start) = content(model);
        assert_eq!(schema.codes(start), ["EE"], "{model}");
    }
}

#[test]
fn mixed_content_has_characters_last_in_every_state() {
    let schema = schema(
        "<xs:element name='e'><xs:complexType mixed='true'><xs:sequence>\
         <xs:element name='a'/></xs:sequence><xs:attribute name='x' use='required'/>\
         </xs:complexType></xs:element>",
    );
    let start = schema.start("e");
    assert_eq!(schema.codes(start), ["AT(x)"]);
    let content = schema.after(start, &["AT(x)"]);
    assert_eq!(schema.codes(content), ["SE(a)", "CH(string)"]);
    let text = schema.after(content, &["CH(string)"]);
    assert_eq!(schema.codes(text), ["SE(a)", "CH(string)"]);
    assert!(!schema.states[text.index()].has_attributes);
    assert_eq!(
        schema.codes(schema.after(text, &["SE(a)"])),
        ["EE", "CH(string)"]
    );
}

#[test]
fn mixed_content_without_particles_is_characters() {
    let (schema, _) = content("");
    assert_eq!(
        schema.codes(
            schema
                .named("{http://www.w3.org/2001/XMLSchema}anyType")
                .start
        ),
        ["AT(*)", "SE(*)", "EE", "CH(string)"]
    );
    let mixed = super::support::schema("<xs:complexType name='T' mixed='true'/>");
    assert_eq!(mixed.codes(mixed.named("T").start), ["EE", "CH(string)"]);
}

#[test]
fn wildcards_come_after_elements_and_the_widest_last() {
    let (schema, start) = content(
        "<xs:choice><xs:any/><xs:any namespace='urn:b ##local urn:a'/><xs:element ref='r'/>\
         <xs:any namespace='##other'/></xs:choice>",
    );
    assert_eq!(
        schema.codes(start),
        ["SE(r)", "SE({urn:b}*)", "SE({}*)", "SE({urn:a}*)", "SE(*)"]
    );
}

#[test]
fn the_target_namespace_of_a_wildcard_is_the_documents() {
    let body = "<xs:element name='e'><xs:complexType><xs:sequence>\
                <xs:any namespace='##targetNamespace'/></xs:sequence></xs:complexType>\
                </xs:element>";
    let schema = compiled(&[("a.xsd", document("urn:t", body))]).expect("a schema");
    assert_eq!(schema.codes(schema.start("{urn:t}e")), ["SE({urn:t}*)"]);
}

/// Section 8.5.4.1.6: members in place of their head, by local name and then by namespace; the
/// order of particles stays.
#[test]
fn a_substitution_group_stands_where_its_head_does() {
    let schema = schema(
        "<xs:element name='e'><xs:complexType><xs:sequence>\
         <xs:element name='z' minOccurs='0'/><xs:element ref='m'/></xs:sequence></xs:complexType>\
         </xs:element><xs:element name='m' type='xs:string' abstract='true'/>\
         <xs:element name='x' substitutionGroup='m'/><xs:element name='a' substitutionGroup='x'/>",
    );
    let start = schema.start("e");
    assert_eq!(schema.codes(start), ["SE(z)", "SE(a)", "SE(m)", "SE(x)"]);
    let after = schema.after(start, &["SE(a)"]);
    assert_eq!(schema.after(start, &["SE(m)"]), after);
    let string = schema.named("{http://www.w3.org/2001/XMLSchema}string");
    let of = schema.child(start, "SE(a)").element_type;
    assert_eq!(schema.types[of.index()], string, "the type of the head");
}

#[test]
fn a_named_group_is_expanded_in_place() {
    let schema = schema(
        "<xs:group name='g'><xs:sequence><xs:element name='a'/><xs:element name='b'/>\
         </xs:sequence></xs:group><xs:complexType name='T'><xs:sequence>\
         <xs:group ref='g' minOccurs='0' maxOccurs='2'/><xs:element name='c'/></xs:sequence>\
         </xs:complexType><xs:complexType name='U'><xs:group ref='g'/></xs:complexType>",
    );
    let start = schema.named("T").start;
    assert_eq!(schema.codes(start), ["SE(a)", "SE(c)"]);
    let once = schema.after(start, &["SE(a)", "SE(b)"]);
    assert_eq!(schema.codes(once), ["SE(a)", "SE(c)"]);
    assert_eq!(
        schema.codes(schema.after(once, &["SE(a)", "SE(b)"])),
        ["SE(c)"]
    );
    let other = schema.named("U").start;
    assert_eq!(schema.codes(other), ["SE(a)"]);
    assert_eq!(
        schema.productions_of(other)[0].terminal,
        schema.productions_of(start)[0].terminal,
        "the group's elements are declared once"
    );
}
