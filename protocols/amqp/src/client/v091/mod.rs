//! A client of a broker that speaks AMQP 0.9.1: one channel, publisher confirms, one queue.
//!
//! What it deliberately does not do: no exchanges of other types than topic, no `mandatory` messages: to whom a
//! message goes is not its publisher's concern.

mod content;
mod opening;
mod receive;

use super::{ClientEvent, Closed, ClosedKind, Machine, Options, Outgoing, Sent, Settle, names};
use crate::limits::{CONNECT_TIME_MAX, UNCONFIRMED_MAX};
use crate::v091::wire::{
    FRAME_BYTES_MIN, FrameKind, Header, PROTOCOL_HEADER, Properties, Request, write_frame,
    write_heartbeat,
};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use content::Content;
use core::convert::Infallible;
use opening::Phase;
use weir_sansio::{Duration, Instant, Output, Session};

/// Bytes of a short string (section 4.2.5.3).
const SHORT_BYTES_MAX: usize = 255;
/// A frame's head and end.
const FRAME_OVERHEAD: usize = 8;

/// One connection's client half.
pub struct Client {
    options: Box<Options>,
    phase: Phase,
    product: String,
    /// The queue that is read.
    queue: String,
    rest: Vec<u8>,
    out: Vec<u8>,
    events: VecDeque<ClientEvent>,
    frame_bytes_max: u32,
    /// Between heartbeats.
    interval: Option<Duration>,
    heard: Instant,
    sent: Instant,
    content: Option<Content>,
    /// Messages published since `confirm.select`.
    published: u64,
    /// Of those, the ones that are not confirmed: number and token.
    unconfirmed: VecDeque<(u64, u64)>,
    /// Whether the broker wants nothing now (`channel.flow`, `connection.blocked`).
    held: (bool, bool),
}

impl Client {
    fn is_broker_j(&self) -> bool {
        self.product.to_lowercase().contains("qpid")
    }

    /// A client that says which protocol it speaks.
    pub fn new(now: Instant, options: Options) -> Self {
        Self {
            options: Box::new(options),
            phase: Phase::Start,
            product: String::new(),
            queue: String::new(),
            rest: Vec::new(),
            out: PROTOCOL_HEADER.to_vec(),
            events: VecDeque::new(),
            frame_bytes_max: FRAME_BYTES_MIN,
            interval: None,
            heard: now,
            sent: now,
            content: None,
            published: 0,
            unconfirmed: VecDeque::new(),
            held: (false, false),
        }
    }

    fn end(&mut self, kind: ClosedKind, reason: &str) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            let reason = reason.to_owned();
            self.events
                .push_back(ClientEvent::Closed(Closed { kind, reason }));
        }
    }

    fn confirm(&mut self, tag: u64, multiple: bool, outcome: &Result<(), String>) {
        // A broker confirms in any order; those before are meant too only where it says so.
        let meant = |number: u64| {
            if multiple {
                number <= tag
            } else {
                number == tag
            }
        };
        let events = &mut self.events;
        self.unconfirmed.retain(|&(number, token)| {
            if meant(number) {
                events.push_back(ClientEvent::Confirmed(token, outcome.clone()));
            }
            !meant(number)
        });
    }

    fn is_refused(&self, message: &Outgoing<'_>) -> Option<&'static str> {
        let longer = |text: &str| text.len() > SHORT_BYTES_MAX;
        match message {
            it if longer(it.topic) => Some("its topic is longer than a routing key, 255 bytes"),
            it if it.content_type.is_some_and(longer) => {
                Some("its content type is longer than 255 bytes")
            }
            it if it.headers.iter().any(|(name, _)| longer(name)) => {
                Some("the name of a property is longer than 255 bytes")
            }
            _ => None,
        }
    }

    /// Writes what stands before the body; says how long its header is, which cannot be parted (section 4.2.6.1).
    fn write_head(&self, message: &Outgoing<'_>, out: &mut Vec<u8>) -> usize {
        let key = &names::swapped(message.topic);
        let exchange = &self.options.exchange;
        Request::Publish { exchange, key }.write(out);
        let properties = Properties {
            content_type: message.content_type.map(ToOwned::to_owned),
            headers: message.headers.to_vec(),
            persistent: self.options.confirmed,
            ..Properties::default()
        };
        let begin = out.len();
        write_frame(FrameKind::HEADER, 1, out, |out| {
            Header::write(message.payload.len() as u64, &properties, out);
        });
        out.len() - begin - FRAME_OVERHEAD
    }
}

impl Session for Client {
    type Transmit = Vec<u8>;
    type Event = ClientEvent;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.heard = now;
        self.receive(now, bytes);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        match self.interval {
            _ if self.phase == Phase::Over => {}
            // Two intervals without a byte (section 4.2.7).
            Some(interval) if now.since(self.heard) >= interval * 2 => {
                self.end(
                    ClosedKind::Silent,
                    "the broker was silent for two heartbeats",
                );
            }
            Some(interval) if now.since(self.sent) >= interval / 2 => {
                write_heartbeat(&mut self.out);
                self.sent = now;
            }
            None if self.phase.is_opening() && now.since(self.heard) >= CONNECT_TIME_MAX => {
                self.end(ClosedKind::Silent, "the broker does not answer");
            }
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Output<Vec<u8>, ClientEvent> {
        if !self.out.is_empty() {
            return Output::Transmit(core::mem::take(&mut self.out));
        }
        match self.events.pop_front() {
            Some(event) => Output::Event(event),
            None => Output::Timeout(self.deadline()),
        }
    }
}

impl Machine for Client {
    fn publish(&mut self, now: Instant, message: &Outgoing<'_>, out: &mut Vec<u8>) -> Sent {
        if let Some(reason) = self.is_refused(message) {
            return Sent::Never(reason);
        }
        let is_held = self.held.0 || self.held.1;
        if self.phase != Phase::Ready || is_held || self.unconfirmed.len() >= UNCONFIRMED_MAX {
            return Sent::Full;
        }
        let part_bytes_max = self.frame_bytes_max as usize - FRAME_OVERHEAD;
        let begin = out.len();
        if self.write_head(message, out) > part_bytes_max {
            out.truncate(begin);
            return Sent::Never("its properties are longer than a frame of the broker");
        }
        for part in message.payload.chunks(part_bytes_max) {
            write_frame(FrameKind::BODY, 1, out, |out| out.extend_from_slice(part));
        }
        self.sent = now;
        if self.options.confirmed {
            self.published += 1;
            self.unconfirmed.push_back((self.published, message.token));
        }
        Sent::Done
    }

    fn settle(&mut self, tag: u64, answer: Settle) {
        match answer {
            // The broker has taken it for acknowledged when it sent it.
            _ if !self.options.confirmed => {}
            Settle::Accept => Request::Ack(tag).write(&mut self.out),
            // Broker-J would give a rejected one again at once, for ever; who holds this machine has set it aside.
            Settle::Reject if self.is_broker_j() => Request::Ack(tag).write(&mut self.out),
            Settle::Reject => Request::Reject(tag).write(&mut self.out),
        }
    }

    fn close(&mut self) {
        if self.phase == Phase::Ready {
            Request::Close.write(&mut self.out);
        }
        self.phase = Phase::Over;
    }

    fn deadline(&self) -> Instant {
        match self.interval {
            _ if self.phase == Phase::Over => Instant::NEVER,
            Some(interval) => (self.sent + interval / 2).min(self.heard + interval * 2),
            None if self.phase.is_opening() => self.heard + CONNECT_TIME_MAX,
            None => Instant::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Section 4.2.6.1: a content header is one frame.
    #[test]
    fn properties_that_fill_a_frame_go_out_and_no_byte_more() {
        let now = Instant::START;
        let mut client = Client::new(now, Options::default());
        client.phase = Phase::Ready;
        client.options.confirmed = false;
        // Class, weight, size of the body and flags are 14 bytes; of the table its size, a name and a value are 11.
        let fits = client.frame_bytes_max as usize - FRAME_OVERHEAD - 14 - 11;
        for (length, sent) in [(fits, true), (fits + 1, false)] {
            let headers = [("a".to_owned(), "x".repeat(length))];
            let message = Outgoing {
                topic: "t",
                content_type: None,
                headers: &headers,
                payload: b"1",
                token: 0,
            };
            let mut out = b"before".to_vec();
            let answer = client.publish(now, &message, &mut out);
            assert_eq!(answer == Sent::Done, sent, "{length}: {answer:?}");
            assert_eq!(out == b"before", !sent, "{length}");
        }
    }
}
