//! Requests of ours: sent, matched with their responses, observed (RFC 7252 section 5.3, RFC 7641
//! section 3).

use super::super::calls::{Call, Carriage, Failure, Step};
use super::super::event::Event;
use super::super::ids::{Address, CallId};
use super::super::peers::{Flight, Purpose, Waiting};
use super::Endpoint;
use super::timers::Timer;
use crate::wire::{Block, Datagram, Kind, Message, Number, Token, check_response};
use core::time::Duration;
use weir_sansio::Instant;

/// A request of ours that is under way.
#[derive(Clone, Debug)]
pub(super) struct Underway<A> {
    peer: A,
    call: Call,
    confirmable: bool,
    multicast: bool,
    /// The observation whose notification's rest this fetches.
    rest_of: Option<CallId>,
    in_flight: Option<u16>,
    due: Instant,
}

/// Tokens of observations that were given up and are still known.
const FORGOTTEN_MAX: usize = 256;
/// How much later than stale an observation is registered again, at least (RFC 7641 section 3.3.1).
const LATE: Duration = Duration::from_secs(5);

impl<A: Address> Endpoint<A> {
    /// Sends a request; a body goes in blocks where it is large. With Observe 0, notifications follow.
    pub fn request(
        &mut self,
        now: Instant,
        peer: A,
        message: Message,
        confirmable: bool,
    ) -> Option<CallId> {
        self.start(now, peer, message, confirmable, false)
    }

    /// Asks a group: not confirmable, every answer is told, until time runs out (RFC 7252 section 8.1).
    // [RFC7252-8.1-3]
    pub fn request_group(&mut self, now: Instant, group: A, message: Message) -> Option<CallId> {
        self.start(now, group, message, false, true)
    }

    fn start(
        &mut self,
        now: Instant,
        peer: A,
        message: Message,
        confirmable: bool,
        multicast: bool,
    ) -> Option<CallId> {
        if self.calls.len() >= self.limits.calls {
            return None;
        }
        let exponent = self.parameters.block_exponent;
        let carriage = Carriage {
            exponent,
            whole_bytes: Block::at(0, exponent).size(),
            ordered: false,
        };
        let token = self.fresh_token();
        let mut call = Call::new(message, token, carriage);
        if call.is_sending() && self.calls.values().any(|other| other.call.is_sending()) {
            call.set_tag(self.random.next() as u32);
        }
        let id = CallId(self.fresh());
        let underway = Underway {
            peer,
            call,
            confirmable,
            multicast,
            rest_of: None,
            in_flight: None,
            due: Instant::NEVER,
        };
        self.tokens.insert(token, id);
        self.calls.insert(id, underway);
        self.send_call(now, id);
        Some(id)
    }

    /// A token that no other request has, and that nobody can guess (RFC 7252 section 5.3.1).
    // [RFC7252-5.3.1-2] [RFC7252-5.3.1-3]
    fn fresh_token(&mut self) -> Token {
        loop {
            let bytes = self.random.next().to_be_bytes();
            let token = Token::new(&bytes[..4]).unwrap_or_default();
            if !self.tokens.contains_key(&token) {
                return token;
            }
        }
    }

    /// Sends a request's next message.
    pub(super) fn send_call(&mut self, now: Instant, id: CallId) {
        let Some(underway) = self.calls.get(&id) else {
            return;
        };
        let (message, peer, confirmable) =
            (underway.call.message(), underway.peer, underway.confirmable);
        let underway_of_group = underway.multicast;
        let wait = self.parameters.exchange_lifetime();
        self.set_due(id, now + wait);
        if confirmable {
            return self.send_confirmable(now, peer, Purpose::Call(id), message);
        }
        if underway_of_group {
            let message_id = self.peers.next_id(now, peer, &mut self.random);
            self.peers.shrink(&self.limits);
            let bytes = self.written(Kind::NonConfirmable, message_id, &message);
            self.send(peer, bytes);
            return self.sweep_later(now);
        }
        self.probe(now, peer, id, message);
    }

    /// Sends a request that is not confirmable. It is under way until it is answered or as long as
    /// PROBING_RATE has it, and others wait meanwhile (RFC 7252 section 4.7).
    // [RFC7252-4.7-1] [RFC7252-4.7-3]
    fn probe(&mut self, now: Instant, peer: A, id: CallId, message: Message) {
        let purpose = Purpose::Call(id);
        if !self.peers.is_free(peer, &self.parameters) {
            let waiting = Waiting::Message(purpose, message);
            if !self.peers.wait(peer, waiting, &self.limits) {
                self.fail(id, Failure::TimedOut);
            }
            return;
        }
        let message_id = self.peers.next_id(now, peer, &mut self.random);
        self.peers.shrink(&self.limits);
        let bytes = self.written(Kind::NonConfirmable, message_id, &message);
        let timeout = self.parameters.probing_time(bytes.len());
        let flight = Flight {
            purpose,
            bytes: bytes.clone(),
            confirmable: false,
            attempts: 0,
            timeout,
            sent: now,
            due: now + timeout,
        };
        self.timers
            .insert((flight.due, Timer::Retransmit(peer, message_id)));
        self.peers.launch(now, peer, message_id, flight);
        self.note_call_sent(id, Some(message_id));
        self.send(peer, bytes);
        self.sweep_later(now);
    }

    /// Says whether a request goes in messages that are acknowledged.
    pub(super) fn is_confirmable(&self, id: CallId) -> bool {
        let underway = self.calls.get(&id);
        underway.is_some_and(|underway| underway.confirmable)
    }

    pub(super) fn note_call_sent(&mut self, id: CallId, message_id: Option<u16>) {
        if let Some(underway) = self.calls.get_mut(&id) {
            underway.in_flight = message_id;
        }
    }

    /// When a request is given up, or an observation is registered again.
    fn set_due(&mut self, id: CallId, due: Instant) {
        if let Some(underway) = self.calls.get_mut(&id) {
            self.timers.remove(&(underway.due, Timer::Call(id)));
            underway.due = due;
            self.timers.insert((due, Timer::Call(id)));
        }
    }

    /// A request's time is up.
    // [RFC7252-4.7-2]
    pub(super) fn call_due(&mut self, now: Instant, id: CallId) {
        let Some(underway) = self.calls.get_mut(&id) else {
            return;
        };
        if underway.multicast {
            return self.drop_call(id);
        }
        if !underway.call.observes || underway.in_flight.is_some() {
            let peer = underway.peer;
            self.fail(id, Failure::TimedOut);
            return self.next_waiting(now, peer);
        }
        underway.call.again();
        self.send_call(now, id);
    }

    /// A response in a message of its own.
    // [RFC7252-5.3.2-1] [RFC7252-4.2-1] [RFC7252-4.3-3] [RFC7641-3.5-1] [RFC7252-4.5-4]
    // [RFC7252-5.2.1-3] [RFC7252-5.2.2-5] [RFC7252-5.2.3-2] [RFC7252-5.3.2-4] [RFC7252-8.2-5]
    pub(super) fn response_arrived(&mut self, now: Instant, peer: A, datagram: Datagram<'_>) {
        let call = self.tokens.get(&datagram.token).copied();
        let call = call.filter(|id| {
            let underway = self.calls.get(id);
            underway.is_some_and(|underway| underway.multicast || underway.peer == peer)
        });
        let confirmable = datagram.kind == Kind::Confirmable;
        let Some(call) = call else {
            if confirmable || self.forgotten.contains(&datagram.token) {
                let bytes = self.send_empty(peer, Kind::Reset, datagram.id);
                self.seen.answer(peer, datagram.id, bytes);
            }
            return;
        };
        if confirmable {
            let bytes = self.send_empty(peer, Kind::Acknowledgement, datagram.id);
            self.seen.answer(peer, datagram.id, bytes);
        }
        self.response_to(now, peer, call, &datagram);
        self.next_waiting(now, peer);
    }

    /// The response to a request; it acknowledges the request too (RFC 7252 section 5.2.2).
    // [RFC7252-5.2.2-3] [RFC7252-5.4.1-4] [RFC7252-4.2-15] [RFC7252-5.3.2-3]
    pub(super) fn response_to(
        &mut self,
        now: Instant,
        peer: A,
        id: CallId,
        datagram: &Datagram<'_>,
    ) {
        let Some(underway) = self.calls.get_mut(&id) else {
            return;
        };
        if underway.call.token != datagram.token {
            return;
        }
        if let Some(message_id) = underway.in_flight.take()
            && let Some(flight) = self.peers.land(peer, message_id)
        {
            let timer = Timer::Retransmit(peer, message_id);
            self.timers.remove(&(flight.due, timer));
        }
        let Ok(options) = check_response(&datagram.options) else {
            return self.fail(id, Failure::Misbehaved);
        };
        let response = Message {
            options,
            ..datagram.to_message()
        };
        if underway.multicast {
            return self.events.push_back(Event::Response(id, peer, response));
        }
        let step = underway.call.take(now, response, &self.limits);
        self.step(now, id, step);
    }

    fn step(&mut self, now: Instant, id: CallId, step: Step) {
        match step {
            Step::Send => {
                self.renew_token(id);
                self.send_call(now, id);
            }
            Step::Ignored => {}
            Step::Failed(failure) => self.fail(id, failure),
            Step::Done(message) => self.done(id, message),
            Step::Notified(message) => {
                self.register_again_later(now, id, &message);
                self.events.push_back(Event::Notification(id, message));
            }
            Step::Fetch(message) => {
                self.register_again_later(now, id, &message);
                self.fetch_rest(now, id, message);
            }
        }
    }

    /// Each further request has a token of its own; an observation keeps its.
    fn renew_token(&mut self, id: CallId) {
        let observes = |underway: &Underway<A>| underway.call.observes;
        if self.calls.get(&id).is_none_or(observes) {
            return;
        }
        let token = self.fresh_token();
        if let Some(underway) = self.calls.get_mut(&id) {
            self.tokens.remove(&underway.call.token);
            underway.call.token = token;
            self.tokens.insert(token, id);
        }
    }

    /// Where nothing came for as long as the representation is fresh, and a little more.
    // [RFC7641-3.3.1-1] [RFC7252-5.4.4-2]
    fn register_again_later(&mut self, now: Instant, id: CallId, message: &Message) {
        let fresh = message.options.uint(Number::MAX_AGE).unwrap_or(60);
        let late = LATE + Duration::from_millis(self.random.below(10_000));
        let due = now + Duration::from_secs(u64::from(fresh)) + late;
        self.set_due(id, due);
    }

    fn fetch_rest(&mut self, now: Instant, id: CallId, first: Message) {
        let token = self.fresh_token();
        let Some(underway) = self.calls.get(&id) else {
            return;
        };
        let rest = Underway {
            call: underway.call.rest_of(token, first),
            rest_of: Some(id),
            in_flight: None,
            due: Instant::NEVER,
            ..underway.clone()
        };
        let fetching = |other: &Underway<A>| other.rest_of == Some(id);
        let older: alloc::vec::Vec<_> = self
            .calls
            .iter()
            .filter(|(_, other)| fetching(other))
            .map(|(id, _)| *id)
            .collect();
        older.into_iter().for_each(|older| self.drop_call(older));
        let rest_id = CallId(self.fresh());
        self.tokens.insert(token, rest_id);
        self.calls.insert(rest_id, rest);
        self.send_call(now, rest_id);
    }

    fn done(&mut self, id: CallId, message: Message) {
        let Some(underway) = self.calls.get(&id) else {
            return;
        };
        let (peer, rest_of) = (underway.peer, underway.rest_of);
        self.drop_call(id);
        // An error instead of a notification's rest is left to the next notification.
        if rest_of.is_some() && !message.code.is_success() {
            return;
        }
        let event = match rest_of {
            None => Event::Response(id, peer, message),
            Some(observation) => match self.calls.get(&observation) {
                Some(known) if known.call.observes => Event::Notification(observation, message),
                Some(_) => {
                    self.drop_call(observation);
                    Event::Response(observation, peer, message)
                }
                None => return,
            },
        };
        self.events.push_back(event);
    }

    pub(super) fn fail(&mut self, id: CallId, failure: Failure) {
        let Some(underway) = self.calls.get(&id) else {
            return;
        };
        // What came of a notification was not all; the next one tells more.
        let silent = underway.rest_of.is_some();
        self.drop_call(id);
        if !silent {
            self.events.push_back(Event::Failed(id, failure));
        }
    }

    fn drop_call(&mut self, id: CallId) {
        if let Some(gone) = self.calls.remove(&id) {
            self.tokens.remove(&gone.call.token);
            self.timers.remove(&(gone.due, Timer::Call(id)));
            if let Some(message_id) = gone.in_flight
                && let Some(flight) = self.peers.land(gone.peer, message_id)
            {
                let timer = Timer::Retransmit(gone.peer, message_id);
                self.timers.remove(&(flight.due, timer));
            }
        }
    }

    /// Gives a request up. The peer of an observation is told, and what it sends nevertheless is
    /// rejected (RFC 7641 section 3.6).
    // [RFC7641-3.6-2]
    pub fn cancel(&mut self, now: Instant, id: CallId) {
        let Some(underway) = self.calls.get(&id) else {
            return;
        };
        let (peer, observes) = (underway.peer, underway.call.observes);
        let farewell = underway.call.deregistration();
        self.drop_call(id);
        if observes {
            self.forgotten.push_back(farewell.token);
            if self.forgotten.len() > FORGOTTEN_MAX {
                self.forgotten.pop_front();
            }
            let message_id = self.peers.next_id(now, peer, &mut self.random);
            let bytes = self.written(Kind::NonConfirmable, message_id, &farewell);
            self.send(peer, bytes);
        }
        self.next_waiting(now, peer);
    }
}
