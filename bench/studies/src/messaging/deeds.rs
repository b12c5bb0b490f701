//! What is done between two clients of one broker, by who they are.

use serde_json::Value;

use super::browsers::Client;
use super::cells::{Scale, Setting, State, Test};
use super::job::{Arrived, ClientsOutcome, ClientsPlan, Deed, Sent};
use super::payload::{BACK, TOPIC, batch, encode};
use super::sample::{of_ping_pong, of_transfer};
use weir_bench_lab::meter::Meter;
use weir_bench_lab::sample::{OF_SERVER, Sample};
use weir_bench_lab::targets::{Running, Settings, WebSocketAt};
use weir_bench_lab::worker::{self, Measured};

/// A broker and what is to be done with it.
pub(super) struct Deeds<'a> {
    settings: &'a Settings,
    scale: Scale,
    setting: &'a Setting,
    name: &'a str,
    broker: &'a Running,
}

impl<'a> Deeds<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        scale: Scale,
        setting: &'a Setting,
        (name, broker): (&'a str, &'a Running),
    ) -> Self {
        Self {
            settings,
            scale,
            setting,
            name,
            broker,
        }
    }

    /// Has messages go to and fro until what runs on a virtual machine is compiled: of one node, whose
    /// observations alone lie below where they are sent back to.
    pub(super) fn settle(&self) -> Result<(), String> {
        let deed = Deed::PingPong {
            warm_up_ms: 0,
            measure_ms: self.scale.settle.as_millis() as u64,
        };
        self.natives(true, 1, deed).map(drop)
    }

    /// Two programs.
    pub(super) fn native_native(&self) -> Result<Sample, String> {
        let (outcome, measured) = self.natives(true, self.setting.nodes, self.deed())?;
        let mut sample = match &outcome {
            ClientsOutcome::Transfer { sent, arrived } => self.transfer(sent, arrived)?,
            ClientsOutcome::PingPong(measured) => of_ping_pong(measured),
        };
        sample.put_spent(&measured);
        Ok(sample)
    }

    /// A program publishes, or asks; a page receives, or sends back.
    pub(super) fn native_browser(&self, page: &mut Client<'_>) -> Result<Sample, String> {
        page.connect(self.setting.protocol.name, &self.websocket()?, TOPIC)?;
        match self.setting.test {
            Test::Transfer => page.keep()?,
            Test::PingPong => page.send_back(BACK)?,
        }
        let (outcome, measured) = self.natives(false, self.setting.nodes, self.deed())?;
        let mut sample = match &outcome {
            ClientsOutcome::Transfer { sent, .. } => {
                self.transfer(sent, &page.arrived(sent.len())?)?
            }
            ClientsOutcome::PingPong(measured) => of_ping_pong(measured),
        };
        sample.put_spent(&measured);
        Ok(sample)
    }

    /// Pages of two browsers.
    pub(super) fn browser_browser(
        &self,
        first: &mut Client<'_>,
        second: &mut Client<'_>,
    ) -> Result<Sample, String> {
        let (protocol, at) = (self.setting.protocol.name, self.websocket()?);
        first.connect(protocol, &at, BACK)?;
        second.connect(protocol, &at, TOPIC)?;
        let (mut sample, server) = match self.deed() {
            Deed::Transfer {
                messages,
                interval_ns,
            } => self.transfer_in_pages(first, second, messages, interval_ns as f64 / 1e6),
            Deed::PingPong {
                warm_up_ms,
                measure_ms,
            } => self.ping_pong_in_pages(first, second, [warm_up_ms, measure_ms]),
            other => Err(format!("pages do not do {other:?}")),
        }?;
        sample.put_side(OF_SERVER, server.spent());
        Ok(sample)
    }

    /// Of the messages that count.
    fn transfer(&self, sent: &[Sent], arrived: &[Arrived]) -> Result<Sample, String> {
        let counted = sent.get(self.scale.warm_up_messages..);
        of_transfer(counted.unwrap_or_default(), arrived)
    }

    fn transfer_in_pages(
        &self,
        first: &mut Client<'_>,
        second: &mut Client<'_>,
        messages: usize,
        interval_ms: f64,
    ) -> Result<(Sample, Meter), String> {
        let of_second = |second| json(self.setting.nodes, second);
        let data = (0..messages as u64).map(of_second);
        let data = data.collect::<Result<Vec<Value>, String>>()?;
        second.keep()?;
        let server = self.meter();
        let sent = first.publish(TOPIC, &data, interval_ms)?;
        let arrived = second.arrived(sent.len())?;
        Ok((self.transfer(&sent, &arrived)?, server))
    }

    fn ping_pong_in_pages(
        &self,
        first: &mut Client<'_>,
        second: &mut Client<'_>,
        [warm_up_ms, measure_ms]: [u64; 2],
    ) -> Result<(Sample, Meter), String> {
        second.send_back(BACK)?;
        let payload = text(self.setting.nodes, 0)?;
        if warm_up_ms > 0 {
            first.ping_pong(TOPIC, &payload, warm_up_ms)?;
        }
        let server = self.meter();
        let measured = first.ping_pong(TOPIC, &payload, measure_ms)?;
        Ok((of_ping_pong(&measured), server))
    }

    fn meter(&self) -> Meter {
        Meter::start(self.broker.roots())
    }

    fn websocket(&self) -> Result<WebSocketAt, String> {
        let at = self.broker.websocket.clone();
        at.ok_or_else(|| {
            "absent: it has no WebSocket for pages; of a given broker ws://HOST:PORT/PATH tells it"
                .into()
        })
    }

    fn natives(
        &self,
        both: bool,
        nodes: usize,
        deed: Deed,
    ) -> Result<(ClientsOutcome, Measured), String> {
        let plan = ClientsPlan {
            protocol: self.setting.protocol.name.into(),
            broker: self.name.into(),
            nodes,
            both,
            deed,
        };
        worker::task(self.settings, self.broker, &plan)
    }

    fn deed(&self) -> Deed {
        let warm_up_ms = match self.setting.state {
            State::Steady => self.scale.warm_up.as_millis() as u64,
            State::Started => 0,
        };
        match self.setting.test {
            Test::Transfer => Deed::Transfer {
                messages: self.scale.warm_up_messages + self.scale.messages,
                interval_ns: (1e9 / self.setting.rate) as u64,
            },
            Test::PingPong => Deed::PingPong {
                warm_up_ms,
                measure_ms: self.scale.measure.as_millis() as u64,
            },
        }
    }
}

fn text(nodes: usize, second: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    encode(&batch(nodes, second), &mut bytes)?;
    String::from_utf8(bytes).map_err(|e| e.to_string())
}

/// The data of a message as a page has them before it encodes them.
fn json(nodes: usize, second: u64) -> Result<Value, String> {
    serde_json::from_str(&text(nodes, second)?).map_err(|e| e.to_string())
}
