//! The keys that an issuer publishes: a JSON Web Key Set (RFC 7517), of which those count that may check a signature.
//!
//! A key that cannot be used, by its kind, its size or its own words, is left out and costs the others nothing
//! (section 5). A shared secret is never read, and a key that is published with its private part is none.

use super::algorithms::{Algorithm, Check};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::{Map, Value as Json};
use weir_hub::json;

/// Keys of one set that a token without a `kid` is tried with.
const TRIED_MAX: usize = 8;
/// Shortest and longest modulus of RSA, bits (RFC 7518 section 3.3).
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// The usable keys of a set.
#[derive(Default)]
pub(crate) struct Keys(Vec<Key>);

/// A key.
pub(super) struct Key {
    id: Option<String>,
    /// The one algorithm that it is for, where it says so.
    algorithm: Option<String>,
    material: Material,
}

/// What a signature is checked with.
#[derive(Clone, PartialEq)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// What has signed a token: a key, in a way.
#[derive(Clone)]
pub(crate) struct Signer {
    algorithm: &'static Algorithm,
    material: Material,
}

impl Keys {
    /// Reads a set.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let set = json::read_object(text.as_bytes()).map_err(|error| error.to_string())?;
        let keys = set.get("keys").and_then(Json::as_array);
        let keys = keys.ok_or("no array `keys`")?.iter();
        Ok(Self(
            keys.filter_map(|key| Key::read(key.as_object()?)).collect(),
        ))
    }

    /// Which of the keys has signed this; an error where none may have, `None` where none has.
    pub(super) fn signer(
        &self,
        id: Option<&str>,
        algorithm: &'static Algorithm,
        (text, signature): (&str, &[u8]),
    ) -> Result<Option<Signer>, NoKey> {
        let fits = |key: &&Key| (id.is_none() || key.id.as_deref() == id) && key.is_for(algorithm);
        let fitting: Vec<&Key> = self.0.iter().filter(fits).collect();
        match fitting.len() {
            0 => Err(NoKey::Unknown),
            1..=TRIED_MAX => Ok(fitting
                .into_iter()
                .find(|key| key.material.has_signed(algorithm, text, signature))
                .map(|key| Signer {
                    algorithm,
                    material: key.material.clone(),
                })),
            _ => Err(NoKey::Ambiguous),
        }
    }

    /// Says whether a key that has signed is still there, for what it was used for.
    pub(crate) fn hold(&self, signer: &Signer) -> bool {
        let mut keys = self.0.iter();
        keys.any(|key| key.is_for(signer.algorithm) && key.material == signer.material)
    }
}

/// Why there is no key for a token.
#[derive(Debug, PartialEq)]
pub(crate) enum NoKey {
    /// None has its `kid`, its kind and its algorithm.
    Unknown,
    /// More than are tried.
    Ambiguous,
}

impl Key {
    fn read(key: &Map<String, Json>) -> Option<Self> {
        let is_private = key.contains_key("d") || key.contains_key("k");
        (!is_private && may_verify(key)).then_some(())?;
        Some(Self {
            id: optional(key, "kid")?,
            algorithm: optional(key, "alg")?,
            material: Material::read(key)?,
        })
    }

    /// Says whether it is of the kind that an algorithm signs with, and for no other algorithm (RFC 8725 section 3.1).
    fn is_for(&self, algorithm: &Algorithm) -> bool {
        let own = self.algorithm.as_deref();
        own.is_none_or(|own| own == algorithm.name) && self.material.is_for(algorithm)
    }
}

impl Material {
    fn read(key: &Map<String, Json>) -> Option<Self> {
        let text = |name: &str| key.get(name).and_then(Json::as_str);
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?).ok();
        let point = |width: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            let whole = x.len() == width && y.len() == width;
            whole.then(|| [&[4][..], &x, &y].concat())
        };
        match (text("kty")?, text("crv")) {
            ("RSA", _) => {
                let (n, e) = (bytes("n")?, bytes("e")?);
                let bits = n.len() * 8 - n.first()?.leading_zeros() as usize;
                RSA_BITS.contains(&bits).then_some(Self::Rsa { n, e })
            }
            ("EC", Some("P-256")) => Some(Self::P256(point(32)?)),
            ("EC", Some("P-384")) => Some(Self::P384(point(48)?)),
            ("OKP", Some("Ed25519")) => {
                let x = bytes("x")?;
                (x.len() == 32).then_some(Self::Ed25519(x))
            }
            _ => None,
        }
    }

    fn is_for(&self, algorithm: &Algorithm) -> bool {
        matches!(
            (self, &algorithm.check),
            (Self::Rsa { .. }, Check::Rsa(_))
                | (Self::P256(_), Check::P256(_))
                | (Self::P384(_), Check::P384(_))
                | (Self::Ed25519(_), Check::Ed25519(_))
        )
    }

    fn has_signed(&self, algorithm: &Algorithm, text: &str, signature: &[u8]) -> bool {
        let text = text.as_bytes();
        let checked = match (self, &algorithm.check) {
            (Self::Rsa { n, e }, Check::Rsa(check)) => {
                RsaPublicKeyComponents { n, e }.verify(check, text, signature)
            }
            (Self::P256(key), Check::P256(check))
            | (Self::P384(key), Check::P384(check))
            | (Self::Ed25519(key), Check::Ed25519(check)) => {
                UnparsedPublicKey::new(*check, key).verify(text, signature)
            }
            _ => return false,
        };
        checked.is_ok()
    }
}

/// Says whether a key's own words let it check a signature (RFC 7517 sections 4.2 and 4.3).
fn may_verify(key: &Map<String, Json>) -> bool {
    let is_verify = |operation: &Json| operation.as_str() == Some("verify");
    let used = key.get("use").is_none_or(|it| it.as_str() == Some("sig"));
    let operations = key.get("key_ops").map(|it| it.as_array());
    used && operations.is_none_or(|all| all.is_some_and(|all| all.iter().any(is_verify)))
}

/// A member that is a text where it is there at all; `None` where it is something else.
fn optional(key: &Map<String, Json>, name: &str) -> Option<Option<String>> {
    match key.get(name) {
        None => Some(None),
        Some(value) => value.as_str().map(|text| Some(text.to_owned())),
    }
}
