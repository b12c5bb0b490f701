//! `TCP_INFO` of a connection, asked of the kernel by `NETLINK_SOCK_DIAG` (sock_diag(7)).
//!
//! The decision worth arguing: `getsockopt` would be one call, and unsafe; the same structure comes over
//! netlink as bytes, which are read like any other peer's. Linux only.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};

use crate::error::Cause;
use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink, socket_with};

/// Segments of a connection since it was opened, as this end counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segments {
    /// Sent, with and without data.
    pub sent: u32,
    /// Received.
    pub received: u32,
    /// Whether each carries timestamps (RFC 7323).
    pub timestamps: bool,
}

/// `SOCK_DIAG_BY_FAMILY`, the one request.
const BY_FAMILY: u16 = 20;
/// `NLMSG_ERROR`.
const ERROR: u16 = 2;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
/// `INET_DIAG_INFO`: the attribute that is `struct tcp_info`.
const INFO: u16 = 2;
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// `AF_INET`.
const INET: u8 = 2;
/// `AF_INET6`.
const INET6: u8 = 10;
/// Bytes of `struct nlmsghdr`.
const HEAD_BYTES: usize = 16;
/// Bytes of `struct inet_diag_msg`, behind which the attributes lie.
const MESSAGE_BYTES: usize = 72;
/// Bit of `tcpi_options`: timestamps.
const TIMESTAMPS: u8 = 1;
/// Where `tcpi_options` lies in `struct tcp_info`.
const OPTIONS_AT: usize = 5;
/// Where `tcpi_segs_out` does.
const SEGS_OUT_AT: usize = 136;
/// Where `tcpi_segs_in` does.
const SEGS_IN_AT: usize = 140;

impl Segments {
    /// Of the connection between two addresses of this machine and another.
    pub(super) fn of(local: SocketAddr, peer: SocketAddr) -> Result<Self, Cause> {
        let answer = ask(&request(local, peer))?;
        read(&answer).map_err(Cause::Uncounted)
    }
}

fn ask(request: &[u8]) -> std::io::Result<Vec<u8>> {
    let protocol = Some(netlink::SOCK_DIAG);
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    let mut socket = File::from(socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?);
    socket.write_all(request)?;
    let mut answer = vec![0; 4096];
    let length = socket.read(&mut answer)?;
    answer.truncate(length);
    Ok(answer)
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2`.
fn request(local: SocketAddr, peer: SocketAddr) -> Vec<u8> {
    let family = if local.is_ipv4() { INET } else { INET6 };
    let mut bytes = Vec::with_capacity(HEAD_BYTES + 56);
    bytes.extend(72u32.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family, TCP, 1 << (INFO - 1), 0]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(local.port().to_be_bytes());
    bytes.extend(peer.port().to_be_bytes());
    for address in [local.ip(), peer.ip()] {
        match address {
            IpAddr::V4(address) => {
                bytes.extend(address.octets());
                bytes.extend([0; 12]);
            }
            IpAddr::V6(address) => bytes.extend(address.octets()),
        }
    }
    bytes.extend([0; 4]);
    // No cookie is known.
    bytes.extend([0xff; 8]);
    bytes
}

fn read(answer: &[u8]) -> Result<Segments, &'static str> {
    let kind = u16_at(answer, 4).ok_or("an answer without a head")?;
    if kind == ERROR {
        return Err("the kernel knows no such connection, or has no sock_diag");
    }
    let mut rest = answer
        .get(HEAD_BYTES + MESSAGE_BYTES..)
        .ok_or("an answer without a connection")?;
    while let Some((kind, value, behind)) = attribute(rest) {
        if kind == INFO {
            return segments(value).ok_or("a tcp_info without segments: an old kernel");
        }
        rest = behind;
    }
    Err("an answer without a tcp_info")
}

/// `struct rtattr` with its value, and what lies behind it.
fn attribute(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::from(u16_at(bytes, 0)?);
    let value = bytes.get(4..length)?;
    let behind = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((u16_at(bytes, 2)?, value, behind))
}

fn segments(info: &[u8]) -> Option<Segments> {
    let u32_at = |at: usize| {
        let four = info.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(four))
    };
    Some(Segments {
        sent: u32_at(SEGS_OUT_AT)?,
        received: u32_at(SEGS_IN_AT)?,
        timestamps: info.get(OPTIONS_AT)? & TIMESTAMPS != 0,
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_ne_bytes(two))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn segments_of_a_connection_grow_as_it_speaks() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let count = || Segments::of(near.local_addr().unwrap(), near.peer_addr().unwrap());
        let before = count().unwrap();
        for _ in 0..5 {
            (&near).write_all(b"x").unwrap();
            far.read_exact(&mut [0]).unwrap();
            far.write_all(b"y").unwrap();
            near.read_exact(&mut [0]).unwrap();
        }
        let after = Segments::of(near.local_addr().unwrap(), near.peer_addr().unwrap()).unwrap();
        assert!(after.sent >= before.sent + 5 && after.received >= before.received + 5);
    }

    #[test]
    fn segments_are_counted_over_ipv6_too() {
        let Ok(listener) = TcpListener::bind("[::1]:0") else {
            eprintln!("SKIPPED bench: tcp_info: no IPv6 on this machine");
            return;
        };
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, peer) = (near.local_addr().unwrap(), near.peer_addr().unwrap());
        assert!(Segments::of(local, peer).unwrap().sent >= 2);
    }

    #[test]
    fn a_connection_that_is_none_is_an_error() {
        let nobody: SocketAddr = "127.0.0.1:1".parse().unwrap();
        assert!(Segments::of(nobody, nobody).is_err());
    }

    #[test]
    fn cut_answers_are_errors() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, peer) = (near.local_addr().unwrap(), near.peer_addr().unwrap());
        let whole = ask(&request(local, peer)).unwrap();
        assert!(read(&whole).is_ok());
        for end in 0..HEAD_BYTES + MESSAGE_BYTES + 4 {
            assert!(read(&whole[..end]).is_err(), "{end}");
        }
    }
}
