//! The limits of the embedded history.

/// Rows of a chunk that is merged no further.
pub const CHUNK_ROWS: usize = 4096;
/// Bytes of text at which a chunk is closed with fewer rows.
pub const CHUNK_TEXT_BYTES: usize = 1 << 20;
/// Bytes of a chunk that is merged no further, however few rows it has.
pub const CHUNK_BYTES: u32 = 256 << 10;
/// Most rows of a block that is read.
pub const BLOCK_ROWS_MAX: usize = 1 << 20;
/// How many small chunks of about one size become one.
pub const MERGE_FAN: usize = 8;
/// Most merges in one call of `maintain`, so that it ends.
pub const MERGES_MAX: usize = 16_384;
/// Bytes after which a data file is not appended to any more.
pub const FILE_BYTES: u64 = 64 << 20;
/// Bytes of chunks that are written at once.
pub const WRITE_BYTES: usize = 1 << 20;
/// Most bytes moved out of half-empty data files in one call of `maintain`.
pub const RECLAIM_BYTES_MAX: u64 = 64 << 20;
/// Bytes of the manifest below which it is not rewritten.
pub const MANIFEST_BYTES_MIN: u64 = 1 << 20;
