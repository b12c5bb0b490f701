//! What is bounded, and by what. Reaching one costs only who reached it.

/// The smallest build there is: fewer bytes, at the price of more round trips.
pub(crate) const SMALLEST: bool = cfg!(feature = "smallest");

const fn or_smallest(usual: usize, smallest: usize) -> usize {
    if SMALLEST { smallest } else { usual }
}

/// Bytes of TCP payload that are taken in one segment. It is the default of RFC 9293 section 3.7.1, so
/// that no option needs to say it; in the smallest build the window does.
pub const RECEIVED_SEGMENT_BYTES_MAX: usize = or_smallest(536, 64);
/// Bytes of a packet that a driver must be able to take.
pub const RECEIVED_PACKET_BYTES_MAX: usize = 40 + RECEIVED_SEGMENT_BYTES_MAX;
/// The receive window, always: what comes is worked off at once.
pub const RECEIVE_WINDOW: u16 = or_smallest(2, 1) as u16 * RECEIVED_SEGMENT_BYTES_MAX as u16;
/// Bytes of TCP payload in a segment that is sent; a peer that cannot take so many is refused.
pub const SEGMENT_BYTES_MAX: usize = or_smallest(256, 64);
/// Bytes of a packet that is sent.
pub const PACKET_BYTES_MAX: usize = 40 + SEGMENT_BYTES_MAX;
/// Bytes that a connection may have unacknowledged.
pub const FLIGHT_BYTES_MAX: u32 = 768;
/// Segments of a page that may be unacknowledged.
pub const FLIGHT_SEGMENTS_MAX: u16 = 3;
/// Requests that arrive in more than one segment and are under way at once. Where all places are taken,
/// a segment is not acknowledged and comes again.
pub const PARTIAL_REQUESTS: usize = or_smallest(8, 1);
/// How long a request may take from its first segment to its last.
pub const REQUEST_MS_MAX: u32 = 10_000;
/// Resources of a site.
pub const RESOURCES_MAX: usize = 16;
/// Slots of the ring of notifications, a power of two; one fewer may wait for a listener.
pub const ITEMS_MAX: usize = 16;
/// Bytes of a notification with its framing, whatever the delivery scheme.
pub const FRAME_BYTES_MAX: usize = or_smallest(255, SEGMENT_BYTES_MAX);
/// Bytes of a head with its page.
pub const ANSWER_BYTES_MAX: usize = 8191;
/// Bytes of a head with a notification.
pub const VALUE_ANSWER_BYTES_MAX: usize = 511;
/// Seconds that a long poll may wait; more is shortened to it.
pub const WAIT_S_MAX: u8 = 60;
/// The retransmission timeout: at least (RFC 6298 section 2.4), at first, and at most before backoff.
pub const RTO_MS: [u32; 3] = [1_000, 1_000, 14_800];
/// Retransmissions of the same segment before its connection is given up.
pub const RETRANSMISSIONS_MAX: u8 = 7;
/// A connection is given up too where the next timeout would be longer than this; either way it has had
/// over 100 s (RFC 9293 section 3.8.3, R2).
pub const TIMEOUT_MS_MAX: u32 = 120_000;
/// Probes of a peer that said nothing for [`IDLE_MS`], before it is taken for dead.
pub const PROBES_MAX: u8 = 3;
/// The port of CoAP (RFC 7252 section 6.1).
pub const COAP_PORT: u16 = 5683;
/// ACK_TIMEOUT (RFC 7252 section 4.8), before its random factor; longer where the line's round trip is.
pub const COAP_ACK_TIMEOUT_MS: u32 = 2_000;
/// MAX_RETRANSMIT (RFC 7252 section 4.8); an observer who acknowledges none of them is forgotten.
pub const COAP_RETRANSMISSIONS_MAX: u8 = 4;
/// How long a connection may be silent before it is closed (where it waits for a request) or probed
/// (where it listens).
pub const IDLE_MS: u32 = 180_000;
