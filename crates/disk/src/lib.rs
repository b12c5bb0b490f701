//! Files behind a trait, so that faults can be simulated.
//!
//! What it deliberately does not do: directories in directories, paths, permissions. A [`Disk`] is
//! one flat directory. The decision worth arguing: names become durable by [`Disk::sync_dir`] only,
//! and bytes by [`DiskFile::sync_data`] only, as POSIX has it; [`SimDisk`] takes that at its word.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "the one crate through which log and stores touch files"
)]

pub mod aside;
mod real;
mod sim;

pub use real::RealDisk;
pub use sim::SimDisk;

use std::io;

/// Bytes that a disk writes together: of a write that power cut short some are there and others not.
pub const SECTOR_BYTES: usize = 512;

/// Whether, of these bytes at this offset of a file, a part of a sector up to its end is zeros: it was never
/// written, where what was to be there has none.
pub fn lacks_a_sector(bytes: &[u8], offset: u64) -> bool {
    let within = (offset % SECTOR_BYTES as u64) as usize;
    let first = (SECTOR_BYTES - within).min(bytes.len());
    let (first, rest) = bytes.split_at(first);
    let is_to_the_end = within + first.len() == SECTOR_BYTES;
    let is_unwritten = |sector: &[u8]| sector.iter().all(|&byte| byte == 0);
    (is_to_the_end && is_unwritten(first)) || rest.chunks_exact(SECTOR_BYTES).any(is_unwritten)
}

/// One flat directory of files.
pub trait Disk: Send + Sync {
    /// Opens an existing file for reading and writing.
    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Makes an empty file, or empties the one of that name.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Gives a file another name, in the place of the one that has it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file; who has it open may go on reading.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Names of all files, in no order.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Makes creations, renamings and removals durable.
    fn sync_dir(&self) -> io::Result<()>;

    /// Takes the directory for this process until the guard is dropped.
    ///
    /// Fails with [`io::ErrorKind::WouldBlock`] where another process has it.
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>>;

    /// What a person knows the directory by.
    fn place(&self) -> String;
}

/// A file, read and written at positions.
pub trait DiskFile: Send + Sync {
    /// Reads at most `buffer.len()` bytes; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all bytes, or fails with some of them written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes bytes and length durable. After an error nothing written since the last success is.
    fn sync_data(&self) -> io::Result<()>;

    /// Cuts the file or extends it with zeros that take no room.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// Extends the file to this length with zeros and takes the room for them.
    fn preallocate(&self, bytes: u64) -> io::Result<()>;

    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Says whether the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// Says whether an error means that there is no room, which may pass.
pub fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Says whether an error means that this process, or the machine, has no file left to open, which may pass.
pub fn is_out_of_files(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    cfg!(unix) && matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// Reads until the buffer is full or the file ends; says how many bytes.
pub fn read_full(file: &dyn DiskFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_is_missing_where_its_end_was_never_written() {
        let mut bytes = [7; 3 * SECTOR_BYTES];
        assert!(!lacks_a_sector(&bytes, 100));
        bytes[700..1500].fill(0);
        assert!(lacks_a_sector(&bytes, 100), "1024 to 1536 of the file");
        assert!(
            !lacks_a_sector(&bytes[..1400], 100),
            "it does not reach a sector's end"
        );
        assert!(lacks_a_sector(&[0; 12], 500), "up to its end");
        assert!(!lacks_a_sector(&[0; 11], 500) && !lacks_a_sector(&[], 0));
    }
}
