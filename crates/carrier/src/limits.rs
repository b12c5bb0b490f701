//! The carrier's limits; reaching one is an error that names it.

use weir_sansio::Duration;

/// Certificates of one chain or of one file of roots.
pub const CERTIFICATES_MAX: usize = 1024;
/// Longest head of a server's answer to a WebSocket handshake, bytes.
pub const HANDSHAKE_BYTES_MAX: usize = 16 << 10;
/// Bytes read from a socket at once.
pub const READ_BYTES_MAX: usize = 16 << 10;
/// Payload of one frame that a byte stream is cut into, bytes.
pub const FRAME_BYTES_MAX: usize = 64 << 10;
/// Framed bytes that wait for the socket; beyond, nothing more is taken or read.
pub const UNSENT_BYTES_MAX: usize = 128 << 10;
/// Bytes that the kernel is asked to hold for a socket of datagrams.
pub const DATAGRAM_BUFFER_BYTES: usize = 1 << 20;
/// Longest datagram there is, bytes.
pub const DATAGRAM_BYTES_MAX: usize = 64 << 10;
/// Datagrams that one system call takes or sends.
pub const BATCH_DATAGRAMS: usize = 32;
/// Datagrams that are sent in a row before what came meanwhile is read.
pub const TURN_DATAGRAMS: usize = 256;
/// Bytes that one connection is read of before all others have their turn.
pub(crate) const TURN_BYTES: usize = 64 << 10;
/// Steps that Tokio lets a task do in a turn.
pub(crate) const TURN_STEPS: usize = 128;
/// Of the buffer that a thread reads its sockets into, bytes.
pub const SCRATCH_BYTES: usize = 64 << 10;
/// From this size on what goes out is not copied, bytes.
pub const SHARED_BYTES_MIN: usize = 2048;
/// What a peer takes at least that is not stuck, bytes.
pub const PROGRESS_BYTES_MIN: u32 = 16 << 10;
/// Pieces of one `writev`.
pub const SLICES_MAX: usize = 32;
/// Of those who are told together, so many have their turn before whoever else came meanwhile.
pub const CROWD_AT_ONCE: usize = 256;
/// Within this what is left must be taken of a connection that ends.
pub const FAREWELL_TIME_MAX: Duration = Duration::from_secs(20);
/// For so long what a closed peer still sends is read and dropped, so that it sees the last words.
pub const LINGER_TIME_MAX: Duration = Duration::from_secs(2);
/// So much of it is read by one thread in [`DRAIN_TIME`], bytes.
pub(crate) const DRAINED_BYTES_MAX: usize = 2 << 20;
/// See [`DRAINED_BYTES_MAX`].
pub(crate) const DRAIN_TIME: Duration = Duration::from_millis(50);
