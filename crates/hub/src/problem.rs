//! What its publisher may never hear of: messages that were refused, of which only the bytes are kept, or of which a
//! part was not understood.
//!
//! They are counted by kind, told to whoever watches, and noted in the catalog. What it deliberately does not do: write
//! a log, or know of answers. The decision worth arguing: it is done at the one door, so that no protocol has to
//! remember to.

use crate::access::Principal;
use crate::client::ClientId;
use crate::fault::Fault;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_model::{FlawKind, Time};
use weir_storage::LogFault;

/// What became of a message that is not kept as it was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Nothing of it is kept.
    Refused,
    /// Its bytes are kept, and nothing is read out of them.
    Bytes,
    /// It is kept, and a part of it is not taken as it stands.
    Part,
}

/// Who published a message, and when and where.
pub(crate) struct Publisher<'a> {
    pub(crate) now: Time,
    pub(crate) principal: &'a Principal,
    pub(crate) client: Option<ClientId>,
    pub(crate) topic: &'a str,
}

/// A message that is not kept as it was meant, and why.
pub struct Problem<'a> {
    /// Who published it.
    pub principal: &'a Principal,
    /// The client that it came from, where that is known.
    pub client: Option<ClientId>,
    /// Where it was published.
    pub topic: &'a str,
    /// What became of it.
    pub outcome: Outcome,
    /// The word of metrics and logs for why.
    pub kind: &'static str,
    /// Why.
    pub reason: &'a dyn Display,
    /// What is to be done, where that can be said.
    pub advice: &'static str,
    /// Whether the same may be taken when it is tried again in a moment.
    pub is_for_now: bool,
}

/// What was not understood of a message to a datastream last, in this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryProblem {
    /// The word of metrics and logs for it.
    pub kind: &'static str,
    /// What it was, and what is to be done.
    pub what: String,
    /// When.
    pub at: Time,
    /// How often anything was not understood.
    pub count: u64,
}

impl EntryProblem {
    pub(crate) fn new(now: Time, kind: &'static str, reason: &dyn Display, advice: &str) -> Self {
        Self {
            kind,
            what: format!("{reason}. {advice}").trim_end().into(),
            at: now,
            count: 1,
        }
    }

    /// Takes the place of what was noted before, where there is room for its text.
    pub(crate) fn again(&mut self, newer: Self, room: bool) {
        let count = self.count + newer.count;
        match room {
            true => *self = Self { count, ..newer },
            false => (self.at, self.count) = (newer.at, count),
        }
    }
}

/// Why messages are refused, as metrics name it.
pub(crate) const CAUSES: [&str; 12] = [
    "rights", "rate", "topic", "format", "content", "limit", "key", "memory", "busy", "log",
    "stopping", "other",
];

/// Every kind: [`CAUSES`] first, then those of [`FlawKind`].
const KINDS: [&str; 20] = {
    let mut kinds = [""; 20];
    let mut at = 0;
    while at < kinds.len() {
        kinds[at] = match at < CAUSES.len() {
            true => CAUSES[at],
            false => FlawKind::ALL[at - CAUSES.len()].word(),
        };
        at += 1;
    }
    kinds
};

impl Fault {
    /// The word of metrics and logs for it; one of a dozen.
    pub fn cause(&self) -> &'static str {
        match self {
            Fault::Denied { .. } | Fault::Reserved(_) | Fault::Revoked(_) => "rights",
            Fault::TooFast { .. } => "rate",
            Fault::Topic(_) => "topic",
            Fault::Undecodable { .. } => "format",
            Fault::Message(_) | Fault::Contradicted { .. } => "content",
            Fault::OverLimit { .. } | Fault::Crowded { .. } => "limit",
            Fault::KeyReused(_) => "key",
            Fault::Short => "memory",
            Fault::Log(LogFault::Busy) => "busy",
            Fault::Log(_) => "log",
            Fault::Stopping => "stopping",
            Fault::Unknown(_) | Fault::Incomparable(_) | Fault::History(_) => "other",
        }
    }

    /// What is to be done where only the bytes of a message are kept for it.
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Fault::Denied { .. } => {
                "Grant its publisher what lies below the topic, as in `publish = [\"TOPIC/#\"]`."
            }
            Fault::Undecodable { .. } => "Send what its format says, or say another format.",
            Fault::Message(_) => "Send observations at or below the topic of the message.",
            Fault::OverLimit { .. } | Fault::Crowded { .. } => "Send less, or raise the limit.",
            Fault::Contradicted { .. } => {
                "Send what is declared, or declare what is sent: `PUT /catalog/TOPIC`."
            }
            _ => "",
        }
    }

    /// Says whether the same may be taken when it is tried again in a moment.
    pub fn is_for_now(&self) -> bool {
        matches!(
            self,
            Fault::TooFast { .. } | Fault::Short | Fault::Log(LogFault::Busy)
        )
    }

    /// Says whether it is for what a message says, and not for where it goes or for how the gateway is.
    pub(crate) fn is_of_content(&self) -> bool {
        matches!(
            self,
            Fault::Undecodable { .. }
                | Fault::Message(_)
                | Fault::Contradicted { .. }
                | Fault::OverLimit { .. }
                | Fault::Crowded { .. }
                | Fault::Denied { .. }
        )
    }
}

/// So many of each kind.
#[derive(Debug, Default)]
pub(crate) struct ByKind([AtomicU64; KINDS.len()]);

impl ByKind {
    pub(crate) fn count(&self, kind: &str) {
        self.count_many(kind, 1);
    }

    pub(crate) fn count_many(&self, kind: &str, messages: u64) {
        let index = KINDS.iter().position(|known| *known == kind);
        self.0[index.unwrap_or(CAUSES.len() - 1)].fetch_add(messages, Ordering::Relaxed);
    }

    /// All of them: who watches a count sees its first one only where there was a 0 before.
    pub(crate) fn now(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        KINDS.into_iter().zip(counts)
    }
}

impl<'a> Publisher<'a> {
    pub(crate) fn problem(
        &self,
        outcome: Outcome,
        kind: &'static str,
        reason: &'a dyn Display,
        is_for_now: bool,
    ) -> Problem<'a> {
        Problem {
            principal: self.principal,
            client: self.client,
            topic: self.topic,
            outcome,
            kind,
            reason,
            advice: "",
            is_for_now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_in_the_list() {
        for fault in [
            Fault::Short,
            Fault::Stopping,
            Fault::Unknown("a".into()),
            Fault::Log(LogFault::Busy),
            Fault::Log(LogFault::Closed),
            Fault::Reserved("$a".into()),
            Fault::OverLimit {
                what: "x",
                limit: 1,
            },
        ] {
            assert!(CAUSES.contains(&fault.cause()), "{fault}");
        }
        let by_kind = ByKind::default();
        by_kind.count(Fault::Short.cause());
        by_kind.count(Fault::Short.cause());
        by_kind.count(FlawKind::Bytes.word());
        let now: Vec<_> = by_kind.now().filter(|(_, count)| *count > 0).collect();
        assert_eq!(now, [("memory", 2), ("bytes", 1)]);
        assert!(KINDS.iter().all(|kind| !kind.is_empty()));
    }
}
