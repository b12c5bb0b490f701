//! Keys that devices share with the gateway: section `oscore` of the policy file.
//!
//! They are kept as they are, since what protects messages is computed from them at both ends; whoever
//! can read the file can speak for the devices (docs/decisions/0018).

use crate::entries::{Holder, refuse_unknown, section, text};
use std::collections::BTreeSet;
use toml::{Table, Value};
use weir_binding::SharedKey;
use weir_hub::Principal;

/// Shortest secret, bytes.
const SECRET_BYTES_MIN: usize = 16;
/// Longest secret, bytes.
const SECRET_BYTES_MAX: usize = 64;
/// Longest identifier in OSCORE with AES-CCM-16-64-128, bytes (RFC 8613 section 3.3).
const ID_BYTES_MAX: usize = 7;
/// Longest identifier of a context, bytes.
const ID_CONTEXT_BYTES_MAX: usize = 255;
/// Bytes of an identifier that is drawn.
const DRAWN_ID_BYTES: usize = 3;

const OSCORE: &[&str] = &[
    "master_secret",
    "master_salt",
    "sender_id",
    "recipient_id",
    "id_context",
    "role",
];

/// Reads the keys of a policy file.
pub(crate) fn read(table: &Table, holder: Holder<'_>) -> Result<Vec<SharedKey>, String> {
    let mut keys = Vec::new();
    let mut known = BTreeSet::new();
    for (name, value) in section(table, "oscore")? {
        let entry = Entry { name, value };
        let key = entry.key(holder("oscore", name, value)?)?;
        // The gateway finds a device's keys by these.
        if !known.insert((key.peer.clone(), key.id_context.clone())) {
            return Err(entry.fault("another entry has the same `recipient_id`"));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// An entry of the policy file.
struct Entry<'a> {
    name: &'a str,
    value: &'a Value,
}

impl Entry<'_> {
    fn fault(&self, problem: &str) -> String {
        format!("oscore `{}`: {problem}", self.name)
    }

    fn refuse_unknown(&self, known: &[&str]) -> Result<(), String> {
        let whose = format!("oscore `{}`", self.name);
        let table = self.value.as_table();
        refuse_unknown(table.ok_or(self.fault("must be a section"))?, &whose, known)
    }

    fn secret(&self, key: &str) -> Result<Vec<u8>, String> {
        let secret = self.bytes(key)?;
        match (SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&secret.len()) {
            true => Ok(secret),
            false => Err(self.fault(&format!(
                "`{key}` has {} bytes; {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} are possible",
                secret.len()
            ))),
        }
    }

    fn bytes(&self, key: &str) -> Result<Vec<u8>, String> {
        let digits = text(self.value, "oscore", self.name, key)?;
        let problem = || self.fault(&format!("`{key}` must be hexadecimal digits, two a byte"));
        bytes_of(digits).ok_or_else(problem)
    }

    fn optional(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        let given = self.value.get(key).is_some();
        given.then(|| self.bytes(key)).transpose()
    }

    fn id(&self, key: &str) -> Result<Vec<u8>, String> {
        let id = self.optional(key)?.unwrap_or_default();
        match id.len() <= ID_BYTES_MAX {
            true => Ok(id),
            false => Err(self.fault(&format!("`{key}` has at most {ID_BYTES_MAX} bytes"))),
        }
    }

    fn key(&self, principal: Principal) -> Result<SharedKey, String> {
        self.refuse_unknown(OSCORE)?;
        let (own, peer) = (self.id("sender_id")?, self.id("recipient_id")?);
        if own == peer {
            return Err(self.fault("`sender_id` and `recipient_id` are the same"));
        }
        let id_context = self.optional("id_context")?;
        if id_context.as_ref().map_or(0, Vec::len) > ID_CONTEXT_BYTES_MAX {
            let problem = format!("`id_context` has at most {ID_CONTEXT_BYTES_MAX} bytes");
            return Err(self.fault(&problem));
        }
        Ok(SharedKey {
            principal,
            secret: self.secret("master_secret")?,
            salt: self.optional("master_salt")?.unwrap_or_default(),
            own,
            peer,
            id_context,
        })
    }
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    let whole = digits.len().is_multiple_of(2);
    whole.then(|| digits.chunks_exact(2).map(byte).collect())?
}

fn drawn(bytes: usize) -> Result<String, String> {
    let mut drawn = vec![0; bytes];
    weir_random::fill(&mut drawn).map_err(|error| error.to_string())?;
    Ok(drawn.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// New keys of OSCORE: what the policy file keeps, and what the device does. The gateway's identifier is
/// the empty one, the device's is drawn.
pub fn new_oscore(name: &str, role: &str) -> Result<(String, String), String> {
    let (secret, salt) = (drawn(SECRET_BYTES_MIN)?, drawn(8)?);
    let id = drawn(DRAWN_ID_BYTES)?;
    let shared = format!("master_secret = \"{secret}\"\nmaster_salt = \"{salt}\"\n");
    let gateway = format!(
        "[oscore.{name}]\n{shared}sender_id = \"\"\nrecipient_id = \"{id}\"\nrole = \"{role}\"\n"
    );
    let device = format!("{shared}sender_id = \"{id}\"\nrecipient_id = \"\"\n");
    Ok((gateway, device))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn keys(text: &str) -> Result<Vec<SharedKey>, String> {
        let holder = |_: &str, name: &str, _: &Value| {
            let mut principal = Principal::unrestricted();
            principal.name = name.into();
            Ok(principal)
        };
        read(&text.parse().unwrap(), &holder)
    }

    #[test]
    fn what_is_printed_is_what_is_read() {
        let read = keys(&new_oscore("valve", "device").unwrap().0).unwrap();
        assert_eq!((read[0].own.len(), read[0].peer.len()), (0, 3));
        assert_eq!((read[0].secret.len(), read[0].salt.len()), (16, 8));
        assert_eq!(&*read[0].principal.name, "valve");
        assert!(!format!("{read:?}").contains("secret"));
    }

    #[test]
    fn a_key_with_a_mistake_is_refused_by_name() {
        let error = |text: &str| keys(text).err().unwrap();
        assert!(error("[oscore.a]\nmaster_key = \"00\"").contains("`master_key`"));
        let id = "recipient_id = \"01\"";
        let short = format!("[oscore.a]\nmaster_secret = \"00\"\n{id}");
        assert!(error(&short).contains("oscore `a`: `master_secret` has 1 bytes"));
        let digits = format!("[oscore.a]\nmaster_secret = \"0g\"\n{id}");
        assert!(error(&digits).contains("hexadecimal"));
        let secret = "00112233445566778899aabbccddeeff";
        let oscore = |name: &str, rest: &str| {
            format!("[oscore.{name}]\nmaster_secret = \"{secret}\"\n{rest}\n")
        };
        assert!(error(&oscore("a", "")).contains("the same"));
        let long = "recipient_id = \"0011223344556677\"";
        assert!(error(&oscore("a", long)).contains("at most 7 bytes"));
        let twice = oscore("a", id) + &oscore("b", id);
        assert!(error(&twice).contains("oscore `b`: another entry"));
        let apart = oscore("a", id) + &oscore("b", &format!("{id}\nid_context = \"07\""));
        assert_eq!(keys(&apart).unwrap().len(), 2);
    }
}
