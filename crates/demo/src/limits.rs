//! The limits of the demo; reaching one is an error that names it.

use core::time::Duration;

/// Largest file that `--replay` reads, in bytes.
pub const FILE_BYTES_MAX: u64 = 256 << 20;
/// Most rows of a replayed file.
pub const ROWS_MAX: usize = 1_000_000;
/// Most columns of a replayed file.
pub const COLUMNS_MAX: usize = 64;
/// Observations of one message of the backfill.
pub const BACKFILL_OBSERVATIONS: usize = 1000;
/// Longest pause between two replayed rows; a longer one is cut to this.
pub const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Highest rate the simulated network publishes at, in messages per node and second.
pub const RATE_HZ_MAX: f64 = 1000.0;
/// Longest head or error body of an HTTP response that is read, in bytes.
pub const RESPONSE_BYTES_MAX: usize = 64 << 10;
/// How long a connection attempt or a response may take.
pub const RESPONSE_WAIT: Duration = Duration::from_secs(30);
/// First and longest pause before another attempt.
pub const RETRY_FIRST: Duration = Duration::from_millis(100);
/// See [`RETRY_FIRST`].
pub const RETRY_MAX: Duration = Duration::from_secs(5);
