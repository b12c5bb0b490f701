//! Datagrams in batches: one system call takes what has arrived, one sends what is due.
//!
//! What it deliberately does not do: segmentation offload. Answers of equal length to one peer are what
//! a load generator sees, not what a gateway of many devices sends.

use crate::datagram::is_of_a_peer;
use crate::limits::{BATCH_DATAGRAMS, DATAGRAM_BYTES_MAX};
use bytes::Bytes;
use nix::cmsg_space;
use nix::libc::{in_pktinfo, in6_pktinfo};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmsg,
};
use rustix::net::addr::SocketAddrArg;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};

/// Whoever sent what came without an address, which UDP does not do.
const NOBODY: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

/// A datagram that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Its bytes.
    pub length: usize,
    /// Who sent it.
    pub peer: SocketAddr,
    /// The address that it was sent to, where the socket tells ([`crate::Datagrams::tell_destinations`]).
    pub to: Option<IpAddr>,
}

/// A datagram that is to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Its bytes.
    pub bytes: Bytes,
    /// To whom.
    pub to: SocketAddr,
    /// From which of the machine's addresses; the kernel picks where none is named.
    pub from: Option<IpAddr>,
}

/// Room for the datagrams that one system call takes.
pub struct Batch {
    buffers: Vec<u8>,
    headers: MultiHeaders<SockaddrStorage>,
    arrived: Vec<Arrived>,
}

impl Default for Batch {
    fn default() -> Self {
        let controls = cmsg_space!(in_pktinfo, in6_pktinfo);
        Self {
            // Pages that no datagram reached are not there.
            buffers: vec![0; BATCH_DATAGRAMS * DATAGRAM_BYTES_MAX],
            headers: MultiHeaders::preallocate(BATCH_DATAGRAMS, Some(controls)),
            arrived: Vec::with_capacity(BATCH_DATAGRAMS),
        }
    }
}

impl Batch {
    /// How many datagrams came.
    pub fn len(&self) -> usize {
        self.arrived.len()
    }

    /// Says whether none came.
    pub fn is_empty(&self) -> bool {
        self.arrived.is_empty()
    }

    /// Says whether there was room for no more.
    pub(crate) fn is_full(&self) -> bool {
        self.arrived.len() == BATCH_DATAGRAMS
    }

    /// A datagram in order of arrival, and its bytes.
    pub fn get(&self, index: usize) -> Option<(Arrived, &[u8])> {
        let arrived = *self.arrived.get(index)?;
        let start = index * DATAGRAM_BYTES_MAX;
        Some((arrived, self.buffers.get(start..start + arrived.length)?))
    }

    /// Takes what has arrived, as much as there is room for.
    pub(crate) fn receive(&mut self, socket: &impl AsRawFd) -> io::Result<()> {
        self.arrived.clear();
        let mut rest = self.buffers.chunks_exact_mut(DATAGRAM_BYTES_MAX);
        let mut slices: [[IoSliceMut<'_>; 1]; BATCH_DATAGRAMS] =
            std::array::from_fn(|_| [IoSliceMut::new(rest.next().unwrap_or_default())]);
        let flags = MsgFlags::MSG_DONTWAIT;
        let (socket, headers) = (socket.as_raw_fd(), &mut self.headers);
        for message in recvmmsg(socket, headers, slices.iter_mut(), flags, None)? {
            let peer = message.address.as_ref().and_then(address_of);
            let mut told = message.cmsgs().into_iter().flatten();
            self.arrived.push(Arrived {
                length: message.bytes,
                peer: peer.unwrap_or(NOBODY),
                to: told.find_map(destination_of),
            });
        }
        Ok(())
    }
}

fn address_of(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in();
    let v6 = || address.as_sockaddr_in6();
    v4.map(|v4| SocketAddr::V4(SocketAddrV4::from(*v4)))
        .or_else(|| v6().map(|v6| SocketAddr::V6(SocketAddrV6::from(*v6))))
}

fn destination_of(control: ControlMessageOwned) -> Option<IpAddr> {
    match control {
        ControlMessageOwned::Ipv4PacketInfo(info) => {
            let address = info.ipi_addr.s_addr.to_ne_bytes();
            Some(IpAddr::V4(Ipv4Addr::from(address)))
        }
        ControlMessageOwned::Ipv6PacketInfo(info) => {
            Some(IpAddr::V6(Ipv6Addr::from(info.ipi6_addr.s6_addr)))
        }
        _ => None,
    }
}

/// Sends what stands first and takes it out of the queue; an error of one peer is passed over.
pub(crate) fn send_first(
    socket: &(impl AsFd + AsRawFd),
    queue: &mut VecDeque<Leaving>,
) -> io::Result<()> {
    let plain = |leaving: &&Leaving| leaving.from.is_none();
    let count = queue.iter().take(BATCH_DATAGRAMS).take_while(plain).count();
    let sent = match (count, queue.front()) {
        (0, Some(first)) => send_from(socket, first).map(|()| 1),
        (0, None) => Ok(0),
        (1, Some(only)) => send_one(socket, only).map(|()| 1),
        _ => send_plain(socket, queue, count),
    };
    match sent {
        Ok(sent) => drop(queue.drain(..sent)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
        // The error is that of the first, whose peer cannot be reached or does not take so much.
        Err(error) => {
            queue.pop_front();
            let _one_peers_own = is_of_a_peer(&error);
        }
    }
    Ok(())
}

fn send_one(socket: impl AsFd, leaving: &Leaving) -> io::Result<()> {
    rustix::net::sendto(socket, &leaving.bytes, SendFlags::DONTWAIT, &leaving.to)?;
    Ok(())
}

fn send_plain(socket: impl AsFd, queue: &VecDeque<Leaving>, count: usize) -> io::Result<usize> {
    let leaving = || queue.iter().take(count);
    let addresses: Vec<SocketAddrAny> = leaving().map(|one| one.to.as_any()).collect();
    let slices: Vec<_> = leaving().map(|one| [IoSlice::new(&one.bytes)]).collect();
    let mut controls: Vec<_> = (0..count).map(|_| SendAncillaryBuffer::default()).collect();
    let mut messages: Vec<MMsgHdr<'_>> = addresses
        .iter()
        .zip(&slices)
        .zip(&mut controls)
        .map(|((address, slice), control)| MMsgHdr::new_with_addr(address, slice, control))
        .collect();
    Ok(sendmmsg(socket, &mut messages, SendFlags::DONTWAIT)?)
}

/// Sends a datagram from the address that its peer knows.
fn send_from(socket: &impl AsRawFd, leaving: &Leaving) -> io::Result<()> {
    let to = SockaddrStorage::from(leaving.to);
    let slice = [IoSlice::new(&leaving.bytes)];
    let (socket, flags) = (socket.as_raw_fd(), MsgFlags::MSG_DONTWAIT);
    let sent = match leaving.from {
        Some(IpAddr::V4(from)) => {
            let info = source_v4(from);
            let control = [ControlMessage::Ipv4PacketInfo(&info)];
            sendmsg(socket, &slice, &control, flags, Some(&to))
        }
        Some(IpAddr::V6(from)) => {
            let info = source_v6(from);
            let control = [ControlMessage::Ipv6PacketInfo(&info)];
            sendmsg(socket, &slice, &control, flags, Some(&to))
        }
        None => sendmsg(socket, &slice, &[], flags, Some(&to)),
    };
    Ok(sent.map(drop)?)
}

fn source_v4(from: Ipv4Addr) -> in_pktinfo {
    let address = |octets| nix::libc::in_addr {
        s_addr: u32::from_ne_bytes(octets),
    };
    in_pktinfo {
        ipi_ifindex: 0,
        ipi_spec_dst: address(from.octets()),
        ipi_addr: address([0; 4]),
    }
}

fn source_v6(from: Ipv6Addr) -> in6_pktinfo {
    in6_pktinfo {
        ipi6_addr: nix::libc::in6_addr {
            s6_addr: from.octets(),
        },
        ipi6_ifindex: 0,
    }
}
