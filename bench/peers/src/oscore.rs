//! The keys that the device and the gateway share where CoAP is secured by OSCORE (RFC 8613).
//!
//! The same in every run: what they keep from others is an echo of consonants. Sequence numbers begin
//! where the machine's clock is, so that no device uses one again that an earlier one had; they take
//! five bytes, as those of a device that has sent for long.

use std::path::Path;
use std::sync::Arc;

use weir_coap::secure::{Context, Contexts, Guard, Material, Numbers};

use crate::error::{Cause, Error};
use weir_bench_model::clock::now_ns;

/// The device's identifier.
const DEVICE: [u8; 1] = [0xd1];
const SECRET: [u8; 16] = [0x5e; 16];
const SALT: [u8; 8] = [0xa1; 8];
/// Nanoseconds for which a sequence number stands at the beginning.
const NUMBER_NS: u64 = 16_384;
/// Numbers that a device may use.
const NUMBERS: u64 = 1 << 24;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the gateway's policy: who has the keys may publish and read, and nobody else.
pub fn write_policy(path: &Path, topic: &str) -> Result<(), Error> {
    let text = format!(
        "[role.device]\npublish = [\"{topic}\"]\nread = [\"{topic}\"]\n\n[oscore.device]\n\
         master_secret = \"{}\"\nmaster_salt = \"{}\"\nsender_id = \"\"\nrecipient_id = \"{}\"\n\
         role = \"device\"\n",
        hex(&SECRET),
        hex(&SALT),
        hex(&DEVICE)
    );
    let written = std::fs::write(path, text);
    written.map_err(|e| Cause::from(e).of(path.display(), "writing the policy"))
}

/// The device's guard.
pub(crate) fn guard() -> Result<Guard<()>, Error> {
    let material = Material {
        secret: SECRET.into(),
        salt: SALT.into(),
        own: DEVICE.into(),
        peer: Vec::new(),
        id_context: None,
    };
    let failed = |fault| Cause::Unsendable(format!("{fault:?}")).of("OSCORE", "deriving keys");
    let keys = Context::derive(&material).map_err(failed)?;
    let first = now_ns() / NUMBER_NS;
    let numbers = Arc::new(Numbers::from(first));
    numbers.reserve(first + NUMBERS);
    let echo = now_ns().to_le_bytes();
    Ok(Guard::new(Arc::new(Contexts::new(
        vec![(keys, echo)],
        numbers,
    ))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_as_the_policy_file_has_them() {
        assert_eq!(hex(&[0x0a, 0xff]), "0aff");
        assert!(guard().is_ok());
    }
}
