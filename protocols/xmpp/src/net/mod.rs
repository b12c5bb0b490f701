//! Sockets: the binding `xmpp`, a component or a client of somebody's server, and the client.

mod client;
mod component;
mod connect;
mod payload;
mod settings;
mod told;
mod url;
mod ways;

use crate::names::{PUBSUB, WEBSOCKET};
use settings::Settings;
use std::io;
use std::sync::Arc;
use weir_binding::{
    ConfigFault, Connect, Context, Describe, LocalFuture, Publisher, Section, Server, Subscriber,
    Target, Transport, Way,
};
use weir_carrier::Link;
use weir_model::{Cursor, Filter};

/// XMPP as a binding: what it serves it serves through a server.
pub struct Xmpp {
    settings: Arc<Settings>,
}

impl Xmpp {
    /// The binding as its section of the configuration wants it.
    pub fn configure(section: Section) -> Result<Self, ConfigFault> {
        let settings = Arc::new(Settings::read(section)?);
        Ok(Self { settings })
    }
}

impl Server for Xmpp {
    fn name(&self) -> &'static str {
        "xmpp"
    }

    fn transports(&self) -> Vec<Transport> {
        Vec::new()
    }

    fn serve(
        &self,
        _link: Link,
        _context: Arc<dyn Context>,
    ) -> LocalFuture<'static, io::Result<()>> {
        Box::pin(std::future::ready(Err(io::ErrorKind::Unsupported.into())))
    }

    fn background(&self, context: Arc<dyn Context>) -> Option<LocalFuture<'static, ()>> {
        let component = self.settings.component.clone()?;
        Some(Box::pin(component::run(component, context)))
    }
}

impl Describe for Xmpp {
    fn deliveries(&self) -> &'static [(&'static str, &'static str)] {
        &[(
            "subscription",
            "XEP-0060: node = topic or filter; `$as/ENC/{filter}`: converted",
        )]
    }

    fn ways(&self) -> &'static [Way] {
        ways::WAYS
    }

    fn names(&self) -> Vec<(&'static str, String)> {
        let component = self.settings.component.iter();
        component
            .map(|plan| ("xmpp", plan.domain.clone()))
            .collect()
    }

    /// The service, and where pages log in to its server.
    fn links(&self) -> Vec<(&'static str, String)> {
        let Some(plan) = &self.settings.component else {
            return Vec::new();
        };
        let service = (PUBSUB, format!("xmpp:{}", plan.domain));
        let websocket = plan.websocket.clone().map(|url| (WEBSOCKET, url));
        [service].into_iter().chain(websocket).collect()
    }
}

impl Connect for Xmpp {
    fn schemes(&self) -> &'static [&'static str] {
        &["xmpp", "xmpps"]
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
