//! The client: a device that sends a packet to a server, waits for its echo, and sends the next, by the protocols
//! of paper 003 (Mijovic, Shehu and Buratti 2016); it measures round trips by its own timer.
//!
//! [`Client`] is sans-IO as [`Device`](crate::Device) is: bytes of the line and the time go in, bytes come out. TCP,
//! UDP and IP are smoltcp's, so that a server meets nobody's TCP but one that is known. It is told what to do by a
//! datagram ([`order`]) and tells what it found by datagrams ([`report`]), over the same line. What it deliberately
//! does not have: an allocator, a buffer for what it can make again, two exchanges at a time. The decision worth
//! arguing: a closed loop, as the paper's; a device that waits for its echo offers no rate, so nothing is omitted by
//! waiting.

mod base64;
mod buffer;
mod coap;
mod echo;
mod host;
mod modem;
mod mqtt;
mod network;
mod order;
mod payload;
mod report;
mod sha1;
mod talk;
mod websocket;
mod wire;

pub use host::{Buffers, Host, Storage};
pub use modem::{Memory as ModemMemory, Modem};
pub use network::Network;

use buffer::Buffer;
use echo::Echo;

/// Microseconds since the start.
pub type Micros = u64;

/// Packets of one order whose round trips are kept: as many as the paper sends.
pub const SAMPLES_MAX: usize = 10_000;
/// Bytes of a packet on the line: an Ethernet's, which the paper's modem is behind.
pub const MTU: usize = 1_500;
/// Bytes that are kept of a stream until they are a message, and of a message until it is sent.
const MESSAGE_BYTES_MAX: usize = 2_048;

/// What is large; it begins as zeros.
pub struct Memory {
    heard: Buffer,
    out: Buffer,
    samples: [u32; SAMPLES_MAX],
}

impl Memory {
    /// Empty memory.
    pub const fn new() -> Self {
        Self {
            heard: Buffer::new(),
            out: Buffer::new(),
            samples: [0; SAMPLES_MAX],
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// The client on its line.
pub struct Client<'a, N> {
    network: N,
    heard: &'a mut Buffer,
    out: &'a mut Buffer,
    echo: Echo<'a>,
    /// Number of the order that was taken last.
    taken: Option<u32>,
}

impl<'a, N: Network> Client<'a, N> {
    /// A client that waits for an order; `seed` is of its names and keys.
    pub fn new(memory: &'a mut Memory, network: N, seed: u64) -> Self {
        Self {
            network,
            heard: &mut memory.heard,
            out: &mut memory.out,
            echo: Echo::new(&mut memory.samples, seed),
            taken: None,
        }
    }

    /// Whether it takes a byte now.
    pub fn takes(&self) -> bool {
        self.network.takes()
    }

    /// Takes the line's next byte.
    pub fn receive(&mut self, byte: u8) {
        self.network.receive(byte);
    }

    /// Whether a packet is on its way to the line.
    pub fn is_sending(&self) -> bool {
        self.network.is_sending()
    }

    /// The line's next byte, where there is one.
    pub fn transmit(&mut self) -> Option<u8> {
        self.network.transmit()
    }

    /// Does what is due.
    pub fn work(&mut self, now: Micros) {
        self.network.poll(now);
        self.take_orders(now);
        self.echo.step(now, &mut self.network, self.heard, self.out);
        self.network.poll(now);
    }

    fn take_orders(&mut self, now: Micros) {
        match self.network.order() {
            None => {}
            Some(Some(order)) if self.taken == Some(order.id) => {}
            Some(Some(order)) => {
                self.taken = Some(order.id);
                self.heard.clear();
                self.echo.begin(now, order, &mut self.network);
            }
            Some(None) => self.network.report(report::not_understood().bytes()),
        }
    }
}
