//! The opening handshake's key and its answer (RFC 6455 section 4).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

/// What both sides append to the key (RFC 6455 section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// `Sec-WebSocket-Accept` for this `Sec-WebSocket-Key`; `None` if the key is not 16 bytes in base64
/// (RFC 6455 section 4.2.1).
pub fn accept(key: &str) -> Option<String> {
    let nonce = STANDARD.decode(key).ok()?;
    (nonce.len() == 16).then(|| {
        let mut sha1 = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
        sha1.update(key.as_bytes());
        sha1.update(GUID);
        STANDARD.encode(sha1.finish())
    })
}

/// `Sec-WebSocket-Key` of a nonce that the caller drew at random.
pub fn key(nonce: [u8; 16]) -> String {
    STANDARD.encode(nonce)
}

#[cfg(test)]
mod tests {
    use crate::*;

    #[test]
    fn the_key_of_rfc_6455_section_1_3_is_accepted() {
        let accepted = accept("dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(accepted.as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        assert_eq!(key(*b"the sample nonce"), "dGhlIHNhbXBsZSBub25jZQ==");
    }

    #[test]
    fn a_key_of_another_length_is_refused() {
        assert_eq!(accept("c2hvcnQ="), None);
        assert_eq!(accept("not base64!"), None);
    }
}
