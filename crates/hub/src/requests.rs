//! What can be asked of the hub.

use crate::attributes::{Attributes, Quality};
use crate::client::ClientId;
use crate::condition::Condition;
use crate::interest::{Policy, Shape};
use crate::trace::Incoming;
use bytes::Bytes;
use std::sync::Arc;
use weir_codec::Format;
use weir_model::{Batch, Cursor, Filter, Time};
use weir_storage::Aggregate;
use weir_storage::units::InUnit;

/// Observations of a datastream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its topic.
    pub topic: String,
    /// The numbers of the descriptions that they were made under; any where there are none.
    pub under: Vec<u8>,
}

impl Made {
    /// Those of them that some observations of the datastream are.
    pub(crate) fn of(&self, batch: Batch) -> Batch {
        if self.under.is_empty() {
            batch
        } else {
            batch.select(|row| self.under.contains(&batch.description(row)))
        }
    }
}

impl From<String> for Made {
    fn from(topic: String) -> Self {
        Self {
            topic,
            under: Vec::new(),
        }
    }
}

/// A message to be stored.
#[derive(Clone, Debug)]
pub struct Publish {
    /// Where it is sent.
    pub topic: String,
    /// What it says it is.
    pub media: Media,
    /// Its bytes.
    pub body: Bytes,
    /// The publisher's idempotency key: a repeat within a day is acknowledged and not stored again, and
    /// another message under the same key is refused.
    pub key: Option<Vec<u8>>,
    /// The gateway or bridge that it came through, or empty.
    pub origin: String,
    /// What goes with it.
    pub attributes: Attributes,
    /// What its publisher is promised; at most once, nobody waits for the disk.
    pub quality: Quality,
    /// Whether a refusal reaches its publisher: then what contradicts a declaration is refused, whatever the message
    /// says that it is.
    pub is_answered: bool,
    /// Whether it takes the place of its topic's retained message; an empty one only removes that.
    pub retain: bool,
    /// Who publishes it, where subscribers may ask to be spared their own.
    pub client: Option<ClientId>,
    /// How it came, where traces are made ([`Hub::is_traced`](crate::Hub::is_traced)).
    pub incoming: Incoming,
}

impl Publish {
    /// A message with nothing but what every message has.
    pub fn new(topic: impl Into<String>, media: Media, body: impl Into<Bytes>) -> Self {
        Self {
            topic: topic.into(),
            media,
            body: body.into(),
            key: None,
            origin: String::new(),
            attributes: Attributes::default(),
            quality: Quality::default(),
            is_answered: false,
            retain: false,
            client: None,
            incoming: Incoming::default(),
        }
    }
}

/// What a message says it is.
#[derive(Clone, Debug)]
pub enum Media {
    /// In this format: refused if it is not.
    Format(&'static Format),
    /// In this format, says somebody who cannot be told that it is not: what can be read of it, else what it looks
    /// like, else opaque.
    Claimed(&'static Format),
    /// Not said: what it looks like, else opaque, as is what looks like observations that cannot be kept; but what
    /// contradicts a declaration is refused where its publisher is told ([`Publish::is_answered`]).
    Undeclared,
    /// Opaque bytes of this content type.
    Opaque(String),
}

impl Media {
    /// Says whether what cannot be read of the message costs no more than itself.
    pub(crate) fn may_be_bytes(&self) -> bool {
        matches!(self, Media::Undeclared | Media::Claimed(_))
    }
}

/// What is asked of the past.
#[derive(Clone, Debug)]
pub struct Past {
    /// Which datastreams.
    pub filters: Vec<Filter>,
    /// From this time, it included.
    pub from: Time,
    /// Up to this time, it excluded.
    pub to: Time,
    /// At most this many observations, held at the page limit.
    pub limit: usize,
    /// Token that the page before ended with.
    pub page: Option<String>,
    /// One observation a window instead of all.
    pub aggregate: Option<Aggregate>,
    /// In which unit; windows count in that of their datastream where none is named.
    pub unit: InUnit,
}

/// What a subscriber wants.
#[derive(Clone)]
pub struct Subscribe {
    /// Which datastreams.
    pub filters: Vec<Filter>,
    /// From where.
    pub since: Since,
    /// Condition on results.
    pub condition: Option<Condition>,
    /// One observation a window instead of all.
    pub aggregate: Option<Aggregate>,
    /// In which unit; conditions and windows look at that of their datastream where none is named.
    pub unit: InUnit,
    /// What becomes of it when it is slow.
    pub policy: Policy,
    /// What it is handed.
    pub shape: Shape,
    /// Whether it gets messages as published: one whose own topic matches comes whole, opaque ones too,
    /// where it may read that topic and every datastream in it; else those of its datastreams that match.
    pub raw: bool,
    /// Whether it begins with the retained messages of topics that match, as of where it begins.
    pub retained: bool,
    /// Whether nothing is handed over before it is on disk: for who keeps what it gets elsewhere.
    pub committed: bool,
    /// Whose last values [`Since::Snapshot`] leaves out, by [`Publish::origin`], and those of which that is
    /// not known any more: they are news of the past to where they came from. Later messages say their
    /// origin themselves.
    pub but_through: Option<Arc<str>>,
}

impl Subscribe {
    /// Messages from now on, with the usual policy and nothing else.
    pub fn new(filters: Vec<Filter>, shape: Shape) -> Self {
        Self {
            filters,
            since: Since::Now,
            condition: None,
            aggregate: None,
            unit: InUnit::AsMade,
            policy: Policy::default(),
            shape,
            raw: false,
            retained: false,
            committed: false,
            but_through: None,
        }
    }
}

/// Where a subscription begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// With the next message.
    Now,
    /// With the last value of each datastream, then the next message.
    Snapshot,
    /// After this cursor.
    Cursor(Cursor),
}

/// The last values of datastreams, and up to where they are so.
#[derive(Clone, Debug)]
pub struct Latest {
    /// The observations, by topic.
    pub batch: Batch,
    /// Cursor of the newest of them and of what is known of their datastreams: unchanged, together with
    /// their number, as long as they are.
    pub newest: Cursor,
    /// Position of the log's head: what comes after it is newer.
    pub head: Cursor,
}
