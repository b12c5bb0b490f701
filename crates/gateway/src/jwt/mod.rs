//! JSON Web Tokens (RFC 7519) in their compact form (RFC 7515 section 7.1), read and checked.
//!
//! What it deliberately does not do: encrypted tokens, compressed ones, signatures over many parts, extensions
//! (`crit`), keys that a token brings or points at. The decision worth arguing: the rules are our own and only
//! signatures are checked by a library, since what RFC 8725 asks for is what libraries pass over.

mod algorithms;
mod claims;
mod keys;

pub(crate) use claims::{Claims, Expected, Holder};
pub(crate) use keys::{Keys, NoKey, Signer};

use crate::limits::TOKEN_BYTES_MAX;
use algorithms::Algorithm;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value as Json};
use weir_hub::json;

/// Members of a header with which a token would not be what is read here: extensions that must be understood, a
/// payload as it is (RFC 7797), and what encrypted tokens have (RFC 7516).
const NOT_TAKEN: &[&str] = &["crit", "b64", "enc", "zip"];

/// A token in its parts, of which nothing is believed yet.
pub(crate) struct Token<'a> {
    algorithm: &'static Algorithm,
    key_id: Option<String>,
    /// Media type without `application/`, in lower case.
    pub(crate) kind: Option<String>,
    pub(crate) claims: Claims,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Token<'a> {
    /// Says whether a text is meant as a token: a password may have dots, too.
    pub(crate) fn is_meant(text: &str) -> bool {
        let first = text.split_once('.').map(|(first, _)| first);
        let first = first.filter(|first| first.len() <= TOKEN_BYTES_MAX);
        first.is_some_and(|first| part(first, "header").is_ok())
    }

    /// Reads a token.
    pub(crate) fn read(text: &'a str) -> Result<Self, String> {
        if text.len() > TOKEN_BYTES_MAX {
            return Err(format!("longer than {TOKEN_BYTES_MAX} bytes"));
        }
        let (signed, signature) = text.rsplit_once('.').ok_or("not three parts")?;
        let (head, body) = signed.split_once('.').ok_or("not three parts")?;
        if body.contains('.') {
            return Err("not three parts".into());
        }
        let head = Header(part(head, "header")?);
        head.refuse_others()?;
        Ok(Self {
            algorithm: head.algorithm()?,
            key_id: head.text("kid")?.map(Into::into),
            kind: head.text("typ")?.map(media_type),
            claims: part(body, "claims")?,
            signed,
            signature: decoded(signature, "signature")?,
        })
    }

    /// Which of the keys has signed it; an error where none of them can have.
    pub(crate) fn signer(&self, keys: &Keys) -> Result<Option<Signer>, NoKey> {
        let signed = (self.signed, &self.signature[..]);
        keys.signer(self.key_id.as_deref(), self.algorithm, signed)
    }
}

/// The media type of a `typ`: without a slash it has `application/` before it, and case does not count (RFC 7515
/// section 4.1.9).
pub(crate) fn media_type(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    let rest = text.strip_prefix("application/");
    rest.unwrap_or(&text).to_owned()
}

struct Header(Map<String, Json>);

impl Header {
    fn refuse_others(&self) -> Result<(), String> {
        let mut others = NOT_TAKEN.iter().filter(|name| self.0.contains_key(**name));
        if let Some(name) = others.next() {
            return Err(format!("header member `{name}` is not taken"));
        }
        // What is in it would be a token, and not claims (RFC 7519 section 5.2).
        match self.text("cty")?.map(media_type).as_deref() {
            Some("jwt") => Err("a token within a token is not taken".into()),
            _ => Ok(()),
        }
    }

    fn algorithm(&self) -> Result<&'static Algorithm, String> {
        let name = self.text("alg")?.ok_or("no `alg`")?;
        Algorithm::named(name).ok_or_else(|| format!("`alg` {name:?} is not taken"))
    }

    fn text(&self, name: &str) -> Result<Option<&str>, String> {
        let value = self.0.get(name);
        let text = value.map(|value| value.as_str().ok_or(format!("`{name}` is no text")));
        text.transpose()
    }
}

fn part(text: &str, what: &str) -> Result<Map<String, Json>, String> {
    json::read_object(&decoded(text, what)?).map_err(|problem| format!("{what}: {problem}"))
}

/// Without padding, line breaks or bits that say nothing (RFC 7515 section 2).
fn decoded(text: &str, what: &str) -> Result<Vec<u8>, String> {
    let decoded = URL_SAFE_NO_PAD.decode(text);
    decoded.map_err(|error| format!("{what}: not base64url: {error}"))
}

#[cfg(test)]
pub(crate) mod tests;
