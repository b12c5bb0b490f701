//! The sources of the W3C's suite with the schemas that its streams were made with.

use crate::document::{Document, is_document};
use std::collections::BTreeSet;
use std::path::Path;

/// Adds each source once for each of its schemas, where a folder is that of the suite's sources.
pub(crate) fn collect(folder: &Path, documents: &mut Vec<Document>) {
    let root = folder.join("..");
    let Ok(list) = std::fs::read_to_string(root.join("encodings/Canon/MANIFEST")) else {
        return;
    };
    let sources: BTreeSet<_> = list.lines().filter_map(Source::parse).collect();
    for source in sources {
        let schema = root.join(&source.schema);
        let text = std::fs::read(root.join(format!("{}.xml", source.path)));
        let (Ok(text), true) = (text, schema.is_file()) else {
            continue;
        };
        if !source.fragment && !is_document(&text) {
            continue;
        }
        documents.push(Document {
            name: format!("{} by {}", source.path, source.schema),
            text,
            schema: Some(schema),
            generated: false,
            fragment: source.fragment,
        });
    }
}

/// What the name of a stream tells of its source.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    path: String,
    schema: String,
    fragment: bool,
}

impl Source {
    /// `path.exi%preserve%flags%...%schema`, with `@` for `/` in the schema, and a tab after it.
    fn parse(line: &str) -> Option<Self> {
        let stream = line.split('\t').next()?;
        let (path, fields) = stream.split_once(".exi%")?;
        let mut fields = fields.split('%');
        let flags = fields.nth(1)?;
        let schema = fields.find(|field| field.starts_with("data@"))?;
        Some(Self {
            path: path.to_owned(),
            schema: schema.replace('@', "/"),
            fragment: flags.contains('f'),
        })
    }
}
