//! A session as the log keeps it: what is left of it while its client is away, or the gateway.
//!
//! Layout, little-endian: version u8, owner, seconds that it lives on (u32), when its client left (i64,
//! Unix ns; `i64::MIN` where it has not), subscriptions, what is under way, QoS 2 identifiers received,
//! the will, the packet identifier given last (u16; none in version 1), and what is not there before version 3:
//! the connection whose will it is, up to where it is doubtful what was sent (u64 each), the keys of messages
//! received, by identifier (u16, u64). Texts and lists have a u32 length before them.

use crate::session::{InFlight, Message, MessageProperties, Stage, State, Token, Will};
use crate::wire::{QoS, SubscriptionOptions, Version};
use bytes::Bytes;
use weir_model::{Cursor, Time};
use weir_sansio::Instant;

/// What outlives a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// The principal whose session it is.
    pub(super) owner: String,
    /// Seconds that it lives on without its client; `u32::MAX` for ever.
    pub(super) expiry_secs: u32,
    /// When its client left; `None` while it has a connection.
    pub(super) left: Option<Time>,
    pub(super) subscriptions: Vec<StoredSubscription>,
    pub(super) state: State,
    /// The will that waits for its delay.
    pub(super) will: Option<Box<Will>>,
    /// Where the log says that the connection whose will it is had the session.
    pub(super) connection: Cursor,
    /// Keys of QoS 2 messages received and not released.
    pub(super) receipts: Vec<(u16, u64)>,
    /// Under which claim it is this gateway's; not in the record itself.
    pub(super) claim: Cursor,
    /// Up to where messages may have been sent that the record knows nothing of, since it was a crash that
    /// ended the connection.
    pub(super) doubtful: Cursor,
    /// Since when the log refuses its will, and when it is asked again; not in the record itself.
    pub(super) put_off: Option<(Instant, Time)>,
}

/// A subscription and how far its client is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredSubscription {
    pub(super) filter: String,
    pub(super) options: SubscriptionOptions,
    pub(super) identifier: Option<u32>,
    pub(super) wants_cursor: bool,
    /// What tells its messages from those of others in [`Token`]s.
    pub(super) key: u32,
    /// Up to where messages were handed to the client.
    pub(super) delivered: Cursor,
}

const VERSION: u8 = 3;

impl Stored {
    /// When it ends; `None` for never, or while its client is there.
    pub(super) fn ends(&self) -> Option<Time> {
        match (self.left, self.expiry_secs) {
            (None, _) | (_, u32::MAX) => None,
            (Some(left), secs) => Some(after(left, secs)),
        }
    }

    /// When its will is due.
    pub(super) fn will_due(&self) -> Option<Time> {
        let will = self.will.as_ref()?;
        Some(after(self.left?, will.delay_secs))
    }

    /// The record's bytes.
    pub(super) fn write(&self) -> Bytes {
        let mut out = vec![VERSION];
        text(&mut out, &self.owner);
        number(&mut out, self.expiry_secs);
        let left = self.left.map_or(i64::MIN, Time::nanos);
        out.extend_from_slice(&left.to_le_bytes());
        number(&mut out, self.subscriptions.len() as u32);
        for of in &self.subscriptions {
            of.write(&mut out);
        }
        number(&mut out, self.state.in_flight.len() as u32);
        for of in &self.state.in_flight {
            write_flight(of, &mut out);
        }
        number(&mut out, self.state.received.len() as u32);
        for id in &self.state.received {
            out.extend_from_slice(&id.to_le_bytes());
        }
        out.push(u8::from(self.will.is_some()));
        if let Some(will) = &self.will {
            write_will(will, &mut out);
        }
        out.extend_from_slice(&self.state.last_id.to_le_bytes());
        out.extend_from_slice(&self.connection.bits().to_le_bytes());
        out.extend_from_slice(&self.doubtful.bits().to_le_bytes());
        number(&mut out, self.receipts.len() as u32);
        for (id, key) in &self.receipts {
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&key.to_le_bytes());
        }
        out.into()
    }

    /// Reads a record; `None` for one that is none of this version.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader { bytes };
        let version = from.u8()?;
        if !(1..=VERSION).contains(&version) {
            return None;
        }
        let owner = from.text()?;
        let expiry_secs = from.u32()?;
        let left = from.i64()?;
        let count = from.count(12)?;
        let subscriptions = (0..count).map(|_| StoredSubscription::read(&mut from));
        let subscriptions = subscriptions.collect::<Option<_>>()?;
        let count = from.count(19)?;
        let in_flight = (0..count).map(|_| read_flight(&mut from));
        let in_flight = in_flight.collect::<Option<Vec<_>>>()?;
        let count = from.count(2)?;
        let received = (0..count).map(|_| from.u16()).collect::<Option<_>>()?;
        let will = match from.u8()? {
            0 => None,
            _ => Some(Box::new(read_will(&mut from)?)),
        };
        let last_id = match version {
            1 => in_flight.last().map_or(0, |of: &InFlight| of.packet_id),
            _ => from.u16()?,
        };
        let is_old = version < 3;
        let mut cursor = || match is_old {
            true => Some(Cursor::START),
            false => from.u64().map(Cursor::from_bits),
        };
        let (connection, doubtful) = (cursor()?, cursor()?);
        let receipts = if is_old {
            Vec::new()
        } else {
            read_receipts(&mut from)?
        };
        Some(Self {
            owner,
            expiry_secs,
            left: (left != i64::MIN).then(|| Time::from_nanos(left)),
            subscriptions,
            state: State {
                received,
                in_flight,
                last_id,
            },
            will,
            connection,
            receipts,
            claim: Cursor::START,
            doubtful,
            put_off: None,
        })
    }

    /// Its client was last there then, as it did not say that it left.
    pub(super) fn leave_at(&mut self, last: Time, doubtful: Cursor) {
        if self.left.is_none() {
            self.left = Some(last);
            self.doubtful = doubtful;
        }
    }
}

/// The time so many seconds later.
pub(super) fn after(now: Time, secs: u32) -> Time {
    now.plus_nanos(i64::from(secs) * 1_000_000_000)
}

fn read_receipts(from: &mut Reader<'_>) -> Option<Vec<(u16, u64)>> {
    let count = from.count(10)?;
    (0..count)
        .map(|_| Some((from.u16()?, from.u64()?)))
        .collect()
}

impl StoredSubscription {
    /// Whether it is one of a share.
    pub(super) fn is_shared(&self) -> bool {
        self.filter.starts_with("$share/")
    }

    fn write(&self, out: &mut Vec<u8>) {
        text(out, &self.filter);
        out.push(self.options.byte());
        number(out, self.identifier.unwrap_or(0));
        out.push(u8::from(self.wants_cursor));
        number(out, self.key);
        out.extend_from_slice(&self.delivered.bits().to_le_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            filter: from.text()?,
            options: SubscriptionOptions::of_byte(Version::V5, from.u8()?, 0).ok()?,
            identifier: Some(from.u32()?).filter(|id| *id != 0),
            wants_cursor: from.u8()? == 1,
            key: from.u32()?,
            delivered: Cursor::from_bits(from.u64()?),
        })
    }
}

pub(super) fn write_flight(of: &InFlight, out: &mut Vec<u8>) {
    out.extend_from_slice(&of.packet_id.to_le_bytes());
    out.push(match of.stage {
        Stage::Puback => 0,
        Stage::Pubrec => 1,
        Stage::Pubcomp => 2,
    });
    out.extend_from_slice(&of.token.cursor.to_le_bytes());
    number(out, of.token.subscription);
    number(out, of.token.part);
}

pub(super) fn read_flight(from: &mut Reader<'_>) -> Option<InFlight> {
    Some(InFlight {
        packet_id: from.u16()?,
        stage: match from.u8()? {
            0 => Stage::Puback,
            1 => Stage::Pubrec,
            2 => Stage::Pubcomp,
            _ => return None,
        },
        token: Token {
            cursor: from.u64()?,
            subscription: from.u32()?,
            part: from.u32()?,
        },
    })
}

fn write_will(will: &Will, out: &mut Vec<u8>) {
    let message = &will.message;
    number(out, will.delay_secs);
    text(out, &message.topic);
    blob(out, &message.payload);
    out.push(message.qos.bits() | u8::from(message.retain) << 2);
    let none = MessageProperties::default();
    let of = message.properties.as_deref().unwrap_or(&none);
    out.push(match of.payload_is_text {
        None => 0,
        Some(text) => 1 + u8::from(text),
    });
    maybe(
        out,
        of.expiry_secs
            .map(u32::to_le_bytes)
            .as_ref()
            .map(|secs| &secs[..]),
    );
    maybe(out, of.content_type.as_deref().map(str::as_bytes));
    maybe(out, of.response_topic.as_deref().map(str::as_bytes));
    maybe(out, of.correlation.as_deref());
    number(out, of.user.len() as u32);
    for (name, value) in &of.user {
        text(out, name);
        text(out, value);
    }
}

fn read_will(from: &mut Reader<'_>) -> Option<Will> {
    let delay_secs = from.u32()?;
    let topic = from.text()?;
    let payload = Bytes::copy_from_slice(from.blob()?);
    let flags = from.u8()?;
    let payload_is_text = match from.u8()? {
        0 => None,
        bit => Some(bit == 2),
    };
    let expiry = from.maybe()?;
    let content_type = from.maybe()?;
    let response_topic = from.maybe()?;
    let correlation = from.maybe()?;
    let count = from.count(8)?;
    let user = (0..count).map(|_| Some((from.text()?, from.text()?)));
    let properties = MessageProperties {
        payload_is_text,
        expiry_secs: expiry.and_then(|secs| Some(u32::from_le_bytes(secs.try_into().ok()?))),
        content_type: content_type.and_then(owned),
        response_topic: response_topic.and_then(owned),
        correlation: correlation.map(Bytes::copy_from_slice),
        subscription_ids: Vec::new(),
        user: user.collect::<Option<_>>()?,
    };
    let bare = properties == MessageProperties::default();
    let message = Message {
        topic,
        payload,
        qos: QoS::of_bits(flags & 3)?,
        retain: flags & 4 != 0,
        properties: (!bare).then(|| Box::new(properties)),
        ..Message::default()
    };
    Some(Will {
        message,
        delay_secs,
    })
}

fn owned(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

pub(super) fn number(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn blob(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
}

pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    blob(out, text.as_bytes());
}

fn maybe(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    out.push(u8::from(bytes.is_some()));
    if let Some(bytes) = bytes {
        blob(out, bytes);
    }
}

pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        Some(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// A number of things of at least so many bytes, of which there can be no more than bytes are left.
    pub(super) fn count(&mut self, bytes_min: usize) -> Option<usize> {
        let count = self.u32()? as usize;
        (count <= self.bytes.len() / bytes_min).then_some(count)
    }

    fn blob(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        owned(self.blob()?)
    }

    fn maybe(&mut self) -> Option<Option<&'a [u8]>> {
        match self.u8()? {
            0 => Some(None),
            _ => self.blob().map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn whole() -> Stored {
        let properties = MessageProperties {
            payload_is_text: Some(true),
            expiry_secs: Some(7),
            content_type: Some("c".into()),
            response_topic: Some("r".into()),
            correlation: Some(Bytes::from_static(&[0, 1])),
            subscription_ids: Vec::new(),
            user: vec![("a".into(), "1".into()), ("a".into(), "2".into())],
        };
        let message = Message {
            topic: "w/t".into(),
            payload: Bytes::from_static(b"gone"),
            qos: QoS::ExactlyOnce,
            retain: true,
            properties: Some(Box::new(properties)),
            ..Message::default()
        };
        let flight = |packet_id, stage| InFlight {
            packet_id,
            stage,
            token: Token {
                cursor: 7,
                subscription: 2,
                part: 1,
            },
        };
        Stored {
            owner: "ann".into(),
            expiry_secs: 9,
            left: Some(Time::from_nanos(5)),
            subscriptions: vec![StoredSubscription {
                filter: "a/#".into(),
                options: SubscriptionOptions::of_byte(Version::V5, 0x2e, 0).unwrap(),
                identifier: Some(3),
                wants_cursor: true,
                key: 2,
                delivered: Cursor::new(1, 9),
            }],
            state: State {
                received: vec![1, 65_535],
                in_flight: vec![flight(4, Stage::Puback), flight(5, Stage::Pubcomp)],
                last_id: 9,
            },
            will: Some(Box::new(Will {
                message,
                delay_secs: 3,
            })),
            connection: Cursor::new(1, 4),
            receipts: vec![(65_535, 3 << 60)],
            claim: Cursor::START,
            doubtful: Cursor::new(1, 3),
            put_off: None,
        }
    }

    // [MQTT-3.1.2-23]
    #[test]
    fn a_session_comes_back_as_it_was_kept() {
        let stored = whole();
        assert_eq!(Stored::read(&stored.write()), Some(stored.clone()));
        let plain = Stored {
            will: None,
            left: None,
            ..stored
        };
        assert_eq!(Stored::read(&plain.write()), Some(plain));
    }

    #[test]
    fn a_record_of_an_earlier_version_ends_before_what_came_later() {
        let bare = Stored {
            receipts: Vec::new(),
            connection: Cursor::START,
            doubtful: Cursor::START,
            ..whole()
        };
        let bytes = bare.write().to_vec();
        for (version, without, last_id) in [(2, 20, 9), (1, 22, 5)] {
            let mut bytes = bytes.clone();
            bytes[0] = version;
            bytes.truncate(bytes.len() - without);
            let read = Stored::read(&bytes).unwrap();
            assert_eq!(read.state.last_id, last_id, "{version}");
            assert_eq!(read.will, bare.will);
        }
    }

    #[test]
    fn will_and_end_are_due_counted_from_when_the_client_left() {
        let stored = whole();
        assert_eq!(stored.will_due(), Some(Time::from_nanos(3_000_000_005)));
        assert_eq!(stored.ends(), Some(Time::from_nanos(9_000_000_005)));
        let there = Stored {
            left: None,
            ..stored.clone()
        };
        assert_eq!((there.will_due(), there.ends()), (None, None));
        let kept = Stored {
            expiry_secs: u32::MAX,
            ..stored
        };
        assert_eq!(kept.ends(), None);
    }

    #[test]
    fn a_record_cut_anywhere_is_none() {
        let bytes = whole().write();
        for length in 0..bytes.len() {
            assert_eq!(Stored::read(&bytes[..length]), None, "{length}");
        }
    }
}
