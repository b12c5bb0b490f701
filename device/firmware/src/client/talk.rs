//! A conversation with a server: what is said to open it, what of it is an echo, and when an exchange is over.

use super::Micros;
use super::buffer::Buffer;
use super::coap::Coap;
use super::mqtt::Mqtt;
use super::order::{Order, Protocol};
use super::payload::Payload;
use super::websocket::WebSocket;

/// Why a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server closed it, or never opened it.
    Closed,
    /// It said nothing for too long.
    Silent,
    /// It refused what it was asked.
    Refused,
    /// It said what the protocol does not have.
    Malformed,
    /// A message is longer than the client has room for.
    TooLong,
}

impl Fault {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Closed => "the server closed the connection",
            Self::Silent => "the server was silent for too long",
            Self::Refused => "the server refused",
            Self::Malformed => "the server said what the protocol does not have",
            Self::TooLong => "a message of the server is too long",
        }
    }
}

/// A protocol's end.
pub(crate) trait Conversation {
    /// Says what opens it, once it is connected.
    fn open(&mut self, now: Micros, out: &mut Buffer);
    /// Reads a message, by datagrams the only one; how many bytes it took, none where it is not whole.
    fn hear(&mut self, heard: &[u8], out: &mut Buffer) -> Result<usize, Fault>;
    /// Says a payload.
    fn say(&mut self, now: Micros, payload: Payload, out: &mut Buffer);
    /// Says again what was lost.
    fn tick(&mut self, _now: Micros, _out: &mut Buffer) {}
    /// Where it is.
    fn progress(&self) -> Progress;
}

/// What of an exchange has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The conversation is open.
    pub(crate) is_open: bool,
    /// The payload has come back.
    pub(crate) is_echoed: bool,
    /// All that the protocol promises is acknowledged.
    pub(crate) is_acknowledged: bool,
}

/// A conversation of any protocol.
pub(crate) enum Talk {
    Coap(Coap),
    WebSocket(WebSocket),
    Mqtt(Mqtt),
}

impl Talk {
    pub(crate) fn new(order: Order, random: Random) -> Self {
        match order.protocol {
            Protocol::Coap(confirmable) => Self::Coap(Coap::new(order, confirmable, random)),
            Protocol::WebSocket => Self::WebSocket(WebSocket::new(order, random)),
            Protocol::Mqtt(qos) => Self::Mqtt(Mqtt::new(order, qos)),
        }
    }

    pub(crate) fn get(&mut self) -> &mut dyn Conversation {
        match self {
            Self::Coap(coap) => coap,
            Self::WebSocket(websocket) => websocket,
            Self::Mqtt(mqtt) => mqtt,
        }
    }
}

/// What nobody guesses who does not listen (xorshift, Marsaglia 2003); not 0.
#[derive(Clone, Copy)]
pub(crate) struct Random(u32);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self((seed >> 32) as u32 ^ seed as u32 | 1)
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}
