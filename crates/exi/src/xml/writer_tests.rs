//! What the writer makes of events.
#![allow(clippy::unwrap_used)]

use super::{Reader, Writer};
use crate::error::ErrorKind;
use crate::event::{Event, QName};
use crate::infoset::{Infoset, Rules, WhiteSpace, compare};
use crate::limits::Limits;
use crate::options::Preserve;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// The text of a document, read and written.
fn again(text: &str, preserve: Preserve) -> String {
    let mut reader = Reader::new(text.as_bytes(), preserve, Limits::default()).unwrap();
    let (mut writer, mut out) = (Writer::new(), Vec::new());
    while let Some(event) = reader.next_event().unwrap() {
        writer.write(&event, &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

fn written(events: &[Event<'_>]) -> Result<String, ErrorKind> {
    let (mut writer, mut out) = (Writer::new(), Vec::new());
    for event in events {
        writer.write(event, &mut out).map_err(|error| error.kind)?;
    }
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn a_document_is_written_as_it_was_read() {
    for text in [
        "<a/>",
        "<a b=\"1\">x<c/>y</a>",
        "<p:a xmlns:p=\"u\" xmlns=\"v\" p:b=\"\"><c xmlns=\"\"><p:d/></c><e/></p:a>",
        "<a>&lt;&gt;&amp;\"'\n\t&#13;\u{E000}\u{FFFD}</a>",
        "<a b=\"&lt;>&amp;&quot;'&#10;&#9;&#13;\"/>",
        "<!--x--><!DOCTYPE a PUBLIC \"p\" \"s\" [<!ENTITY e 'f'>]><?p q?><a>&e;<!----><?r?></a>",
        "<a xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:p=\"u\" i:type=\"p:T\"/>",
        "<a xml:lang=\"sr\"/>",
    ] {
        assert_eq!(again(text, Preserve::ALL), text);
    }
}

#[test]
fn names_without_prefixes_get_some() {
    let (outer, inner) = (QName::new("u", "a"), QName::new("v", "b"));
    let plain = QName::new("", "c");
    let events = [
        Event::StartElement(outer),
        Event::Attribute(inner, Value::Text("1")),
        Event::Attribute(plain, Value::Text("2")),
        Event::StartElement(inner),
        Event::EndElement,
        Event::StartElement(plain),
        Event::EndElement,
        Event::EndElement,
    ];
    let expected =
        "<ns0:a xmlns:ns0=\"u\" xmlns:ns1=\"v\" ns1:b=\"1\" c=\"2\"><ns1:b/><c/></ns0:a>";
    assert_eq!(written(&events).unwrap(), expected);
}

#[test]
fn a_name_as_a_value_has_its_prefix_declared() {
    let xsi = "http://www.w3.org/2001/XMLSchema-instance";
    let typed = Value::QName(QName::new("u", "T"));
    let events = [
        Event::StartElement(QName::new("", "a")),
        Event::Attribute(QName::new(xsi, "type"), typed),
        Event::Characters(typed),
        Event::EndElement,
    ];
    let expected = "<a xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:ns0=\"u\" \
                    xsi:type=\"ns0:T\">ns0:T</a>";
    assert_eq!(written(&events).unwrap(), expected);
}

#[test]
fn a_prefix_bound_to_something_else_is_not_used() {
    let with = |uri, prefix| QName::new(uri, "a").with_prefix(prefix);
    let events = [
        Event::StartElement(with("u", "p")),
        Event::StartElement(with("v", "p")),
        Event::Attribute(QName::new("u", "b").with_prefix("p"), Value::Text("")),
        Event::StartElement(with("u", "p")),
        Event::EndElement,
        Event::EndElement,
        Event::StartElement(with("u", "p")),
        Event::EndElement,
        Event::EndElement,
    ];
    let expected = "<p:a xmlns:p=\"u\"><p:a xmlns:p=\"v\" xmlns:ns0=\"u\" ns0:b=\"\">\
        <ns0:a/></p:a><p:a/></p:a>";
    assert_eq!(written(&events).unwrap(), expected);
}

#[test]
fn what_xml_cannot_say_is_refused() {
    let start = Event::StartElement(QName::new("", "a"));
    for event in [
        Event::Characters(Value::Text("x\u{0}")),
        Event::Characters(Value::Text("\u{FFFE}")),
        Event::Attribute(QName::new("", "b"), Value::Text("\u{1F}")),
        Event::Comment("a--b"),
        Event::Comment("a-"),
        Event::ProcessingInstruction {
            target: "p",
            data: "?>",
        },
        Event::EndElement,
    ] {
        let before: &[_] = if event == Event::EndElement {
            &[]
        } else {
            &[start]
        };
        let events: Vec<_> = before.iter().copied().chain([event]).collect();
        assert!(written(&events).is_err(), "{event:?}");
    }
}

#[test]
fn long_text_is_escaped_wherever_its_specials_stand() {
    let text: String = (0..400)
        .map(|index| if index % 67 == 3 { '&' } else { 'x' })
        .collect();
    let events = [
        Event::StartElement(QName::new("", "a")),
        Event::Characters(Value::Text(&text)),
        Event::EndElement,
    ];
    let written = written(&events).unwrap();
    let mut reader =
        Reader::new(written.as_bytes(), Preserve::default(), Limits::default()).unwrap();
    let mut read = String::new();
    while let Some(event) = reader.next_event().unwrap() {
        if let Event::Characters(value) = event {
            read.push_str(value.as_text().unwrap());
        }
    }
    assert_eq!(read, text);
}

proptest::proptest! {
    #[test]
    fn text_and_values_come_back(
        text in "[^\u{0}-\u{8}\u{b}\u{c}\u{e}-\u{1f}\u{fffe}\u{ffff}]{1,200}",
    ) {
        let name = QName::new("", "a");
        let start = Event::StartElement(name);
        let value = Value::Text(&text);
        let attribute = Event::Attribute(name, value);
        let events = [start, attribute, Event::Characters(value), Event::EndElement];
        let written = written(&events).unwrap();
        let rules = Rules { white_space: WhiteSpace::Kept, ..Rules::default() };
        let mut expected = Infoset::new(rules);
        events.iter().for_each(|event| expected.push(event));
        let bytes = written.as_bytes();
        let reader = Reader::new(bytes, Preserve::default(), Limits::default()).unwrap();
        let actual = Infoset::of_xml(reader, rules).unwrap();
        proptest::prop_assert!(compare(&expected.finish(), &actual, rules).is_ok());
    }
}
