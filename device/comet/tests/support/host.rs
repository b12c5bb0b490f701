//! A host with smoltcp's TCP and some clients, each of which says what it is told and keeps what it hears.

use super::{BOARD, HOST};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::socket::tcp;
use smoltcp::time::Instant as Clock;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};
use std::collections::VecDeque;
use std::convert::Infallible;
use weir_sansio::{Duration, Instant, Output, Session};

/// A client: a connection, and what is to be said on it.
pub struct Client {
    /// What it says, and when at the earliest.
    pub says: VecDeque<(Instant, Vec<u8>)>,
    /// When it closes its half.
    pub closes: Option<Instant>,
    /// From when on it takes what came.
    pub reads_from: Instant,
    /// What it heard.
    pub heard: Vec<u8>,
    /// When it heard something last.
    pub heard_at: Instant,
    handle: SocketHandle,
}

impl Client {
    /// What it heard, as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.heard).unwrap()
    }

    /// Whether something that it has to do is due.
    fn next(&self) -> Instant {
        let says = self.says.front().map_or(Instant::NEVER, |(at, _)| *at);
        says.min(self.closes.unwrap_or(Instant::NEVER))
    }
}

/// The host.
pub struct Host {
    pub clients: Vec<Client>,
    interface: Interface,
    sockets: SocketSet<'static>,
    wire: Wire,
    now: Instant,
}

impl Host {
    pub fn new() -> Self {
        let mut wire = Wire::default();
        let config = Config::new(HardwareAddress::Ip);
        let mut interface = Interface::new(config, &mut wire, Clock::ZERO);
        interface.update_ip_addrs(|addresses| {
            let [a, b, c, d] = HOST;
            let address = IpCidr::new(IpAddress::v4(a, b, c, d), 24);
            addresses.push(address).unwrap();
        });
        Self {
            clients: Vec::new(),
            interface,
            sockets: SocketSet::new(Vec::new()),
            wire,
            now: Instant::START,
        }
    }

    /// A client that connects at once, with a receive buffer of so many bytes.
    pub fn connect(&mut self, buffer_bytes: usize) -> &mut Client {
        let buffer = |bytes| tcp::SocketBuffer::new(vec![0; bytes]);
        let socket = tcp::Socket::new(buffer(buffer_bytes), buffer(8_192));
        let handle = self.sockets.add(socket);
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(handle);
        let port = 10_000 + self.clients.len() as u16;
        let board = (Ipv4Address::from(BOARD), 80);
        socket
            .connect(self.interface.context(), board, port)
            .unwrap();
        self.clients.push(Client {
            says: VecDeque::new(),
            closes: None,
            reads_from: Instant::START,
            heard: Vec::new(),
            heard_at: Instant::START,
            handle,
        });
        self.clients.last_mut().unwrap()
    }

    /// A client that asks once, as soon as it is connected.
    pub fn ask(&mut self, request: &str) -> &mut Client {
        let client = self.connect(4_096);
        client
            .says
            .push_back((Instant::START, request.as_bytes().to_vec()));
        client
    }

    /// The state of a client's TCP.
    pub fn state(&self, client: usize) -> tcp::State {
        let handle = self.clients[client].handle;
        self.sockets.get::<tcp::Socket<'_>>(handle).state()
    }

    fn clock(&self) -> Clock {
        Clock::from_micros((self.now.nanos() / 1_000) as i64)
    }

    fn poll(&mut self) {
        let clock = self.clock();
        self.interface
            .poll(clock, &mut self.wire, &mut self.sockets);
        let mut moved = false;
        for client in &mut self.clients {
            let socket = self.sockets.get_mut::<tcp::Socket<'_>>(client.handle);
            moved |= act(client, socket, self.now);
        }
        if moved {
            self.interface
                .poll(clock, &mut self.wire, &mut self.sockets);
        }
    }
}

/// Lets a client do what is due.
fn act(client: &mut Client, socket: &mut tcp::Socket<'_>, now: Instant) -> bool {
    let mut moved = false;
    while socket.may_send()
        && let Some((at, text)) = client.says.front_mut()
        && *at <= now
        && socket.can_send()
    {
        let sent = socket.send_slice(text).unwrap();
        text.drain(..sent);
        if text.is_empty() {
            client.says.pop_front();
        }
        moved = true;
    }
    while client.reads_from <= now && socket.can_recv() {
        let heard = &mut client.heard;
        socket
            .recv(|bytes| {
                heard.extend_from_slice(bytes);
                (bytes.len(), ())
            })
            .unwrap();
        client.heard_at = now;
        moved = true;
    }
    if client.closes.is_some_and(|at| at <= now) && socket.may_send() {
        client.closes = None;
        socket.close();
        moved = true;
    }
    moved
}

impl Session for Host {
    type Transmit = Vec<u8>;
    type Event = Infallible;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.now = now;
        self.wire.inbound.push_back(bytes.to_vec());
        self.poll();
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
    }

    fn poll_output(&mut self) -> Output<Vec<u8>, Infallible> {
        if self.wire.outbound.is_empty() {
            self.poll();
        }
        if let Some(packet) = self.wire.outbound.pop_front() {
            return Output::Transmit(packet);
        }
        let clock = self.clock();
        let due = self.interface.poll_at(clock, &self.sockets);
        let due = due.map_or(Instant::NEVER, |at| {
            Instant::from_nanos(at.total_micros() as u64 * 1_000)
        });
        let now = self.now;
        let clients = self.clients.iter();
        let actions = clients.flat_map(|client| [client.next(), client.reads_from]);
        let due = actions.filter(|&at| at > now).fold(due, Instant::min);
        Output::Timeout(due.max(now + Duration::from_micros(100)))
    }
}

/// Packets under way between smoltcp and the link.
#[derive(Default)]
struct Wire {
    inbound: VecDeque<Vec<u8>>,
    outbound: VecDeque<Vec<u8>>,
}

struct Arrived(Vec<u8>);
struct Leaving<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::Device for Wire {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _now: Clock) -> Option<(Arrived, Leaving<'_>)> {
        let packet = self.inbound.pop_front()?;
        Some((Arrived(packet), Leaving(&mut self.outbound)))
    }

    fn transmit(&mut self, _now: Clock) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.outbound))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 576;
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
        self.0.push_back(packet);
        result
    }
}
