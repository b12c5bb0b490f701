//! A client that observes by CoAP (RFC 7641).
//!
//! Its machine is the gateway's ([`weir_coap`]), which has no line in common with the board's; its datagrams are
//! smoltcp's. It asks for confirmation, so that every notification is acknowledged; it registers again 5 to 15 s
//! after the last one is no longer fresh (section 3.3.1), and a second after a registration failed. What it
//! deliberately does not do: fill its request, since no client of CoAP sends a browser's headers.

use crate::addresses::{PORTS, host};
use crate::board::PATH;
use crate::datagram;
use crate::setting::{RETRY, Setting};
use crate::time::Nanos;
use std::collections::VecDeque;
use weir_coap::limits::Limits;
use weir_coap::session::{Arrival, CallId, Endpoint, Event, Parameters};
use weir_coap::wire::{Code, Message, Number, set_path};
use weir_random::Random;
use weir_sansio::{Instant, Output};

/// The value of Observe that registers.
const REGISTERS: u32 = 0;

/// One client of CoAP.
pub(crate) struct Observer {
    host: [u8; 4],
    port: u16,
    endpoint: Endpoint<()>,
    does: Does,
    registrations: u64,
    /// When the endpoint wants to be called.
    due: Nanos,
    /// What waits for room in the host's queue.
    waiting: VecDeque<Vec<u8>>,
    leaving: Vec<Vec<u8>>,
}

/// What it does.
enum Does {
    /// Registers at this time.
    Registers(Nanos),
    /// Observes, or waits for the answer to its registration.
    Observes(CallId),
    /// Nothing any more.
    Rests,
}

impl Observer {
    /// A client of this number; it registers within the ramp.
    pub(crate) fn new(setting: &Setting, number: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let ramp = setting.ramp(&mut random);
        Self {
            host: host(number),
            port: PORTS * 4 + number as u16 % PORTS,
            endpoint: Endpoint::new(Parameters::default(), Limits::default(), random.bits()),
            does: Does::Registers(ramp),
            registrations: 0,
            due: Nanos::MAX,
            waiting: VecDeque::new(),
            leaving: Vec::new(),
        }
    }

    /// Takes a packet, if there is one, and the time; what it hears.
    pub(crate) fn poll(
        &mut self,
        now: Nanos,
        packet: Option<&[u8]>,
        has_room: bool,
    ) -> Vec<String> {
        let at = Instant::from_nanos(now);
        if let Some(message) = packet.and_then(datagram::read) {
            self.endpoint.receive(at, (), Arrival::default(), message);
        }
        self.endpoint.timeout(at);
        if matches!(self.does, Does::Registers(due) if due <= now) {
            self.register(at);
        }
        let values = self.take(now);
        if has_room {
            self.leaving.extend(self.waiting.drain(..));
        }
        values
    }

    fn register(&mut self, at: Instant) {
        let mut request = Message::new(Code::GET);
        request.options.push_uint(Number::OBSERVE, REGISTERS);
        // The path is one.
        let _is_path = set_path(&mut request.options, Number::URI_PATH, PATH);
        if let Some(call) = self.endpoint.request(at, (), request, true) {
            self.registrations += 1;
            self.does = Does::Observes(call);
        }
    }

    /// Takes all that the endpoint has to send and to tell.
    fn take(&mut self, now: Nanos) -> Vec<String> {
        let mut values = Vec::new();
        loop {
            match self.endpoint.poll() {
                Output::Transmit(message) => {
                    let packet = datagram::write(self.host, self.port, &message.bytes);
                    self.waiting.push_back(packet);
                }
                Output::Event(Event::Notification(_, message)) => values.extend(value(&message)),
                // It is refused, or was not answered.
                Output::Event(Event::Response(..) | Event::Failed(..)) => {
                    self.does = Does::Registers(now + RETRY);
                }
                Output::Event(_) => {}
                Output::Timeout(at) => {
                    self.due = at.nanos();
                    return values;
                }
            }
        }
    }

    pub(crate) fn leaving(&mut self) -> std::vec::Drain<'_, Vec<u8>> {
        self.leaving.drain(..)
    }

    /// Leaves, and says so.
    pub(crate) fn leave(&mut self, now: Nanos) {
        if let Does::Observes(call) = std::mem::replace(&mut self.does, Does::Rests) {
            self.endpoint.cancel(Instant::from_nanos(now), call);
            self.take(now);
        }
        self.leaving.extend(self.waiting.drain(..));
    }

    /// How often it had to begin anew.
    pub(crate) fn broken(&self) -> u64 {
        self.registrations.saturating_sub(1)
    }

    /// When it wants to be polled; now, where it is held back.
    pub(crate) fn deadline(&self, now: Nanos) -> Nanos {
        match self.does {
            _ if !self.waiting.is_empty() => now,
            Does::Registers(at) => at.min(self.due),
            Does::Observes(_) | Does::Rests => self.due,
        }
    }
}

/// What was published; nothing was, where a topic is observed before.
fn value(message: &Message) -> Option<String> {
    let text = String::from_utf8_lossy(&message.payload);
    (!text.is_empty()).then(|| text.into_owned())
}
