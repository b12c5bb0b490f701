//! What its publisher may never hear of: messages that were refused, and messages of which only the bytes are kept.
//!
//! They are counted by cause, and told to whoever watches. What it deliberately does not do: write a log, or know of
//! answers. The decision worth arguing: it is done at the one door, so that no protocol has to remember to.

use crate::access::Principal;
use crate::client::ClientId;
use crate::exchange::Fault;
use crate::hub::Hub;
use crate::log::LogFault;
use std::sync::atomic::{AtomicU64, Ordering};

/// What became of a message that is not kept as it was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Nothing of it is kept.
    Refused,
    /// Its bytes are kept, and nothing is read out of them.
    Bytes,
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
    /// Why.
    pub fault: &'a Fault,
}

/// Every cause, as metrics name it.
pub(crate) const CAUSES: [&str; 12] = [
    "rights", "rate", "topic", "format", "content", "limit", "key", "memory", "busy", "log",
    "stopping", "other",
];

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

/// So many of each cause.
#[derive(Debug, Default)]
pub(crate) struct ByCause([AtomicU64; CAUSES.len()]);

impl ByCause {
    pub(crate) fn count(&self, fault: &Fault) {
        let cause = fault.cause();
        let index = CAUSES.iter().position(|known| *known == cause);
        self.0[index.unwrap_or(CAUSES.len() - 1)].fetch_add(1, Ordering::Relaxed);
    }

    /// All of them: who watches a count sees its first one only where there was a 0 before.
    pub(crate) fn now(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        CAUSES.into_iter().zip(counts).collect()
    }
}

impl Hub {
    /// Has somebody told of every message that is not kept as it was meant.
    pub fn watch_problems(&self, watcher: impl Fn(&Problem<'_>) + Send + Sync + 'static) {
        // The first stays.
        let _watched_already = self.watcher.set(Box::new(watcher));
    }

    /// How many publishes were refused, and of how many only the bytes were kept, by cause.
    pub fn problems(&self) -> [(Outcome, Vec<(&'static str, u64)>); 2] {
        let counters = &self.counters;
        [
            (Outcome::Refused, counters.refused_by.now()),
            (Outcome::Bytes, counters.bytes_by.now()),
        ]
    }

    pub(crate) fn note_problem(&self, problem: &Problem<'_>) {
        match problem.outcome {
            Outcome::Refused => self.counters.refused(problem.fault),
            Outcome::Bytes => {
                self.counters.bytes_by.count(problem.fault);
                // That it was no refusal does not make it less of an attempt.
                let auditor = self.auditor.get().filter(|_| problem.fault.is_of_access());
                auditor
                    .into_iter()
                    .for_each(|auditor| auditor(problem.principal, problem.fault));
            }
        }
        if let Some(watcher) = self.watcher.get() {
            watcher(problem);
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
        let by_cause = ByCause::default();
        by_cause.count(&Fault::Short);
        by_cause.count(&Fault::Short);
        let now = by_cause.now();
        assert_eq!(
            now.iter().map(|(cause, _)| *cause).collect::<Vec<_>>(),
            CAUSES
        );
        assert_eq!(now.iter().map(|(_, count)| count).sum::<u64>(), 2);
        assert!(now.contains(&("memory", 2)));
    }
}
