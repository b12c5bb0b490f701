//! One step of traffic: its schedule and its counters.
//!
//! Only messages due after the warm-up count, wherever their deliveries fall.

use super::super::job::{Share, TrafficOutcome};
use super::super::publisher::Answer;
use super::super::reactor::Readiness;
use weir_bench_model::latency::Latency;
use weir_bench_model::pace::Trial;
use weir_bench_model::steadiness::PARTS;

/// When messages are due; all times are nanoseconds since the load's start.
#[derive(Clone, Copy, Default)]
pub struct Schedule {
    start: u64,
    interval_ns: f64,
    next: u64,
    /// From one own message to the next.
    stride: u64,
    /// How far a stamp may lie ahead.
    skew_ns: u64,
    /// Messages that count, everyone's; `None`: they are all ours.
    shared: Option<u64>,
    /// From here on messages count.
    pub count_from: u64,
    /// No message is due from here on.
    pub end: u64,
}

/// What one step counts.
#[derive(Default)]
pub struct Step {
    pub schedule: Schedule,
    pub received_bytes: u64,
    pub all_received: u64,
    pub worst_delivery_ns: u64,
    /// Given up before its end.
    pub overrun: bool,
    pub announced: bool,
    /// Scratch of the loop, kept for its memory.
    pub ready: Vec<Readiness>,
    subscribers: u64,
    sent: u64,
    acknowledged: u64,
    refused: u64,
    uncounted_answers: u64,
    first_refusal: Option<String>,
    received: u64,
    repeated: u64,
    last_event: u64,
    delivery: Option<Latency>,
    acknowledgement: Option<Latency>,
    lag: Option<Latency>,
    course: Course,
}

/// Latencies by the tenth of the measured time in which their messages were due.
#[derive(Default)]
struct Course([(u64, f64); PARTS]);

impl Schedule {
    /// A schedule of `rate` messages a second from `start` on.
    pub fn new(start: u64, rate: f64, warm_up_ns: u64, measure_ns: u64) -> Self {
        let count_from = start + warm_up_ns;
        Self {
            start,
            interval_ns: 1e9 / rate,
            next: 0,
            stride: 1,
            skew_ns: 0,
            shared: None,
            count_from,
            end: count_from + measure_ns,
        }
    }

    /// One part of it, of which there are several.
    pub fn shared(self, share: Option<Share>) -> Self {
        let Some(share) = share else {
            return self;
        };
        let counted = self.first_from(self.end) - self.first_from(self.count_from);
        Self {
            next: share.part as u64,
            stride: share.parts as u64,
            skew_ns: share.skew_ns,
            shared: Some(counted),
            ..self
        }
    }

    fn due(&self, message: u64) -> u64 {
        self.start + (message as f64 * self.interval_ns) as u64
    }

    /// The first message that is due at a moment or later.
    fn first_from(&self, moment: u64) -> u64 {
        let near = (moment.saturating_sub(self.start) as f64 / self.interval_ns) as u64;
        let mut message = near.saturating_sub(2);
        while self.due(message) < moment {
            message += 1;
        }
        message
    }

    /// When the next message is due; `None` after the last.
    pub fn next_due(&self) -> Option<u64> {
        let due = self.due(self.next);
        (due < self.end).then_some(due)
    }

    /// Takes the next message if it is due at `now`.
    pub fn take_due(&mut self, now: u64) -> Option<u64> {
        let due = self.next_due().filter(|&due| due <= now)?;
        self.next += self.stride;
        Some(due)
    }

    fn rate(&self) -> f64 {
        1e9 / self.interval_ns / self.stride.max(1) as f64
    }

    /// In which tenth of the measured time a message is due.
    fn part_of(&self, due: u64) -> usize {
        let measured = (self.end - self.count_from).max(1);
        let part = due.saturating_sub(self.count_from) * PARTS as u64 / measured;
        (part as usize).min(PARTS - 1)
    }
}

impl Step {
    /// Empty counters for a schedule.
    pub fn new(schedule: Schedule, subscribers: u64) -> Self {
        Self {
            schedule,
            subscribers,
            delivery: Some(Latency::new()),
            acknowledgement: Some(Latency::new()),
            lag: Some(Latency::new()),
            ..Self::default()
        }
    }

    /// Counts a message handed to a publisher.
    pub fn count_sent(&mut self, due: u64) {
        self.sent += u64::from(due >= self.schedule.count_from);
    }

    /// Counts how late the load itself was.
    pub fn count_lag(&mut self, due: u64, now: u64) {
        record(&mut self.lag, now.saturating_sub(due));
    }

    /// Counts one delivery by its stamp; older steps' stragglers are passed over.
    pub fn count_delivery(&mut self, due: u64, now: u64) {
        if due < self.schedule.start || due > now + self.schedule.skew_ns {
            return;
        }
        self.all_received += 1;
        let latency = now.saturating_sub(due);
        self.worst_delivery_ns = self.worst_delivery_ns.max(latency);
        if due >= self.schedule.count_from {
            self.received += 1;
            self.last_event = now;
            record(&mut self.delivery, latency);
            self.course.count(self.schedule.part_of(due), latency);
        }
    }

    /// Counts one that a client had heard before, while messages were still published.
    pub fn count_repeated(&mut self, due: u64, now: u64) {
        let is_counted = due >= self.schedule.count_from && now < self.schedule.end;
        self.repeated += u64::from(is_counted);
    }

    /// Counts one answer of the target to a publisher.
    pub fn count_answer(&mut self, answer: Answer, now: u64) {
        if answer.due < self.schedule.count_from {
            self.uncounted_answers += 1;
            return;
        }
        if let Some(refusal) = answer.refusal {
            self.refused += 1;
            self.first_refusal.get_or_insert(refusal);
            return;
        }
        self.acknowledged += 1;
        self.last_event = now;
        record(&mut self.acknowledgement, now - answer.due);
        if self.subscribers == 0 {
            let part = self.schedule.part_of(answer.due);
            self.course.count(part, now - answer.due);
        }
    }

    /// Answers so far.
    pub fn answered(&self) -> u64 {
        self.acknowledged + self.refused + self.uncounted_answers
    }

    /// Whether all that is owed has come.
    pub fn is_complete(&self) -> bool {
        self.received >= self.expected()
    }

    /// Deliveries that did not come.
    pub fn lost(&self) -> u64 {
        self.expected().saturating_sub(self.received)
    }

    /// Messages refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The 99th percentile of what was delivered, or acknowledged where nobody subscribes, in ms.
    pub fn p99_ms(&self) -> f64 {
        let latency = if self.subscribers > 0 {
            &self.delivery
        } else {
            &self.acknowledgement
        };
        latency
            .as_ref()
            .map_or(0.0, |l| l.quantile_ns(0.99) as f64 / 1e6)
    }

    /// The counters as they are reported.
    pub fn outcome(&mut self, trials: Vec<Trial>) -> TrafficOutcome {
        let schedule = &self.schedule;
        let end = self.last_event.max(schedule.end);
        TrafficOutcome {
            offered_rate: schedule.rate(),
            seconds: (end - schedule.count_from) as f64 / 1e9,
            sent: self.sent,
            acknowledged: self.acknowledged,
            refused: self.refused,
            first_refusal: self.first_refusal.take(),
            expected: self.expected(),
            received: self.received,
            repeated: Some(self.repeated),
            received_bytes: self.received_bytes,
            delivery: self.delivery.take().unwrap_or_default(),
            acknowledgement: self.acknowledgement.take().unwrap_or_default(),
            course: self.course.means_us(),
            schedule_lag: self.lag.take().unwrap_or_default(),
            missed: None,
            trials,
        }
    }

    fn expected(&self) -> u64 {
        self.schedule.shared.unwrap_or(self.sent) * self.subscribers
    }
}

impl Course {
    fn count(&mut self, part: usize, nanoseconds: u64) {
        let (count, logarithms) = &mut self.0[part];
        *count += 1;
        *logarithms += f64::from((nanoseconds.max(1) as f32).ln());
    }

    fn means_us(&self) -> Vec<f64> {
        let mean =
            |&(count, sum): &(u64, f64)| (count > 0).then(|| (sum / count as f64).exp() / 1e3);
        let means: Option<Vec<f64>> = self.0.iter().map(mean).collect();
        means.unwrap_or_default()
    }
}

fn record(latency: &mut Option<Latency>, nanoseconds: u64) {
    if let Some(latency) = latency {
        latency.record(nanoseconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_due_on_schedule_however_late_one_looks() {
        let mut schedule = Schedule::new(1_000, 1e6, 0, 5_000);
        let due: Vec<u64> = std::iter::from_fn(|| schedule.take_due(1_000_000)).collect();
        assert_eq!(due, [1_000, 2_000, 3_000, 4_000, 5_000]);
    }

    #[test]
    fn parts_of_a_schedule_are_the_whole_and_everyone_expects_it() {
        let whole = Schedule::new(1_000, 3.0, 1_000_000_000, 5_000_000_000);
        let due = |part| {
            let share = Share {
                part,
                parts: 2,
                skew_ns: 5,
            };
            let mut schedule = whole.shared(Some(share));
            assert_eq!(schedule.shared, Some(15));
            std::iter::from_fn(move || schedule.take_due(u64::MAX)).collect::<Vec<_>>()
        };
        let mut both = [due(0), due(1)].concat();
        both.sort_unstable();
        let mut alone = whole;
        let expected: Vec<_> = std::iter::from_fn(|| alone.take_due(u64::MAX)).collect();
        assert_eq!((both.len(), &both), (18, &expected));
    }

    #[test]
    fn a_clock_that_is_behind_by_less_than_its_bound_loses_nothing() {
        let share = Share {
            part: 0,
            parts: 1,
            skew_ns: 5,
        };
        let mut step = Step::new(Schedule::new(0, 1e9, 0, 100).shared(Some(share)), 1);
        step.count_delivery(10, 6);
        step.count_delivery(20, 6);
        assert_eq!((step.all_received, step.lost()), (1, 99));
    }

    #[test]
    fn only_what_is_due_after_the_warm_up_counts() {
        let mut step = Step::new(Schedule::new(0, 1e9, 100, 100), 2);
        for due in [50, 150] {
            step.count_sent(due);
            step.count_delivery(due, 300);
        }
        assert_eq!((step.lost(), step.all_received), (1, 2));
        assert_eq!(step.outcome(Vec::new()).delivery.count(), 1);
    }

    #[test]
    fn the_course_has_the_middle_of_each_tenth() {
        let mut step = Step::new(Schedule::new(0, 1e9, 0, 100), 1);
        for due in 0..100 {
            step.count_sent(due);
            step.count_delivery(due, due + 1000 + due / 50 * 1000);
        }
        let course = step.outcome(Vec::new()).course;
        assert_eq!(course.len(), PARTS);
        assert!((course[0] - 1.0).abs() < 1e-3 && (course[9] - 2.0).abs() < 1e-3);
    }
}
