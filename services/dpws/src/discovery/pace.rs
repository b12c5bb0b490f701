//! How many answers one address may have, and all together: discovery is asked by datagrams, whose senders
//! anybody may be, and an answer is longer than its question.

use crate::limits::{ALL_ANSWERS, PEER_ANSWERS, PEERS_MAX};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;
use weir_sansio::Instant;

/// The answers that are still free.
#[derive(Debug, Default)]
pub(super) struct Pace {
    all: Bucket,
    peers: BTreeMap<IpAddr, Bucket>,
}

impl Pace {
    /// Takes an answer for an address; says whether there was one.
    pub(super) fn take(&mut self, now: Instant, peer: IpAddr) -> bool {
        if self.peers.len() >= PEERS_MAX && !self.peers.contains_key(&peer) {
            self.peers.retain(|_, bucket| bucket.full_at > now);
            if self.peers.len() >= PEERS_MAX {
                return false;
            }
        }
        let bucket = self.peers.entry(peer).or_default();
        bucket.take(now, PEER_ANSWERS) && self.all.take(now, ALL_ANSWERS)
    }
}

/// A bucket by the time at which it is full again.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    full_at: Instant,
}

impl Bucket {
    fn take(&mut self, now: Instant, (answers, each): (u32, Duration)) -> bool {
        let after = self.full_at.max(now) + each;
        let free = after.since(now) <= each * answers;
        if free {
            self.full_at = after;
        }
        free
    }
}
