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
            (_, Frame::Skipped(skipped)) => self.conversation.skipped(skipped),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::limits::DEPTH_MAX;

    const ROOT: &str = "<stream:stream xmlns='jabber:component:accept' \
                        xmlns:stream='http://etherx.jabber.org/streams' id='1'>";

    /// What the component sends and says when the server says this.
    fn told(component: &mut Component, text: &str) -> (String, Vec<SessionEvent>) {
        let Ok(()) = component.handle_input(Instant::START, text.as_bytes());
        let (mut sent, mut events) = (String::new(), Vec::new());
        loop {
            match component.poll_output() {
                Output::Transmit(bytes) => sent += &String::from_utf8(bytes).unwrap(),
                Output::Event(event) => events.push(event),
                Output::Timeout(_) => return (sent, events),
            }
        }
    }

    fn deep() -> String {
        let [open, close] = ["<a>", "</a>"].map(|tag| tag.repeat(DEPTH_MAX as usize));
        format!("<iq type='get' id='deep'>{open}{close}</iq>")
    }

    // [RFC6120-13.12-1]
    #[test]
    fn a_stanza_over_a_limit_costs_nobody_the_stream() {
        let mut component = Component::new(Instant::START, "weir.a", "secret");
        told(&mut component, ROOT);
        told(&mut component, "<handshake/>");
        let (sent, events) = told(&mut component, &format!("{}<iq id='next'/>", deep()));
        assert_eq!(sent, "");
        let [
            SessionEvent::Skipped(skipped),
            SessionEvent::Stanza(next, _),
        ] = &events[..]
        else {
            panic!("{events:?}");
        };
        let head = skipped.head.as_ref().unwrap();
        assert_eq!(
            (head.attribute("id"), next.attribute("id")),
            (Some("deep"), Some("next"))
        );
    }

    #[test]
    fn before_the_handshake_a_stanza_over_a_limit_ends_the_stream() {
        let mut component = Component::new(Instant::START, "weir.a", "secret");
        told(&mut component, ROOT);
        let (sent, events) = told(&mut component, &deep());
        assert!(sent.contains("<policy-violation "), "{sent}");
        assert!(matches!(
            &events[..],
            [SessionEvent::Closed(Failure::Broken(_))]
        ));
    }
}
