//! Numbers of the stream and names of its metadata (Schema.fbs, Message.fbs).

/// Before every message (since Arrow 0.15); what follows is the length of its metadata.
pub(super) const CONTINUATION: [u8; 4] = [0xFF; 4];
/// Alignment of messages, metadata and buffers.
pub(super) const ALIGNMENT: usize = 8;

pub(super) const VERSION_4: i16 = 3;
pub(super) const VERSION_5: i16 = 4;
pub(super) const HEADER_SCHEMA: u8 = 1;
pub(super) const HEADER_DICTIONARY: u8 = 2;
pub(super) const HEADER_RECORD: u8 = 3;

pub(super) const TYPE_NULL: u8 = 1;
pub(super) const TYPE_INT: u8 = 2;
pub(super) const TYPE_FLOAT: u8 = 3;
pub(super) const TYPE_BINARY: u8 = 4;
pub(super) const TYPE_UTF8: u8 = 5;
pub(super) const TYPE_BOOL: u8 = 6;
pub(super) const TYPE_TIMESTAMP: u8 = 10;
pub(super) const TYPE_LIST: u8 = 12;
pub(super) const TYPE_STRUCT: u8 = 13;
pub(super) const TYPE_UNION: u8 = 14;
pub(super) const TYPE_FIXED_SIZE_LIST: u8 = 16;
pub(super) const TYPE_MAP: u8 = 17;
pub(super) const TYPE_LARGE_BINARY: u8 = 19;
pub(super) const TYPE_LARGE_UTF8: u8 = 20;
pub(super) const TYPE_LARGE_LIST: u8 = 21;
pub(super) const TYPE_RUN_END: u8 = 22;
pub(super) const TYPE_BINARY_VIEW: u8 = 23;

pub(super) const PRECISION_SINGLE: i16 = 1;
pub(super) const PRECISION_DOUBLE: i16 = 2;
pub(super) const UNIT_NANOSECOND: i16 = 3;
