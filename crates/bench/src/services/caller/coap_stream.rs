//! CoAP over TCP, in the clear or by TLS (RFC 8323): the machine of our protocol on a counted connection.

use std::collections::{BTreeMap, VecDeque};

use weir_coap::limits::Limits;
use weir_coap::session::{CallId, Connection, Event};
use weir_coap::wire::{Framing, Message};
use weir_sansio::{Output, Session};

use super::coap_udp::{body, now, request};
use super::wire::Wire;
use super::{Caller, Ended, Number, Service};
use crate::clock::now_ns;
use crate::link_efficiency::traffic::Traffic;

/// A connection and the calls on it.
pub(super) struct CoapStream {
    wire: Wire,
    machine: Connection,
    request: Message,
    calls: BTreeMap<CallId, Number>,
    ended: VecDeque<Ended>,
}

impl CoapStream {
    pub(super) fn open(service: &Service<'_>, put: bool) -> Result<Self, String> {
        Ok(Self {
            wire: Wire::open(service, "coap")?,
            machine: Connection::new(Framing::Stream, Limits::default(), now_ns()),
            request: request(service.path, put)?,
            calls: BTreeMap::new(),
            ended: VecDeque::new(),
        })
    }

    /// Sends what is due and takes what was told.
    fn turn(&mut self) -> Result<(), String> {
        let mut out = Vec::new();
        loop {
            match self.machine.poll_output() {
                Output::Transmit(bytes) => out.extend_from_slice(&bytes),
                Output::Event(event) => self.take(&event)?,
                Output::Timeout(_) => break,
            }
        }
        match out.is_empty() {
            true => Ok(()),
            false => self.wire.send(&out),
        }
    }

    fn take(&mut self, event: &Event<()>) -> Result<(), String> {
        let ended = match event {
            Event::Response(call, (), answer) => match self.calls.remove(call) {
                Some(number) => Some(Ended::Answered(number, body(answer)?)),
                None => None,
            },
            Event::Failed(call, _) => self.calls.remove(call).map(Ended::Lost),
            _ => None,
        };
        self.ended.extend(ended);
        Ok(())
    }
}

impl Caller for CoapStream {
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String> {
        let request = self.request.clone().with_payload(message.to_vec());
        let call = self.machine.request(request);
        self.calls
            .insert(call.ok_or("too many requests are under way")?, number);
        self.turn()
    }

    fn next(&mut self) -> Result<Ended, String> {
        loop {
            self.turn()?;
            if let Some(ended) = self.ended.pop_front() {
                return Ok(ended);
            }
            self.wire.receive()?;
            let input = std::mem::take(&mut self.wire.input);
            let taken = self.machine.handle_input(now(), &input);
            taken.map_err(|fault| fault.to_string())?;
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        self.wire.traffic()
    }
}
