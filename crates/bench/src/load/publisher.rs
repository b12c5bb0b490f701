//! One connection that publishes: stamps, sends, and matches each answer to its message.
//!
//! HTTP/1.1 answers come in the order of the requests (RFC 9112 section 9.3.2), so a queue of
//! due times is all the matching there is.

use std::collections::VecDeque;

use super::http::Responses;
use super::message::Template;
use super::reactor::{Reactor, Socket, Taken};

/// One publishing connection.
pub(crate) struct Publisher {
    socket: Socket,
    responses: Responses,
    unanswered: VecDeque<u64>,
    acknowledges: bool,
}

/// One answer to one message.
pub(crate) struct Answer {
    /// When the message was due, nanoseconds since the load's start.
    pub(crate) due: u64,
    /// `None`: success (2xx); otherwise what the peer said.
    pub(crate) refusal: Option<String>,
}

impl Publisher {
    /// A publisher on an open socket.
    pub(crate) fn new(socket: Socket, acknowledges: bool) -> Self {
        let (responses, unanswered) = (Responses::default(), VecDeque::new());
        Self {
            socket,
            responses,
            unanswered,
            acknowledges,
        }
    }

    /// Puts one message into the buffer; [`Publisher::flush`] sends.
    pub(crate) fn push(&mut self, template: &mut Template, due: u64) {
        template.write(due, self.socket.out());
        if self.acknowledges {
            self.unanswered.push_back(due);
        }
    }

    /// Sends what the kernel takes.
    pub(crate) fn flush(&mut self, reactor: &Reactor) {
        self.socket.flush(reactor);
    }

    /// Messages without an answer.
    pub(crate) fn unanswered(&self) -> usize {
        self.unanswered.len()
    }

    /// Bytes not yet in the kernel.
    pub(crate) fn unsent(&self) -> usize {
        self.socket.unsent()
    }

    /// Reads once and hands on every whole answer.
    pub(crate) fn read(
        &mut self,
        buffer: &mut [u8],
        mut each: impl FnMut(Answer),
    ) -> Result<(), String> {
        let len = match self.socket.take(buffer) {
            Taken::Bytes(len) => len,
            Taken::Nothing => return Ok(()),
            Taken::Closed => return Err(self.closed()),
        };
        if !self.acknowledges {
            return Ok(());
        }
        let unanswered = &mut self.unanswered;
        self.responses.feed(&buffer[..len], |response| {
            let success = (200..300).contains(&response.status);
            let refusal = (!success).then(|| response.summary());
            if let Some(due) = unanswered.pop_front() {
                each(Answer { due, refusal });
            }
        })
    }

    fn closed(&self) -> String {
        format!(
            "the target closed a publisher's connection with {} unanswered",
            self.unanswered.len()
        )
    }
}
