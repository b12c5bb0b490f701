//! The limits of CoAP; reaching one is an answer that names it, or something old that is forgotten.

use core::time::Duration;

/// Most memory and state that strangers can make an endpoint keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Peers whose state is kept; beyond, who was silent longest is forgotten.
    pub peers: usize,
    /// Message IDs remembered to tell duplicates; beyond, the oldest is forgotten.
    pub seen: usize,
    /// Bytes of answers kept for duplicates; beyond, the oldest is forgotten.
    pub seen_bytes: usize,
    /// Requests that wait for their answers; beyond, 5.03.
    pub exchanges: usize,
    /// Observations altogether; beyond, requests are answered without being registered.
    pub observations: usize,
    /// Observations of one peer.
    pub observations_a_peer: usize,
    /// Bodies that arrive in blocks; beyond, the one that waits longest is forgotten.
    pub assemblies: usize,
    /// Bytes of bodies that arrive in blocks.
    pub assembly_bytes: usize,
    /// Bodies that leave in blocks; beyond, the one asked for longest ago is forgotten.
    pub bodies: usize,
    /// Bytes of bodies that leave in blocks.
    pub bodies_bytes: usize,
    /// Largest body in either direction, bytes.
    pub body_bytes: usize,
    /// Requests of ours to one peer that wait until it answers earlier ones.
    pub waiting_a_peer: usize,
    /// Requests of ours that are under way.
    pub calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            peers: 131_072,
            seen: 32_768,
            seen_bytes: 16 << 20,
            exchanges: 16_384,
            observations: 131_072,
            observations_a_peer: 256,
            assemblies: 1024,
            assembly_bytes: 32 << 20,
            bodies: 4096,
            bodies_bytes: 64 << 20,
            body_bytes: 1 << 20,
            waiting_a_peer: 1024,
            calls: 65_536,
        }
    }
}

/// A request that is not answered by then is acknowledged first (RFC 7252 section 5.2.2).
pub const ACK_DELAY: Duration = Duration::from_millis(100);
/// For so long a body waits for its next block (RFC 7959 section 2.5).
pub const ASSEMBLY_TIME_MAX: Duration = Duration::from_secs(247);
/// For so long a body waits to be asked for its next block.
pub const BODY_TIME_MAX: Duration = Duration::from_secs(120);
/// How often what is too old is looked for.
pub const SWEEP_TIME: Duration = Duration::from_secs(15);
/// For so long an address is believed after it sent back an Echo (RFC 9175 section 2.3).
pub const VERIFIED_TIME: Duration = Duration::from_secs(300);
/// Blocks fetched again where a body changed meanwhile, before that is given up.
pub const RESTARTS_MAX: u8 = 4;
/// At least every so many notifications one is confirmable (RFC 7641 section 4.5).
pub const UNCONFIRMED_MAX: u8 = 8;
/// At least after so long a notification is confirmable (RFC 7641 section 4.5).
pub const UNCONFIRMED_TIME_MAX: Duration = Duration::from_secs(3600);
/// Notifications that may follow each other before they are spaced (RFC 7641 section 4.5.1).
pub const NOTIFICATION_BURST: u32 = 16;
/// Between notifications where no round trip was measured (RFC 7641 section 4.5.1).
pub const NOTIFICATION_SPACE: Duration = Duration::from_secs(3);
/// Largest message taken from a stream, bytes, beyond the largest body.
pub const STREAM_OVERHEAD_BYTES: usize = 4 << 10;
/// Requests of secured peers whose responses can be closed and are kept for repetitions; at most twice as
/// many are.
pub const SECURED_REQUESTS: usize = 4096;
/// Observations of secured peers whose notifications can be closed; at most twice as many are.
pub const SECURED_OBSERVATIONS: usize = 65_536;
/// Confirmable messages whose acknowledgements find the keys that they belong to.
pub const SECURED_UNACKNOWLEDGED: usize = 16_384;
