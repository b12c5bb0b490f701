//! What is known of peers, and confirmable messages on their way to them (RFC 7252 sections 4.2, 4.7).
//!
//! What it deliberately does not do: know a peer that was only ever answered. A stranger's datagram
//! makes nothing here; what is sent unasked does.

use super::ids::{Address, CallId, ObservationId};
use super::parameters::Parameters;
use super::random::Random;
use super::recent::Recent;
use crate::limits::Limits;
use crate::wire::Message;
use alloc::collections::{BTreeMap, VecDeque};
use bytes::Bytes;
use weir_sansio::{Duration, Instant};

/// What a confirmable message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A request of ours.
    Call(CallId),
    /// A response that is not in an acknowledgement.
    Response,
    /// A notification.
    Notification(ObservationId),
}

/// What waits until a peer acknowledged what was sent before.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    /// A message.
    Message(Purpose, Message),
    /// Whatever this observer is to be told by then.
    Notification(ObservationId),
}

/// A confirmable message that is not acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) purpose: Purpose,
    pub(super) bytes: Bytes,
    /// Whether it is sent again; one that is not is only held against what may be on its way.
    pub(super) confirmable: bool,
    /// How often it was sent again.
    pub(super) attempts: u8,
    pub(super) timeout: Duration,
    /// When it was sent first.
    pub(super) sent: Instant,
    /// When it is sent again or given up.
    pub(super) due: Instant,
}

#[derive(Clone, Debug)]
struct Peer {
    next_id: u16,
    in_flight: u16,
    waiting: VecDeque<Waiting>,
    round_trip: Option<Duration>,
    verified_until: Instant,
}

#[derive(Clone, Debug)]
pub(super) struct Peers<A> {
    recent: Recent<A, Peer>,
    flights: BTreeMap<(A, u16), Flight>,
}

impl<A: Address> Peers<A> {
    pub(super) fn new() -> Self {
        Self {
            recent: Recent::new(),
            flights: BTreeMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.recent.len()
    }

    fn of(&mut self, now: Instant, peer: A, random: &mut Random) -> Option<&mut Peer> {
        if self.recent.peek(&peer).is_none() {
            let known = Peer {
                next_id: random.next() as u16,
                in_flight: 0,
                waiting: VecDeque::new(),
                round_trip: None,
                verified_until: Instant::START,
            };
            self.recent.put(now, peer, known, 0);
        }
        self.recent.touch(now, &peer)
    }

    /// The next Message ID to this peer: in turn, from a start that nobody can guess.
    // [RFC7252-4.4-1] [RFC7252-4.4-2]
    pub(super) fn next_id(&mut self, now: Instant, peer: A, random: &mut Random) -> u16 {
        let Some(known) = self.of(now, peer, random) else {
            return random.next() as u16;
        };
        let id = known.next_id;
        known.next_id = id.wrapping_add(1);
        id
    }

    /// Forgets who was silent longest where too many are known.
    pub(super) fn shrink(&mut self, limits: &Limits) {
        self.recent.shrink(limits.peers, usize::MAX);
    }

    /// Forgets who was silent for so long, but whom something is on its way to.
    pub(super) fn expire(&mut self, now: Instant, age: Duration) {
        self.recent.expire(now, age);
    }

    /// Says whether another confirmable message may be sent to this peer.
    // [RFC7252-4.7-1]
    pub(super) fn is_free(&self, peer: A, parameters: &Parameters) -> bool {
        let known = self.recent.peek(&peer);
        known.is_none_or(|known| known.in_flight < parameters.nstart)
    }

    /// Has something wait until the peer is free; says whether there was room.
    pub(super) fn wait(&mut self, peer: A, waiting: Waiting, limits: &Limits) -> bool {
        let Some(known) = self.recent.peek_mut(&peer) else {
            return false;
        };
        if known.waiting.len() >= limits.waiting_a_peer {
            return false;
        }
        known.waiting.push_back(waiting);
        true
    }

    /// What waits longest for this peer, if it is free.
    pub(super) fn next_waiting(&mut self, peer: A, parameters: &Parameters) -> Option<Waiting> {
        if !self.is_free(peer, parameters) {
            return None;
        }
        self.recent.peek_mut(&peer)?.waiting.pop_front()
    }

    /// Notes a confirmable message that was sent.
    pub(super) fn launch(&mut self, now: Instant, peer: A, id: u16, flight: Flight) {
        if let Some(known) = self.recent.touch(now, &peer) {
            known.in_flight += 1;
        }
        self.flights.insert((peer, id), flight);
    }

    /// Takes a message off its flight: acknowledged, rejected, given up or replaced.
    pub(super) fn land(&mut self, peer: A, id: u16) -> Option<Flight> {
        let flight = self.flights.remove(&(peer, id))?;
        if let Some(known) = self.recent.peek_mut(&peer) {
            known.in_flight = known.in_flight.saturating_sub(1);
        }
        Some(flight)
    }

    /// The same where an acknowledgement came: none belongs to what is not confirmable.
    // [RFC7252-4.4-3]
    pub(super) fn acknowledged(&mut self, peer: A, id: u16) -> Option<Flight> {
        let flight = self.flights.get(&(peer, id))?;
        flight.confirmable.then(|| self.land(peer, id))?
    }

    /// Learns how long a round trip takes, from messages that were sent once (Karn's rule).
    pub(super) fn measure(&mut self, now: Instant, peer: A, flight: &Flight) {
        if flight.attempts > 0 {
            return;
        }
        let measured = now.since(flight.sent);
        if let Some(known) = self.recent.touch(now, &peer) {
            let before = known.round_trip.unwrap_or(measured);
            known.round_trip = Some((before * 7 + measured) / 8);
        }
    }

    pub(super) fn round_trip(&self, peer: A) -> Option<Duration> {
        self.recent.peek(&peer)?.round_trip
    }

    /// Notes that an address is its sender's own.
    pub(super) fn verify(&mut self, now: Instant, peer: A, until: Instant, random: &mut Random) {
        if let Some(known) = self.of(now, peer, random) {
            known.verified_until = until;
        }
    }

    /// Says whether an address is known to be its sender's own.
    pub(super) fn is_verified(&self, now: Instant, peer: A) -> bool {
        let known = self.recent.peek(&peer);
        known.is_some_and(|known| now < known.verified_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [RFC7252-4.4-1] [RFC7252-4.4-2]
    #[test]
    fn message_ids_go_up_from_a_start_of_each_peers_own() {
        let now = Instant::START;
        let mut random = Random::new(3);
        let mut peers = Peers::new();
        let first = peers.next_id(now, 1, &mut random);
        let other = peers.next_id(now, 2, &mut random);
        assert_ne!(first, other);
        assert_eq!(peers.next_id(now, 1, &mut random), first.wrapping_add(1));
    }

    #[test]
    fn who_was_silent_longest_is_forgotten() {
        let mut random = Random::new(3);
        let mut peers = Peers::new();
        let limits = Limits {
            peers: 10,
            ..Limits::default()
        };
        for peer in 0..1000u64 {
            peers.next_id(Instant::from_nanos(peer), peer, &mut random);
            peers.shrink(&limits);
        }
        assert_eq!(peers.len(), 10);
        assert!(peers.recent.peek(&999).is_some());
    }
}
