//! CoAP over UDP (RFC 7252): a request whose response is the echo, or a change whose notification is (RFC 7641).
//!
//! A gateway is given a value and then observed; what comes back of each further value is its notification. Any
//! other server answers PUT with what was put. Messages are made again to be sent again, and kept nowhere.

mod message;

use super::Micros;
use super::buffer::Buffer;
use super::order::{Name, Order};
use super::payload::Payload;
use super::talk::{Conversation, Fault, Progress, Random};
use message::{ACK, CON, Code, Message, NON, RST, Writer, number};

/// RFC 7252 section 4.8: ACK_TIMEOUT, and how much of it ACK_RANDOM_FACTOR may add.
const TIMEOUT: Micros = 2_000_000;
const TIMEOUT_SPREAD: Micros = 1_000_000;
/// MAX_RETRANSMIT.
const REPEATS_MAX: u32 = 4;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// To take a first value.
    Prepare,
    /// To be told of changes.
    Observe,
    /// To take the next value.
    Say,
}

/// A request that is not answered.
#[derive(Clone, Copy)]
struct Pending {
    asked: Asked,
    id: u16,
    payload: Payload,
    is_confirmable: bool,
    /// When it is sent again, after how long then, and how often more; nothing where it has arrived.
    again: Option<(Micros, Micros, u32)>,
}

/// A client's endpoint that knows one server.
pub(crate) struct Coap {
    order: Order,
    is_confirmable: bool,
    random: Random,
    /// Identifier of the last request, and its token.
    id: u16,
    pending: Option<Pending>,
    /// Identifier of the request to observe.
    observation: Option<u16>,
    payload: Option<Payload>,
    /// What the server wants to see again before it acts (RFC 9175 section 2.2).
    challenge: Option<Name>,
    progress: Progress,
    /// What is asked at the next look at the time.
    next: Option<Asked>,
}

impl Coap {
    pub(crate) fn new(order: Order, is_confirmable: bool, mut random: Random) -> Self {
        Self {
            order,
            is_confirmable,
            id: random.next() as u16,
            random,
            pending: None,
            observation: None,
            payload: None,
            challenge: None,
            progress: Progress::default(),
            next: None,
        }
    }

    fn ask(&mut self, now: Micros, asked: Asked, payload: Payload, out: &mut Buffer) {
        self.id = self.id.wrapping_add(1);
        let is_confirmable = self.is_confirmable || asked != Asked::Say;
        let timeout = TIMEOUT + Micros::from(self.random.next()) % TIMEOUT_SPREAD;
        let pending = Pending {
            asked,
            id: self.id,
            payload,
            is_confirmable,
            again: is_confirmable.then_some((now + timeout, 2 * timeout, REPEATS_MAX)),
        };
        if asked == Asked::Observe {
            self.observation = Some(self.id);
        }
        self.pending = Some(pending);
        self.write(&pending, out);
    }

    fn write(&self, pending: &Pending, out: &mut Buffer) {
        let kind = if pending.is_confirmable { CON } else { NON };
        let code = match pending.asked {
            Asked::Observe => Code::GET,
            _ if self.order.is_gateway => Code::POST,
            _ => Code::PUT,
        };
        let mut message = Writer::begin(kind, code, pending.id, &pending.id.to_be_bytes(), out);
        if pending.asked == Asked::Observe {
            message.option(number::OBSERVE, &[]);
        }
        for segment in self.order.target.bytes().split(|&byte| byte == b'/') {
            message.option(number::URI_PATH, segment);
        }
        // Text, whose number is 0, which is no bytes.
        match (self.order.is_gateway, pending.asked) {
            (false, _) => {}
            (true, Asked::Observe) => message.option(number::ACCEPT, &[]),
            (true, _) => message.option(number::CONTENT_FORMAT, &[]),
        }
        if let Some(challenge) = &self.challenge {
            message.option(number::ECHO, challenge.bytes());
        }
        if pending.asked != Asked::Observe {
            message.payload(pending.payload);
        }
    }

    fn answered(&mut self, asked: Asked, message: &Message<'_>) -> Result<(), Fault> {
        self.pending = None;
        match (asked, message.code.class()) {
            (_, 2) => {}
            (Asked::Prepare, 4) if message.echo.is_some() && self.challenge.is_none() => {
                self.challenge = message.echo.and_then(Name::of);
                self.next = Some(Asked::Prepare);
                return self.challenge.map(|_| ()).ok_or(Fault::Refused);
            }
            _ => return Err(Fault::Refused),
        }
        self.challenge = None;
        match asked {
            Asked::Prepare => self.next = Some(Asked::Observe),
            Asked::Observe if !message.is_notification => return Err(Fault::Refused),
            Asked::Observe => self.progress.is_open = true,
            Asked::Say => {
                self.progress.is_acknowledged = true;
                self.progress.is_echoed |= !self.order.is_gateway && self.is_echo(message);
            }
        }
        Ok(())
    }

    fn is_echo(&self, message: &Message<'_>) -> bool {
        self.payload
            .is_some_and(|payload| payload.is(message.payload))
    }

    /// A response or a notification, by its token.
    fn respond(&mut self, message: &Message<'_>) -> Result<(), Fault> {
        let is = |id: u16| message.token == id.to_be_bytes();
        if let Some(pending) = self.pending.filter(|pending| is(pending.id)) {
            return self.answered(pending.asked, message);
        }
        if self.observation.is_some_and(is) && self.is_echo(message) {
            self.progress.is_echoed = true;
        }
        Ok(())
    }
}

impl Conversation for Coap {
    fn open(&mut self, now: Micros, out: &mut Buffer) {
        match self.order.is_gateway {
            true => {
                let payload = Payload {
                    length: self.order.payload,
                    number: 0,
                };
                self.ask(now, Asked::Prepare, payload, out);
            }
            false => self.progress.is_open = true,
        }
    }

    fn hear(&mut self, heard: &[u8], out: &mut Buffer) -> Result<usize, Fault> {
        let Some(message) = Message::read(heard) else {
            return Ok(heard.len());
        };
        let is_own = self.pending.is_some_and(|it| it.id == message.id);
        match message.kind {
            RST if is_own => return Err(Fault::Refused),
            ACK if is_own => {
                if let Some(pending) = &mut self.pending {
                    pending.again = None;
                }
            }
            CON => message::acknowledge(message.id, out),
            _ => {}
        }
        if message.code.class() > 0 {
            self.respond(&message)?;
        }
        Ok(heard.len())
    }

    fn say(&mut self, now: Micros, payload: Payload, out: &mut Buffer) {
        self.payload = Some(payload);
        self.progress.is_echoed = false;
        self.progress.is_acknowledged = false;
        self.ask(now, Asked::Say, payload, out);
    }

    fn tick(&mut self, now: Micros, out: &mut Buffer) {
        if let Some(asked) = self.next.take() {
            let payload = Payload {
                length: self.order.payload,
                number: 0,
            };
            return self.ask(now, asked, payload, out);
        }
        let Some(pending) = &mut self.pending else {
            return;
        };
        match pending.again {
            Some((at, timeout, repeats @ 1..)) if at <= now => {
                pending.again = Some((now + timeout, 2 * timeout, repeats - 1));
                let pending = *pending;
                self.write(&pending, out);
            }
            _ => {}
        }
    }

    fn progress(&self) -> Progress {
        self.progress
    }
}

#[cfg(test)]
mod tests;
