//! The directory and its files as the store needs them, on any [`Disk`].

use std::io;
use std::sync::Arc;
use weir_disk::{Disk, DiskFile, read_full};

/// Bytes that cannot be read together.
const BLOCK_BYTES: usize = 4096;

/// The store's directory, taken for this process.
pub(crate) struct Dir {
    disk: Arc<dyn Disk>,
    _lock: Box<dyn Send + Sync>,
}

impl Dir {
    /// Takes the directory.
    pub(crate) fn open(disk: Arc<dyn Disk>) -> io::Result<Self> {
        let lock = disk.lock().map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => {
                let text = format!("another gateway has the history in {}", disk.place());
                io::Error::new(io::ErrorKind::WouldBlock, text)
            }
            _ => error,
        })?;
        Ok(Self { disk, _lock: lock })
    }

    /// Opens a file for reading and writing, made empty where it is missing.
    pub(crate) fn file(&self, name: &str) -> io::Result<Stored> {
        let file = match self.disk.open(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.disk.create(name)?,
            opened => opened?,
        };
        Ok(Stored { file })
    }

    /// All bytes of a file, as far as the disk gives them; `None` where there is none.
    pub(crate) fn bytes(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let file = match self.disk.open(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut bytes = vec![0; file.len()? as usize];
        for (index, block) in bytes.chunks_mut(BLOCK_BYTES).enumerate() {
            // What cannot be read is zeros, which no checksum takes for anything.
            if read_full(&*file, block, (index * BLOCK_BYTES) as u64).is_err() {
                block.fill(0);
            }
        }
        Ok(Some(bytes))
    }

    /// Where it is.
    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Names of all files.
    pub(crate) fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    /// Removes a file; who reads it may go on.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    /// Gives a file another name, durably, in the place of the one that has it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)?;
        self.sync()
    }

    /// Makes names durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.disk.sync_dir()
    }
}

/// A file, read and written at positions.
pub(crate) struct Stored {
    file: Box<dyn DiskFile>,
}

impl Stored {
    /// Reads exactly `len` bytes.
    pub(crate) fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        match read_full(&*self.file, &mut bytes, offset)? {
            filled if filled == len => Ok(bytes),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Writes all bytes.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    /// Cuts the file.
    pub(crate) fn cut(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }
}
