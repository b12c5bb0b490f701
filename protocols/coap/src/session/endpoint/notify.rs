//! Notifications: told when they may leave, replaced while they may not (RFC 7641 section 4).

use super::super::bodies::{self, Cut};
use super::super::event::Event;
use super::super::ids::{Address, ObservationId};
use super::super::observers::Observation;
use super::super::peers::{Flight, Purpose, Waiting};
use super::Endpoint;
use super::timers::Timer;
use crate::wire::{Kind, Message, Number};
use weir_sansio::Instant;

impl<A: Address> Endpoint<A> {
    /// Tells an observer what the resource is now; an error is the last it hears.
    // [RFC7641-4.2-2] [RFC7641-4.5.2-1] [RFC7641-4.5-4]
    pub fn notify(&mut self, now: Instant, id: ObservationId, message: Message) {
        let Some(observation) = self.observers.of(id) else {
            return;
        };
        observation.pending = Some(message);
        let in_turn = observation.queued && !self.peers.is_free(observation.peer, &self.parameters);
        if observation.in_flight.is_none() && !in_turn {
            self.tell(now, id);
        }
    }

    /// Ends an observation without a word to its peer.
    pub fn end_observation(&mut self, now: Instant, id: ObservationId) {
        let gone = self.observers.remove(id).map(|gone| (id, gone));
        self.ended(now, gone);
    }

    pub(super) fn ended(&mut self, now: Instant, gone: Option<(ObservationId, Observation<A>)>) {
        if let Some((id, observation)) = gone {
            self.forget_flight(now, &observation);
            self.events.push_back(Event::Ended(id));
        }
    }

    /// A notification on its way is not sent again once nobody waits for it.
    pub(super) fn forget_flight(&mut self, now: Instant, observation: &Observation<A>) {
        let Some(id) = observation.in_flight else {
            return;
        };
        if let Some(flight) = self.peers.land(observation.peer, id) {
            let timer = Timer::Retransmit(observation.peer, id);
            self.timers.remove(&(flight.due, timer));
            self.next_waiting(now, observation.peer);
        }
    }

    /// Sends what an observer is to be told, where it may leave now.
    pub(super) fn tell(&mut self, now: Instant, id: ObservationId) {
        let Some(observation) = self.observers.of(id) else {
            return;
        };
        if observation.pending.is_none() || observation.in_flight.is_some() {
            return;
        }
        let peer = observation.peer;
        if observation.wants_confirmation(now) {
            if !self.peers.is_free(peer, &self.parameters) {
                observation.queued = true;
                if !self
                    .peers
                    .wait(peer, Waiting::Notification(id), &self.limits)
                {
                    self.end_observation(now, id);
                }
                return;
            }
        } else {
            let leaves = observation.may_leave(now, self.peers.round_trip(peer));
            if leaves > now {
                self.timers.insert((leaves, Timer::Notify(id)));
                return;
            }
        }
        self.send_notification(now, id);
    }

    fn send_notification(&mut self, now: Instant, id: ObservationId) {
        let Some(observation) = self.observers.of(id) else {
            return;
        };
        let confirmable = observation.wants_confirmation(now);
        let peer = observation.peer;
        let Some((message, last)) = self.notification(now, id) else {
            return;
        };
        let purpose = if last {
            Purpose::Response
        } else {
            Purpose::Notification(id)
        };
        if last {
            self.observers.remove(id);
            self.events.push_back(Event::Ended(id));
        }
        if confirmable {
            return self.send_confirmable(now, peer, purpose, message);
        }
        let message_id = self.peers.next_id(now, peer, &mut self.random);
        self.peers.shrink(&self.limits);
        let bytes = self.written(Kind::NonConfirmable, message_id, &message);
        self.note_left(purpose, message_id, false);
        self.send(peer, bytes);
        self.sweep_later(now);
    }

    /// The next notification, and whether it is the last: an error carries no Observe option.
    // [RFC7641-4.2-3] [RFC7641-4.2-4] [RFC7641-3.2-2] [RFC7959-2.6-1]
    fn notification(&mut self, now: Instant, id: ObservationId) -> Option<(Message, bool)> {
        let exponent = self.parameters.block_exponent;
        let observation = self.observers.of(id)?;
        let mut message = observation.pending.take()?;
        let last = !message.code.is_success();
        message.token = observation.token;
        if !last {
            let number = observation.next_sequence(now);
            message.options.set_uint(Number::OBSERVE, number);
        }
        let cut = Cut::of_datagrams(observation.asked, false, exponent);
        let key = || bodies::key_of(observation.peer, observation.code, &observation.options);
        let message = self.bodies.cut(now, key, cut, message, &self.limits);
        Some((message, last))
    }

    /// Instead of an old notification the newest is sent again, as another message that goes on
    /// counting (RFC 7641 section 4.5.2).
    // [RFC7641-4.5.2-2] [RFC7641-4.5.2-3]
    pub(super) fn renew(&mut self, now: Instant, id: ObservationId, old: Flight, attempts: u8) {
        let Some(peer) = self.observers.of(id).map(|observation| observation.peer) else {
            return;
        };
        let Some((message, last)) = self.notification(now, id) else {
            return;
        };
        let message_id = self.peers.next_id(now, peer, &mut self.random);
        let bytes = self.written(Kind::Confirmable, message_id, &message);
        let timeout = old.timeout * 2;
        let purpose = if last {
            Purpose::Response
        } else {
            Purpose::Notification(id)
        };
        let flight = Flight {
            purpose,
            bytes: bytes.clone(),
            attempts,
            timeout,
            due: now + timeout,
            ..old
        };
        self.timers
            .insert((flight.due, Timer::Retransmit(peer, message_id)));
        self.peers.launch(now, peer, message_id, flight);
        self.note_left(purpose, message_id, true);
        if last {
            self.observers.remove(id);
            self.events.push_back(Event::Ended(id));
        }
        self.send(peer, bytes);
    }
}
