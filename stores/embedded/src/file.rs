//! The directory and its files.
//!
//! Off Unix, positioned reads and writes are a seek under a lock, and a directory cannot be synced.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The store's directory, taken for this process.
pub(crate) struct Dir {
    path: PathBuf,
    _lock: File,
    #[cfg(test)]
    pub(crate) fault: tests::Fault,
}

impl Dir {
    /// Takes the directory, made where it is missing.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        let mut options = OpenOptions::new();
        let lock = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(path.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let text = format!("another gateway has the history in {}", path.display());
                return Err(io::Error::new(io::ErrorKind::WouldBlock, text));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
            #[cfg(test)]
            fault: tests::Fault::default(),
        })
    }

    /// Opens a file for reading and writing, made empty where it is missing.
    pub(crate) fn file(&self, name: &str) -> io::Result<Stored> {
        self.operate()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        Ok(Stored {
            file: options.open(self.path.join(name))?,
            _position: Mutex::new(()),
            #[cfg(test)]
            fault: self.fault.clone(),
        })
    }

    /// Names of all files.
    pub(crate) fn list(&self) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name()));
        let names: io::Result<Vec<_>> = names.collect();
        Ok(names?
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .collect())
    }

    /// Removes a file; who reads it may go on.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.operate()?;
        std::fs::remove_file(self.path.join(name))
    }

    /// Gives a file another name, durably, in the place of the one that has it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.operate()?;
        std::fs::rename(self.path.join(from), self.path.join(to))?;
        self.sync()
    }

    /// Makes names durable.
    #[cfg(unix)]
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.operate()?;
        File::open(&self.path)?.sync_all()
    }

    /// Names are durable by themselves.
    #[cfg(not(unix))]
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    #[cfg(not(test))]
    fn operate(&self) -> io::Result<()> {
        Ok(())
    }

    #[cfg(test)]
    fn operate(&self) -> io::Result<()> {
        self.fault.operate()
    }
}

/// A file, read and written at positions.
pub(crate) struct Stored {
    file: File,
    _position: Mutex<()>,
    #[cfg(test)]
    fault: tests::Fault,
}

impl Stored {
    /// Reads exactly `len` bytes.
    pub(crate) fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.read_exact(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Writes all bytes.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        if let Err(down) = self.fault.operate() {
            self.write_all(&bytes[..bytes.len() / 2], offset)?;
            return Err(down);
        }
        self.write_all(bytes, offset)
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        #[cfg(test)]
        self.fault.operate()?;
        self.file.sync_data()
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Cuts the file.
    pub(crate) fn cut(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    #[cfg(unix)]
    fn read_exact(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(unix)]
    fn write_all(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, offset)
    }

    #[cfg(not(unix))]
    fn read_exact(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let _alone = self._position.lock();
        (&self.file).seek(SeekFrom::Start(offset))?;
        (&self.file).read_exact(buffer)
    }

    #[cfg(not(unix))]
    fn write_all(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        use std::io::{Seek, SeekFrom, Write};
        let _alone = self._position.lock();
        (&self.file).seek(SeekFrom::Start(offset))?;
        (&self.file).write_all(bytes)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Ends the process, as far as files can tell, at a chosen operation; a write is left half done.
    #[derive(Clone)]
    pub(crate) struct Fault {
        left: Arc<AtomicU64>,
    }

    impl Default for Fault {
        fn default() -> Self {
            Self {
                left: Arc::new(AtomicU64::new(u64::MAX)),
            }
        }
    }

    impl Fault {
        /// Lets this many operations succeed.
        pub(crate) fn after(&self, operations: u64) {
            self.left.store(operations, Ordering::Relaxed);
        }

        pub(crate) fn operate(&self) -> io::Result<()> {
            let less = |left: u64| left.checked_sub(1);
            match self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            {
                Ok(_left) => Ok(()),
                Err(_none) => Err(io::Error::other("killed here")),
            }
        }
    }
}
