//! The limits of HTTP; reaching one is an answer that names it, or the end of the connection.

use core::time::Duration;

/// Longest request or response head, bytes.
pub const HEAD_BYTES_MAX: usize = 16 << 10;
/// Most header fields of a head.
pub const HEADERS_MAX: usize = 100;
/// Longest request target, bytes.
pub const TARGET_BYTES_MAX: usize = 8 << 10;
/// Longest line that says a chunk's size, its extensions included, bytes.
pub const CHUNK_LINE_BYTES_MAX: usize = 256;
/// Longest trailer section, bytes.
pub const TRAILER_BYTES_MAX: usize = 4 << 10;
/// Requests of one connection that wait for their answers; beyond, nothing more is read.
pub const OUTSTANDING_MAX: usize = 1024;
/// Requests of one connection that are read for at once; others wait for their answers.
pub const READING_MAX: usize = 16;
/// Bytes of memory that a stream of HTTP/2 takes, beside its messages.
pub const STREAM_BYTES: usize = 4 << 10;
/// Bytes of a long body that are handed to HTTP/2 at once.
pub const PART_BYTES: usize = 32 << 10;
/// Bytes of heads that are read at once.
pub const HEADS_BYTES_MAX: usize = 8 << 10;
/// Bytes of memory that a request takes beside its texts.
pub const REQUEST_BYTES: usize = 512;
/// The same of a field.
pub const FIELD_BYTES: usize = 128;
/// Requests of one connection that are asked before all others of the thread have their turn.
pub const ASKED_IN_TURN_MAX: usize = 8;
/// Requests at once on one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 256;
/// Bytes of answers that wait to be sent; beyond, nothing more is read.
pub const UNSENT_BYTES_MAX: usize = 256 << 10;

/// Bytes of a body in pieces that wait to be sent, below which the next piece is taken.
pub const PIECE_BYTES_MIN: usize = 16 << 10;

/// Within this a begun head must be whole.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// Within this a body must make progress.
pub const BODY_TIME_MAX: Duration = Duration::from_secs(20);
/// After this an idle connection is closed.
pub const IDLE_TIME_MAX: Duration = Duration::from_secs(75);
/// How often it is looked whether a peer that does not read is to be given up.
pub const LOOK_TIME: Duration = Duration::from_secs(2);
/// Sign of life on a stream whose service names none.
pub const HEARTBEAT_TIME: Duration = Duration::from_secs(15);
/// A compressed body may be so long once it is inflated, whatever came in, bytes.
pub const INFLATED_BYTES_FREE: usize = 1 << 20;
/// A longer one at most so many times as long as what came in: nobody's observations are more alike.
pub const INFLATED_TIMES_MAX: usize = 256;
/// Bodies below this are not compressed, bytes.
pub const COMPRESS_BYTES_MIN: usize = 1024;
/// Messages of a stream below this are not compressed, bytes.
pub const COMPRESS_MESSAGE_BYTES_MIN: usize = 256;
/// Bytes that a thread keeps for wrapping; what a larger message needed is given back.
pub const SCRATCH_BYTES_MAX: usize = 256 << 10;
