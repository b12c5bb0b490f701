//! `weir convert` from and to every format.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use crate::process;

use process::{folder, printed, run};
use weir_codec::FORMATS;

/// Each of its observations has something that some format leaves out.
const MESSAGE: &str = r#"{"observations":[
    {"topic":"a/b","sensor":"urn:s","type":"temperature","value":21.5,"unit":"Cel",
     "time":"2026-11-20T09:41:00.250Z","lat":44.8125,"lon":20.4612},
    {"topic":"a/c","value":"open","time":"2026-11-20T09:41:01.000000001Z"},
    {"topic":"a/b","value":{"x":[1,2]},"resultTime":"2026-11-20T09:41:02Z","quality":"good"},
    {"topic":"a/c","value":null},{"topic":"d","value":true}]}"#;

#[test]
fn every_format_gives_a_message_back_as_one_command_shows() {
    let folder = folder("round-trip");
    let file = folder.join("message.json");
    std::fs::write(&file, MESSAGE).unwrap();
    for file in [None, Some(file.to_str().unwrap())] {
        let arguments = ["convert", "--round-trip"];
        let all: Vec<_> = arguments.into_iter().chain(file).collect();
        let table = printed(&all, "");
        for (format, line) in FORMATS.iter().zip(table.lines().skip(1)) {
            let words: Vec<_> = line.split_whitespace().collect();
            assert_eq!((words[0], words[2]), (format.name, "equal"), "{line}");
        }
        assert_eq!(table.lines().count(), FORMATS.len() + 1);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_broken_message_is_refused_with_its_byte_in_every_format() {
    let folder = folder("broken");
    let file = folder.join("message");
    let path = file.to_str().unwrap();
    for format in FORMATS {
        let mut bytes = Vec::new();
        (format.encode)(&weir_codec::sample::message(2, 0), &mut bytes);
        // Any text is a message of plain text.
        let cut = match format.name {
            "plain" => [&bytes[..], b"\xff"].concat(),
            _ => bytes[..bytes.len() * 3 / 5].to_vec(),
        };
        std::fs::write(&file, &cut).unwrap();
        let output = run(
            &["convert", "--from", format.name, "--to", "json", path],
            "",
        );
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{}: {said}", format.name);
        let begins = format!("weir: not a message in {}: ", format.name);
        assert!(
            said.starts_with(&begins) && said.contains(" at byte "),
            "{said}"
        );
        assert_eq!(said.contains("(line "), format.text, "{said}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_says_nothing_is_converted_and_told() {
    let output = run(&["convert", "--from", "json", "--to", "plain"], "{}");
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "weir: no observation in the message\n");
}

/// A command whose printed lines nobody reads: its output is a pipe that was closed before it began.
fn unread(arguments: &[&str]) -> std::process::Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = process::weir(arguments);
    command.stdout(writer).stderr(std::process::Stdio::piped());
    command.spawn().unwrap().wait_with_output().unwrap()
}

#[test]
fn a_reader_that_is_gone_is_no_failure() {
    for arguments in [&["convert", "--round-trip"][..], &["check"]] {
        let output = unread(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {said}");
        assert_eq!(said, "", "{arguments:?}");
    }
    // It says what token it made, whoever reads the entry.
    let output = unread(&["token", "name"]);
    assert!(output.status.success());
}

#[test]
fn a_message_for_every_format_comes_from_standard_input_too() {
    let both = |input: &str| {
        let unnamed = printed(&["convert", "--round-trip"], input);
        assert_eq!(
            unnamed,
            printed(&["convert", "--round-trip", "-"], input),
            "the same"
        );
        unnamed
    };
    let bytes = |table: &str| {
        let line = table.lines().find(|line| line.starts_with("json "));
        line.unwrap().split_whitespace().nth(1).unwrap().to_owned()
    };
    let short = r#"{"observations":[{"topic":"a","value":1}]}"#;
    assert_eq!(bytes(&both(short)), short.len().to_string());
    let output = run(&["convert", "--round-trip", "-"], "");
    assert_eq!(output.status.code(), Some(1), "an empty message is none");
}

#[test]
fn a_round_trip_tells_what_this_message_lost() {
    let said = |input: &str, format: &str| {
        let table = printed(&["convert", "--round-trip"], input);
        let begins = format!("{format} ");
        let line = table
            .lines()
            .find(|line| line.starts_with(&begins))
            .unwrap();
        let (_, said) = line.split_once("equal").unwrap();
        said.to_owned()
    };
    let bare = r#"[{"value":21.5}]"#;
    assert_eq!(said(bare, "plain"), "");
    let full = r#"[{"topic":"a","value":{"x":9007199254740993},"unit":"m"}]"#;
    assert_eq!(said(full, "plain"), " but for topic, unit");
    assert_eq!(said(full, "senml-json"), " but for JSON");
    assert_eq!(said(full, "amf3"), " but for integers");
    assert_eq!(said(full, "csv"), "");
    let odd = r#"[{"value":["\u00e9",1.0,1e2,-0.0],"lat":1,"lon":-0.0,"topic":"a"}]"#;
    assert_eq!(said(odd, "cbor"), "");
    assert_eq!(said(odd, "exi-sc"), " but for -0");
}
