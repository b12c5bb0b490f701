//! The board: the server and what drives it.

use crate::time::Nanos;
use std::collections::VecDeque;
use std::sync::LazyLock;
use weir_comet::limits::PACKET_BYTES_MAX;
use weir_comet::{Counters, Kind, Resource, Server, Site};

pub(crate) const ADDRESS: [u8; 4] = [10, 9, 0, 2];
/// The path of what is published.
pub(crate) const PATH: &str = "/live/time";
const TOPIC: u8 = 0;
const PORT: u16 = 80;

static RESOURCES: [Resource; 1] = [Resource {
    path: PATH,
    media_type: "text/plain",
    kind: Kind::Topic,
}];

// A path that begins with a slash and a short media type are a site.
static SITE: LazyLock<Option<Site>> = LazyLock::new(|| Site::new(&RESOURCES).ok());

/// Clients for whom there is a board.
pub const CLIENTS_MAX: usize = 10_240;
/// Replies that wait for the line.
const REPLIES_MAX: usize = 4;

/// A server of any size; times are the board's milliseconds.
trait Machine {
    fn start(&mut self, site: &'static Site, key: u64);
    fn publish(&mut self, now: u32, text: &[u8]);
    fn receive(&mut self, now: u32, packet: &mut [u8]) -> usize;
    fn transmit(&mut self, now: u32, packet: &mut [u8]) -> usize;
    fn deadline(&self, now: u32) -> Option<u32>;
    fn tick(&mut self, now: u32);
    fn counters(&self) -> Counters;
}

impl<const CONNECTIONS: usize, const HOSTS: usize> Machine for Server<CONNECTIONS, HOSTS, 16, 24> {
    fn start(&mut self, site: &'static Site, key: u64) {
        Server::start(self, site, ADDRESS, PORT, key);
    }

    fn publish(&mut self, now: u32, text: &[u8]) {
        // 7 digits fit 24 bytes.
        let _fits = Server::publish(self, now, TOPIC, text);
    }

    fn receive(&mut self, now: u32, packet: &mut [u8]) -> usize {
        Server::receive(self, now, packet)
    }

    fn transmit(&mut self, now: u32, packet: &mut [u8]) -> usize {
        Server::transmit(self, now, packet)
    }

    fn deadline(&self, now: u32) -> Option<u32> {
        Server::deadline(self, now)
    }

    fn tick(&mut self, now: u32) {
        Server::tick(self, now);
    }

    fn counters(&self) -> Counters {
        Server::counters(self)
    }
}

/// The firmware's server, 256 connections and 16 notifications of up to 24 bytes; a larger one only where
/// more clients come than that.
fn machine(clients: usize) -> Box<dyn Machine> {
    match clients {
        0..=256 => Box::new(Server::<256, 4, 16, 24>::new()),
        257..=1_024 => Box::new(Server::<1_024, 4, 16, 24>::new()),
        _ => Box::new(Server::<CLIENTS_MAX, 32, 16, 24>::new()),
    }
}

/// The server and its driver.
pub(crate) struct Board {
    server: Box<dyn Machine>,
    /// What is answered without a record; the newest few, since the board has no memory for more.
    replies: VecDeque<Vec<u8>>,
}

impl Board {
    pub(crate) fn new(clients: usize, key: u64) -> Self {
        let mut server = machine(clients);
        if let Some(site) = &*SITE {
            server.start(site, key);
        }
        Self {
            server,
            replies: VecDeque::new(),
        }
    }

    fn clock(now: Nanos) -> u32 {
        (now / 1_000_000) as u32
    }

    /// Publishes the time, as the authors' device does, in as many digits each time.
    pub(crate) fn publish(&mut self, now: Nanos) -> String {
        let text = format!("{:07}", Self::clock(now));
        self.server.publish(Self::clock(now), text.as_bytes());
        text
    }

    pub(crate) fn receive(&mut self, now: Nanos, mut packet: Vec<u8>) {
        let length = self.server.receive(Self::clock(now), &mut packet);
        if length > 0 && self.replies.len() < REPLIES_MAX {
            packet.truncate(length);
            self.replies.push_back(packet);
        }
    }

    /// The next packet, as the line becomes free.
    pub(crate) fn transmit(&mut self, now: Nanos) -> Option<Vec<u8>> {
        if let Some(reply) = self.replies.pop_front() {
            return Some(reply);
        }
        let mut packet = vec![0; PACKET_BYTES_MAX];
        let length = self.server.transmit(Self::clock(now), &mut packet);
        packet.truncate(length);
        (length > 0).then_some(packet)
    }

    /// When it is to be woken.
    pub(crate) fn deadline(&self, now: Nanos) -> Option<Nanos> {
        let wait = self.server.deadline(Self::clock(now))?;
        Some((Nanos::from(Self::clock(now)) + Nanos::from(wait)) * 1_000_000)
    }

    pub(crate) fn tick(&mut self, now: Nanos) {
        self.server.tick(Self::clock(now));
    }

    pub(crate) fn counters(&self) -> Counters {
        self.server.counters()
    }
}
