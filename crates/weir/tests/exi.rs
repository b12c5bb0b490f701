//! `weir exi` as a program: documents go in, streams come out, and back.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

const DOCUMENT: &str =
    "<a xmlns:p=\"u\"><!--c--><?d e?><p:b f=\"1\">x &amp; y</p:b><p:b f=\"1\">x &amp; y</p:b></a>";

fn exi(arguments: &[&str], input: &[u8]) -> Output {
    let mut process = Command::new(env!("CARGO_BIN_EXE_weir"))
        .arg("exi")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A usage error closes the pipe early.
    let _ = process.stdin.take().unwrap().write_all(input);
    process.wait_with_output().unwrap()
}

fn done(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let output = exi(arguments, input);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

fn refused(arguments: &[&str], input: &[u8]) -> (i32, String) {
    let output = exi(arguments, input);
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_document_comes_back_with_any_options() {
    for options in [
        &["--preserve", "cdlpx"][..],
        &["--preserve", "cpx", "--alignment", "byte", "--cookie"],
        &[
            "--preserve",
            "cpx",
            "--alignment",
            "precompress",
            "--block-size",
            "2",
        ],
        &[
            "--preserve",
            "cpx",
            "--alignment",
            "compress",
            "--value-capacity",
            "1",
            "--value-max-length",
            "3",
        ],
        &["--preserve", "cpx", "--self-contained={u}b", "--fragment"],
        &["--preserve", "cpx", "--canonical", "--options-in-header"],
    ] {
        let encode = [&["encode"][..], options].concat();
        let decode = [&["decode"][..], options].concat();
        let back = done(&decode, &done(&encode, DOCUMENT.as_bytes()));
        let back = String::from_utf8(back).unwrap();
        let body = back.trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        assert_eq!(body.trim_end(), DOCUMENT, "{options:?}");
    }
}

#[test]
fn a_header_with_options_needs_no_others() {
    let stream = done(
        &[
            "encode",
            "--options-in-header",
            "--cookie",
            "--preserve",
            "cpx",
            "--alignment",
            "compress",
        ],
        DOCUMENT.as_bytes(),
    );
    assert!(stream.starts_with(b"$EXI"));
    let back = done(&["decode"], &stream);
    assert!(String::from_utf8(back).unwrap().contains(DOCUMENT));
}

#[test]
fn a_schema_types_values_and_makes_streams_smaller() {
    let schema = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../exi/conformance/corpus/types.xsd"
    );
    let document =
        "<all xmlns=\"urn:weir:types\" id=\"7\"><int>12</int><decimal>+1.50</decimal></all>";
    let loose = done(&["encode"], document.as_bytes());
    let strict = done(
        &["encode", "--schema", schema, "--strict"],
        document.as_bytes(),
    );
    assert!(
        strict.len() * 4 < loose.len(),
        "{} and {} bytes",
        strict.len(),
        loose.len()
    );
    let back =
        String::from_utf8(done(&["decode", "--schema", schema, "--strict"], &strict)).unwrap();
    assert!(back.contains(">12<") && back.contains(">1.5<"), "{back}");
    let built_in = done(
        &["encode", "--schema", "", "--dtrm", "xsd:decimal=exi:string"],
        document.as_bytes(),
    );
    let back = done(
        &["decode", "--schema", "", "--dtrm", "xsd:decimal=exi:string"],
        &built_in,
    );
    assert!(String::from_utf8(back).unwrap().contains("+1.50"));
}

#[test]
fn what_is_wrong_with_a_document_is_told_by_line_and_column() {
    let (code, said) = refused(&["encode"], b"<a>\n  <b></c>\n</a>");
    assert_eq!(code, 1);
    assert!(
        said.contains("2:8: XML: expected the end tag of the element begun last"),
        "{said}"
    );
}

#[test]
fn what_is_wrong_with_a_stream_is_told_by_its_byte() {
    let stream = done(&["encode"], DOCUMENT.as_bytes());
    let (code, said) = refused(&["decode"], &stream[..stream.len() / 2]);
    assert_eq!(code, 1);
    assert!(
        said.contains("the input ends before the document does at byte"),
        "{said}"
    );
    let (_, said) = refused(&["decode"], &[&stream[..], b"more"].concat());
    assert!(said.contains("4 bytes follow the document"), "{said}");
    let (_, said) = refused(&["decode"], b"<a/>");
    assert!(said.contains("not an EXI header at byte 0"), "{said}");
}

#[test]
fn options_that_contradict_each_other_are_a_usage_error() {
    let (code, said) = refused(
        &["encode", "--schema", "", "--strict", "--preserve", "c"],
        DOCUMENT.as_bytes(),
    );
    assert!(code == 2 && said.contains("strict excludes dtd"), "{said}");
    assert!(!said.contains("at byte"), "{said}");
    let (code, said) = refused(&["encode", "--preserve", "q"], DOCUMENT.as_bytes());
    assert!(code == 2 && said.contains("takes of cdlpx"), "{said}");
    let (code, said) = refused(
        &["encode", "--schema", "", "--dtrm", "q:a=exi:string"],
        DOCUMENT.as_bytes(),
    );
    assert!(code == 2 && said.contains("only xsd and exi"), "{said}");
}

/// A file in a folder of its own.
fn file(test: &str, name: &str, text: &str) -> String {
    let folder = std::env::temp_dir().join(format!("weir-exi-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

const SCHEMA: &str = "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\
    <xs:element name=\"a\" type=\"xs:int\"/></xs:schema>";

/// Puts a bit-packed string in, which is what names are in a stream.
fn forged(stream: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let bits = |bytes: &[u8]| -> Vec<bool> {
        let bit = |byte: &u8| {
            (0..8)
                .rev()
                .map(|at| byte >> at & 1 == 1)
                .collect::<Vec<_>>()
        };
        bytes.iter().flat_map(bit).collect()
    };
    let (mut all, from, to) = (bits(stream), bits(from), bits(to));
    let at = all.windows(from.len()).position(|bits| bits == from);
    let at = at.expect("the name is in the stream");
    all[at..at + to.len()].copy_from_slice(&to);
    let byte = |bits: &[bool]| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
    all.chunks(8).map(byte).collect()
}

#[test]
fn a_stream_whose_names_are_markup_gives_no_document() {
    let element = done(&["encode"], b"<a><plainname/></a>");
    let (code, said) = refused(&["decode"], &forged(&element, b"plainname", b"b><x y='1"));
    assert_eq!(code, 1);
    assert!(
        said.contains("\"b><x y='1\" is not a name at byte "),
        "{said}"
    );
    let attribute = done(&["encode"], b"<a one=\"1\" two=\"2\"/>");
    let (_, said) = refused(&["decode"], &forged(&attribute, b"two", b"one"));
    assert!(
        said.contains("an attribute twice in one element at byte "),
        "{said}"
    );
    let keep = ["encode", "--preserve", "cpx"];
    for (document, from, to, told) in [
        (
            &b"<a><!--commented--></a>"[..],
            &b"commented"[..],
            &b"a--><x/>b"[..],
            "no -- in a comment",
        ),
        (
            b"<a><?t data?></a>",
            b"data",
            b"a?>b",
            "no ?> in a processing",
        ),
        (b"<p:a xmlns:p=\"u\"/>", b"p", b">", "\">\" is not a name"),
    ] {
        let stream = done(&keep, document);
        let (code, said) = refused(&["decode", "--preserve", "cpx"], &forged(&stream, from, to));
        assert!(code == 1 && said.contains(told), "{said}");
    }
}

#[test]
fn a_stream_of_another_schema_is_not_read_with_the_one_given() {
    let one = file("schemas", "one.xsd", SCHEMA);
    let other = file("schemas", "other.xsd", SCHEMA);
    let encode = |more: &[&str]| {
        let arguments = [&["encode", "--options-in-header"][..], more].concat();
        done(&arguments, b"<a>1</a>")
    };
    let stream = encode(&["--schema", &one]);
    done(&["decode", "--schema", &one], &stream);
    let (code, said) = refused(&["decode", "--schema", &other], &stream);
    assert_eq!(code, 1);
    assert!(said.contains("one.xsd\", and the one given is"), "{said}");
    done(
        &["decode", "--schema", &other, "--schema-id", &one],
        &stream,
    );
    let (_, said) = refused(&["decode"], &stream);
    assert!(
        said.contains("and none is given: --schema is its file"),
        "{said}"
    );
    let (_, said) = refused(&["decode", "--schema", &one], &encode(&[]));
    assert!(said.contains("names schema none"), "{said}");
    let (_, said) = refused(&["decode", "--schema", &one], &encode(&["--schema", ""]));
    assert!(said.contains("names schema \"\""), "{said}");
    let named = encode(&["--schema", &one, "--schema-id", "urn:one"]);
    done(
        &["decode", "--schema", &other, "--schema-id", "urn:one"],
        &named,
    );
    // A stream that names none is read with the one given.
    let silent = done(&["encode", "--schema", &one], b"<a>1</a>");
    done(&["decode", "--schema", &other], &silent);
}

#[test]
fn what_a_schema_cannot_hold_is_told_with_file_line_and_element() {
    let open = "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n";
    for (body, told) in [
        (
            "<xs:elemnt name=\"a\"/>",
            "wrong.xsd:2:1: elemnt a: element xs:elemnt does not stand",
        ),
        (
            "<xs:element nam=\"a\"/>",
            "wrong.xsd:2:1: element: no attribute nam is there",
        ),
        (
            "<xs:include schemaLocation=\"no.xsd\"/>",
            "wrong.xsd:2:1: include: no document at",
        ),
    ] {
        let wrong = file("wrong", "wrong.xsd", &format!("{open}{body}</xs:schema>"));
        let (code, said) = refused(&["encode", "--schema", &wrong], b"<a/>");
        assert!(code == 1 && said.contains(told), "{said}");
    }
    let import = "<xs:import namespace=\"urn:n\" schemaLocation=\"no.xsd\"/>";
    let missing = file(
        "wrong",
        "import.xsd",
        &format!("{open}{import}</xs:schema>"),
    );
    let output = exi(&["encode", "--schema", &missing], b"<a/>");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert!(
        said.contains("warning: ") && said.contains("import.xsd:2:1: import: no doc"),
        "{said}"
    );
}

#[test]
fn options_without_effect_are_refused_with_a_sentence() {
    let schema = file("effect", "a.xsd", SCHEMA);
    let by = |more: &[&'static str]| -> Vec<String> {
        let arguments = ["encode", "--schema", &schema];
        arguments
            .iter()
            .chain(more)
            .map(|&text| text.to_owned())
            .collect()
    };
    let plain = |more: &[&'static str]| -> Vec<String> {
        ["encode"]
            .iter()
            .chain(more)
            .map(|&text| text.to_owned())
            .collect()
    };
    for (arguments, told) in [
        (plain(&["--strict"]), "--strict needs --schema"),
        (
            plain(&["--dtrm", "xsd:int=exi:string"]),
            "--dtrm needs --schema",
        ),
        (plain(&["--built-in-grammars", "1"]), "need --schema"),
        (plain(&["--built-in-productions", "1"]), "need --schema"),
        (plain(&["--schema-id", "x"]), "--schema-id needs --schema"),
        (
            by(&["--schema-id", "x"]),
            "--schema-id needs --options-in-header",
        ),
        (
            plain(&["--block-size", "9"]),
            "--block-size needs --alignment",
        ),
        (
            plain(&["--canonical", "--cookie"]),
            "--canonical excludes --cookie",
        ),
        (
            by(&["--dtrm", "xsd:int=exi:strng"]),
            "EXI has no representation {",
        ),
        (
            by(&["--dtrm", "xsd:int={u}string"]),
            "EXI has no representation {u}string; it has exi:",
        ),
        (
            by(&["--dtrm", "xsd:intt=exi:string"]),
            "the schema has no type {",
        ),
    ] {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let (code, said) = refused(&arguments, b"<a>1</a>");
        assert!(code == 2 && said.contains(told), "{arguments:?}: {said}");
    }
    let (code, said) = refused(&["encode", "--self-contained={u}b,c"], b"<a><c/></a>");
    assert_eq!(code, 1);
    assert!(
        said.contains("--self-contained: the document has no element {u}b"),
        "{said}"
    );
}

#[test]
fn a_dash_is_standard_input() {
    let stream = done(&["encode", "-"], DOCUMENT.as_bytes());
    assert_eq!(stream, done(&["encode"], DOCUMENT.as_bytes()));
    assert_eq!(done(&["decode", "-"], &stream), done(&["decode"], &stream));
}

const READINGS: &str = "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\
    <xs:element name=\"readings\"><xs:complexType><xs:all>\
    <xs:element name=\"depth\" type=\"xs:decimal\"/><xs:element name=\"count\"><xs:simpleType>\
    <xs:restriction base=\"xs:int\"><xs:minInclusive value=\"0\"/><xs:maxInclusive value=\"9999\"/>\
    </xs:restriction></xs:simpleType></xs:element></xs:all>\
    <xs:attribute name=\"unit\" use=\"required\"/></xs:complexType></xs:element></xs:schema>";

#[test]
fn the_guide_says_of_strict_what_it_does() {
    let schema = file("strict", "s.xsd", READINGS);
    let options = ["--schema", &schema, "--strict"];
    let (encode, decode) = (
        [&["encode"][..], &options].concat(),
        [&["decode"][..], &options].concat(),
    );
    let document =
        "<readings unit=\"m\"><count>123456</count><depth>1</depth><depth>2</depth></readings>";
    let back = String::from_utf8(done(&decode, &done(&encode, document.as_bytes()))).unwrap();
    let kept = "<count>123456</count><depth>1.0</depth><depth>2.0</depth>";
    assert!(back.contains(kept), "{back}");
    for (document, told) in [
        (
            "<readings><depth>1</depth></readings>",
            "1:11: not allowed here: an element",
        ),
        (
            "<readings unit=\"m\"><depth>deep</depth></readings>",
            "1:31: \"deep\" is not of the datatype",
        ),
    ] {
        let (code, said) = refused(&encode, document.as_bytes());
        assert!(code == 1 && said.contains(told), "{said}");
    }
}

#[test]
fn the_guide_says_what_becomes_of_prefixes_and_entities() {
    let through = |options: &[&str], decoding: &[&str], document: &str| {
        let stream = done(&[&["encode"][..], options].concat(), document.as_bytes());
        let back = String::from_utf8(done(&[&["decode"][..], decoding].concat(), &stream)).unwrap();
        let body = back.trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        (stream.len(), body.trim_end().to_owned())
    };
    let prefixed = "<p:a xmlns:p=\"urn:x\" t=\"p:b\"/>";
    let (_, back) = through(&[], &[], prefixed);
    assert_eq!(back, "<ns0:a xmlns:ns0=\"urn:x\" t=\"p:b\"/>");
    let x = ["--preserve", "x"];
    assert_eq!(through(&x, &x, prefixed).1, prefixed);
    let d = ["--preserve", "d"];
    let doctype = "<!DOCTYPE a [<!ENTITY e \"x\"><!ATTLIST a d CDATA \"1\">]>";
    let (_, back) = through(&d, &d, &format!("{doctype}<a b=\"&e;\">&e;</a>"));
    assert_eq!(back, format!("{doctype}<a b=\"x\" d=\"1\">&e;</a>"));
    let bounded = ["--schema", "", "--built-in-grammars", "0"];
    let (long, back) = through(&bounded, &bounded[..2], "<a><b/><c/></a>");
    assert!(back.contains("<b xsi:type=\"ns0:anyType\"/>"), "{back}");
    assert_eq!(
        (
            long,
            through(&bounded[..2], &bounded[..2], "<a><b/><c/></a>").0
        ),
        (22, 10)
    );
}
