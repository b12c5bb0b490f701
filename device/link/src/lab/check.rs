//! Is the link what it should be? Measured before anything relies on it.
//!
//! Round trips of small datagrams, paced so that they meet nobody, and a flood a direction. Both ends
//! read one clock, in threads as punctual as the link's own: it is the link that is judged, and not what
//! else the machine does. Loss and jitter are left out: a second is too short to judge them.

use super::station::Station;
use super::{Lab, sys};
use crate::medium::Rate;
use crate::profile::{Direction, Profile};
use crate::quantity::{rate_text, span_text};
use crate::time::Nanos;
use crate::trace::{OPPORTUNITY_BYTES, Trace};
use crate::way::Way;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Bytes of a probe's payload.
const PROBE_BYTES: usize = 16;
/// IPv4's and UDP's headers.
const HEADER_BYTES: usize = 28;
const PROBES: u32 = 250;
const BASE_PROBES: u32 = 100;
/// How much of a flood fills the queue of a link with a trace, and how much follows what is measured.
const MARGIN: Duration = Duration::from_millis(20);
/// Packets that wait on such a link while it is measured: enough for its best milliseconds, and soon gone.
const WAITING: u64 = 64;
/// How long a flood lasts.
const FLOOD: Duration = Duration::from_secs(1);
/// Packets that a flood sends at once at most, and how long they may take on the link: so is it the link that
/// is measured, and not how fast a program can send.
const BURST_MAX: usize = 16;
const BURST: Duration = Duration::from_micros(200);
/// Packets that a flood has at least.
const FLOOD_PACKETS_MIN: u64 = 30;
const MILLI: Nanos = 1_000_000;
/// A round trip may be off by this, or by a hundredth.
const RTT_ERROR_MAX: Nanos = 200_000;
const ERROR_MAX: f64 = 0.01;

/// What was wanted and what is.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Median round trip of a probe that the profile means; nothing where a trace decides, or where none is asked.
    pub rtt_target: Option<Nanos>,
    /// Median, nanoseconds.
    pub rtt_p50: Nanos,
    /// 99th percentile, nanoseconds.
    pub rtt_p99: Nanos,
    /// Up and down, bits a second on the wire.
    pub rates: [Speed; 2],
    /// What the machine's own way takes, one way; taken off the delay.
    pub base: Nanos,
    /// By how much packets were handed on late: 99th percentile, nanoseconds.
    pub lateness_p99: Nanos,
    /// TCP's congestion control in force at both ends.
    pub congestion: String,
}

/// A direction's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// What the profile says, by a trace what it could carry while it was measured; nothing where there is no limit,
    /// or where a trace hardly carries anything just then.
    pub target: Option<f64>,
    /// What a flood had.
    pub achieved: f64,
}

impl Check {
    /// Relative error of a rate, where one is wanted.
    pub fn rate_error(&self, way: Way) -> Option<f64> {
        let speed = self.rates[way as usize];
        speed.target.map(|target| speed.achieved / target - 1.0)
    }

    /// What is off, in words; nothing where the link is what it should be.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if let Some(target) = self.rtt_target {
            let most = RTT_ERROR_MAX.max((target as f64 * ERROR_MAX) as Nanos);
            if self.rtt_p50.abs_diff(target) > most {
                let (is, should) = (span_text(self.rtt_p50), span_text(target));
                faults.push(format!("the median round trip is {is}, not {should}"));
            }
        }
        for way in Way::BOTH {
            let Speed { target, achieved } = self.rates[way as usize];
            if self
                .rate_error(way)
                .is_some_and(|error| error.abs() > ERROR_MAX)
            {
                let (name, is) = (way.name(), rate_text(achieved));
                let should = rate_text(target.unwrap_or_default());
                faults.push(format!("the rate {name} is {is}, not {should}"));
            }
        }
        faults
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99] = [self.rtt_p50, self.rtt_p99].map(span_text);
        write!(f, "round trip {p50} (p99 {p99}")?;
        match self.rtt_target {
            Some(target) => write!(f, ", meant {})", span_text(target))?,
            None => write!(f, ")")?,
        }
        for way in Way::BOTH {
            let speed = self.rates[way as usize];
            write!(f, ", {} {}", way.name(), rate_text(speed.achieved))?;
            if let Some(error) = self.rate_error(way) {
                write!(f, " ({:+.2} %)", 100.0 * error)?;
            }
        }
        let [base, late] = [self.base, self.lateness_p99].map(span_text);
        write!(f, "; own way {base}, late p99 {late}, {}", self.congestion)
    }
}

/// What an empty link takes one way.
pub(super) fn base(lab: &Lab) -> io::Result<Nanos> {
    let mut trips = round_trips(lab, BASE_PROBES, Duration::from_millis(2))?;
    trips.sort_unstable();
    Ok(percentile(&trips, 50) / 2)
}

/// Leaves the lab with another profile.
pub(super) fn run(lab: &mut Lab) -> io::Result<Check> {
    let profile = lab.profile().clone();
    lab.become_like(with_short_queues(profile.steady()));
    let mut trips = round_trips(lab, PROBES, spacing(&profile))?;
    trips.sort_unstable();
    let lateness_p99 = lab.lateness_p99();
    let rates = [speed(lab, Way::Up)?, speed(lab, Way::Down)?];
    Ok(Check {
        rtt_target: rtt_target(&profile),
        rtt_p50: percentile(&trips, 50),
        rtt_p99: percentile(&trips, 99),
        rates,
        base: lab.base(),
        lateness_p99,
        congestion: lab.near.congestion().to_owned(),
    })
}

/// What the profile means, though the machine's own way may take longer: then the link is not what it should be.
fn rtt_target(profile: &Profile) -> Option<Nanos> {
    profile.rtt(&probe()).filter(|rtt| *rtt > 0)
}

/// The same, with a queue that is soon empty where a trace decides when.
fn with_short_queues(mut profile: Profile) -> Profile {
    let bytes = WAITING * u64::from(profile.mtu);
    for direction in [&mut profile.up, &mut profile.down] {
        if matches!(direction.rate, Rate::Trace(_)) {
            direction.queue_bytes = direction.queue_bytes.min(bytes);
        }
    }
    profile
}

/// A packet like a probe, for what it weighs.
fn probe() -> [u8; HEADER_BYTES + PROBE_BYTES] {
    [0; HEADER_BYTES + PROBE_BYTES]
}

/// So far apart that probes meet nobody, but at least 4 ms.
fn spacing(profile: &Profile) -> Duration {
    let wire = |way| {
        let direction = profile.direction(way);
        let bits = direction.framing.wire_bytes(&probe()) as f64 * 8.0;
        direction.rate.mean().map_or(0.0, |rate| bits / rate)
    };
    let seconds = 3.0 * (wire(Way::Up) + wire(Way::Down));
    Duration::from_secs_f64(seconds).max(Duration::from_millis(4))
}

/// One in the end, ready to be taken anywhere.
fn socket(station: &Station) -> io::Result<UdpSocket> {
    let address = SocketAddr::new(IpAddr::V4(station.address()), 0);
    let socket = station.within(move || UdpSocket::bind(address))??;
    socket.set_read_timeout(Some(Duration::from_secs(3)))?;
    Ok(socket)
}

/// Near asks, far echoes; times in nanoseconds of those that came back.
fn round_trips(lab: &Lab, probes: u32, spacing: Duration) -> io::Result<Vec<Nanos>> {
    let (near, far) = (socket(&lab.near)?, socket(&lab.far)?);
    near.connect(far.local_addr()?)?;
    let sender = near.try_clone()?;
    let begin = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || echo(&far, probes));
        scope.spawn(move || {
            sys::be_punctual();
            for number in 0..probes {
                let due = spacing * number;
                std::thread::sleep(due.saturating_sub(begin.elapsed()));
                let mut probe = [0; PROBE_BYTES];
                probe[..8].copy_from_slice(&(begin.elapsed().as_nanos() as u64).to_le_bytes());
                // One that was not sent is not answered, and so missing below.
                let _unsent = sender.send(&probe);
            }
        });
        let answers = scope.spawn(move || answers(&near, probes, begin));
        let trips = answers.join().unwrap_or_default();
        match trips.len() * 2 > probes as usize {
            true => Ok(trips),
            false => Err(io::Error::other("most probes were not answered")),
        }
    })
}

fn answers(near: &UdpSocket, probes: u32, begin: Instant) -> Vec<Nanos> {
    sys::be_punctual();
    let mut trips = Vec::new();
    let mut answer = [0; PROBE_BYTES];
    while trips.len() < probes as usize && near.recv(&mut answer).is_ok() {
        let sent = answer
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes));
        trips.push((begin.elapsed().as_nanos() as u64).saturating_sub(sent));
    }
    trips
}

fn echo(far: &UdpSocket, probes: u32) {
    sys::be_punctual();
    let mut probe = [0; PROBE_BYTES];
    for _ in 0..probes {
        let Ok((length, peer)) = far.recv_from(&mut probe) else {
            return;
        };
        // One that was not sent is missing with who asked.
        let _unsent = far.send_to(&probe[..length], peer);
    }
}

fn percentile(sorted: &[Nanos], percent: usize) -> Nanos {
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(0)
}

/// Sends a little more than the link carries, and counts what arrives.
fn speed(lab: &Lab, way: Way) -> io::Result<Speed> {
    let (from, to) = match way {
        Way::Up => (socket(&lab.near)?, socket(&lab.far)?),
        Way::Down => (socket(&lab.far)?, socket(&lab.near)?),
    };
    from.connect(to.local_addr()?)?;
    sys::take_many(&to);
    let direction = lab.profile().direction(way);
    let flood = Flood::over(direction, lab.profile().mtu, lab.books.begin);
    let (sent, arrived) = std::thread::scope(|scope| {
        let sent = scope.spawn(|| flood.send(&from));
        let arrived = scope.spawn(|| flood.arrivals(&to));
        (
            sent.join().unwrap_or_default(),
            arrived.join().unwrap_or_default(),
        )
    });
    Ok(match &direction.rate {
        Rate::Trace(trace) => {
            let delay = direction.delay.max(lab.base());
            by_trace(trace, delay, &sent, &arrived, flood.wire_bytes)
        }
        Rate::Bits(_) | Rate::Unlimited => Speed {
            target: direction.rate.mean(),
            achieved: slope(&arrived) * flood.bits(),
        },
    })
}

/// What arrived, by the time since the link began: packets so far.
type Arrived = [(u64, Duration)];

/// What a trace could carry while packets always waited, beside what came through. Both are counted between the
/// middles of two milliseconds, since opportunities are at whole ones.
fn by_trace(
    trace: &Trace,
    delay: Nanos,
    sent: &Range<Duration>,
    arrived: &Arrived,
    wire_bytes: u64,
) -> Speed {
    let middle = |at: Duration| at.as_millis() as Nanos * MILLI + MILLI / 2;
    let (from, to) = (
        middle(sent.start + MARGIN),
        middle(sent.end.saturating_sub(MARGIN)),
    );
    let seconds = to.saturating_sub(from) as f64 / 1e9;
    let before = |time: Nanos| {
        let is_before = |(_, at): &&(u64, Duration)| (at.as_nanos() as Nanos) < time + delay;
        arrived
            .iter()
            .take_while(is_before)
            .last()
            .map_or(0, |(packets, _)| *packets)
    };
    let packets = before(to) - before(from);
    let opportunities = trace.opportunities(from, to);
    let could = (opportunities * OPPORTUNITY_BYTES) as f64 * 8.0 / seconds;
    Speed {
        target: (opportunities >= FLOOD_PACKETS_MIN).then_some(could),
        achieved: (packets * wire_bytes) as f64 * 8.0 / seconds,
    }
}

/// A little more than a link carries.
#[derive(Clone, Copy, Debug)]
struct Flood {
    /// When the link's time began.
    begin: Instant,
    /// Bytes of each packet's payload, and of the packet on the wire.
    payload: usize,
    wire_bytes: u64,
    packets: u64,
    /// From one packet to the next.
    gap: Duration,
}

impl Flood {
    fn over(direction: &Direction, mtu: u32, begin: Instant) -> Self {
        let wire_bytes = direction.framing.wire_bytes(&vec![0; mtu as usize]);
        let most = match &direction.rate {
            Rate::Trace(trace) => trace.peak_rate(),
            rate => rate.mean().unwrap_or(2e9),
        };
        let packets_a_second = most * 1.05 / 8.0 / wire_bytes as f64;
        let packets = (packets_a_second * FLOOD.as_secs_f64()) as u64;
        Self {
            begin,
            payload: mtu as usize - HEADER_BYTES,
            wire_bytes,
            packets: packets.max(FLOOD_PACKETS_MIN),
            gap: Duration::from_secs_f64(1.0 / packets_a_second),
        }
    }

    /// Of a packet on the wire.
    fn bits(self) -> f64 {
        self.wire_bytes as f64 * 8.0
    }

    /// Packets that are sent by one call.
    fn burst(self, socket: &UdpSocket) -> usize {
        let within = (BURST.as_secs_f64() / self.gap.as_secs_f64()) as usize;
        let most = within.min(60_000 / self.payload).min(BURST_MAX);
        match most > 1 && sys::send_many(socket, self.payload) {
            true => most,
            false => 1,
        }
    }

    /// From when to when it was sent.
    fn send(self, from: &UdpSocket) -> Range<Duration> {
        sys::be_punctual();
        let burst = self.burst(from);
        let payload = vec![0; burst * self.payload];
        let begin = Instant::now();
        for number in (0..self.packets).step_by(burst) {
            let due = self.gap.mul_f64(number as f64);
            let ahead = due.saturating_sub(begin.elapsed());
            if ahead > BURST {
                std::thread::sleep(ahead);
            }
            // What was not sent does not arrive, and is not counted.
            let _unsent = from.send(&payload);
        }
        let start = begin.saturating_duration_since(self.begin);
        let sent = start..self.begin.elapsed();
        // An empty one says that it is over; the link may drop one or two.
        for _ in 0..10 {
            let _unsent = from.send(&[]);
            std::thread::sleep(Duration::from_millis(20));
        }
        sent
    }

    /// What arrives when.
    fn arrivals(self, to: &UdpSocket) -> Vec<(u64, Duration)> {
        sys::be_punctual();
        let mut buffer = vec![0; 65_536];
        let mut arrived = Vec::new();
        let mut packets = 0;
        while packets < self.packets
            && let Ok(length @ 1..) = to.recv(&mut buffer)
        {
            packets += length.div_ceil(self.payload) as u64;
            arrived.push((packets, self.begin.elapsed()));
        }
        arrived
    }
}

/// What arrives a second, of what had arrived when: the median over all stretches of half the time, so that it
/// does not matter when one packet, the first or the last, was looked at late.
fn slope(arrived: &Arrived) -> f64 {
    let later = &arrived[arrived.len() / 2..];
    let stretches = arrived.iter().zip(later);
    let stretches = stretches.filter(|((_, from), (_, to))| from < to);
    let mut slopes: Vec<f64> = stretches
        .map(|((before, from), (after, to))| (after - before) as f64 / (*to - *from).as_secs_f64())
        .collect();
    slopes.sort_by(f64::total_cmp);
    slopes.get(slopes.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn check(rtt_p50: Nanos, achieved: f64) -> Check {
        let speed = |achieved| Speed {
            target: Some(1e6),
            achieved,
        };
        Check {
            rtt_target: Some(10_000_000),
            rtt_p50,
            rtt_p99: rtt_p50,
            rates: [speed(achieved), speed(1e6)],
            base: 50_000,
            lateness_p99: 1_000,
            congestion: "cubic".into(),
        }
    }

    #[test]
    fn what_is_off_is_told_with_both_figures() {
        assert_eq!(check(10_190_000, 1.009e6).faults(), Vec::<String>::new());
        let faults = check(10_300_000, 0.98e6).faults();
        assert_eq!(
            faults,
            [
                "the median round trip is 10.3 ms, not 10 ms",
                "the rate up is 980 kbit/s, not 1 Mbit/s"
            ]
        );
    }

    #[test]
    fn a_machine_that_is_slower_than_the_link_is_told_so() {
        let target = rtt_target(&Profile::named("lan").unwrap());
        let slow = Check {
            rtt_target: target,
            base: 300_000,
            ..check(600_000, 1e6)
        };
        assert_eq!(slow.faults().len(), 1, "{target:?}");
        assert_eq!(rtt_target(&Profile::named("none").unwrap()), None);
    }

    #[test]
    fn a_rate_is_that_of_most_of_the_time() {
        let milli = Duration::from_millis;
        let steady = (1..=100).map(|number| (number, milli(10 * number)));
        let mut arrived: Vec<_> = steady.collect();
        // The first ten were looked at together, and the last one late.
        arrived[..10]
            .iter_mut()
            .for_each(|(_, at)| *at = milli(100));
        arrived[99].1 = milli(1_500);
        assert!(
            (slope(&arrived) - 100.0).abs() < 1e-9,
            "{}",
            slope(&arrived)
        );
        assert_eq!(slope(&arrived[..1]), 0.0);
        assert_eq!(slope(&[]), 0.0);
    }

    /// A packet at each time of a second, that takes 10 ms more.
    fn arrived(trace: &Trace, share: impl Fn(u64) -> bool) -> Vec<(u64, Duration)> {
        let count = trace.opportunities(0, 1_000 * MILLI);
        let carried = (0..count).filter(|index| share(*index));
        let at = |index| Duration::from_nanos(trace.time(index) + 10 * MILLI);
        carried
            .map(at)
            .zip(1..)
            .map(|(at, packets)| (packets, at))
            .collect()
    }

    #[test]
    fn a_link_by_a_trace_is_judged_by_what_it_could_carry_then() {
        let trace = Trace::lte(2);
        let sent = Duration::ZERO..Duration::from_secs(1);
        let judged = |arrived: &Arrived| {
            let speed = by_trace(&trace, 10 * MILLI, &sent, arrived, 1_500);
            let rates = [speed, speed];
            Check {
                rates,
                ..check(10_000_000, 1e6)
            }
        };
        let all = judged(&arrived(&trace, |_| true));
        assert_eq!(all.rate_error(Way::Up), Some(0.0), "{all}");
        assert!(all.faults().is_empty(), "{all}");
        let most = judged(&arrived(&trace, |index| index % 50 > 0));
        assert_eq!(most.faults().len(), 2, "{most}");
        assert_eq!(judged(&[]).faults().len(), 2);
        let still = Trace::parse("5000\n").unwrap();
        assert_eq!(by_trace(&still, 0, &sent, &[], 1_500).target, None);
    }

    #[test]
    fn a_check_reads_as_a_sentence() {
        let said = check(10_100_000, 0.999e6).to_string();
        let begin =
            "round trip 10.1 ms (p99 10.1 ms, meant 10 ms), up 999 kbit/s (-0.10 %), down 1 Mbit/s";
        assert!(said.starts_with(begin), "{said}");
    }
}
