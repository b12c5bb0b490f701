//! What went over the link.
//!
//! Bytes of the application are counted where a client hands them to its socket and takes them from
//! it; packets are datagrams, and of TCP the segments that the kernel counts, acknowledgments without
//! data among them. On an emulated link both are what the emulator counted, and must agree with the client.

use serde::{Deserialize, Serialize};
use weir_link::Count;

/// Bytes of a UDP header (RFC 768).
pub const UDP_HEADER_BYTES: u64 = 8;
/// Bytes of a TCP header without options (RFC 9293 section 3.1).
pub const TCP_HEADER_BYTES: u64 = 20;
/// Bytes that timestamps add to each TCP header (RFC 7323 appendix A).
pub const TCP_TIMESTAMP_BYTES: u64 = 12;
/// Bytes of an IPv4 header without options (RFC 791 section 3.1).
pub const IPV4_HEADER_BYTES: u64 = 20;

/// What went over the link, both ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Bytes above the transport.
    pub application_bytes: u64,
    /// Datagrams or segments.
    pub packets: u64,
    /// Bytes of their UDP or TCP headers.
    pub header_bytes: u64,
}

impl Traffic {
    /// As the emulator of a link counted it.
    pub fn of_link(count: &Count) -> Self {
        Self {
            application_bytes: count.payload_bytes,
            packets: count.packets,
            header_bytes: count.transport_bytes - count.payload_bytes,
        }
    }

    /// Bytes at application and transport layer: what paper 003 counts (section III).
    pub fn transport_bytes(&self) -> u64 {
        self.application_bytes + self.header_bytes
    }

    /// The same with the headers of IPv4.
    pub fn network_bytes(&self) -> u64 {
        self.transport_bytes() + self.packets * IPV4_HEADER_BYTES
    }

    /// What went since an earlier moment.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            application_bytes: self.application_bytes - earlier.application_bytes,
            packets: self.packets - earlier.packets,
            header_bytes: self.header_bytes - earlier.header_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transport_counts_its_own_headers_and_not_those_of_ip() {
        let traffic = Traffic {
            application_bytes: 200,
            packets: 2,
            header_bytes: 2 * UDP_HEADER_BYTES,
        };
        assert_eq!(traffic.transport_bytes(), 216);
        assert_eq!(traffic.network_bytes(), 256);
    }
}
