//! What a board that is a client is told to do, and what it found.

use crate::bridge::{Bridge, Orderer};
use crate::host::OWN;
use crate::line::Counts;
use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::time::Duration;

/// Between two times that a board is told what to do which may not be up yet.
const AGAIN: Duration = Duration::from_millis(300);
/// How often it is told.
const AGAIN_MAX: u32 = 100;
/// What a report may take beside what it reports.
const SLACK: Duration = Duration::from_secs(10);
/// Bytes of IP's header, which no efficiency counts.
const HEAD_BYTES: u64 = 20;

/// A protocol that the client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// CoAP, confirmable.
    CoapCon,
    /// CoAP, non-confirmable.
    CoapNon,
    /// WebSocket.
    WebSocket,
    /// MQTT 3.1.1 with this quality of service, 2 at most.
    Mqtt(u8),
}

/// Packets to a server, one after the other.
#[derive(Clone, Debug)]
pub struct Order {
    /// How to speak to it.
    pub protocol: Protocol,
    /// Its port.
    pub port: u16,
    /// Path or topic.
    pub target: String,
    /// Whether it is a gateway, which is told and observed, or echoes by itself.
    pub is_gateway: bool,
    /// Bytes of a payload, 1,024 at most.
    pub payload: usize,
    /// Packets that count, 10,000 at most, and those before them.
    pub packets: u32,
    /// Packets before them.
    pub warm_up: u32,
    /// Between an exchange and the next.
    pub rest: Duration,
    /// After which a datagram is lost, or a stream dead.
    pub wait: Duration,
}

/// What a client found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What it said: `echoed`, `lost`, `opening`, and of round trips `mean`, `min`, `p50`, `p90`, `p99`, `p999`, `max`,
    /// microseconds of its own timer.
    pub numbers: BTreeMap<String, u64>,
    /// What passed the line meanwhile.
    pub counts: Counts,
}

/// A report of the client.
struct Report {
    id: u32,
    state: String,
    rest: String,
}

impl Report {
    fn read(text: &str) -> Option<Self> {
        let (id, rest) = text.strip_prefix("id=")?.split_once(" state=")?;
        let (state, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        Some(Self {
            id: id.parse().ok()?,
            state: state.into(),
            rest: rest.into(),
        })
    }

    fn numbers(&self) -> impl Iterator<Item = (String, u64)> {
        let pairs = self.rest.split(' ').filter_map(|it| it.split_once('='));
        pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)))
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CoapCon => write!(f, "coap-con"),
            Self::CoapNon => write!(f, "coap-non"),
            Self::WebSocket => write!(f, "websocket"),
            Self::Mqtt(qos) => write!(f, "mqtt-qos-{qos}"),
        }
    }
}

impl Order {
    fn text(&self, id: u32) -> String {
        let Self {
            protocol,
            port,
            target,
            payload,
            packets,
            warm_up,
            ..
        } = self;
        let server = Ipv4Addr::from(OWN);
        let [rest, wait] = [self.rest, self.wait].map(|it| it.as_millis());
        let (peer, subprotocol) = match self.is_gateway {
            true => ("gateway", "weir.plain"),
            false => ("echo", ""),
        };
        format!(
            "id={id} protocol={protocol} server={server}:{port} payload={payload} packets={packets} \
             warm-up={warm_up} rest-ms={rest} wait-ms={wait} target={target} peer={peer} subprotocol={subprotocol}"
        )
    }

    /// How long it takes at most, where nothing fails.
    fn patience(&self) -> Duration {
        (self.rest + self.wait) * (self.packets + self.warm_up) + SLACK
    }
}

impl Outcome {
    /// A number by its name.
    pub fn number(&self, name: &str) -> u64 {
        self.numbers.get(name).copied().unwrap_or_default()
    }

    /// Bytes of application and transport that passed the line, both ways.
    pub fn transport_bytes(&self) -> u64 {
        let Counts { packets, bytes } = self.counts;
        bytes.iter().sum::<u64>() - HEAD_BYTES * packets.iter().sum::<u64>()
    }

    /// The protocol efficiency (paper 003, section III): payload, counted once, over all bytes of application and
    /// transport.
    pub fn efficiency(&self, order: &Order) -> f64 {
        let payload = order.payload as u64 * self.number("echoed");
        payload as f64 / self.transport_bytes().max(1) as f64
    }
}

impl<M: Orderer> Bridge<M> {
    /// Has a board that is a client carry out an order; each order of a board has another number.
    pub async fn echo(&mut self, order: &Order, id: u32) -> Result<Outcome, String> {
        self.tell(order, id).await?;
        let opened = self.await_report(id, "opened", order.patience()).await?;
        let before = self.counts();
        let done = self.await_report(id, "done", order.patience()).await?;
        Ok(Outcome {
            numbers: opened.numbers().chain(done.numbers()).collect(),
            counts: self.counts().since(&before),
        })
    }

    async fn tell(&mut self, order: &Order, id: u32) -> Result<(), String> {
        let text = order.text(id);
        for _ in 0..AGAIN_MAX {
            self.order(&text);
            match self.await_report(id, "taken", AGAIN).await {
                Ok(_) => return Ok(()),
                Err(reason) if reason == SILENT => {}
                Err(reason) => return Err(reason),
            }
        }
        Err(SILENT.into())
    }

    async fn await_report(
        &mut self,
        id: u32,
        state: &str,
        patience: Duration,
    ) -> Result<Report, String> {
        loop {
            let text = self.report(patience).await.map_err(|it| it.to_string())?;
            let Some(text) = text else {
                return Err(SILENT.into());
            };
            match Report::read(&text) {
                Some(report) if report.state == "failed" => return Err(report.reason()),
                Some(report) if report.id == id && report.state == state => return Ok(report),
                Some(_) => {}
                None => return Err(format!("the board reports {text:?}")),
            }
        }
    }
}

/// Why nothing is known.
const SILENT: &str = "the board reports nothing";

impl Report {
    fn reason(&self) -> String {
        let reason = self.rest.strip_prefix("reason=");
        reason.unwrap_or(&self.rest).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_and_orders_are_what_the_client_reads() {
        let report = Report::read("id=3 state=done echoed=10 lost=0 mean=18000").unwrap();
        assert_eq!((report.id, report.state.as_str()), (3, "done"));
        let numbers: Vec<_> = report.numbers().map(|(_, value)| value).collect();
        assert_eq!(numbers, [10, 0, 18_000]);
        let failed = Report::read("id=3 state=failed reason=the server refused").unwrap();
        assert_eq!(failed.reason(), "the server refused");
        assert!(Report::read("hello").is_none());
        let order = Order {
            protocol: Protocol::Mqtt(1),
            port: 1_883,
            target: "echo".into(),
            is_gateway: false,
            payload: 100,
            packets: 1_000,
            warm_up: 5,
            rest: Duration::from_millis(60),
            wait: Duration::from_secs(20),
        };
        let text = "id=3 protocol=mqtt-qos-1 server=10.9.0.1:1883 payload=100 packets=1000 warm-up=5 \
                    rest-ms=60 wait-ms=20000 target=echo peer=echo subprotocol=";
        assert_eq!(order.text(3), text);
    }

    #[test]
    fn payload_that_is_half_of_all_bytes_has_the_efficiency_one_half() {
        let outcome = Outcome {
            numbers: BTreeMap::from([("echoed".into(), 10)]),
            counts: Counts {
                packets: [10, 10],
                bytes: [1_200, 1_200],
            },
        };
        let order = Order {
            protocol: Protocol::CoapCon,
            port: 5_683,
            target: "echo".into(),
            is_gateway: false,
            payload: 100,
            packets: 10,
            warm_up: 0,
            rest: Duration::ZERO,
            wait: Duration::ZERO,
        };
        assert_eq!(outcome.transport_bytes(), 2_000);
        assert_eq!(outcome.efficiency(&order), 0.5);
    }
}
