//! Who publishes and who reads, and what each holds against the machine.

use crate::house::{Plain, everyone, publication, wait};
use crate::machine::Machine;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weir_codec::by_name;
use weir_hub::{InUnit, Next, Past, Shape, Since, Subscribe, Ticket};
use weir_model::{Cursor, Filter, Time};

/// Numbers of a topic begin at its own multiple of this.
const APART: u64 = 1_000_000;

/// Publishes numbers under keys, and tries each again until it is acknowledged.
pub(crate) struct Publisher {
    at: u64,
    /// The first number that was not acknowledged.
    pub(crate) next: u64,
    /// The first that was never tried.
    tried: u64,
    /// How many history has, at the end.
    pub(crate) kept: Cell<u64>,
}

impl Publisher {
    pub(crate) fn new(at: u64) -> Self {
        Self {
            at,
            next: 0,
            tried: 0,
            kept: Cell::new(0),
        }
    }

    fn topic(&self) -> String {
        format!("kept/{}", self.at)
    }

    /// Some numbers at once, and all that were tried before, whose keys the log may forget; then `meanwhile`,
    /// then waits; says whether all were acknowledged.
    pub(crate) fn publish(
        &mut self,
        machine: &Machine,
        count: u64,
        meanwhile: impl FnOnce(),
    ) -> bool {
        let end = self.tried.max(self.next + count);
        self.tried = end;
        let tickets: Vec<_> = (self.next..end)
            .map_while(|number| self.ask(machine, number))
            .collect();
        meanwhile();
        for ticket in tickets {
            if wait(|cx| ticket.poll(cx)).is_err() {
                return false;
            }
            self.next += 1;
        }
        self.next == end
    }

    fn ask(&self, machine: &Machine, number: u64) -> Option<Ticket> {
        let mut body = format!("{{\"value\":{}}}", self.at * APART + number);
        // So long that the log comes to drop some.
        body.extend(std::iter::repeat_n(' ', 200));
        let mut publish = publication(&self.topic(), &body);
        publish.key = Some(format!("{}-{number}", self.at).into_bytes());
        let asked = machine
            .hub()
            .caller(machine.now(), &everyone())
            .and_then(|caller| caller.publish(publish));
        asked.ok()
    }

    /// History has what was acknowledged, once and in order, and at most what was under way besides.
    pub(crate) fn check(&self, machine: &Machine, seed: u64) {
        machine.hub().feed().unwrap();
        let (mut kept, mut page) = (Vec::new(), None);
        loop {
            let past = Past {
                filters: vec![Filter::parse(&self.topic()).unwrap()],
                from: Time::from_nanos(i64::MIN),
                to: Time::from_nanos(i64::MAX),
                limit: 50,
                page,
                aggregate: None,
                unit: InUnit::AsMade,
            };
            let asked = machine
                .hub()
                .caller(machine.now(), &everyone())
                .and_then(|caller| caller.history(&past));
            let answer = asked.unwrap();
            kept.extend(
                answer
                    .batch
                    .rows()
                    .map(|row| row.value.number().unwrap() as u64),
            );
            page = answer.next;
            if page.is_none() {
                break;
            }
        }
        let count = kept.len() as u64;
        assert!(
            (self.next..=self.tried).contains(&count),
            "seed {seed}: {} acknowledged, {} tried, kept {kept:?}",
            self.next,
            self.tried
        );
        let due = self.at * APART..self.at * APART + count;
        assert!(kept.iter().copied().eq(due), "seed {seed}: {kept:?}");
        self.kept.set(count);
    }
}

/// Reads all topics, and takes up where it was.
#[derive(Default)]
pub(crate) struct Client {
    cursor: Cursor,
    /// By topic, the number that is due.
    due: BTreeMap<u64, u64>,
    /// Of which topics a number may be missing or come again.
    excused: BTreeMap<u64, bool>,
    pub(crate) delivered: u64,
    pub(crate) gaps: u64,
    wrong: Vec<String>,
}

impl Client {
    /// Connects, takes what is there, and is cut off.
    pub(crate) fn takes(&mut self, machine: &Machine) {
        let shape = Shape::Framed(by_name("plain").unwrap(), Arc::new(Plain));
        let wish = Subscribe {
            since: Since::Cursor(self.cursor),
            ..Subscribe::new(vec![Filter::parse("kept/#").unwrap()], shape)
        };
        let asked = machine
            .hub()
            .caller(machine.now(), &everyone())
            .and_then(|caller| caller.subscribe(wish));
        let Ok(mut subscription) = asked else {
            return;
        };
        let mut idle = 0;
        while idle < 2 {
            match subscription.poll_next(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(Next::Bytes(bytes, cursor))) => {
                    self.takes_in(std::str::from_utf8(&bytes).unwrap());
                    (self.cursor, idle) = (cursor, 0);
                }
                Poll::Ready(_) => return,
                // After many records it goes on at the next poll.
                Poll::Pending => idle += 1,
            }
        }
    }

    fn takes_in(&mut self, text: &str) {
        for frame in text.split_terminator(';') {
            if frame.starts_with("gap ") {
                self.gaps += 1;
                self.excused = self.due.keys().map(|&at| (at, true)).collect();
                continue;
            }
            let (_, numbers) = frame.split_once(' ').unwrap();
            for number in numbers.lines() {
                self.takes_one(number.parse().unwrap());
            }
        }
    }

    fn takes_one(&mut self, number: u64) {
        let (at, number) = (number / APART, number % APART);
        let is_excused = self.excused.insert(at, false) == Some(true);
        let due = self.due.insert(at, number + 1).unwrap_or(0);
        if number != due && !is_excused {
            self.wrong
                .push(format!("kept/{at}: {number} came where {due} was due"));
        }
        self.delivered += 1;
    }

    pub(crate) fn check(&self, publisher: &Publisher, seed: u64) {
        assert!(
            self.wrong.is_empty(),
            "seed {seed}, no gap was told: {:?}",
            self.wrong
        );
        let due = self.due.get(&publisher.at).copied().unwrap_or(0);
        let is_excused = self.excused.get(&publisher.at) == Some(&true);
        let kept = publisher.kept.get();
        assert!(due == kept || is_excused, "seed {seed}: {due} of {kept}");
    }
}
