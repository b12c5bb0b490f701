//! Limits; reaching one is answered with an error condition.

use weir_sansio::Duration;

/// Largest frame taken unless configured otherwise, bytes; told in the open.
pub const FRAME_BYTES_MAX: usize = 64 << 10;
/// Smallest maximum that a peer may have (AMQP 1.0 section 2.4.1), bytes.
pub const FRAME_BYTES_MIN: usize = 512;
/// Largest frame sent, however large a peer would take, bytes.
pub const FRAME_BYTES_SENT_MAX: usize = 256 << 10;
/// Largest message taken unless configured otherwise, bytes; told in the attach.
pub const MESSAGE_BYTES_MAX: usize = 2 << 20;
/// Bytes of messages of one connection that are not whole yet; one of the largest size is always taken.
pub const PARTIAL_BYTES_MAX: usize = 16 << 20;
/// Sessions of one connection; told in the open as the highest channel.
pub const SESSIONS_MAX: usize = 64;
/// Links of one session; told in the begin as the highest handle.
pub const LINKS_MAX: usize = 256;
/// Links of one connection.
pub const LINKS_OF_CONNECTION_MAX: usize = 1000;
/// Transfers that a session may send before it is told that it may send more.
pub const INCOMING_WINDOW: u32 = 2048;
/// Messages that a sender may have under way on one link.
pub const CREDIT: u32 = 1000;
/// Messages under way to a client on one link that it has not settled.
pub const UNSETTLED_MAX: usize = 4096;
/// Longest container identifier, link name or address, bytes.
pub const NAME_BYTES_MAX: usize = 1024;
/// Longest delivery tag (AMQP 1.0 section 2.8.7), bytes.
pub const TAG_BYTES_MAX: usize = 32;
/// How deep values may nest.
pub const DEPTH_MAX: u8 = 16;
/// Values of lists, maps and arrays of one frame or message.
pub const VALUES_MAX: u32 = 16 << 10;
/// Bytes that may wait for a socket before nothing more is made for it.
pub const UNSENT_BYTES_MAX: usize = 64 << 10;
/// Within this a connection must be open.
pub const OPEN_TIME_MAX: Duration = Duration::from_secs(10);
/// For how long a frame may be incomplete without a further byte.
pub const STALL_TIME_MAX: Duration = Duration::from_secs(60);
/// How long a peer may take to answer a close.
pub const CLOSE_TIME_MAX: Duration = Duration::from_secs(2);
/// Shortest idle time-out that is kept for a peer, milliseconds.
pub const IDLE_MILLIS_MIN: u32 = 100;
/// Within this a broker must answer what a client asks while it opens (AMQP 0.9.1).
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Messages that a client has published and that are not confirmed.
pub const UNCONFIRMED_MAX: usize = 1024;
/// Largest frame of AMQP 0.9.1 that is taken and sent, bytes.
pub const FRAME_091_BYTES_MAX: u32 = 128 << 10;
/// Largest body of a message of AMQP 0.9.1 that is taken, bytes.
pub const BODY_BYTES_MAX: usize = MESSAGE_BYTES_MAX;
/// Bytes of a message's sections that are kept as AMQP has them, where other protocols have no words for them.
pub const NATIVE_BYTES_MAX: usize = 8 << 10;
