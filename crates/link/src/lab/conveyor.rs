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
use std::net::IpAddr;
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

/// Where packets to one end go, and what decides on the way there.
pub(super) struct Route {
    /// The number of the end in its addresses.
    number: u16,
    output: Tun,
    lane: Arc<Mutex<Lane>>,
    /// Packets on their way, in order.
    due: VecDeque<(Nanos, Vec<u8>)>,
}

impl Route {
    pub(super) fn to(number: u16, output: Tun, lane: Arc<Mutex<Lane>>) -> Self {
        let due = VecDeque::new();
        Self {
            number,
            output,
            lane,
            due,
        }
    }

    /// Whether a packet goes there: to its address, or to all by multicast.
    fn takes(&self, to: Option<IpAddr>) -> bool {
        let number = match to {
            None => return false,
            Some(to) if to.is_multicast() => return true,
            Some(IpAddr::V4(to)) => u16::from_be_bytes([to.octets()[2], to.octets()[3]]),
            Some(IpAddr::V6(to)) => to.segments()[7],
        };
        number == self.number
    }
}

/// One device's packets.
pub(super) struct Conveyor {
    pub(super) way: Way,
    pub(super) input: Tun,
    pub(super) books: Arc<Books>,
    pub(super) stop: Arc<Bell>,
}

/// Where packets are on their way, and buffers of those that have gone.
struct Belt {
    routes: Vec<Route>,
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
    pub(super) fn run(self, routes: Vec<Route>) {
        sys::be_punctual();
        let mut belt = Belt {
            routes,
            spare: Vec::new(),
            traffic: Traffic::default(),
        };
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
        for route in &mut belt.routes {
            for _ in 0..BATCH {
                let now = self.books.now();
                let is_due = route.due.front().is_some_and(|(at, _)| *at <= now);
                let next = if is_due { route.due.pop_front() } else { None };
                let Some((at, packet)) = next else {
                    break;
                };
                // An end that is not up any more takes nothing; neither would a cable.
                let _gone = route.output.write(&packet);
                lock(&route.lane).lateness.record(now - at);
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
            self.send(belt, &buffer[..length]);
        }
        true
    }

    /// Puts a packet on its way; a star's center has several.
    fn send(&self, belt: &mut Belt, packet: &[u8]) {
        let to = match belt.routes.len() {
            1 => None,
            _ => destination(packet),
        };
        let is_only = belt.routes.len() == 1;
        for route in &mut belt.routes {
            if !(is_only || route.takes(to)) {
                continue;
            }
            // Others may send by the same lane: its times are taken in its order.
            let mut lane = lock(&route.lane);
            let now = self.books.now();
            let fate = lane.offer(now, packet);
            drop(lane);
            belt.traffic.count(now);
            self.note(now, packet, fate);
            if let Fate::Arrives(at) = fate {
                let mut kept = belt.spare.pop().unwrap_or_default();
                kept.clear();
                kept.extend_from_slice(packet);
                route.due.push_back((at, kept));
            }
        }
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
        let fronts = belt.routes.iter().filter_map(|route| route.due.front());
        let Some(at) = fronts.map(|(at, _)| *at).min() else {
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

/// Where a packet of IP goes.
fn destination(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => Some(<[u8; 4]>::try_from(packet.get(16..20)?).ok()?.into()),
        6 => Some(<[u8; 16]>::try_from(packet.get(24..40)?).ok()?.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_goes_to_whom_it_is_addressed() {
        let mut v4 = [0; 20];
        (v4[0], v4[16], v4[17], v4[18], v4[19]) = (0x45, 10, 77, 1, 4);
        let to = destination(&v4);
        assert_eq!(to, Some(IpAddr::from([10, 77, 1, 4])));
        let mut v6 = [0; 40];
        (v6[0], v6[24], v6[25], v6[39]) = (0x60, 0xfd, 0x77, 3);
        assert_eq!(
            destination(&v6).map(|to| to.to_string()).as_deref(),
            Some("fd77::3")
        );
        assert_eq!(destination(&v4[..10]), None);
        assert_eq!(destination(&[]), None);
    }

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
