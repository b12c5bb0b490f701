//! weir's own participant.

use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};
use weir_dds::Exchange;
use weir_dds::wire::Sample;
use weir_model::batch::Naming;
use weir_model::{Extra, Observation, Value};

use super::super::super::job::At;
use super::super::{Client, Part};
use weir_bench_lab::targets::dds::domain_at;
use weir_bench_model::limits::{DDS_LOOKS_MAX, DDS_QUIET_LOOKS};

/// Between two looks at who has come.
const LOOK: Duration = Duration::from_millis(10);

/// A participant that writes, reads one topic, or both.
pub(super) struct Participant {
    exchange: Exchange,
    topic: Option<String>,
    silence: Duration,
    runtime: Runtime,
}

impl Participant {
    /// Joins the domain.
    pub(super) fn open(at: At, part: Part<'_>) -> Result<Self, String> {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().map_err(|e| e.to_string())?;
        let url = format!(
            "dds://{}?interface={}&durability=volatile",
            domain_at(at.address),
            at.address.ip()
        );
        let open = match part {
            Part::Publishes => Exchange::writer,
            Part::Listens(_) => Exchange::reader,
            Part::Both(_) => Exchange::open,
        };
        let exchange = runtime.block_on(async { open(&url) });
        Ok(Self {
            exchange: exchange.map_err(|e| format!("{url}: {e}"))?,
            topic: part.topic().map(Into::into),
            silence: at.silence,
            runtime,
        })
    }
}

impl Client for Participant {
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String> {
        let json = std::str::from_utf8(payload).map_err(|e| e.to_string())?;
        let message = observation(topic, json);
        let written = self.runtime.block_on(self.exchange.write(&message));
        written.map_err(|e| format!("writing: {e}"))
    }

    fn receive(&mut self) -> Result<Option<Bytes>, String> {
        let topic = self.topic.as_deref().ok_or("it listens to nothing")?;
        let arrived = next(&mut self.exchange, topic);
        let silence = self.silence;
        match self
            .runtime
            .block_on(async { timeout(silence, arrived).await })
        {
            Ok(arrived) => arrived.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Until somebody else reads what it writes and writes what it reads, and then nobody has come for a while, by
    /// when this one is known, too.
    fn meet(&mut self) -> Result<(), String> {
        let exchange = &mut self.exchange;
        self.runtime.block_on(async {
            let mut quiet = 0;
            for _ in 0..DDS_LOOKS_MAX {
                quiet = if exchange.look() { 0 } else { quiet + 1 };
                if exchange.has_met() && quiet >= DDS_QUIET_LOOKS {
                    return Ok(());
                }
                sleep(LOOK).await;
            }
            Err("nobody else in the domain reads and writes".into())
        })
    }

    fn drain(&mut self) -> Result<(), String> {
        let acknowledged = self.runtime.block_on(self.exchange.drain());
        acknowledged.map_err(|e| format!("no reader acknowledges what was written: {e}"))
    }

    fn nodelay(&self) -> Option<bool> {
        None
    }
}

/// The next message at a topic.
async fn next(exchange: &mut Exchange, topic: &str) -> Result<Bytes, String> {
    loop {
        let arrived = exchange.next(|sample| message(sample, topic)).await;
        if let Some(payload) = arrived.map_err(|e| format!("reading: {e}"))? {
            return Ok(payload);
        }
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
