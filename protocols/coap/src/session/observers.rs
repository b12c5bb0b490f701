//! Who observes what, and what of it was told (RFC 7641 section 4).
//!
//! What it deliberately does not do: queue. A notification that cannot leave yet is replaced by the
//! next one (RFC 7641 section 4.5.2), so an observer holds one at most.

use super::ids::{Address, ObservationId};
use crate::limits::{
    Limits, NOTIFICATION_BURST, NOTIFICATION_SPACE, UNCONFIRMED_MAX, UNCONFIRMED_TIME_MAX,
};
use crate::wire::{Block, Code, Message, Options, Token};
use alloc::collections::BTreeMap;
use weir_sansio::{Duration, Instant};

/// Message IDs of the last notifications that a reset may name.
const IDS_KEPT: usize = 8;

/// One observation.
#[derive(Clone, Debug)]
pub(super) struct Observation<A> {
    pub(super) peer: A,
    pub(super) token: Token,
    /// Whether it was asked for in a confirmable message; then so are its notifications.
    pub(super) confirmable: bool,
    /// Code and options of the request, by which further blocks are asked for.
    pub(super) code: Code,
    pub(super) options: Options,
    pub(super) asked: Option<Block>,
    /// The Message ID of the notification that waits to be acknowledged.
    pub(super) in_flight: Option<u16>,
    /// What is to be told next.
    pub(super) pending: Option<Message>,
    /// Whether it stands in its peer's queue.
    pub(super) queued: bool,
    sequence: u32,
    ids: [u16; IDS_KEPT],
    sent: usize,
    unconfirmed: u8,
    confirmed_at: Instant,
    credit: u32,
    credit_at: Instant,
}

impl<A: Address> Observation<A> {
    /// The next number: the time where that is ahead, so that numbers grow over a restart too
    /// (RFC 7641 section 4.4).
    // [RFC7641-4.4-1] [RFC7641-4.4-2]
    pub(super) fn next_sequence(&mut self, now: Instant) -> u32 {
        let time = (now.nanos() >> 15) as u32 & 0xff_ffff;
        let ahead = time.wrapping_sub(self.sequence) & 0xff_ffff;
        self.sequence = if (1..1 << 23).contains(&ahead) {
            time
        } else {
            (self.sequence + 1) & 0xff_ffff
        };
        self.sequence
    }

    /// Says whether the next notification is to be confirmable.
    // [RFC7641-4.5-1] [RFC7641-4.5-2]
    pub(super) fn wants_confirmation(&self, now: Instant) -> bool {
        self.confirmable
            || self.unconfirmed >= UNCONFIRMED_MAX
            || now.since(self.confirmed_at) >= UNCONFIRMED_TIME_MAX
    }

    /// When a notification that is not confirmable may leave: some at once, then one a round trip.
    // [RFC7641-4.5.1-1] [RFC7641-4.5.1-2]
    pub(super) fn may_leave(&mut self, now: Instant, round_trip: Option<Duration>) -> Instant {
        let space = round_trip.unwrap_or(NOTIFICATION_SPACE);
        let earned = now.since(self.credit_at).as_nanos() / space.as_nanos().max(1);
        let credit = u128::from(self.credit) + earned;
        if earned > 0 {
            self.credit = credit.min(u128::from(NOTIFICATION_BURST)) as u32;
            self.credit_at = now;
        }
        match self.credit {
            0 => self.credit_at + space,
            _ => now,
        }
    }

    /// Notes a notification that left.
    pub(super) fn note_sent(&mut self, id: u16, confirmable: bool) {
        self.ids[self.sent % IDS_KEPT] = id;
        self.sent += 1;
        self.in_flight = confirmable.then_some(id);
        if !confirmable {
            self.unconfirmed = self.unconfirmed.saturating_add(1);
            self.credit = self.credit.saturating_sub(1);
        }
    }

    /// Notes that the peer acknowledged.
    pub(super) fn note_confirmed(&mut self, now: Instant) {
        self.in_flight = None;
        self.unconfirmed = 0;
        self.confirmed_at = now;
    }

    /// Says whether one of its last notifications had this Message ID.
    fn sent_id(&self, id: u16) -> bool {
        self.ids[..self.sent.min(IDS_KEPT)].contains(&id)
    }
}

/// How many notifications count as sent when an observation begins: as many observers as began together are told
/// together, and their confirmations would come together too.
fn phase(id: ObservationId) -> u8 {
    let phases = u64::from(UNCONFIRMED_MAX) + 1;
    ((id.0 - 1) % phases) as u8
}

/// What a registration is made of.
pub(super) struct Registration<A> {
    pub(super) peer: A,
    pub(super) token: Token,
    pub(super) confirmable: bool,
    pub(super) code: Code,
    pub(super) options: Options,
    pub(super) asked: Option<Block>,
}

#[derive(Clone, Debug)]
pub(super) struct Observers<A> {
    by_id: BTreeMap<ObservationId, Observation<A>>,
    by_token: BTreeMap<(A, Token), ObservationId>,
    next: u64,
}

impl<A: Address> Observers<A> {
    pub(super) fn new() -> Self {
        Self {
            by_id: BTreeMap::new(),
            by_token: BTreeMap::new(),
            next: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn of(&mut self, id: ObservationId) -> Option<&mut Observation<A>> {
        self.by_id.get_mut(&id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = ObservationId> {
        self.by_id.keys().copied()
    }

    /// Says whether a peer may observe one thing more.
    // [RFC7641-7-1]
    pub(super) fn has_room(&self, peer: A, token: Token, limits: &Limits) -> bool {
        if self.by_token.contains_key(&(peer, token)) {
            return true;
        }
        self.len() < limits.observations && self.of_peer(peer).count() < limits.observations_a_peer
    }

    /// Registers; one of the same peer and token is replaced (RFC 7641 section 4.1), and returned.
    // [RFC7641-4.1-2]
    pub(super) fn add(
        &mut self,
        now: Instant,
        registration: Registration<A>,
    ) -> (ObservationId, Option<(ObservationId, Observation<A>)>) {
        let Registration {
            peer,
            token,
            confirmable,
            code,
            options,
            asked,
        } = registration;
        let old = self.take(peer, token);
        self.next += 1;
        let id = ObservationId(self.next);
        let before = old.as_ref().map_or(0, |(_, old)| old.sequence);
        let observation = Observation {
            peer,
            token,
            confirmable,
            code,
            options,
            asked,
            in_flight: None,
            pending: None,
            queued: false,
            sequence: before,
            ids: [0; IDS_KEPT],
            sent: 0,
            unconfirmed: phase(id),
            confirmed_at: now,
            credit: NOTIFICATION_BURST,
            credit_at: now,
        };
        self.by_token.insert((peer, token), id);
        self.by_id.insert(id, observation);
        (id, old)
    }

    /// Takes out who observes by this token.
    pub(super) fn take(
        &mut self,
        peer: A,
        token: Token,
    ) -> Option<(ObservationId, Observation<A>)> {
        let id = self.by_token.remove(&(peer, token))?;
        self.by_id.remove(&id).map(|observation| (id, observation))
    }

    /// Takes an observation out.
    pub(super) fn remove(&mut self, id: ObservationId) -> Option<Observation<A>> {
        let observation = self.by_id.remove(&id)?;
        let key = (observation.peer, observation.token);
        if self.by_token.get(&key) == Some(&id) {
            self.by_token.remove(&key);
        }
        Some(observation)
    }

    /// The observation that a notification of this Message ID belonged to.
    pub(super) fn of_message(&self, peer: A, id: u16) -> Option<ObservationId> {
        let mut ids = self.of_peer(peer);
        ids.find(|observation| {
            let found = self.by_id.get(observation);
            found.is_some_and(|observation| observation.sent_id(id))
        })
    }

    fn of_peer(&self, peer: A) -> impl Iterator<Item = ObservationId> {
        let range = (peer, Token::MIN)..=(peer, Token::MAX);
        self.by_token.range(range).map(|(_, id)| *id)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::vec::Vec;

    const NOW: Instant = Instant::START;

    fn add(
        observers: &mut Observers<u8>,
        peer: u8,
        token: u8,
    ) -> (ObservationId, Option<ObservationId>) {
        let registration = Registration {
            peer,
            token: Token::new(&[token]).unwrap(),
            confirmable: false,
            code: Code::GET,
            options: Options::new(),
            asked: None,
        };
        let (id, replaced) = observers.add(NOW, registration);
        (id, replaced.map(|(old, _)| old))
    }

    /// [RFC7641-4.4-1] [RFC7641-4.4-2]
    #[test]
    fn numbers_grow_with_time_and_faster_than_it() {
        let mut observers = Observers::new();
        let (id, _) = add(&mut observers, 1, 1);
        let observation = observers.of(id).unwrap();
        let now = NOW + Duration::from_secs(1);
        let first = observation.next_sequence(now);
        assert_eq!(first, 30_517);
        assert_eq!(observation.next_sequence(now), first + 1);
        observation.sequence = 0xff_ffff;
        assert_eq!(observation.next_sequence(now), 30_517);
        observation.sequence = 30_517 + (1 << 22);
        assert_eq!(observation.next_sequence(now), 30_518 + (1 << 22));
    }

    /// [RFC7641-4.5-1] [RFC7641-4.5-2]
    #[test]
    fn every_so_often_a_notification_is_confirmable() {
        let mut observers = Observers::new();
        let (id, _) = add(&mut observers, 1, 1);
        let observation = observers.of(id).unwrap();
        for sent in 0..UNCONFIRMED_MAX {
            assert!(!observation.wants_confirmation(NOW));
            observation.note_sent(u16::from(sent), false);
        }
        assert!(observation.wants_confirmation(NOW));
        observation.note_confirmed(NOW);
        assert!(!observation.wants_confirmation(NOW));
        assert!(observation.wants_confirmation(NOW + UNCONFIRMED_TIME_MAX));
    }

    /// [RFC7641-4.5-1] [RFC7641-4.5-2]
    #[test]
    fn who_began_together_does_not_confirm_together() {
        let mut observers = Observers::new();
        let phases = usize::from(UNCONFIRMED_MAX) + 1;
        let ids: Vec<_> = (0..90).map(|peer| add(&mut observers, peer, 1).0).collect();
        for told in 0..2 * phases {
            let mut asked = 0;
            for &id in &ids {
                let observation = observers.of(id).unwrap();
                let confirmable = observation.wants_confirmation(NOW);
                observation.note_sent(told as u16, confirmable);
                if confirmable {
                    observation.note_confirmed(NOW);
                    asked += 1;
                }
            }
            assert_eq!(asked, ids.len() / phases, "notification {told}");
        }
    }

    /// [RFC7641-4.5.1-1] [RFC7641-4.5.1-2]
    #[test]
    fn after_a_burst_notifications_are_spaced() {
        let mut observers = Observers::new();
        let (id, _) = add(&mut observers, 1, 1);
        let observation = observers.of(id).unwrap();
        for id in 0..NOTIFICATION_BURST {
            assert_eq!(observation.may_leave(NOW, None), NOW);
            observation.note_sent(id as u16, false);
        }
        let next = observation.may_leave(NOW, None);
        assert_eq!(next, NOW + NOTIFICATION_SPACE);
        assert_eq!(observation.may_leave(next, None), next);
        let quick = Some(Duration::from_millis(1));
        let later = next + Duration::from_millis(1);
        assert_eq!(observation.may_leave(later, quick), later);
    }

    /// [RFC7641-4.1-2]
    #[test]
    fn the_same_peer_and_token_is_the_same_observation() {
        let mut observers = Observers::new();
        let (first, _) = add(&mut observers, 1, 1);
        let (second, replaced) = add(&mut observers, 1, 1);
        assert_eq!((replaced, observers.len()), (Some(first), 1));
        assert!(observers.of(first).is_none() && observers.of(second).is_some());
        let limits = Limits {
            observations: 3,
            observations_a_peer: 2,
            ..Limits::default()
        };
        add(&mut observers, 1, 2);
        let token = |byte: u8| Token::new(&[byte]).unwrap();
        assert!(observers.has_room(1, token(2), &limits));
        assert!(!observers.has_room(1, token(3), &limits));
        add(&mut observers, 2, 1);
        assert!(!observers.has_room(3, token(1), &limits));
    }

    #[test]
    fn a_message_id_finds_its_observation() {
        let mut observers = Observers::new();
        let (id, _) = add(&mut observers, 1, 1);
        let (other, _) = add(&mut observers, 2, 1);
        observers.of(id).unwrap().note_sent(7, false);
        observers.of(other).unwrap().note_sent(8, false);
        assert_eq!(observers.of_message(1, 7), Some(id));
        assert_eq!(observers.of_message(1, 8), None);
        assert_eq!(observers.of_message(1, 0), None);
        assert_eq!(observers.remove(id).map(|gone| gone.peer), Some(1));
        assert_eq!(observers.of_message(1, 7), None);
    }
}
