//! Carries packets one way: reads them off a device, lets the pipe decide, hands them on in time.

use super::books::{Books, lock};
use super::offload::{self, Cutter, Piece};
use super::sys::{self, Bell, Tun};
use crate::limits::PACKET_BYTES_MAX;
use crate::medium::Medium;
use crate::pipe::{Fate, Pipe};
use crate::profile::Profile;
use crate::time::Nanos;
use crate::way::Way;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// Frames read or written before the other is looked at.
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
    due: VecDeque<Parcel>,
}

/// A packet on its way.
struct Parcel {
    at: Nanos,
    packet: Vec<u8>,
    piece: Option<Piece>,
}

impl Parcel {
    fn continues(&self, before: &Parcel) -> bool {
        let pieces = self.piece.zip(before.piece);
        pieces.is_some_and(|(piece, before)| piece.continues(&before))
    }
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

    /// How many packets from the first on are due and go as one: those cut from one frame that arrive within
    /// a [`QUANTUM`], as a network card would tell of them. Slower links' packets each go alone, however late.
    fn run(&self, now: Nanos) -> usize {
        let Some(first) = self.due.front().filter(|first| first.at <= now) else {
            return 0;
        };
        let last = now.min(first.at + QUANTUM);
        let mut bytes = first.packet.len();
        let pairs = self.due.iter().zip(self.due.iter().skip(1));
        let more = pairs.take_while(|(before, next)| {
            bytes += next.packet.len();
            next.at <= last && next.continues(before) && bytes <= PACKET_BYTES_MAX
        });
        1 + more.count()
    }

    /// Hands over as many from the first on, by way of `out`, and keeps their buffers.
    fn hand_over(&mut self, run: usize, now: Nanos, out: &mut Vec<u8>, spare: &mut Vec<Vec<u8>>) {
        let packets = self.due.range(..run).map(|parcel| &parcel.packet[..]);
        match self.due.front().and_then(|first| first.piece) {
            Some(piece) if run > 1 => offload::join(piece, packets, out),
            _ => packets.for_each(|packet| offload::single(packet, out)),
        }
        // An end that is not up any more takes nothing; neither would a cable.
        let _gone = self.output.write(out);
        let mut lane = lock(&self.lane);
        for parcel in self.due.drain(..run) {
            lane.lateness.record(now - parcel.at);
            spare.push(parcel.packet);
        }
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
    /// The frame that is handed over next.
    out: Vec<u8>,
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
            out: Vec::new(),
            traffic: Traffic::default(),
        };
        let mut cutter = Cutter::default();
        let mut buffer = vec![0; offload::HEADER_BYTES + PACKET_BYTES_MAX];
        loop {
            self.hand_on(&mut belt);
            let more = self.take(&mut belt, &mut cutter, &mut buffer);
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
                match route.run(now) {
                    0 => break,
                    run => route.hand_over(run, now, &mut belt.out, &mut belt.spare),
                }
            }
        }
    }

    /// Takes in what has come; whether there may be more.
    fn take(&self, belt: &mut Belt, cutter: &mut Cutter, buffer: &mut [u8]) -> bool {
        for _ in 0..BATCH {
            let Ok(Some(length)) = self.input.read(buffer) else {
                return false;
            };
            cutter.cut(&mut buffer[..length], |packet, piece| {
                self.send(belt, packet, piece);
            });
        }
        true
    }

    /// Puts a packet on its way; a star's center has several.
    fn send(&self, belt: &mut Belt, packet: &[u8], piece: Option<Piece>) {
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
                let packet = kept;
                route.due.push_back(Parcel { at, packet, piece });
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
        let Some(at) = fronts.map(|parcel| parcel.at).min() else {
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
