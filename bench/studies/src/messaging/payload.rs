//! The message of the paper: 7 observations a node, as JSON, another second each time.

use weir_codec::{by_name, sample};
use weir_model::{Batch, BatchBuilder, Limits};

/// Where messages go: what they observe lies below.
pub(super) const TOPIC: &str = "heating";
/// Where the second client sends them back to: what a message of one node observes lies below.
pub(super) const BACK: &str = "heating/substation-1";

/// What stands before the time of an observation.
const TIME: &[u8] = b"\"time\":\"";

/// The data of a message, as they are at hand before encoding.
pub(super) fn batch(nodes: usize, second: u64) -> Batch {
    sample::message(nodes, second)
}

/// Encodes a message.
pub(super) fn encode(batch: &Batch, out: &mut Vec<u8>) -> Result<(), String> {
    let json = by_name("json").ok_or("no JSON")?;
    out.clear();
    (json.encode)(batch, out);
    Ok(())
}

/// Decodes a message.
pub(super) fn decode(bytes: &[u8]) -> Result<Batch, String> {
    let json = by_name("json").ok_or("no JSON")?;
    let mut builder = BatchBuilder::new();
    (json.decode)(bytes, &mut builder, &Limits::default()).map_err(|e| e.to_string())?;
    Ok(builder.finish())
}

/// The time of its first observation, which tells one message from another.
pub(super) fn id(payload: &[u8]) -> String {
    let at = memchr::memmem::find(payload, TIME).map_or(payload.len(), |at| at + TIME.len());
    let rest = &payload[at..];
    let end = memchr::memchr(b'"', rest).unwrap_or(0);
    String::from_utf8_lossy(&rest[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn json(nodes: usize, second: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&batch(nodes, second), &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn messages_are_as_long_as_those_of_the_paper_within_two_percent() {
        for (nodes, published) in [
            (1, 1478.0),
            (2, 2898.5),
            (3, 4318.5),
            (4, 5740.0),
            (5, 7163.0),
        ] {
            let share = json(nodes, 0).len() as f64 / published;
            assert!((0.98..=1.02).contains(&share), "{nodes}: {share}");
        }
    }

    #[test]
    fn messages_of_different_seconds_differ_in_what_tells_them_apart() {
        let (first, second) = (json(1, 0), json(1, 1));
        assert_ne!(id(&first), id(&second));
        assert!(id(&first).starts_with("2026-11-20T"), "{}", id(&first));
        assert_eq!(id(b"{}"), "");
        assert!(decode(&first).is_ok() && decode(b"[").is_err());
    }
}
