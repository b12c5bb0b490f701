//! What a check found, and how it is printed.

use core::fmt;
use std::path::PathBuf;

/// A breach of a rule, at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, relative to the root of the repository.
    pub(crate) file: PathBuf,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The rule, and what breaks it.
    pub(crate) rule: String,
}

impl Finding {
    /// A breach at a line of a file.
    pub(crate) fn new(file: impl Into<PathBuf>, line: usize, rule: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line,
            rule: rule.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.rule)
    }
}
