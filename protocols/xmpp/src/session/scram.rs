//! SCRAM (RFC 5802, RFC 7677): a login in which the password does not travel and the server proves itself.
//!
//! What it deliberately does not do: no preparation of names and passwords beyond what they are
//! (RFC 4013 changes non-ASCII ones only).

use crate::limits::ITERATIONS_MAX;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};
use std::fmt;
use std::num::NonZeroU32;

/// A hash that SCRAM goes by.
pub struct Hash {
    /// The mechanism's name in SASL; with `-PLUS` where it binds the channel.
    pub name: &'static str,
    derive: pbkdf2::Algorithm,
    sign: hmac::Algorithm,
    digest: &'static digest::Algorithm,
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Those that are spoken, best first.
pub static HASHES: [Hash; 2] = [
    Hash {
        name: "SCRAM-SHA-256",
        derive: pbkdf2::PBKDF2_HMAC_SHA256,
        sign: hmac::HMAC_SHA256,
        digest: &digest::SHA256,
    },
    Hash {
        name: "SCRAM-SHA-1",
        derive: pbkdf2::PBKDF2_HMAC_SHA1,
        sign: hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        digest: &digest::SHA1_FOR_LEGACY_USE_ONLY,
    },
];

/// The TLS channel that a login is bound to (RFC 9266).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The type of the binding: `tls-exporter`.
    pub kind: &'static str,
    /// What only the two ends of the channel know.
    pub data: Vec<u8>,
}

/// One login.
#[derive(Debug)]
pub struct Scram {
    hash: &'static Hash,
    password: String,
    /// The GS2 header (RFC 5802 section 7).
    header: String,
    channel: Option<Channel>,
    first: String,
    nonce: String,
    /// What the server will prove itself with.
    server_signature: Vec<u8>,
}

impl Scram {
    /// Begins a login; `nonce` must be random and printable.
    pub fn new(
        hash: &'static Hash,
        user: &str,
        password: &str,
        nonce: &str,
        channel: Option<Channel>,
    ) -> Self {
        // RFC 5802 section 5.1: `=` and `,` are written otherwise.
        let user = user.replace('=', "=3D").replace(',', "=2C");
        let header = match &channel {
            Some(channel) => format!("p={},,", channel.kind),
            None => "n,,".to_owned(),
        };
        Self {
            hash,
            password: password.into(),
            header,
            channel,
            first: format!("n={user},r={nonce}"),
            nonce: nonce.into(),
            server_signature: Vec::new(),
        }
    }

    /// The client's first message.
    pub fn first(&self) -> String {
        format!("{}{}", self.header, self.first)
    }

    /// Answers the server's first message.
    ///
    /// # Errors
    /// What in it is wrong.
    // [RFC5802-5.1-1]
    pub fn answer(&mut self, challenge: &str) -> Result<String, String> {
        let nonce = value(challenge, 'r').ok_or("no nonce")?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("the nonce is not of this login".into());
        }
        let salt = value(challenge, 's').and_then(|salt| STANDARD.decode(salt).ok());
        let salt = salt.ok_or("no salt in base64")?;
        let count = value(challenge, 'i').and_then(|count| count.parse().ok());
        let count: NonZeroU32 = count.ok_or("no number of iterations")?;
        if count.get() > ITERATIONS_MAX {
            return Err(format!("{count} iterations, more than {ITERATIONS_MAX}"));
        }
        let mut binding = self.header.clone().into_bytes();
        let channel = self.channel.iter();
        channel.for_each(|channel| binding.extend_from_slice(&channel.data));
        let without_proof = format!("c={},r={nonce}", STANDARD.encode(binding));
        let signed = format!("{},{challenge},{without_proof}", self.first);
        let proof = self.prove(&salt, count, signed.as_bytes());
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)))
    }

    /// RFC 5802 section 3.
    fn prove(&mut self, salt: &[u8], count: NonZeroU32, signed: &[u8]) -> Vec<u8> {
        let mut salted = vec![0; self.hash.digest.output_len()];
        pbkdf2::derive(
            self.hash.derive,
            count,
            salt,
            self.password.as_bytes(),
            &mut salted,
        );
        let client_key = self.sign(&salted, b"Client Key");
        let stored = digest::digest(self.hash.digest, &client_key);
        let signature = self.sign(stored.as_ref(), signed);
        let server_key = self.sign(&salted, b"Server Key");
        self.server_signature = self.sign(&server_key, signed);
        let bytes = client_key.iter().zip(&signature);
        bytes.map(|(key, signature)| key ^ signature).collect()
    }

    fn sign(&self, key: &[u8], text: &[u8]) -> Vec<u8> {
        let key = hmac::Key::new(self.hash.sign, key);
        hmac::sign(&key, text).as_ref().to_vec()
    }

    /// Checks that the server knows the password too.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self, last: &str) -> Result<(), String> {
        let signature = value(last, 'v').and_then(|text| STANDARD.decode(text).ok());
        match signature {
            Some(given) if !given.is_empty() && given == self.server_signature => Ok(()),
            _ => Err("the server does not prove that it knows the password".into()),
        }
    }
}

/// The value of an attribute of a message.
fn value(message: &str, name: char) -> Option<&str> {
    let mut parts = message.split(',');
    parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // RFC 5802 section 5 and RFC 7677 section 3.
    #[test]
    fn the_examples_of_the_standards_come_out() {
        for (hash, nonce, challenge, last, signature) in [
            (
                &HASHES[1],
                "fyko+d2lbbFgONRv9qkxdawL",
                "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
                "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,\
                 p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
                "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
            ),
            (
                &HASHES[0],
                "rOprNGfwEbeRWgbNEkqO",
                "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                 s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
                "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                 p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
                "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
            ),
        ] {
            let mut scram = Scram::new(hash, "user", "pencil", nonce, None);
            assert_eq!(scram.first(), format!("n,,n=user,r={nonce}"));
            assert_eq!(scram.answer(challenge).unwrap(), last);
            assert_eq!(scram.check(signature), Ok(()));
            assert!(scram.check("v=AAAA").is_err());
        }
    }

    // [RFC5802-5.1-1]
    #[test]
    fn a_server_that_asks_for_what_no_login_needs_is_refused() {
        let mut scram = Scram::new(&HASHES[0], "a=b,c", "p", "abc", None);
        assert_eq!(scram.first(), "n,,n=a=3Db=2Cc,r=abc");
        for challenge in [
            "",
            "r=abc,s=QQ==,i=4096",
            "r=xyz1,s=QQ==,i=4096",
            "r=abcd,s=?,i=4096",
            "r=abcd,s=QQ==,i=0",
            "r=abcd,s=QQ==,i=4000000000",
        ] {
            assert!(scram.answer(challenge).is_err(), "{challenge}");
        }
        assert!(scram.check("v=").is_err());
    }
}
