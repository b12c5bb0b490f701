//! A client's TCP: smoltcp, one interface a client, so that a packet costs the same however many there are.

use crate::board::ADDRESS;
use crate::time::Nanos;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet, SocketStorage};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};

const RECEIVE_BYTES: usize = 2_048;
const SEND_BYTES: usize = 1_024;
/// The line's largest packet: what RFC 1055 recommends is more than the board takes.
const MTU: usize = 576;

/// A host with one connection at a time.
pub(crate) struct Tcp {
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    wire: Packets,
}

#[derive(Default)]
struct Packets {
    arrived: Option<Vec<u8>>,
    is_held_back: bool,
    leaving: Vec<Vec<u8>>,
}

fn instant(now: Nanos) -> Instant {
    Instant::from_micros((now / 1_000) as i64)
}

impl Tcp {
    pub(crate) fn new(host: [u8; 4], seed: u64) -> Self {
        let mut wire = Packets::default();
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            let [a, b, c, d] = host;
            // The first of the several that there is room for.
            let _fits = addresses.push(IpCidr::new(IpAddress::v4(a, b, c, d), 16));
        });
        let buffer = |bytes| SocketBuffer::new(vec![0; bytes]);
        let mut sockets = SocketSet::new(vec![SocketStorage::EMPTY]);
        let socket = sockets.add(Socket::new(buffer(RECEIVE_BYTES), buffer(SEND_BYTES)));
        Self {
            interface,
            sockets,
            socket,
            wire,
        }
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.socket)
    }

    /// Opens a connection from a port.
    pub(crate) fn connect(&mut self, port: u16) {
        let board = (Ipv4Address::from(ADDRESS), 80);
        let socket = self.sockets.get_mut::<Socket<'_>>(self.socket);
        socket.abort();
        // It is closed, and the port is not 0.
        let _closed = socket.connect(self.interface.context(), board, port);
    }

    pub(crate) fn abort(&mut self) {
        self.socket().abort();
    }

    pub(crate) fn is_closed(&mut self) -> bool {
        !matches!(
            self.socket().state(),
            State::SynSent | State::Established | State::CloseWait
        ) || !self.socket().may_send() && self.socket().state() != State::SynSent
    }

    pub(crate) fn may_send(&mut self) -> bool {
        self.socket().state() == State::Established
    }

    pub(crate) fn send(&mut self, text: &[u8]) {
        // A request is sent when nothing else is under way.
        let _sent = self.socket().send_slice(text);
    }

    /// Appends what came.
    pub(crate) fn read(&mut self, heard: &mut Vec<u8>) -> bool {
        let before = heard.len();
        while self.socket().can_recv() {
            let took = self.socket().recv(|bytes| {
                heard.extend_from_slice(bytes);
                (bytes.len(), ())
            });
            if took.is_err() {
                break;
            }
        }
        heard.len() > before
    }

    /// Takes a packet, if there is one, and the time; sends only where there is room.
    pub(crate) fn poll(&mut self, now: Nanos, packet: Option<Vec<u8>>, has_room: bool) {
        self.wire.arrived = packet;
        self.wire.is_held_back = !has_room;
        self.interface
            .poll(instant(now), &mut self.wire, &mut self.sockets);
    }

    /// Packets that leave.
    pub(crate) fn leaving(&mut self) -> std::vec::Drain<'_, Vec<u8>> {
        self.wire.leaving.drain(..)
    }

    /// When it wants to be polled; now, where it is held back.
    pub(crate) fn deadline(&mut self, now: Nanos) -> Option<Nanos> {
        let due = self.interface.poll_at(instant(now), &self.sockets)?;
        Some(due.total_micros() as Nanos * 1_000)
    }
}

struct Arrived(Vec<u8>);
struct Leaving<'a>(&'a mut Vec<Vec<u8>>);

impl phy::Device for Packets {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _now: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let packet = self.arrived.take()?;
        Some((Arrived(packet), Leaving(&mut self.leaving)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Leaving<'_>> {
        (!self.is_held_back).then_some(Leaving(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU;
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
        self.0.push(packet);
        result
    }
}
