//! Sockets: the binding `amqp`.

mod attach;
mod bare;
mod body;
mod bridge;
mod client;
mod connection;
mod decimal;
mod deliver;
mod distinct;
mod durable;
mod filter;
mod link;
mod login;
mod member;
mod outgoing;
mod publish;
pub mod records;
mod settings;
mod ways;

use durable::Holders;
use settings::Settings;
use std::io;
use std::sync::Arc;
use weir_binding::bridge::Together;
use weir_binding::{
    ConfigFault, Connect, Context, Describe, Gateway, LocalFuture, Publisher, Section, Server,
    Subscriber, Target, Transport, Way,
};
use weir_carrier::Link;
use weir_model::{Cursor, Filter};

/// AMQP 1.0 as a binding: TCP, TLS and WebSocket.
pub struct Amqp {
    settings: Settings,
    holders: Arc<Holders>,
}

impl Amqp {
    /// The binding as its section of the configuration wants it.
    pub fn configure(section: Section) -> Result<Self, ConfigFault> {
        Ok(Self {
            settings: Settings::read(section)?,
            holders: Arc::default(),
        })
    }
}

impl Server for Amqp {
    fn name(&self) -> &'static str {
        "amqp"
    }

    fn transports(&self) -> Vec<Transport> {
        let plain = Transport::Stream {
            name: "amqp",
            key: "listen",
            listen: self.settings.listen.clone(),
            tls: false,
            alpn: &[],
        };
        // Section 5.2.2: TLS on a port of its own.
        // [AMQP-5.2.2-1]
        let secure = Transport::Stream {
            name: "amqps",
            key: "listen_tls",
            listen: self.settings.listen_tls.clone(),
            tls: true,
            alpn: &["amqp"],
        };
        let socket = Transport::WebSocket {
            path: "/amqp",
            subprotocol: "amqp",
        };
        vec![plain, secure, socket]
    }

    fn serve(&self, link: Link, context: Arc<dyn Context>) -> LocalFuture<'static, io::Result<()>> {
        if let Err(error) = link.stream.tune() {
            return Box::pin(std::future::ready(Err(error)));
        }
        Box::pin(connection::serve(
            link,
            &self.settings,
            self.holders.clone(),
            context,
        ))
    }

    fn background(&self, context: Arc<dyn Context>) -> Option<LocalFuture<'static, ()>> {
        let plans = &self.settings.bridges;
        if plans.is_empty() {
            return None;
        }
        let context: Arc<dyn Gateway> = context;
        let here = weir_binding::bridge::here(&*context);
        let all = bridge::all(plans, &here, &context);
        Some(Box::pin(Together::new(all)))
    }
}

impl Describe for Amqp {
    fn deliveries(&self) -> &'static [(&'static str, &'static str)] {
        &[(
            "subscription",
            "attach as receiver: as published; `$as/ENC/{filter}` or `weir:format`: converted",
        )]
    }

    fn ways(&self) -> &'static [Way] {
        ways::WAYS
    }
}

impl Connect for Amqp {
    fn schemes(&self) -> &'static [&'static str] {
        client::NAMES
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
