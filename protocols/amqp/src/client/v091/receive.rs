//! What comes from the broker.

use super::Client;
use super::content::Content;
use super::opening::Phase;
use crate::client::{ClientEvent, ClosedKind, is_of_a_topic};
use crate::v091::wire::{Fault, Frame, FrameKind, Header, Method, Reply, Request, frame};
use alloc::format;
use alloc::string::ToString;
use weir_sansio::Instant;

/// Reply codes by which a broker refuses a user (section 1.2).
const ACCESS_REFUSED: u16 = 403;
const NOT_ALLOWED: u16 = 530;
/// Reply codes by which a broker refuses a message: content-too-large, precondition-failed, frame-error.
const OF_MESSAGE: [u16; 3] = [311, 406, 501];

impl Client {
    pub(super) fn receive(&mut self, now: Instant, bytes: &[u8]) {
        let mut all = core::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let mut at = 0;
        while self.phase != Phase::Over {
            match frame(&all[at..], self.frame_bytes_max) {
                Ok(None) => break,
                Ok(Some((frame, length))) => {
                    if let Err(fault) = self.hear(frame) {
                        self.breaks(fault);
                    }
                    at += length;
                }
                Err(fault) => self.breaks(fault),
            }
        }
        all.drain(..at);
        self.rest = all;
        if !self.out.is_empty() {
            self.sent = now;
        }
    }

    fn breaks(&mut self, fault: Fault) {
        let kind = match self.phase {
            Phase::Start => ClosedKind::Version,
            _ => ClosedKind::Lost,
        };
        self.end(kind, &fault.to_string());
    }

    fn hear(&mut self, frame: Frame<'_>) -> Result<(), Fault> {
        match frame.kind {
            FrameKind::METHOD => self.method(Method::read(frame.payload)?),
            FrameKind::HEADER => {
                let header = Header::read(frame.payload)?;
                match &mut self.content {
                    Some(content) if !content.has_header() => {
                        if content.head(header) {
                            self.complete();
                        }
                    }
                    _ => self.end(ClosedKind::Lost, "content comes without its method"),
                }
            }
            FrameKind::BODY => match &mut self.content {
                Some(content) if content.has_header() => {
                    if content.part(frame.payload)? {
                        self.complete();
                    }
                }
                _ => self.end(ClosedKind::Lost, "a body comes without its header"),
            },
            // Heartbeats say no more than that they came; frames of other types are passed by.
            _ => {}
        }
        Ok(())
    }

    fn complete(&mut self) {
        let content = self.content.take();
        self.events.extend(content.map(Content::event));
    }

    fn method(&mut self, method: Method) {
        match method {
            Method::Close(reply) => {
                Request::CloseOk.write(&mut self.out);
                self.closed(&reply);
            }
            Method::ChannelClose(reply) => {
                Request::ChannelCloseOk.write(&mut self.out);
                self.closed(&reply);
            }
            Method::Closed => self.end(ClosedKind::Lost, "the broker closed the connection"),
            Method::Blocked(reason) => {
                self.held.1 = true;
                self.events.push_back(ClientEvent::Held(Some(reason)));
            }
            Method::Unblocked => {
                self.held.1 = false;
                self.events.push_back(ClientEvent::Held(None));
            }
            Method::Flow(active) => {
                self.held.0 = !active;
                Request::FlowOk(active).write(&mut self.out);
            }
            Method::Cancelled => {
                self.end(
                    ClosedKind::Lost,
                    "the broker ended the consumer: its queue is gone",
                );
            }
            Method::Deliver {
                tag,
                redelivered,
                key,
            } => self.content = Some(Content::new(tag, redelivered, key)),
            Method::Acked { tag, multiple } => self.confirm(tag, multiple, &Ok(())),
            Method::Nacked { tag, multiple } => {
                let refused = Err("the broker does not take the message (basic.nack)".into());
                self.confirm(tag, multiple, &refused);
            }
            _ if self.phase == Phase::Ready => {}
            method => self.opens(method),
        }
    }

    fn closed(&mut self, reply: &Reply) {
        let is_ready = self.phase == Phase::Ready;
        let kind = match reply.code {
            ACCESS_REFUSED if is_ready && is_of_a_topic(&reply.text) => ClosedKind::Message,
            ACCESS_REFUSED | NOT_ALLOWED => ClosedKind::Refused,
            code if is_ready && OF_MESSAGE.contains(&code) => ClosedKind::Message,
            _ => ClosedKind::Lost,
        };
        self.end(kind, &format!("{} {}", reply.code, reply.text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Options;
    use weir_sansio::{Output, Session};

    fn said(client: &mut Client) -> Option<ClientEvent> {
        match client.poll_output() {
            Output::Event(event) => Some(event),
            _ => None,
        }
    }

    // Section 4.2.6.1: the size in the header is that of the whole body.
    #[test]
    fn a_body_longer_than_its_header_says_ends_the_connection() {
        let now = Instant::START;
        let mut client = Client::new(now, Options::default());
        let _its_header = said(&mut client);
        client.phase = Phase::Ready;
        client.content = Some(Content::new(1, false, "t".into()));
        let header = [
            2, 0, 1, 0, 0, 0, 14, 0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xCE,
        ];
        let body = [3, 0, 1, 0, 0, 0, 3, b'1', b'2', b'3', 0xCE];
        let Ok(()) = client.handle_input(now, &[&header[..], &body].concat());
        assert!(
            matches!(said(&mut client), Some(ClientEvent::Closed(closed))
            if closed.reason.contains("longer than its header"))
        );
    }

    #[test]
    fn a_broker_that_takes_nothing_says_why_and_when_it_takes_again() {
        let now = Instant::START;
        let mut client = Client::new(now, Options::default());
        let _its_header = said(&mut client);
        let blocked = [1, 0, 0, 0, 0, 0, 8, 0, 10, 0, 60, 3, b'l', b'o', b'w', 0xCE];
        let Ok(()) = client.handle_input(now, &blocked);
        let held = ClientEvent::Held(Some("low".into()));
        assert_eq!(said(&mut client), Some(held));
        let unblocked = [1, 0, 0, 0, 0, 0, 4, 0, 10, 0, 61, 0xCE];
        let Ok(()) = client.handle_input(now, &unblocked);
        assert_eq!(said(&mut client), Some(ClientEvent::Held(None)));
    }
}
