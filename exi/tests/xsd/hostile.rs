//! Schemas from strangers: each costs little or is refused.

use super::support::{compiled, document};
use weir_exi::xsd::{self, Document};

fn refused(body: &str) -> String {
    match compiled(&[("test.xsd", document("", body))]) {
        Ok(_) => panic!("compiled"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn groups_that_double_are_refused() {
    let groups = (1..60).map(|at| {
        let below = at - 1;
        format!(
            "<xs:group name='g{at}'><xs:sequence><xs:group ref='g{below}'/>\
             <xs:group ref='g{below}'/></xs:sequence></xs:group>"
        )
    });
    let body = format!(
        "<xs:group name='g0'><xs:sequence><xs:element name='a'/></xs:sequence></xs:group>\
         {}<xs:complexType name='C'><xs:group ref='g59'/></xs:complexType>",
        groups.collect::<String>()
    );
    assert!(refused(&body).contains("limit reached: occurrences in one content model"));
}

#[test]
fn an_ambiguous_content_model_whose_states_double_is_refused() {
    let a = "<xs:element name='a'/>";
    let either = format!("<xs:choice>{a}<xs:element name='b'/></xs:choice>");
    let body = format!(
        "<xs:complexType name='C'><xs:sequence>\
         <xs:choice minOccurs='0' maxOccurs='unbounded'>{a}<xs:element name='b'/></xs:choice>\
         {a}{}</xs:sequence></xs:complexType>",
        either.repeat(40)
    );
    assert!(refused(&body).contains("limit reached: states of one content model"));
}

#[test]
fn long_chains_of_extension_are_no_deep_recursion() {
    let types = (1..600).map(|at| {
        let base = at - 1;
        format!(
            "<xs:complexType name='T{at}'><xs:complexContent><xs:extension base='T{base}'>\
             <xs:sequence><xs:element name='e{at}'/></xs:sequence></xs:extension>\
             </xs:complexContent></xs:complexType>"
        )
    });
    let first = "<xs:complexType name='T0'/>".to_string();
    let body: String = std::iter::once(first).chain(types).collect();
    let schema = compiled(&[("test.xsd", document("", &body))]).expect("a schema");
    assert_eq!(schema.elements.len(), 599);
}

#[test]
fn elements_nested_deeper_than_the_limit_are_refused() {
    let open = "<xs:sequence>".repeat(500);
    let close = "</xs:sequence>".repeat(500);
    let body = format!("<xs:complexType name='C'>{open}{close}</xs:complexType>");
    assert!(refused(&body).contains("limit reached: depth of definitions"));
}

const VICTIM: &str = "<xs:include schemaLocation='test.xsd'/>\
    <xs:element name='e' type='T' substitutionGroup='h' nillable='true'/><xs:element name='h'/>\
    <xs:complexType name='T' mixed='true'><xs:complexContent><xs:extension base='B'><xs:choice \
    minOccurs='2' maxOccurs='5'><xs:element ref='h'/><xs:any namespace='##local urn:a'/>\
    <xs:group ref='g'/></xs:choice><xs:attributeGroup ref='a'/></xs:extension></xs:complexContent>\
    </xs:complexType><xs:complexType name='B'><xs:all><xs:element name='l' type='S'/></xs:all>\
    <xs:anyAttribute namespace='##local'/></xs:complexType><xs:group name='g'><xs:sequence>\
    <xs:element name='m' type='xs:byte'/></xs:sequence></xs:group><xs:attributeGroup name='a'>\
    <xs:attribute name='x' use='required' type='L'/></xs:attributeGroup><xs:simpleType name='S'>\
    <xs:restriction base='xs:string'><xs:pattern value='[a-c-[b]]*|\\s(d{1,2})'/><xs:enumeration \
    value='a'/></xs:restriction></xs:simpleType><xs:simpleType name='L'><xs:list \
    itemType='xs:int'/></xs:simpleType>";

/// Whatever becomes of a schema, compiling ends without panic, and what compiles survives storage.
#[test]
fn damaged_schemas_are_compiled_or_refused() {
    let text = document("", VICTIM).into_bytes();
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    compiled(&[("test.xsd", document("", VICTIM))]).expect("good before");
    let mut refused = 0;
    for _ in 0..3_000 {
        let mut damaged = text.clone();
        for _ in 0..=random(2) {
            let (at, len) = (random(damaged.len()), random(4));
            let end = (at + len).min(damaged.len());
            let from = random(text.len() - 12);
            let graft = text[from..from + random(4)].to_vec();
            damaged.splice(at..end, graft);
        }
        let document = Document {
            location: "test.xsd",
            bytes: &damaged,
        };
        match xsd::compile(&[document], &mut |_: &str| Some(text.clone())) {
            Ok(schema) => {
                let again = weir_exi::Schema::from_bytes(&schema.to_bytes());
                assert_eq!(again.expect("tables"), schema);
            }
            Err(_) => refused += 1,
        }
    }
    assert!((500..2_950).contains(&refused), "{refused}");
}
