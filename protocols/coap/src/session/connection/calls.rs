//! Requests of ours over a connection: matched by their tokens, observed, fetched in blocks.

use super::super::calls::Failure;
use super::super::calls::{Call, Carriage, Step};
use super::super::event::Event;
use super::super::ids::CallId;
use super::{ALWAYS_FITS, Connection, raw_of};
use crate::wire::{Block, Message, Token, check_response};
use weir_sansio::Instant;

impl Connection {
    /// Sends a request; a body goes in blocks where it is larger than the peer takes.
    pub fn request(&mut self, message: Message) -> Option<CallId> {
        if self.calls.len() >= self.limits.calls || self.released {
            return None;
        }
        let large = message.payload.len() > ALWAYS_FITS;
        let token = self.fresh_token();
        let carriage = Carriage {
            exponent: Block::LARGEST,
            whole_bytes: self.whole_bytes(),
            ordered: true,
        };
        let id = CallId(self.fresh());
        self.tokens.insert(token, id);
        self.calls.insert(id, Call::new(message, token, carriage));
        if large && self.peer.is_none() {
            self.held.push(id)
        } else {
            self.send_call(id)
        }
        Some(id)
    }

    fn fresh_token(&mut self) -> Token {
        loop {
            let bytes = self.random.next().to_be_bytes();
            let token = Token::new(&bytes[..4]).unwrap_or_default();
            if !self.tokens.contains_key(&token) {
                return token;
            }
        }
    }

    pub(super) fn send_call(&mut self, id: CallId) {
        if let Some(message) = self.calls.get(&id).map(Call::message) {
            self.send(&message);
        }
    }

    // [RFC8323-3.3-2]
    pub(super) fn response_arrived(&mut self, now: Instant, message: Message) {
        let Some(&id) = self.tokens.get(&message.token) else {
            return;
        };
        let Some(call) = self.calls.get_mut(&id) else {
            return;
        };
        let Ok(options) = check_response(&raw_of(&message)) else {
            return self.over(id, Event::Failed(id, Failure::Misbehaved));
        };
        match call.take(now, Message { options, ..message }, &self.limits) {
            Step::Send => self.send_call(id),
            Step::Ignored => {}
            Step::Failed(failure) => self.failed(id, failure),
            Step::Done(message) => self.done(id, message),
            Step::Notified(message) => self.events.push_back(Event::Notification(id, message)),
            Step::Fetch(first) => self.fetch_rest(id, first),
        }
    }

    /// Asks for what follows a notification's first block, in a request of its own; an older
    /// notification's rest is worth nothing then (RFC 7959 section 2.6).
    // [RFC7959-2.6-1]
    fn fetch_rest(&mut self, id: CallId, first: Message) {
        self.forget_rest(id);
        let token = self.fresh_token();
        let Some(call) = self.calls.get(&id) else {
            return;
        };
        let rest = call.rest_of(token, first);
        let rest_id = CallId(self.fresh());
        self.tokens.insert(token, rest_id);
        self.calls.insert(rest_id, rest);
        self.rests.insert(rest_id, id);
        self.send_call(rest_id);
    }

    fn forget_rest(&mut self, observation: CallId) {
        let mut rests = self.rests.iter();
        let rest = rests.find(|(_, of)| **of == observation);
        if let Some(rest) = rest.map(|(rest, _)| *rest) {
            self.forget_call(rest);
        }
    }

    fn forget_call(&mut self, id: CallId) {
        self.rests.remove(&id);
        if let Some(call) = self.calls.remove(&id) {
            self.tokens.remove(&call.token);
        }
    }

    fn done(&mut self, id: CallId, message: Message) {
        let Some(observation) = self.rests.get(&id).copied() else {
            return self.over(id, Event::Response(id, (), message));
        };
        self.forget_call(id);
        if !message.code.is_success() {
            return;
        }
        match self.calls.get(&observation) {
            Some(known) if known.observes => {
                let told = Event::Notification(observation, message);
                self.events.push_back(told);
            }
            _ => self.over(observation, Event::Response(observation, (), message)),
        }
    }

    fn failed(&mut self, id: CallId, failure: Failure) {
        // What came of a notification was not all; the next one tells more.
        if self.rests.contains_key(&id) {
            self.forget_call(id)
        } else {
            self.over(id, Event::Failed(id, failure))
        }
    }

    fn over(&mut self, id: CallId, event: Event<()>) {
        self.forget_call(id);
        self.events.push_back(event);
    }

    /// Gives a request up; the peer of an observation is told.
    pub fn cancel(&mut self, id: CallId) {
        self.forget_rest(id);
        if let Some(call) = self.calls.remove(&id) {
            self.tokens.remove(&call.token);
            if call.observes {
                self.send(&call.deregistration());
            }
        }
    }
}
