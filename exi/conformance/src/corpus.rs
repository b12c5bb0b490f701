//! The documents: generated, and collected from folders.

use crate::arguments::Arguments;
use crate::document::{Document, is_document};
use crate::{edges, free, odd, suite, typed};
use std::path::Path;

/// Largest collected document: the oracle is slow.
const COLLECTED_MAX: u64 = 300_000;

/// The documents that the arguments ask for.
pub(crate) fn documents(arguments: &Arguments) -> Vec<Document> {
    let mut documents: Vec<_> = (0..arguments.documents as u64)
        .map(|index| {
            generated(
                arguments.seed.wrapping_mul(1_000_003).wrapping_add(index),
                index,
            )
        })
        .collect();
    for folder in &arguments.corpora {
        collect(folder, &mut documents);
        suite::collect(folder, &mut documents);
    }
    documents.extend(arguments.files.iter().map(|(path, schema)| Document {
        name: path.display().to_string(),
        text: std::fs::read(path).unwrap_or_default(),
        schema: schema.clone(),
        generated: false,
        fragment: false,
    }));
    documents.retain(|document| !document.text.is_empty());
    documents
}

/// A document of the generators' own, which take turns.
fn generated(seed: u64, index: u64) -> Document {
    let own = |schema: &str| {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(schema)
    };
    let (kind, text, schema) = match index % 6 {
        0 => (
            "typed",
            typed::document(seed).into_bytes(),
            Some(own("types.xsd")),
        ),
        1 | 2 => (
            "edges",
            edges::document(seed).into_bytes(),
            Some(own("edges.xsd")),
        ),
        3 => ("odd", odd::document(seed), None),
        _ => ("free", free::document(seed).into_bytes(), None),
    };
    Document {
        name: format!("{kind}-{seed}"),
        text,
        generated: schema.is_some(),
        schema,
        fragment: false,
    }
}

/// Takes the XML files below a folder.
fn collect(folder: &Path, documents: &mut Vec<Document>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, documents);
            continue;
        }
        let wanted = path
            .extension()
            .is_some_and(|extension| extension == "xml" || extension == "xsd");
        let small = path
            .metadata()
            .is_ok_and(|metadata| metadata.len() <= COLLECTED_MAX);
        if let (true, true, Ok(text)) = (wanted, small, std::fs::read(&path))
            && is_document(&text)
        {
            documents.push(Document {
                name: path.display().to_string(),
                text,
                schema: None,
                generated: false,
                fragment: false,
            });
        }
    }
}
