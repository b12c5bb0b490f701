//! Initial sequence numbers that are the handshake's whole memory: SYN cookies (RFC 4987 section 3.6),
//! keyed as RFC 6528 wants them.
//!
//! What it deliberately does not do: carry options. There is one size of segment, so that a SYN leaves
//! nothing to remember.

use crate::time::Milliseconds;

/// How long a cookie's time slot lasts; a handshake may take up to two.
const SLOT_SHIFT: u32 = 15;

/// Bits of a cookie that depend on the peer's sequence number.
const SEQUENCE_BITS: u32 = 0xff;
const SEQUENCE_SHIFT: u32 = 24;

/// What a segment of no connection says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// It ends a handshake of ours.
    Done,
    /// It comes behind the one that does, which is lost or late and comes again.
    Ahead,
    /// It has nothing to do with one.
    None,
}

/// The key of a device, drawn anew at each start.
#[derive(Clone, Copy)]
pub(crate) struct Key([u32; 2]);

/// Who shakes hands: the peer's address, port and initial sequence number.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) address: u32,
    pub(crate) port: u16,
    pub(crate) sequence: u32,
}

impl Key {
    pub(crate) const ZERO: Self = Self([0; 2]);

    pub(crate) fn new(key: u64) -> Self {
        Self([key as u32, (key >> 32) as u32])
    }

    /// Our initial sequence number for the peer.
    pub(crate) fn cookie(self, now: Milliseconds, peer: Peer) -> u32 {
        self.of_slot(now >> SLOT_SHIFT, peer)
    }

    /// What a segment says of a handshake that acknowledges this number.
    pub(crate) fn handshake(self, now: Milliseconds, peer: Peer, cookie: u32) -> Handshake {
        let times = [now, now.wrapping_sub(1 << SLOT_SHIFT)];
        let off = times.map(|at| self.cookie(at, peer) ^ cookie);
        if off.contains(&0) {
            Handshake::Done
        } else if off.iter().any(|off| off & !SEQUENCE_BITS == 0) {
            Handshake::Ahead
        } else {
            Handshake::None
        }
    }

    /// Most bits say who the peer is and when, the last ones with which number it began.
    fn of_slot(self, slot: u32, peer: Peer) -> u32 {
        // What nobody can guess is the hash; that the number is in it needs no second one.
        let began = peer.sequence.wrapping_mul(0x9e37_79b9) >> SEQUENCE_SHIFT;
        self.hash([peer.address, u32::from(peer.port), slot]) ^ began
    }

    /// HalfSipHash-2-4 (Aumasson, Bernstein) of three words.
    #[inline(never)]
    fn hash(self, words: [u32; 3]) -> u32 {
        let [low, high] = self.0;
        let mut state = [low, high, 0x6c79_6765 ^ low, 0x7465_6462 ^ high];
        let [first, second, third] = words;
        for word in [first, second, third, 12 << 24] {
            state[3] ^= word;
            round(&mut state);
            round(&mut state);
            state[0] ^= word;
        }
        state[2] ^= 0xff;
        for _ in 0..4 {
            round(&mut state);
        }
        state[1] ^ state[3]
    }
}

fn round([a, b, c, d]: &mut [u32; 4]) {
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(5) ^ *a;
    *a = a.rotate_left(16);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(8) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(7) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *c;
    *c = c.rotate_left(16);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: Peer = Peer {
        address: 0x0a09_0001,
        port: 40_000,
        sequence: 77,
    };

    /// The reference's test vector for a text of 12 bytes, 00 01 .. 0b, under the key 00 01 .. 07.
    #[test]
    fn the_hash_is_the_published_one() {
        let key = Key([0x0302_0100, 0x0706_0504]);
        let hash = key.hash([0x0302_0100, 0x0706_0504, 0x0b0a_0908]);
        assert_eq!(hash.to_le_bytes(), [0x57, 0xf0, 0x87, 0x2f]);
    }

    #[test]
    fn a_cookie_is_good_for_its_peer_and_a_while() {
        let key = Key::new(0x1234_5678_9abc_def0);
        let cookie = key.cookie(1_000, PEER);
        assert_eq!(key.handshake(33_000, PEER, cookie), Handshake::Done);
        assert_eq!(key.handshake(100_000, PEER, cookie), Handshake::None);
        // The clock wraps around after 49.7 days.
        let last = key.cookie(u32::MAX - 100, PEER);
        assert_eq!(key.handshake(200, PEER, last), Handshake::Done);
        let later = Peer {
            sequence: PEER.sequence + 80,
            ..PEER
        };
        let other = Peer {
            port: PEER.port + 1,
            ..PEER
        };
        assert_eq!(key.handshake(1_000, later, cookie), Handshake::Ahead);
        assert_eq!(key.handshake(1_000, other, cookie), Handshake::None);
        assert_eq!(Key::new(1).handshake(1_000, PEER, cookie), Handshake::None);
    }
}
