#![allow(clippy::unwrap_used)]

use super::*;
use alloc::format;
use alloc::string::String;

const REQUEST: &str = r#"<s:GetObservation xmlns:s="http://www.opengis.net/sos/2.0" service="SOS">
  <s:offering>a &amp; b</s:offering><s:procedure xmlns:x="urn:x" x:kind="x:y">p</s:procedure>
  </s:GetObservation>"#;

#[test]
fn a_request_reads_alike_from_xml_and_exi() {
    let root = read_xml(REQUEST.as_bytes()).unwrap();
    assert!(root.is("http://www.opengis.net/sos/2.0", "GetObservation"));
    assert_eq!(root.attribute("service"), Some("SOS"));
    assert_eq!(root.child("offering").unwrap().text(), "a & b");
    let packed = exi::from_xml(REQUEST.as_bytes()).unwrap();
    assert!(packed.len() < REQUEST.len());
    let again = exi::read(&packed).unwrap();
    assert_eq!(again.to_xml(), root.to_xml());
    assert_eq!(
        read_xml(&exi::to_xml(&packed).unwrap()).unwrap().to_xml(),
        root.to_xml()
    );
}

#[test]
fn names_survive_exi_that_keeps_no_prefixes() {
    let mut encoder = weir_exi::Encoder::new(weir_exi::EncoderSettings::default()).unwrap();
    let text = "<a:r xmlns:a='urn:a' xmlns:b='urn:b' b:k='1'><a:x/><y/></a:r>".as_bytes();
    let preserve = weir_exi::Preserve::default();
    let mut reader = weir_exi::xml::Reader::new(text, preserve, limits()).unwrap();
    while let Some(event) = reader.next_event().unwrap() {
        encoder.event(&event).unwrap();
    }
    let mut packed = alloc::vec::Vec::new();
    encoder.take(&mut packed);
    let read = read_xml(exi::read(&packed).unwrap().to_xml().as_bytes()).unwrap();
    assert_eq!(
        (read.uri.as_str(), read.attributes[0].uri.as_str()),
        ("urn:a", "urn:b")
    );
    let inner: alloc::vec::Vec<&str> = read.elements().map(|own| own.uri.as_str()).collect();
    assert_eq!(inner, ["urn:a", ""]);
}

#[test]
fn a_part_of_a_document_keeps_the_prefixes_it_uses() {
    let root = read_xml(REQUEST.as_bytes()).unwrap();
    let part = root.child("procedure").unwrap().to_xml();
    let part = read_xml(part.as_bytes()).unwrap();
    assert_eq!(part.attributes[0].uri, "urn:x");
    assert_eq!(part.uri, "http://www.opengis.net/sos/2.0");
}

#[test]
fn the_head_ends_where_the_message_begins() {
    let text = "<r><a>1</a><body><a>2</a>";
    let head = read_head(text.as_bytes(), &|name| name == "body").unwrap();
    assert_eq!(head.all("a").count(), 1);
    assert!(read_xml(text.as_bytes()).is_err());
}

#[test]
fn bombs_external_entities_and_depth_are_refused() {
    let bomb = r#"<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><r>&b;</r>"#;
    assert!(
        read_xml(bomb.as_bytes())
            .unwrap_err()
            .problem
            .contains("document type")
    );
    let file = r#"<!DOCTYPE r SYSTEM "file:///etc/passwd"><r/>"#;
    assert!(
        read_xml(file.as_bytes())
            .unwrap_err()
            .problem
            .contains("document type")
    );
    let deep = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert!(read_xml(deep(DEPTH_MAX as usize - 1).as_bytes()).is_ok());
    assert!(read_xml(deep(DEPTH_MAX as usize + 1).as_bytes()).is_err());
    let many = format!("<a>{}</a>", "<b/>".repeat(ELEMENTS_MAX));
    assert_eq!(
        read_xml(many.as_bytes()).unwrap_err().problem,
        "too many elements"
    );
    assert!(read_xml(b"").is_err() && read_xml(b"no").is_err() && exi::read(b"\x80").is_err());
}

#[test]
fn a_header_that_must_be_understood_and_is_not_is_a_fault() {
    let envelope = |head: &str| {
        format!(
            "<e:Envelope xmlns:e=\"{}\"><e:Header>{head}</e:Header>\
             <e:Body><a/></e:Body></e:Envelope>",
            soap::SOAP12
        )
    };
    let open = |text: String| soap::open(read_xml(text.as_bytes()).unwrap());
    let addressed = format!(
        "<w:MessageID e:mustUnderstand=\"true\" xmlns:w=\"{}\">m1</w:MessageID>",
        soap::ADDRESSING
    );
    let opened = open(envelope(&addressed)).unwrap();
    assert_eq!(opened.version, soap::Version::V12);
    assert_eq!(opened.body.unwrap().local, "a");
    assert_eq!(opened.message_id.as_deref(), Some("m1"));
    let (version, fault) =
        open(envelope("<t:x xmlns:t=\"urn:t\" e:mustUnderstand=\"1\"/>")).unwrap_err();
    assert_eq!(
        (version, fault.code),
        (soap::Version::V12, soap::Code::MustUnderstand)
    );
    let role = |name: &str| {
        format!(
            "<t:x xmlns:t='urn:t' e:mustUnderstand='1' e:role='{}/role/{name}'/>",
            soap::SOAP12
        )
    };
    for (name, is_ours) in [
        ("next", true),
        ("ultimateReceiver", true),
        ("none", false),
        ("log", false),
    ] {
        assert_eq!(open(envelope(&role(name))).is_err(), is_ours, "{name}");
    }
    let of_others = format!(
        "<w:MessageID xmlns:w='{}' e:role='urn:log'>m2</w:MessageID>",
        soap::ADDRESSING
    );
    let opened = open(envelope(&format!("{of_others}{addressed}"))).unwrap();
    assert_eq!(opened.message_id.as_deref(), Some("m1"));
    let old = |actor: &str| {
        format!(
            "<e:Envelope xmlns:e='{}'><e:Header><x e:actor='{actor}' e:mustUnderstand='1'/></e:Header>\
            <e:Body><a/></e:Body></e:Envelope>",
            soap::SOAP11
        )
    };
    assert!(open(old("urn:log")).is_ok());
    assert!(open(old("http://schemas.xmlsoap.org/soap/actor/next")).is_err());
    let (_, fault) = open("<Envelope><Body/></Envelope>".into()).unwrap_err();
    assert_eq!(fault.code, soap::Code::VersionMismatch);
    let text = soap::fault(version, Some("m1"), &fault);
    let read = read_xml(text.as_bytes()).unwrap();
    assert_eq!(read.find("Value").unwrap().text(), "env:VersionMismatch");
    assert_eq!(read.find("RelatesTo").unwrap().text(), "m1");
}

#[test]
fn a_document_becomes_json_element_by_element() {
    let root = read_xml(b"<r v=\"1\"><a>x</a><b><c u=\"m\">5</c></b><a>y</a></r>").unwrap();
    assert_eq!(
        json::to_string(&root, &[("request", "R")]),
        r#"{"request":"R","v":"1","a":["x","y"],"b":{"c":{"u":"m","value":"5"}}}"#
    );
}
