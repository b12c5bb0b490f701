//! The client's TCP, UDP and IP, on its line.

use super::buffer::Buffer;
use super::network::Network;
use super::order::{ORDER_BYTES_MAX, Order};
use super::wire::Wire;
use super::{MTU, Micros};
use core::net::SocketAddrV4;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::{tcp, udp};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, IpEndpoint};

/// The client's address on its line.
const ADDRESS: [u8; 4] = [10, 9, 0, 2];
/// Where it is told what to do.
const ORDER_PORT: u16 = 4_003;
/// Ports that IANA leaves to everybody.
const FIRST_PORT: u16 = 49_152;
/// A window each way: four segments of an Ethernet, as the paper's modem has.
const WINDOW_BYTES: usize = 5_840;
/// Datagrams that wait.
const DATAGRAMS: usize = 4;

/// What lies in memory for good.
pub struct Buffers {
    received: [u8; MTU],
    sent: [u8; MTU],
    streams: [[u8; WINDOW_BYTES]; 2],
    datagrams: [[u8; 2 * MTU]; 2],
    orders: [[u8; 2 * ORDER_BYTES_MAX]; 2],
}

impl Buffers {
    /// Empty buffers.
    pub const fn new() -> Self {
        Self {
            received: [0; MTU],
            sent: [0; MTU],
            streams: [[0; WINDOW_BYTES]; 2],
            datagrams: [[0; 2 * MTU]; 2],
            orders: [[0; 2 * ORDER_BYTES_MAX]; 2],
        }
    }
}

impl Default for Buffers {
    fn default() -> Self {
        Self::new()
    }
}

/// What does not begin as zeros, and therefore lies on the stack.
pub struct Storage<'a> {
    sockets: [SocketStorage<'a>; 3],
    metadata: [[udp::PacketMetadata; DATAGRAMS]; 4],
}

impl Storage<'_> {
    /// Empty storage.
    pub const fn new() -> Self {
        Self {
            sockets: [SocketStorage::EMPTY; 3],
            metadata: [[udp::PacketMetadata::EMPTY; DATAGRAMS]; 4],
        }
    }
}

impl Default for Storage<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// A host with a stream, a datagram socket, and one for orders.
pub struct Host<'a> {
    interface: Interface,
    sockets: SocketSet<'a>,
    wire: Wire<'a>,
    stream: SocketHandle,
    datagrams: SocketHandle,
    orders: SocketHandle,
    /// Who gave the last order.
    orderer: Option<udp::UdpMetadata>,
    server: IpEndpoint,
    port: u16,
}

fn instant(now: Micros) -> Instant {
    Instant::from_micros(now as i64)
}

fn datagrams<'a>(
    metadata: [&'a mut [udp::PacketMetadata; DATAGRAMS]; 2],
    buffers: [&'a mut [u8]; 2],
) -> udp::Socket<'a> {
    let ([a, b], [received, sent]) = (metadata, buffers);
    udp::Socket::new(
        udp::PacketBuffer::new(&mut a[..], received),
        udp::PacketBuffer::new(&mut b[..], sent),
    )
}

impl<'a> Host<'a> {
    /// A host without connections; `seed` is of its ports and sequence numbers.
    pub fn new(buffers: &'a mut Buffers, storage: &'a mut Storage<'a>, seed: u64) -> Self {
        let mut wire = Wire::new(&mut buffers.received, &mut buffers.sent);
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            let [a, b, c, d] = ADDRESS;
            // The first of the several that there is room for.
            let _fits = addresses.push(IpCidr::new(IpAddress::v4(a, b, c, d), 24));
        });
        let mut sockets = SocketSet::new(&mut storage.sockets[..]);
        let [a, b, c, d] = &mut storage.metadata;
        let [received, sent] = &mut buffers.streams;
        let mut stream = tcp::Socket::new(
            tcp::SocketBuffer::new(&mut received[..]),
            tcp::SocketBuffer::new(&mut sent[..]),
        );
        // A device that waits for an answer must not wait for more to say.
        stream.set_nagle_enabled(false);
        let [received, sent] = &mut buffers.datagrams;
        let own = datagrams([a, b], [&mut received[..], &mut sent[..]]);
        let [received, sent] = &mut buffers.orders;
        let mut orders = datagrams([c, d], [&mut received[..], &mut sent[..]]);
        // It is closed, and the port is not 0.
        let _bound = orders.bind(ORDER_PORT);
        Self {
            stream: sockets.add(stream),
            datagrams: sockets.add(own),
            orders: sockets.add(orders),
            interface,
            sockets,
            wire,
            orderer: None,
            server: IpEndpoint::new(IpAddress::v4(0, 0, 0, 0), 0),
            port: FIRST_PORT + (seed % 16_000) as u16,
        }
    }

    fn stream(&mut self) -> &mut tcp::Socket<'a> {
        self.sockets.get_mut(self.stream)
    }

    fn datagrams(&mut self) -> &mut udp::Socket<'a> {
        self.sockets.get_mut(self.datagrams)
    }
}

impl Network for Host<'_> {
    fn takes(&self) -> bool {
        self.wire.takes()
    }

    fn receive(&mut self, byte: u8) {
        self.wire.receive(byte);
    }

    fn is_sending(&self) -> bool {
        self.wire.is_sending()
    }

    fn transmit(&mut self) -> Option<u8> {
        self.wire.transmit()
    }

    fn poll(&mut self, now: Micros) {
        self.interface
            .poll(instant(now), &mut self.wire, &mut self.sockets);
    }

    fn order(&mut self) -> Option<Option<Order>> {
        let orders = self.sockets.get_mut::<udp::Socket<'_>>(self.orders);
        let (text, orderer) = orders.recv().ok()?;
        self.orderer = Some(orderer);
        Some(Order::read(text))
    }

    fn report(&mut self, report: &[u8]) {
        if let Some(orderer) = self.orderer {
            let orders = self.sockets.get_mut::<udp::Socket<'_>>(self.orders);
            // There is room for two, and they are tenths of a second apart.
            let _sent = orders.send_slice(report, orderer);
        }
    }

    /// From a port that was not used lately.
    fn connect(&mut self, server: SocketAddrV4, is_stream: bool) {
        self.port = self.port.checked_add(1).unwrap_or(FIRST_PORT);
        self.server = server.into();
        let (server, port) = (self.server, self.port);
        if is_stream {
            let stream = self.sockets.get_mut::<tcp::Socket<'_>>(self.stream);
            // It was closed before, and neither port is 0.
            let _connects = stream.connect(self.interface.context(), server, port);
        } else {
            self.datagrams().close();
            let _bound = self.datagrams().bind(port);
        }
    }

    fn is_connected(&mut self, is_stream: bool) -> bool {
        !is_stream || self.stream().state() == tcp::State::Established
    }

    fn is_over(&mut self, is_stream: bool) -> bool {
        let stream = self.stream();
        let is_opening = matches!(
            stream.state(),
            tcp::State::SynSent | tcp::State::SynReceived
        );
        is_stream && !is_opening && !stream.may_recv()
    }

    fn close(&mut self) {
        self.stream().abort();
        self.datagrams().close();
    }

    fn send(&mut self, out: &mut Buffer, is_stream: bool) {
        if out.bytes().is_empty() {
            return;
        }
        if is_stream {
            let sent = self.stream().send_slice(out.bytes()).unwrap_or(0);
            out.drop_front(sent);
        } else {
            let server = self.server;
            // One for which there is no room is lost, as datagrams are.
            let _sent = self.datagrams().send_slice(out.bytes(), server);
            out.clear();
        }
    }

    fn hear_stream(&mut self, heard: &mut Buffer) -> bool {
        let count = self.stream().recv_slice(heard.space()).unwrap_or(0);
        heard.grow(count);
        count > 0
    }

    fn hear_datagram(&mut self, heard: &mut Buffer) -> bool {
        heard.clear();
        let server = self.server;
        match self.datagrams().recv() {
            Ok((bytes, sender)) if sender.endpoint == server => {
                heard.push(bytes);
                true
            }
            Ok(_) => true,
            Err(_) => false,
        }
    }
}
