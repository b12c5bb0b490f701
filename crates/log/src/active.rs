//! The segment being written.

use weir_disk::DiskFile;

/// Its file, and where it goes on.
pub(crate) struct Active {
    pub(crate) file: Box<dyn DiskFile>,
    /// Where the next frame goes in the file.
    pub(crate) end: u64,
    /// Length that the file has, zeros included.
    pub(crate) allocated: u64,
    /// Sequence of the next record in it: they rise by one.
    pub(crate) next: u64,
}

impl Active {
    /// Goes on behind the last frame of a segment that ends there.
    pub(crate) fn reopen(file: Box<dyn DiskFile>, end: u64, next: u64) -> Self {
        Self {
            file,
            end,
            allocated: end,
            next,
        }
    }
}
