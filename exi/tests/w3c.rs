//! The streams that the W3C's working group made to test interoperation: each decodes to the infoset of
//! its source.
//!
//! The data is the W3C's and not committed. It is found by `WEIR_EXI_TESTSUITE`, a folder or its archive,
//! or beside the project; without it the test says so and counts nothing.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod canonical;
mod coding;
mod loose;
mod name;
mod suite;
mod zip;

use name::{Grammar, Name};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use suite::{Stream, Suite};
use weir_exi::Schema;

/// Streams of the suite whose source and schema are in it: fewer would mean that the test looks away.
const STREAMS: usize = 9_080;

/// Lines of the table of canonical streams.
const CANONICAL: usize = 914;

/// What a stream came to.
enum Outcome {
    Matched,
    /// Its source or its schema is not in the suite.
    Absent(String),
    Mismatched(String),
}

// [EXI-10.2-1] [EXI-8.3-2] [PROFILE-6.2-1]
#[test]
fn every_stream_decodes_to_its_source() {
    let Some(suite) = suite() else { return };
    let mut schemas = BTreeMap::new();
    let (mut matched, mut absent, mut mismatched) =
        (0, Vec::new(), BTreeMap::<String, Vec<String>>::new());
    for stream in suite.streams() {
        let file = &stream.path;
        match outcome(&suite, &stream, &mut schemas) {
            Outcome::Matched => matched += 1,
            Outcome::Absent(what) => absent.push(what),
            Outcome::Mismatched(why) => mismatched
                .entry(class(&why))
                .or_default()
                .push(format!("{file}: {why}")),
        }
    }
    let wrong: usize = mismatched.values().map(Vec::len).sum();
    println!(
        "W3C streams: {matched} matched, {wrong} mismatched, {} without source or schema",
        absent.len()
    );
    if std::env::var_os("WEIR_EXI_VERBOSE").is_some() {
        absent.iter().for_each(|what| println!("  absent {what}"));
    }
    for (class, streams) in &mismatched {
        println!("{} streams: {class}", streams.len());
        streams
            .iter()
            .take(400)
            .for_each(|stream| println!("    {stream}"));
    }
    assert_eq!(wrong, 0, "streams that do not decode to their source");
    assert_eq!(matched, STREAMS, "streams that were compared");
}

// [C14N-4.2.2-1] [C14N-4.3.2-1] [C14N-4.4-2] [C14N-4.5.6-1]
#[test]
fn canonical_streams_are_the_same_byte_for_byte() {
    let Some(suite) = suite() else { return };
    let mut schemas = BTreeMap::new();
    let (mut same, mut other) = (0, Vec::new());
    for line in canonical::lines() {
        let schema = (!line.schema.is_empty()).then(|| {
            let path = suite.path(&canonical::Line::path(line.schema)).unwrap();
            let known = schemas.entry(path.clone());
            known.or_insert_with(|| load(&path).unwrap()).clone()
        });
        match line.check(&suite, schema) {
            Ok(()) => same += 1,
            Err(why) => other.push(format!("{}: {why}", line.told())),
        }
    }
    other.iter().for_each(|line| println!("{line}"));
    assert_eq!(other.len(), 0, "streams that are not the canonical ones");
    assert_eq!(same, CANONICAL, "streams that were compared");
}

fn suite() -> Option<Suite> {
    let suite = Suite::find();
    if suite.is_none() {
        eprintln!("data absent: the W3C streams; WEIR_EXI_TESTSUITE names their folder or archive");
    }
    suite
}

/// The kind of a mismatch: its sentence without places and values.
fn class(why: &str) -> String {
    let head = why.split(" at byte ").next().unwrap_or(why);
    let head = head.split(": expected").next().unwrap_or(head);
    head.chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}

fn outcome(
    suite: &Suite,
    stream: &Stream,
    schemas: &mut BTreeMap<PathBuf, Result<Arc<Schema>, String>>,
) -> Outcome {
    let file = &stream.path;
    let Some(name) = Name::parse(&stream.name) else {
        return Outcome::Absent(format!("{file}: not a name of the suite"));
    };
    let Some(source) = suite.source(&name) else {
        return Outcome::Absent(format!("{file}: no source"));
    };
    let schema = match &name.schema {
        Grammar::None => None,
        Grammar::BuiltInTypes => Some(Ok(Arc::new(weir_exi::xsd::built_in_types()))),
        Grammar::File(path) => {
            let Some(path) = suite.path(path) else {
                return Outcome::Absent(format!("{file}: no schema"));
            };
            Some(
                schemas
                    .entry(path.clone())
                    .or_insert_with(|| load(&path))
                    .clone(),
            )
        }
    };
    let schema = match schema.transpose() {
        Ok(schema) => schema,
        Err(why) => return Outcome::Mismatched(format!("schema not compiled: {why}")),
    };
    match coding::check(&source, stream, &name, schema.as_ref()) {
        Ok(()) => Outcome::Matched,
        Err(why) => Outcome::Mismatched(why),
    }
}

fn load(path: &Path) -> Result<Arc<Schema>, String> {
    let (location, bytes) = (path.to_string_lossy(), std::fs::read(path).unwrap());
    let document = weir_exi::xsd::Document {
        location: &location,
        bytes: &bytes,
    };
    let mut loader = |location: &str| std::fs::read(location).ok();
    weir_exi::xsd::compile(&[document], &mut loader)
        .map(Arc::new)
        .map_err(|error| error.to_string())
}
