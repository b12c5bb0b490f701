//! A message on its way: what every subscriber is handed the same `Arc` of.

use crate::attributes::{Attributes, Block, Quality};
use crate::client::ClientId;
use crate::memory::Room;
use crate::trace::Traced;
use bytes::Bytes;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use weir_codec::Format;
use weir_model::{Batch, Cursor, Time};
use weir_storage::Kind;

/// Text that is shared; none costs no memory of its own.
pub(crate) fn shared(text: &str) -> Arc<str> {
    static NOTHING: LazyLock<Arc<str>> = LazyLock::new(|| "".into());
    match text.is_empty() {
        true => NOTHING.clone(),
        false => text.into(),
    }
}

/// A message that has its place in the log.
#[derive(Debug)]
pub struct Message {
    /// Its place in the log.
    pub cursor: Cursor,
    /// When it reached the gateway.
    pub arrival: Time,
    /// Topic that it was published at.
    pub topic: Arc<str>,
    /// What it holds.
    pub content: Content,
    /// The bytes as published.
    pub body: Bytes,
    /// The gateway or bridge that it came through, or empty.
    pub origin: Arc<str>,
    /// What goes with it.
    pub attributes: Attributes,
    /// What its publisher was promised.
    pub quality: Quality,
    /// Whether it was published to be retained.
    pub retain: bool,
    /// Whether the publisher said what the body is.
    pub declared: bool,
    /// Who published it, where that is known and it happened in this run.
    pub client: Option<ClientId>,
    /// Whether each of its observations was newer than all that its datastream had.
    in_order: AtomicBool,
    pub(crate) trace: Traced,
    /// What it takes, counted.
    pub(crate) room: Room,
    encodings: Mutex<Vec<(&'static str, Bytes)>>,
}

/// What a message holds.
#[derive(Debug)]
pub enum Content {
    /// Observations, complete: topics, times, and what the catalog knew.
    Observations {
        /// The observations.
        batch: Batch,
        /// Format that the body is in.
        format: &'static Format,
    },
    /// Bytes of this content type, for raw readers.
    Opaque(Arc<str>),
}

impl Content {
    /// Kind and media of the record that holds it.
    pub(crate) fn record_parts(&self) -> (Kind, &str) {
        match self {
            Content::Observations { format, .. } => (Kind::Observations, format.name),
            Content::Opaque(media) => (Kind::Opaque, media),
        }
    }
}

impl Message {
    /// A message at its place.
    pub fn new(cursor: Cursor, arrival: Time, topic: Arc<str>, content: Content) -> Self {
        Self {
            cursor,
            arrival,
            topic,
            content,
            body: Bytes::new(),
            origin: shared(""),
            attributes: Attributes::default(),
            quality: Quality::default(),
            retain: false,
            declared: true,
            client: None,
            in_order: AtomicBool::new(false),
            trace: Traced::default(),
            room: Room::default(),
            encodings: Mutex::default(),
        }
    }

    /// The same with other observations in the place of its own.
    pub(crate) fn with(&self, batch: Batch) -> Self {
        let content = match &self.content {
            Content::Observations { format, .. } => Content::Observations { batch, format },
            Content::Opaque(media) => Content::Opaque(media.clone()),
        };
        let mut message = Self::new(self.cursor, self.arrival, self.topic.clone(), content);
        message.origin = self.origin.clone();
        message.client = self.client;
        message.attributes = self.attributes.clone();
        message
    }

    /// Takes what goes with it.
    pub(crate) fn take(&mut self, block: Block) {
        self.quality = block.quality;
        self.declared = block.declared;
        self.attributes = block.attributes;
    }

    /// Notes that each of its observations is the first of its time, which nobody need look up then.
    pub(crate) fn came_in_order(&self) {
        self.in_order.store(true, Ordering::Relaxed);
    }

    /// Whether that was noted.
    pub(crate) fn is_in_order(&self) -> bool {
        self.in_order.load(Ordering::Relaxed)
    }

    /// The observations, if that is what it holds.
    pub fn batch(&self) -> Option<&Batch> {
        match &self.content {
            Content::Observations { batch, .. } => Some(batch),
            Content::Opaque(_) => None,
        }
    }

    /// All observations in a format: the first who needs one pays, all others share the bytes.
    pub fn encoded(&self, format: &'static Format) -> Bytes {
        let mut encodings = self
            .encodings
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = encodings.iter().find(|(name, _)| *name == format.name) {
            return bytes.clone();
        }
        let mut out = Vec::with_capacity(self.body.len() + 64);
        self.batch()
            .into_iter()
            .for_each(|batch| (format.encode)(batch, &mut out));
        let bytes = Bytes::from(out);
        encodings.push((format.name, bytes.clone()));
        bytes
    }

    /// Says whether its body is what a publisher sent: the gateway makes messages of its own, of last
    /// values and of windows, which have none.
    pub(crate) fn is_as_published(&self) -> bool {
        !self.body.is_empty() || self.batch().is_none()
    }

    /// Bytes of memory that it holds, roughly, for bounds.
    pub fn memory_bytes(&self) -> usize {
        let batch = self.batch().map_or(0, Batch::memory_bytes);
        self.body.len() + batch + self.attributes.memory_bytes() + size_of::<Self>()
    }
}

/// Which of a message's observations a subscriber gets.
#[derive(Clone, Debug)]
pub enum Rows {
    /// All of them.
    All,
    /// These, ascending.
    Some(Arc<[u32]>),
}

/// A message and the part of it that is due.
#[derive(Clone, Debug)]
pub struct Item {
    /// The message.
    pub message: Arc<Message>,
    /// Its observations that are due.
    pub rows: Rows,
    /// A raw reader's filter matches the topic that the message was published at: it is due as published.
    /// Else a part of it is due at the topics of the datastreams, though it may be all of them.
    pub whole: bool,
    /// It was retained before the subscription began, and is not live.
    pub retained: bool,
}

impl Item {
    /// All observations of a message.
    pub fn all(message: Arc<Message>) -> Self {
        Self {
            message,
            rows: Rows::All,
            whole: false,
            retained: false,
        }
    }

    /// The observations due by datastream, each as a batch of its own, in the order in which the
    /// message names them first.
    pub fn datastreams(&self) -> Vec<Batch> {
        let Some(batch) = self.message.batch() else {
            return Vec::new();
        };
        let due = |row: usize| match &self.rows {
            Rows::All => true,
            Rows::Some(rows) => rows.binary_search(&(row as u32)).is_ok(),
        };
        let of = |stream| batch.select(|row| batch.stream_of(row) == stream && due(row));
        let each = (0..batch.stream_count()).map(of);
        each.filter(|batch| !batch.is_empty()).collect()
    }

    /// The observations due, in a format.
    pub fn encoded(&self, format: &'static Format) -> Bytes {
        match self.selected() {
            None => self.message.encoded(format),
            Some(batch) => {
                let mut out = Vec::new();
                (format.encode)(&batch, &mut out);
                out.into()
            }
        }
    }

    /// The part as a batch of its own; `None` where it is all.
    pub fn selected(&self) -> Option<Batch> {
        let (Rows::Some(rows), Some(batch)) = (&self.rows, self.message.batch()) else {
            return None;
        };
        Some(batch.select(|row| rows.binary_search(&(row as u32)).is_ok()))
    }
}
