//! Sockets: the binding `mqtt`, server and client.

mod accepting;
mod background;
mod bridge;
mod claims;
mod client;
mod connection;
mod deliver;
mod filter;
mod framing;
mod house;
mod live;
mod load;
mod member;
mod packets;
mod publish;
mod record;
pub mod records;
mod refused;
mod remember;
mod service;
mod sessions;
mod settings;
mod share;
mod subscribe;
mod subscription;
mod thrown;
mod ways;
mod will;

use house::House;
use sessions::Sessions;
use settings::Settings;
use std::io;
use std::sync::Arc;
use thrown::Thrown;
use weir_binding::{
    ConfigFault, Connect, Context, Describe, Gateway, LocalFuture, Publisher, Section, Server,
    Subscriber, Target, Transport, Way,
};
use weir_carrier::Link;
use weir_model::{Cursor, Filter};
use will::Wills;

/// MQTT as a binding: TCP, TLS and WebSocket.
pub struct Mqtt {
    house: Arc<House>,
}

impl Mqtt {
    /// The binding as its section of the configuration wants it.
    pub fn configure(section: Section) -> Result<Self, ConfigFault> {
        let house = House {
            settings: Settings::read(section)?,
            sessions: Sessions::default(),
            thrown: Thrown::default(),
            wills: Wills::default(),
        };
        Ok(Self {
            house: Arc::new(house),
        })
    }
}

impl Server for Mqtt {
    fn name(&self) -> &'static str {
        "mqtt"
    }

    fn transports(&self) -> Vec<Transport> {
        let settings = &self.house.settings;
        // [MQTT-4.2.0-1]
        let plain = Transport::Stream {
            name: "mqtt",
            key: "listen",
            listen: settings.listen.clone(),
            tls: false,
            alpn: &[],
        };
        let secure = Transport::Stream {
            name: "mqtts",
            key: "listen_tls",
            listen: settings.listen_tls.clone(),
            tls: true,
            alpn: &["mqtt"],
        };
        // Packets and frames begin and end where they like; a text frame ends the link.
        // [MQTT-6.0.0-1] [MQTT-6.0.0-2] [MQTT-6.0.0-4]
        let socket = Transport::WebSocket {
            path: "/mqtt",
            subprotocol: "mqtt",
        };
        vec![plain, secure, socket]
    }

    fn serve(&self, link: Link, context: Arc<dyn Context>) -> LocalFuture<'static, io::Result<()>> {
        if let Err(error) = link.stream.tune() {
            return Box::pin(std::future::ready(Err(error)));
        }
        load::load(&self.house, &*context);
        Box::pin(connection::serve(link, self.house.clone(), context))
    }

    fn background(&self, context: Arc<dyn Context>) -> Option<LocalFuture<'static, ()>> {
        let context: Arc<dyn Gateway> = context;
        load::load(&self.house, &*context);
        let chores: LocalFuture<'static, ()> =
            Box::pin(background::run(self.house.clone(), context.clone()));
        if self.house.settings.bridges.is_empty() {
            return Some(chores);
        }
        let here = weir_binding::bridge::here(&*context);
        let mut futures = bridge::all(&self.house.settings.bridges, &here, &context);
        futures.push(chores);
        Some(Box::pin(weir_binding::bridge::Together::new(futures)))
    }
}

impl Describe for Mqtt {
    fn deliveries(&self) -> &'static [(&'static str, &'static str)] {
        &[(
            "subscription",
            "SUBSCRIBE: as published; `$as/ENC/{filter}`: converted",
        )]
    }

    fn ways(&self) -> &'static [Way] {
        ways::WAYS
    }
}

impl Connect for Mqtt {
    fn schemes(&self) -> &'static [&'static str] {
        &["mqtt", "mqtts", "mqtt+ws", "mqtt+wss"]
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
