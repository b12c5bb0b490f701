//! Messages that are not kept as they were meant, in the log of the program.
//!
//! What it deliberately does not do: say each. Of one client and one cause there is a line a minute, which says how
//! many there were since the last; of all of them some a second. All are counted in the metrics.

use crate::context::now;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use weir_hub::{ClientId, Hub, Outcome, Problem};

/// Clients and causes that are remembered.
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
        if problem.fault.is_for_now() {
            return;
        }
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = said.is_due(problem, now().nanos()) {
            say(problem, before);
        }
    });
}

fn say(problem: &Problem<'_>, more_before: u64) {
    let (principal, topic) = (&*problem.principal.name, problem.topic);
    let (cause, reason) = (problem.fault.cause(), problem.fault.to_string());
    match problem.outcome {
        Outcome::Refused => tracing::warn!(
            principal,
            topic,
            cause,
            reason,
            more_before,
            "a message is refused"
        ),
        Outcome::Bytes => tracing::warn!(
            principal,
            topic,
            cause,
            reason,
            more_before,
            "a message is kept as bytes: nothing is read out of it"
        ),
    }
}

/// What makes problems the same.
type Key = (Arc<str>, Option<ClientId>, Outcome, &'static str);

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
        let name = problem.principal.name.clone();
        let key = (name, problem.client, problem.outcome, problem.fault.cause());
        if self.known.len() >= KNOWN_MAX && !self.known.contains_key(&key) {
            self.known.clear();
        }
        let (at, left_out) = self.known.entry(key).or_insert((i64::MIN, 0));
        let second = now.div_euclid(1_000_000_000);
        if self.second.0 != second {
            self.second = (second, 0);
        }
        let is_quiet = now.saturating_sub(*at) < QUIET_NANOS && *at <= now;
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
    use weir_hub::{Fault, Principal};

    #[test]
    fn of_one_client_and_cause_there_is_a_line_a_minute_and_of_all_some_a_second() {
        let mut said = Said::default();
        let principal = Principal::unrestricted();
        let (long, topic) = (
            Fault::OverLimit {
                what: "x",
                limit: 1,
            },
            Fault::Unknown("x".into()),
        );
        let mut due = |client, fault, seconds: i64| {
            let problem = Problem {
                principal: &principal,
                client,
                topic: "a",
                outcome: Outcome::Refused,
                fault,
            };
            said.is_due(&problem, seconds * 1_000_000_000)
        };
        assert_eq!(due(None, &long, 1), Some(0));
        assert_eq!(due(None, &long, 2), None);
        assert_eq!(due(None, &topic, 2), Some(0));
        assert_eq!(due(Some(ClientId::new()), &long, 3), Some(0));
        assert_eq!(due(None, &long, 62), Some(1));
        let many = (0..100).filter_map(|_| due(Some(ClientId::new()), &long, 70));
        assert_eq!(many.count() as u32, LINES_PER_SECOND_MAX);
    }
}
