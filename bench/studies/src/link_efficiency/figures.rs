//! Figures of a run by what they are of: what claims, goals and tables ask for.

use super::cells::{Pace, Setting};
use super::protocol::{Echo, Protocol, Security};
use super::servers::{LIBCOAP, MOSQUITTO, TORNADO};
use weir_bench_model::cell::LOCAL;
use weir_bench_model::results::{CellResult, Metric, OURS};

/// The results of a run.
#[derive(Clone, Copy)]
pub(super) struct Figures<'a>(pub &'a [CellResult]);

/// A protocol as one server speaks it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of {
    /// The protocol.
    pub protocol: Protocol,
    /// How it is secured.
    pub security: Security,
    /// How the echo comes about.
    pub echo: Echo,
    /// The server.
    pub server: &'static str,
}

/// CoAP, WebSocket, MQTT QoS 0, 1 and 2, in this order.
pub(super) type Scenario = [Of; 5];

const fn of(protocol: Protocol, echo: Echo, server: &'static str) -> Of {
    Of {
        protocol,
        security: Security::None,
        echo,
        server,
    }
}

/// As in the paper: libcoap, Tornado and Mosquitto.
pub(super) const PAPER: Scenario = [
    of(Protocol::CoapCon, Echo::Answer, LIBCOAP),
    of(Protocol::WebSocket, Echo::Answer, TORNADO),
    of(Protocol::MqttQos0, Echo::Subscription, MOSQUITTO),
    of(Protocol::MqttQos1, Echo::Subscription, MOSQUITTO),
    of(Protocol::MqttQos2, Echo::Subscription, MOSQUITTO),
];

/// With the gateway as the server; its CoAP answers, its WebSocket has subscribers.
pub(super) const GATEWAY: Scenario = [
    of(Protocol::CoapCon, Echo::Answer, OURS),
    of(Protocol::WebSocket, Echo::Subscription, OURS),
    of(Protocol::MqttQos0, Echo::Subscription, OURS),
    of(Protocol::MqttQos1, Echo::Subscription, OURS),
    of(Protocol::MqttQos2, Echo::Subscription, OURS),
];

impl Of {
    /// The cell of a payload and a pace, on the machine itself.
    pub(super) fn at(&self, payload_bytes: usize, pace: Pace) -> Setting {
        Setting {
            pace,
            ..self.on((LOCAL, false), payload_bytes)
        }
    }

    /// The cell of a link, with or without the modem, and a payload.
    pub(super) fn on(&self, (link, modem): (&'static str, bool), payload_bytes: usize) -> Setting {
        Setting {
            link,
            modem,
            protocol: self.protocol,
            security: self.security,
            echo: self.echo,
            payload_bytes,
            pace: Pace::Next,
        }
    }
}

impl<'a> Figures<'a> {
    /// The result of a server in a cell.
    pub(super) fn result(&self, setting: &Setting, server: &str) -> Option<&'a CellResult> {
        let cell = setting.name();
        self.0
            .iter()
            .find(|result| result.cell == cell && result.target == server)
    }

    /// A metric of it.
    pub(super) fn metric(
        &self,
        setting: &Setting,
        server: &str,
        metric: &str,
    ) -> Option<&'a Metric> {
        self.result(setting, server)?.metric(metric)
    }

    /// The mean of a metric where packets follow each other at once.
    pub(super) fn mean(&self, of: &Of, payload_bytes: usize, metric: &str) -> Option<f64> {
        self.mean_on(of, (LOCAL, false), payload_bytes, metric)
    }

    /// The same on a link, with or without the modem.
    pub(super) fn mean_on(
        &self,
        of: &Of,
        link: (&'static str, bool),
        payload_bytes: usize,
        metric: &str,
    ) -> Option<f64> {
        let setting = of.on(link, payload_bytes);
        let metric = self.metric(&setting, of.server, metric)?;
        Some(match &metric.percentiles {
            Some(percentiles) => percentiles.mean,
            None => metric.estimate.mean,
        })
    }
}
