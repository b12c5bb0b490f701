//! What the reader accepts, gives, refuses and says about it.
#![allow(clippy::unwrap_used)]

use super::Reader;
use crate::event::Event;
use crate::limits::Limits;
use crate::options::Preserve;
use crate::value::Value;
use crate::{Error, ErrorKind};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const PLAIN: Preserve = Preserve {
    comments: false,
    processing_instructions: false,
    dtd: false,
    prefixes: false,
    lexical_values: false,
};

fn line(event: &Event<'_>) -> String {
    match event {
        Event::StartDocument => String::from("SD"),
        Event::EndDocument => String::from("ED"),
        Event::StartElement(name) => {
            format!("<{}|{{{}}}{}", name.prefix.unwrap(), name.uri, name.local)
        }
        Event::EndElement => String::from(">"),
        Event::Attribute(name, Value::QName(value)) => {
            format!(
                "@{{{}}}{}={{{}}}{}",
                name.uri, name.local, value.uri, value.local
            )
        }
        Event::Attribute(name, value) => format!("@{{{}}}{}={value}", name.uri, name.local),
        Event::Namespace {
            prefix,
            uri,
            local_element_ns,
        } => format!("#{prefix}={uri} {local_element_ns}"),
        Event::Characters(value) => format!("={value}"),
        Event::Comment(text) => format!("!{text}"),
        Event::ProcessingInstruction { target, data } => format!("?{target} {data}"),
        Event::DocType {
            name,
            public,
            system,
            text,
        } => format!("DT {name} {public} {system} [{text}]"),
        Event::EntityReference(name) => format!("&{name}"),
        Event::SelfContained => String::from("SC"),
    }
}

fn read(document: &[u8], preserve: Preserve, limits: Limits) -> Result<Vec<String>, Error> {
    let mut reader = Reader::new(document, preserve, limits)?;
    let mut lines = Vec::new();
    while let Some(event) = reader.next_event()? {
        lines.push(line(&event));
    }
    Ok(lines)
}

/// The events between the start and the end of the document.
fn events(document: impl AsRef<[u8]>, preserve: Preserve) -> Vec<String> {
    let lines = read(document.as_ref(), preserve, Limits::default()).unwrap();
    assert_eq!(
        (lines[0].as_str(), lines[lines.len() - 1].as_str()),
        ("SD", "ED")
    );
    lines[1..lines.len() - 1].to_vec()
}

fn refused(document: impl AsRef<[u8]>) -> String {
    let error = read(document.as_ref(), PLAIN, Limits::default()).unwrap_err();
    match error.kind {
        ErrorKind::Xml(expected) => format!("{expected} at {}", error.byte),
        _ => error.to_string(),
    }
}

#[test]
fn names_are_resolved_in_their_scope() {
    let text = r#"<a xmlns="u" x:y="1" xmlns:x="v"><x:b xmlns:x="w"/><x:c/><d xmlns=""/><e/></a>"#;
    let expected = [
        "<|{u}a",
        "#=u true",
        "#x=v false",
        "@{v}y=1",
        "<x|{w}b",
        "#x=w true",
        ">",
        "<x|{v}c",
        ">",
        "<|{}d",
        "#= true",
        ">",
        "<|{u}e",
        ">",
        ">",
    ];
    assert_eq!(events(text, PLAIN), expected);
}

#[test]
fn equal_names_have_equal_numbers_whatever_their_prefixes() {
    let text = br#"<p:a xmlns:p="u"><q:a xmlns:q="u"/><a xmlns="u"/><p:b/><a/></p:a>"#;
    let mut reader = Reader::new(text, PLAIN, Limits::default()).unwrap();
    let mut hints = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        if let Event::StartElement(name) = event {
            hints.push(name.hint.unwrap().0);
        }
    }
    assert_eq!((hints[0], hints[1]), (hints[2], hints[0]));
    assert!(hints[3] != hints[0] && hints[4] != hints[0] && hints[3] != hints[4]);
}

#[test]
fn the_type_of_an_element_comes_first_and_is_a_name() {
    let text = concat!(
        r#"<a z="1" i:nil="0" i:type=" p:T " xmlns:p="u" "#,
        r#"xmlns:i="http://www.w3.org/2001/XMLSchema-instance"/>"#,
    );
    let found = events(text, PLAIN);
    let xsi = "http://www.w3.org/2001/XMLSchema-instance";
    let expected = [
        format!("@{{{xsi}}}type={{u}}T"),
        format!("@{{{xsi}}}nil=0"),
        "@{}z=1".into(),
        ">".into(),
    ];
    assert_eq!(found[3..], expected);
}

#[test]
fn a_type_whose_prefix_is_not_bound_stays_text() {
    let text = r#"<a i:type="p:T" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"/>"#;
    assert_eq!(
        events(text, PLAIN)[2],
        "@{http://www.w3.org/2001/XMLSchema-instance}type=p:T"
    );
}

#[test]
fn content_is_joined_across_what_is_not_preserved() {
    let text = "<a>x &lt;&#65;&#x1F600;<!-- - --><![CDATA[<&]] >]]><?pi ?>\r\ny]</a>";
    assert_eq!(events(text, PLAIN), ["<|{}a", "=x <A😀<&]] >\ny]", ">"]);
    let apart = ["<|{}a", "=x <A😀", "! - ", "=<&]] >", "?pi ", "=\ny]", ">"];
    assert_eq!(events(text, Preserve::ALL), apart);
}

#[test]
fn line_ends_are_one_character() {
    let text = "<?xml version='1.0'?>\r\n<!--a\r\nb\rc-->\
        <a b='1\r\n2\r3&#13;'>x\r\ny\rz&#13;<?p q\r\nr?></a>";
    let expected = [
        "!a\nb\nc",
        "<|{}a",
        "@{}b=1 2 3\r",
        "=x\ny\nz\r",
        "?p q\nr",
        ">",
    ];
    assert_eq!(events(text, Preserve::ALL), expected);
}

#[test]
fn white_space_in_attributes_becomes_blanks() {
    assert_eq!(
        events("<a b='x\r\n\ty&#10;\"z'/>", PLAIN),
        ["<|{}a", "@{}b=x  y\n\"z", ">"]
    );
}

#[test]
fn other_encodings_are_the_same_document() {
    let text = "<a ä='ö'>😀</a>";
    let expected = ["<|{}a", "@{}ä=ö", "=😀", ">"];
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(events(text, PLAIN), expected);
    assert_eq!(
        events([b"\xEF\xBB\xBF", text.as_bytes()].concat(), PLAIN),
        expected
    );
    assert_eq!(events([b"\xFF\xFE", &*little].concat(), PLAIN), expected);
    assert_eq!(events([b"\xFE\xFF", &*big].concat(), PLAIN), expected);
    let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE4</a>";
    assert_eq!(events(latin, PLAIN), ["<|{}a", "=ä", ">"]);
}

#[test]
fn entities_of_the_internal_subset_are_replaced() {
    let text = concat!(
        r#"<!DOCTYPE a [<!ENTITY b "x<c d='&e;'>y</c>&e;">"#,
        r#"<!ENTITY e "1&#38;amp;2"><!ENTITY b "no">]><a f="&e;">&e;-&b;</a>"#
    );
    let expected = [
        "<|{}a", "@{}f=1&2", "=1&2-x", "<|{}c", "@{}d=1&2", "=y", ">", "=1&2", ">",
    ];
    assert_eq!(events(text, PLAIN), expected);
}

#[test]
fn entities_stay_references_where_the_document_type_is_preserved() {
    let text = "<!DOCTYPE a PUBLIC '-//x' 'y' [<!ENTITY b 'c'>]><a>1&b;2&amp;</a>";
    let preserve = Preserve { dtd: true, ..PLAIN };
    let expected = [
        "DT a -//x y [<!ENTITY b 'c'>]",
        "<|{}a",
        "=1",
        "&b",
        "=2&",
        ">",
    ];
    assert_eq!(events(text, preserve), expected);
}

#[test]
fn declared_attributes_have_defaults_and_types() {
    let text = "<!DOCTYPE a [<!ELEMENT a (b|(c,d+)*)?><!ATTLIST a xmlns CDATA #FIXED 'u' b NMTOKENS #IMPLIED \
                c (x|y) 'y' d CDATA '&lt; z ' e ID #REQUIRED>]><a b='  1   2 '/>";
    let expected = ["<|{u}a", "#=u true", "@{}b=1 2", "@{}c=y", "@{}d=< z ", ">"];
    assert_eq!(events(text, PLAIN), expected);
}

#[test]
fn declarations_come_out_of_parameter_entities() {
    let text =
        r#"<!DOCTYPE a [<!ENTITY % p "<!ENTITY x 'y'>"><!-- %no; --> %p; <?no %no;?>]><a>&x;</a>"#;
    assert_eq!(events(text, PLAIN), ["<|{}a", "=y", ">"]);
    let unread = "<!DOCTYPE a [<!ENTITY % p SYSTEM 'q'>%p;<!ENTITY x 'y'>]><a>&x;</a>";
    assert_eq!(refused(unread), "an entity that is declared at 60");
}

#[test]
fn no_type_has_the_prefix_of_declarations() {
    for (value, expected) in [
        ("p:t", "={urn:p}t"),
        ("xmlns:t", "=xmlns:t"),
        ("q:t", "=q:t"),
    ] {
        let text = format!(
            "<a xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:p='urn:p' \
             xsi:type='{value}'/>"
        );
        let found = events(&text, PLAIN);
        assert!(
            found.iter().any(|event| event.ends_with(expected)),
            "{found:?}"
        );
    }
}

#[test]
fn a_fragment_has_any_number_of_roots() {
    for (text, expected) in [("", 2), (" <a/> <!-- --> <b>c</b> ", 7)] {
        let mut reader = Reader::new(text.as_bytes(), PLAIN, Limits::default())
            .unwrap()
            .fragment();
        let mut count = 0;
        while reader.next_event().unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, expected, "{text}");
    }
}

/// What is not well-formed, and where it is refused.
const NOT_WELL_FORMED: &[(&str, &str)] = &[
    ("<a></b>", "the end tag of the element begun last at 5"),
    ("<a></ab>", "the end tag of the element begun last at 5"),
    ("<a></a b>", "> at 7"),
    ("<a>", "the input ends before the document does at byte 3"),
    ("", "the input ends before the document does at byte 0"),
    ("<a", "the input ends before the document does at byte 2"),
    (
        "<a b='",
        "the input ends before the document does at byte 6",
    ),
    ("<a/><b/>", "the end of the document at 4"),
    ("x<a/>", "an element at 0"),
    ("<a b='1' b='2'/>", "each attribute once at 9"),
    ("<a xmlns:x='u' xmlns:x='v'/>", "each attribute once at 15"),
    (
        "<a xmlns:x='u' xmlns:y='u' x:b='' y:b=''/>",
        "each attribute once at 34",
    ),
    ("<a b=1/>", "a value in quotes at 5"),
    ("<a b/>", "= at 4"),
    ("<a b='1'c='2'/>", "white space, > or /> at 8"),
    ("<a b='<'/>", "no < in an attribute at 6"),
    ("<x:a/>", "a prefix that is bound to a namespace at 1"),
    ("<xmlns:a/>", "another prefix than xmlns at 1"),
    ("<a x:b=''/>", "a prefix that is bound to a namespace at 3"),
    ("<a xmlns:x=''/>", "a namespace for the prefix at 3"),
    (
        "<a xmlns:xml='u'/>",
        "the namespace of XML for the prefix xml at 3",
    ),
    ("<a:b:c/>", "a name after the colon at 3"),
    ("<:a/>", "a name before the colon at 1"),
    ("<1/>", "a name at 1"),
    ("< a/>", "a name at 1"),
    ("<a>\u{1}</a>", "a character that XML allows at 3"),
    ("<a>ä\u{FFFF}</a>", "a character that XML allows at 5"),
    ("<a>]]></a>", "no ]]> in content at 3"),
    ("<a><!-- -- --></a>", "> at 10"),
    (
        "<a><?xml ?></a>",
        "no XML declaration but at the very beginning at 5",
    ),
    ("<?xml version='2.0'?><a/>", "version 1.0 at 15"),
    (
        "<?xml version='1.0' encoding='ebcdic'?><a/>",
        "the encoding UTF-8, UTF-16, ISO-8859-1 or US-ASCII at 30",
    ),
    ("<a>&b;</a>", "an entity that is declared at 3"),
    (
        "<a>&#0;</a>",
        "the number of a character that XML allows at 5",
    ),
    (
        "<a>&#xD800;</a>",
        "the number of a character that XML allows at 5",
    ),
    ("<a>&lt</a>", "; at 6"),
    (
        "<!DOCTYPE a><!DOCTYPE a><a/>",
        "one document type only at 12",
    ),
    (
        "<!DOCTYPE a [<!ELEMENT a (b|c,d)>]><a/>",
        "the next of a group, or its end at 29",
    ),
    (
        "<!DOCTYPE a [<!ENTITY b '%c;'>]><a/>",
        "no parameter entity within a declaration at 25",
    ),
    (
        "<!DOCTYPE a [<!ENTITY b '<c>'>]><a>&b;</a>",
        "an entity that ends what it begins at 35",
    ),
    (
        "<!DOCTYPE a [<!ENTITY b '</a>'>]><a>&b;",
        "no end tag of what was begun elsewhere at 36",
    ),
    (
        "<!DOCTYPE a [<!ENTITY b '&c;'><!ENTITY c '&b;'>]><a>&b;</a>",
        "an entity that does not hold itself at 52",
    ),
    (
        "<!DOCTYPE a [<!ENTITY b '&b;'>]><a c='&b;'/>",
        "an entity that does not hold itself at 38",
    ),
    (
        "\u{FEFF}<a></b>",
        "the end tag of the element begun last at 8",
    ),
];

#[test]
fn a_document_that_is_not_well_formed_is_refused_where_it_breaks() {
    let mut wrong = Vec::new();
    for (text, error) in NOT_WELL_FORMED {
        let found = refused(text);
        if found != *error {
            wrong.push(format!("{text}: {found}, not {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(refused(b"<a>\xFF</a>"), "a character in UTF-8 at 3");
}

#[test]
fn a_bomb_of_entities_stops_at_the_limit() {
    let mut text = String::from("<!DOCTYPE a [<!ENTITY e0 'xxxxxxxxxx'>");
    for level in 1..=20 {
        text += &format!("<!ENTITY e{level} '&e{0};&e{0};&e{0};&e{0};'>", level - 1);
    }
    text += "]><a>&e20;</a>";
    let limits = Limits {
        expanded_bytes: 100_000,
        ..Limits::default()
    };
    let error = read(text.as_bytes(), PLAIN, limits).unwrap_err();
    assert_eq!(
        error.kind,
        ErrorKind::OverLimit(crate::limits::Limit::ExpandedBytes)
    );
    let attribute = text.replace("<a>&e20;</a>", "<a b='&e20;'/>");
    let error = read(attribute.as_bytes(), PLAIN, limits).unwrap_err();
    assert_eq!(
        error.kind,
        ErrorKind::OverLimit(crate::limits::Limit::ExpandedBytes)
    );
}

#[test]
fn each_limit_is_kept() {
    use crate::limits::Limit;
    let tight = Limits {
        depth: 3,
        input_bytes: 200,
        attributes: 2,
        value_bytes: 20,
        events: 30,
        table_entries: 10,
        table_bytes: 150,
        ..Limits::default()
    };
    let names: String = (0..11).map(|index| format!("<a{index}/>")).collect();
    let many: String = (0..11).map(|_| "<a>b</a>").collect();
    for (text, limit) in [
        ("<a><a><a><a/></a></a></a>".to_string(), Limit::Depth),
        (" ".repeat(201), Limit::InputBytes),
        ("<a b='' c='' xmlns='u'/>".to_string(), Limit::Attributes),
        (
            "<a>123456789012345678901</a>".to_string(),
            Limit::ValueBytes,
        ),
        (
            "<a>1234567890&amp;12345678901</a>".to_string(),
            Limit::ValueBytes,
        ),
        (
            "<a b='123456789012345678901'/>".to_string(),
            Limit::ValueBytes,
        ),
        (format!("<r>{many}</r>"), Limit::Events),
        (format!("<r>{names}</r>"), Limit::TableEntries),
        (format!("<r{}/>", "x".repeat(180)), Limit::TableBytes),
    ] {
        let error = read(text.as_bytes(), PLAIN, tight).unwrap_err();
        assert_eq!(error.kind, ErrorKind::OverLimit(limit), "{text}");
    }
}

#[test]
fn an_error_is_the_last_thing_that_is_told() {
    for text in [
        "<a><b></c></b></a>",
        "<a><b <c/></b></a>",
        "<a>&e;<b/></a>",
        "<a><!-- -- --><b/></a>",
        "<a/>text<b/>",
        "<?xml version='2'?><a/>",
    ] {
        let mut reader =
            Reader::new(text.as_bytes(), Preserve::default(), Limits::default()).unwrap();
        let first = loop {
            match reader.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{text}: no error"),
                Err(error) => break error,
            }
        };
        for _ in 0..3 {
            assert_eq!(reader.next_event().unwrap_err(), first, "{text}");
        }
    }
    let limits = Limits {
        events: 3,
        ..Limits::default()
    };
    let mut reader = Reader::new(b"<a><b/><b/></a>", Preserve::default(), limits).unwrap();
    while reader.next_event().is_ok() {}
    assert!(reader.next_event().is_err());
}
