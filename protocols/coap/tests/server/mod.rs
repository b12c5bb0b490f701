//! A server of a few resources on the machine, spoken to in bytes.
#![allow(dead_code, reason = "each test takes what it needs")]
#![allow(clippy::unwrap_used)]

use std::time::Duration;
use weir_coap::limits::Limits;
use weir_coap::session::{Arrival, Endpoint, Event, Incoming, ObservationId, Parameters};
use weir_coap::wire::{Code, Kind, Message, Number, Token, parse_datagram, write_datagram};
use weir_sansio::{Instant, Output};

/// A datagram that came back, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Back {
    pub(crate) peer: u32,
    pub(crate) kind: Kind,
    pub(crate) id: u16,
    pub(crate) message: Message,
}

pub(crate) struct Server {
    pub(crate) endpoint: Endpoint<u32>,
    pub(crate) now: Instant,
    pub(crate) arrival: Arrival,
    pub(crate) requests: Vec<Incoming<u32>>,
    pub(crate) observations: Vec<ObservationId>,
    pub(crate) ended: Vec<ObservationId>,
    /// Whether requests wait until the test answers them.
    pub(crate) waits: bool,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        Self {
            endpoint: Endpoint::new(Parameters::default(), limits, 7),
            now: Instant::START,
            arrival: Arrival::default(),
            requests: Vec::new(),
            observations: Vec::new(),
            ended: Vec::new(),
            waits: false,
        }
    }

    /// Sends a datagram of peer 1 and gives what comes back at once.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Vec<Back> {
        self.send_from(1, bytes)
    }

    pub(crate) fn send_from(&mut self, peer: u32, bytes: &[u8]) -> Vec<Back> {
        self.endpoint.receive(self.now, peer, self.arrival, bytes);
        self.collect()
    }

    /// Sends a message of peer 1.
    pub(crate) fn ask(&mut self, kind: Kind, id: u16, message: &Message) -> Vec<Back> {
        let mut bytes = Vec::new();
        write_datagram(kind, id, message, &mut bytes);
        self.send(&bytes)
    }

    /// Lets time pass and gives what is sent meanwhile.
    pub(crate) fn pass(&mut self, time: Duration) -> Vec<Back> {
        let until = self.now + time;
        let mut back = Vec::new();
        loop {
            back.extend(self.collect());
            let Output::Timeout(at) = self.endpoint.poll() else {
                continue;
            };
            if at > until {
                self.now = until;
                return back;
            }
            self.now = self.now.max(at);
            self.endpoint.timeout(self.now);
        }
    }

    pub(crate) fn collect(&mut self) -> Vec<Back> {
        let mut back = Vec::new();
        loop {
            match self.endpoint.poll() {
                Output::Transmit(datagram) => {
                    let read = parse_datagram(&datagram.bytes).unwrap();
                    back.push(Back {
                        peer: datagram.peer,
                        kind: read.kind,
                        id: read.id,
                        message: read.to_message(),
                    });
                }
                Output::Event(Event::Request(incoming)) => {
                    self.requests.push(incoming.clone());
                    if !self.waits {
                        self.answer(&incoming);
                    }
                }
                Output::Event(Event::Ended(id)) => self.ended.push(id),
                Output::Event(other) => panic!("{other:?}"),
                Output::Timeout(_) => return back,
            }
        }
    }

    /// Answers a request as its path says.
    pub(crate) fn answer(&mut self, incoming: &Incoming<u32>) {
        let path = weir_coap::wire::path_of(&incoming.message.options);
        let response = match path.as_str() {
            "/large" => Message::new(Code::CONTENT).with_payload(large()),
            "/none" => Message::new(Code::NOT_FOUND),
            _ => match incoming.message.code {
                Code::GET | Code::FETCH => Message::new(Code::CONTENT).with_payload("21.5"),
                _ => Message::new(Code::CHANGED),
            },
        };
        let now = self.now;
        let observed = self
            .endpoint
            .respond(now, incoming.exchange, response, true);
        self.observations.extend(observed);
    }
}

pub(crate) fn large() -> Vec<u8> {
    (0..3000u32).map(|byte| byte as u8).collect()
}

/// GET of a path, with a token.
pub(crate) fn get(path: &str) -> Message {
    request(Code::GET, path)
}

pub(crate) fn request(code: Code, path: &str) -> Message {
    let mut message = Message::new(code);
    message.token = Token::new(&[0xca, 0xfe]).unwrap();
    weir_coap::wire::set_path(&mut message.options, Number::URI_PATH, path).unwrap();
    message
}

/// GET of a path with Observe 0.
pub(crate) fn observe(path: &str) -> Message {
    let mut message = get(path);
    message.options.push_uint(Number::OBSERVE, 0);
    message
}

pub(crate) fn content(text: &'static str) -> Message {
    Message::new(Code::CONTENT).with_payload(text)
}

pub(crate) const ACK: Kind = Kind::Acknowledgement;
pub(crate) const CON: Kind = Kind::Confirmable;
pub(crate) const NON: Kind = Kind::NonConfirmable;
pub(crate) const RST: Kind = Kind::Reset;
