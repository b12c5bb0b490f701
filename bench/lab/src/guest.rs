//! A target by its URL: one that runs already, wherever it is.
//!
//! `http` and `ws` without a path is the gateway's own interface; with one, a POST and a GET of that
//! path. `mqtt` is MQTT 3.1.1, a path its topic. `coap` posts to its path and reads it again. What it
//! deliberately does not do: TLS, which is measured of idle connections alone.

use std::net::{SocketAddr, ToSocketAddrs};

use crate::targets::{Running, mosquitto, weir};
use weir_bench_load::load::wire::{PublishWire, SubscribeWire};
use weir_bench_model::cell::Scheme;
use weir_bench_peers::device::job::{CoapOver, CoapWay, Conversation, Method};

/// A system that is not started by the bench.
#[derive(Clone, Debug)]
pub struct Guest {
    /// Its URL, which is its name in results. It lives as long as the process, as a target's name does.
    pub name: &'static str,
    speech: Speech,
    host: String,
    address: SocketAddr,
    path: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speech {
    Web,
    Mqtt,
    Coap,
}

impl Guest {
    /// Whether a target is named by its URL.
    pub fn is_url(target: &str) -> bool {
        target.contains("://")
    }

    /// Of a URL; its host is looked up now.
    pub fn of(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or("no URL")?;
        let (speech, port) = match scheme {
            "http" | "ws" => (Speech::Web, 80),
            "mqtt" => (Speech::Mqtt, 1883),
            "coap" => (Speech::Coap, 5683),
            _ => {
                return Err(format!(
                    "{url}: http, ws, mqtt and coap are spoken, {scheme} is not"
                ));
            }
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port {
            host.into()
        } else {
            format!("{host}:{port}")
        };
        let mut found = authority
            .to_socket_addrs()
            .map_err(|e| format!("{url}: {e}"))?;
        let address = found.next().ok_or_else(|| format!("{url}: no address"))?;
        Ok(Self {
            name: url.to_owned().leak(),
            speech,
            host: host.into(),
            address,
            path: path.into(),
        })
    }

    /// As a target that runs.
    pub fn running(&self) -> Running {
        Running::elsewhere(self.address, "as given by its URL")
    }

    /// Whether messages reach subscribers of it by a scheme.
    pub fn has(&self, scheme: Scheme) -> bool {
        self.subscribe(scheme, "x").is_some()
    }

    /// Whether it is measured by round trips alone.
    pub fn answers_only(&self) -> bool {
        self.speech == Speech::Coap
    }

    /// How a device speaks to it, where it is measured by round trips.
    pub fn conversation(&self) -> Option<Conversation> {
        let way = CoapWay::Answer {
            prepare: Some(Method::Post),
            ask: Method::Get,
        };
        self.answers_only().then(|| Conversation::Coap {
            over: CoapOver::Confirmable,
            path: self.path.clone(),
            format: Some(0),
            way,
        })
    }

    /// How to publish.
    pub fn publish(&self, topic: &str) -> PublishWire {
        match (self.speech, self.path.as_str()) {
            (Speech::Mqtt, "") => mosquitto::publish(topic),
            (Speech::Mqtt, path) => mosquitto::publish(path),
            (_, "") => weir::publish(topic),
            (_, path) => PublishWire::Http {
                head: format!("POST /{path} HTTP/1.1\r\nHost: {}\r\n", self.host),
            },
        }
    }

    /// How to subscribe.
    pub fn subscribe(&self, scheme: Scheme, topic: &str) -> Option<SubscribeWire> {
        match (self.speech, self.path.as_str()) {
            (Speech::Coap, _) => None,
            (Speech::Mqtt, "") => mosquitto::subscribe(scheme, topic),
            (Speech::Mqtt, path) => mosquitto::subscribe(scheme, path),
            (Speech::Web, "") => weir::subscribe(scheme, topic),
            (Speech::Web, _) => self.bare(scheme),
        }
    }

    fn bare(&self, scheme: Scheme) -> Option<SubscribeWire> {
        let fields = match scheme {
            Scheme::Sse => "Accept: text/event-stream\r\n",
            Scheme::WebSocket => weir::WEBSOCKET,
            Scheme::Streaming | Scheme::LongPolling => "Accept: application/json\r\n",
            _ => return None,
        };
        let request = format!(
            "GET /{} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n",
            self.path, self.host
        );
        Some(match scheme {
            Scheme::LongPolling => SubscribeWire::LongPoll {
                again: request.clone(),
                request,
            },
            _ => SubscribeWire::Stream { request },
        })
    }
}
