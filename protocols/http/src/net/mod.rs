//! Sockets: the binding `http`, server and client.

mod answer;
mod body;
mod client;
mod coding;
mod connection;
mod date;
mod guard;
mod host;
mod http2;
mod over;
mod requests;
mod route;
mod settings;
mod socket;
mod streaming;
mod ways;
mod wrapper;

use bytes::Bytes;
use connection::Connection;
use route::Shared;
use settings::Settings;
use std::io;
use std::sync::Arc;
use weir_binding::{
    Caller, ConfigFault, Connect, Context, Describe, LocalFuture, Pages, Past, Publisher, Section,
    Server, Subscriber, Target, Transport, Way, Web,
};
use weir_carrier::{Link, Stream};
use weir_model::{Cursor, Filter};

/// HTTP as a binding: HTTP/1.1, HTTP/2, WebSocket.
pub struct Http {
    settings: Arc<Settings>,
}

impl Http {
    /// The binding as its section of the configuration wants it.
    pub fn configure(section: Section) -> Result<Self, ConfigFault> {
        let settings = Arc::new(Settings::read(section)?);
        Ok(Self { settings })
    }
}

impl Server for Http {
    fn name(&self) -> &'static str {
        "http"
    }

    fn transports(&self) -> Vec<Transport> {
        const ALPN: &[&str] = &["h2", "http/1.1"];
        let plain = Transport::Stream {
            name: "http",
            key: "listen",
            listen: self.settings.listen.clone(),
            tls: false,
            alpn: ALPN,
        };
        let secure = Transport::Stream {
            name: "https",
            key: "listen_tls",
            listen: self.settings.listen_tls.clone(),
            tls: true,
            alpn: ALPN,
        };
        vec![plain, secure]
    }

    fn serve(&self, link: Link, context: Arc<dyn Context>) -> LocalFuture<'static, io::Result<()>> {
        if let Err(error) = link.stream.tune() {
            return Box::pin(std::future::ready(Err(error)));
        }
        let is_secured = matches!(link.stream, Stream::Tls(_));
        let schemes = if is_secured {
            ["https", "wss"]
        } else {
            ["http", "ws"]
        };
        let shared = Shared {
            settings: self.settings.clone(),
            tallies: schemes.map(|scheme| context.tally("http", scheme)),
            context,
            peer: link.peer.ip(),
            credential: link.credential.map(Into::into),
            is_secured,
            is_proxied: self.settings.is_proxy(link.peer.ip()),
        };
        let http2 = link.alpn.as_deref() == Some(b"h2");
        Box::pin(Connection::new(link.stream, shared, http2))
    }

    fn is_web(&self) -> bool {
        true
    }
}

impl Describe for Http {
    fn deliveries(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("polling", "`GET /live/{filter}`"),
            ("long-polling", "`Prefer: wait=30` or `?wait=30`"),
            ("streaming", "`?stream`"),
            ("sse", "`Accept: text/event-stream`, payload by `?as=`"),
            ("websocket", "`Upgrade: websocket`, subprotocol `weir.ENC`"),
        ]
    }

    fn ways(&self) -> &'static [Way] {
        ways::WAYS
    }
}

impl Connect for Http {
    fn schemes(&self) -> &'static [&'static str] {
        &[
            "http",
            "https",
            "ws",
            "wss",
            "sse+http",
            "sse+https",
            "poll+http",
            "poll+https",
            "longpoll+http",
            "longpoll+https",
            "stream+http",
            "stream+https",
        ]
    }

    fn publisher(&self, target: Target) -> LocalFuture<'static, io::Result<Box<dyn Publisher>>> {
        Box::pin(client::publisher(target))
    }

    fn subscriber(
        &self,
        target: Target,
        filters: Vec<Filter>,
        since: Option<Cursor>,
    ) -> LocalFuture<'static, io::Result<Box<dyn Subscriber>>> {
        Box::pin(client::subscriber(target, filters, since))
    }

    fn caller(&self, url: &str, roots: Option<&Bytes>) -> io::Result<Box<dyn Caller>> {
        client::caller(url, roots)
    }

    fn web(&self, target: &Target, url: &str) -> io::Result<Box<dyn Web>> {
        client::web(target.clone(), url)
    }

    fn past(&self, target: Target, past: Past) -> LocalFuture<'static, io::Result<Box<dyn Pages>>> {
        Box::pin(client::past(target, past))
    }
}
