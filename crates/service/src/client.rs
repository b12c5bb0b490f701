//! What a client is: who publishes to a peer, who receives from it, who posts to it.

use bytes::Bytes;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use weir_codec::Format;
use weir_model::{Cursor, Filter};

/// A future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// What is asked of the past.
#[derive(Clone, Debug)]
pub struct Past {
    /// Which datastreams.
    pub filters: Vec<Filter>,
    /// `from`, `to`, `every`, `agg` as the gateway reads them.
    pub options: Vec<(&'static str, String)>,
}

/// The past, page by page.
pub trait Pages {
    /// The next page, a message in the target's format; `None` behind the last.
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Bytes>>>;
}

/// Whom a client talks to.
#[derive(Clone, Debug)]
pub struct Target {
    /// The whole URL; its scheme picked the binding.
    pub url: String,
    /// What messages are encoded in.
    pub format: &'static Format,
    /// `Authorization` to present.
    pub credential: Option<String>,
    /// Certificates in PEM that are trusted like the Web's roots.
    pub roots: Option<Bytes>,
    /// File of keys that are shared with the peer; what is in it the protocol says.
    pub keys: Option<PathBuf>,
}

/// Posts to one URL.
pub trait Caller {
    /// Posts a body and waits for the answer: its status and its body. Nothing is followed that the
    /// answer points to.
    fn post<'a>(&'a mut self, post: Post<'a>) -> LocalFuture<'a, io::Result<(u16, Bytes)>>;
}

/// What is posted.
#[derive(Clone, Debug)]
pub struct Post<'a> {
    /// Media type.
    pub media: &'a str,
    /// The whole body.
    pub body: Bytes,
    /// Further header fields: names and values, with no line breaks in them.
    pub fields: &'a [(&'a str, &'a str)],
}

impl<'a> Post<'a> {
    /// A body of a media type and nothing else.
    pub fn new(media: &'a str, body: Bytes) -> Self {
        Self {
            media,
            body,
            fields: &[],
        }
    }
}

/// Publishes to one peer.
pub trait Publisher {
    /// Sends a message to a topic and waits until the peer acknowledges it.
    fn publish<'a>(&'a mut self, topic: &'a str, body: Bytes) -> LocalFuture<'a, io::Result<()>>;
}

/// Receives from one peer.
pub trait Subscriber {
    /// What comes next; `None` at the end.
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>>;

    /// Whether it can be asked again after an error, and then goes on where it was.
    fn keeps_its_place(&self) -> bool {
        false
    }
}

/// What a subscriber receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message, with the position after it where the protocol tells it.
    Message(Bytes, Option<Cursor>),
    /// A position without a message.
    Position(Cursor),
    /// Messages are missing: the gap as the peer told it.
    Gap(String),
}
