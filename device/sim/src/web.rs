//! A client of the authors' scripts: what it asks by HTTP, and when again.

use crate::addresses::{PORTS, host};
use crate::board::PATH;
use crate::refresh::Refresh;
use crate::response::{Heard, Responses};
use crate::setting::{Publication, RETRY, Scheme, Setting};
use crate::tcp::Tcp;
use crate::time::{Nanos, SECOND};
use weir_random::Random;

/// Dots that fill a request up to what a browser sends.
const FILLING: usize = 450;

/// What a request says of a scheme.
pub(crate) struct Request {
    query: &'static str,
    accept: &'static str,
}

/// One client of HTTP.
pub(crate) struct Web {
    setting: Setting,
    request: Request,
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

impl Request {
    /// The request of a scheme; none of one that has no HTTP.
    pub(crate) fn of(scheme: Scheme) -> Option<Self> {
        let (query, accept) = match scheme {
            Scheme::Polling(_) | Scheme::Adaptive => ("", "*/*"),
            Scheme::LongPolling => ("?wait=60", "*/*"),
            Scheme::Streaming => ("?stream", "*/*"),
            Scheme::Events => ("", "text/event-stream"),
            Scheme::Observe => return None,
        };
        Some(Self { query, accept })
    }

    fn text(&self) -> String {
        let Self { query, accept } = self;
        let dots = ".".repeat(FILLING);
        format!(
            "GET {PATH}{query} HTTP/1.1\r\nUser-Agent: {dots}\r\nHost: 10.9.0.2\r\nAccept: {accept}\r\n\r\n"
        )
    }
}

impl Web {
    /// A client of this number; it connects within the ramp.
    pub(crate) fn new(setting: Setting, request: Request, number: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let ramp = setting.ramp(&mut random);
        Self {
            setting,
            request,
            number: number as u16 % PORTS,
            refresh: Refresh::new(),
            tcp: Tcp::new(host(number), random.bits()),
            responses: Responses::default(),
            random,
            generation: 0,
            does: Does::Connects(ramp),
        }
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
            Scheme::Streaming | Scheme::Events | Scheme::Observe => self.does,
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
        self.tcp.send(self.request.text().as_bytes());
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
