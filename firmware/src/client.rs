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
mod mqtt;
mod order;
mod payload;
mod report;
mod sha1;
mod talk;
mod websocket;
mod wire;

pub use host::Storage;

use buffer::Buffer;
use echo::Echo;
use host::Host;

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
    pub(crate) buffers: host::Buffers,
    heard: Buffer,
    out: Buffer,
    samples: [u32; SAMPLES_MAX],
}

impl Memory {
    /// Empty memory.
    pub const fn new() -> Self {
        Self {
            buffers: host::Buffers::new(),
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
pub struct Client<'a> {
    host: Host<'a>,
    heard: &'a mut Buffer,
    out: &'a mut Buffer,
    echo: Echo<'a>,
    /// Number of the order that was taken last.
    taken: Option<u32>,
}

impl<'a> Client<'a> {
    /// A client that waits for an order; `seed` is of its ports and sequence numbers.
    pub fn new(memory: &'a mut Memory, storage: &'a mut Storage<'a>, seed: u64) -> Self {
        Self {
            host: Host::new(&mut memory.buffers, storage, seed),
            heard: &mut memory.heard,
            out: &mut memory.out,
            echo: Echo::new(&mut memory.samples, seed),
            taken: None,
        }
    }

    /// Whether it takes a byte now.
    pub fn takes(&self) -> bool {
        self.host.takes()
    }

    /// Takes the line's next byte.
    pub fn receive(&mut self, byte: u8) {
        self.host.receive(byte);
    }

    /// Whether a packet is on its way to the line.
    pub fn is_sending(&self) -> bool {
        self.host.is_sending()
    }

    /// The line's next byte, where there is one.
    pub fn transmit(&mut self) -> Option<u8> {
        self.host.transmit()
    }

    /// Does what is due.
    pub fn work(&mut self, now: Micros) {
        self.host.poll(now);
        self.take_orders(now);
        self.echo.step(now, &mut self.host, self.heard, self.out);
        self.host.poll(now);
    }

    fn take_orders(&mut self, now: Micros) {
        match self.host.order() {
            None => {}
            Some(Some(order)) if self.taken == Some(order.id) => {}
            Some(Some(order)) => {
                self.taken = Some(order.id);
                self.heard.clear();
                self.echo.begin(now, order, &mut self.host);
            }
            Some(None) => self.host.report(&report::not_understood()),
        }
    }
}
