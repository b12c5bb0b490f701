//! The line: a rate, SLIP, one packet at a time a direction, or one in all, or all on one medium.

use crate::energy::FRAMES;
use crate::medium::{Medium, Sensed, TURNAROUND_BYTES};
use crate::setting::{Duplex, Line, Setting};
use crate::time::{Nanos, SECOND};
use crate::way::Way;
use std::collections::VecDeque;
use weir_link::Framing;
use weir_random::Random;

/// Packets that the host's end keeps in its queue (`txqueuelen`). While it is full nobody sends, as Linux
/// holds back a socket whose packet finds no room; on a serial line nothing is lost.
const QUEUE_PACKETS: usize = 100;

/// What becomes of a packet that is to go.
pub(crate) enum Offered {
    /// It goes.
    Begins(Vec<u8>),
    /// Its end listens first, after so long.
    Senses(Nanos),
}

/// What has passed a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Packets of IP, both ways.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// Bytes of radio frames that the packets would take, each way.
    pub air_bytes: [u64; 2],
}

/// The line's state.
pub(crate) struct Wire {
    line: Line,
    duty: f64,
    medium: Medium,
    /// What waits at the host. The board has no queue: it makes a packet when the line is free.
    queue: VecDeque<Vec<u8>>,
    is_busy: [bool; 2],
    /// Until when an end that has talked its share is silent.
    silent_until: [Nanos; 2],
    /// Who talked last, on a line where one talks at a time.
    last: Way,
    /// What it has carried.
    pub(crate) passed: Passed,
    random: Random,
}

impl Wire {
    pub(crate) fn new(setting: &Setting, seed: u64) -> Self {
        Self {
            line: setting.line,
            duty: setting.duty,
            medium: Medium::default(),
            queue: VecDeque::new(),
            is_busy: [false; 2],
            silent_until: [0; 2],
            last: Way::Out,
            passed: Passed::default(),
            random: Random::new(seed),
        }
    }

    /// A client's packet waits for the line.
    pub(crate) fn enqueue(&mut self, packet: Vec<u8>) {
        self.queue.push_back(packet);
    }

    /// Whether a client may send.
    pub(crate) fn has_room(&self) -> bool {
        self.queue.len() < QUEUE_PACKETS
    }

    pub(crate) fn next_waiting(&mut self) -> Option<Vec<u8>> {
        self.queue.pop_front()
    }

    /// Whether a packet may go this way now, or try to.
    pub(crate) fn is_free(&self, way: Way, now: Nanos) -> bool {
        if now < self.silent_until[way as usize] {
            return false;
        }
        match self.line.duplex {
            Duplex::Shared => self.medium.is_idle(way),
            Duplex::Full => !self.is_busy[way as usize],
            Duplex::Half => self.is_busy == [false; 2],
        }
    }

    /// Who is asked first: on a line where one talks at a time, who did not talk last.
    pub(crate) fn order(&self) -> [Way; 2] {
        match self.last {
            Way::In => [Way::Out, Way::In],
            Way::Out => [Way::In, Way::Out],
        }
    }

    /// The time that so many bytes take.
    fn time(&self, bytes: u64) -> Nanos {
        bytes * SECOND / Nanos::from(self.line.rate)
    }

    /// A packet is to go where [`is_free`](Self::is_free) says so: at once, or once the end has listened.
    pub(crate) fn offer(&mut self, way: Way, packet: Vec<u8>) -> Offered {
        match self.line.duplex {
            Duplex::Shared => {
                let bytes = self.medium.offer(way, packet, &mut self.random);
                Offered::Senses(self.time(bytes))
            }
            Duplex::Half | Duplex::Full => Offered::Begins(packet),
        }
    }

    /// An end listens to the shared medium: when it talks, or listens again; nothing where it gives up.
    pub(crate) fn sense(&mut self, way: Way) -> Option<(Nanos, bool)> {
        match self.medium.sense(way, &mut self.random) {
            Sensed::Clear => Some((self.time(TURNAROUND_BYTES), true)),
            Sensed::Again(bytes) => Some((self.time(bytes), false)),
            Sensed::Dropped => {
                self.passed.lost += 1;
                None
            }
        }
    }

    /// An end talks on the shared medium.
    pub(crate) fn talk(&mut self, way: Way) -> Option<Vec<u8>> {
        self.medium.talk(way)
    }

    /// A packet begins to go; how long it takes, and whether it arrives unless it collides.
    pub(crate) fn begin(&mut self, way: Way, now: Nanos, packet: &[u8]) -> (Nanos, bool) {
        self.is_busy[way as usize] = true;
        self.last = way;
        self.passed.packets += 1;
        self.passed.bytes += packet.len() as u64;
        self.passed.air_bytes[way as usize] += FRAMES.wire_bytes(packet);
        let took = self.time(Framing::Slip.wire_bytes(packet));
        if self.duty < 1.0 {
            self.silent_until[way as usize] = now + (took as f64 / self.duty) as Nanos;
        }
        let is_lost = self.line.loss > 0.0 && self.random.chance(self.line.loss);
        self.passed.lost += u64::from(is_lost);
        (took, !is_lost)
    }

    /// When an end that is silent by its duty cycle may talk again.
    pub(crate) fn silence(&self, way: Way, now: Nanos) -> Option<Nanos> {
        let until = self.silent_until[way as usize];
        (until > now).then_some(until)
    }

    /// The packet is through; whether it did not collide.
    pub(crate) fn end(&mut self, way: Way) -> bool {
        self.is_busy[way as usize] = false;
        let is_collided = self.medium.end(way);
        self.passed.lost += u64::from(is_collided);
        !is_collided
    }
}
