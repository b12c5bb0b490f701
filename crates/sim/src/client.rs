//! A client of the authors' scripts: what it asks, and when again.

use crate::board::PATH;
use crate::refresh::Refresh;
use crate::response::{Heard, Responses};
use crate::setting::{Publication, Scheme, Setting};
use crate::tcp::Tcp;
use crate::{Nanos, SECOND};
use weir_link::Random;

/// Dots that fill a request up to what a browser sends.
const FILLING: usize = 450;
/// How long a client whose connection broke waits before it tries again.
const RETRY: Nanos = SECOND;
/// Ports of a client are so far apart, and as many clients have an address.
const PORTS: u16 = 512;
/// Where a packet of IPv4 without options says which address of ours it goes to, and which port.
const BLOCK_AT: usize = 18;
const PORT_AT: usize = 22;

/// One client.
pub(crate) struct Client {
    setting: Setting,
    number: u16,
    refresh: Refresh,
    tcp: Tcp,
    responses: Responses,
    random: Random,
    generation: u16,
    does: Does,
}

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// Connects at this time.
    Connects(Nanos),
    /// Waits to be connected, then asks.
    Opens,
    /// Asks at this time.
    Asks(Nanos),
    /// Waits for an answer to what it asked then.
    Listens(Nanos),
}

impl Client {
    /// A client of this number; it connects within the ramp.
    pub(crate) fn new(setting: Setting, number: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let ramp = random.unit() * setting.clients as f64 * 0.01 * SECOND as f64;
        Self {
            setting,
            number: number as u16 % PORTS,
            refresh: Refresh::new(),
            tcp: Tcp::new(
                [10, 9, (number / usize::from(PORTS)) as u8, 1],
                random.bits(),
            ),
            responses: Responses::default(),
            random,
            generation: 0,
            does: Does::Connects(ramp as Nanos),
        }
    }

    /// Who a packet is for.
    pub(crate) fn of_packet(packet: &[u8]) -> Option<usize> {
        let port = packet.get(PORT_AT..)?.first_chunk()?;
        let number = u16::from_be_bytes(*port) % PORTS;
        let block = usize::from(*packet.get(BLOCK_AT)?);
        Some(block * usize::from(PORTS) + usize::from(number))
    }

    fn port(&self) -> u16 {
        // Ports of a client come round after 100 connections.
        PORTS * (4 + self.generation % 100) + self.number
    }

    /// Takes a packet, if there is one, and the time; what it hears.
    pub(crate) fn poll(
        &mut self,
        now: Nanos,
        packet: Option<Vec<u8>>,
        has_room: bool,
    ) -> Vec<String> {
        self.tcp.poll(now, packet, has_room);
        let mut values = Vec::new();
        if self.tcp.read(&mut self.responses.heard) {
            while let Some(heard) = self.responses.next() {
                self.heard(now, &heard);
                if let Heard::Value(value) = heard {
                    values.push(value);
                }
            }
        }
        self.act(now);
        self.tcp.poll(now, None, has_room);
        values
    }

    fn heard(&mut self, now: Nanos, _heard: &Heard) {
        let Does::Listens(asked) = self.does else {
            return;
        };
        self.does = match self.setting.scheme {
            Scheme::Polling(seconds) => Does::Asks(self.next_poll(now, asked, seconds.into())),
            Scheme::Adaptive => {
                let seconds = self.refresh.heard(self.responses.number);
                Does::Asks(self.next_poll(now, asked, seconds))
            }
            Scheme::LongPolling => Does::Asks(now + self.think()),
            Scheme::Streaming | Scheme::Events => self.does,
        };
    }

    /// The next poll: an interval after the last one, 5 % more or less, or at once where that is over.
    fn next_poll(&mut self, now: Nanos, asked: Nanos, seconds: f64) -> Nanos {
        let jitter = 0.95 + 0.1 * self.random.unit();
        let interval = seconds * jitter * SECOND as f64;
        (asked + interval as Nanos).max(now)
    }

    /// The pause between long polls.
    fn think(&mut self) -> Nanos {
        let spread = match self.setting.publication {
            Publication::Every(1) => 0.01,
            _ => 0.03,
        };
        let spread = self.random.unit() * self.setting.clients as f64 * spread;
        ((0.1 + spread) * SECOND as f64) as Nanos
    }

    fn act(&mut self, now: Nanos) {
        match self.does {
            Does::Connects(at) if at <= now => {
                self.generation += 1;
                self.responses.clear();
                let port = self.port();
                self.tcp.connect(port);
                self.does = Does::Opens;
            }
            Does::Connects(_) => {}
            _ if self.tcp.is_closed() => self.does = Does::Connects(now + RETRY),
            Does::Opens if self.tcp.may_send() => self.ask(now),
            Does::Asks(at) if at <= now => self.ask(now),
            _ => {}
        }
    }

    fn ask(&mut self, now: Nanos) {
        let (query, accept) = match self.setting.scheme {
            Scheme::Polling(_) | Scheme::Adaptive => ("", "*/*"),
            Scheme::LongPolling => ("?wait=60", "*/*"),
            Scheme::Streaming => ("?stream", "*/*"),
            Scheme::Events => ("", "text/event-stream"),
        };
        let dots = ".".repeat(FILLING);
        let request = format!(
            "GET {PATH}{query} HTTP/1.1\r\nUser-Agent: {dots}\r\nHost: 10.9.0.2\r\nAccept: {accept}\r\n\r\n"
        );
        self.tcp.send(request.as_bytes());
        self.does = Does::Listens(now);
    }

    pub(crate) fn leaving(&mut self) -> std::vec::Drain<'_, Vec<u8>> {
        self.tcp.leaving()
    }

    /// Leaves, without a word more than a reset.
    pub(crate) fn leave(&mut self, now: Nanos) {
        self.tcp.abort();
        self.tcp.poll(now, None, true);
        self.does = Does::Connects(Nanos::MAX);
    }

    /// How often its connection broke.
    pub(crate) fn broken(&self) -> u64 {
        u64::from(self.generation.saturating_sub(1))
    }

    /// When it wants to be polled; now or before, where it is held back.
    pub(crate) fn deadline(&mut self, now: Nanos) -> Nanos {
        let own = match self.does {
            Does::Connects(at) | Does::Asks(at) => at.max(now + 1),
            _ => Nanos::MAX,
        };
        own.min(self.tcp.deadline(now).unwrap_or(Nanos::MAX))
    }
}
