//! Whether what somebody was granted still stands, and how fast it may be used.
//!
//! What it deliberately does not do: know why. Who reads the policy revokes; a standing that was revoked
//! stays so, and who comes again is given another. All clones are one standing: it belongs to an entry of
//! the policy, and so to all connections that came by that entry.

use crate::fault::Fault;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weir_model::Time;

/// What of a second's requests may come at once, nanoseconds' worth.
const BURST_NANOS: i64 = 1_000_000_000;

/// The standing of a principal; by default one that holds for ever, at any rate.
#[derive(Clone, Default)]
pub struct Standing {
    state: Option<Arc<State>>,
}

struct State {
    revoked: AtomicBool,
    pace: Option<Arc<Pace>>,
}

/// So many requests a second, and a second's worth of them at once.
struct Pace {
    per_second: u32,
    /// When all that was asked will have been due, Unix nanoseconds.
    due: Mutex<i64>,
}

impl Standing {
    /// One that can be revoked, with so many requests a second, or any number.
    pub fn new(per_second: Option<u32>) -> Self {
        let pace = per_second.map(|per_second| {
            Arc::new(Pace {
                per_second: per_second.max(1),
                due: Mutex::new(i64::MIN),
            })
        });
        Self::of(pace)
    }

    /// One that is revoked for itself, and whose requests count with those of this one where both may make
    /// as many.
    pub fn beside(&self, per_second: Option<u32>) -> Self {
        let pace = self.state.as_ref().and_then(|state| state.pace.clone());
        match pace.filter(|pace| per_second == Some(pace.per_second)) {
            Some(pace) => Self::of(Some(pace)),
            None => Self::new(per_second),
        }
    }

    fn of(pace: Option<Arc<Pace>>) -> Self {
        let revoked = AtomicBool::new(false);
        Self {
            state: Some(Arc::new(State { revoked, pace })),
        }
    }

    /// Tells one standing from others that are there at the same time.
    pub fn identity(&self) -> usize {
        self.state
            .as_ref()
            .map_or(0, |state| Arc::as_ptr(state).addr())
    }

    /// Takes away what was granted; [`crate::Hub::end_revoked`] then ends what was begun with it.
    pub fn revoke(&self) {
        if let Some(state) = &self.state {
            state.revoked.store(true, Ordering::Relaxed);
        }
    }

    /// Says whether it was taken away.
    pub fn is_revoked(&self) -> bool {
        let state = self.state.as_ref();
        state.is_some_and(|state| state.revoked.load(Ordering::Relaxed))
    }

    /// Refuses this principal where it was taken away.
    pub(crate) fn check(&self, principal: &Arc<str>) -> Result<(), Fault> {
        if self.is_revoked() {
            return Err(Fault::Revoked(principal.clone()));
        }
        Ok(())
    }

    /// Counts a request of this principal, unless it may not be made.
    pub(crate) fn admit(&self, now: Time, principal: &Arc<str>) -> Result<(), Fault> {
        self.check(principal)?;
        let pace = self.state.as_ref().and_then(|state| state.pace.as_ref());
        match pace {
            Some(pace) if !pace.take(now.nanos()) => Err(Fault::TooFast {
                principal: principal.clone(),
                per_second: pace.per_second,
            }),
            _ => Ok(()),
        }
    }
}

impl Pace {
    fn take(&self, now: i64) -> bool {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        // Not before now, and a clock that was set back does not shut anybody out.
        let latest = now.saturating_add(BURST_NANOS);
        let from = (*due).clamp(now, latest);
        let next = from + BURST_NANOS / i64::from(self.per_second);
        let may = next <= latest;
        *due = if may { next } else { from };
        may
    }
}

impl fmt::Debug for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (&self.state, self.is_revoked()) {
            (None, _) => "unlimited",
            (Some(_), false) => "in force",
            (Some(_), true) => "revoked",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Time {
        Time::from_nanos(1_700_000_000_000_000_000 + millis * 1_000_000)
    }

    fn admitted(standing: &Standing, millis: i64, times: usize) -> usize {
        let who = "ada".into();
        let asked = (0..times).filter(|_| standing.admit(at(millis), &who).is_ok());
        asked.count()
    }

    #[test]
    fn a_second_has_its_number_of_requests_in_whatever_order() {
        let standing = Standing::new(Some(10));
        assert_eq!(admitted(&standing, 0, 25), 10);
        assert_eq!(admitted(&standing, 500, 25), 5);
        assert_eq!(
            admitted(&standing, 5000, 25),
            10,
            "saved up for a second only"
        );
    }

    #[test]
    fn two_of_one_share_their_requests_and_not_their_end() {
        let one = Standing::new(Some(10));
        let other = one.beside(Some(10));
        assert_eq!(admitted(&one, 0, 8) + admitted(&other, 0, 8), 10);
        one.revoke();
        assert!(!other.is_revoked());
        assert_eq!(admitted(&one.beside(Some(3)), 0, 8), 3, "of another role");
    }

    #[test]
    fn a_later_step_of_a_request_is_not_counted_and_ends_with_it() {
        let standing = Standing::new(Some(10));
        assert_eq!(admitted(&standing, 0, 10), 10);
        let who = "ada".into();
        assert_eq!(standing.check(&who), Ok(()));
        assert_eq!(admitted(&standing, 100, 10), 1, "none was taken");
        standing.revoke();
        assert_eq!(standing.check(&who), Err(Fault::Revoked(who)));
    }

    #[test]
    fn a_clock_that_jumps_shuts_nobody_out() {
        let standing = Standing::new(Some(10));
        assert_eq!(admitted(&standing, 0, 10), 10);
        assert_eq!(admitted(&standing, -86_400_000, 1), 0);
        assert_eq!(admitted(&standing, -86_399_900, 1), 1);
    }

    #[test]
    fn what_was_revoked_stays_so_for_all_who_share_it() {
        let standing = Standing::new(None);
        let other = standing.clone();
        standing.revoke();
        let refused = other.admit(at(0), &"ada".into());
        assert_eq!(refused, Err(Fault::Revoked("ada".into())));
        Standing::default().revoke();
        assert!(!Standing::default().is_revoked());
    }
}
