//! A component behind a server (XEP-0114): it owns a domain, and gets all that is sent there.

use super::conversation::{Conversation, Failure, SessionEvent};
use crate::names::COMPONENT;
use crate::xml::{Element, Frame, escape};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use std::convert::Infallible;
use std::fmt::Write;
use weir_sansio::{Instant, Output, Session};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Opening,
    Shaking,
    Ready,
}

/// A component's half of a stream.
#[derive(Debug)]
pub struct Component {
    conversation: Conversation,
    state: State,
    domain: String,
    secret: String,
    pings: u64,
}

impl Component {
    /// Begins a stream for a domain, with the secret that the server shares.
    pub fn new(now: Instant, domain: &str, secret: &str) -> Self {
        let mut conversation = Conversation::new(now);
        conversation.open(COMPONENT, domain, false);
        Self {
            conversation,
            state: State::Opening,
            domain: domain.into(),
            secret: secret.into(),
            pings: 0,
        }
    }

    /// Sends a stanza, which must be whole.
    pub fn send(&mut self, stanza: &str) {
        self.conversation.out.push_str(stanza);
    }

    /// When [`Session::handle_timeout`] is due.
    pub fn deadline(&self) -> Instant {
        self.conversation.timeout()
    }

    /// Ends the stream.
    pub fn close(&mut self) {
        self.conversation.out.push_str("</stream:stream>");
    }

    /// XEP-0114 section 3: the hash of the stream's identifier and the secret.
    // [XEP0114-3-1]
    fn shake(&mut self, root: &Element) {
        let id = root.attribute("id").unwrap_or_default();
        let hashed = digest(
            &SHA1_FOR_LEGACY_USE_ONLY,
            format!("{id}{}", self.secret).as_bytes(),
        );
        let out = &mut self.conversation.out;
        out.push_str("<handshake>");
        for byte in hashed.as_ref() {
            // Writing to a text cannot fail.
            let _ = write!(out, "{byte:02x}");
        }
        out.push_str("</handshake>");
        self.state = State::Shaking;
    }

    fn frame(&mut self, frame: Frame) {
        match (self.state, frame) {
            (State::Opening, Frame::Opened(root)) => self.shake(&root),
            (_, Frame::Closed) => {
                let why = match self.state {
                    State::Ready => Failure::Ended("it closes".into()),
                    _ => Failure::Refused("no handshake".into()),
                };
                self.conversation.end(why);
            }
            (_, Frame::Stanza(stanza, document)) => self.stanza(stanza, document),
            (_, Frame::Opened(root)) => self.conversation.unexpected(&root.name),
        }
    }

    fn stanza(&mut self, stanza: Element, document: Vec<u8>) {
        let shaking = self.state != State::Ready;
        if shaking && stanza.name == "error" {
            // A wrong secret or an unknown domain (XEP-0114 section 3).
            let why = super::conversation::said(&stanza);
            return self.conversation.end(Failure::Refused(why));
        }
        if self.conversation.is_error(&stanza) {
            return;
        }
        match shaking {
            true if stanza.name == "handshake" => {
                self.state = State::Ready;
                self.conversation.ready = true;
                let jid = self.domain.clone();
                let ready = SessionEvent::Ready {
                    jid,
                    resumed: false,
                };
                self.conversation.events.push_back(ready);
            }
            true => self.conversation.unexpected(&stanza.name),
            false => {
                let stanza = SessionEvent::Stanza(stanza, document);
                self.conversation.events.push_back(stanza);
            }
        }
    }

    /// Asks whether the server is there by a ping to oneself, which it brings back (XEP-0199).
    fn ping(&mut self) {
        self.pings += 1;
        let out = &mut self.conversation.out;
        let _ = write!(out, "<iq type='get' id='alive-{}' from='", self.pings);
        escape(&self.domain, out);
        out.push_str("' to='");
        escape(&self.domain, out);
        out.push_str("'><ping xmlns='urn:xmpp:ping'/></iq>");
    }
}

impl Session for Component {
    type Transmit = Vec<u8>;
    type Event = SessionEvent;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.conversation.take(now, bytes);
        while let Some(frame) = self.conversation.next_frame() {
            self.frame(frame);
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.conversation.handle_timeout(now) {
            self.ping();
        }
    }

    fn poll_output(&mut self) -> Output<Vec<u8>, SessionEvent> {
        if let Some(bytes) = self.conversation.transmit() {
            return Output::Transmit(bytes);
        }
        match self.conversation.events.pop_front() {
            Some(event) => Output::Event(event),
            None => Output::Timeout(self.conversation.timeout()),
        }
    }
}
