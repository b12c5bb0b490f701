//! Keys of NATS (`nkeys`): an Ed25519 seed in base32 signs what a server greets with; a credentials file holds
//! one beside the token (JWT) that it is of.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{Ed25519KeyPair, KeyPair};

/// First byte of a seed: `S` in base32.
const SEED: u8 = 18 << 3;
/// Kind of a user's key: `U` in base32.
const USER: u8 = 20 << 3;

/// A user's key, and the token that names it where there is one.
#[derive(Clone)]
pub(crate) struct Nkey {
    seed: [u8; 32],
    token: Option<String>,
}

/// What a client says with a key.
pub(crate) struct Signed {
    /// The token, or else the public key.
    pub(crate) name: (&'static str, String),
    /// The signature of the nonce.
    pub(crate) signature: String,
}

impl Nkey {
    /// Reads a file with a seed, or with a token and a seed between their marks.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let token = between(text, "NATS USER JWT");
        let seed = match between(text, "USER NKEY SEED") {
            Some(seed) => seed,
            None if token.is_some() => return Err("it has a token and no seed".into()),
            None => text.trim().to_owned(),
        };
        Ok(Self {
            seed: seed_of(&seed)?,
            token,
        })
    }

    /// Signs a nonce.
    pub(crate) fn sign(&self, nonce: &str) -> Result<Signed, String> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&self.seed);
        let pair = pair.map_err(|_| "the seed is no key".to_owned())?;
        let signature = URL_SAFE_NO_PAD.encode(pair.sign(nonce.as_bytes()).as_ref());
        let name = match &self.token {
            Some(token) => ("jwt", token.clone()),
            None => ("nkey", public(pair.public_key().as_ref())),
        };
        Ok(Signed { name, signature })
    }
}

/// What stands on the lines between `-----BEGIN mark-----` and `------END mark------`.
fn between(text: &str, mark: &str) -> Option<String> {
    let is = |line: &&str, edge: &str| line.trim_matches('-').trim() == format!("{edge} {mark}");
    let mut lines = text.lines().map(str::trim);
    lines.by_ref().find(|line| is(line, "BEGIN"))?;
    let inside = lines.take_while(|line| !is(line, "END"));
    let found: String = inside.collect();
    (!found.is_empty()).then_some(found)
}

/// A user's seed: two bytes that say so, the seed, a checksum.
fn seed_of(text: &str) -> Result<[u8; 32], String> {
    let bad = || "expected the seed of a user's key, which begins with SU".to_owned();
    let bytes = decode(text).ok_or_else(bad)?;
    let (body, sum) = bytes.split_at_checked(34).ok_or_else(bad)?;
    let kind = [SEED | (USER >> 5), (USER & 31) << 3];
    if sum != crc16(body).to_le_bytes() || body[..2] != kind {
        return Err(bad());
    }
    body[2..].try_into().map_err(|_| bad())
}

/// A user's public key as text.
fn public(key: &[u8]) -> String {
    let mut bytes = vec![USER];
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(&crc16(&bytes).to_le_bytes());
    encode(&bytes)
}

const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Base32 (RFC 4648 section 6) without padding.
fn encode(bytes: &[u8]) -> String {
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    let letter = |at: usize| (0..5).fold(0, |all, of| all << 1 | bit(5 * at + of));
    let count = (8 * bytes.len()).div_ceil(5);
    (0..count)
        .map(|at| char::from(LETTERS[usize::from(letter(at))]))
        .collect()
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes() {
        let value = LETTERS.iter().position(|of| *of == letter)?;
        held = held << 5 | value as u32;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(out)
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        let mixed = sum ^ u16::from(*byte) << 8;
        (0..8).fold(mixed, |sum, _| match sum & 0x8000 {
            0 => sum << 1,
            _ => sum << 1 ^ 0x1021,
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn seed() -> String {
        let mut bytes = vec![SEED | (USER >> 5), (USER & 31) << 3];
        bytes.extend_from_slice(&[7; 32]);
        bytes.extend_from_slice(&crc16(&bytes).to_le_bytes());
        encode(&bytes)
    }

    // RFC 4648 section 10; the catalogue's check value of CRC-16/XMODEM.
    #[test]
    fn base32_and_checksum_are_those_of_their_definitions() {
        assert_eq!(encode(b"foobar"), "MZXW6YTBOI");
        assert_eq!(decode("MZXW6YTBOI").unwrap(), b"foobar");
        assert_eq!(crc16(b"123456789"), 0x31c3);
    }

    #[test]
    fn a_user_signs_as_itself() {
        let text = seed();
        assert!(text.starts_with("SU"), "{text}");
        let signed = Nkey::read(&format!("{text}\n")).unwrap().sign("n").unwrap();
        assert_eq!(signed.name.0, "nkey");
        assert!(signed.name.1.starts_with('U') && signed.name.1.len() == 56);
    }

    #[test]
    fn a_credentials_file_has_both_between_marks() {
        let file = format!(
            "-----BEGIN NATS USER JWT-----\nabc.def\n------END NATS USER JWT------\n\nkeep it secret\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            seed()
        );
        let signed = Nkey::read(&file).unwrap().sign("n").unwrap();
        assert_eq!(signed.name, ("jwt", "abc.def".to_owned()));
    }

    #[test]
    fn what_is_no_users_seed_is_refused() {
        let mut changed = seed();
        changed.replace_range(20..21, if &changed[20..21] == "A" { "B" } else { "A" });
        for bad in ["", "SU", &seed()[..50], &changed, "lower"] {
            assert!(Nkey::read(bad).is_err(), "{bad}");
        }
    }
}
