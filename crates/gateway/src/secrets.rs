//! Passwords and tokens: made, hashed, and taken out of header fields (docs/decisions/0009).

use argon2::Argon2;
use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};

/// Says whether a password is the one of this argon2 hash; takes some 20 ms.
pub(crate) fn is_password(password: &str, hash: &str) -> bool {
    let parsed = PasswordHash::new(hash);
    parsed.is_ok_and(|hash| {
        let compared = Argon2::default().verify_password(password.as_bytes(), &hash);
        compared.is_ok()
    })
}

/// Says whether this is an argon2 hash.
pub(crate) fn is_hash(text: &str) -> bool {
    PasswordHash::new(text).is_ok()
}

/// The user-id and the password of `Basic` (RFC 7617 section 2).
pub(crate) fn name_and_password(secret: &str) -> Option<(String, String)> {
    let decoded = STANDARD.decode(secret.trim()).ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    let (name, password) = decoded.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    digest(&SHA256, bytes).as_ref().to_vec()
}

pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    let hash = digest(&SHA256, bytes);
    let digits = hash.as_ref().iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// 192 random bits as text.
pub(crate) fn drawn() -> Result<String, String> {
    let bytes = weir_random::bytes::<24>().map_err(|error| error.to_string())?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The argon2 hash of a password, as the policy file keeps it.
pub fn hash_password(password: &str) -> Result<String, String> {
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string())
        .map_err(|error| error.to_string())
}

/// A new token (192 random bits) and the SHA-256 that the policy file keeps.
pub fn new_token() -> Result<(String, String), String> {
    let token = drawn()?;
    let hash = sha256_hex(token.as_bytes());
    Ok((token, hash))
}
