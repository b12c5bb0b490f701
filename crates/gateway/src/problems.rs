//! Messages that are not kept as they were meant, in the log of the program.
//!
//! What it deliberately does not do: say each. Of messages refused there is a line a minute for a client and a cause,
//! which says how many there were since the last. Of messages taken and not understood there is one for a topic and a
//! kind: the catalog says how many there were. Of all of them there are some a second. All are counted in the metrics.

use crate::clock::now;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use weir_hub::{ClientId, Hub, Outcome, Problem};

/// Clients, topics and causes that are remembered.
const KNOWN_MAX: usize = 4096;
/// How long nothing more is said of a client and a cause, nanoseconds.
const QUIET_NANOS: i64 = 60_000_000_000;
/// Lines a second, of all.
const LINES_PER_SECOND_MAX: u32 = 16;

/// Says in the log what becomes of messages.
pub(crate) fn tell(hub: &Hub) {
    let said = Mutex::new(Said::default());
    hub.watch_problems(move |problem| {
        // Whoever brings it tries again, or is told in the audit log.
        if problem.is_for_now {
            return;
        }
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = said.is_due(problem, now().nanos()) {
            say(problem, before);
        }
    });
}

fn say(problem: &Problem<'_>, more_before: u64) {
    let Problem { topic, kind, .. } = *problem;
    let principal = &*problem.principal.name;
    let (reason, advice) = (problem.reason.to_string(), problem.advice);
    match problem.outcome {
        Outcome::Refused => tracing::warn!(
            principal,
            topic,
            cause = kind,
            reason,
            more_before,
            "a message is refused"
        ),
        Outcome::Bytes => tracing::warn!(
            principal,
            topic,
            cause = kind,
            reason,
            advice,
            "a message is kept as bytes: nothing is read out of it"
        ),
        Outcome::Part => tracing::warn!(
            principal,
            topic,
            cause = kind,
            reason,
            advice,
            "a part of a message is not taken as it stands"
        ),
    }
}

/// What makes problems the same.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Refused(Arc<str>, Option<ClientId>, &'static str),
    Taken(Outcome, Box<str>, &'static str),
}

impl Key {
    fn of(problem: &Problem<'_>) -> Self {
        match problem.outcome {
            Outcome::Refused => {
                let name = problem.principal.name.clone();
                Key::Refused(name, problem.client, problem.kind)
            }
            taken => Key::Taken(taken, problem.topic.into(), problem.kind),
        }
    }

    fn quiet_nanos(&self) -> i64 {
        match self {
            Key::Refused(..) => QUIET_NANOS,
            Key::Taken(..) => i64::MAX,
        }
    }
}

#[derive(Default)]
struct Said {
    /// When a line was written, and how many were not since.
    known: HashMap<Key, (i64, u64)>,
    /// The second of the last line, and the lines in it.
    second: (i64, u32),
}

impl Said {
    /// How many like it there were since the last line, where it is time for one.
    fn is_due(&mut self, problem: &Problem<'_>, now: i64) -> Option<u64> {
        let key = Key::of(problem);
        if self.known.len() >= KNOWN_MAX && !self.known.contains_key(&key) {
            self.known.clear();
        }
        let quiet = key.quiet_nanos();
        let (at, left_out) = self.known.entry(key).or_insert((i64::MIN, 0));
        let second = now.div_euclid(1_000_000_000);
        if self.second.0 != second {
            self.second = (second, 0);
        }
        let is_quiet = *at != i64::MIN && now.saturating_sub(*at) < quiet && *at <= now;
        if is_quiet || self.second.1 >= LINES_PER_SECOND_MAX {
            *left_out += 1;
            return None;
        }
        self.second.1 += 1;
        *at = now;
        Some(std::mem::take(left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_hub::Principal;

    fn due(
        said: &mut Said,
        (outcome, client, topic, kind): (Outcome, Option<ClientId>, &str, &'static str),
        seconds: i64,
    ) -> Option<u64> {
        let problem = Problem {
            principal: &Principal::unrestricted(),
            client,
            topic,
            outcome,
            kind,
            reason: &"why",
            advice: "",
            is_for_now: false,
        };
        said.is_due(&problem, seconds * 1_000_000_000)
    }

    #[test]
    fn of_one_client_and_cause_there_is_a_line_a_minute() {
        let mut said = Said::default();
        let refused = |client, kind| (Outcome::Refused, client, "a", kind);
        assert_eq!(due(&mut said, refused(None, "limit"), 1), Some(0));
        assert_eq!(due(&mut said, refused(None, "limit"), 2), None);
        assert_eq!(due(&mut said, refused(None, "other"), 2), Some(0));
        let other = Some(ClientId::new());
        assert_eq!(due(&mut said, refused(other, "limit"), 3), Some(0));
        assert_eq!(due(&mut said, refused(None, "limit"), 62), Some(1));
        let mut many = || due(&mut said, refused(Some(ClientId::new()), "limit"), 70);
        let many = (0..100).filter_map(|_| many());
        assert_eq!(many.count() as u32, LINES_PER_SECOND_MAX);
    }

    #[test]
    fn of_one_topic_and_kind_of_what_is_taken_there_is_one_line() {
        let mut said = Said::default();
        let part = |topic, kind| (Outcome::Part, Some(ClientId::new()), topic, kind);
        assert_eq!(due(&mut said, part("a", "name"), 1), Some(0));
        assert_eq!(due(&mut said, part("a", "name"), 100_000), None);
        assert_eq!(due(&mut said, part("b", "name"), 2), Some(0));
        assert_eq!(due(&mut said, part("a", "time"), 2), Some(0));
    }
}
