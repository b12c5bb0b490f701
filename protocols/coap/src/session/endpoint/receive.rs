//! What comes in: messages, duplicates, requests (RFC 7252 sections 4 and 5).

use super::super::assemblies::{self, Assembled};
use super::super::bodies::{self, Cut};
use super::super::event::{Event, Incoming};
use super::super::ids::{Address, ExchangeId};
use super::super::peers::Purpose;
use super::super::seen::State;
use super::asks::Asks;
use super::timers::Timer;
use super::{Arrival, Endpoint, Exchange};
use crate::limits::{ACK_DELAY, VERIFIED_TIME};
use crate::wire::{
    Block, Code, Datagram, Kind, Message, Number, Refusal, Token, Unreadable, check_request,
    parse_datagram,
};
use core::time::Duration;
use weir_sansio::Instant;

impl<A: Address> Endpoint<A> {
    /// Takes a datagram.
    pub fn receive(&mut self, now: Instant, peer: A, arrival: Arrival, bytes: &[u8]) {
        self.settle();
        match parse_datagram(bytes) {
            Err(unreadable) => self.unreadable(peer, arrival, unreadable),
            Ok(datagram) => match datagram.kind {
                Kind::Confirmable | Kind::NonConfirmable => {
                    self.message(now, peer, arrival, datagram, bytes.len());
                }
                Kind::Acknowledgement if !arrival.multicast => {
                    self.acknowledged(now, peer, datagram)
                }
                Kind::Reset if !arrival.multicast => self.reset(now, peer, datagram),
                _ => {}
            },
        }
    }

    /// A message format error: a confirmable message is rejected, all else is not answered.
    // [RFC7252-4.2-3] [RFC7252-4.3-2] [RFC7252-3-2] [RFC7252-4.2-11] [RFC7252-8.1-4]
    fn unreadable(&mut self, peer: A, arrival: Arrival, unreadable: Unreadable) {
        if let (Some((Kind::Confirmable, id)), false) = (unreadable.header, arrival.multicast) {
            self.send_empty(peer, Kind::Reset, id);
        }
    }

    fn message(
        &mut self,
        now: Instant,
        peer: A,
        arrival: Arrival,
        datagram: Datagram<'_>,
        bytes: usize,
    ) {
        let confirmable = datagram.kind == Kind::Confirmable;
        // [RFC7252-8.1-1]
        if arrival.multicast && (confirmable || !datagram.code.is_request()) {
            return;
        }
        if self.is_duplicate(now, peer, &datagram) {
            return;
        }
        if datagram.code.is_request() {
            let remembered = !is_harmless(&datagram);
            if remembered {
                self.remember(now, peer, &datagram);
            }
            return self.request_arrived(now, peer, arrival, datagram, bytes, remembered);
        }
        if datagram.code.is_response() {
            self.remember(now, peer, &datagram);
            return self.response_arrived(now, peer, datagram);
        }
        // Empty, or of a reserved class: a ping is answered so, too (RFC 7252 section 4.3).
        // [RFC7252-4.2-2] [RFC7252-4.3-1]
        if confirmable {
            self.send_empty(peer, Kind::Reset, datagram.id);
        }
    }

    fn remember(&mut self, now: Instant, peer: A, datagram: &Datagram<'_>) {
        let time = match datagram.kind {
            Kind::Confirmable => self.parameters.exchange_lifetime(),
            _ => self.parameters.non_lifetime(),
        };
        self.know(now, peer, datagram.id, datagram.token, time);
    }

    fn know(&mut self, now: Instant, peer: A, id: u16, token: Token, time: Duration) {
        self.seen.add(now, peer, id, token, time);
        self.seen.shrink(self.limits.seen, self.limits.seen_bytes);
        self.sweep_later(now);
    }

    /// A request that was not answered at once: acknowledged after a while, its duplicates are known.
    pub(super) fn settle(&mut self) {
        let Some(number) = self.unsettled.take() else {
            return;
        };
        let Some(exchange) = self.exchanges.get_mut(number) else {
            return;
        };
        exchange.settled = true;
        let remembered = core::mem::replace(&mut exchange.remembered, true);
        let (peer, id, token, due) = (exchange.peer, exchange.id, exchange.token, exchange.due);
        if exchange.confirmable {
            self.timers.insert((due, Timer::Acknowledge(number)));
        }
        if !remembered {
            self.know(due, peer, id, token, self.parameters.exchange_lifetime());
        }
        self.seen.open(peer, id, number);
    }

    /// A confirmable duplicate is answered as the first was, or acknowledged where that has no answer
    /// yet; one that is not confirmable is passed over.
    // [RFC7252-4.5-1] [RFC7252-4.5-2] [RFC7252-4.2-14]
    fn is_duplicate(&mut self, now: Instant, peer: A, datagram: &Datagram<'_>) -> bool {
        let found = self.seen.find(now, peer, datagram.id, datagram.token);
        let Some(state) = found.cloned() else {
            return false;
        };
        if datagram.kind == Kind::Confirmable {
            match state {
                State::Answered(bytes) => self.send(peer, bytes),
                State::Open(exchange) => self.acknowledge(exchange),
                State::Silent => {}
            }
        }
        true
    }

    // [RFC7252-5.3.1-4] [RFC7252-5.4.1-5]
    fn request_arrived(
        &mut self,
        now: Instant,
        peer: A,
        arrival: Arrival,
        datagram: Datagram<'_>,
        bytes: usize,
        remembered: bool,
    ) {
        let confirmable = datagram.kind == Kind::Confirmable;
        let checked = check_request(&datagram.options);
        let mut exchange = Exchange {
            peer,
            id: datagram.id,
            token: datagram.token,
            code: datagram.code,
            confirmable,
            acknowledged: false,
            settled: false,
            remembered,
            arrival,
            bytes,
            options: Default::default(),
            block1: None,
            asked: None,
            wants_size: false,
            observe: false,
            unwanted: None,
            due: now + ACK_DELAY,
        };
        let options = match checked {
            Ok(options) => options,
            // [RFC7252-5.4.1-3]
            Err(Refusal::Option(_)) if !confirmable => return,
            Err(refusal) => {
                let code = match refusal {
                    Refusal::Option(_) => Code::BAD_OPTION,
                    Refusal::Proxy(_) => Code::PROXYING_NOT_SUPPORTED,
                };
                let answer = Message::diagnostic(code, &alloc::format!("{refusal}"));
                return self.answer(now, exchange, answer);
            }
        };
        exchange.options = options;
        let payload = bytes::Bytes::copy_from_slice(datagram.payload);
        let message = Message {
            code: datagram.code,
            token: datagram.token,
            options: exchange.options.clone(),
            payload,
        };
        match self.admit(now, &mut exchange, message) {
            Err(answer) => self.answer(now, exchange, answer),
            Ok(message) => self.hand_up(now, exchange, message),
        }
    }

    /// Takes what is meant for this layer out of a request; an error is its answer.
    // [RFC8768-3-1]
    fn admit(
        &mut self,
        now: Instant,
        exchange: &mut Exchange<A>,
        message: Message,
    ) -> Result<Message, Message> {
        let asks = Asks::of(&message.options);
        exchange.unwanted = asks.unwanted;
        exchange.asked = asks.block2;
        exchange.block1 = asks.block1;
        exchange.wants_size = asks.size2 == Some(0);
        // [RFC7252-5.8-1]
        if message.code.method().is_none() {
            let reason = alloc::format!("there is no method {}", message.code);
            return Err(Message::diagnostic(Code::METHOD_NOT_ALLOWED, &reason));
        }
        if asks.hop_limit == Some(0) {
            let reason = "Hop-Limit is 1 to 255";
            return Err(Message::diagnostic(Code::BAD_REQUEST, reason));
        }
        // [RFC7959-2.2-3]
        let reserved =
            |block: Option<Block>| block.is_some_and(|block| block.exponent == Block::BERT);
        if reserved(exchange.asked) || reserved(exchange.block1) {
            let reason = "a block size exponent of 7 is reserved";
            return Err(Message::diagnostic(Code::BAD_REQUEST, reason));
        }
        if asks.echo {
            self.take_echo(now, exchange, &message);
        }
        self.take_observe(now, exchange, asks.observe)?;
        if asks.is_in_blocks {
            self.take_blocks(now, exchange, message)
        } else {
            Ok(message)
        }
    }

    fn take_echo(&mut self, now: Instant, exchange: &Exchange<A>, message: &Message) {
        let Some(value) = message.options.first(Number::ECHO) else {
            return;
        };
        if exchange.arrival.untrusted && self.challenger.is_fresh(now, exchange.peer, value) {
            let until = now + VERIFIED_TIME;
            self.peers
                .verify(now, exchange.peer, until, &mut self.random);
            self.peers.shrink(&self.limits);
            self.sweep_later(now);
        }
    }

    /// Registers on the way back, ends an observation now (RFC 7641 section 2).
    // [RFC7641-2-1] [RFC7641-2-2] [RFC7641-3.6-1] [RFC7641-2-3] [RFC7641-7-2]
    fn take_observe(
        &mut self,
        now: Instant,
        exchange: &mut Exchange<A>,
        observe: Option<u32>,
    ) -> Result<(), Message> {
        if !matches!(exchange.code, Code::GET | Code::FETCH) || exchange.arrival.multicast {
            return Ok(());
        }
        match observe {
            Some(0) => {
                let known = self.peers.is_verified(now, exchange.peer);
                if exchange.arrival.untrusted && !known {
                    return Err(self.challenge(now, exchange.peer));
                }
                exchange.observe = true;
            }
            Some(1) => {
                if let Some((id, observation)) = self.observers.take(exchange.peer, exchange.token)
                {
                    self.forget_flight(now, &observation);
                    self.events.push_back(Event::Ended(id));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// 4.01 with something to send back (RFC 9175 section 2.3).
    pub(super) fn challenge(&self, now: Instant, peer: A) -> Message {
        let mut message = Message::new(Code::UNAUTHORIZED);
        let value = self.challenger.challenge(now, peer);
        message.options.push(Number::ECHO, &value);
        message
    }

    /// Puts bodies together, and answers for further blocks of bodies that are kept.
    // [RFC7959-2.7-1]
    fn take_blocks(
        &mut self,
        now: Instant,
        exchange: &mut Exchange<A>,
        mut message: Message,
    ) -> Result<Message, Message> {
        if let Some(block) = exchange.block1 {
            let key = assemblies::key_of(exchange.peer, exchange.code, &exchange.options);
            let taken = self
                .assemblies
                .take(now, key, block, &message, &self.limits);
            match taken {
                Assembled::Answer(answer) => {
                    if answer.code != Code::CONTINUE {
                        exchange.block1 = None;
                    }
                    return Err(answer);
                }
                Assembled::Whole(body) => message.payload = body,
            }
        }
        if let Some(asked) = exchange.asked.filter(|block| block.number > 0) {
            let key = bodies::key_of(exchange.peer, exchange.code, &exchange.options);
            let cut = Cut::of_datagrams(None, exchange.wants_size, self.parameters.block_exponent);
            if let Some(answer) = self.bodies.further(now, &key, asked, cut) {
                return Err(answer);
            }
            // What is asked again is not done again (RFC 7959 section 3.3).
            if !matches!(message.code, Code::GET | Code::FETCH) && exchange.block1.is_none() {
                let reason = "the answer whose block is asked for is not here any more";
                return Err(Message::diagnostic(Code::REQUEST_ENTITY_INCOMPLETE, reason));
            }
        }
        for number in [Number::BLOCK1, Number::BLOCK2, Number::SIZE1] {
            message.options.remove(number);
        }
        Ok(message)
    }

    fn hand_up(&mut self, now: Instant, exchange: Exchange<A>, message: Message) {
        // [RFC7252-5.9.3.4-1]
        if self.exchanges.len() >= self.limits.exchanges {
            let reason = "too many requests wait: try again";
            let mut answer = Message::diagnostic(Code::SERVICE_UNAVAILABLE, reason);
            answer.options.push_uint(Number::MAX_AGE, 1);
            return self.answer(now, exchange, answer);
        }
        let (peer, observe) = (exchange.peer, exchange.observe);
        let multicast = exchange.arrival.multicast;
        let number = self.exchanges.insert(exchange);
        self.unsettled = Some(number);
        self.events.push_back(Event::Request(Incoming {
            exchange: ExchangeId(number),
            peer,
            message,
            multicast,
            observe,
        }));
    }

    /// An acknowledgement: of a request, with or without its response, or of what was sent unasked.
    // [RFC7252-4.2-4] [RFC7252-5.2.1-1] [RFC7252-4.2-10] [RFC7252-5.2.2-6]
    fn acknowledged(&mut self, now: Instant, peer: A, datagram: Datagram<'_>) {
        let carries = datagram.code.is_response();
        if datagram.code != Code::EMPTY && !carries {
            return;
        }
        let Some(flight) = self.peers.acknowledged(peer, datagram.id) else {
            return;
        };
        self.timers
            .remove(&(flight.due, Timer::Retransmit(peer, datagram.id)));
        self.peers.measure(now, peer, &flight);
        match flight.purpose {
            Purpose::Call(call) if carries => self.response_to(now, peer, call, &datagram),
            Purpose::Call(_) | Purpose::Response => {}
            Purpose::Notification(id) => {
                if let Some(observation) = self.observers.of(id) {
                    observation.note_confirmed(now);
                }
                self.tell(now, id);
            }
        }
        self.next_waiting(now, peer);
    }

    /// A reset: of a request, or of a notification, which ends its observation.
    // [RFC7641-4.2-1] [RFC7252-4.2-4] [RFC7252-4.2-10] [RFC7252-5.2.2-6]
    fn reset(&mut self, now: Instant, peer: A, datagram: Datagram<'_>) {
        if datagram.code != Code::EMPTY {
            return;
        }
        let Some(flight) = self.peers.land(peer, datagram.id) else {
            if let Some(id) = self.observers.of_message(peer, datagram.id) {
                self.end_observation(now, id);
            }
            return;
        };
        self.timers
            .remove(&(flight.due, Timer::Retransmit(peer, datagram.id)));
        match flight.purpose {
            Purpose::Call(call) => self.fail(call, super::super::Failure::Reset),
            Purpose::Response => {}
            Purpose::Notification(id) => self.end_observation(now, id),
        }
        self.next_waiting(now, peer);
    }
}

/// Says whether a request may be answered again as often as it comes: it changes nothing, so its answer
/// need not be kept (RFC 7252 section 4.5). What is observed, or is not answered at once, is remembered.
// [RFC7252-4.5-3] [RFC7641-4.1-4]
fn is_harmless(datagram: &Datagram<'_>) -> bool {
    let reads = datagram.kind == Kind::Confirmable && datagram.code == Code::GET;
    let mut options = datagram.options.iter();
    reads && !options.any(|option| matches!(option.number, Number::OBSERVE | Number::BLOCK1))
}
