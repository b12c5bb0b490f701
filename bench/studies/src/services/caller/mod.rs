//! The caller: serializes a message, sends it, and reads what comes back, in a closed loop as the paper's.
//!
//! It opens its sockets itself, so that every byte is counted where it passes. One thread, blocking
//! sockets. With more than one call under way a call waits for those before it, as it would in a client.

mod coap;
mod dpws;
mod http1;
mod http2;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use super::coding::{Coding, Reader};
use super::job::{CallOutcome, CallPlan, Speech};
use super::message::Messages;
use weir_bench_load::load::emit;
use weir_bench_load::load::job::{Event, Task};
use weir_bench_model::clock::now_ns;
use weir_bench_model::latency::Latency;
use weir_bench_model::limits::ECHO_SETTLE_MS;
use weir_bench_peers::{Peer, Traffic};

/// The topic of the messages: what the gateway makes of the path at which it takes them.
const TOPIC: &str = "service";

/// Number of a call.
type Number = u32;

/// The end of a call.
enum Ended {
    /// Answered with success, and with these bytes.
    Answered(Number, Vec<u8>),
    /// Nothing came in time.
    Lost(Number),
}

/// A connection to a service.
trait Caller {
    /// Sends a message.
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String>;

    /// Waits for the end of any call.
    fn next(&mut self) -> Result<Ended, String>;

    /// What went over the link since it was opened.
    fn traffic(&self) -> Result<Traffic, String>;
}

/// What a caller must know of its service.
struct Service<'a> {
    peer: Peer,
    path: &'a str,
    coding: Coding,
    depth: usize,
}

/// A call under way.
struct Call {
    number: Number,
    sent_ns: u64,
    message: Vec<u8>,
}

/// The loop and what it has measured.
struct Loop {
    caller: Box<dyn Caller>,
    coding: Coding,
    echoes: bool,
    messages: Messages,
    reader: Reader,
    under_way: VecDeque<Call>,
    number: Number,
    outcome: CallOutcome,
}

impl Task for CallPlan {
    const NAME: &'static str = "calls";
    type Outcome = CallOutcome;

    fn run(&self, address: SocketAddr) -> Result<CallOutcome, String> {
        let service = Service {
            peer: Peer {
                address,
                wait: Duration::from_millis(self.wait_ms),
                modem: false,
                certificate: self.certificate.clone(),
            },
            path: &self.path,
            coding: self.coding,
            depth: self.depth,
        };
        let began = now_ns();
        let caller = open(&service, self.speech)?;
        let mut own = Loop::new(caller, self, now_ns() - began)?;
        own.calls(self.warm_up, self.depth)?;
        own.outcome = CallOutcome::of(own.outcome.opening_ns);
        settle();
        let before = own.caller.traffic()?;
        emit(&Event::Begin);
        let began = now_ns();
        own.calls(self.messages, self.depth)?;
        own.outcome.seconds = (now_ns() - began) as f64 / 1e9;
        emit(&Event::End);
        settle();
        own.outcome.traffic = own.caller.traffic()?.since(&before);
        match own.outcome.lost {
            lost if lost == u64::from(self.messages) => {
                Err(format!("none of {lost} calls was answered"))
            }
            _ => Ok(own.outcome),
        }
    }
}

fn open(service: &Service<'_>, speech: Speech) -> Result<Box<dyn Caller>, String> {
    Ok(match speech {
        Speech::Http1 => Box::new(http1::Calls::open(service)?),
        Speech::Dpws => Box::new(dpws::Dpws::open(service)?),
        Speech::Http2 => Box::new(http2::Calls::open(service)?),
        Speech::Coap { over, put } => Box::new(coap::Calls::open(service, over, put)?),
    })
}

/// Waits until acknowledgments that TCP delays are sent.
fn settle() {
    std::thread::sleep(Duration::from_millis(ECHO_SETTLE_MS));
}

impl CallOutcome {
    fn of(opening_ns: u64) -> Self {
        Self {
            serialization: Latency::new(),
            rtt: Latency::new(),
            deserialization: Latency::new(),
            lost: 0,
            echoed: 0,
            traffic: Traffic::default(),
            seconds: 0.0,
            opening_ns,
        }
    }
}

impl Loop {
    fn new(caller: Box<dyn Caller>, plan: &CallPlan, opening_ns: u64) -> Result<Self, String> {
        Ok(Self {
            caller,
            coding: plan.coding,
            echoes: plan.echoes,
            reader: Reader::new(plan.coding),
            messages: Messages::new(plan.payload_bytes, TOPIC)?,
            under_way: VecDeque::new(),
            number: 0,
            outcome: CallOutcome::of(opening_ns),
        })
    }

    /// Makes so many calls, so many at once, and sees the end of all.
    fn calls(&mut self, count: u32, depth: usize) -> Result<(), String> {
        for _ in 0..count {
            if self.under_way.len() >= depth {
                self.end_one()?;
            }
            self.begin_one()?;
        }
        while !self.under_way.is_empty() {
            self.end_one()?;
        }
        Ok(())
    }

    fn begin_one(&mut self) -> Result<(), String> {
        let values = self.messages.next();
        let began = now_ns();
        let message = self.coding.encode(TOPIC, values)?;
        let sent_ns = now_ns();
        self.outcome.serialization.record(sent_ns - began);
        self.number += 1;
        self.caller.call(self.number, &message)?;
        self.under_way.push_back(Call {
            number: self.number,
            sent_ns,
            message,
        });
        Ok(())
    }

    fn end_one(&mut self) -> Result<(), String> {
        let ended = self.caller.next()?;
        let came_ns = now_ns();
        let (Ended::Answered(number, _) | Ended::Lost(number)) = ended;
        let place = self.under_way.iter().position(|call| call.number == number);
        // The end of a call that was ended already is nobody's.
        let Some(call) = place.and_then(|place| self.under_way.remove(place)) else {
            return Ok(());
        };
        let Ended::Answered(_, body) = ended else {
            self.outcome.lost += 1;
            return Ok(());
        };
        self.outcome.rtt.record(came_ns - call.sent_ns);
        let bytes = match self.echoes {
            false => &call.message,
            true => {
                self.outcome.echoed += 1;
                &body
            }
        };
        let began = now_ns();
        self.reader.deserialize(bytes)?;
        self.outcome.deserialization.record(now_ns() - began);
        Ok(())
    }
}
