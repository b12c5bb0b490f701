//! A document in EXI as a tape of words, from which a page builds its tree.
//!
//! What it deliberately does not do: no tree of its own, and no schema, so that what is read is told by the stream
//! and its alignment alone. The decision worth arguing: all texts lie end to end in one, and their places are counted
//! as JavaScript counts them, in units of UTF-16: a page makes one string of it and cuts, which costs a tenth of a
//! string decoded for each.

use std::collections::HashMap;
use weir_exi::decode::{Decoder, DecoderSettings};
use weir_exi::value::push_lexical;
use weir_exi::{Alignment, Event, Limits, Options, QName, Value};

/// Alignments by the number that a page says, in the order of `ALIGNMENTS` in document.ts.
const ALIGNMENTS: [Alignment; 4] = [
    Alignment::BitPacked,
    Alignment::ByteAligned,
    Alignment::PreCompression,
    Alignment::Compression,
];

/// What a document may become in a page's memory.
const LIMITS: Limits = Limits {
    depth: 1_000,
    input_bytes: 1 << 30,
    expanded_bytes: 1 << 28,
    table_bytes: 1 << 27,
    table_entries: 1 << 22,
    events: 1 << 25,
    attributes: 4_096,
    value_bytes: 1 << 27,
};

/// The prefix of a type's namespace where the stream has none.
const PREFIX: &str = "ns0";
const ABSENT: u32 = u32::MAX;

/// What a word of the tape says; its arguments follow it. A span is two words, start and length.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next name's namespace and qualified name: two spans. Names are numbered from 0.
    Name = 0,
    /// An element begins: its name.
    Element = 1,
    /// The innermost element ends.
    End = 2,
    /// An attribute of the element just begun: its name, and its value's span.
    Attribute = 3,
    /// A prefix is declared on the element just begun: spans of prefix and namespace.
    Namespace = 4,
    /// Characters: their span.
    Text = 5,
    /// A comment: its span.
    Comment = 6,
    /// A processing instruction: spans of target and data.
    Instruction = 7,
    /// The document's type: spans of the root's name, the public and the system identifier.
    DocType = 8,
}

/// The document read last.
#[derive(Debug, Default)]
pub struct Tape {
    words: Vec<u32>,
    text: Text,
    names: Names,
    /// Where the element begun last stands in the words.
    element: usize,
    scratch: String,
    /// That of the last stream, and the alignment it was told.
    decoder: Option<(Alignment, Decoder<'static>)>,
}

/// All texts, and their length in units of UTF-16.
#[derive(Debug, Default)]
struct Text {
    utf8: String,
    units: u32,
}

/// Numbers of the names met.
#[derive(Debug, Default)]
struct Names {
    /// By the decoder's number, of names without prefix.
    by_hint: Vec<u32>,
    known: HashMap<String, u32>,
    /// Namespace and local name of each.
    all: Vec<[String; 2]>,
    key: String,
}

impl Tape {
    /// The words; see [`Step`].
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// What the spans of the words cut from.
    pub fn text(&self) -> &str {
        &self.text.utf8
    }

    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.text.clear();
        self.names.clear();
    }

    /// Reads a document whose stream has this alignment, or says its own in its header.
    pub(crate) fn read(&mut self, input: &[u8], alignment: usize) -> Result<(), String> {
        self.clear();
        let alignment = *ALIGNMENTS.get(alignment).ok_or("no such alignment")?;
        let kept = self.decoder.take().filter(|(of, _)| *of == alignment);
        let decoder = kept.map_or_else(|| decoder_of(alignment), |(_, decoder)| decoder);
        let mut decoder = decoder.restart(input);
        let read = self.steps(&mut decoder);
        self.decoder = Some((alignment, decoder.restart(&[])));
        read
    }

    fn steps(&mut self, decoder: &mut Decoder<'_>) -> Result<(), String> {
        loop {
            match decoder.next_event() {
                Ok(Some(ref event)) => self.step(event)?,
                Ok(None) => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn step(&mut self, event: &Event<'_>) -> Result<(), String> {
        match *event {
            Event::StartDocument | Event::EndDocument | Event::SelfContained => {}
            Event::StartElement(ref name) => {
                let name = self.name(name);
                self.element = self.words.len();
                self.words.extend([Step::Element as u32, name]);
            }
            Event::EndElement => self.words.push(Step::End as u32),
            Event::Attribute(ref name, ref value) => self.attribute(name, value),
            Event::Namespace {
                prefix,
                uri,
                local_element_ns,
            } => {
                if local_element_ns {
                    self.prefix(prefix);
                }
                self.texts(Step::Namespace, [prefix, uri]);
            }
            Event::Characters(ref value) => {
                let span = self.value(value);
                self.words.push(Step::Text as u32);
                self.words.extend(span);
            }
            Event::Comment(text) => self.texts(Step::Comment, [text]),
            Event::ProcessingInstruction { target, data } => {
                self.texts(Step::Instruction, [target, data]);
            }
            Event::DocType {
                name,
                public,
                system,
                ..
            } => self.texts(Step::DocType, [name, public, system]),
            Event::EntityReference(name) => {
                return Err(format!(
                    "a reference to the entity {name}, which a page's tree cannot hold"
                ));
            }
        }
        Ok(())
    }

    /// The prefix of the element just begun, which a stream tells after its name (EXI 1.0 section 4).
    fn prefix(&mut self, prefix: &str) {
        let number = self.words[self.element + 1] as usize;
        let [uri, local] = self.names.all[number].clone();
        let behind = self.words.len();
        let name = self.name(&QName::new(&uri, &local).with_prefix(prefix));
        // A name that is new is told before its element.
        let told = self.words.len() - behind;
        self.words[self.element..].rotate_right(told);
        self.element += told;
        self.words[self.element + 1] = name;
    }

    fn attribute(&mut self, name: &QName<'_>, value: &Value<'_>) {
        if let Value::QName(of) = value
            && of.prefix.is_none()
            && !of.uri.is_empty()
        {
            self.texts(Step::Namespace, [PREFIX, of.uri]);
        }
        let name = self.name(name);
        let [start, length] = self.value(value);
        let attribute = [Step::Attribute as u32, name, start, length];
        self.words.extend(attribute);
    }

    fn texts<const N: usize>(&mut self, step: Step, texts: [&str; N]) {
        self.words.push(step as u32);
        for text in texts {
            self.words.extend(self.text.push(text));
        }
    }

    /// The number of a name, which is told first where it is new.
    fn name(&mut self, name: &QName<'_>) -> u32 {
        let (number, is_new) = self.names.number(name);
        if is_new {
            self.scratch.clear();
            write_qualified(name, "", &mut self.scratch);
            self.words.push(Step::Name as u32);
            self.words.extend(self.text.push(name.uri));
            self.words.extend(self.text.push(&self.scratch));
        }
        number
    }

    fn value(&mut self, value: &Value<'_>) -> [u32; 2] {
        if let Some(text) = value.as_text() {
            return self.text.push(text);
        }
        self.scratch.clear();
        match value {
            Value::QName(name) if name.uri.is_empty() => self.scratch.push_str(name.local),
            Value::QName(name) => write_qualified(name, PREFIX, &mut self.scratch),
            other => push_lexical(other, &mut self.scratch),
        }
        self.text.push(&self.scratch)
    }
}

fn decoder_of(alignment: Alignment) -> Decoder<'static> {
    let options = Options {
        alignment,
        ..Options::default()
    };
    let settings = DecoderSettings {
        options,
        limits: LIMITS,
        ..DecoderSettings::default()
    };
    Decoder::new(&[], settings)
}

/// Prefix and local name; another prefix where the name has none.
fn write_qualified(name: &QName<'_>, without: &str, out: &mut String) {
    let prefix = name.prefix.unwrap_or(without);
    if !prefix.is_empty() {
        out.push_str(prefix);
        out.push(':');
    }
    out.push_str(name.local);
}

impl Text {
    fn clear(&mut self) {
        self.utf8.clear();
        self.units = 0;
    }

    /// Appends a text and says where it lies.
    fn push(&mut self, text: &str) -> [u32; 2] {
        let start = self.units;
        let units = match text.is_ascii() {
            true => text.len(),
            false => text.encode_utf16().count(),
        };
        self.utf8.push_str(text);
        self.units += units as u32;
        [start, units as u32]
    }
}

impl Names {
    fn clear(&mut self) {
        self.by_hint.clear();
        self.known.clear();
        self.all.clear();
    }

    /// The number of a name, and whether it was not met before.
    fn number(&mut self, name: &QName<'_>) -> (u32, bool) {
        let hint = name.hint.filter(|_| name.prefix.is_none());
        let Some(hint) = hint.map(|hint| hint.0 as usize) else {
            return self.look_up(name);
        };
        if self.by_hint.len() <= hint {
            self.by_hint.resize(hint + 1, ABSENT);
        }
        if self.by_hint[hint] != ABSENT {
            return (self.by_hint[hint], false);
        }
        let (number, is_new) = self.look_up(name);
        self.by_hint[hint] = number;
        (number, is_new)
    }

    fn look_up(&mut self, name: &QName<'_>) -> (u32, bool) {
        self.key.clear();
        write_qualified(name, "", &mut self.key);
        self.key.push('\0');
        self.key.push_str(name.uri);
        if let Some(&number) = self.known.get(&self.key) {
            return (number, false);
        }
        let number = self.known.len() as u32;
        self.known.insert(self.key.clone(), number);
        self.all.push([name.uri.into(), name.local.into()]);
        (number, true)
    }
}
