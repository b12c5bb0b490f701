//! What is counted of a run, and the paper's metrics (section 4.3).

use crate::energy::{INSTRUCTIONS_A_SECOND, Work};
use crate::line::Passed;
use crate::time::{Nanos, SECOND};
use std::collections::HashMap;
use weir_comet::Counters;

/// Instructions that a packet costs the board, in and out: means of an earlier prototype under QEMU's
/// instruction counter. That of a byte on the line is assumed. They make SP an estimate, and nothing else.
const INSTRUCTIONS_IN: f64 = 2_700.0;
const INSTRUCTIONS_OUT: f64 = 1_100.0;
const INSTRUCTIONS_BYTE: f64 = 50.0;

/// The metrics of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Mean publish trip time, seconds: from publication to the first reception, over unique receptions.
    pub mpt: f64,
    /// Messages received, percent of those published for each client.
    pub rpm: f64,
    /// Unique messages received, percent.
    pub rupm: f64,
    /// Messages received, percent of those the server sent.
    pub rmp: f64,
    /// Packets a second on the line, both ways.
    pub ntp: f64,
    /// KiB a second on the line, both ways, of IP.
    pub ntb: f64,
    /// Share of the time in which a client holds the newest, percent.
    pub mct: f64,
    /// Load of the board's processor, percent, by the model above.
    pub sp: f64,
    /// Segments that repeated what was sent, percent of all that the board sent.
    pub repeated: f64,
    /// Connections that the board reset.
    pub resets: f64,
    /// Connections that clients had to make again.
    pub broken: f64,
    /// Packets that the line lost, percent: by its loss, by collision, or because it was busy too long.
    pub lost: f64,
    /// Millijoules of the board for each unique reception, the radio asleep between packets.
    pub energy: f64,
    /// The same, the radio listening whenever it does not send.
    pub energy_listening: f64,
}

/// Publications and who heard them when.
pub(crate) struct Tally {
    clients: usize,
    duration: Nanos,
    /// Times of publications, in order.
    published: Vec<Nanos>,
    numbers: HashMap<String, usize>,
    /// For each publication that is measured, when each client heard it first.
    first_heard: Vec<Vec<Nanos>>,
    has_heard: Vec<bool>,
    silent: usize,
    begun: Option<Snapshot>,
    ended: Option<Snapshot>,
    received: u64,
    received_at_end: u64,
    pub(crate) broken: u64,
}

/// The counters at a moment.
#[derive(Clone, Copy)]
struct Snapshot {
    at: Nanos,
    passed: Passed,
    counters: Counters,
    received: u64,
    publications: usize,
}

impl Tally {
    /// Of so many clients, measured for so long.
    pub(crate) fn new(clients: usize, duration: Nanos) -> Self {
        Self {
            clients,
            duration,
            published: Vec::new(),
            numbers: HashMap::new(),
            first_heard: Vec::new(),
            has_heard: vec![false; clients],
            silent: clients,
            begun: None,
            ended: None,
            received: 0,
            received_at_end: 0,
            broken: 0,
        }
    }

    pub(crate) fn published(&mut self, now: Nanos, text: String) {
        self.numbers.insert(text, self.published.len());
        self.published.push(now);
        self.first_heard.push(Vec::new());
    }

    /// It is known more exactly when something was published.
    pub(crate) fn correct(&mut self, text: &str, at: Nanos) {
        if let Some(&number) = self.numbers.get(text) {
            self.published[number] = at;
        }
    }

    pub(crate) fn heard(&mut self, client: usize, now: Nanos, text: &str) {
        if !std::mem::replace(&mut self.has_heard[client], true) {
            self.silent -= 1;
        }
        self.received += 1;
        let Some(&number) = self.numbers.get(text) else {
            return;
        };
        if self.is_measured(number) {
            self.received_at_end += 1;
            let heard = &mut self.first_heard[number];
            heard.resize(self.clients, Nanos::MAX);
            heard[client] = heard[client].min(now);
        }
    }

    /// Whether a publication was made while it is measured.
    fn is_measured(&self, number: usize) -> bool {
        let first = self.begun.map_or(usize::MAX, |begun| begun.publications);
        let end = self.ended.map_or(usize::MAX, |ended| ended.publications);
        (first..end).contains(&number)
    }

    fn snapshot(&self, at: Nanos, passed: Passed, counters: Counters) -> Snapshot {
        Snapshot {
            at,
            passed,
            counters,
            received: self.received,
            publications: self.published.len(),
        }
    }

    /// Begins to measure once everybody has heard something, or it is late.
    pub(crate) fn begin(&mut self, now: Nanos, is_late: bool, passed: Passed, counters: Counters) {
        if self.begun.is_none() && (self.silent == 0 || is_late) {
            self.begun = Some(self.snapshot(now, passed, counters));
        }
    }

    /// Ends to measure after the setting's time.
    pub(crate) fn end(&mut self, now: Nanos, passed: Passed, counters: Counters) {
        let is_due = self
            .begun
            .is_some_and(|begun| now >= begun.at + self.duration);
        if self.ended.is_none() && is_due {
            self.ended = Some(self.snapshot(now, passed, counters));
        }
    }

    /// Whether it is being measured, or has been.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Whether what was published meanwhile has had so long to be heard.
    pub(crate) fn is_over(&self, now: Nanos, drain: Nanos) -> bool {
        self.ended.is_some_and(|ended| now >= ended.at + drain)
    }

    pub(crate) fn figures(&self, counters: Counters) -> Figures {
        let (Some(begun), Some(ended)) = (self.begun, self.ended) else {
            return Figures::none();
        };
        let measured = begun.publications..ended.publications;
        let expected = (measured.len() * self.clients).max(1) as f64;
        let (mut unique, mut trips, mut coherent, mut whole) = (0u64, 0.0, 0.0, 0.0);
        for number in measured {
            let published = self.published[number];
            let next = self.published.get(number + 1).copied().unwrap_or(published);
            whole += (next - published) as f64 * self.clients as f64;
            for &heard in self.first_heard[number]
                .iter()
                .filter(|&&at| at < Nanos::MAX)
            {
                unique += 1;
                trips += (heard - published) as f64 / SECOND as f64;
                coherent += next.saturating_sub(heard) as f64;
            }
        }
        let seconds = (ended.at - begun.at) as f64 / SECOND as f64;
        let packets = (ended.passed.packets - begun.passed.packets) as f64;
        let bytes = (ended.passed.bytes - begun.passed.bytes) as f64;
        let out = f64::from(ended.counters.segments - begun.counters.segments);
        let repeated = f64::from(ended.counters.repeated - begun.counters.repeated);
        let sent = f64::from(ended.counters.messages - begun.counters.messages);
        let received = (ended.received - begun.received) as f64;
        let instructions = (packets - out).max(0.0) * INSTRUCTIONS_IN
            + out * INSTRUCTIONS_OUT
            + bytes * INSTRUCTIONS_BYTE;
        let air_bytes =
            [0, 1].map(|way| (ended.passed.air_bytes[way] - begun.passed.air_bytes[way]) as f64);
        let work = Work {
            seconds,
            instructions,
            air_bytes,
        };
        Figures {
            mpt: trips / unique.max(1) as f64,
            rpm: 100.0 * self.received_at_end as f64 / expected,
            rupm: 100.0 * unique as f64 / expected,
            rmp: 100.0 * received / sent.max(1.0),
            ntp: packets / seconds,
            ntb: bytes / 1_024.0 / seconds,
            mct: 100.0 * coherent / whole.max(1.0),
            sp: 100.0 * instructions / INSTRUCTIONS_A_SECOND / seconds,
            repeated: 100.0 * repeated / out.max(1.0),
            resets: f64::from(counters.resets),
            broken: self.broken as f64,
            lost: 100.0 * (ended.passed.lost - begun.passed.lost) as f64 / packets.max(1.0),
            energy: work.energy_mj() / unique as f64,
            energy_listening: work.energy_listening_mj() / unique as f64,
        }
    }
}

impl Figures {
    /// Of a run in which nothing was measured.
    fn none() -> Self {
        Self {
            mpt: f64::NAN,
            rpm: 0.0,
            rupm: 0.0,
            rmp: 0.0,
            ntp: 0.0,
            ntb: 0.0,
            mct: 0.0,
            sp: 0.0,
            repeated: 0.0,
            resets: 0.0,
            broken: 0.0,
            lost: 0.0,
            energy: f64::NAN,
            energy_listening: f64::NAN,
        }
    }

    /// Name, unit and value of each.
    pub fn all(&self) -> [(&'static str, &'static str, f64); 14] {
        [
            ("MPT", "s", self.mpt),
            ("RPM", "%", self.rpm),
            ("RUPM", "%", self.rupm),
            ("RMP", "%", self.rmp),
            ("NTP", "packets/s", self.ntp),
            ("NTB", "KiB/s", self.ntb),
            ("MCT", "%", self.mct),
            ("SP", "%", self.sp),
            ("repeated", "%", self.repeated),
            ("resets", "connections", self.resets),
            ("broken", "connections", self.broken),
            ("lost", "%", self.lost),
            ("energy", "mJ", self.energy),
            ("energy-listening", "mJ", self.energy_listening),
        ]
    }
}
