//! The documents: generated, and collected from folders.

use crate::Arguments;
use crate::grid::Case;
use crate::{free, typed};
use std::path::{Path, PathBuf};

/// A document, and its schema if it has one.
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) text: Vec<u8>,
    pub(crate) schema: Option<PathBuf>,
}

impl Document {
    /// Whether these words are in it.
    pub(crate) fn has(&self, words: &str) -> bool {
        String::from_utf8_lossy(&self.text).contains(words)
    }

    /// Whether it declares entities.
    pub(crate) fn has_entities(&self) -> bool {
        self.has("<!ENTITY")
    }

    /// Whether it says which types elements have.
    pub(crate) fn has_types(&self) -> bool {
        self.has(":type=")
    }

    /// Whether it has characters beyond U+FFFF.
    pub(crate) fn is_astral(&self) -> bool {
        self.text.iter().any(|&byte| byte >= 0xF0)
    }

    /// The options of a case as the oracle reads them.
    pub(crate) fn settings(&self, case: &Case) -> Vec<String> {
        case.settings(self.schema.as_deref(), self.has_entities())
    }
}

/// Largest collected document: the oracle is slow.
const COLLECTED_MAX: u64 = 300_000;

/// The documents that the arguments ask for.
pub(crate) fn documents(arguments: &Arguments) -> Vec<Document> {
    let mut documents = Vec::new();
    let types = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/types.xsd");
    for index in 0..arguments.documents as u64 {
        let seed = arguments.seed.wrapping_mul(1_000_003).wrapping_add(index);
        let (name, text, schema) = match index % 3 {
            0 => (
                format!("typed-{seed}"),
                typed::document(seed),
                Some(types.clone()),
            ),
            _ => (format!("free-{seed}"), free::document(seed), None),
        };
        documents.push(Document {
            name,
            text: text.into_bytes(),
            schema,
        });
    }
    for folder in &arguments.corpora {
        collect(folder, &mut documents);
    }
    documents.retain(|document| !document.text.is_empty());
    documents
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
        if let (true, true, Ok(text)) = (wanted, small, std::fs::read(&path)) {
            documents.push(Document {
                name: path.display().to_string(),
                text,
                schema: None,
            });
        }
    }
}
