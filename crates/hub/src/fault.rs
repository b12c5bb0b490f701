//! Why the hub refuses.

use std::fmt;
use std::sync::Arc;
use weir_codec::DecodeError;
use weir_model::{BatchError, Cursor, TopicError};
use weir_storage::HistoryFault;
use weir_storage::LogFault;
use weir_storage::units::Incomparable;

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
