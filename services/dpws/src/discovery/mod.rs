//! WS-Discovery as a machine: datagrams and the time go in, datagrams and a deadline come out.
//!
//! It is the target service's half (WS-Discovery 1.1 section 2): it says Hello and Bye, and answers who probes
//! and resolves. What it deliberately does not do: look for others, discovery proxies, security. The decision
//! worth arguing: both generations are spoken at once, Hello and Bye are said in either, and an answer is in
//! that of its question.

pub(crate) mod message;
mod pace;
mod scope;
mod seen;
#[cfg(test)]
mod tests;

use crate::device::Device;
use crate::limits::{
    ANSWER_DELAY_MAX, DATAGRAM_BYTES_MAX, REPEAT_DELAY, REPEAT_DELAY_MAX, REPEATS, WAITING_MAX,
};
use crate::names::{GENERATIONS, Generation};
use crate::random::{between, uuid};
use bytes::Bytes;
use message::{Asked, Place, Question, Said};
use pace::Pace;
use seen::Seen;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use weir_sansio::{Instant, Output};

/// Whom a datagram goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    /// Everybody who listens on the interface.
    Group,
    /// Who asked.
    Peer(SocketAddr),
}

/// A datagram that is to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    /// The interface that it leaves by.
    pub(crate) interface: usize,
    pub(crate) to: To,
    pub(crate) bytes: Bytes,
}

/// A datagram that came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    /// The interface that faces who sent it.
    pub(crate) interface: usize,
    pub(crate) from: SocketAddr,
    /// Whether everybody was asked: then the answer waits a little.
    pub(crate) of_group: bool,
    pub(crate) bytes: &'a [u8],
}

/// The machine.
pub(crate) struct Discovery {
    device: Arc<Device>,
    /// Addresses of the device by interface, as URLs.
    interfaces: Vec<Vec<String>>,
    seen: Seen,
    pace: Pace,
    /// `MessageNumber` of the last message.
    number: u64,
    /// What leaves, by when; the second number keeps those of one moment apart.
    waiting: BTreeMap<(Instant, u64), Sending>,
    sent: u64,
}

/// A datagram with the times that it goes yet.
struct Sending {
    datagram: Datagram,
    repeats: u32,
    delay: Duration,
}

impl Discovery {
    /// The machine of a device that has these addresses by interface.
    pub(crate) fn new(device: Arc<Device>, interfaces: Vec<Vec<String>>) -> Self {
        Self {
            device,
            interfaces,
            seen: Seen::default(),
            pace: Pace::default(),
            number: 0,
            waiting: BTreeMap::new(),
            sent: 0,
        }
    }

    /// Has other interfaces from now on; what waited for the ones before does not leave any more.
    pub(crate) fn move_to(&mut self, interfaces: Vec<Vec<String>>) {
        self.waiting.clear();
        if !self.interfaces.is_empty() && self.interfaces != interfaces {
            self.device.moved();
        }
        self.interfaces = interfaces;
    }

    /// Says that the device is there, on every interface (WS-Discovery 1.1 section 4.1).
    pub(crate) fn hello(&mut self, now: Instant) {
        let wait = between(Duration::ZERO, ANSWER_DELAY_MAX);
        self.say(now + wait, Said::Hello);
    }

    /// Says that it leaves (section 4.2); what was to be answered is not any more.
    pub(crate) fn bye(&mut self, now: Instant) {
        self.waiting.clear();
        self.say(now, Said::Bye);
    }

    /// Whether nothing waits to leave.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    fn say(&mut self, at: Instant, said: Said) {
        for interface in 0..self.interfaces.len() {
            for generation in GENERATIONS {
                let bytes = self.write(said, generation, None, interface);
                self.queue(at, interface, To::Group, bytes);
            }
        }
    }

    /// Takes a datagram. What is none of discovery's, asks for others or came already is passed over
    /// (DPWS 1.1 R5018: so is what is too long); so is what breaks a rule, since no faults go to a group.
    pub(crate) fn receive(&mut self, now: Instant, arrival: Arrival<'_>) {
        if arrival.bytes.len() > DATAGRAM_BYTES_MAX || arrival.interface >= self.interfaces.len() {
            return;
        }
        let Ok(question) = Question::read(arrival.bytes) else {
            return;
        };
        if !self.seen.note(now, &question.id) {
            return;
        }
        let Some(said) = answer(&self.device, &question.asked) else {
            return;
        };
        if self.waiting.len() >= WAITING_MAX || !self.pace.take(now, arrival.from.ip()) {
            return;
        }
        let wait = if arrival.of_group {
            between(Duration::ZERO, ANSWER_DELAY_MAX)
        } else {
            Duration::ZERO
        };
        let (generation, id) = (question.generation, question.id.as_str());
        let bytes = self.write(said, generation, Some(id), arrival.interface);
        // An answer repeats the asker's identifier, which may be as long as the question.
        if bytes.len() > DATAGRAM_BYTES_MAX {
            return;
        }
        let to = To::Peer(arrival.from);
        self.queue(now + wait, arrival.interface, to, bytes);
    }

    fn write(
        &mut self,
        said: Said,
        generation: &'static Generation,
        relates_to: Option<&str>,
        interface: usize,
    ) -> Bytes {
        self.number += 1;
        let id = uuid();
        let place = Place {
            generation,
            id: &id,
            relates_to,
            sequence: (self.device.instance, self.number),
        };
        message::write(said, &place, &self.device, &self.interfaces[interface]).into()
    }

    /// Sends now and once again a little later (SOAP-over-UDP 1.1 section 4.1 and appendix A).
    fn queue(&mut self, at: Instant, interface: usize, to: To, bytes: Bytes) {
        let datagram = Datagram {
            interface,
            to,
            bytes,
        };
        let delay = between(REPEAT_DELAY.0, REPEAT_DELAY.1);
        self.wait(
            at,
            Sending {
                datagram,
                repeats: REPEATS,
                delay,
            },
        );
    }

    fn wait(&mut self, at: Instant, sending: Sending) {
        self.sent += 1;
        self.waiting.insert((at, self.sent), sending);
    }

    /// The next thing to do.
    pub(crate) fn poll(&mut self, now: Instant) -> Output<Datagram, Infallible> {
        let Some(entry) = self.waiting.first_entry() else {
            return Output::Timeout(Instant::NEVER);
        };
        let at = entry.key().0;
        if at > now {
            return Output::Timeout(at);
        }
        let mut sending = entry.remove();
        let datagram = sending.datagram.clone();
        if sending.repeats > 0 {
            let again = now + sending.delay;
            sending.repeats -= 1;
            sending.delay = (sending.delay * 2).min(REPEAT_DELAY_MAX);
            self.wait(again, sending);
        }
        Output::Transmit(datagram)
    }
}

/// What a device with these scopes says to datagrams that a peer sends to everybody and to it, in turns.
pub(crate) fn heard(datagrams: &[&[u8]], scopes: &[&str]) -> Vec<Bytes> {
    let address = "urn:uuid:00000000-0000-4000-8000-000000000000".into();
    let scopes = scopes.iter().map(|&scope| scope.into()).collect();
    let device = Device::started(1, address, "weir", scopes);
    let at = vec!["http://192.0.2.1:8080/dpws".into()];
    let mut machine = Discovery::new(Arc::new(device), vec![at]);
    let (mut now, mut said) = (Instant::START, Vec::new());
    for (turn, bytes) in datagrams.iter().enumerate() {
        let arrival = Arrival {
            interface: 0,
            from: SocketAddr::from(([192, 0, 2, 9], 3702)),
            of_group: turn % 2 == 0,
            bytes,
        };
        machine.receive(now, arrival);
    }
    loop {
        match machine.poll(now) {
            Output::Timeout(Instant::NEVER) => return said,
            Output::Timeout(at) => now = at,
            Output::Transmit(datagram) => said.push(datagram.bytes),
            Output::Event(never) => match never {},
        }
    }
}

/// What a device says to a question; nothing where somebody else is meant (WS-Discovery 1.1 sections 5.3
/// and 6.3).
pub(crate) fn answer(device: &Device, asked: &Asked) -> Option<Said> {
    match asked {
        Asked::Probe {
            types,
            scopes,
            rule,
        } => {
            let rule = (*rule)?;
            let typed = types.iter().all(|name| device.has_type(name));
            (typed && rule.matches(scopes, &device.scopes)).then_some(Said::ProbeMatches)
        }
        Asked::Resolve(address) => (*address == device.address).then_some(Said::ResolveMatches),
    }
}
