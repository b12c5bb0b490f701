//! What the log holds: versioned records.
//!
//! Layout, little-endian: version u8 (2), kind u8, arrival i64 (ns), then topic, media, key and origin,
//! each with a u16 length before it, then attributes with a u32 length, then the body to the end. Version
//! 1 has no attributes and is read too. A record keeps the bytes as published.

use std::fmt;
use weir_model::Time;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A message of observations; `media` is the format's name.
    Observations,
    /// Bytes that are none of the formats; `media` is their content type.
    Opaque,
    /// The catalog's entry of `topic` is now the body (a JSON object), or deleted where it is empty.
    Change,
    /// The state of the durable consumer that `topic` names.
    Consumer,
    /// The retained message of `topic`.
    Retained,
    /// The entity that `topic` names is now the body (a JSON object), or removed where it is empty.
    Entity,
    /// The observation that `topic` places is withdrawn, or is so no more where the body is empty.
    Withdrawn,
}

impl Kind {
    const ALL: [Kind; 7] = [
        Kind::Observations,
        Kind::Opaque,
        Kind::Change,
        Kind::Consumer,
        Kind::Retained,
        Kind::Entity,
        Kind::Withdrawn,
    ];

    /// Whether only the last record of a (kind, topic) counts: such records outlive retention.
    pub const fn is_keyed(self) -> bool {
        !matches!(self, Kind::Observations | Kind::Opaque)
    }
}

/// A record, borrowed from whoever holds its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// What it is about.
    pub kind: Kind,
    /// When it reached the gateway.
    pub arrival: Time,
    /// Topic that it was published at, or the key of keyed kinds.
    pub topic: &'a str,
    /// Format or content type of the body.
    pub media: &'a str,
    /// The publisher's idempotency key with its principal, or empty.
    pub key: &'a [u8],
    /// The gateway or bridge that it came through, or empty: a bridge never sends one back.
    pub origin: &'a str,
    /// What goes with the message, as `weir_hub::Attributes` are kept; none for what is usual.
    pub attributes: &'a [u8],
    /// The bytes as published.
    pub body: &'a [u8],
}

/// The bytes are no record of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotARecord {
    /// Offset of the first byte that does not fit.
    pub at: usize,
}

impl fmt::Display for NotARecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not a record of version 1 or {}: byte {}",
            Record::VERSION,
            self.at
        )
    }
}

impl std::error::Error for NotARecord {}

/// The version whose records have no attributes.
const WITHOUT_ATTRIBUTES: u8 = 1;

impl Record<'_> {
    /// The version that is written, the highest that is read. Gateways that share a log go by it: it is to be raised
    /// with any change that makes a record say something else to the weir before.
    pub const VERSION: u8 = 2;
}

impl<'a> Record<'a> {
    /// Appends the record's bytes. Names longer than 65,535 bytes are cut (limits forbid them before).
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(Self::VERSION);
        out.push(self.kind as u8);
        out.extend_from_slice(&self.arrival.nanos().to_le_bytes());
        for part in [
            self.topic.as_bytes(),
            self.media.as_bytes(),
            self.key,
            self.origin.as_bytes(),
        ] {
            let part = &part[..part.len().min(usize::from(u16::MAX))];
            out.extend_from_slice(&(part.len() as u16).to_le_bytes());
            out.extend_from_slice(part);
        }
        out.extend_from_slice(&(self.attributes.len() as u32).to_le_bytes());
        out.extend_from_slice(self.attributes);
        out.extend_from_slice(self.body);
    }

    /// Reads a record that fills `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Self, NotARecord> {
        let mut parts = Parts { bytes, at: 0 };
        let version = parts.take(1)?[0];
        if !matches!(version, WITHOUT_ATTRIBUTES | Self::VERSION) {
            return Err(NotARecord { at: 0 });
        }
        let kind = usize::from(parts.take(1)?[0]);
        let kind = *Kind::ALL.get(kind).ok_or(NotARecord { at: 1 })?;
        let arrival = parts
            .take(8)?
            .try_into()
            .map_err(|_| NotARecord { at: 2 })?;
        Ok(Self {
            kind,
            arrival: Time::from_nanos(i64::from_le_bytes(arrival)),
            topic: parts.text()?,
            media: parts.text()?,
            key: parts.counted()?,
            origin: parts.text()?,
            attributes: match version {
                WITHOUT_ATTRIBUTES => &[],
                _ => parts.long()?,
            },
            body: &bytes[parts.at..],
        })
    }
}

struct Parts<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Parts<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], NotARecord> {
        let part = self
            .bytes
            .get(self.at..self.at.saturating_add(len))
            .ok_or(NotARecord { at: self.at })?;
        self.at += len;
        Ok(part)
    }

    fn counted(&mut self) -> Result<&'a [u8], NotARecord> {
        let len = self.take(2)?;
        self.take(usize::from(u16::from_le_bytes([len[0], len[1]])))
    }

    fn long(&mut self) -> Result<&'a [u8], NotARecord> {
        let len = self.take(4)?;
        self.take(u32::from_le_bytes([len[0], len[1], len[2], len[3]]) as usize)
    }

    fn text(&mut self) -> Result<&'a str, NotARecord> {
        let at = self.at;
        std::str::from_utf8(self.counted()?).map_err(|_| NotARecord { at })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_record_reads_back_and_a_cut_one_is_refused() {
        let record = Record {
            kind: Kind::Opaque,
            arrival: Time::from_nanos(-5),
            topic: "a/b",
            media: "image/png",
            key: b"alice\0k1",
            origin: "west",
            attributes: b"\x02",
            body: b"\x00\xff",
        };
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        assert_eq!(Record::read(&bytes), Ok(record));
        let head = bytes.len() - record.body.len();
        assert!((0..head).all(|cut| Record::read(&bytes[..cut]).is_err()));
    }

    #[test]
    fn a_record_of_version_1_still_reads() {
        let bytes = b"\x01\x00\x05\0\0\0\0\0\0\0\x03\0a/b\x04\0json\0\0\x04\0west{\"value\":1}";
        let record = Record {
            kind: Kind::Observations,
            arrival: Time::from_nanos(5),
            topic: "a/b",
            media: "json",
            key: b"",
            origin: "west",
            attributes: b"",
            body: b"{\"value\":1}",
        };
        assert_eq!(Record::read(bytes), Ok(record));
    }
}
