//! A socket for datagrams.
//!
//! What it deliberately does not do: no DTLS, and no choice of interfaces beyond the machine's own addresses.

use crate::batch::{self, Batch, Leaving};
use crate::interfaces;
use crate::limits::{DATAGRAM_BUFFER_BYTES, TURN_DATAGRAMS};
use nix::sys::socket::{setsockopt, sockopt as options};
use rustix::net::{AddressFamily, SocketType, sockopt};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{Interest, ReadBuf};
use tokio::net::UdpSocket;

/// UDP at one address.
#[derive(Debug)]
pub struct Datagrams {
    socket: Arc<UdpSocket>,
    /// Of a socket that has one peer, whose errors are its own.
    failure: Option<Failure>,
}

impl Datagrams {
    /// Binds a socket; where it is `shared`, others may bind to the same address, and the kernel gives
    /// each peer to one of them for good (`SO_REUSEPORT`).
    pub fn bind(address: SocketAddr, shared: bool) -> io::Result<std::net::UdpSocket> {
        let socket = unbound(address)?;
        if shared {
            sockopt::set_socket_reuseport(&socket, true)?;
        }
        // The kernel gives as much as it may.
        sockopt::set_socket_recv_buffer_size(&socket, DATAGRAM_BUFFER_BYTES)?;
        sockopt::set_socket_send_buffer_size(&socket, DATAGRAM_BUFFER_BYTES)?;
        rustix::net::bind(&socket, &address)?;
        Ok(socket.into())
    }

    /// A socket at a port that other programs of the machine use too, as that of discovery; to be called
    /// inside the runtime that will poll it. What it sends to a group leaves by the interface that has its
    /// address.
    pub fn beside_others(address: SocketAddr) -> io::Result<Self> {
        let socket = unbound(address)?;
        sockopt::set_socket_reuseport(&socket, true)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        rustix::net::bind(&socket, &address)?;
        Self::new(socket.into())
    }

    /// The machine's address that a peer sees it at.
    pub fn facing(peer: SocketAddr) -> io::Result<IpAddr> {
        let socket = unbound(peer)?;
        rustix::net::connect(&socket, &peer)?;
        Ok(std::net::UdpSocket::from(socket).local_addr()?.ip())
    }

    /// Takes a bound socket; to be called inside the runtime that will poll it.
    pub fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let socket = Arc::new(UdpSocket::from_std(socket)?);
        Ok(Self {
            socket,
            failure: None,
        })
    }

    /// A socket for one peer: that nobody listens there is an error (`ConnectionRefused`), and what others
    /// send does not arrive. To be called inside the runtime that will poll it.
    pub fn connected(peer: SocketAddr) -> io::Result<Self> {
        let any = match peer {
            SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        };
        let socket = Self::bind(SocketAddr::new(any, 0), false)?;
        socket.connect(peer)?;
        let mut own = Self::new(socket)?;
        own.failure = Some(Failure::of(&own.socket));
        Ok(own)
    }

    /// A socket that receives only what is sent to a multicast group, on the interface that has the
    /// address `on`; to be called inside the runtime that will poll it.
    pub fn of_group(group: IpAddr, port: u16, on: IpAddr) -> io::Result<Self> {
        let mut address = SocketAddr::new(group, port);
        if let SocketAddr::V6(v6) = &mut address {
            // A group of a link is one of a certain link.
            v6.set_scope_id(interfaces::v6(on)?.first().copied().unwrap_or(0));
        }
        let socket = Self::beside_others(address)?;
        socket.join(group, on)?;
        Ok(socket)
    }

    /// An error that ends nothing: it is one of many peers that could not be reached.
    fn passes(&self, error: &io::Error) -> bool {
        self.failure.is_none() && is_of_a_peer(error)
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
            match (self.socket.poll_recv_from(cx, &mut into), &self.failure) {
                (Poll::Ready(Ok(peer)), _) => {
                    return Poll::Ready(Ok((into.filled().len(), peer)));
                }
                (Poll::Ready(Err(error)), _) if self.passes(&error) => {}
                (Poll::Ready(Err(error)), _) => return Poll::Ready(Err(error)),
                (Poll::Pending, None) => return Poll::Pending,
                (Poll::Pending, Some(failure)) => return failure.poll(cx).map(Err),
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
            Err(error) if !self.passes(&error) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Sends a datagram now; [`io::ErrorKind::WouldBlock`] where the kernel has no room for it, or
    /// is not known to have: then [`Self::poll_send`] waits.
    pub fn try_send(&self, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
        match self.socket.try_send_to(datagram, to) {
            Err(error) if !self.passes(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Has each datagram that comes say to which of the machine's addresses, or to which group, it was
    /// sent: for a socket that is bound to all of them.
    pub fn tell_destinations(&self) -> io::Result<()> {
        match self.local_addr()? {
            SocketAddr::V4(_) => setsockopt(&self.socket, options::Ipv4PacketInfo, &true)?,
            SocketAddr::V6(_) => setsockopt(&self.socket, options::Ipv6RecvPacketInfo, &true)?,
        }
        Ok(())
    }

    /// The datagrams that have arrived, at least one, as many as the batch has room for.
    pub fn poll_receive_batch(
        &self,
        cx: &mut Context<'_>,
        batch: &mut Batch,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.socket.poll_recv_ready(cx))?;
            let taken = self.socket.try_io(Interest::READABLE, || {
                batch.receive(&self.socket)?;
                // A batch that is not full has emptied the socket: what comes now wakes again. Errors of
                // peers do not reach a socket that is not connected, so none can end a batch early.
                match batch.is_full() {
                    true => Ok(()),
                    false => Err(ErrorKind::WouldBlock.into()),
                }
            });
            match taken {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !batch.is_empty() {
                        return Poll::Ready(Ok(()));
                    }
                }
                Err(error) if self.passes(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Sends datagrams in order, at most [`TURN_DATAGRAMS`]: who sends more reads first what came meanwhile, as
    /// the kernel drops what it has no room for. Pending where the kernel takes no more; what one peer cannot
    /// be sent is dropped.
    pub fn poll_send_batch(
        &self,
        cx: &mut Context<'_>,
        queue: &mut VecDeque<Leaving>,
    ) -> Poll<io::Result<()>> {
        let left = queue.len().saturating_sub(TURN_DATAGRAMS);
        while queue.len() > left {
            let sent = self.socket.try_io(Interest::WRITABLE, || {
                batch::send_first(&self.socket, queue)
            });
            match sent {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ready!(self.socket.poll_send_ready(cx))?;
                }
                other => other?,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Receives what is sent to a multicast group too, on the interface that has the address `on`; where
    /// that is no one's, on every interface that can.
    pub fn join(&self, group: IpAddr, on: IpAddr) -> io::Result<()> {
        let joined: Vec<io::Result<()>> = match group {
            IpAddr::V4(group) => interfaces::v4(on)?
                .into_iter()
                .map(|interface| self.socket.join_multicast_v4(group, interface))
                .collect(),
            IpAddr::V6(group) => interfaces::v6(on)?
                .into_iter()
                .map(|interface| self.socket.join_multicast_v6(&group, interface))
                .collect(),
        };
        // One that is without multicast, or gone meanwhile, keeps nobody from the others.
        match joined.iter().any(Result::is_ok) {
            true => Ok(()),
            false => joined.into_iter().collect(),
        }
    }
}

/// Ready with an error of the only peer.
///
/// The kernel tells of one as neither readable nor writable, so that who waits to read is not woken by it.
struct Failure {
    socket: Arc<UdpSocket>,
    waiting: Mutex<Waiting>,
}

type Waiting = Pin<Box<dyn Future<Output = io::Error> + Send>>;

impl Failure {
    fn of(socket: &Arc<UdpSocket>) -> Self {
        Self {
            socket: socket.clone(),
            waiting: Mutex::new(Box::pin(failed(socket.clone()))),
        }
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let error = ready!(waiting.as_mut().poll(cx));
        *waiting = Box::pin(failed(self.socket.clone()));
        Poll::Ready(error)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failure")
    }
}

async fn failed(socket: Arc<UdpSocket>) -> io::Error {
    loop {
        match socket.ready(Interest::ERROR).await.and(socket.take_error()) {
            Ok(None) => {}
            Ok(Some(error)) | Err(error) => return error,
        }
        // A call had it already: the next one is waited for.
        let none = || Err::<(), _>(ErrorKind::WouldBlock.into());
        let _cleared = socket.try_io(Interest::ERROR, none);
    }
}

fn unbound(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    Ok(rustix::net::socket(family, SocketType::DGRAM, None)?)
}

/// What an ICMP message said of one peer, which the kernel tells at the next call, whomever that is for.
pub(crate) fn is_of_a_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, HostUnreachable, NetworkUnreachable};
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionReset | HostUnreachable | NetworkUnreachable
    )
}
