//! Carries packets one way: reads them off a device, lets the pipe decide, hands them on in time.

use super::sys::{self, Bell, Tun};
use super::{Books, lock};
use crate::limits::PACKET_BYTES_MAX;
use crate::medium::Medium;
use crate::pipe::{Fate, Pipe};
use crate::profile::Profile;
use crate::{Nanos, Way};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Packets read or written before the other is looked at.
const BATCH: usize = 64;
/// The last stretch before a deadline is not slept but watched, where packets are few.
const WATCH: Nanos = 80_000;
/// Where packets are dense they are handled this often.
const QUANTUM: Nanos = 100_000;
/// Packets in [`WINDOW`] up to which each gets its own wake-up to the microsecond.
const FEW: u64 = 50;
/// Packets in [`WINDOW`] from which they are dense.
const DENSE: u64 = 500;
/// Over how long packets are counted for that.
const WINDOW: Nanos = 50_000_000;

/// What decides one way; changed while packets are on it.
pub(super) struct Lane {
    pipe: Pipe,
    medium: Arc<Mutex<Medium>>,
    pub(super) lateness: Lateness,
}

impl Lane {
    pub(super) fn new(profile: &Profile, way: Way, base: Nanos, seed: u64) -> Self {
        let direction = profile.direction(way);
        // Each direction has a stream of its own.
        let seed = seed.wrapping_mul(2).wrapping_add(way as u64);
        Self {
            pipe: Pipe::new(direction, base, seed),
            medium: Arc::new(Mutex::new(Medium::new(direction.rate.clone()))),
            lateness: Lateness::default(),
        }
    }

    /// The same on another's medium.
    pub(super) fn beside(mut self, other: &Lane) -> Self {
        self.medium = other.medium.clone();
        self
    }

    pub(super) fn change(&mut self, other: &Lane) {
        self.pipe = other.pipe.clone();
        self.medium = other.medium.clone();
        self.lateness = Lateness::default();
    }

    fn offer(&mut self, now: Nanos, packet: &[u8]) -> Fate {
        self.pipe.offer(&mut lock(&self.medium), now, packet)
    }
}

/// How late packets were handed on, to the microsecond up to 4 ms.
pub(super) struct Lateness(Box<[u64; 4096]>);

impl Default for Lateness {
    fn default() -> Self {
        Self(Box::new([0; 4096]))
    }
}

impl Lateness {
    fn record(&mut self, late: Nanos) {
        let micros = (late / 1_000) as usize;
        self.0[micros.min(self.0.len() - 1)] += 1;
    }

    pub(super) fn p99(&self) -> Nanos {
        let all: u64 = self.0.iter().sum();
        let mut beyond = all / 100;
        for (micros, &count) in self.0.iter().enumerate().rev() {
            if count > beyond {
                return micros as Nanos * 1_000;
            }
            beyond -= count;
        }
        0
    }
}

/// A direction and its devices.
pub(super) struct Conveyor {
    pub(super) way: Way,
    pub(super) input: Tun,
    pub(super) output: Tun,
    pub(super) lane: Arc<Mutex<Lane>>,
    pub(super) books: Arc<Books>,
    pub(super) stop: Arc<Bell>,
}

/// Packets on their way, in order, and buffers of those that have gone.
#[derive(Default)]
struct Belt {
    due: VecDeque<(Nanos, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
    traffic: Traffic,
}

/// How many packets there were lately.
#[derive(Default)]
struct Traffic {
    window: Nanos,
    now: u64,
    before: u64,
}

impl Traffic {
    fn count(&mut self, now: Nanos) {
        let window = now / WINDOW;
        if window != self.window {
            self.before = if window == self.window + 1 {
                self.now
            } else {
                0
            };
            (self.window, self.now) = (window, 0);
        }
        self.now += 1;
    }

    fn recent(&self) -> u64 {
        self.now.max(self.before)
    }
}

impl Conveyor {
    /// Until the bell rings.
    pub(super) fn run(self) {
        sys::be_punctual();
        let mut belt = Belt::default();
        let mut buffer = vec![0; PACKET_BYTES_MAX];
        loop {
            self.hand_on(&mut belt);
            let more = self.take(&mut belt, &mut buffer);
            if !more && self.wait(&belt) {
                return;
            }
        }
    }

    /// Hands on what is due.
    fn hand_on(&self, belt: &mut Belt) {
        for _ in 0..BATCH {
            let now = self.books.now();
            let Some(&(at, _)) = belt.due.front() else {
                return;
            };
            if at > now {
                return;
            }
            if let Some((_, packet)) = belt.due.pop_front() {
                // An end that is not up any more takes nothing; neither would a cable.
                let _gone = self.output.write(&packet);
                lock(&self.lane).lateness.record(now - at);
                belt.spare.push(packet);
            }
        }
    }

    /// Takes in what has come; whether there may be more.
    fn take(&self, belt: &mut Belt, buffer: &mut [u8]) -> bool {
        for _ in 0..BATCH {
            let Ok(Some(length)) = self.input.read(buffer) else {
                return false;
            };
            let now = self.books.now();
            let packet = &buffer[..length];
            belt.traffic.count(now);
            let fate = lock(&self.lane).offer(now, packet);
            self.note(now, packet, fate);
            if let Fate::Arrives(at) = fate {
                let mut kept = belt.spare.pop().unwrap_or_default();
                kept.clear();
                kept.extend_from_slice(packet);
                belt.due.push_back((at, kept));
            }
        }
        true
    }

    fn note(&self, now: Nanos, packet: &[u8], fate: Fate) {
        lock(&self.books.ledger).count(self.way, packet, fate);
        if let Some(capture) = lock(&self.books.capture).as_mut() {
            // A full disk ends the capture, not the link.
            let _as_far_as_possible = capture.packet(self.way, now, packet, fate);
        }
    }

    /// Waits for a packet or the next deadline; whether the bell rang.
    fn wait(&self, belt: &Belt) -> bool {
        let recent = belt.traffic.recent();
        let Some(&(at, _)) = belt.due.front() else {
            return self.poll(None, true);
        };
        let span = at.saturating_sub(self.books.now());
        match recent {
            recent if recent > DENSE => self.poll(Some(span.max(QUANTUM)), false),
            recent if recent > FEW => self.poll(Some(span), true),
            _ if span > WATCH => self.poll(Some(span - WATCH), true),
            _ => {
                while self.books.now() < at {
                    std::hint::spin_loop();
                }
                false
            }
        }
    }

    fn poll(&self, timeout: Option<Nanos>, for_input: bool) -> bool {
        let timeout = timeout.map(|nanos| Timespec {
            tv_sec: (nanos / 1_000_000_000) as i64,
            tv_nsec: (nanos % 1_000_000_000) as _,
        });
        let mut fds = [
            PollFd::new(&*self.stop, PollFlags::IN),
            PollFd::new(&self.input, PollFlags::IN),
        ];
        let fds = if for_input {
            &mut fds[..]
        } else {
            &mut fds[..1]
        };
        // Interrupted: the caller looks again.
        let _interrupted = poll(fds, timeout.as_ref());
        fds[0].revents().contains(PollFlags::IN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_has_its_percentile() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.p99(), 0);
        (0..990).for_each(|_| lateness.record(5_999));
        (0..10).for_each(|_| lateness.record(70_000_000));
        assert_eq!(lateness.p99(), 5_000);
        lateness.record(70_000_000);
        assert_eq!(lateness.p99(), 4_095_000);
    }

    #[test]
    fn traffic_of_the_last_window_counts_still() {
        let mut traffic = Traffic::default();
        (0..7).for_each(|_| traffic.count(1));
        traffic.count(WINDOW);
        assert_eq!(traffic.recent(), 7);
        traffic.count(3 * WINDOW);
        assert_eq!(traffic.recent(), 1);
    }
}
