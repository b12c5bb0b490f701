//! Sockets: the binding `coap`, server and client.

mod client;
mod condition;
mod datagrams;
mod desk;
mod discovery;
mod extra;
mod keys;
mod known;
mod nudge;
mod path;
#[cfg(feature = "plugtest")]
mod plugtest;
mod seed;
mod settings;
mod shared;
mod streams;
mod translate;
mod watch;
mod ways;

use extra::Extra;
use keys::Keys;
use settings::Settings;
use shared::Shared;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use weir_binding::{
    ConfigFault, Connect, Context, Describe, Gateway, LocalFuture, Publisher, Section, Server,
    Subscriber, Target, Transport, Way,
};
use weir_carrier::{Datagrams, Link};
use weir_model::{Cursor, Filter};

/// CoAP as a binding: over UDP, TCP, TLS and WebSocket.
pub struct Coap {
    settings: Arc<Settings>,
    plugtest: Option<Arc<dyn Extra>>,
    /// Whether a network thread has joined the groups.
    joined: AtomicBool,
    /// The keys of the policy file, read when the first socket is served.
    keys: OnceLock<Arc<Keys>>,
}

impl Coap {
    /// The binding as its section of the configuration wants it.
    pub fn configure(section: Section) -> Result<Self, ConfigFault> {
        let settings = Settings::read(section)?;
        Ok(Self {
            plugtest: settings.plugtest.then(plugtest).flatten(),
            settings: Arc::new(settings),
            joined: AtomicBool::new(false),
            keys: OnceLock::new(),
        })
    }

    fn keys(&self, context: &dyn Gateway) -> Arc<Keys> {
        let read = || Arc::new(Keys::of(context));
        self.keys.get_or_init(read).clone()
    }

    fn shared(&self, context: Arc<dyn Gateway>) -> Shared {
        Shared {
            settings: self.settings.clone(),
            plugtest: self.plugtest.clone(),
            keys: self.keys(&*context),
            context,
        }
    }
}

#[cfg(feature = "plugtest")]
fn plugtest() -> Option<Arc<dyn Extra>> {
    Some(Arc::<plugtest::Plugtest>::default())
}

/// A build without them refuses the key.
#[cfg(not(feature = "plugtest"))]
fn plugtest() -> Option<Arc<dyn Extra>> {
    None
}

impl Server for Coap {
    fn name(&self) -> &'static str {
        "coap"
    }

    fn transports(&self) -> Vec<Transport> {
        vec![
            Transport::Datagram {
                name: "coap",
                key: "listen",
                listen: self.settings.listen.clone(),
            },
            Transport::Stream {
                name: "coap+tcp",
                key: "listen_tcp",
                listen: self.settings.listen_tcp.clone(),
                tls: false,
                alpn: &["coap"],
            },
            Transport::Stream {
                name: "coaps+tcp",
                key: "listen_tls",
                listen: self.settings.listen_tls.clone(),
                tls: true,
                // [RFC8323-8.2-1]
                alpn: &["coap"],
            },
            Transport::WebSocket {
                path: "/.well-known/coap",
                subprotocol: "coap",
            },
        ]
    }

    fn serve(&self, link: Link, context: Arc<dyn Context>) -> LocalFuture<'static, io::Result<()>> {
        let shared = self.shared(context);
        Box::pin(async move { streams::serve(link, shared)?.await })
    }

    fn serve_datagrams(
        &self,
        socket: Datagrams,
        context: Arc<dyn Context>,
    ) -> LocalFuture<'static, io::Result<()>> {
        let shared = self.shared(context);
        let joins = datagrams::joins(&shared.settings, &self.joined);
        Box::pin(async move {
            shared.keys.begun().await;
            datagrams::Serving::new(socket, shared, joins)?.await
        })
    }

    fn background(&self, context: Arc<dyn Context>) -> Option<LocalFuture<'static, ()>> {
        let keys = self.keys(&*context);
        keys.are_any().then(|| keys::reserve(keys, context))
    }
}

impl Describe for Coap {
    fn deliveries(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("polling", "`GET /live/{filter}`"),
            ("observe", "`GET` with Observe; Accept picks the encoding"),
        ]
    }

    fn ways(&self) -> &'static [Way] {
        ways::WAYS
    }
}

impl Connect for Coap {
    fn schemes(&self) -> &'static [&'static str] {
        &[
            "coap",
            "coap+tcp",
            "coaps+tcp",
            "coap+ws",
            "coaps+ws",
            "coap+wss",
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
}
