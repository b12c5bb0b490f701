//! One document, one combination of options, both ways.

use crate::Arguments;
use crate::coding;
use crate::corpus::Document;
use crate::grid::{self, Case};
use crate::java::Java;
use crate::known;
use crate::random::Random;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use weir_exi::infoset::{Infoset, Item, Rules, WhiteSpace, compare};
use weir_exi::xml::Reader;
use weir_exi::{Limits, Preserve, Schema};

/// What came of it.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// Why the oracle could not take part, and how often.
    known: BTreeMap<&'static str, usize>,
    shown: usize,
}

/// Failures told one by one, at most.
const SHOWN_MAX: usize = 40;

impl Tally {
    pub(crate) fn print(&self) {
        for (reason, count) in &self.known {
            println!("oracle: {count} times: {reason}");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
    }

    /// Where EXIficient does not bring a document back from its own stream, it can judge nobody's.
    fn without_oracle(&mut self) {
        let reason = "it does not bring the document back from its own stream, with these options";
        *self.known.entry(reason).or_default() += 1;
    }

    fn count(&mut self, outcome: Result<(), String>, told: impl Fn() -> String) {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(reason) => match known::limitation(&reason) {
                Some(limitation) => *self.known.entry(limitation).or_default() += 1,
                None => {
                    self.failed += 1;
                    self.shown += 1;
                    if self.shown <= SHOWN_MAX {
                        println!("FAILED {}\n       {reason}", told());
                    }
                }
            },
        }
    }
}

/// Files that the two hand to each other.
struct Files {
    xml: PathBuf,
    exi: PathBuf,
    back: PathBuf,
}

/// Checks every document.
pub(crate) fn all(documents: &[Document], arguments: &Arguments, java: &mut Java) -> Tally {
    let folder = arguments.keep.clone().unwrap_or_else(|| {
        std::env::temp_dir().join(format!("weir-exi-oracle-{}", std::process::id()))
    });
    let _ = std::fs::create_dir_all(&folder);
    let files = Files {
        xml: folder.join("in.xml"),
        exi: folder.join("x.exi"),
        back: folder.join("out.xml"),
    };
    let (mut tally, mut schemas) = (Tally::default(), HashMap::new());
    for (index, document) in documents.iter().enumerate() {
        if arguments
            .only
            .as_ref()
            .is_some_and(|only| *only != document.name)
        {
            continue;
        }
        let mut random = Random::new(arguments.seed ^ (index as u64) << 20);
        let first = if arguments.all { 0 } else { random.below(64) };
        for number in first..first + arguments.cases {
            let case = grid::case(number, document, &mut random);
            let schema = document.schema.as_ref().map(|path| {
                &*schemas
                    .entry(path.clone())
                    .or_insert_with(|| coding::schema(path))
            });
            pair(document, &case, schema, &files, java, &mut tally);
        }
    }
    if arguments.keep.is_none() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    tally
}

fn pair(
    document: &Document,
    case: &Case,
    schema: Option<&Arc<Schema>>,
    files: &Files,
    java: &mut Java,
    tally: &mut Tally,
) {
    let text = if case.options.fragment {
        fragment(&document.text)
    } else {
        document.text.clone()
    };
    let told = |way: &str| {
        let settings = document.settings(case);
        let in_band = if case.in_band {
            " (options in the header only)"
        } else {
            ""
        };
        format!("{}: {way}{in_band}: {}", document.name, settings.join(" "))
    };
    let settings = document.settings(case);
    let expected = match items(&text, case, schema.is_some()) {
        Ok(expected) => expected,
        Err(reason) => return tally.count(Err(reason), || told("reading the document")),
    };
    let Ok(()) = std::fs::write(&files.xml, &text) else {
        return tally.count(Err("the temporary folder cannot be written".into()), || {
            told("")
        });
    };
    let ours = ours(&text, case, schema, &expected, &settings, files, java);
    let theirs = theirs(case, schema, &expected, &settings, files, java);
    let mut itself = || alone(case, schema.is_some(), &expected, &settings, files, java);
    if (ours.is_err() || theirs.is_err()) && itself().is_err() {
        return tally.without_oracle();
    }
    tally.count(ours, || told("weir encodes, EXIficient decodes"));
    tally.count(theirs, || told("EXIficient encodes, weir decodes"));
}

/// The rules to compare by.
pub(crate) fn rules(case: &Case, typed: bool) -> Rules {
    Rules {
        preserve: case.options.preserve,
        typed,
        white_space: WhiteSpace::NotBetween,
    }
}

/// The items of a document as far as the options keep them.
fn items(text: &[u8], case: &Case, typed: bool) -> Result<Vec<Item>, String> {
    let mut reader = Reader::new(text, case.options.preserve, Limits::default())
        .map_err(|error| error.to_string())?;
    if case.options.fragment {
        reader = reader.fragment();
    }
    Infoset::of_xml(reader, rules(case, typed))
        .map(as_oracle_tells)
        .map_err(|error| format!("weir's reader: {error}"))
}

/// What the oracle's parser tells otherwise: declarations one by one, from which no internal subset can be
/// had back, and references to predefined entities as if they were declared.
fn as_oracle_tells(items: Vec<Item>) -> Vec<Item> {
    let mut told: Vec<Item> = Vec::with_capacity(items.len());
    for item in items {
        let item = match item {
            Item::DocType(name, public, system, _) => {
                Item::DocType(name, public, system, String::new())
            }
            Item::Reference(name) => match predefined(&name) {
                Some(character) => Item::Text(character.into()),
                None => Item::Reference(name),
            },
            other => other,
        };
        match (told.last_mut(), item) {
            (Some(Item::Text(before)), Item::Text(text)) => before.push_str(&text),
            (_, item) => told.push(item),
        }
    }
    told
}

fn predefined(name: &str) -> Option<&'static str> {
    let all = [
        ("lt", "<"),
        ("gt", ">"),
        ("amp", "&"),
        ("quot", "\""),
        ("apos", "'"),
    ];
    all.iter()
        .find(|(known, _)| *known == name)
        .map(|(_, character)| *character)
}

fn ours(
    text: &[u8],
    case: &Case,
    schema: Option<&Arc<Schema>>,
    expected: &[Item],
    settings: &[String],
    files: &Files,
    java: &mut Java,
) -> Result<(), String> {
    let stream =
        coding::encode(text, case, schema).map_err(|reason| format!("weir encodes: {reason}"))?;
    std::fs::write(&files.exi, &stream).map_err(|error| error.to_string())?;
    let own = coding::decode(&stream, case, schema)
        .map_err(|reason| format!("weir decodes its own: {reason}"))?;
    same(expected, &as_oracle_tells(own), case, schema.is_some())
        .map_err(|reason| format!("weir with itself: {reason}"))?;
    java.run("decode", &files.exi, &files.back, settings)
        .map_err(|reason| format!("oracle decodes: {reason}"))?;
    let back = std::fs::read(&files.back).map_err(|error| error.to_string())?;
    let actual = items(&back, case, schema.is_some())?;
    same(expected, &actual, case, schema.is_some())
}

fn theirs(
    case: &Case,
    schema: Option<&Arc<Schema>>,
    expected: &[Item],
    settings: &[String],
    files: &Files,
    java: &mut Java,
) -> Result<(), String> {
    java.run("encode", &files.xml, &files.exi, settings)
        .map_err(|reason| format!("oracle encodes: {reason}"))?;
    let stream = std::fs::read(&files.exi).map_err(|error| error.to_string())?;
    let actual = coding::decode(&stream, case, schema)
        .map_err(|reason| format!("weir decodes: {reason}"))?;
    same(expected, &as_oracle_tells(actual), case, schema.is_some())
}

/// The oracle with itself.
fn alone(
    case: &Case,
    typed: bool,
    expected: &[Item],
    settings: &[String],
    files: &Files,
    java: &mut Java,
) -> Result<(), String> {
    java.run("encode", &files.xml, &files.exi, settings)?;
    java.run("decode", &files.exi, &files.back, settings)?;
    let back = std::fs::read(&files.back).map_err(|error| error.to_string())?;
    same(expected, &items(&back, case, typed)?, case, typed)
}

fn same(expected: &[Item], actual: &[Item], case: &Case, typed: bool) -> Result<(), String> {
    compare(expected, actual, rules(case, typed)).map_err(|difference| difference.to_string())
}

/// The roots of a document without what fragments do not have.
fn fragment(text: &[u8]) -> Vec<u8> {
    let preserve = Preserve {
        dtd: false,
        ..Preserve::ALL
    };
    let (mut writer, mut out) = (weir_exi::xml::Writer::new(), Vec::new());
    let Ok(mut reader) = Reader::new(text, preserve, Limits::default()) else {
        return text.to_vec();
    };
    while let Ok(Some(event)) = reader.next_event() {
        if writer.write(&event, &mut out).is_err() {
            return text.to_vec();
        }
    }
    // Two roots, one after the other.
    out.extend_from_slice(b"<second a=\"b\">root</second>");
    out
}
