//! Publishers and subscribers in one loop: offers a rate, counts what arrives and how late.
//!
//! The schedule is absolute: message k is due at start + k / rate whatever happened before, and
//! its latency counts from then (no coordinated omission). The clock is looked at after every
//! read, so that a thousand readable subscribers do not delay a message that is due.

use std::net::SocketAddr;

use super::connect::{Opening, open_all};
use super::job::{Event, SHARED_START_NS, TrafficOutcome, TrafficPlan};
use super::message::Template;
use super::observer::{self, leave_all};
use super::publisher::{Answer, Publisher};
use super::reactor::{Reactor, Readiness};
use super::receiver::Receiver;
use super::search;
use super::stamp::Scanner;
use super::subscriber::Subscriber;
use super::wire::SubscribeWire;
use step::{Schedule, Step};
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::{
    DRAIN_MS_MAX, DRAIN_QUIET_MS, PUBLISH_BACKLOG_BYTES_MAX, READ_BYTES_MAX,
};
use weir_bench_model::own::STAMP_BASE;
use weir_bench_model::pace::Pace;

mod step;

const MS: u64 = 1_000_000;
/// Nanoseconds before a message is due and after the last event during which a fixed rate's loop
/// looks without sleeping: waking an idle processor takes 40 us on a virtual machine, which is the
/// load's own lateness and not the target's.
const SPIN_NS: u64 = 150_000;
/// Milliseconds between the last connection's opening and the first message.
const SETTLE_MS: u64 = 200;

/// Runs a plan of traffic against a target.
pub fn run(address: SocketAddr, plan: &TrafficPlan) -> Result<TrafficOutcome, String> {
    let mut traffic = Traffic::open(address, plan)?;
    if plan.share.is_some() {
        super::emit(&Event::Ready);
        traffic.count_from(super::await_orchestrator());
    }
    let outcome = traffic.measure()?;
    traffic.leave()?;
    Ok(outcome)
}

/// All connections of one load and what they are counted into.
pub struct Traffic<'a> {
    plan: &'a TrafficPlan,
    address: SocketAddr,
    reactor: Reactor,
    publishers: Vec<Publisher>,
    subscribers: Vec<Receiver>,
    template: Template,
    scanner: Scanner,
    buffer: Vec<u8>,
    base: u64,
    next_publisher: usize,
    /// Outstanding messages a publisher, while a window is kept.
    window: usize,
    /// Whether the loop spins rather than sleeps for [`SPIN_NS`].
    spins: bool,
    last_event: u64,
    /// Requests of subscribers that poll.
    polls: Option<Polls>,
    /// What the current step counts.
    pub step: Step,
    /// Whether the orchestrator is told when counting begins and ends.
    pub announces: bool,
    /// Latency beyond which a trial is given up, nanoseconds.
    pub give_up_ns: u64,
}

/// Who polls next, and when: one after the other, evenly over the interval.
struct Polls {
    begin: u64,
    interval_ns: u64,
    next: u64,
}

impl Polls {
    fn due(&self, subscribers: usize) -> u64 {
        let passed = u128::from(self.next) * u128::from(self.interval_ns);
        self.begin + (passed / subscribers.max(1) as u128) as u64
    }
}

impl<'a> Traffic<'a> {
    fn open(address: SocketAddr, plan: &'a TrafficPlan) -> Result<Self, String> {
        let mut traffic = Self {
            plan,
            address,
            reactor: Reactor::new()?,
            publishers: Vec::new(),
            subscribers: Vec::new(),
            template: Template::new(&plan.publish, plan.body),
            scanner: Scanner::new(),
            buffer: vec![0; READ_BYTES_MAX],
            base: now_ns(),
            next_publisher: 0,
            window: 0,
            spins: matches!(plan.pace, Pace::Open { .. }),
            last_event: 0,
            polls: None,
            step: Step::default(),
            announces: false,
            give_up_ns: u64::MAX,
        };
        traffic.open_publishers()?;
        traffic.open_subscribers()?;
        traffic.begin_to_poll();
        traffic.turn_until(traffic.elapsed() + SETTLE_MS * MS)?;
        Ok(traffic)
    }

    /// Does what the plan says.
    fn measure(&mut self) -> Result<TrafficOutcome, String> {
        match self.plan.pace {
            Pace::Window {
                outstanding,
                warm_up_ms,
                measure_ms,
            } => {
                self.window(outstanding, warm_up_ms, measure_ms)?;
                Ok(self.outcome())
            }
            Pace::Open {
                rate,
                warm_up_ms,
                measure_ms,
            } => {
                self.announces = true;
                self.open_loop(rate, warm_up_ms, measure_ms)?;
                Ok(self.outcome())
            }
            Pace::Search {
                start_rate,
                trial_ms,
                measure_ms,
                p99_ms_max,
            } => {
                let limits = search::Limits {
                    start_rate,
                    trial_ms,
                    measure_ms,
                    p99_ms_max,
                };
                self.give_up_ns = (p99_ms_max * 1e6 * 10.0) as u64;
                search::run(self, &limits)
            }
        }
    }

    /// Tells a target what it cannot see: that those are gone who have no connection.
    fn leave(&mut self) -> Result<(), String> {
        let all = std::mem::take(&mut self.subscribers).into_iter();
        leave_all(all.filter_map(Receiver::observer).collect())
    }

    fn open_publishers(&mut self) -> Result<(), String> {
        let (wire, reactor, publishers) = (&self.plan.publish, &self.reactor, &mut self.publishers);
        let opening = |number| Opening::of_publisher(wire, number);
        open_all(
            self.address,
            0..self.plan.publishers,
            opening,
            |index, stream| {
                let socket = reactor.add(stream, index as u64)?;
                publishers.push(Publisher::new(socket, wire));
                Ok(())
            },
        )
    }

    fn open_subscribers(&mut self) -> Result<(), String> {
        let Some(wire) = &self.plan.subscribe else {
            return Ok(());
        };
        let address = self.plan.subscribe_at.unwrap_or(self.address);
        let (reactor, subscribers) = (&self.reactor, &mut self.subscribers);
        let first = self.publishers.len();
        if let SubscribeWire::Observe { path } = wire {
            let opened = observer::open_all(address, path, self.plan.subscribers, (reactor, first));
            let opened = opened.map_err(|e| format!("subscribing, {e}"))?;
            subscribers.extend(opened.into_iter().map(Receiver::Observing));
            return Ok(());
        }
        let opening = |number| Opening::of_subscriber(wire, number);
        let numbers = 0..self.plan.subscribers;
        open_all(address, numbers, opening, |index, stream| {
            let socket = reactor.add(stream, (first + index) as u64)?;
            subscribers.push(Receiver::Connected(Subscriber::new(socket, wire)));
            Ok(())
        })
        .map_err(|e| format!("subscribing, {e}"))
    }

    /// Subscribers whose connection the target has closed.
    pub fn closed(&self) -> usize {
        self.subscribers.iter().filter(|s| s.is_closed()).count()
    }

    /// Opens all subscribers anew, so that no trial inherits the backlog of one that failed.
    pub fn reopen(&mut self) -> Result<(), String> {
        self.leave()?;
        self.open_subscribers()?;
        self.turn_until(self.elapsed() + SETTLE_MS * MS)
    }

    /// Offers `rate` messages a second on schedule, counts those due after the warm-up, drains.
    pub fn open_loop(&mut self, rate: f64, warm_up_ms: u64, measure_ms: u64) -> Result<(), String> {
        let schedule = Schedule::new(self.start(), rate, warm_up_ms * MS, measure_ms * MS);
        let schedule = schedule.shared(self.plan.share);
        self.step = Step::new(schedule, self.subscribers.len() as u64);
        while let Some(due) = self.step.schedule.next_due() {
            let now = self.elapsed();
            if now >= due {
                self.publish_due(now);
            }
            self.announce_begin(now);
            if self.overrun() {
                self.step.overrun = true;
                break;
            }
            let due = self.step.schedule.next_due().unwrap_or(now);
            self.turn(Some(due.saturating_sub(now)))?;
        }
        self.announce_end();
        self.drain()
    }

    /// Keeps `outstanding` messages a publisher unanswered; counts answers after the warm-up.
    fn window(
        &mut self,
        outstanding: usize,
        warm_up_ms: u64,
        measure_ms: u64,
    ) -> Result<(), String> {
        self.turn_until(self.start())?;
        let start = self.elapsed();
        let schedule = Schedule::new(start, 1.0, warm_up_ms * MS, measure_ms * MS);
        self.step = Step::new(schedule, 0);
        self.announces = true;
        self.window = outstanding;
        for index in 0..self.publishers.len() {
            self.refill(index, outstanding);
        }
        let end = self.step.schedule.end;
        loop {
            let now = self.elapsed();
            self.announce_begin(now);
            if now >= end {
                break;
            }
            self.turn(Some(end - now))?;
        }
        self.window = 0;
        self.announce_end();
        self.drain()
    }

    fn refill(&mut self, index: usize, count: usize) {
        let now = self.elapsed();
        let publisher = &mut self.publishers[index];
        for _ in 0..count {
            publisher.push(&mut self.template, now);
            self.step.count_sent(now);
        }
        publisher.flush(&self.reactor);
    }

    fn publish_due(&mut self, now: u64) {
        let first = self.next_publisher;
        let mut count = 0;
        while let Some(due) = self.step.schedule.take_due(now) {
            self.publishers[self.next_publisher].push(&mut self.template, due);
            self.next_publisher = (self.next_publisher + 1) % self.publishers.len();
            self.step.count_sent(due);
            self.step.count_lag(due, now);
            count += 1;
        }
        for offset in 0..count.min(self.publishers.len()) {
            let index = (first + offset) % self.publishers.len();
            self.publishers[index].flush(&self.reactor);
        }
    }

    fn begin_to_poll(&mut self) {
        if let Some(SubscribeWire::Poll { interval_ms, .. }) = self.plan.subscribe {
            self.polls = Some(Polls {
                begin: self.elapsed(),
                interval_ns: interval_ms * MS,
                next: 0,
            });
        }
    }

    /// Has those poll whose turn it is; nanoseconds until the next one's.
    fn poll(&mut self) -> Option<u64> {
        let (polls, subscribers) = (self.polls.as_mut()?, &mut self.subscribers);
        let now = now_ns().saturating_sub(self.base);
        while polls.due(subscribers.len()) <= now {
            let place = polls.next as usize % subscribers.len().max(1);
            if let Some(subscriber) = subscribers.get_mut(place) {
                subscriber.ask(&self.reactor);
            }
            polls.next += 1;
        }
        Some(polls.due(subscribers.len()) - now)
    }

    fn turn(&mut self, timeout_ns: Option<u64>) -> Result<(), String> {
        let until_poll_ns = self.poll();
        let timeout_ns = [timeout_ns, until_poll_ns].into_iter().flatten().min();
        let mut ready: Vec<Readiness> = std::mem::take(&mut self.step.ready);
        self.reactor.wait(self.sleep_ns(timeout_ns), &mut ready);
        if self.spins && !ready.is_empty() {
            self.last_event = self.elapsed();
        }
        for readiness in &ready {
            self.serve(*readiness)?;
        }
        self.step.ready = ready;
        Ok(())
    }

    /// How much of a timeout is slept: nothing while an answer is likely or a message nearly due.
    fn sleep_ns(&self, timeout_ns: Option<u64>) -> Option<u64> {
        if !self.spins {
            return timeout_ns;
        }
        if self.elapsed().saturating_sub(self.last_event) < SPIN_NS {
            return Some(0);
        }
        timeout_ns.map(|timeout| timeout.saturating_sub(SPIN_NS))
    }

    fn turn_until(&mut self, end: u64) -> Result<(), String> {
        loop {
            let now = self.elapsed();
            if now >= end {
                return Ok(());
            }
            self.turn(Some(end - now))?;
        }
    }

    fn serve(&mut self, readiness: Readiness) -> Result<(), String> {
        let index = readiness.token as usize;
        if index < self.publishers.len() {
            return self.serve_publisher(index, readiness);
        }
        if readiness.writable {
            self.subscribers[index - self.publishers.len()].flush(&self.reactor);
        }
        if readiness.readable {
            self.serve_subscriber(index - self.publishers.len())?;
        }
        Ok(())
    }

    fn serve_publisher(&mut self, index: usize, readiness: Readiness) -> Result<(), String> {
        if readiness.writable {
            self.publishers[index].flush(&self.reactor);
        }
        if !readiness.readable {
            return Ok(());
        }
        let (base, step) = (self.base, &mut self.step);
        let mut answered = 0;
        let each = |answer: Answer| {
            answered += 1;
            step.count_answer(answer, now_ns().saturating_sub(base));
        };
        self.publishers[index].read(&mut self.buffer, each)?;
        if self.window > 0 {
            self.refill(index, answered);
        }
        Ok(())
    }

    fn serve_subscriber(&mut self, index: usize) -> Result<(), String> {
        let subscriber = &mut self.subscribers[index];
        if subscriber.is_closed() {
            return Ok(());
        }
        let (step, base) = (&mut self.step, self.base);
        let mut now = 0;
        let each = |stamp: u64, is_repeated: bool| {
            if now == 0 {
                now = now_ns().saturating_sub(base);
            }
            let due = stamp.wrapping_sub(STAMP_BASE);
            match is_repeated {
                true => step.count_repeated(due, now),
                false => step.count_delivery(due, now),
            }
        };
        let len = subscriber.read(&self.reactor, &mut self.buffer, &self.scanner, each)?;
        self.step.received_bytes += len as u64;
        if self.step.schedule.next_due().is_some_and(|due| now >= due) && self.window == 0 {
            self.publish_due(now);
        }
        Ok(())
    }

    /// What was counted.
    fn outcome(&mut self) -> TrafficOutcome {
        let mut outcome = self.step.outcome(Vec::new());
        outcome.repeated = outcome.repeated.filter(|_| self.polls.is_some());
        outcome
    }

    /// Waits until all is answered and delivered, or nothing comes any more.
    fn drain(&mut self) -> Result<(), String> {
        let end = self.elapsed() + DRAIN_MS_MAX * MS;
        let mut progress = (self.elapsed(), 0);
        loop {
            let now = self.elapsed();
            let unanswered: usize = self.publishers.iter().map(Publisher::unanswered).sum();
            if (unanswered == 0 && self.step.is_complete()) || now > end {
                return Ok(());
            }
            let seen = self.step.all_received + self.step.answered();
            if seen != progress.1 {
                progress = (now, seen);
            } else if now - progress.0 > DRAIN_QUIET_MS * MS {
                return Ok(());
            }
            self.turn(Some(20 * MS))?;
        }
    }

    fn overrun(&self) -> bool {
        let late = self.step.worst_delivery_ns > self.give_up_ns;
        late || self.publishers.iter().map(Publisher::unsent).sum::<usize>()
            > PUBLISH_BACKLOG_BYTES_MAX
    }

    fn announce_begin(&mut self, now: u64) {
        if self.announces && !self.step.announced && now >= self.step.schedule.count_from {
            self.step.announced = true;
            super::emit(&Event::Begin);
        }
    }

    fn announce_end(&self) {
        if self.announces {
            super::emit(&Event::End);
        }
    }

    /// Lets all times count from a moment that others count from too.
    fn count_from(&mut self, base: u64) {
        self.base = base;
        self.last_event = 0;
    }

    /// When the first message is due.
    fn start(&self) -> u64 {
        match self.plan.share {
            Some(_) => SHARED_START_NS,
            None => self.elapsed() + 2 * MS,
        }
    }

    fn elapsed(&self) -> u64 {
        now_ns().saturating_sub(self.base)
    }
}
