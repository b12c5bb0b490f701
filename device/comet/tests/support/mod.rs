//! A board with the server, and a host with another's TCP (smoltcp), as the two machines of a `Pair`.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "each suite uses a part"
)]

mod host;
mod observer;

pub use host::Host;
pub use observer::{Observer, datagram, message, payload};
use std::collections::VecDeque;
use std::convert::Infallible;
use weir_comet::limits::PACKET_BYTES_MAX;
use weir_comet::{Kind, Resource, Server, Site};
use weir_sansio::{Duration, Instant, Output, Session};

pub const BOARD: [u8; 4] = [10, 9, 0, 2];
pub const HOST: [u8; 4] = [10, 9, 0, 1];

/// A page of several segments.
pub const PAGE: &[u8] = &{
    let mut page = [0; 3_000];
    let mut at = 0;
    while at < page.len() {
        page[at] = b'a' + (at * 7 % 26) as u8;
        at += 1;
    }
    page
};

pub static RESOURCES: [Resource; 3] = [
    Resource {
        path: "/",
        media_type: "text/html",
        kind: Kind::Page(PAGE),
    },
    Resource {
        path: "/live/temperature",
        media_type: "text/plain",
        kind: Kind::Topic,
    },
    Resource {
        path: "/live/humidity",
        media_type: "text/plain",
        kind: Kind::Topic,
    },
];

pub const TEMPERATURE: u8 = 1;
pub const HUMIDITY: u8 = 2;

pub type Small = Server<256, 4, 16, 32>;

/// A site for ever, as flash is.
pub fn site() -> &'static Site {
    Box::leak(Box::new(Site::new(&RESOURCES).unwrap()))
}

/// The server, its driver, and what it is told to publish and when.
pub struct Board {
    pub server: Box<Small>,
    /// In order of time.
    pub publications: VecDeque<(Instant, u8, String)>,
    /// What its clock shows at the start.
    pub clock: u32,
    replies: VecDeque<Vec<u8>>,
    now: Instant,
}

impl Board {
    pub fn new() -> Self {
        let mut server = Box::new(Server::new());
        server.start(site(), BOARD, 80, 0x0123_4567_89ab_cdef);
        Self {
            server,
            publications: VecDeque::new(),
            clock: 0,
            replies: VecDeque::new(),
            now: Instant::START,
        }
    }

    /// Publishes `count` temperatures, the first after `first`.
    pub fn publishing(mut self, first: Duration, every: Duration, count: u32) -> Self {
        for number in 1..=count {
            let at = Instant::START + first + every * (number - 1);
            let text = format!("value {number}");
            self.publications.push_back((at, TEMPERATURE, text));
        }
        self
    }

    fn milliseconds(&self) -> u32 {
        let since = (self.now.nanos() / 1_000_000) as u32;
        since.wrapping_add(self.clock)
    }

    fn publish(&mut self) {
        while let Some((at, topic, text)) = self.publications.front().cloned()
            && at <= self.now
        {
            let now = self.milliseconds();
            self.server.publish(now, topic, text.as_bytes()).unwrap();
            self.publications.pop_front();
        }
    }
}

impl Session for Board {
    type Transmit = Vec<u8>;
    type Event = Infallible;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.now = now;
        let mut packet = bytes.to_vec();
        let reply = self.server.receive(self.milliseconds(), &mut packet);
        if reply > 0 {
            packet.truncate(reply);
            self.replies.push_back(packet);
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        self.publish();
        self.server.tick(self.milliseconds());
    }

    fn poll_output(&mut self) -> Output<Vec<u8>, Infallible> {
        if let Some(reply) = self.replies.pop_front() {
            return Output::Transmit(reply);
        }
        let mut packet = vec![0; PACKET_BYTES_MAX];
        let length = self.server.transmit(self.milliseconds(), &mut packet);
        if length > 0 {
            packet.truncate(length);
            return Output::Transmit(packet);
        }
        let tick = self.server.deadline(self.milliseconds());
        let tick = tick.map_or(Instant::NEVER, |wait| {
            self.now + Duration::from_millis(wait.into())
        });
        let publication = self.publications.front();
        Output::Timeout(publication.map_or(tick, |(at, ..)| tick.min(*at)))
    }
}
