//! Limits; reaching one is answered with a reason code.

use weir_sansio::Duration;

/// Largest packet taken unless configured otherwise, bytes; told in CONNACK.
pub const PACKET_BYTES_MAX: usize = 2 << 20;
/// Largest packet taken before a client is known.
pub const CONNECT_BYTES_MAX: usize = 256 << 10;
/// QoS 1 and 2 messages that a client may have under way to the server; told in CONNACK.
pub const RECEIVE_MAX: u16 = 1024;
/// QoS 1 and 2 messages under way to a client, however many it would take.
pub const IN_FLIGHT_MAX: u16 = 1024;
/// Topic aliases that a client may set; told in CONNACK.
pub const TOPIC_ALIASES_MAX: u16 = 64;
/// Topic aliases that are set for a client, however many it would take.
pub const TOPIC_ALIASES_SET_MAX: u16 = 32;
/// Subscriptions of one session unless configured otherwise.
pub const SUBSCRIPTIONS_MAX: usize = 20_000;
/// Longest client identifier, bytes.
pub const CLIENT_ID_BYTES_MAX: usize = 512;
/// Within this a CONNECT must be whole.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// For how long a packet may be incomplete without a further byte.
pub const STALL_TIME_MAX: Duration = Duration::from_secs(60);
/// Bytes that may wait for a socket before nothing more is made for it.
pub const UNSENT_BYTES_MAX: usize = 64 << 10;
/// For how long a will that is due waits for the log until it is given up.
pub const WILL_WAIT_MAX: Duration = Duration::from_secs(3600);
/// How soon a will is given to the log again that could not take it.
pub const WILL_RETRY: Duration = Duration::from_millis(250);
/// Wills of clients without a session that may wait for the log.
pub const WILLS_MAX: usize = 10_000;
/// Bytes of their payloads.
pub const WILLS_BYTES_MAX: usize = 32 << 20;
