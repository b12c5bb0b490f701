//! The suite's sources for Canonical EXI, which has no streams of them: theirs are those that EXIficient
//! 1.0.7 makes, in `canonical.tsv`. Each line: source, schema or nothing, layout, what is preserved, and
//! the stream in hexadecimal digits.

use super::suite::Suite;
use std::sync::Arc;
use weir_exi::xml::Reader;
use weir_exi::{Alignment, Canonical, Encoder, EncoderSettings, Limits, Options, Preserve, Schema};

/// Where the sources are.
const FOLDER: &str = "data/interop-canonical";

/// A line of the table.
pub(crate) struct Line<'t> {
    pub(crate) source: &'t str,
    pub(crate) schema: &'t str,
    layout: &'t str,
    keep: &'t str,
    stream: &'t str,
}

/// The lines of the table.
pub(crate) fn lines() -> impl Iterator<Item = Line<'static>> {
    include_str!("canonical.tsv").lines().map(|line| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().expect("five fields");
        Line {
            source: field(),
            schema: field(),
            layout: field(),
            keep: field(),
            stream: field(),
        }
    })
}

impl Line<'_> {
    /// Path of a file in the suite.
    pub(crate) fn path(file: &str) -> String {
        format!("{FOLDER}/{file}")
    }

    /// What it is, for who reads of a difference.
    pub(crate) fn told(&self) -> String {
        [self.source, self.schema, self.layout, self.keep].join(" ")
    }

    /// Encodes the source and compares.
    pub(crate) fn check(&self, suite: &Suite, schema: Option<Arc<Schema>>) -> Result<(), String> {
        let path = suite.path(&Self::path(self.source)).ok_or("no source")?;
        let text = std::fs::read(path).map_err(|error| error.to_string())?;
        let stream = self
            .encode(&text, schema)
            .map_err(|error| error.to_string())?;
        let hex: String = stream.iter().map(|byte| format!("{byte:02x}")).collect();
        match hex == self.stream {
            true => Ok(()),
            false => Err(format!("{hex} is not {}", self.stream)),
        }
    }

    fn encode(&self, text: &[u8], schema: Option<Arc<Schema>>) -> Result<Vec<u8>, weir_exi::Error> {
        let preserve = preserve(self.keep);
        let options = Options {
            alignment: match self.layout {
                "byte" => Alignment::ByteAligned,
                "precompress" => Alignment::PreCompression,
                _ => Alignment::BitPacked,
            },
            strict: self.layout == "strict",
            preserve,
            schema_id: match schema {
                Some(_) => weir_exi::options::SchemaId::Unspecified,
                None => weir_exi::options::SchemaId::None,
            },
            ..Options::default()
        };
        let canonical = Canonical {
            utc_time: self.layout == "utc",
            omit_options: true,
        };
        let mut encoder = Encoder::new(EncoderSettings {
            canonical: Some(canonical),
            ..EncoderSettings::new(options, schema)
        })?;
        let mut reader = Reader::new(text, preserve, Limits::default())?;
        while let Some(event) = reader.next_event()? {
            encoder.event(&event)?;
        }
        let mut stream = Vec::new();
        encoder.take(&mut stream);
        Ok(stream)
    }
}

fn preserve(letters: &str) -> Preserve {
    let has = |letter| letters.contains(letter);
    Preserve {
        comments: has('c'),
        dtd: has('d'),
        lexical_values: has('l'),
        processing_instructions: has('p'),
        prefixes: has('x'),
    }
}
