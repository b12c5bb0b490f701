//! What the pull parser accepts, refuses and says about it; with an O&M observation, so that a
//! vocabulary of nested elements, attributes and typed values is shown to be expressible.
#![allow(clippy::unwrap_used)]

use super::xml::Xml;
use super::{Event, Pull};
use crate::error::DecodeError;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use weir_model::Limits;

/// The events as one line each.
fn events(text: &str) -> Result<Vec<String>, DecodeError> {
    let limits = Limits::default();
    let mut xml = Xml::new(text, &limits);
    let mut lines = Vec::new();
    loop {
        let line = match xml.next()? {
            Event::Start(name) => format!("({} {}", name.uri, name.local),
            Event::Attribute(name) => format!("@{} {}", name.uri, name.local),
            Event::Content => format!("={}", xml.text()),
            Event::End => String::from(")"),
            Event::Done => return Ok(lines),
        };
        let attribute = line.starts_with('@');
        lines.push(line);
        if attribute {
            lines.push(format!("={}", xml.text()));
        }
    }
}

fn refused(text: &str) -> String {
    events(text).unwrap_err().to_string()
}

const OBSERVATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- one result -->
<om:OM_Observation gml:id="o1" xmlns:om="http://www.opengis.net/om/2.0"
    xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:xlink="http://www.w3.org/1999/xlink"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <om:phenomenonTime><gml:TimeInstant gml:id="t1">
    <gml:timePosition>2026-11-20T09:41:00.250+01:00</gml:timePosition>
  </gml:TimeInstant></om:phenomenonTime>
  <om:procedure xlink:href="urn:dev:mac:0024befffe804ff1"/>
  <om:observedProperty xlink:href="urn:x&amp;y"/>
  <om:result xsi:type="gml:MeasureType" uom="Cel">71.25</om:result>
</om:OM_Observation>"#;

/// What a vocabulary takes from an observation; tests must not need more of the interface.
#[derive(Default)]
struct Seen {
    time: Option<weir_model::Time>,
    procedure: String,
    result: Option<f64>,
    result_type: String,
    unit: String,
}

fn read_observation(xml: &mut impl Pull) -> Result<Seen, DecodeError> {
    let mut seen = Seen::default();
    let mut element = String::new();
    loop {
        let attribute = match xml.next()? {
            Event::Start(name) => {
                element = name.local.into();
                continue;
            }
            Event::Attribute(name) => String::from(name.local),
            Event::Content => String::new(),
            Event::End => {
                element.clear();
                continue;
            }
            Event::Done => return Ok(seen),
        };
        match (&*element, &*attribute) {
            ("timePosition", "") => seen.time = Some(xml.time()?),
            ("procedure", "href") => seen.procedure = xml.text().into(),
            ("result", "uom") => seen.unit = xml.text().into(),
            ("result", "") => seen.result = Some(xml.number()?),
            ("result", "type") => {
                let name = xml.name()?;
                seen.result_type = format!("{} {}", name.uri, name.local);
            }
            _ => {}
        }
    }
}

#[test]
fn an_observation_of_o_and_m_is_read_with_its_types() {
    let limits = Limits::default();
    let seen = read_observation(&mut Xml::new(OBSERVATION, &limits)).unwrap();
    assert_eq!(seen.time.unwrap().to_string(), "2026-11-20T08:41:00.250Z");
    assert_eq!(seen.procedure, "urn:dev:mac:0024befffe804ff1");
    assert_eq!((seen.result, &*seen.unit), (Some(71.25), "Cel"));
    assert_eq!(
        seen.result_type,
        "http://www.opengis.net/gml/3.2 MeasureType"
    );
}

#[test]
fn names_are_resolved_in_their_scope() {
    let text = r#"<a xmlns="u" x:y="1" xmlns:x="v"><x:b xmlns:x="w"/><x:c/><d xmlns=""/></a>"#;
    let expected = [
        "(u a", "@v y", "=1", "(w b", ")", "(v c", ")", "( d", ")", ")",
    ];
    assert_eq!(events(text).unwrap(), expected);
}

#[test]
fn content_is_joined_across_what_interrupts_it() {
    let text = "<a>x &lt;&#65;&#x1F600;<!-- - --><![CDATA[<&]] >]]><?pi ?>\r\ny]</a>";
    assert_eq!(events(text).unwrap(), ["( a", "=x <A😀<&]] >\ny]", ")"]);
}

#[test]
fn white_space_in_attributes_becomes_spaces() {
    let text = "<a b='x\r\n\ty&#10;\"z'/>";
    assert_eq!(events(text).unwrap(), ["( a", "@ b", "=x  y\n\"z", ")"]);
}

#[test]
fn a_document_that_is_not_well_formed_is_refused_where_it_breaks() {
    for (text, error) in [
        (
            "<a></b>",
            "expected the end tag of the element begun last at byte 5",
        ),
        ("<a>", "the message ends too early at byte 3"),
        ("<a/><b/>", "expected the end of the document at byte 4"),
        ("x<a/>", "expected an element at byte 0"),
        ("<a b='1' b='2'/>", "expected each attribute once at byte 9"),
        (
            "<a xmlns:x='u' xmlns:y='u' x:b='' y:b=''/>",
            "expected each attribute once at byte 34",
        ),
        ("<a b=1/>", "expected a value in quotes at byte 5"),
        (
            "<a b='1'c='2'/>",
            "expected white space before an attribute at byte 8",
        ),
        ("<a b='<'/>", "expected no < in an attribute at byte 6"),
        (
            "<x:a/>",
            "expected a prefix that is bound to a namespace at byte 1",
        ),
        ("<1/>", "expected a name at byte 1"),
        (
            "<a>\u{1}</a>",
            "expected a character that XML allows at byte 3",
        ),
        (
            "<a>\u{FFFF}</a>",
            "expected a character that XML allows at byte 3",
        ),
        ("<a>]]></a>", "expected no ]]> in content at byte 3"),
        ("<a><!-- -- --></a>", "expected > at byte 10"),
        (
            "<a><?xml ?></a>",
            "expected no XML declaration but at the very beginning at byte 5",
        ),
        (
            "<?xml version='1.0' encoding='latin1'?><a/>",
            "expected the encoding UTF-8 at byte 0",
        ),
    ] {
        assert_eq!(refused(text), error, "{text}");
    }
}

#[test]
fn entities_of_a_document_type_are_not_read() {
    let bomb = "<!DOCTYPE a [<!ENTITY b 'xx'><!ENTITY c '&b;&b;'>]><a>&c;</a>";
    assert_eq!(
        refused(bomb),
        "expected an element: document types (DOCTYPE) are not read at byte 0"
    );
    assert!(refused("<a>&b;</a>").starts_with("expected a character reference or one of"));
    assert!(refused("<a>&#0;</a>").starts_with("expected a character reference or one of"));
}

#[test]
fn attributes_and_namespaces_have_limits() {
    let attributes: String = (0..65).map(|index| format!(" a{index}=''")).collect();
    assert!(refused(&format!("<a{attributes}/>")).starts_with("attributes over the limit of 64"));
    let nested: String = (0..20)
        .map(|level| {
            (0..5).fold(String::from("<e"), |tag, index| {
                tag + &format!(" xmlns:p{level}x{index}='u'")
            }) + ">"
        })
        .collect();
    assert!(refused(&nested).starts_with("namespaces over the limit of 96"));
}

#[test]
fn a_reader_that_found_an_error_says_it_again_and_nothing_else() {
    let limits = Limits::default();
    // Behind each error stands what would be an event.
    for text in [
        "<a><b x=1/><c/></a>",
        "<a></b><c/></a>",
        "<a>&no;<c/></a>",
        "<a/><b/>",
    ] {
        let mut xml = Xml::new(text, &limits);
        let error = loop {
            match xml.next() {
                Ok(event) => assert_ne!(event, Event::Done, "{text}"),
                Err(error) => break error,
            }
        };
        assert_eq!(xml.next(), Err(error.clone()), "{text}");
        assert_eq!(xml.next(), Err(error), "{text}");
    }
}
