//! The device: sends a packet, waits for its echo, sends the next (a closed loop, as the paper's).
//!
//! It opens its sockets itself and drives the machines of the protocols, so that every byte is counted
//! where it passes. One thread, blocking sockets: a device has nothing else to do meanwhile.

mod bare;
mod coap;
mod http;
mod http2;
pub mod job;
mod mqtt;
mod websocket;

use std::net::SocketAddr;
use std::time::Duration;

use crate::sockets::{Peer, Traffic};
use job::{Conversation, EchoOutcome, EchoPlan};
use weir_bench_load::load::job::{Event, Task};
use weir_bench_load::load::{await_orchestrator, emit};
use weir_bench_model::clock::now_ns;
use weir_bench_model::latency::Latency;
use weir_bench_model::limits::{ECHO_MS_MAX, ECHO_SETTLE_MS};

/// One end of a conversation.
trait Device {
    /// Does what must be so before the first exchange.
    fn prepare(&mut self, _payload: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// Sends a payload and waits for its echo; nothing where none came in time.
    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String>;

    /// What went over the link since it was opened.
    fn traffic(&self) -> Result<Traffic, String>;

    /// Takes leave of the server.
    fn close(&mut self) {}
}

/// When an exchange was done.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// The echo was with the application.
    echo_ns: u64,
    /// Everything was acknowledged.
    settled_ns: u64,
}

impl Times {
    fn now() -> Self {
        let now = now_ns();
        Self {
            echo_ns: now,
            settled_ns: now,
        }
    }
}

/// The end of an exchange whose answer is as long as what was sent.
fn length_is(length: usize, payload: &[u8]) -> Result<Option<Times>, String> {
    if length == payload.len() {
        Ok(Some(Times::now()))
    } else {
        Err(format!("the response carries {length} bytes"))
    }
}

fn open(peer: &Peer, conversation: &Conversation) -> Result<Box<dyn Device>, String> {
    Ok(match conversation {
        Conversation::Datagrams => Box::new(bare::Datagrams::open(peer)?),
        Conversation::Stream => Box::new(bare::Stream::open(peer)?),
        Conversation::Coap {
            over,
            path,
            format,
            way,
        } => Box::new(coap::Echo::open(peer, *over, (path, *format), way)?),
        Conversation::Http {
            target,
            prepare,
            ask,
        } => Box::new(http::Http::open(peer, target, *prepare, *ask)?),
        Conversation::Http2 { target } => Box::new(http2::Http2::open(peer, target)?),
        Conversation::WebSocket {
            target,
            subprotocol,
            commits,
        } => Box::new(websocket::Echo::open(
            peer,
            target,
            subprotocol.as_deref(),
            *commits,
        )?),
        Conversation::Mqtt { qos, topic } => Box::new(mqtt::Echo::open(peer, *qos, topic)?),
    })
}

impl Task for EchoPlan {
    const NAME: &'static str = "echo";
    type Outcome = EchoOutcome;

    fn run(&self, address: SocketAddr) -> Result<EchoOutcome, String> {
        let started = now_ns();
        let peer = Peer {
            address,
            wait: Duration::from_millis(self.wait_ms),
            modem: self.modem,
            certificate: self.certificate.clone(),
        };
        let mut device = open(&peer, &self.conversation)?;
        let mut payloads = Payloads::new(self.payload_bytes);
        device.prepare(payloads.next())?;
        let opening_ns = now_ns() - started;
        let opening = device.traffic()?;
        for _ in 0..self.warm_up {
            device.exchange(payloads.next())?;
        }
        let mut outcome = EchoOutcome {
            rtt: Latency::new(),
            settled: Latency::new(),
            lost: 0,
            traffic: Traffic::default(),
            opening,
            opening_ns,
        };
        settle(opening_ns);
        let before = device.traffic()?;
        emit(&Event::Begin);
        wait_for_the_bench(self, &Event::Ready);
        for _ in 0..self.packets {
            outcome.one(device.as_mut(), payloads.next())?;
            if self.rest_ms > 0 {
                std::thread::sleep(Duration::from_millis(self.rest_ms));
            }
        }
        emit(&Event::End);
        settle(opening_ns);
        outcome.traffic = device.traffic()?.since(&before);
        wait_for_the_bench(self, &Event::Quiet);
        device.close();
        match outcome.lost {
            lost if lost == u64::from(self.packets) => Err(format!("none of {lost} echoes came")),
            _ => Ok(outcome),
        }
    }
}

impl EchoOutcome {
    fn one(&mut self, device: &mut dyn Device, payload: &[u8]) -> Result<(), String> {
        let sent = now_ns();
        match device.exchange(payload)? {
            Some(times) => {
                self.rtt.record(times.echo_ns - sent);
                self.settled.record(times.settled_ns - sent);
            }
            None => self.lost += 1,
        }
        Ok(())
    }
}

/// Waits until acknowledgments that TCP delays are sent, and have crossed the link; opening the
/// conversation took at least as long as crossing it.
fn settle(opening_ns: u64) {
    let crossing = Duration::from_nanos(opening_ns).min(Duration::from_millis(ECHO_MS_MAX));
    std::thread::sleep(Duration::from_millis(ECHO_SETTLE_MS) + crossing);
}

/// Lets the bench count what crossed a link until now.
fn wait_for_the_bench(plan: &EchoPlan, event: &Event) {
    if plan.is_on_link {
        emit(event);
        await_orchestrator();
    }
}

/// Texts of one length, each unlike the last: consonants, so that none is a number or a word.
struct Payloads {
    bytes: Vec<u8>,
    count: u64,
}

const LETTERS: &[u8; 8] = b"bcdfghjk";
/// Letters of a text that change from one to the next.
const CHANGING: usize = 8;

impl Payloads {
    fn new(length: usize) -> Self {
        Self {
            bytes: vec![LETTERS[0]; length],
            count: 0,
        }
    }

    fn next(&mut self) -> &[u8] {
        self.count += 1;
        for (place, byte) in self.bytes.iter_mut().take(CHANGING).enumerate() {
            *byte = LETTERS[(self.count >> (3 * place)) as usize % LETTERS.len()];
        }
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_differ_from_the_last_and_keep_their_length() {
        for length in [1, 10, 1000] {
            let mut payloads = Payloads::new(length);
            let first = payloads.next().to_vec();
            assert_eq!(first.len(), length);
            assert_ne!(payloads.next(), first);
        }
    }
}
