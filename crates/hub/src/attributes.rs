//! What goes with a message beside its topic and bytes, and how the log keeps it.
//!
//! The names are those of MQTT 5.0 section 3.3.2.3, which has the most of it; other protocols fill in
//! what they know. A message without any costs one empty pointer, and nothing in the log.
//!
//! The block of a record: a byte of bits (quality in 0 and 1, then [`UNDECLARED`], [`OPAQUE`],
//! [`TOMBSTONE`]), then entries, each a tag (u8), a length (u32, little-endian) and so many bytes.

use crate::fault::Fault;
use crate::limits::ATTRIBUTES_BYTES_MAX;
use bytes::Bytes;
use smallvec::SmallVec;
use std::ops::Deref;
use std::sync::Arc;
use weir_model::{Time, topic};

/// What a publisher was promised (MQTT 5.0 section 4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quality {
    /// Nothing: it may be lost.
    AtMostOnce,
    /// That it is on disk once it is acknowledged.
    #[default]
    AtLeastOnce,
    /// That, and that a repeat is not stored twice.
    ExactlyOnce,
}

impl Quality {
    /// The quality that two bits stand for (MQTT 5.0 section 3.3.1.2); three is none.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            0 => Some(Quality::AtMostOnce),
            1 => Some(Quality::AtLeastOnce),
            2 => Some(Quality::ExactlyOnce),
            _ => None,
        }
    }

    /// Its two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }
}

/// What was given with a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Content type, as text of the publisher's.
    pub content_type: Option<String>,
    /// Topic at which an answer is awaited.
    pub response_topic: Option<String>,
    /// What an answer must carry so that it is known for one.
    pub correlation: Option<Bytes>,
    /// Whether the publisher says that the payload is UTF-8 text.
    pub payload_is_text: Option<bool>,
    /// When it is of no use to anybody any more.
    pub expires: Option<Time>,
    /// Names and values that mean something to publisher and subscriber only, in order.
    pub properties: Vec<(String, String)>,
    /// What the publisher's protocol says beyond all that, in its own words, for who subscribes by the same.
    pub native: Option<Bytes>,
}

/// What was given with a message, shared; mostly nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes(Option<Arc<Given>>);

static NOTHING: Given = Given {
    content_type: None,
    response_topic: None,
    correlation: None,
    payload_is_text: None,
    expires: None,
    properties: Vec::new(),
    native: None,
};

impl From<Given> for Attributes {
    fn from(given: Given) -> Self {
        Self((given != NOTHING).then(|| Arc::new(given)))
    }
}

impl Deref for Attributes {
    type Target = Given;
    fn deref(&self) -> &Given {
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl Attributes {
    /// Says whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Says whether it expired at or before this time.
    pub fn are_over(&self, now: Time) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// Bytes of memory that they hold, roughly.
    pub(crate) fn memory_bytes(&self) -> usize {
        let Some(given) = &self.0 else { return 0 };
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let properties = given.properties.iter();
        let properties = properties.map(|(name, value)| name.len() + value.len() + 48);
        size_of::<Given>()
            + text(&given.content_type)
            + text(&given.response_topic)
            + given.correlation.as_ref().map_or(0, Bytes::len)
            + given.native.as_ref().map_or(0, Bytes::len)
            + properties.sum::<usize>()
    }
}

/// The body is bytes, whatever the kind of the record or its media say.
const OPAQUE: u8 = 1 << 3;
/// The publisher did not say what the body is.
const UNDECLARED: u8 = 1 << 2;
/// The record ends a keyed one and is no message.
const TOMBSTONE: u8 = 1 << 4;
/// Only the observations at the message's own topic are its.
const ALONE: u8 = 1 << 5;
/// The bits of most records, which need no block.
const USUAL: u8 = Quality::AtLeastOnce as u8;

/// A block as it stands in a record; mostly a byte or none.
pub(crate) type BlockBytes = SmallVec<[u8; 8]>;

/// What a record's block says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) quality: Quality,
    pub(crate) declared: bool,
    pub(crate) opaque: bool,
    pub(crate) tombstone: bool,
    /// Of its observations only those at its own topic are taken: its publisher may publish no others.
    pub(crate) alone: bool,
    pub(crate) attributes: Attributes,
}

impl Block {
    /// The block of a record that ends a keyed one and is no message.
    pub(crate) fn tombstone() -> Vec<u8> {
        vec![USUAL | TOMBSTONE]
    }

    /// The bytes; none where there is nothing to say. Refuses a topic that is none, and too much.
    pub(crate) fn checked(&self) -> Result<BlockBytes, Fault> {
        if let Some(answer) = &self.attributes.response_topic {
            topic::check(answer).map_err(Fault::Topic)?;
        }
        let bytes = self.bytes();
        match bytes.len() > ATTRIBUTES_BYTES_MAX {
            false => Ok(bytes),
            true => Err(Fault::OverLimit {
                what: "bytes of a message's properties",
                limit: ATTRIBUTES_BYTES_MAX,
            }),
        }
    }

    fn bytes(&self) -> BlockBytes {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let bits = self.quality.bits()
            | flag(!self.declared, UNDECLARED)
            | flag(self.opaque, OPAQUE)
            | flag(self.tombstone, TOMBSTONE)
            | flag(self.alone, ALONE);
        let mut out = BlockBytes::new();
        if bits != USUAL || !self.attributes.is_empty() {
            out.push(bits);
            write_given(&self.attributes, &mut out);
        }
        out
    }

    /// Reads the bytes; what is not known is passed over.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let (bits, entries) = bytes.split_first().map_or((USUAL, bytes), |(b, e)| (*b, e));
        Self {
            quality: Quality::from_bits(bits & 3).unwrap_or_default(),
            declared: bits & UNDECLARED == 0,
            opaque: bits & OPAQUE != 0,
            tombstone: bits & TOMBSTONE != 0,
            alone: bits & ALONE != 0,
            attributes: read_given(entries).into(),
        }
    }
}

mod tag {
    pub(super) const CONTENT_TYPE: u8 = 1;
    pub(super) const RESPONSE_TOPIC: u8 = 2;
    pub(super) const CORRELATION: u8 = 3;
    pub(super) const PAYLOAD_IS_TEXT: u8 = 4;
    pub(super) const EXPIRES: u8 = 5;
    /// A length (u32, little-endian), so many bytes of a name, then the value.
    pub(super) const PROPERTY: u8 = 6;
    pub(super) const NATIVE: u8 = 7;
}

fn write_given(given: &Given, out: &mut BlockBytes) {
    let mut entry = |tag: u8, parts: &[&[u8]]| {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        out.push(tag);
        out.extend_from_slice(&(length as u32).to_le_bytes());
        parts.iter().for_each(|part| out.extend_from_slice(part));
    };
    if let Some(text) = &given.content_type {
        entry(tag::CONTENT_TYPE, &[text.as_bytes()]);
    }
    if let Some(text) = &given.response_topic {
        entry(tag::RESPONSE_TOPIC, &[text.as_bytes()]);
    }
    if let Some(bytes) = &given.correlation {
        entry(tag::CORRELATION, &[bytes]);
    }
    if let Some(text) = given.payload_is_text {
        entry(tag::PAYLOAD_IS_TEXT, &[&[u8::from(text)]]);
    }
    if let Some(time) = given.expires {
        entry(tag::EXPIRES, &[&time.nanos().to_le_bytes()]);
    }
    if let Some(bytes) = &given.native {
        entry(tag::NATIVE, &[bytes]);
    }
    for (name, value) in &given.properties {
        let length = (name.len() as u32).to_le_bytes();
        entry(tag::PROPERTY, &[&length, name.as_bytes(), value.as_bytes()]);
    }
}

fn read_given(mut entries: &[u8]) -> Given {
    let mut given = Given::default();
    while let Some((tag, rest)) = entries.split_first() {
        let Some((bytes, rest)) = counted(rest) else {
            break;
        };
        entries = rest;
        match *tag {
            tag::CONTENT_TYPE => given.content_type = text(bytes),
            tag::RESPONSE_TOPIC => given.response_topic = text(bytes),
            tag::CORRELATION => given.correlation = Some(Bytes::copy_from_slice(bytes)),
            tag::PAYLOAD_IS_TEXT => given.payload_is_text = Some(bytes == [1]),
            tag::EXPIRES => given.expires = time(bytes),
            tag::PROPERTY => given.properties.extend(property(bytes)),
            tag::NATIVE => given.native = Some(Bytes::copy_from_slice(bytes)),
            _ => {}
        }
    }
    given
}

/// Bytes behind their length, and what follows.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

fn text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

fn time(bytes: &[u8]) -> Option<Time> {
    let nanos = bytes.try_into().ok().map(i64::from_le_bytes)?;
    Some(Time::from_nanos(nanos))
}

fn property(bytes: &[u8]) -> Option<(String, String)> {
    let (name, value) = counted(bytes)?;
    Some((text(name)?, text(value)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn block(given: Given) -> Block {
        Block {
            quality: Quality::AtLeastOnce,
            declared: true,
            opaque: false,
            tombstone: false,
            alone: false,
            attributes: given.into(),
        }
    }

    #[test]
    fn what_is_usual_takes_no_bytes() {
        assert_eq!(block(Given::default()).checked(), Ok(BlockBytes::new()));
        assert_eq!(Block::read(b""), block(Given::default()));
        assert!(Block::read(&Block::tombstone()).tombstone);
        assert_eq!(size_of::<Attributes>(), size_of::<usize>());
    }

    #[test]
    fn too_much_and_a_topic_that_is_none_are_refused() {
        let answer = |text: &str| {
            let response_topic = Some(text.to_owned());
            block(Given {
                response_topic,
                ..Given::default()
            })
        };
        assert!(matches!(answer("a/#").checked(), Err(Fault::Topic(_))));
        let long = "x".repeat(ATTRIBUTES_BYTES_MAX);
        let properties = vec![("n".to_owned(), long)];
        let much = block(Given {
            properties,
            ..Given::default()
        });
        assert!(matches!(much.checked(), Err(Fault::OverLimit { .. })));
    }

    #[test]
    fn an_entry_of_a_later_version_is_passed_over() {
        let given = Given {
            content_type: Some("json".into()),
            ..Given::default()
        };
        let mut bytes = vec![USUAL, 200, 2, 0, 0, 0, 9, 9];
        bytes.extend_from_slice(&block(given.clone()).bytes()[1..]);
        assert_eq!(Block::read(&bytes), block(given));
    }

    fn texts() -> impl Strategy<Value = Option<String>> {
        proptest::option::of("[a-zé/]{1,9}")
    }

    prop_compose! {
        fn givens()(
            content_type in texts(),
            response_topic in texts(),
            correlation in proptest::option::of(any::<Vec<u8>>()),
            payload_is_text in any::<Option<bool>>(),
            nanos in any::<Option<i64>>(),
            properties in proptest::collection::vec((".{0,9}", ".{0,9}"), 0..4),
            native in proptest::option::of(any::<Vec<u8>>()),
        ) -> Given {
            Given {
                content_type,
                response_topic,
                correlation: correlation.map(Bytes::from),
                payload_is_text,
                expires: nanos.map(Time::from_nanos),
                properties,
                native: native.map(Bytes::from),
            }
        }
    }

    proptest! {
        #[test]
        fn what_was_given_reads_back(given in givens(), quality in 0u8..3, bits in 0u8..16) {
            let written = Block {
                quality: Quality::from_bits(quality).unwrap(),
                declared: bits & 1 == 0,
                opaque: bits & 2 != 0,
                tombstone: bits & 4 != 0,
                alone: bits & 8 != 0,
                attributes: given.into(),
            };
            prop_assert_eq!(Block::read(&written.bytes()), written);
        }

        #[test]
        fn no_bytes_panic(bytes in any::<Vec<u8>>()) {
            let _any = Block::read(&bytes);
        }
    }
}
