//! What goes back: in the acknowledgement, by itself, later to a group, or not at all
//! (RFC 7252 sections 5.2 and 8.2, RFC 7967).

use super::super::bodies::{self, Cut};
use super::super::event::Outgoing;
use super::super::ids::{Address, ExchangeId, ObservationId};
use super::super::observers::Registration;
use super::super::peers::{Flight, Purpose, Waiting};
use super::timers::Timer;
use super::{Endpoint, Exchange};
use crate::wire::{Code, Kind, Message, Number};
use weir_sansio::Instant;

/// An answer to an address that may be forged is at most so many times the request (RFC 9175 section
/// 2.6).
const AMPLIFICATION_MAX: usize = 3;

impl<A: Address> Endpoint<A> {
    /// Answers a request; where `observe` is set and the peer asked for it, it is told what follows by
    /// [`Endpoint::notify`].
    pub fn respond(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        mut response: Message,
        observe: bool,
    ) -> Option<ObservationId> {
        let number = exchange.0;
        let mut exchange = self.exchanges.remove(number)?;
        if exchange.settled {
            let timer = Timer::Acknowledge(number);
            self.timers.remove(&(exchange.due, timer));
        }
        let registered = self.register(now, &exchange, &response, observe);
        if let Some(id) = registered
            && let Some(observation) = self.observers.of(id)
        {
            let number = observation.next_sequence(now);
            response.options.set_uint(Number::OBSERVE, number);
        }
        exchange.observe = false;
        self.answer(now, exchange, response);
        registered
    }

    // [RFC7641-4.1-1] [RFC7641-4.1-3]
    fn register(
        &mut self,
        now: Instant,
        exchange: &Exchange<A>,
        response: &Message,
        observe: bool,
    ) -> Option<ObservationId> {
        let room = || {
            self.observers
                .has_room(exchange.peer, exchange.token, &self.limits)
        };
        if !exchange.observe || !observe || !response.code.is_success() || !room() {
            if exchange.observe {
                let old = self.observers.take(exchange.peer, exchange.token);
                self.ended(now, old);
            }
            return None;
        }
        let registration = Registration {
            peer: exchange.peer,
            token: exchange.token,
            confirmable: exchange.confirmable,
            code: exchange.code,
            options: exchange.options.clone(),
            asked: exchange.asked,
        };
        let (id, replaced) = self.observers.add(now, registration);
        self.ended(now, replaced);
        Some(id)
    }

    /// Sends the answer to a request, cut to a block where it is large.
    // [RFC7959-2.3-3]
    pub(super) fn answer(&mut self, now: Instant, exchange: Exchange<A>, mut response: Message) {
        response.token = exchange.token;
        if let Some(block) = exchange.block1
            && response.options.first(Number::BLOCK1).is_none()
            && !matches!(response.code, Code::REQUEST_ENTITY_INCOMPLETE)
        {
            response.options.push_uint(Number::BLOCK1, block.value());
        }
        let is_block = response.options.first(Number::BLOCK2).is_some();
        if !is_block {
            response = self.cut(now, &exchange, response);
            response.token = exchange.token;
        }
        if is_unwanted(&exchange, &response) {
            return self.stay_silent(exchange);
        }
        self.leave(now, exchange, response);
    }

    fn cut(&mut self, now: Instant, exchange: &Exchange<A>, response: Message) -> Message {
        let asked = exchange.asked.filter(|_| response.code.is_success());
        let cut = Cut::of_datagrams(asked, exchange.wants_size, self.parameters.block_exponent);
        let key = || bodies::key_of(exchange.peer, exchange.code, &exchange.options);
        let sent = self.bodies.cut(now, key, cut, response, &self.limits);
        if !self.bodies.is_empty() {
            self.sweep_later(now);
        }
        sent
    }

    /// Nothing is sent but the acknowledgement that a confirmable request must have (RFC 7967 section
    /// 2.1).
    // [RFC7967-2.1-1]
    fn stay_silent(&mut self, exchange: Exchange<A>) {
        if exchange.confirmable && !exchange.acknowledged {
            let bytes = self.send_empty(exchange.peer, Kind::Acknowledgement, exchange.id);
            self.keep_answer(&exchange, &bytes);
        }
    }

    fn keep_answer(&mut self, exchange: &Exchange<A>, bytes: &bytes::Bytes) {
        if exchange.remembered {
            self.seen.answer(exchange.peer, exchange.id, bytes.clone());
        }
    }

    // [RFC7252-5.2.1-2] [RFC7252-5.2.2-1] [RFC7252-5.2.3-1] [RFC7252-5.3.1-1] [RFC7252-4.2-8]
    // [RFC7252-4.3-4] [RFC7252-5.2.2-4] [RFC7252-8.2-2] [RFC7252-11.3-2]
    fn leave(&mut self, now: Instant, exchange: Exchange<A>, mut response: Message) {
        let peer = exchange.peer;
        if exchange.confirmable && !exchange.acknowledged {
            let mut bytes = self.written(Kind::Acknowledgement, exchange.id, &response);
            if self.is_too_much(now, &exchange, bytes.len()) {
                response = self.challenge(now, peer);
                response.token = exchange.token;
                bytes = self.written(Kind::Acknowledgement, exchange.id, &response);
            }
            self.keep_answer(&exchange, &bytes);
            return self.send(peer, bytes);
        }
        if self.is_too_much(now, &exchange, response.payload.len()) {
            response = self.challenge(now, peer);
            response.token = exchange.token;
        }
        if exchange.confirmable {
            return self.send_confirmable(now, peer, Purpose::Response, response);
        }
        let id = self.peers.next_id(now, peer, &mut self.random);
        self.peers.shrink(&self.limits);
        let bytes = self.written(Kind::NonConfirmable, id, &response);
        if exchange.arrival.multicast {
            self.send_at_leisure(now, Outgoing { peer, bytes })
        } else {
            self.send(peer, bytes)
        }
    }

    /// Answers to a group are spread over time (RFC 7252 section 8.2).
    // [RFC7252-8.2-1]
    fn send_at_leisure(&mut self, now: Instant, datagram: Outgoing<A>) {
        if self.delayed.len() >= self.limits.exchanges {
            return;
        }
        let nanos = self.parameters.leisure.as_nanos() as u64;
        let wait = core::time::Duration::from_nanos(self.random.below(nanos));
        let number = self.fresh();
        self.delayed.insert(number, datagram);
        self.timers.insert((now + wait, Timer::Send(number)));
    }

    // [RFC7252-4.7-4] [RFC7252-11.3-1] [RFC9175-2.6-1]
    fn is_too_much(&self, now: Instant, exchange: &Exchange<A>, bytes: usize) -> bool {
        exchange.arrival.untrusted
            && bytes > AMPLIFICATION_MAX * exchange.bytes
            && !self.peers.is_verified(now, exchange.peer)
    }

    /// Acknowledges a request whose answer takes longer.
    // [RFC7252-5.2.2-2]
    pub(super) fn acknowledge(&mut self, number: u64) {
        let Some(exchange) = self.exchanges.get_mut(number) else {
            return;
        };
        exchange.acknowledged = true;
        let (peer, id, due) = (exchange.peer, exchange.id, exchange.due);
        self.timers.remove(&(due, Timer::Acknowledge(number)));
        let bytes = self.send_empty(peer, Kind::Acknowledgement, id);
        self.seen.answer(peer, id, bytes);
    }

    /// Sends a confirmable message, now or when what was sent before is acknowledged.
    // [RFC7252-4.2-12]
    pub(super) fn send_confirmable(
        &mut self,
        now: Instant,
        peer: A,
        purpose: Purpose,
        message: Message,
    ) {
        if !self.peers.is_free(peer, &self.parameters) {
            let waiting = Waiting::Message(purpose, message);
            if !self.peers.wait(peer, waiting, &self.limits)
                && let Purpose::Call(call) = purpose
            {
                self.fail(call, super::super::Failure::TimedOut);
            }
            return;
        }
        let id = self.peers.next_id(now, peer, &mut self.random);
        self.peers.shrink(&self.limits);
        let bytes = self.written(Kind::Confirmable, id, &message);
        let timeout = self.parameters.first_timeout(&mut self.random);
        let flight = Flight {
            purpose,
            bytes: bytes.clone(),
            confirmable: true,
            attempts: 0,
            timeout,
            sent: now,
            due: now + timeout,
        };
        self.timers
            .insert((flight.due, Timer::Retransmit(peer, id)));
        self.peers.launch(now, peer, id, flight);
        self.note_left(purpose, id, true);
        self.send(peer, bytes);
        self.sweep_later(now);
    }

    /// Notes by which Message ID a request or a notification went.
    pub(super) fn note_left(&mut self, purpose: Purpose, id: u16, confirmable: bool) {
        match purpose {
            Purpose::Call(call) => self.note_call_sent(call, confirmable.then_some(id)),
            Purpose::Notification(observation) => {
                if let Some(observation) = self.observers.of(observation) {
                    observation.note_sent(id, confirmable);
                }
            }
            Purpose::Response => {}
        }
    }
}

/// Errors are not sent to who asked a group, nor that there is nothing, nor what a peer said it does not
/// want (RFC 7252 sections 8.1 and 8.2, RFC 6690 section 4.1, RFC 7967 section 2).
// [RFC7252-8.1-2] [RFC7252-8.2-4] [RFC6690-4-2] [RFC7967-2-1]
fn is_unwanted<A>(exchange: &Exchange<A>, response: &Message) -> bool {
    let code = response.code;
    let nothing = !code.is_success() || response.payload.is_empty();
    match exchange.unwanted {
        Some(classes) => classes >> (code.class().saturating_sub(1)) & 1 == 1,
        None => exchange.arrival.multicast && nothing,
    }
}
