//! What the writer makes of events.
#![allow(clippy::unwrap_used)]

use super::{Reader, Writer};
use crate::error::ErrorKind;
use crate::event::{Event, NameHint, QName};
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
        Event::Comment("\u{1}"),
        Event::ProcessingInstruction {
            target: "p",
            data: "?>",
        },
        Event::ProcessingInstruction {
            target: "xMl",
            data: "",
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

const START: Event<'_> = Event::StartElement(QName::new("", "a"));

fn refused(events: &[Event<'_>]) -> ErrorKind {
    match written(events) {
        Err(kind) => kind,
        Ok(text) => panic!("written: {text}"),
    }
}

#[test]
fn a_name_that_is_markup_is_refused_wherever_it_stands() {
    let value = Value::Text("");
    for wrong in [
        "a><x", "", "a b", "1", "-", "a:b", "\u{B7}", "a\u{0}", "é>", "\u{D7}",
    ] {
        let (plain, spaced) = (QName::new("", wrong), QName::new("u", wrong));
        let prefixed = QName::new("u", "a").with_prefix(wrong);
        let numbered = QName {
            hint: Some(NameHint(7)),
            ..plain
        };
        for events in [
            &[Event::StartElement(plain), Event::EndElement][..],
            &[Event::StartElement(numbered), Event::EndElement],
            &[START, Event::Attribute(plain, value)],
            &[START, Event::Attribute(spaced, value)],
            &[START, Event::EntityReference(wrong)],
            &[Event::ProcessingInstruction {
                target: wrong,
                data: "",
            }],
        ] {
            assert!(written(events).is_err(), "{events:?}");
        }
        if wrong.is_empty() {
            continue;
        }
        let declared = Event::Namespace {
            prefix: wrong,
            uri: "u",
            local_element_ns: false,
        };
        let typed = Event::Characters(Value::QName(prefixed));
        for events in [
            &[Event::StartElement(prefixed), Event::EndElement][..],
            &[START, Event::Attribute(prefixed, value)],
            &[START, declared, Event::EndElement],
            &[START, typed],
        ] {
            assert_eq!(refused(events), ErrorKind::NotAName(String::from(wrong)));
        }
    }
}

#[test]
fn names_that_xml_has_are_written() {
    for name in ["a", "_", "a-b.c1", "é", "aé\u{B7}", "\u{10000}"] {
        let element = QName::new("", name);
        let text = written(&[Event::StartElement(element), Event::EndElement]);
        assert_eq!(text, Ok(alloc::format!("<{name}/>")));
    }
}

#[test]
fn what_namespaces_forbid_to_declare_is_refused() {
    let xml = "http://www.w3.org/XML/1998/namespace";
    let xmlns = "http://www.w3.org/2000/xmlns/";
    for (prefix, uri) in [
        ("xmlns", "u"),
        ("xmlns", xmlns),
        ("p", xmlns),
        ("", xmlns),
        ("xml", "u"),
        ("p", xml),
        ("", xml),
        ("p", ""),
    ] {
        let declared = Event::Namespace {
            prefix,
            uri,
            local_element_ns: false,
        };
        let kind = refused(&[START, declared, Event::EndElement]);
        assert!(matches!(kind, ErrorKind::Xml(_)), "{prefix} {uri}: {kind}");
    }
    let allowed = Event::Namespace {
        prefix: "xml",
        uri: xml,
        local_element_ns: false,
    };
    assert_eq!(
        written(&[START, allowed, Event::EndElement]),
        Ok(String::from("<a/>"))
    );
    let value = Value::Text("u");
    refused(&[START, Event::Attribute(QName::new("", "xmlns"), value)]);
    refused(&[START, Event::Attribute(QName::new(xmlns, "p"), value)]);
    refused(&[
        Event::StartElement(QName::new(xmlns, "p")),
        Event::EndElement,
    ]);
}

#[test]
fn an_attribute_is_there_once_whatever_its_prefix_and_its_number() {
    let twice = ErrorKind::NotAllowed("an attribute twice in one element");
    let value = Value::Text("");
    let of = |uri, local, prefix, hint| {
        let name = QName {
            hint,
            ..QName::new(uri, local).with_prefix(prefix)
        };
        Event::Attribute(name, value)
    };
    let (one, other) = (Some(NameHint(4)), Some(NameHint(5)));
    for (first, second) in [
        (of("", "b", "", None), of("", "b", "", None)),
        (of("", "b", "", one), of("", "b", "", one)),
        (of("", "b", "", one), of("", "b", "", other)),
        (of("u", "b", "p", one), of("u", "b", "q", other)),
        (of("u", "b", "p", None), of("u", "b", "q", one)),
    ] {
        assert_eq!(
            refused(&[START, first, second]),
            twice,
            "{first:?} {second:?}"
        );
        let again = [START, first, Event::EndElement, Event::EndElement];
        let apart = [&[START, first][..], &again].concat();
        assert!(written(&apart).is_ok(), "{first:?}");
    }
}

#[test]
fn no_declaration_changes_what_a_name_before_it_means() {
    let with = |uri, prefix| QName::new(uri, "a").with_prefix(prefix);
    let value = Value::Text("");
    let inner = [
        Event::StartElement(with("u", "p")),
        Event::StartElement(with("u", "p")),
        Event::Attribute(with("v", "p"), value),
        Event::EndElement,
        Event::EndElement,
    ];
    let expected = "<p:a xmlns:p=\"u\"><p:a xmlns:ns0=\"v\" ns0:a=\"\"/></p:a>";
    assert_eq!(written(&inner).unwrap(), expected);
    let typed = QName::new("", "b");
    let default = Value::QName(with("u", ""));
    let expected = "<a xmlns:ns0=\"u\" b=\"ns0:a\"/>";
    let events = [START, Event::Attribute(typed, default), Event::EndElement];
    assert_eq!(written(&events).unwrap(), expected);
    let none = Value::QName(QName::new("", "a"));
    let events = [
        Event::StartElement(with("u", "")),
        Event::StartElement(with("u", "")),
        Event::Attribute(typed, none),
    ];
    assert!(matches!(refused(&events), ErrorKind::Xml(_)));
    let declared = Event::Namespace {
        prefix: "",
        uri: "u",
        local_element_ns: false,
    };
    assert!(matches!(
        refused(&[START, declared, Event::EndElement]),
        ErrorKind::Xml(_)
    ));
    refused(&[
        START,
        Event::StartElement(QName::new("", "b")),
        Event::EndElement,
        Event::Characters(Value::QName(with("u", "p"))),
    ]);
}

#[test]
fn a_document_type_is_one_declaration_and_stands_before_the_root() {
    let of = |name, public, system, text| Event::DocType {
        name,
        public,
        system,
        text,
    };
    for wrong in [
        of("a>", "", "", ""),
        of("a [<!ENTITY e 'x'>]", "", "", ""),
        of("", "", "", ""),
        of("a", "<", "s", ""),
        of("a", "\"", "s", ""),
        of("a", "", "s\" '", ""),
        of("a", "", "s\"><x y='", ""),
        of("a", "", "", "]><x><![CDATA["),
        of("a", "", "", "<x>"),
        of("a", "", "", "<!ENTITY e 'x'"),
        of("a", "", "s\u{1}", ""),
    ] {
        assert!(written(&[wrong]).is_err(), "{wrong:?}");
    }
    let good = of("a", "p", "s", "<!ENTITY e 'x'>");
    refused(&[good, good]);
    refused(&[START, good]);
    refused(&[START, Event::EndElement, good]);
    let whole = [good, START, Event::EntityReference("e"), Event::EndElement];
    assert!(written(&whole).is_ok());
}

#[test]
fn an_entity_is_declared_where_it_is_referred_to() {
    let doctype = |system, text| Event::DocType {
        name: "a",
        public: "",
        system,
        text,
    };
    let reference = Event::EntityReference("e");
    let undeclared = ErrorKind::Xml("an entity that is declared");
    assert_eq!(refused(&[START, reference]), undeclared);
    assert_eq!(refused(&[doctype("", ""), START, reference]), undeclared);
    let unparsed = "<!NOTATION n SYSTEM 's'><!ENTITY e SYSTEM 's' NDATA n>";
    refused(&[doctype("", unparsed), START, reference]);
    refused(&[reference]);
    for good in [
        &[doctype("s", ""), START, reference][..],
        &[doctype("", "<!ENTITY e SYSTEM 's'>"), START, reference],
        &[START, Event::EntityReference("lt")],
    ] {
        assert!(written(good).is_ok(), "{good:?}");
    }
    let (mut writer, mut out) = (Writer::new().fragment(), Vec::new());
    for event in [Event::StartDocument, START, reference, Event::EndElement] {
        writer.write(&event, &mut out).unwrap();
    }
    assert_eq!(out, b"<a>&e;</a>");
}

#[test]
fn a_number_of_a_name_means_another_one_in_another_document() {
    let numbered = |local| {
        let hint = Some(NameHint(3));
        QName {
            hint,
            ..QName::new("", local)
        }
    };
    let (mut writer, mut out) = (Writer::new(), Vec::new());
    for local in ["a", "b"] {
        let name = numbered(local);
        let attribute = Event::Attribute(name, Value::Text(""));
        for event in [
            Event::StartDocument,
            Event::StartElement(name),
            attribute,
            Event::EndElement,
            Event::EndDocument,
        ] {
            writer.write(&event, &mut out).unwrap();
        }
    }
    assert_eq!(out, b"<a a=\"\"/><b b=\"\"/>");
    let wrong = [Event::StartDocument, Event::StartElement(numbered("a b"))];
    let mut done = Ok(());
    for event in wrong.iter().chain([&Event::EndElement]) {
        done = done.and_then(|()| writer.write(event, &mut out));
    }
    assert!(done.is_err());
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
