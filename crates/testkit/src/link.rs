//! A link that misbehaves as it is told.

use std::collections::VecDeque;
use weir_sansio::{Duration, Instant};

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct BadLink {
    /// Between sending and arrival.
    pub delay: Duration,
    /// Longest piece that arrives at once, bytes; pieces are of every length up to it.
    pub piece_bytes_max: usize,
    /// Of so many transmissions one is lost; `None` for none, as on a byte stream.
    pub lost_one_in: Option<u64>,
    /// Of so many transmissions one arrives twice.
    pub doubled_one_in: Option<u64>,
    /// Of so many transmissions one takes up to four times as long, so that later ones overtake it.
    pub overtaken_one_in: Option<u64>,
    seed: u64,
    under_way: VecDeque<(Instant, Vec<u8>)>,
}

impl BadLink {
    /// A link without faults.
    pub fn good() -> Self {
        Self::split(usize::MAX, 1)
    }

    /// A byte stream that arrives in pieces of random lengths up to `piece_bytes_max`.
    pub fn split(piece_bytes_max: usize, seed: u64) -> Self {
        Self {
            delay: Duration::from_millis(1),
            piece_bytes_max: piece_bytes_max.max(1),
            lost_one_in: None,
            doubled_one_in: None,
            overtaken_one_in: None,
            seed,
            under_way: VecDeque::new(),
        }
    }

    /// Datagrams of which one in so many is lost.
    pub fn lossy(one_in: u64, seed: u64) -> Self {
        Self {
            lost_one_in: Some(one_in.max(1)),
            ..Self::split(usize::MAX, seed)
        }
    }

    /// The next number of the seed's row (xorshift, Marsaglia 2003).
    fn random(&mut self) -> u64 {
        self.seed = self.seed.max(1);
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }

    /// Datagrams of which one in so many is lost, one arrives twice and one late.
    pub fn unruly(one_in: u64, seed: u64) -> Self {
        Self {
            doubled_one_in: Some(one_in.max(1)),
            overtaken_one_in: Some(one_in.max(1)),
            ..Self::lossy(one_in, seed)
        }
    }

    /// Whether it happens to this one. Where nothing can happen no number is drawn.
    fn happens(&mut self, one_in: Option<u64>) -> bool {
        one_in.is_some_and(|one_in| self.random().is_multiple_of(one_in))
    }

    pub(crate) fn send(&mut self, now: Instant, bytes: &[u8]) {
        if self.happens(self.lost_one_in) {
            return;
        }
        let delay = match self.happens(self.overtaken_one_in) {
            true => self.delay * (2 + self.random() % 3) as u32,
            false => self.delay,
        };
        self.carry(now + delay, bytes);
        if self.happens(self.doubled_one_in) {
            self.carry(now + delay, bytes);
        }
    }

    fn carry(&mut self, at: Instant, mut bytes: &[u8]) {
        while bytes.len() > self.piece_bytes_max {
            let length = 1 + (self.random() % self.piece_bytes_max as u64) as usize;
            let (piece, rest) = bytes.split_at(length);
            self.put(at, piece);
            bytes = rest;
        }
        self.put(at, bytes);
    }

    /// Behind all that arrives no later.
    fn put(&mut self, at: Instant, bytes: &[u8]) {
        let place = self.under_way.partition_point(|piece| piece.0 <= at);
        self.under_way.insert(place, (at, bytes.to_vec()));
    }

    /// When the next piece arrives.
    pub(crate) fn next(&self) -> Instant {
        self.under_way
            .front()
            .map_or(Instant::NEVER, |piece| piece.0)
    }

    pub(crate) fn arrived(&mut self, now: Instant) -> Option<Vec<u8>> {
        let due = self.under_way.front().is_some_and(|piece| piece.0 <= now);
        due.then(|| self.under_way.pop_front())
            .flatten()
            .map(|piece| piece.1)
    }
}
