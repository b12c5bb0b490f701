//! A document of the comparison.

use std::path::PathBuf;
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
