//! A socket for datagrams.
//!
//! What it deliberately does not do: no DTLS, no batching of system calls, and no destination address of
//! what is received: who must answer a multicast from the address that it was sent to needs more.

use crate::limits::DATAGRAM_BUFFER_BYTES;
use rustix::net::{AddressFamily, SocketType, sockopt};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::task::{Context, Poll, ready};
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;

/// UDP at one address.
#[derive(Debug)]
pub struct Datagrams {
    socket: UdpSocket,
}

impl Datagrams {
    /// Binds a socket; where it is `shared`, others may bind to the same address, and the kernel gives
    /// each peer to one of them for good (`SO_REUSEPORT`).
    pub fn bind(address: SocketAddr, shared: bool) -> io::Result<std::net::UdpSocket> {
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let socket = rustix::net::socket(family, SocketType::DGRAM, None)?;
        if shared {
            sockopt::set_socket_reuseport(&socket, true)?;
        }
        // The kernel gives as much as it may.
        sockopt::set_socket_recv_buffer_size(&socket, DATAGRAM_BUFFER_BYTES)?;
        sockopt::set_socket_send_buffer_size(&socket, DATAGRAM_BUFFER_BYTES)?;
        rustix::net::bind(&socket, &address)?;
        Ok(socket.into())
    }

    /// Takes a bound socket; to be called inside the runtime that will poll it.
    pub fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let socket = UdpSocket::from_std(socket)?;
        Ok(Self { socket })
    }

    /// The address that it is bound to.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The next datagram: how many bytes of `buffer` it fills (what does not fit is cut off), and from
    /// whom. A peer that could not be reached with what was sent before is no error of this socket.
    pub fn poll_receive(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        loop {
            let mut into = ReadBuf::new(buffer);
            match ready!(self.socket.poll_recv_from(cx, &mut into)) {
                Ok(peer) => return Poll::Ready(Ok((into.filled().len(), peer))),
                Err(error) if is_of_a_peer(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Sends a datagram, once the kernel has room for it.
    pub fn poll_send(
        &self,
        cx: &mut Context<'_>,
        datagram: &[u8],
        to: SocketAddr,
    ) -> Poll<io::Result<()>> {
        match ready!(self.socket.poll_send_to(cx, datagram, to)) {
            Err(error) if !is_of_a_peer(&error) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Sends a datagram now; [`io::ErrorKind::WouldBlock`] where the kernel has no room for it, or
    /// is not known to have: then [`Self::poll_send`] waits.
    pub fn try_send(&self, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
        match self.socket.try_send_to(datagram, to) {
            Err(error) if !is_of_a_peer(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Receives what is sent to a multicast group too, on the interface that the kernel picks.
    pub fn join(&self, group: IpAddr) -> io::Result<()> {
        match group {
            IpAddr::V4(group) => self.socket.join_multicast_v4(group, Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(group) => self.socket.join_multicast_v6(&group, 0),
        }
    }
}

/// What an ICMP message said of one peer, which the kernel tells at the next call, whomever that is for.
fn is_of_a_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, HostUnreachable, NetworkUnreachable};
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionReset | HostUnreachable | NetworkUnreachable
    )
}
