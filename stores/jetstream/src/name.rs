//! Subjects of records and names of the two streams.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use weir_storage::{Kind, Record};

/// The names that come of a stream's.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) stream: String,
    pub(crate) keyed: String,
}

impl Names {
    pub(crate) fn of(stream: &str) -> Self {
        Self {
            stream: stream.into(),
            keyed: format!("{stream}_keyed"),
        }
    }

    /// Says whether a text may name a stream (no space, dot, wildcard or separator).
    pub(crate) fn is_name(text: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        !text.is_empty() && text.len() <= 64 && text.bytes().all(plain)
    }

    /// Filter of the records of which only the last of a subject counts.
    pub(crate) fn keyed_filter(&self) -> String {
        format!("{}.k.>", self.stream)
    }

    /// Subject of a record.
    pub(crate) fn subject(&self, record: &Record<'_>) -> String {
        let stream = &self.stream;
        if !record.kind.is_keyed() {
            return format!("{stream}.m");
        }
        let topic = URL_SAFE_NO_PAD.encode(record.topic);
        if is_taught(record) {
            format!("{stream}.k.t.{topic}")
        } else {
            format!("{stream}.k.{}.{topic}", record.kind as u8)
        }
    }

    /// What tells a submission from all others; the same for the same key, whoever submits it.
    pub(crate) fn message_id(record: &Record<'_>, nonce: &str, number: u64) -> String {
        if record.key.is_empty() {
            return format!("{nonce}.{number}");
        }
        let key = URL_SAFE_NO_PAD.encode(record.key);
        if is_taught(record) {
            format!("t.{key}.{}", URL_SAFE_NO_PAD.encode(record.topic))
        } else {
            format!(
                "k.{key}.{:016x}",
                digest(&[record.media.as_bytes(), record.body])
            )
        }
    }
}

/// Says whether a record tells what a message had taught.
pub(crate) fn is_taught(record: &Record<'_>) -> bool {
    record.kind == Kind::Change && !record.key.is_empty()
}

/// Cursor's bits of the message that taught it.
pub(crate) fn taught_by(record: &Record<'_>) -> u64 {
    let bits = record.key.try_into().map(u64::from_be_bytes);
    bits.map_or(0, |bits| bits & weir_model::cursor::SEQUENCE_MAX)
}

/// FNV-1a (64 bits), the same on every machine.
pub(crate) fn digest(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter().chain(&[0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
