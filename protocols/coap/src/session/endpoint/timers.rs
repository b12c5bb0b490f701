//! What happens when nothing else does: sending again, giving up, forgetting.

use super::super::calls::Failure;
use super::super::ids::{Address, CallId, ObservationId};
use super::super::peers::{Purpose, Waiting};
use super::Endpoint;
use crate::limits::SWEEP_TIME;
use weir_sansio::Instant;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer<A> {
    /// A confirmable message is sent again or given up.
    Retransmit(A, u16),
    /// A request is acknowledged before its answer.
    Acknowledge(u64),
    /// An answer to a group leaves.
    Send(u64),
    /// A request of ours is given up.
    Call(CallId),
    /// A notification that was held back leaves.
    Notify(ObservationId),
    /// What is too old is forgotten.
    Sweep,
}

impl<A: Address> Endpoint<A> {
    /// Does what is due.
    pub fn timeout(&mut self, now: Instant) {
        self.settle();
        while let Some(&(at, timer)) = self.timers.first() {
            if at > now {
                return;
            }
            self.timers.remove(&(at, timer));
            match timer {
                Timer::Retransmit(peer, id) => self.retransmit(now, peer, id),
                Timer::Acknowledge(number) => self.acknowledge(number),
                Timer::Send(number) => {
                    let datagram = self.delayed.remove(&number);
                    self.out.extend(datagram);
                }
                Timer::Call(id) => self.call_due(now, id),
                Timer::Notify(id) => self.tell(now, id),
                Timer::Sweep => self.sweep(now),
            }
        }
    }

    /// Twice as long as before, so many times (RFC 7252 section 4.2).
    // [RFC7252-4.2-6] [RFC7252-4.2-7] [RFC7252-4.2-13]
    fn retransmit(&mut self, now: Instant, peer: A, id: u16) {
        let Some(mut flight) = self.peers.land(peer, id) else {
            return;
        };
        if !flight.confirmable {
            if let Purpose::Call(call) = flight.purpose {
                self.note_call_sent(call, None);
            }
            return self.next_waiting(now, peer);
        }
        let attempts = flight.attempts + 1;
        if attempts > self.parameters.retransmit_max {
            self.given_up(now, flight.purpose);
            return self.next_waiting(now, peer);
        }
        if let Purpose::Notification(observation) = flight.purpose
            && self
                .observers
                .of(observation)
                .is_some_and(|known| known.pending.is_some())
        {
            return self.renew(now, observation, flight, attempts);
        }
        flight.attempts = attempts;
        flight.timeout *= 2;
        flight.due = now + flight.timeout;
        self.timers
            .insert((flight.due, Timer::Retransmit(peer, id)));
        let bytes = flight.bytes.clone();
        self.peers.launch(now, peer, id, flight);
        self.send(peer, bytes);
    }

    // [RFC7641-4.5-3]
    fn given_up(&mut self, now: Instant, purpose: Purpose) {
        match purpose {
            Purpose::Call(call) => self.fail(call, Failure::TimedOut),
            Purpose::Response => {}
            Purpose::Notification(id) => self.end_observation(now, id),
        }
    }

    /// Sends what waited for a peer to acknowledge what was sent before.
    pub(super) fn next_waiting(&mut self, now: Instant, peer: A) {
        while let Some(waiting) = self.peers.next_waiting(peer, &self.parameters) {
            match waiting {
                Waiting::Message(Purpose::Call(call), _) if !self.calls.contains_key(&call) => {}
                Waiting::Message(Purpose::Call(call), _) if !self.is_confirmable(call) => {
                    self.send_call(now, call);
                }
                Waiting::Message(purpose, message) => {
                    self.send_confirmable(now, peer, purpose, message);
                }
                Waiting::Notification(id) => {
                    if let Some(observation) = self.observers.of(id) {
                        observation.queued = false;
                    }
                    self.tell(now, id);
                }
            }
        }
    }

    /// Looks later for what is too old, as long as something is kept.
    pub(super) fn sweep_later(&mut self, now: Instant) {
        if !self.sweeps {
            self.sweeps = true;
            self.timers.insert((now + SWEEP_TIME, Timer::Sweep));
        }
    }

    fn sweep(&mut self, now: Instant) {
        self.seen.expire(now);
        self.assemblies.expire(now);
        self.bodies.expire(now);
        self.peers.expire(now, self.parameters.exchange_lifetime());
        self.sweeps = false;
        let empty = self.seen.is_empty()
            && self.assemblies.is_empty()
            && self.bodies.is_empty()
            && self.peers.len() == 0;
        if !empty {
            self.sweep_later(now);
        }
    }
}
