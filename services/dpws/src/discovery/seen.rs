//! Which messages came already: a peer repeats a question, and one that came by several ways is one
//! (WS-Discovery 1.1 section 3, SOAP-over-UDP 1.1 section 5.1).

use crate::limits::{SEEN_MAX, SEEN_TIME};
use std::collections::{HashSet, VecDeque};
use weir_sansio::Instant;

/// The messages that came lately, by their MessageID.
#[derive(Debug, Default)]
pub(super) struct Seen {
    known: HashSet<String>,
    order: VecDeque<(Instant, String)>,
}

impl Seen {
    /// Notes a message; says whether it is new.
    pub(super) fn note(&mut self, now: Instant, id: &str) -> bool {
        self.forget(now);
        if !self.known.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back((now + SEEN_TIME, id.to_owned()));
        true
    }

    fn forget(&mut self, now: Instant) {
        while let Some((until, _)) = self.order.front() {
            if *until > now && self.order.len() < SEEN_MAX {
                return;
            }
            let oldest = self.order.pop_front();
            oldest.map(|(_, id)| self.known.remove(&id));
        }
    }
}
