//! What is not kept as it was meant is counted and told.

use crate::decoded::Unread;
use crate::fault::Fault;
use crate::hub::Hub;
use crate::problem::{CAUSES, EntryProblem, Outcome, Problem, Publisher};
use std::fmt::Display;
use weir_model::Flaw;

impl Hub {
    /// Has somebody told of every message that is not kept as it was meant.
    pub fn watch_problems(&self, watcher: impl Fn(&Problem<'_>) + Send + Sync + 'static) {
        // The first stays.
        let _watched_already = self.watcher.set(Box::new(watcher));
    }

    /// How many publishes were refused, of how many only the bytes were kept, and of how many a part was not
    /// understood, by kind.
    pub fn problems(&self) -> [(Outcome, Vec<(&'static str, u64)>); 3] {
        let counters = &self.counters;
        let causes = counters.refused_by.now().take(CAUSES.len());
        [
            (Outcome::Refused, causes.collect()),
            (Outcome::Bytes, counters.bytes_by.now().collect()),
            (Outcome::Part, counters.parts_by.now().collect()),
        ]
    }

    /// A message is refused, or so many for the same reason.
    #[cold]
    pub(crate) fn note_refused(&self, of: &Publisher<'_>, fault: &Fault, messages: u64) {
        self.counters.refused(fault, messages);
        self.watched(&of.problem(Outcome::Refused, fault.cause(), fault, fault.is_for_now()));
    }

    /// A message is taken, and not all of it is understood.
    #[cold]
    pub(crate) fn note_unread(&self, of: &Publisher<'_>, unread: &Unread) {
        match unread {
            // That it was no refusal does not make it less of an attempt.
            Unread::Fault(fault) => {
                self.tell_auditor(of.principal, fault);
                self.note_at_topic(of, Outcome::Bytes, fault.cause(), (fault, fault.advice()));
            }
            Unread::Below(fault) => {
                self.tell_auditor(of.principal, fault);
                self.note_at_topic(of, Outcome::Part, fault.cause(), (fault, fault.advice()));
            }
            Unread::Opaque(flaw) => {
                let why: (&dyn Display, _) = (&flaw.what, flaw.kind.advice());
                self.note_at_topic(of, Outcome::Bytes, flaw.kind.word(), why);
            }
            Unread::Parts(flaws, first) => self.note_flaws(of, flaws, first),
        }
    }

    fn note_at_topic(
        &self,
        of: &Publisher<'_>,
        outcome: Outcome,
        kind: &'static str,
        (reason, advice): (&dyn Display, &'static str),
    ) {
        match outcome {
            Outcome::Part => self.counters.parts_by.count(kind),
            _ => self.counters.bytes_by.count(kind),
        }
        let problem = EntryProblem::new(of.now, kind, reason, advice);
        self.core().catalog.note_problem(of.topic, problem);
        self.watched(&Problem {
            advice,
            ..of.problem(outcome, kind, reason, false)
        });
    }

    /// Counts a message once for each kind, and notes each flaw where it is: at the datastream, at the message's
    /// topic, or at the first datastream of the message.
    fn note_flaws(&self, of: &Publisher<'_>, flaws: &[Flaw], first: &str) {
        let mut core = self.core();
        for flaw in flaws {
            let (kind, advice) = (flaw.kind.word(), flaw.kind.advice());
            let below = format!("{}/{}", of.topic, flaw.below);
            let topic = if flaw.below.is_empty() {
                of.topic
            } else {
                &below
            };
            let places = [topic, of.topic, first];
            let problem = || EntryProblem::new(of.now, kind, &flaw.what, advice);
            let _at_the_first = places
                .iter()
                .any(|place| core.catalog.note_problem(place, problem()));
        }
        drop(core);
        for (index, flaw) in flaws.iter().enumerate() {
            if flaws[..index].iter().any(|known| known.kind == flaw.kind) {
                continue;
            }
            self.counters.parts_by.count(flaw.kind.word());
            self.watched(&Problem {
                advice: flaw.kind.advice(),
                ..of.problem(Outcome::Part, flaw.kind.word(), &flaw.what, false)
            });
        }
    }

    fn watched(&self, problem: &Problem<'_>) {
        if let Some(watcher) = self.watcher.get() {
            watcher(problem);
        }
    }
}
