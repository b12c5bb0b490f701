//! One document, one combination of options, both ways.

use crate::arguments::Arguments;
use crate::coding;
use crate::document::Document;
use crate::grid::{self, Case};
use crate::java::Java;
use crate::known;
use crate::random::Random;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use weir_exi::infoset::{Infoset, Item, compare};
use weir_exi::xml::Reader;
use weir_exi::{Limits, Preserve, Schema};

/// What came of it.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// Why the oracle could not take part, and how often.
    known: BTreeMap<&'static str, usize>,
    /// What passed, by what was asked.
    kinds: BTreeMap<&'static str, usize>,
    /// Failures told, by document.
    shown: BTreeMap<String, usize>,
}

/// Failures told one by one, at most, and of one document.
const SHOWN_MAX: usize = 60;
const SHOWN_OF_ONE_MAX: usize = 2;

impl Tally {
    pub(crate) fn print(&self) {
        for (reason, count) in &self.known {
            println!("oracle: {count} times: {reason}");
        }
        for (kind, count) in &self.kinds {
            println!("{count} times: {kind}");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
    }

    /// The counts as a page, with the arguments that lead to them.
    pub(crate) fn page(&self, documents: usize, arguments: &[String]) -> String {
        let mut page = format!(
            "# EXI against EXIficient\n\nMade by `exi/conformance/run {}`; not to be edited.\n\n\
             {documents} documents, {} checks passed, {} failed.\n\n\
             | passed | times |\n|---|---:|\n",
            arguments.join(" "),
            self.passed,
            self.failed
        );
        let row = |(what, count): (&&str, &usize)| format!("| {what} | {count} |\n");
        page.extend(self.kinds.iter().map(row));
        page += "\n| not judged, for what EXIficient does | times |\n|---|---:|\n";
        page.extend(self.known.iter().map(row));
        page
    }

    fn aside(&mut self, reason: &'static str) {
        *self.known.entry(reason).or_default() += 1;
    }

    fn count(
        &mut self,
        kind: &'static str,
        outcome: Result<(), String>,
        document: &str,
        settings: &str,
    ) {
        let reason = match outcome {
            Ok(()) => {
                self.passed += 1;
                *self.kinds.entry(kind).or_default() += 1;
                return;
            }
            Err(reason) => reason,
        };
        if let Some(limitation) = known::limitation(&reason) {
            return self.aside(limitation);
        }
        self.failed += 1;
        let all: usize = self.shown.values().sum();
        let shown = self.shown.entry(document.to_owned()).or_default();
        if *shown < SHOWN_OF_ONE_MAX && all < SHOWN_MAX {
            *shown += 1;
            println!("FAILED {document}: {kind}: {settings}\n       {reason}");
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
    let wanted = |document: &&Document| {
        arguments
            .only
            .as_ref()
            .is_none_or(|only| *only == document.name)
    };
    for document in documents.iter().filter(wanted) {
        let schema = document.schema.as_ref().map(|path| {
            let known = schemas.entry(path.clone());
            known.or_insert_with(|| coding::schema(path)).clone()
        });
        let schema = match schema.transpose() {
            Ok(schema) => schema,
            Err(reason) => {
                tally.count("a schema", Err(reason), &document.name, "");
                continue;
            }
        };
        let mut random = Random::new(arguments.seed ^ hash(&document.name));
        let first = if arguments.all { 0 } else { random.below(64) };
        for number in first..first + arguments.cases {
            let case = grid::case(number, document, &mut random);
            let mut pair = Pair {
                document,
                case: &case,
                schema: schema.as_ref(),
                settings: case.settings(document),
                files: &files,
                java,
            };
            pair.check(&mut tally);
        }
    }
    if arguments.keep.is_none() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    tally
}

/// FNV-1a: what is drawn for a document does not hang on the others.
fn hash(name: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
    name.bytes().fold(0xCBF2_9CE4_8422_2325, mix)
}

/// A document and a combination of options.
struct Pair<'c> {
    document: &'c Document,
    case: &'c Case,
    schema: Option<&'c Arc<Schema>>,
    settings: Vec<String>,
    files: &'c Files,
    java: &'c mut Java,
}

impl Pair<'_> {
    fn check(&mut self, tally: &mut Tally) {
        if let Some(reason) = known::other_stream(self.document, &self.case.options) {
            return tally.aside(reason);
        }
        let text = match self.case.options.fragment && !self.document.fragment {
            true => fragment(&self.document.text),
            false => self.document.text.clone(),
        };
        let (name, told) = (self.document.name.as_str(), self.told());
        let read = self.items(&text);
        let expected = match read.and_then(|items| {
            std::fs::write(&self.files.xml, &text).map_err(|error| error.to_string())?;
            Ok(items)
        }) {
            Ok(expected) => expected,
            Err(reason) => return tally.count("a document", Err(reason), name, &told),
        };
        let stream = self.encoded(&text);
        let ours = stream
            .clone()
            .and_then(|stream| self.ours(&stream, &expected));
        let theirs = self.theirs(&expected);
        if let (Err(_), Err(reason)) = (&stream, &theirs)
            && self.case.options.strict
            && reason.starts_with("oracle encodes")
        {
            return tally.count(
                "both refuse what is not strictly valid",
                Ok(()),
                name,
                &told,
            );
        }
        if (ours.is_err() || theirs.is_err()) && self.alone(&expected).is_err() {
            // Where EXIficient does not bring a document back from its own stream, it can judge nobody's.
            return tally.aside("it does not bring the document back from its own stream");
        }
        let judged = |reason: &String| !reason.starts_with("weir ");
        if ours.as_ref().is_err_and(judged)
            && theirs.is_err()
            && let Some(reason) = known::after_any_type(self.document, &self.case.options)
        {
            return tally.aside(reason);
        }
        tally.count("weir encodes, EXIficient decodes", ours, name, &told);
        let theirs = match (theirs, stream) {
            (Ok(theirs), Ok(ours)) => {
                self.canonical(tally, &ours, &theirs, &told);
                Ok(())
            }
            (theirs, _) => theirs.map(|_| ()),
        };
        tally.count("EXIficient encodes, weir decodes", theirs, name, &told);
    }

    /// The canonical form has one stream for a document.
    fn canonical(&self, tally: &mut Tally, ours: &[u8], theirs: &[u8], told: &str) {
        let Some(canonical) = self.case.canonical else {
            return;
        };
        if let Some(reason) = known::other_canonical(self.document, &self.case.options, canonical) {
            return tally.aside(reason);
        }
        let at = ours
            .iter()
            .zip(theirs)
            .take_while(|(one, other)| one == other)
            .count();
        let outcome = match ours == theirs {
            true => Ok(()),
            false => Err(format!(
                "byte {at}: {} is not {}",
                hex(ours, at),
                hex(theirs, at)
            )),
        };
        tally.count(
            "the same canonical bytes",
            outcome,
            &self.document.name,
            told,
        );
    }

    fn told(&self) -> String {
        let in_band = if self.case.in_band {
            "(options in the header only) "
        } else {
            ""
        };
        format!("{in_band}{}", self.settings.join(" "))
    }

    fn typed(&self) -> bool {
        self.schema.is_some()
    }

    /// The items of a document as far as the options keep them.
    fn items(&self, text: &[u8]) -> Result<Vec<Item>, String> {
        let mut reader = Reader::new(text, self.case.options.preserve, Limits::default())
            .map_err(|error| error.to_string())?;
        if self.case.options.fragment {
            reader = reader.fragment();
        }
        let items = Infoset::of_xml(reader, self.case.rules(self.typed()));
        items
            .map(|items| self.without_types(as_oracle_tells(items)))
            .map_err(|error| format!("weir's reader: {error}"))
    }

    /// Without the types that the EXI Profile adds (section 3.2).
    fn without_types(&self, mut items: Vec<Item>) -> Vec<Item> {
        if self.case.options.profile.is_some() {
            items.retain(|item| !is_any_type(item));
        }
        items
    }

    fn encoded(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let stream = coding::encode(text, self.case, self.schema);
        stream.map_err(|reason| format!("weir encodes: {reason}"))
    }

    fn ours(&mut self, stream: &[u8], expected: &[Item]) -> Result<(), String> {
        std::fs::write(&self.files.exi, stream).map_err(|error| error.to_string())?;
        let own = coding::decode(stream, self.case, self.schema)
            .map_err(|reason| format!("weir decodes its own: {reason}"))?;
        self.same(expected, &self.without_types(as_oracle_tells(own)))
            .map_err(|reason| format!("weir with itself: {reason}"))?;
        self.java
            .run("decode", &self.files.exi, &self.files.back, &self.settings)
            .map_err(|reason| format!("oracle decodes: {reason}"))?;
        let back = std::fs::read(&self.files.back).map_err(|error| error.to_string())?;
        self.same(expected, &self.items(&back)?)
    }

    /// The oracle's stream, once it is found to be the document.
    fn theirs(&mut self, expected: &[Item]) -> Result<Vec<u8>, String> {
        self.java
            .run("encode", &self.files.xml, &self.files.exi, &self.settings)
            .map_err(|reason| format!("oracle encodes: {reason}"))?;
        let stream = std::fs::read(&self.files.exi).map_err(|error| error.to_string())?;
        let actual = coding::decode(&stream, self.case, self.schema)
            .map_err(|reason| format!("weir decodes: {reason}"))?;
        self.same(expected, &self.without_types(as_oracle_tells(actual)))?;
        Ok(stream)
    }

    /// The oracle with itself.
    fn alone(&mut self, expected: &[Item]) -> Result<(), String> {
        let Files { xml, exi, back } = self.files;
        self.java.run("encode", xml, exi, &self.settings)?;
        self.java.run("decode", exi, back, &self.settings)?;
        let back = std::fs::read(back).map_err(|error| error.to_string())?;
        self.same(expected, &self.items(&back)?)
    }

    fn same(&self, expected: &[Item], actual: &[Item]) -> Result<(), String> {
        let rules = self.case.rules(self.typed());
        compare(expected, actual, rules).map_err(|difference| difference.to_string())
    }
}

fn is_any_type(item: &Item) -> bool {
    matches!(item, Item::Attribute(_, name, value) if name == "type" && value.ends_with("anyType"))
}

/// The bytes around a place.
fn hex(bytes: &[u8], at: usize) -> String {
    let around = bytes.iter().skip(at.saturating_sub(12)).take(28);
    around.map(|byte| format!("{byte:02x}")).collect()
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
