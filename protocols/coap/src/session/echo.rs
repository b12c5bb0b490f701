//! Whether an address is the sender's own: the Echo option (RFC 9175 section 2).
//!
//! What it deliberately does not do: remember who was challenged. The value is the time and a keyed
//! hash over time and address, so a flood of forged addresses costs no memory.

use crate::limits::VERIFIED_TIME;
use core::hash::{Hash, Hasher};
use weir_sansio::Instant;

/// Makes challenges and tells the answers that are true.
#[derive(Clone, Debug)]
pub(super) struct Challenger {
    keys: [u64; 2],
}

impl Challenger {
    pub(super) fn new(keys: [u64; 2]) -> Self {
        Self { keys }
    }

    /// The value to be sent back from this address.
    pub(super) fn challenge(&self, now: Instant, peer: impl Hash) -> [u8; 12] {
        let seconds = seconds(now);
        let mut value = [0; 12];
        value[..4].copy_from_slice(&seconds.to_be_bytes());
        value[4..].copy_from_slice(&self.sign(seconds, peer).to_be_bytes());
        value
    }

    /// Says whether this value was made here for this address not long ago.
    // [RFC9175-2.3-2]
    pub(super) fn is_fresh(&self, now: Instant, peer: impl Hash, value: &[u8]) -> bool {
        let Some((made, _)) = value.split_first_chunk::<4>() else {
            return false;
        };
        let made = u32::from_be_bytes(*made);
        let age = seconds(now).wrapping_sub(made);
        let expected = self.sign(made, peer).to_be_bytes();
        value[4..] == expected && u64::from(age) <= VERIFIED_TIME.as_secs()
    }

    fn sign(&self, seconds: u32, peer: impl Hash) -> u64 {
        let mut sip = Sip::new(self.keys[0], self.keys[1]);
        sip.write_u32(seconds);
        peer.hash(&mut sip);
        sip.finish()
    }
}

fn seconds(now: Instant) -> u32 {
    now.since(Instant::START).as_secs() as u32
}

/// SipHash-2-4 (Aumasson and Bernstein 2012): a keyed hash of short inputs.
#[derive(Clone, Debug)]
pub(super) struct Sip {
    state: [u64; 4],
    tail: u64,
    length: u64,
}

impl Sip {
    pub(super) fn new(k0: u64, k1: u64) -> Self {
        Self {
            state: [
                k0 ^ 0x736f_6d65_7073_6575,
                k1 ^ 0x646f_7261_6e64_6f6d,
                k0 ^ 0x6c79_6765_6e65_7261,
                k1 ^ 0x7465_6462_7974_6573,
            ],
            tail: 0,
            length: 0,
        }
    }

    fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.state;
        a = a.wrapping_add(b);
        c = c.wrapping_add(d);
        b = b.rotate_left(13) ^ a;
        d = d.rotate_left(16) ^ c;
        a = a.rotate_left(32).wrapping_add(d);
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        d = d.rotate_left(21) ^ a;
        c = c.rotate_left(32);
        self.state = [a, b, c, d];
    }

    fn block(&mut self, word: u64) {
        self.state[3] ^= word;
        self.round();
        self.round();
        self.state[0] ^= word;
    }
}

impl Hasher for Sip {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.tail |= u64::from(byte) << (8 * (self.length % 8));
            self.length += 1;
            if self.length.is_multiple_of(8) {
                let word = core::mem::take(&mut self.tail);
                self.block(word);
            }
        }
    }

    fn finish(&self) -> u64 {
        let mut last = self.clone();
        last.block(self.tail | self.length << 56);
        last.state[2] ^= 0xff;
        (0..4).for_each(|_| last.round());
        last.state.iter().fold(0, |sum, word| sum ^ word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    /// The paper's appendix A: key 00..0f, message 00..0e.
    #[test]
    fn the_hash_is_the_one_of_the_paper() {
        let mut sip = Sip::new(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        (0..15).for_each(|byte| sip.write_u8(byte));
        assert_eq!(sip.finish(), 0xa129_ca61_49be_45e5);
    }

    /// [RFC9175-2.3-2]
    #[test]
    fn a_challenge_holds_for_its_address_and_a_while() {
        let challenger = Challenger::new([1, 2]);
        let now = Instant::START + Duration::from_secs(1000);
        let value = challenger.challenge(now, 7u32);
        let later = now + VERIFIED_TIME;
        assert!(challenger.is_fresh(now, 7u32, &value));
        assert!(challenger.is_fresh(later, 7u32, &value));
        assert!(!challenger.is_fresh(later + Duration::from_secs(1), 7u32, &value));
        assert!(!challenger.is_fresh(now, 8u32, &value));
        assert!(!challenger.is_fresh(now, 7u32, &value[..11]));
        assert!(!challenger.is_fresh(now, 7u32, b"x"));
        assert!(!Challenger::new([1, 3]).is_fresh(now, 7u32, &value));
    }
}
