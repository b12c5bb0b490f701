//! The limits of the log.

/// Longest record, in bytes: a message of the largest size with its names.
pub const RECORD_BYTES_MAX: usize = 64 << 20;
/// Bytes that a sequential reader asks of the disk at once.
pub const READ_BYTES: usize = 1 << 20;
/// Bytes between two marks of a segment's index: what a seek reads in vain at most.
pub const MARK_BYTES: u64 = 64 << 10;
/// Bytes copied at once, under the lock, from what waits for the disk.
pub const COPY_BYTES_MAX: usize = 256 << 10;
/// Bytes of a commit buffer kept for the next batch; a larger one is given back.
pub const SPARE_BYTES_MAX: usize = 8 << 20;
/// Bytes appended of which nobody asked the commit; from here on they are committed all the same.
pub const UNASKED_BYTES_MAX: usize = 256 << 10;
/// Milliseconds between attempts to write on a full disk when nobody appends.
pub const FULL_RETRY_MS: u64 = 1000;
/// Epochs that a restore skips, so that cursors given between backup and restore are foreign.
pub const RESTORE_EPOCHS: u16 = 256;
/// Smallest segment, in bytes.
pub const SEGMENT_BYTES_MIN: u64 = 4 << 10;
