//! The client's half of AMQP, for publishers, subscribers, bridges and the bench: one shape for 1.0 and 0.9.1.
//!
//! A client has one connection with at most one way out and one way in; what it publishes is numbered by who
//! publishes, what comes is settled by who takes it. What it deliberately does not do: no transactions, no
//! queues of its own, no reconnecting, which is the concern of who holds it. The decision worth arguing: topics
//! are the hub's on this side of the machine and the peer's on the other ([`names`]), so that nobody above
//! knows to which broker it speaks.

mod machine;
pub mod names;
pub mod v091;
pub mod v10;

pub use machine::Machine;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// How a client connects, and what for.
#[derive(Clone, Debug)]
pub struct Options {
    /// User and password; absent for nobody's.
    pub login: Option<(String, String)>,
    /// The virtual host of a broker (0.9.1), or the name of the peer (1.0).
    pub host: String,
    /// Seconds of silence after which a peer is taken for gone; 0 for never.
    pub idle_secs: u16,
    /// The exchange of a broker through which messages go.
    pub exchange: String,
    /// The queue that a broker keeps while nobody reads; absent for one that ends with the connection.
    pub queue: Option<String>,
    /// What is received.
    pub filters: Vec<String>,
    /// What was subscribed to under the queue's name and is not any more, where the peer can end that.
    pub ended: Vec<String>,
    /// The format in which it is wanted, where the peer can convert.
    pub format: Option<String>,
    /// From where on, where the peer knows cursors.
    pub since: Option<String>,
    /// Messages that may be under way to here, unsettled.
    pub prefetch: u16,
    /// Whether messages are published.
    pub publishes: bool,
    /// Whether each is acknowledged.
    pub confirmed: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            login: None,
            host: "/".into(),
            idle_secs: 30,
            exchange: "amq.topic".into(),
            queue: None,
            filters: Vec::new(),
            ended: Vec::new(),
            format: None,
            since: None,
            prefetch: 256,
            publishes: false,
            confirmed: true,
        }
    }
}

/// A message to be published.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// Its topic.
    pub topic: &'a str,
    /// The media type of the body.
    pub content_type: Option<&'a str>,
    /// What else is said of it.
    pub headers: &'a [(String, String)],
    /// Its body.
    pub payload: &'a [u8],
    /// By which the acknowledgement is told.
    pub token: u64,
}

/// What became of a message to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Its bytes are written.
    Done,
    /// The peer takes none now.
    Full,
    /// It can never be sent to this peer, and why.
    Never(&'static str),
}

/// A message that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// By which it is settled.
    pub tag: u64,
    /// Its topic.
    pub topic: String,
    /// The media type of the body.
    pub content_type: Option<String>,
    /// What else is said of it.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub payload: Bytes,
    /// Whether it may have come before.
    pub redelivered: bool,
}

/// What is answered to a message that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// It is taken.
    Accept,
    /// It cannot be taken, and is not to come again.
    Reject,
}

/// What the layer above is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The peer has granted all that was asked; what it says that it is.
    Ready(String),
    /// A message came, which wants to be settled.
    Message(Box<Incoming>),
    /// A message came that is none for the hub; it wants to be settled all the same.
    Poison {
        /// By which it is settled.
        tag: u64,
        /// What the peer calls its topic.
        key: String,
        /// Why.
        reason: String,
        /// Its body, as far as it was taken.
        payload: Bytes,
    },
    /// The peer has a message, or says why not.
    Confirmed(u64, Result<(), String>),
    /// The peer has not taken a message now, and may another time; why.
    Returned(u64, String),
    /// The peer takes nothing for now, and why; or takes again.
    Held(Option<String>),
    /// It is over.
    Closed(Closed),
}

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Of what kind.
    pub kind: ClosedKind,
    /// In words: the peer's, or the rule that it broke.
    pub reason: String,
}

/// Whether a refusal is of one topic. RabbitMQ tells that by its sentence alone: who may write nothing to an exchange
/// is waited for until he may, and a topic where he may not write is its message's fault.
fn is_of_a_topic(sentence: &str) -> bool {
    sentence.contains("access to topic ")
}

/// A kind of end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedKind {
    /// The peer speaks another version.
    Version,
    /// The peer does not let this user do that.
    Refused,
    /// The peer cannot take a message of those under way.
    Message,
    /// The peer has said nothing for too long.
    Silent,
    /// Anything else.
    Lost,
}
