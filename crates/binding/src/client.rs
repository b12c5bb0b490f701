//! A binding: a protocol as server and as client.

use crate::keys::SharedKey;
use crate::schema::Schema;
use crate::service::Service;
use crate::tally::{Metric, Tally};
use crate::way::Way;
use crate::web::Web;
use crate::work::{Outcome, Workers};
use bytes::Bytes;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use weir_carrier::{Datagrams, Link};
use weir_codec::Format;
use weir_hub::{Hub, Principal};
use weir_model::{Cursor, Filter, Time};

/// A future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// A protocol through which messages enter and leave; server and client.
pub trait Binding: Send + Sync {
    /// Name in configuration, metrics and the ready line.
    fn name(&self) -> &'static str;

    /// What its server takes.
    fn transports(&self) -> Vec<Transport>;

    /// Opens what the gateway cannot open for it, sockets of a stack with threads of its own, before anything
    /// is served; says by what name of the ready line it is reached where.
    fn open(&self) -> io::Result<Vec<(&'static str, SocketAddr)>> {
        Ok(Vec::new())
    }

    /// Serves one opened link to its end, of a [`Transport::Stream`] or a [`Transport::WebSocket`].
    fn serve(&self, link: Link, context: Arc<dyn Context>) -> LocalFuture<'static, io::Result<()>>;

    /// Serves one socket of a [`Transport::Datagram`] until the gateway drains; each network thread has
    /// one of its own.
    fn serve_datagrams(
        &self,
        socket: Datagrams,
        context: Arc<dyn Context>,
    ) -> LocalFuture<'static, io::Result<()>> {
        let _not_taken = (socket, context);
        let sentence = format!("{} takes no datagrams", self.name());
        let refused = io::Error::new(io::ErrorKind::Unsupported, sentence);
        Box::pin(std::future::ready(Err(refused)))
    }

    /// What its server does beside serving links: timers of sessions, bridges, its own statistics. It is
    /// asked for once, runs on a network thread, and is dropped when the gateway drains.
    fn background(&self, context: Arc<dyn Context>) -> Option<LocalFuture<'static, ()>> {
        let _nothing_by_default = context;
        None
    }

    /// How it delivers: the delivery scheme and how a client asks for it, in Markdown.
    fn deliveries(&self) -> &'static [(&'static str, &'static str)];

    /// What a client can do with a datastream through its transports, for descriptions.
    fn ways(&self) -> &'static [Way] {
        &[]
    }

    /// Transports that clients find by a name, not at an address: each with what its URLs have in place of one,
    /// `//` included ([`crate::Place::Name`]).
    fn names(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// How its messages are defined, beside what the formats have.
    fn schemas(&self) -> &'static [Schema] {
        &[]
    }

    /// By what else it is reached, through a server of somebody's: relations and URLs (RFC 8288 section 3).
    fn links(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Whether it speaks HTTP: what it serves carries the other bindings' WebSockets.
    fn is_web(&self) -> bool {
        false
    }

    /// URL schemes of its client.
    fn schemes(&self) -> &'static [&'static str];

    /// Opens a publisher.
    fn publisher(&self, target: Target) -> LocalFuture<'static, io::Result<Box<dyn Publisher>>>;

    /// Opens a subscriber.
    fn subscriber(
        &self,
        target: Target,
        filters: Vec<Filter>,
        since: Option<Cursor>,
    ) -> LocalFuture<'static, io::Result<Box<dyn Subscriber>>>;

    /// What posts to a URL that is no gateway's, and trusts these roots (PEM) beside the Web's; a protocol in which
    /// nothing is posted says so.
    fn caller(&self, url: &str, roots: Option<&Bytes>) -> io::Result<Box<dyn Caller>> {
        let _not_asked = roots;
        let sentence = format!("{} posts nothing to `{url}`: take http", self.name());
        Err(io::Error::new(io::ErrorKind::Unsupported, sentence))
    }

    /// What carries the requests of a service's client to the server of a URL; a protocol that has no such
    /// requests says so.
    fn web(&self, target: &Target, url: &str) -> io::Result<Box<dyn Web>> {
        let sentence = format!("{} carries no requests to `{url}`: take http", target.url);
        Err(io::Error::new(io::ErrorKind::Unsupported, sentence))
    }

    /// Opens the past; a protocol in which none can be asked for says so.
    fn past(&self, target: Target, past: Past) -> LocalFuture<'static, io::Result<Box<dyn Pages>>> {
        let _not_asked = (target, past);
        let sentence = format!("{} cannot ask for the past: take http", self.name());
        let refused = io::Error::new(io::ErrorKind::Unsupported, sentence);
        Box::pin(std::future::ready(Err(refused)))
    }
}

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

/// A way that bytes reach a binding's server; the gateway opens it and owns listener and TLS.
///
/// A name stands for what it is in the ready line and in metrics, a key for where its address is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP at an address.
    Stream {
        /// Name in the ready line: `http`, `https`.
        name: &'static str,
        /// Key of the address in the binding's section, for errors.
        key: &'static str,
        /// Address and port to listen at; empty for off.
        listen: String,
        /// Whether TLS is spoken; such a listener is opened where a certificate is set.
        tls: bool,
        /// Protocols offered in the TLS handshake (ALPN, RFC 7301), best first.
        alpn: &'static [&'static str],
    },
    /// UDP at an address.
    Datagram {
        /// Name in the ready line: `coap`.
        name: &'static str,
        /// Key of the address in the binding's section, for errors.
        key: &'static str,
        /// Address and port to bind to; empty for off.
        listen: String,
    },
    /// A WebSocket at a path of the HTTP server; the link's stream is then
    /// [`weir_carrier::Stream::WebSocket`], which gives bytes or messages as the binding likes.
    WebSocket {
        /// The path, without a query.
        path: &'static str,
        /// The subprotocol that a client must offer (RFC 6455 section 1.9).
        subprotocol: &'static str,
    },
}

impl Transport {
    /// Key and address of one that has an address of its own and is not off.
    pub fn listens(&self) -> Option<(&'static str, &str)> {
        match self {
            Transport::Stream { key, listen, .. } | Transport::Datagram { key, listen, .. } => {
                (!listen.is_empty()).then_some((*key, listen.as_str()))
            }
            Transport::WebSocket { .. } => None,
        }
    }
}

/// Who takes a WebSocket that is asked for at a path.
pub enum Over {
    /// No binding: it is a service's.
    Nobody,
    /// A binding that speaks another subprotocol there: this one.
    Unspoken(&'static str),
    /// This binding, by this subprotocol among those offered.
    Binding(Arc<dyn Binding>, &'static str),
}

/// What the gateway gives a binding's server.
pub trait Context: Send + Sync {
    /// The hub.
    fn hub(&self) -> &Arc<Hub>;

    /// The gateway's clock.
    fn now(&self) -> Time;

    /// What tells this gateway from others that share its log, in this run and the next.
    fn name(&self) -> &str {
        "only"
    }

    /// The service whose mount holds this path.
    fn service(&self, path: &str) -> Option<&Arc<dyn Service>>;

    /// Where a listener of this name listens ([`Transport`]), for who tells others of it.
    fn address(&self, listener: &str) -> Option<SocketAddr> {
        let _unknown_by_default = listener;
        None
    }

    /// The binding whose client speaks a URL's scheme.
    fn client(&self, url: &str) -> Option<Arc<dyn Binding>> {
        let _none_by_default = url;
        None
    }

    /// The service whose topic this is, and the path that the topic stands for.
    fn service_of_topic(&self, topic: &str) -> Option<(&Arc<dyn Service>, String)> {
        let _none_by_default = topic;
        None
    }

    /// Whether requests for this name are taken: for any, unless everybody is let in because nobody but this machine
    /// should reach it (there is no policy, and nobody said that it is to be open); then for those that it has a
    /// certificate by ACME for.
    fn takes_name(&self, host: &str) -> bool {
        let _any_by_default = host;
        true
    }

    /// Threads for work that takes a while.
    fn workers(&self) -> Arc<dyn Workers>;

    /// Who presents this credential (`Basic ...` or `Bearer ...`, RFC 9110 section 11.4), or nobody's
    /// rights without one.
    fn principal(&self, credential: Option<&str>, peer_is_local: bool) -> Identity;

    /// Who logs in with this name and password; a token may stand in the place of the password, whatever
    /// the name.
    fn authenticate(&self, user: &str, password: &[u8]) -> Identity;

    /// Who a user is that another server has let in, by the name that it vouches for (`ann@example.org`):
    /// what the policy says of the name, else of its domain, else of anybody.
    fn vouched(&self, name: &str) -> Principal {
        Principal {
            name: name.into(),
            grants: Arc::default(),
            standing: Default::default(),
        }
    }

    /// Who has a principal's name now, for what was left to be done in that name; none where the policy knows it no
    /// more.
    fn named(&self, name: &str) -> Option<Principal> {
        let _anybody_by_default = name;
        Some(Principal::unrestricted())
    }

    /// Secrets that devices share with the gateway, for protocols that need them as they are.
    fn keys(&self) -> Vec<SharedKey> {
        Vec::new()
    }

    /// Who takes a WebSocket at a path, with the subprotocols that its client offers.
    fn over(&self, path: &str, offered: &[String]) -> Over {
        let _nobody_by_default = (path, offered);
        Over::Nobody
    }

    /// Where a binding counts its messages of one scheme (`mqtt`, `mqtt+ws`), for metrics; to be asked
    /// for once a link.
    fn tally(&self, binding: &'static str, scheme: &'static str) -> Arc<Tally> {
        let _unread_by_default = (binding, scheme);
        Arc::default()
    }

    /// Where a binding shows a number, with labels as they stand between braces (`bridge="site"`).
    fn meter(&self, metric: &'static Metric, labels: &str) -> Arc<AtomicU64> {
        let _unread_by_default = (metric, labels);
        Arc::default()
    }

    /// For how long a peer is waited for that takes nothing of what is sent to it: less where memory is short.
    fn patience(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Ready once the gateway wants the link closed: answer what was begun, then end.
    fn draining(&self) -> LocalFuture<'static, ()>;

    /// Notes an answer, for metrics: service, status.
    fn answered(&self, service: &'static str, status: u16);
}

/// Who presents a credential.
pub enum Identity {
    /// Known at once; an error is a sentence.
    Known(Result<Principal, String>),
    /// Found out on another thread: hashing a password takes as long as thousands of messages.
    Checking(Outcome<Result<Principal, String>>),
    /// Not found out: too many credentials wait to be checked.
    Busy,
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
