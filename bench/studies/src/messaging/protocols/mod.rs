//! The protocols: one file and one line of [`PROTOCOLS`] each, with the brokers that speak it and its
//! native client.
//!
//! The client of a page is the file of the same name in `web/src/messaging/clients`. A broker is a target of
//! [`weir_bench_lab::targets`], one for each protocol that it speaks. The decision worth arguing: a native client
//! whose socket waits to fill segments (RFC 896) is refused, since 40 ms of that would be taken for the
//! broker's.

mod amqp;
mod amqp091;
mod amqp10;
mod dds;
mod mqtt;
mod xmpp;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use super::job::{At, PingPong, START_NS, Schedule, Sent};
use super::payload::{batch, encode, id};
use weir_bench_model::clock::now_ns;
use weir_bench_model::latency::Latency;

/// All protocols, in the order of the report.
pub(super) static PROTOCOLS: &[Protocol] = &[
    mqtt::PROTOCOL,
    amqp091::PROTOCOL,
    amqp10::PROTOCOL,
    xmpp::PROTOCOL,
    dds::PROTOCOL,
];

/// A protocol of messaging.
#[derive(Debug)]
pub(super) struct Protocol {
    /// Its name as a level of a factor.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its name in the tables of the paper, where it is there.
    pub published: Option<&'static str>,
    /// The target that is the gateway, where it is a server of this protocol.
    pub ours: Option<&'static str>,
    /// The targets that are other people's brokers.
    pub others: &'static [&'static str],
    /// Those of them whose native clients are a process each by this program; of the others they are threads of one, or
    /// programs of their own.
    pub apart: &'static [&'static str],
    /// Whether `--target` names a broker of it.
    pub takes_given: bool,
    /// Who the clients are and what they promise, in sentences.
    pub about: &'static str,
    /// Opens a native client.
    pub open: Open,
}

/// What a client takes part in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    /// It publishes.
    Publishes,
    /// It is subscribed to a topic.
    Listens(&'a str),
    /// Both.
    Both(&'a str),
}

impl<'a> Part<'a> {
    /// What it is subscribed to.
    fn topic(self) -> Option<&'a str> {
        match self {
            Self::Publishes => None,
            Self::Listens(topic) | Self::Both(topic) => Some(topic),
        }
    }
}

/// How a client is opened.
type Open = fn(At, Part<'_>) -> Result<Box<dyn Client>, String>;

/// A native client: blocking, of one thread.
pub(super) trait Client: Send {
    /// Publishes a message and goes on, nothing being acknowledged.
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String>;

    /// Waits for the next message; nothing where none comes in time.
    fn receive(&mut self) -> Result<Option<Bytes>, String>;

    /// The same with when the application had it.
    fn receive_timed(&mut self) -> Result<Option<(u64, Bytes)>, String> {
        let payload = self.receive()?;
        Ok(payload.map(|payload| (now_ns(), payload)))
    }

    /// Publishes messages at their times, which wait for no arrival.
    fn publish_all(&mut self, topic: &str, schedule: Schedule) -> Result<Vec<Sent>, String> {
        let (mut sent, mut payload) = (Vec::with_capacity(schedule.messages), Vec::new());
        let first = now_ns() + START_NS;
        for index in 0..schedule.messages as u64 {
            let due_ns = first + index * schedule.interval_ns;
            let data = batch(schedule.nodes, index);
            thread::sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns())));
            let begun_ns = now_ns();
            encode(&data, &mut payload)?;
            self.publish(topic, &payload)?;
            sent.push(Sent {
                id: id(&payload),
                due_ns: due_ns as f64,
                begun_ns: begun_ns as f64,
            });
        }
        Ok(sent)
    }

    /// Whether the kernel says that its socket sends at once (`TCP_NODELAY`); `None` without TCP.
    fn nodelay(&self) -> Option<bool>;

    /// Waits until what it publishes will be heard, once all are open; of brokers it is when they answered.
    fn meet(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Waits until what it published has left, before it ends.
    fn drain(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Sends back what comes, until it is over; the first message behind that wakes it.
    fn send_back(&mut self, to: &str, over: &AtomicBool) -> Result<(), String> {
        while !over.load(Ordering::Relaxed) {
            if let Some(payload) = self.receive()? {
                self.publish(to, &payload)?;
            }
        }
        Ok(())
    }

    /// Sends a message again as soon as it is back.
    fn to_and_fro(&mut self, to: &str, payload: &[u8], for_ms: u64) -> Result<PingPong, String> {
        let mut rtt = Latency::new();
        let (begin, mut lost) = (now_ns(), 0);
        let mut now = begin;
        while now - begin < for_ms * 1_000_000 {
            self.publish(to, payload)?;
            let came = self.receive()?;
            let before = std::mem::replace(&mut now, now_ns());
            match came {
                Some(_) => rtt.record(now - before),
                None => lost += 1,
            }
        }
        let (passed, seconds) = (rtt.count(), (now - begin) as f64 / 1e9);
        Ok(PingPong {
            passed,
            lost,
            seconds,
            rtt,
        })
    }
}

impl Protocol {
    /// The protocol of a name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        PROTOCOLS.iter().find(|protocol| protocol.name == name)
    }

    /// Opens a native client whose socket sends at once.
    pub(super) fn client(&self, at: At, part: Part<'_>) -> Result<Box<dyn Client>, String> {
        let client = (self.open)(at, part)?;
        match client.nodelay() {
            Some(false) => Err(format!(
                "the {} client's socket is without TCP_NODELAY",
                self.title
            )),
            _ => Ok(client),
        }
    }

    /// Its brokers: ours, theirs, and one that is given by its URL.
    pub(super) fn brokers(&self, given: bool) -> Vec<&'static str> {
        let given = (given && self.takes_given).then_some("given");
        let others = self.others.iter().copied();
        self.ours.into_iter().chain(others).chain(given).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_lab::targets::list;
    use weir_bench_model::results::is_ours;

    #[test]
    fn every_broker_is_a_target_and_those_of_ours_are_ours() {
        for protocol in PROTOCOLS {
            let brokers = protocol.brokers(true);
            assert!(brokers.iter().all(|name| list::named(name).is_some()));
            assert!(protocol.ours.is_none_or(is_ours));
            assert!(protocol.apart.iter().all(|name| brokers.contains(name)));
            assert!(!protocol.others.iter().any(|name| is_ours(name)));
        }
    }

    #[test]
    fn every_protocol_of_the_paper_is_named_as_in_its_tables() {
        for name in PROTOCOLS.iter().filter_map(|protocol| protocol.published) {
            let rows = weir_bench_model::published::MESSAGING_LATENCY.rows();
            assert!(
                rows.iter().any(|row| row.text("protocol") == name),
                "{name}"
            );
        }
    }
}
