//! Why there is no copy: which side failed, and where.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a copy was not made.
#[derive(Debug)]
pub enum SaveFault {
    /// The folder holds nothing that a gateway keeps.
    NoData(PathBuf),
    /// A file or folder of the data cannot be read.
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The archive cannot be written.
    Write {
        /// Why; for one, the disk is full.
        error: io::Error,
        /// Bytes that were written by then.
        written: u64,
        /// Bytes that the whole archive has, about.
        needed: u64,
    },
}

impl fmt::Display for SaveFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoData(path) => write!(f, "there is no data in {}", path.display()),
            Self::Read { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Write {
                error,
                written,
                needed,
            } => write!(
                f,
                "{error}: the copy needs about {needed} bytes, and {written} were written; it is no copy"
            ),
        }
    }
}

impl std::error::Error for SaveFault {}
