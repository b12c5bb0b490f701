//! The documents: generated, and collected from folders.

use crate::Arguments;
use crate::grid::Case;
use crate::{edges, free, odd, suite, typed};
use std::path::{Path, PathBuf};
use weir_exi::xml::Reader;
use weir_exi::{Limits, Preserve};

/// A document, and its schema if it has one.
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) text: Vec<u8>,
    pub(crate) schema: Option<PathBuf>,
    /// Whether it was made here.
    pub(crate) generated: bool,
    /// Whether it is several roots instead of a document.
    pub(crate) fragment: bool,
}

impl Document {
    /// Whether these words are in it.
    pub(crate) fn has(&self, words: &str) -> bool {
        String::from_utf8_lossy(&self.text).contains(words)
    }

    /// Whether white space stands beside a comment or a processing instruction.
    pub(crate) fn has_space_beside_markup(&self) -> bool {
        let space = |byte: u8| byte.is_ascii_whitespace() || byte == b';';
        let beside = |window: &[u8]| match window {
            [b'?', b'>', after, ..] => space(*after),
            [b'-', b'-', b'>', after] => space(*after),
            [before, b'<', b'?', ..] | [before, b'<', b'!', b'-'] => space(*before),
            _ => false,
        };
        self.text.windows(4).any(beside)
    }

    /// Whether it declares entities.
    pub(crate) fn has_entities(&self) -> bool {
        self.has("<!ENTITY")
    }

    /// Whether it says which types elements have.
    pub(crate) fn has_types(&self) -> bool {
        self.has(":type=")
    }

    /// Whether it has characters beyond U+FFFF, as they are or by their numbers.
    pub(crate) fn is_astral(&self) -> bool {
        let text = String::from_utf8_lossy(&self.text);
        let numbered = |reference: &str| {
            let number = reference.split(';').next().unwrap_or_default();
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            code.is_ok_and(|code| code > 0xFFFF)
        };
        self.text.iter().any(|&byte| byte >= 0xF0) || text.split("&#").skip(1).any(numbered)
    }

    /// The options of a case as the oracle reads them.
    pub(crate) fn settings(&self, case: &Case) -> Vec<String> {
        case.settings(self.schema.as_deref(), self.has_entities())
    }
}

/// Whether weir's reader takes it for a document; folders hold fragments, external entities and worse.
pub(crate) fn is_document(text: &[u8]) -> bool {
    let reader = Reader::new(text, Preserve::default(), Limits::default());
    reader.is_ok_and(|mut reader| {
        loop {
            match reader.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    })
}

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
