//! Keys of two who talk to each other (RFC 8613 section 3): AES-CCM-16-64-128 and HKDF with SHA-256, which
//! everybody must have (section 3.2.1).

use super::header::{ID_BYTES_MAX, PartialIv};
use super::protect::Binding;
use aes::Aes128;
use ccm::aead::AeadInOut;
use ccm::consts::{U8, U13};
use ccm::{Ccm, KeyInit};
use core::fmt;
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};

type Cipher = Ccm<Aes128, U8, U13>;

/// COSE's number of AES-CCM-16-64-128 (RFC 9053 section 4.2).
const ALGORITHM: u8 = 10;
const KEY_BYTES: usize = 16;
const NONCE_BYTES: usize = 13;
/// What a ciphertext is longer by.
pub(super) const TAG_BYTES: usize = 8;
/// Shortest secret that is worth the name, bytes.
const SECRET_BYTES_MIN: usize = 16;
/// Longest identifier of a context, bytes.
const ID_CONTEXT_BYTES_MAX: usize = 255;

/// What two share and who is who (RFC 8613 section 3.2).
#[derive(Clone, PartialEq, Eq)]
pub struct Material {
    /// Master Secret.
    pub secret: Vec<u8>,
    /// Master Salt; empty for none.
    pub salt: Vec<u8>,
    /// Sender ID: our own.
    pub own: Vec<u8>,
    /// Recipient ID: the peer's.
    pub peer: Vec<u8>,
    /// ID Context, where the identifiers alone do not tell.
    pub id_context: Option<Vec<u8>>,
}

/// Secrets are shown nowhere.
impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Material");
        shown.field("own", &self.own).field("peer", &self.peer);
        shown.field("id_context", &self.id_context);
        shown.finish_non_exhaustive()
    }
}

/// Why keys cannot be made of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaterialFault {
    /// The secret is too short.
    Secret,
    /// An identifier is longer than seven bytes.
    Id,
    /// Both have the same identifier.
    SameId,
    /// The context's identifier is longer than 255 bytes.
    IdContext,
}

impl fmt::Display for MaterialFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MaterialFault::Secret => "the master secret has at least 16 bytes",
            MaterialFault::Id => "a sender or recipient identifier has at most 7 bytes",
            MaterialFault::SameId => "sender and recipient have the same identifier",
            MaterialFault::IdContext => "the identifier of a context has at most 255 bytes",
        })
    }
}

impl Material {
    // [RFC8613-3.3-1]
    fn check(&self) -> Result<(), MaterialFault> {
        if self.secret.len() < SECRET_BYTES_MIN {
            return Err(MaterialFault::Secret);
        }
        if self.own.len().max(self.peer.len()) > ID_BYTES_MAX {
            return Err(MaterialFault::Id);
        }
        if self.own == self.peer {
            return Err(MaterialFault::SameId);
        }
        if self.id_context.as_ref().map_or(0, Vec::len) > ID_CONTEXT_BYTES_MAX {
            Err(MaterialFault::IdContext)
        } else {
            Ok(())
        }
    }

    /// HKDF over the `info` of RFC 8613 section 3.2.1.
    fn derive(&self, id: &[u8], what: &str, out: &mut [u8]) {
        let mut info = vec![0x85];
        push_bytes(&mut info, id);
        match &self.id_context {
            Some(context) => push_bytes(&mut info, context),
            None => info.push(0xf6),
        }
        info.extend_from_slice(&[ALGORITHM, 0x60 | what.len() as u8]);
        info.extend_from_slice(what.as_bytes());
        info.push(out.len() as u8);
        let extracted = Salt::new(HKDF_SHA256, &self.salt).extract(&self.secret);
        let info = [&info[..]];
        let expanded = extracted.expand(&info, Length(out.len()));
        // Only more than 255 hashes can be refused.
        let filled = expanded.and_then(|expanded| expanded.fill(out));
        debug_assert!(filled.is_ok());
    }
}

#[derive(Clone, Copy)]
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// A CBOR byte string (RFC 8949 section 3.1) of at most 65,535 bytes.
fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        short @ 0..=23 => out.push(0x40 | short as u8),
        length @ 24..=255 => out.extend_from_slice(&[0x58, length as u8]),
        length => {
            out.push(0x59);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

/// Keys of both directions, derived.
pub struct Context {
    own: Side,
    peer: Side,
    iv: [u8; NONCE_BYTES],
    id_context: Option<Vec<u8>>,
}

struct Side {
    id: Vec<u8>,
    cipher: Cipher,
}

/// Keys are shown nowhere.
impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").finish_non_exhaustive()
    }
}

/// Whose key closes or opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Own,
    Peer,
}

/// What a nonce is made of (RFC 8613 section 5.2): whose number it is, and the number.
#[derive(Clone, Copy)]
pub(super) struct Nonce {
    pub(super) whose: Whose,
    pub(super) piv: PartialIv,
}

impl Context {
    /// Derives the keys.
    pub fn derive(material: &Material) -> Result<Self, MaterialFault> {
        material.check()?;
        let side = |id: &[u8]| {
            let mut key = [0; KEY_BYTES];
            material.derive(id, "Key", &mut key);
            Side {
                id: id.to_vec(),
                cipher: Cipher::new(&key.into()),
            }
        };
        let mut iv = [0; NONCE_BYTES];
        material.derive(&[], "IV", &mut iv);
        Ok(Self {
            own: side(&material.own),
            peer: side(&material.peer),
            iv,
            id_context: material.id_context.clone(),
        })
    }

    /// Sender ID: our own.
    pub fn own_id(&self) -> &[u8] {
        &self.own.id
    }

    /// Recipient ID: the peer's.
    pub fn peer_id(&self) -> &[u8] {
        &self.peer.id
    }

    /// ID Context.
    pub fn id_context(&self) -> Option<&[u8]> {
        self.id_context.as_deref()
    }

    fn side(&self, whose: Whose) -> &Side {
        match whose {
            Whose::Own => &self.own,
            Whose::Peer => &self.peer,
        }
    }

    // [RFC8613-5.2-1]
    fn nonce(&self, nonce: Nonce) -> [u8; NONCE_BYTES] {
        let mut bytes = [0; NONCE_BYTES];
        let id = &self.side(nonce.whose).id;
        let piv = nonce.piv.as_bytes();
        bytes[0] = id.len() as u8;
        bytes[1 + ID_BYTES_MAX - id.len()..=ID_BYTES_MAX].copy_from_slice(id);
        bytes[NONCE_BYTES - piv.len()..].copy_from_slice(piv);
        bytes
            .iter_mut()
            .zip(self.iv)
            .for_each(|(byte, iv)| *byte ^= iv);
        bytes
    }

    /// `Enc_structure` with the external AAD (RFC 8613 section 5.4); no option of class I is defined.
    // [RFC8613-5.4-1]
    fn aad(&self, bound: &Binding) -> Vec<u8> {
        let mut external = vec![0x85, 0x01, 0x81, ALGORITHM];
        push_bytes(&mut external, &self.side(bound.whose).id);
        push_bytes(&mut external, bound.piv.as_bytes());
        push_bytes(&mut external, &[]);
        let mut aad = vec![0x83, 0x68];
        aad.extend_from_slice(b"Encrypt0\x40");
        push_bytes(&mut aad, &external);
        aad
    }

    /// Closes a plaintext in its place; false where it is too long for the algorithm.
    pub(super) fn seal(&self, nonce: Nonce, bound: &Binding, text: &mut Vec<u8>) -> bool {
        let bytes = self.nonce(nonce).into();
        let aad = self.aad(bound);
        self.own.cipher.encrypt_in_place(&bytes, &aad, text).is_ok()
    }

    /// Opens a ciphertext in its place; false where it is not the peer's.
    pub(super) fn open(&self, nonce: Nonce, bound: &Binding, text: &mut Vec<u8>) -> bool {
        let bytes = self.nonce(nonce).into();
        let aad = self.aad(bound);
        self.peer
            .cipher
            .decrypt_in_place(&bytes, &aad, text)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::secure::protect::tests::{hex, material};

    fn keys(material: &Material) -> [Vec<u8>; 3] {
        let key = |id: &[u8]| {
            let mut out = vec![0; KEY_BYTES];
            material.derive(id, "Key", &mut out);
            out
        };
        let mut iv = vec![0; NONCE_BYTES];
        material.derive(&[], "IV", &mut iv);
        [key(&material.own), key(&material.peer), iv]
    }

    /// RFC 8613 appendices C.1.1, C.2.1 and C.3.1.
    #[test]
    fn keys_are_derived_as_in_the_standards_examples() {
        for (material, expected) in [
            (
                material("9e7ca92223786340", "", "01", None),
                [
                    "f0910ed7295e6ad4b54fc793154302ff",
                    "ffb14e093c94c9cac9471648b4f98710",
                    "4622d4dd6d944168eefb54987c",
                ],
            ),
            (
                material("", "00", "01", None),
                [
                    "321b26943253c7ffb6003b0b64d74041",
                    "e57b5635815177cd679ab4bcec9d7dda",
                    "be35ae297d2dace910c52e99f9",
                ],
            ),
            (
                material("9e7ca92223786340", "", "01", Some("37cbf3210017a2d3")),
                [
                    "af2a1300a5e95788b356336eeecd2b92",
                    "e39a0c7c77b43f03b4b39ab9a268699f",
                    "2ca58fb85ff1b81c0b7181b85e",
                ],
            ),
        ] {
            assert_eq!(keys(&material), expected.map(hex));
        }
    }

    /// [RFC8613-3.3-1]
    #[test]
    fn material_that_makes_no_keys_is_named() {
        let good = material("", "00", "01", None);
        let changed = |change: fn(&mut Material)| {
            let mut bad = good.clone();
            change(&mut bad);
            Context::derive(&bad).err()
        };
        assert_eq!(changed(|_| {}), None);
        let short = changed(|bad| bad.secret.truncate(15));
        assert_eq!(short, Some(MaterialFault::Secret));
        assert_eq!(changed(|bad| bad.own = vec![0; 8]), Some(MaterialFault::Id));
        let same = changed(|bad| bad.own = bad.peer.clone());
        assert_eq!(same, Some(MaterialFault::SameId));
        let long = changed(|bad| bad.id_context = Some(vec![0; 256]));
        assert_eq!(long, Some(MaterialFault::IdContext));
        assert!(!format!("{good:?}").contains("secret"));
    }
}
