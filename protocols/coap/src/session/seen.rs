//! Which messages came already, and what they were answered with (RFC 7252 section 4.5).
//!
//! What it deliberately does not do: take a Message ID that came back with another token for the same
//! message. Its sender broke the rule that it must not be used again so soon; answering the new
//! request with the old answer would help nobody.

use super::ids::Address;
use crate::wire::Token;
use alloc::collections::{BTreeMap, VecDeque};
use bytes::Bytes;
use core::time::Duration;
use weir_sansio::Instant;

#[derive(Clone, Debug)]
pub(super) struct Seen<A> {
    entries: BTreeMap<(A, u16), Entry>,
    /// In order of arrival; one whose number is not its entry's belongs to an entry since replaced.
    order: VecDeque<(u64, A, u16)>,
    count: u64,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    number: u64,
    token: Token,
    until: Instant,
    state: State,
}

/// How far a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing is to be answered, or not yet.
    Silent,
    /// A request that waits in this exchange.
    Open(u64),
    /// It was answered with this.
    Answered(Bytes),
}

impl<A: Address> Seen<A> {
    pub(super) fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            order: VecDeque::new(),
            count: 0,
            bytes: 0,
        }
    }

    /// Bytes of answers that are kept.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How far a message is that came already.
    // [RFC7252-4.5-1] [RFC7252-4.5-2]
    pub(super) fn find(&self, now: Instant, peer: A, id: u16, token: Token) -> Option<&State> {
        let entry = self.entries.get(&(peer, id))?;
        let same = entry.token == token && now < entry.until;
        same.then_some(&entry.state)
    }

    /// Remembers a message for a while.
    pub(super) fn add(&mut self, now: Instant, peer: A, id: u16, token: Token, time: Duration) {
        self.count += 1;
        let entry = Entry {
            number: self.count,
            token,
            until: now + time,
            state: State::Silent,
        };
        let old = self.entries.insert((peer, id), entry);
        self.bytes -= weight(old.as_ref());
        self.order.push_back((self.count, peer, id));
    }

    /// Remembers in which exchange a request waits.
    pub(super) fn open(&mut self, peer: A, id: u16, exchange: u64) {
        if let Some(entry) = self.entries.get_mut(&(peer, id)) {
            entry.state = State::Open(exchange);
        }
    }

    /// Remembers what a message was answered with.
    pub(super) fn answer(&mut self, peer: A, id: u16, bytes: Bytes) {
        if let Some(entry) = self.entries.get_mut(&(peer, id)) {
            self.bytes += bytes.len();
            self.bytes -= weight(Some(entry));
            entry.state = State::Answered(bytes);
        }
    }

    /// Forgets the oldest until no more is kept than this.
    pub(super) fn shrink(&mut self, count_max: usize, bytes_max: usize) {
        while self.order.len() > count_max || self.bytes > bytes_max {
            if !self.forget_oldest() {
                return;
            }
        }
    }

    /// Forgets what is too old to come again.
    pub(super) fn expire(&mut self, now: Instant) {
        while let Some(&(number, peer, id)) = self.order.front() {
            let entry = self.entries.get(&(peer, id));
            if entry.is_some_and(|entry| entry.number == number && entry.until > now) {
                return;
            }
            self.forget_oldest();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn forget_oldest(&mut self) -> bool {
        let Some((number, peer, id)) = self.order.pop_front() else {
            return false;
        };
        let key = (peer, id);
        if self
            .entries
            .get(&key)
            .is_some_and(|entry| entry.number == number)
        {
            let entry = self.entries.remove(&key);
            self.bytes -= weight(entry.as_ref());
        }
        true
    }
}

fn weight(entry: Option<&Entry>) -> usize {
    match entry.map(|entry| &entry.state) {
        Some(State::Answered(bytes)) => bytes.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// [RFC7252-4.5-1] [RFC7252-4.5-2]
    #[test]
    fn a_message_is_known_by_its_id_its_token_and_its_age() {
        let (now, token) = (Instant::START, Token::MIN);
        let other = Token::new(&[1]).unwrap_or_default();
        let mut seen = Seen::new();
        seen.add(now, 1, 7, token, MINUTE);
        assert_eq!(seen.find(now, 1, 7, token), Some(&State::Silent));
        seen.open(1, 7, 5);
        assert_eq!(seen.find(now, 1, 7, token), Some(&State::Open(5)));
        let answer = Bytes::from_static(b"answer");
        seen.answer(1, 7, answer.clone());
        assert_eq!(seen.find(now, 1, 7, token), Some(&State::Answered(answer)));
        for (at, peer, id, token) in [
            (now, 2, 7, token),
            (now, 1, 8, token),
            (now, 1, 7, other),
            (now + MINUTE, 1, 7, token),
        ] {
            assert_eq!(seen.find(at, peer, id, token), None);
        }
    }

    #[test]
    fn no_more_is_kept_than_is_allowed() {
        let now = Instant::START;
        let mut seen = Seen::new();
        for id in 0..100 {
            seen.add(now, 1, id, Token::MIN, MINUTE);
            seen.answer(1, id, Bytes::from_static(&[0; 10]));
            seen.shrink(50, 305);
        }
        assert_eq!(
            (seen.entries.len(), seen.order.len(), seen.bytes),
            (30, 30, 300)
        );
        seen.add(now, 1, 99, Token::MIN, MINUTE);
        seen.expire(now + MINUTE);
        assert_eq!(
            (seen.entries.len(), seen.order.len(), seen.bytes),
            (0, 0, 0)
        );
        assert!(seen.is_empty());
    }
}
