//! Everything has a limit.

/// Largest packet that is taken from a device, in bytes.
pub const PACKET_BYTES_MAX: usize = 65_535;
/// Packets on their way at once in one direction; more are dropped as by a full queue.
pub const PACKETS_IN_FLIGHT_MAX: usize = 1 << 17;
/// Flows counted one by one; further ones share a line.
pub const FLOWS_MAX: usize = 1 << 16;
/// Longest span a profile may name: an hour.
pub const SPAN_NANOS_MAX: u64 = 3_600_000_000_000;
/// Highest rate a profile may name, in bits a second.
pub const RATE_MAX: u64 = 100_000_000_000;
/// Opportunities a trace may hold.
pub const OPPORTUNITIES_MAX: usize = 10_000_000;
/// Bytes of each packet that a capture keeps where nobody says how many: the longest heads of IPv6 and TCP take 100,
/// and what is above them begins behind those.
pub const SNAP_BYTES: u32 = 256;
/// Smallest maximum transmission unit: every IPv6 link has at least it (RFC 8200 section 5).
pub const MTU_MIN: u32 = 1280;
/// Near ends of a star beside the first: each is a namespace, a device and two threads.
pub const STATIONS_MAX: usize = 1_024;
