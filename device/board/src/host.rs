//! The clients' side of the line: smoltcp, a connection a client.

use crate::limits::{RECEIVE_BYTES, SEND_BYTES};
use crate::line::Line;
use crate::time::Nanos;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::socket::AnySocket;
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};

/// The address of this side of the line.
pub(crate) const OWN: [u8; 4] = [10, 9, 0, 1];
/// The board's.
pub const BOARD: [u8; 4] = [10, 9, 0, 2];
const PORT: u16 = 80;
/// Ports of clients: those that IANA leaves to everybody.
const FIRST_PORT: u16 = 49_152;

/// A host with as many connections as there are clients.
pub struct Host {
    interface: Interface,
    sockets: SocketSet<'static>,
    arrived: Option<Vec<u8>>,
    port: u16,
    mtu: usize,
}

fn instant(now: Nanos) -> Instant {
    Instant::from_micros((now / 1_000) as i64)
}

impl Host {
    /// A host without connections on a line whose packets have at most `mtu` bytes; another seed, other sequence
    /// numbers and ports.
    pub fn new(seed: u64, mtu: usize) -> Self {
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut line = Line::new(1, crate::line::Duplex::Full);
        let mut end = End {
            arrived: &mut None,
            line: &mut line,
            mtu,
        };
        let mut interface = Interface::new(config, &mut end, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            let [a, b, c, d] = OWN;
            // The first of the several that there is room for.
            let _fits = addresses.push(IpCidr::new(IpAddress::v4(a, b, c, d), 24));
        });
        Self {
            interface,
            sockets: SocketSet::new(Vec::new()),
            arrived: None,
            port: FIRST_PORT + (seed % 16_000) as u16,
            mtu,
        }
    }

    /// The longest packet.
    pub(crate) fn mtu(&self) -> usize {
        self.mtu
    }

    /// Waits for the board to connect to a port.
    pub(crate) fn listen(&mut self, port: u16) -> SocketHandle {
        let buffer = |bytes| SocketBuffer::new(vec![0; bytes]);
        let mut socket = Socket::new(buffer(RECEIVE_BYTES), buffer(SEND_BYTES));
        // What a server has said in one piece goes on at once.
        socket.set_nagle_enabled(false);
        // It is new, and the port is not 0: the board has said it in a segment that is whole.
        let _listens = socket.listen((Ipv4Address::from(OWN), port));
        self.sockets.add(socket)
    }

    /// Opens a connection to the board.
    pub(crate) fn connect(&mut self) -> SocketHandle {
        let buffer = |bytes| SocketBuffer::new(vec![0; bytes]);
        let mut socket = Socket::new(buffer(RECEIVE_BYTES), buffer(SEND_BYTES));
        let board = (Ipv4Address::from(BOARD), PORT);
        // It is new, and the port is not 0.
        let _closed = socket.connect(self.interface.context(), board, self.port);
        self.port = self.port.checked_add(1).unwrap_or(FIRST_PORT);
        self.sockets.add(socket)
    }

    /// Whether there is a connection between a port of the board and one of this side.
    pub(crate) fn knows(&self, (board, own): (u16, u16)) -> bool {
        self.sockets.iter().any(|(_, socket)| {
            // What it is not, it never is: other sockets are not made here.
            let Some(socket) = Socket::downcast(socket) else {
                return false;
            };
            let [remote, local] = [socket.remote_endpoint(), socket.local_endpoint()];
            let ports = remote
                .zip(local)
                .map(|(remote, local)| (remote.port, local.port));
            ports == Some((board, own)) && socket.is_open()
        })
    }

    pub(crate) fn socket(&mut self, handle: SocketHandle) -> &mut Socket<'static> {
        self.sockets.get_mut(handle)
    }

    pub(crate) fn remove(&mut self, handle: SocketHandle) {
        self.sockets.remove(handle);
    }

    /// Takes a packet, if there is one, and the time; what it sends waits for the line.
    pub(crate) fn poll(&mut self, now: Nanos, packet: Option<Vec<u8>>, line: &mut Line) {
        self.arrived = packet;
        let mut end = End {
            arrived: &mut self.arrived,
            line,
            mtu: self.mtu,
        };
        self.interface
            .poll(instant(now), &mut end, &mut self.sockets);
    }

    /// When it wants to be polled.
    pub(crate) fn deadline(&mut self, now: Nanos) -> Option<Nanos> {
        let due = self.interface.poll_at(instant(now), &self.sockets)?;
        Some(due.total_micros() as Nanos * 1_000)
    }
}

/// This end of the line.
struct End<'a> {
    arrived: &'a mut Option<Vec<u8>>,
    line: &'a mut Line,
    mtu: usize,
}

struct Arrived(Vec<u8>);
struct Leaving<'a>(&'a mut Line);

impl phy::Device for End<'_> {
    type RxToken<'a>
        = Arrived
    where
        Self: 'a;
    type TxToken<'a>
        = Leaving<'a>
    where
        Self: 'a;

    fn receive(&mut self, _now: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let packet = self.arrived.take()?;
        Some((Arrived(packet), Leaving(self.line)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Leaving<'_>> {
        self.line.has_room().then_some(Leaving(self.line))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities
    }
}

impl phy::RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl phy::TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let result = write(&mut packet);
        self.0.enqueue(&packet);
        result
    }
}
