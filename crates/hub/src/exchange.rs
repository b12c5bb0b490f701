//! What can be asked of the hub, and what comes back.

use crate::attributes::{Attributes, Quality};
use crate::client::ClientId;
use crate::condition::Condition;
use crate::group::{Policy, Shape};
use crate::stood::Stood;
use crate::trace::{Incoming, Traced};
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_codec::{DecodeError, Format};
use weir_model::{Batch, BatchError, Cursor, Filter, Time, TopicError};
use weir_storage::Aggregate;
use weir_storage::HistoryFault;
use weir_storage::Receipt;
use weir_storage::units::{InUnit, Incomparable};
use weir_storage::{Log, LogFault};

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
    /// Not said: what it looks like, else opaque, as is what looks like observations that cannot be kept.
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

/// Where a record lies in the log.
pub(crate) enum InLog {
    Known(Cursor),
    Awaited(Arc<Receipt>),
}

/// A promise that a record will be where a crash cannot reach it.
pub struct Ticket {
    pub(crate) place: InLog,
    pub(crate) log: Arc<dyn Log>,
    /// Nobody was promised anything: it is committed with others, at the next tick.
    pub(crate) unpromised: bool,
    pub(crate) stood: Option<Stood>,
    pub(crate) trace: Traced,
    /// Those of other records that belong to it.
    pub(crate) others: Vec<Ticket>,
}

/// Whoever does not wait leaves nothing uncommitted behind.
impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.unpromised {
            self.log.commit();
        }
        self.trace.ended(None);
    }
}

impl Ticket {
    /// The record's place in the log; in a shared one, the head's until it is known.
    pub fn cursor(&self) -> Cursor {
        match &self.place {
            InLog::Known(cursor) => *cursor,
            InLog::Awaited(receipt) => receipt.place().unwrap_or_else(|| self.log.head()),
        }
    }

    /// How the (first) datastream that this is about stood just before it.
    pub fn stood(&self) -> Option<Stood> {
        self.stood
    }

    /// This one, ready no sooner than one that was given before it. In a log of this gateway's own a later
    /// record is not kept without the earlier; in a shared one each submission stands alone.
    #[must_use]
    pub fn with(mut self, mut before: Self) -> Self {
        if matches!(self.place, InLog::Awaited(_)) {
            self.others.append(&mut before.others);
            self.others.push(before);
        }
        self
    }

    /// Ready once it may be acknowledged.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<Cursor, Fault>> {
        for other in &self.others {
            ready!(other.poll(cx))?;
        }
        let cursor = match &self.place {
            InLog::Known(cursor) => *cursor,
            InLog::Awaited(receipt) => ready!(receipt.poll(cx))?,
        };
        let committed = self.log.poll_committed(cursor, cx);
        if committed.is_ready() {
            self.trace.committed();
        }
        committed.map(|done| done.map(|()| cursor).map_err(Fault::Log))
    }
}

/// Why the hub refuses.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The principal may not do this to this topic.
    Denied {
        /// Who asked.
        principal: Arc<str>,
        /// The verb's name.
        verb: &'static str,
        /// Topic or filter.
        topic: String,
    },
    /// The principal's rights were withdrawn or have expired since it said who it is.
    Revoked(Arc<str>),
    /// The principal asks more often than its role may.
    TooFast {
        /// Who asked.
        principal: Arc<str>,
        /// Requests a second that it may make.
        per_second: u32,
    },
    /// Topics that begin with `$` are the gateway's own; nobody else writes there.
    Reserved(String),
    /// The topic is none.
    Topic(TopicError),
    /// The body is not of the format that it says it is.
    Undecodable {
        /// Name of the format.
        format: &'static str,
        /// Where and why.
        error: DecodeError,
    },
    /// The observations do not fit together.
    Message(BatchError),
    /// A limit of [`crate::limits`] or of the message limits is passed.
    OverLimit {
        /// Which one.
        what: &'static str,
        /// Its value.
        limit: usize,
    },
    /// The idempotency key stands for another message, which has this cursor.
    KeyReused(Cursor),
    /// Too much of something is held by those who ask: some of it must be given back first.
    Crowded {
        /// Of what.
        what: &'static str,
        /// How much there may be.
        limit: usize,
    },
    /// Messages take as much memory as they may: try again later.
    Short,
    /// There is no such datastream.
    Unknown(String),
    /// An observation says something else of its datastream than who may change that declared.
    Contradicted {
        /// The datastream.
        topic: Box<str>,
        /// What it says: `sensor`, `type` or `unit`.
        what: &'static str,
        /// What was declared.
        declared: Box<str>,
        /// What the observation says.
        said: Box<str>,
    },
    /// What is asked for in one unit was observed in another that it cannot be converted from.
    Incomparable(Incomparable),
    /// The log cannot take it.
    Log(LogFault),
    /// History cannot answer.
    History(HistoryFault),
    /// The gateway is stopping.
    Stopping,
}

impl Fault {
    /// Says whether it is for who asked, or how often, and not for what.
    pub fn is_of_access(&self) -> bool {
        matches!(
            self,
            Fault::Denied { .. } | Fault::Reserved(_) | Fault::Revoked(_) | Fault::TooFast { .. }
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Denied {
                principal,
                verb,
                topic,
            } => {
                write!(f, "{principal} may not {verb} `{topic}`")
            }
            Fault::Revoked(principal) => write!(
                f,
                "the rights of {principal} were withdrawn or have expired: log in again"
            ),
            Fault::TooFast {
                principal,
                per_second,
            } => write!(f, "{principal} may make {per_second} requests a second"),
            Fault::Reserved(topic) => write!(
                f,
                "`{topic}`: topics that begin with `$` are the gateway's own (MQTT 5 section 4.7.2); \
                 nobody else may publish or change them"
            ),
            Fault::Topic(error) => write!(f, "bad topic: {error}"),
            Fault::Undecodable { format, error } => write!(f, "not a message in {format}: {error}"),
            Fault::Message(error) => write!(f, "bad message: {error}"),
            Fault::OverLimit { what, limit } => write!(f, "{what} over the limit of {limit}"),
            Fault::KeyReused(cursor) => write!(
                f,
                "this idempotency key stands for another message, stored as {cursor}: nothing was \
                 stored; a new message needs a new key"
            ),
            Fault::Crowded { what, limit } => {
                write!(
                    f,
                    "{what} are at the limit of {limit}: end some subscriptions first"
                )
            }
            Fault::Short => f.write_str("memory is short: try again later"),
            Fault::Unknown(topic) => write!(f, "no datastream `{topic}`"),
            Fault::Contradicted {
                topic,
                what,
                declared,
                said,
            } => write!(
                f,
                "`{topic}`: the {what} is declared to be `{declared}`, and the observation says `{said}`"
            ),
            Fault::Incomparable(refused) => refused.fmt(f),
            Fault::Log(fault) => fault.fmt(f),
            Fault::History(fault) => fault.fmt(f),
            Fault::Stopping => f.write_str("the gateway is stopping"),
        }
    }
}

impl std::error::Error for Fault {}

impl From<LogFault> for Fault {
    fn from(fault: LogFault) -> Self {
        match fault {
            // That one message is too long says nothing of the log, nor of the next message.
            LogFault::OverLimit { limit } => Fault::OverLimit {
                what: "bytes of a record",
                limit,
            },
            fault => Fault::Log(fault),
        }
    }
}

impl From<Incomparable> for Fault {
    fn from(refused: Incomparable) -> Self {
        Fault::Incomparable(refused)
    }
}

impl From<HistoryFault> for Fault {
    fn from(fault: HistoryFault) -> Self {
        match fault {
            HistoryFault::Incomparable(refused) => Fault::Incomparable(refused),
            fault => Fault::History(fault),
        }
    }
}
