//! What a page finds on the tape of a document in EXI.
#![allow(clippy::unwrap_used)]

use weir_exi::encode::{Encoder, EncoderSettings};
use weir_exi::xml::Reader;
use weir_exi::{Alignment, Header, Limits, Options, Preserve};
use weir_wasm::{Codec, Step, Tape};

const ALIGNMENTS: [Alignment; 4] = [
    Alignment::BitPacked,
    Alignment::ByteAligned,
    Alignment::PreCompression,
    Alignment::Compression,
];

/// In a stream that says its options itself, where they are more than the alignment.
fn exi(xml: &str, alignment: Alignment, preserve: Preserve) -> Vec<u8> {
    let options = Options {
        alignment,
        preserve,
        ..Options::default()
    };
    let header = Header {
        options: preserve != Preserve::default(),
        cookie: false,
    };
    let settings = EncoderSettings {
        options,
        header,
        ..EncoderSettings::default()
    };
    let mut encoder = Encoder::new(settings).unwrap();
    let mut reader = Reader::new(xml.as_bytes(), preserve, Limits::default()).unwrap();
    while let Some(event) = reader.next_event().unwrap() {
        encoder.event(&event).unwrap();
    }
    let mut bytes = Vec::new();
    encoder.take(&mut bytes);
    bytes
}

fn read(codec: &mut Codec, bytes: &[u8], alignment: usize) -> bool {
    codec.input(bytes.len()).copy_from_slice(bytes);
    codec.read_document(alignment)
}

/// The steps of a tape, each as a page takes it.
struct Walk<'a> {
    words: std::slice::Iter<'a, u32>,
    text: Vec<u16>,
    names: Vec<[String; 2]>,
}

impl<'a> Walk<'a> {
    fn of(tape: &'a Tape) -> Self {
        Self {
            words: tape.words().iter(),
            text: tape.text().encode_utf16().collect(),
            names: Vec::new(),
        }
    }

    fn cut(&mut self) -> String {
        let [start, length] = [(); 2].map(|()| *self.words.next().unwrap() as usize);
        String::from_utf16(&self.text[start..start + length]).unwrap()
    }

    fn name(&mut self) -> String {
        let [uri, qualified] = &self.names[*self.words.next().unwrap() as usize];
        match uri.is_empty() {
            true => qualified.clone(),
            false => format!("{{{uri}}}{qualified}"),
        }
    }

    fn all(mut self) -> String {
        let mut said = String::new();
        while let Some(&word) = self.words.next() {
            let is = |step: Step| word == step as u32;
            said += &match () {
                () if is(Step::Name) => {
                    let name = [self.cut(), self.cut()];
                    self.names.push(name);
                    continue;
                }
                () if is(Step::Element) => format!("<{}", self.name()),
                () if is(Step::End) => ">".into(),
                () if is(Step::Attribute) => format!(" {}={}", self.name(), self.cut()),
                () if is(Step::Namespace) => format!(" {}:{}", self.cut(), self.cut()),
                () if is(Step::Text) => format!(" '{}'", self.cut()),
                () if is(Step::Comment) => format!(" !{}", self.cut()),
                () if is(Step::Instruction) => format!(" ?{} {}", self.cut(), self.cut()),
                () if is(Step::DocType) => {
                    format!("[{} {} {}]", self.cut(), self.cut(), self.cut())
                }
                () => unreachable!("a step that is none"),
            };
        }
        said
    }
}

#[test]
fn a_document_is_told_step_by_step_whatever_its_alignment() {
    let xml = "<a xmlns='u:1' one='1'><b>€ 𝄞</b><b xmlns=''>x</b><b>after</b></a>";
    let mut codec = Codec::default();
    for _ in 0..2 {
        for (number, alignment) in ALIGNMENTS.into_iter().enumerate() {
            let bytes = exi(xml, alignment, Preserve::default());
            assert!(read(&mut codec, &bytes, number), "{alignment:?}");
            assert_eq!(
                Walk::of(codec.document()).all(),
                "<{u:1}a one=1<{u:1}b '€ 𝄞'><b 'x'><{u:1}b 'after'>>"
            );
        }
    }
}

#[test]
fn what_is_preserved_is_there_as_well() {
    let xml = "<!DOCTYPE p:a SYSTEM 's'><p:a xmlns:p='u:1' p:k='v'><!--c--><?t d?></p:a>";
    let bytes = exi(xml, Alignment::BitPacked, Preserve::ALL);
    let mut codec = Codec::default();
    assert!(read(&mut codec, &bytes, 3), "the header says it");
    assert_eq!(
        Walk::of(codec.document()).all(),
        "[p:a  s]<{u:1}p:a p:u:1 {u:1}p:k=v !c ?t d>"
    );
}

#[test]
fn a_type_has_its_namespace_declared() {
    let xml =
        "<a xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:t='u:t' xsi:type='t:T'/>";
    let mut codec = Codec::default();
    let bytes = exi(xml, Alignment::BitPacked, Preserve::default());
    assert!(read(&mut codec, &bytes, 0));
    assert_eq!(
        Walk::of(codec.document()).all(),
        "<a ns0:u:t {http://www.w3.org/2001/XMLSchema-instance}type=ns0:T>"
    );
}

#[test]
fn what_is_no_document_is_refused_and_leaves_none() {
    let bytes = exi(
        "<a><b>text</b></a>",
        Alignment::BitPacked,
        Preserve::default(),
    );
    let mut codec = Codec::default();
    assert!(!read(&mut codec, &bytes[..bytes.len() - 3], 0));
    assert!(codec.document().words().is_empty() && !codec.reply().is_empty());
    assert!(!read(&mut codec, &bytes, 4));
    assert_eq!(codec.reply(), b"no such alignment");
    assert!(read(&mut codec, &bytes, 0));
}
