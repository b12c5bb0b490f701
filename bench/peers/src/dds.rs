//! DDS without a broker: weir's own participant in a domain, reliable and volatile.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};
use weir_dds::Exchange;
use weir_dds::wire::Sample;
use weir_model::batch::Naming;
use weir_model::{Extra, Observation, Value};

use crate::error::{Cause, Error};
use weir_bench_model::limits::{DDS_LOOKS_MAX, DDS_QUIET_LOOKS};

/// Between two looks at who has come.
const LOOK: Duration = Duration::from_millis(10);

/// Where the others are, and how long they may be silent.
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    /// Its number.
    pub number: u16,
    /// The address of the interface.
    pub interface: IpAddr,
    /// After which nothing is expected any more.
    pub silence: Duration,
}

/// A participant that writes, reads one topic, or both.
pub struct Participant {
    exchange: Exchange,
    topic: Option<String>,
    domain: Domain,
    runtime: Runtime,
}

impl Participant {
    /// Joins the domain; with a topic it reads, and unless it only listens it writes.
    pub fn open(domain: Domain, topic: Option<&str>, writes: bool) -> Result<Self, Error> {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build();
        let runtime = runtime.map_err(|e| domain.failed(e.into(), "joining"))?;
        let Domain {
            number, interface, ..
        } = domain;
        let url = format!("dds://{number}?interface={interface}&durability=volatile");
        let open = match (topic, writes) {
            (None, _) => Exchange::writer,
            (Some(_), false) => Exchange::reader,
            (Some(_), true) => Exchange::open,
        };
        let exchange = runtime.block_on(async { open(&url) });
        Ok(Self {
            exchange: exchange.map_err(|e| domain.refused(e, "joining"))?,
            topic: topic.map(Into::into),
            domain,
            runtime,
        })
    }

    /// Writes JSON at a topic.
    pub fn publish(&mut self, topic: &str, json: &[u8]) -> Result<(), Error> {
        const DOING: &str = "writing";
        let json = std::str::from_utf8(json);
        let json = json.map_err(|e| self.domain.refused(e, DOING))?;
        let message = observation(topic, json);
        let written = self.runtime.block_on(self.exchange.write(&message));
        written.map_err(|e| self.domain.refused(e, DOING))
    }

    /// Waits for the next message at its topic.
    pub fn message(&mut self) -> Result<Bytes, Error> {
        const DOING: &str = "reading";
        let Some(topic) = self.topic.as_deref() else {
            let cause = Cause::Unsendable("it listens to nothing".into());
            return Err(self.domain.failed(cause, DOING));
        };
        let (domain, exchange) = (self.domain, &mut self.exchange);
        let arrived = async {
            loop {
                let arrived = exchange.next(|sample| message(sample, topic)).await;
                if let Some(payload) = arrived.map_err(|e| domain.refused(e, DOING))? {
                    return Ok(payload);
                }
            }
        };
        let arrived = async { timeout(domain.silence, arrived).await };
        let arrived = self.runtime.block_on(arrived);
        arrived.unwrap_or_else(|_| Err(domain.failed(Cause::Silent, DOING)))
    }

    /// Until somebody else reads what it writes and writes what it reads, and then nobody has come for a while, by
    /// when this one is known, too.
    pub fn meet(&mut self) -> Result<(), Error> {
        let exchange = &mut self.exchange;
        let met = self.runtime.block_on(async {
            let mut quiet = 0;
            for _ in 0..DDS_LOOKS_MAX {
                quiet = if exchange.look() { 0 } else { quiet + 1 };
                if exchange.has_met() && quiet >= DDS_QUIET_LOOKS {
                    return true;
                }
                sleep(LOOK).await;
            }
            false
        });
        match met {
            true => Ok(()),
            false => Err(self
                .domain
                .failed(Cause::Silent, "meeting who reads and writes")),
        }
    }

    /// Waits until every reader has what was written.
    pub fn drain(&mut self) -> Result<(), Error> {
        let acknowledged = self.runtime.block_on(self.exchange.drain());
        acknowledged.map_err(|e| self.domain.refused(e, "waiting for acknowledgments"))
    }
}

impl Domain {
    fn failed(self, cause: Cause, doing: &'static str) -> Error {
        cause.of(format!("DDS domain {}", self.number), doing)
    }

    fn refused(self, error: impl ToString, doing: &'static str) -> Error {
        self.failed(Cause::Unlike(error.to_string()), doing)
    }
}

/// The message in a sample of the topic.
fn message(sample: &Sample<'_>, topic: &str) -> Option<Bytes> {
    match sample.observation.value {
        Value::Json(json) if sample.observation.topic == topic => {
            Some(Bytes::copy_from_slice(json.as_bytes()))
        }
        _ => None,
    }
}

fn observation<'a>(topic: &'a str, json: &'a str) -> Observation<'a> {
    Observation {
        naming: Naming::Topic,
        topic,
        sensor: None,
        property: None,
        unit: None,
        description: 0,
        value: Value::Json(json),
        // That of its arrival.
        time: None,
        place: None,
        extra: Extra::default(),
    }
}
