//! The service's limits, and the constants of the profile.

use std::time::Duration;

/// `DISCOVERY_PORT` (DPWS 1.1 appendix B).
pub const PORT: u16 = 3702;
/// `MAX_UDP_ENVELOPE_SIZE`: a longer datagram is not looked at (DPWS 1.1 R5018 and appendix B).
pub const DATAGRAM_BYTES_MAX: usize = 4096;
/// `MAX_ENVELOPE_SIZE` (DPWS 1.1 appendix B): a longer envelope is refused, but for operations of the hosted
/// service, whose limit is that of documents; and no notification is longer.
pub const ENVELOPE_BYTES_MAX: usize = 32_767;
/// Envelopes from this on are read off the network's threads.
pub const AT_ONCE_BYTES: usize = 4096;
/// `MAX_URI_SIZE` (DPWS 1.1 appendix B).
pub const URI_BYTES_MAX: usize = 2048;
/// `MAX_FIELD_SIZE` (DPWS 1.1 appendix B), characters.
pub const FIELD_CHARS_MAX: usize = 255;
/// `APP_MAX_DELAY` of WS-Discovery 1.1, within the profile's 2500 ms: answers to a multicast wait a random
/// part of it, so that many devices do not answer at once.
pub const ANSWER_DELAY_MAX: Duration = Duration::from_millis(500);
/// How often a datagram goes again: `MULTICAST_UDP_REPEAT` and `UNICAST_UDP_REPEAT` (DPWS 1.1 appendix B).
pub const REPEATS: u32 = 1;
/// `UDP_MIN_DELAY` and `UDP_MAX_DELAY`: bounds of the wait before it goes again.
pub const REPEAT_DELAY: (Duration, Duration) =
    (Duration::from_millis(50), Duration::from_millis(250));
/// `UDP_UPPER_DELAY`: bound of the doubled wait.
pub const REPEAT_DELAY_MAX: Duration = Duration::from_millis(450);

/// Messages remembered, so that none is answered twice.
pub const SEEN_MAX: usize = 1024;
/// For how long at least a message is remembered, unless there are more than those: longer than a peer
/// repeats it.
pub const SEEN_TIME: Duration = Duration::from_secs(30);
/// Answers that wait to leave; beyond, a request is not answered.
pub const WAITING_MAX: usize = 256;
/// Answers that one address may have at once, and how long it takes until it may have one more.
pub const PEER_ANSWERS: (u32, Duration) = (10, Duration::from_millis(500));
/// The same of all addresses together: some 60 kB a second, whoever asks.
pub const ALL_ANSWERS: (u32, Duration) = (100, Duration::from_millis(25));
/// Addresses whose answers are counted.
pub const PEERS_MAX: usize = 1024;
/// Types and scopes that a probe may name.
pub const PROBE_NAMES_MAX: usize = 32;
/// How often the machine's interfaces are looked at.
pub const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Subscriptions that there may be.
pub const SUBSCRIPTIONS_MAX: usize = 256;
/// Of them, those from one address.
pub const SUBSCRIPTIONS_OF_ONE_MAX: usize = 64;
/// For how long a subscription is granted that asks for no time.
pub const EXPIRES_DEFAULT: Duration = Duration::from_secs(3600);
/// For how long at most.
pub const EXPIRES_MAX: Duration = Duration::from_secs(86_400);
/// Observations of a notification; where they are longer than [`ENVELOPE_BYTES_MAX`], it has fewer.
pub const EVENT_ROWS_MAX: usize = 50;
/// For how long a sink may take to accept a notification.
pub const PUSH_TIME_MAX: Duration = Duration::from_secs(10);
/// How often one notification is tried, and the wait before the second time, which doubles.
pub const PUSH_ATTEMPTS: (u32, Duration) = (4, Duration::from_secs(1));
/// How long the end of a subscription may take to be told.
pub const FAREWELL_TIME_MAX: Duration = Duration::from_secs(3);
