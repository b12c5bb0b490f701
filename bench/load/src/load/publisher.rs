//! One connection that publishes: stamps, sends, and matches each answer to its message.
//!
//! HTTP/1.1 answers come in the order of the requests (RFC 9112 section 9.3.2) and PUBACKs in that of
//! their messages (MQTT 5 section 4.6), so a queue of due times is all the matching there is.

use std::collections::VecDeque;

use super::http::Responses;
use super::message::Template;
use super::mqtt::{Packets, is_puback};
use super::reactor::{Reactor, Socket, Taken};
use super::wire::PublishWire;

/// One publishing connection.
pub(super) struct Publisher {
    socket: Socket,
    answers: Answers,
    unanswered: VecDeque<u64>,
    last_id: u16,
}

/// What answers look like.
enum Answers {
    /// There are none.
    None,
    Http(Responses),
    Mqtt(Packets),
}

/// One answer to one message.
pub struct Answer {
    /// When the message was due, nanoseconds since the load's start.
    pub due: u64,
    /// `None`: success (2xx); otherwise what the peer said.
    pub refusal: Option<String>,
}

impl Publisher {
    /// A publisher on an open socket.
    pub(super) fn new(socket: Socket, wire: &PublishWire) -> Self {
        let answers = match wire {
            PublishWire::Http { .. } => Answers::Http(Responses::default()),
            PublishWire::Mqtt { qos: 0, .. } => Answers::None,
            PublishWire::Mqtt { .. } => Answers::Mqtt(Packets::default()),
        };
        Self {
            socket,
            answers,
            unanswered: VecDeque::new(),
            last_id: 0,
        }
    }

    /// Puts one message into the buffer; [`Publisher::flush`] sends.
    pub(super) fn push(&mut self, template: &mut Template, due: u64) {
        self.last_id = self.last_id.checked_add(1).unwrap_or(1);
        template.write(due, self.last_id, self.socket.out());
        if !matches!(self.answers, Answers::None) {
            self.unanswered.push_back(due);
        }
    }

    /// Sends what the kernel takes.
    pub(super) fn flush(&mut self, reactor: &Reactor) {
        self.socket.flush(reactor);
    }

    /// Messages without an answer.
    pub(super) fn unanswered(&self) -> usize {
        self.unanswered.len()
    }

    /// Bytes not yet in the kernel.
    pub(super) fn unsent(&self) -> usize {
        self.socket.unsent()
    }

    /// Reads once and hands on every whole answer.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        mut each: impl FnMut(Answer),
    ) -> Result<(), String> {
        let len = match self.socket.take(buffer) {
            Taken::Bytes(len) => len,
            Taken::Nothing => return Ok(()),
            Taken::Closed => return Err(self.closed()),
        };
        let unanswered = &mut self.unanswered;
        let mut answered = |refusal| {
            if let Some(due) = unanswered.pop_front() {
                each(Answer { due, refusal });
            }
        };
        match &mut self.answers {
            Answers::None => {}
            Answers::Http(responses) => responses.feed(&buffer[..len], |response| {
                let success = (200..300).contains(&response.status);
                answered((!success).then(|| response.summary()));
            })?,
            Answers::Mqtt(packets) => packets.feed(&buffer[..len], |packet| {
                if is_puback(packet) {
                    answered(None);
                }
            }),
        }
        Ok(())
    }

    fn closed(&self) -> String {
        format!(
            "the target closed a publisher's connection with {} unanswered",
            self.unanswered.len()
        )
    }
}
