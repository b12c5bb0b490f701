//! The last file of a backup: what is in it, so that one that was cut short is known.

use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Read};

/// Name in the archive; nothing of a gateway's data is called so.
pub(crate) const NAME: &str = "weir-backup.json";

/// What a backup holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// Version of the program that made it.
    pub weir: String,
    /// Files in the order of the archive.
    pub files: Vec<Entry>,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Path below the data's folder, with `/`.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// CRC-32C of them.
    pub crc32c: u32,
}

impl Contents {
    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Reads on, counts and sums up.
pub(crate) struct Summed<R> {
    reader: R,
    bytes: u64,
    crc32c: u32,
}

impl<R: Read> Summed<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            bytes: 0,
            crc32c: 0,
        }
    }

    /// What was read, under a name.
    pub(crate) fn entry(&self, name: &str) -> Entry {
        Entry {
            name: name.into(),
            bytes: self.bytes,
            crc32c: self.crc32c,
        }
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.bytes += count as u64;
        self.crc32c = crc32c::crc32c_append(self.crc32c, &into[..count]);
        Ok(count)
    }
}

/// An error of what was read.
pub(crate) fn invalid(sentence: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, sentence.into())
}
