//! Time by which things age, and which of two observations is the last one, where a clock may be wrong.
//!
//! A clock that was set ahead cannot be told from a gateway that was off, until it is set right. What it deliberately
//! does not do: judge a clock. The decision worth arguing: nothing that cannot be taken back is done because a clock
//! says so alone (docs/decisions/0061-what-a-wrong-clock-may-do.md).

use weir_model::Time;

/// What ages at most between two looks at the clock, nanoseconds (an hour): a clock that was set ahead ages no more.
pub const AGE_STEP_NANOS_MAX: i64 = 3_600_000_000_000;

/// Time that has surely passed: ages of what is kept are counted from it.
///
/// It begins where the last run is known to have been, goes twice as fast as what is seen of the clock until it has
/// caught up with it, and is never ahead of it.
#[derive(Clone, Debug, Default)]
pub struct Steady {
    known: Option<i64>,
    at: Option<i64>,
    /// What the clock showed last.
    clock: i64,
    step_max: i64,
}

impl Steady {
    /// One that takes so many nanoseconds between two looks at the clock at the most, and begins at a time that is
    /// known to have been, or with the clock.
    pub fn new(known: Option<Time>, step_max: i64) -> Self {
        Self {
            known: known.map(Time::nanos),
            at: None,
            clock: 0,
            step_max,
        }
    }

    /// Takes what the clock shows, and says the time.
    #[inline]
    pub fn pass(&mut self, clock: Time) -> Time {
        let clock = clock.nanos();
        let at = match self.at {
            None => self.known.unwrap_or(clock),
            // It has caught up, and goes with the clock.
            Some(at)
                if at == self.clock && clock >= at && clock.saturating_sub(at) <= self.step_max =>
            {
                self.at = Some(clock);
                self.clock = clock;
                return Time::from_nanos(clock);
            }
            Some(at) => {
                let step = clock.saturating_sub(self.clock).clamp(0, self.step_max);
                at.saturating_add(step.saturating_mul(2))
            }
        };
        // What is known to have been has been, as soon as the clock agrees.
        let known = self.known.filter(|known| *known <= clock);
        let at = known.map_or(at, |known| at.max(known)).min(clock);
        (self.at, self.clock) = (Some(at), clock);
        Time::from_nanos(at)
    }

    /// The time as it was said last; none before the clock was looked at.
    pub fn at(&self) -> Option<Time> {
        self.at.map(Time::from_nanos)
    }
}

/// Says whether an observation of a datastream becomes its last one, and what the last one is ranked by then.
///
/// An observation is ranked by its time, or by its arrival where that is earlier: no observation was made after it
/// came. A rank that lies after a later arrival is of a clock that was ahead, and counts as that arrival from then on,
/// so that it stands back as soon as the next observation is of a later time.
pub fn takes_over(rank: &mut Time, time: Time, arrival: Time) -> bool {
    *rank = (*rank).min(arrival);
    let own = time.min(arrival);
    let takes_over = own >= *rank;
    if takes_over {
        *rank = own;
    }
    takes_over
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000_000;
    const DAY: i64 = 24 * HOUR;

    fn at(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    fn steady(known: Option<i64>, clock: &[i64]) -> i64 {
        let mut steady = Steady::new(known.map(at), HOUR);
        let passed = clock.iter().map(|clock| steady.pass(at(*clock)).nanos());
        passed.last().unwrap_or(i64::MIN)
    }

    #[test]
    fn time_passes_with_the_clock_and_catches_up_with_it() {
        assert_eq!(steady(None, &[5, 7, 9]), 9);
        assert_eq!(steady(Some(-9), &[5, 7, 9]), -1, "twice two, twice");
        assert_eq!(steady(Some(4), &[5, 7, 9]), 9, "never ahead");
        let off = 10 * DAY;
        let hours: Vec<i64> = (0..=240).map(|hour| off + hour * HOUR).collect();
        assert_eq!(steady(Some(0), &hours), 20 * DAY, "as long as it was off");
        assert_eq!(Steady::new(Some(at(4)), HOUR).at(), None);
    }

    #[test]
    fn a_clock_that_is_set_ahead_ages_hardly_anything() {
        let ahead = 400 * DAY;
        assert_eq!(steady(Some(0), &[ahead]), 0, "wrong from its start");
        assert_eq!(steady(None, &[0, ahead]), 2 * HOUR, "set while it runs");
        let run: Vec<i64> = (0..=24).map(|hour| ahead + hour * HOUR).collect();
        assert_eq!(steady(Some(0), &run), 2 * DAY, "a day of it");
    }

    #[test]
    fn a_clock_that_is_set_back_is_followed_at_once() {
        let ahead = 400 * DAY;
        assert_eq!(steady(Some(ahead), &[DAY]), DAY, "right from its start");
        assert_eq!(steady(None, &[ahead, DAY, DAY + HOUR]), DAY + HOUR);
        assert_eq!(steady(None, &[0, i64::MAX, i64::MIN]), i64::MIN);
    }

    /// The numbers of the observations that were the last ones, each of (time, arrival).
    fn last(observations: &[(i64, i64)]) -> Vec<usize> {
        let mut rank = at(i64::MIN);
        let observations = observations.iter().enumerate();
        let taken = observations
            .filter(|(_, (time, arrival))| takes_over(&mut rank, at(*time), at(*arrival)));
        taken.map(|(number, _)| number).collect()
    }

    #[test]
    fn what_is_late_replaces_nothing_and_what_is_equal_does() {
        assert_eq!(
            last(&[(100, 100), (50, 110), (100, 120), (110, 130)]),
            [0, 2, 3]
        );
    }

    #[test]
    fn the_clock_of_the_gateway_was_ahead_and_the_value_goes_on() {
        let ahead = 400 * DAY;
        assert_eq!(
            last(&[(ahead, ahead), (10, 10), (20, 20)]),
            [0, 1, 2],
            "no own times"
        );
        let own = [(ahead, ahead), (9, 10), (19, 20), (29, 30)];
        assert_eq!(
            last(&own),
            [0, 2, 3],
            "own times, always a little before they come"
        );
        let past = [(ahead, ahead), (3, 10), (4, 11), (12, 13)];
        assert_eq!(last(&past), [0, 3], "what is late stays behind it");
        let many = [
            (ahead, ahead),
            (ahead + 1, ahead + 1),
            (10, 10),
            (2, 11),
            (12, 12),
        ];
        assert_eq!(last(&many), [0, 1, 2, 4]);
    }

    #[test]
    fn the_clock_of_a_device_was_ahead_and_the_value_goes_on() {
        let ahead = 400 * DAY;
        assert_eq!(
            last(&[(ahead, 10), (20, 20), (ahead, 30), (39, 40)]),
            [0, 1, 2, 3]
        );
        assert_eq!(
            last(&[(ahead, 10), (5, 20)]),
            [0],
            "and what is late stays behind it"
        );
    }

    #[test]
    fn the_clock_of_the_gateway_was_behind_and_the_value_goes_on() {
        assert_eq!(
            last(&[(9 * DAY, 9 * DAY), (10, 10), (20, 20), (10 * DAY, 10 * DAY)]),
            [0, 1, 2, 3]
        );
    }
}
