//! What both machines do alike: cutting, writing, noticing silence.

use crate::names::STREAMS;
use crate::xml::{Element, Frame, Framer, Skipped, StreamFault, escape};
use std::collections::VecDeque;
use std::fmt;
use weir_sansio::{Duration, Instant};

/// Silence after which the peer is asked whether it is there.
pub(super) const IDLE_TIME_MAX: Duration = Duration::from_secs(30);
/// Silence after which it is not.
pub(super) const SILENT_TIME_MAX: Duration = Duration::from_secs(60);
/// How long a stream may take until stanzas flow.
pub(super) const OPEN_TIME_MAX: Duration = Duration::from_secs(20);

/// What a driver is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// TLS is to be spoken from here on; then [`super::Client::secured`].
    StartTls,
    /// Stanzas flow; whether an earlier stream goes on.
    Ready {
        /// The address that the stream has.
        jid: String,
        /// Whether an earlier stream goes on (XEP-0198 section 5).
        resumed: bool,
    },
    /// A stanza, and the document that it was read from.
    Stanza(Element, Vec<u8>),
    /// A stanza over a limit, which was not read.
    Skipped(Skipped),
    /// Nothing follows.
    Closed(Failure),
}

/// Why a stream is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The credentials are wrong, or of a kind that the server does not take here.
    Refused(String),
    /// The peer broke the protocol; it was told by a stream error.
    Broken(StreamFault),
    /// The peer ended it by a stream error or without one.
    Ended(String),
    /// The peer is silent.
    Silent,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(why) => write!(f, "the XMPP server refuses: {why}"),
            Failure::Broken(fault) => write!(f, "the XMPP server breaks the protocol: {fault}"),
            Failure::Ended(why) => write!(f, "the XMPP server ended the stream: {why}"),
            Failure::Silent => f.write_str("the XMPP server does not answer"),
        }
    }
}

impl std::error::Error for Failure {}

/// One stream's bytes.
#[derive(Debug)]
pub(super) struct Conversation {
    framer: Framer,
    pub(super) out: String,
    pub(super) events: VecDeque<SessionEvent>,
    heard: Instant,
    asked: bool,
    pub(super) ready: bool,
    pub(super) over: bool,
    opened: Instant,
}

impl Conversation {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            framer: Framer::default(),
            out: String::new(),
            events: VecDeque::new(),
            heard: now,
            asked: false,
            ready: false,
            over: false,
            opened: now,
        }
    }

    /// Begins a stream, the first or the one after a negotiation (RFC 6120 section 4.3.3).
    pub(super) fn open(&mut self, namespace: &str, to: &str, version: bool) {
        self.framer = Framer::default();
        self.out
            .push_str("<?xml version='1.0'?><stream:stream xmlns='");
        self.out.push_str(namespace);
        self.out
            .push_str("' xmlns:stream='http://etherx.jabber.org/streams' to='");
        escape(to, &mut self.out);
        self.out
            .push_str(if version { "' version='1.0'>" } else { "'>" });
    }

    pub(super) fn take(&mut self, now: Instant, bytes: &[u8]) {
        self.heard = now;
        self.asked = false;
        self.framer.push(bytes);
    }

    /// The next frame; a stream that breaks the rules is ended with its error.
    // [RFC6120-4.9-1]
    pub(super) fn next_frame(&mut self) -> Option<Frame> {
        if self.over {
            return None;
        }
        match self.framer.next_frame() {
            Ok(frame) => frame,
            Err(fault) => {
                self.broken(fault);
                None
            }
        }
    }

    /// Ends the stream with the error that it has.
    fn broken(&mut self, fault: StreamFault) {
        self.out.push_str("<stream:error><");
        self.out.push_str(fault.condition);
        self.out.push_str(
            " xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error></stream:stream>",
        );
        self.end(Failure::Broken(fault));
    }

    /// Hands over what is over a limit; until stanzas flow nothing of a stream can be done without.
    pub(super) fn skipped(&mut self, skipped: Skipped) {
        if self.ready {
            self.events.push_back(SessionEvent::Skipped(skipped))
        } else {
            self.broken(skipped.fault)
        }
    }

    /// Breaks off because of something that the peer sent.
    pub(super) fn unexpected(&mut self, what: &str) {
        let fault = StreamFault {
            condition: "undefined-condition",
            text: format!("unexpected `{what}`"),
        };
        self.out.push_str("</stream:stream>");
        self.end(Failure::Broken(fault));
    }

    pub(super) fn end(&mut self, failure: Failure) {
        if !std::mem::replace(&mut self.over, true) {
            self.events.push_back(SessionEvent::Closed(failure));
        }
    }

    /// Whether the peer said that it ends the stream.
    // [RFC6120-4.9-2]
    pub(super) fn is_error(&mut self, stanza: &Element) -> bool {
        let is = stanza.is(STREAMS, "error");
        if is {
            self.out.push_str("</stream:stream>");
            self.end(Failure::Ended(said(stanza)));
        }
        is
    }

    /// Says whether the peer is to be asked whether it is there.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> bool {
        let silent = now.since(self.heard);
        let late = !self.ready && now.since(self.opened) >= OPEN_TIME_MAX;
        if silent >= SILENT_TIME_MAX || late {
            self.end(Failure::Silent);
        }
        let asks = self.ready && !self.asked && !self.over && silent >= IDLE_TIME_MAX;
        self.asked |= asks;
        asks
    }

    pub(super) fn timeout(&self) -> Instant {
        match (self.over, self.ready, self.asked) {
            (true, _, _) => Instant::NEVER,
            (_, false, _) => self.opened + OPEN_TIME_MAX,
            (_, _, false) => self.heard + IDLE_TIME_MAX,
            (_, _, true) => self.heard + SILENT_TIME_MAX,
        }
    }

    /// What is to be sent, if anything.
    pub(super) fn transmit(&mut self) -> Option<Vec<u8>> {
        (!self.out.is_empty()).then(|| std::mem::take(&mut self.out).into_bytes())
    }
}

/// Condition and text of an error, of a stream, of SASL or of stream management.
pub(super) fn said(error: &Element) -> String {
    let conditions = error.elements().filter(|child| child.name != "text");
    let condition = conditions.map(|child| child.name.as_str()).next();
    let text = error.elements().find(|child| child.name == "text");
    let text = text.map(Element::own_text).unwrap_or_default();
    match (condition.unwrap_or("no reason given"), text.as_str()) {
        (condition, "") => condition.to_owned(),
        (condition, text) => format!("{condition}: {text}"),
    }
}
