//! Stream management (XEP-0198): what either side has handled, so that a broken stream goes on where it was.

use crate::limits::UNACKNOWLEDGED_MAX;
use crate::names::MANAGEMENT;
use crate::xml::Element;
use std::collections::VecDeque;
use std::fmt::Write;

/// Stanzas sent after which an acknowledgement is asked for.
const ASK_EVERY: usize = 16;

/// What is left of a stream that broke off, to go on with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resumption {
    /// The server's name for it.
    pub(super) id: String,
    /// The address that the stream had.
    pub(super) jid: String,
    pub(super) counts: Counts,
}

/// Stanzas in both directions, modulo 2^32 (XEP-0198 section 4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Received and handled.
    pub(super) handled: u32,
    /// Acknowledged by the peer.
    acknowledged: u32,
    /// Sent and not acknowledged.
    waiting: VecDeque<String>,
    since_asked: usize,
}

impl Counts {
    /// Notes a stanza that goes out, and writes it.
    pub(super) fn send(&mut self, stanza: String, out: &mut String) {
        out.push_str(&stanza);
        self.waiting.push_back(stanza);
        self.since_asked += 1;
        if self.since_asked >= ASK_EVERY {
            self.ask(out);
        }
    }

    pub(super) fn ask(&mut self, out: &mut String) {
        self.since_asked = 0;
        out.push_str("<r xmlns='urn:xmpp:sm:3'/>");
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= UNACKNOWLEDGED_MAX
    }

    /// Stanzas sent and not acknowledged.
    pub(super) fn unacknowledged(&self) -> usize {
        self.waiting.len()
    }

    /// Takes the peer's count; `false` where it acknowledges what was never sent (section 4).
    // [XEP0198-4-1]
    pub(super) fn acknowledge(&mut self, element: &Element) -> bool {
        let Some(count) = element.attribute("h").and_then(|text| text.parse().ok()) else {
            return false;
        };
        let count: u32 = count;
        let more = count.wrapping_sub(self.acknowledged) as usize;
        if more > self.waiting.len() {
            return false;
        }
        self.waiting.drain(..more);
        self.acknowledged = count;
        true
    }

    /// Says what was handled.
    pub(super) fn answer(&self, out: &mut String) {
        // Writing to a text cannot fail.
        let _ = write!(out, "<a xmlns='{MANAGEMENT}' h='{}'/>", self.handled);
    }

    /// Sends again what was not acknowledged (section 5).
    pub(super) fn send_again(&mut self, out: &mut String) {
        self.waiting.iter().for_each(|stanza| out.push_str(stanza));
        if !self.waiting.is_empty() {
            self.ask(out);
        }
    }
}
