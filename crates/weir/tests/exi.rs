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
        "/../../conformance/exi/corpus/types.xsd"
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
        &["encode", "--strict", "--preserve", "c"],
        DOCUMENT.as_bytes(),
    );
    assert_eq!(code, 2, "{said}");
    let (code, said) = refused(&["encode", "--preserve", "q"], DOCUMENT.as_bytes());
    assert!(code == 2 && said.contains("takes of cdlpx"), "{said}");
    let (code, said) = refused(&["encode", "--dtrm", "q:a=exi:string"], DOCUMENT.as_bytes());
    assert!(code == 2 && said.contains("only xsd and exi"), "{said}");
}
