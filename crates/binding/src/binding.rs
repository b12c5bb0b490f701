//! A binding: a protocol as server and as client.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use weir_carrier::{Datagrams, Link};
use weir_service::{Connect, Gateway, LocalFuture, Schema, Way};

/// A protocol through which messages enter and leave: it serves, it describes itself, and it speaks to peers.
pub trait Binding: Server + Describe + Connect {}

impl<T: Server + Describe + Connect> Binding for T {}

/// A protocol as server.
pub trait Server: Send + Sync {
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
        _socket: Datagrams,
        _context: Arc<dyn Context>,
    ) -> LocalFuture<'static, io::Result<()>> {
        let sentence = format!("{} takes no datagrams", self.name());
        let refused = io::Error::new(io::ErrorKind::Unsupported, sentence);
        Box::pin(std::future::ready(Err(refused)))
    }

    /// What its server does beside serving links: timers of sessions, bridges, its own statistics. It is
    /// asked for once, runs on a network thread, and is dropped when the gateway drains.
    fn background(&self, _context: Arc<dyn Context>) -> Option<LocalFuture<'static, ()>> {
        None
    }

    /// Whether it speaks HTTP: what it serves carries the other bindings' WebSockets.
    fn is_web(&self) -> bool {
        false
    }
}

/// What a protocol tells of itself, for descriptions.
pub trait Describe: Send + Sync {
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
pub trait Context: Gateway {
    /// Who takes a WebSocket at a path, with the subprotocols that its client offers.
    fn over(&self, _path: &str, _offered: &[String]) -> Over {
        Over::Nobody
    }
}
