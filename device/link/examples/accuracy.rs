//! How near the emulated links come to what they mean, on this machine: a line of a table a profile, then what links
//! lose and how their delays wander, as programs at their ends see it.
//!
//! `cargo run -p weir-link --example accuracy [PROFILE | loss | jitter]...`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]
#![allow(
    clippy::disallowed_methods,
    reason = "a program that measures by the machine's clock"
)]

use std::error::Error;
use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use weir_link::{Lab, Options, PROFILES, Profile, Station, prepare};

/// The words for what is no profile.
const LOSS: &str = "loss";
const JITTER: &str = "jitter";

/// Each packet for itself, bursts counted in packets, and fades, which last whether packets come or not, as profiles
/// have them.
const LOSSES: [&str; 6] = [
    "0.1 %",
    "1 %",
    "5 %",
    "0.0051/0.25/1",
    "0.02/0.2/0.5",
    "2 %/50 ms",
];
/// Delay and the band around it, milliseconds.
const JITTERS: [(u32, u32); 3] = [(2, 3), (15, 2), (250, 100)];

/// Packets by which a loss is measured, in batches whose shares give its interval: bursts make packets alike, and
/// hardly batches.
const BATCHES: usize = 50;
const BATCH: usize = 1_000;
/// Student's t of 95 % and 49 degrees of freedom.
const T: f64 = 2.01;
/// So sparse that no buffer of the system overflows.
const LOSS_GAP: Duration = Duration::from_micros(100);
const DELAYS: usize = 4_000;
const DELAY_GAP: Duration = Duration::from_millis(4);
/// After which a packet is lost: longer than any link here takes.
const PATIENCE: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn Error>> {
    prepare()?;
    let named: Vec<String> = std::env::args().skip(1).collect();
    let all = PROFILES.iter().map(|(name, _)| *name);
    let all: Vec<String> = all.chain([LOSS, JITTER]).map(str::to_owned).collect();
    let wanted = if named.is_empty() { all } else { named };
    for name in wanted {
        match name.as_str() {
            LOSS => LOSSES.iter().try_for_each(|loss| lost(loss))?,
            JITTER => JITTERS.iter().try_for_each(|&jitter| wandered(jitter))?,
            _ => {
                let mut lab = Lab::unchecked(Profile::read(&name)?, &Options::default())?;
                println!("{name}: {}", lab.check()?);
            }
        }
    }
    Ok(())
}

/// What arrives of a row of packets, by their numbers.
fn lost(loss: &str) -> Result<(), Box<dyn Error>> {
    let profile = Profile::read(&format!("none,loss={loss}"))?;
    let meant = profile.up.loss.mean();
    let lab = Lab::unchecked(profile, &Options::default())?;
    let delays = delays(&lab, BATCHES * BATCH, LOSS_GAP)?;
    let share = |batch: &[Option<Duration>]| {
        batch.iter().filter(|it| it.is_none()).count() as f64 / batch.len() as f64
    };
    let shares: Vec<f64> = delays.chunks(BATCH).map(share).collect();
    let n = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let variance = shares.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = T * (variance / n).sqrt();
    let within = if (mean - meant).abs() <= half {
        "within"
    } else {
        "beyond"
    };
    let percent = |share: f64| 100.0 * share;
    println!(
        "loss {loss}: meant {:.3} %, {:.3} % of {} packets, \
         95 % interval {:.3} to {:.3} %: {within}",
        percent(meant),
        percent(mean),
        delays.len(),
        percent((mean - half).max(0.0)),
        percent(mean + half),
    );
    Ok(())
}

/// How long packets take one way: the middle, and where nearly all lie.
fn wandered((delay, jitter): (u32, u32)) -> Result<(), Box<dyn Error>> {
    let profile = Profile::read(&format!("none,delay={delay} ms,jitter={jitter} ms"))?;
    let lab = Lab::unchecked(profile, &Options::default())?;
    let arrived = delays(&lab, DELAYS, DELAY_GAP)?;
    let mut ms: Vec<f64> = arrived
        .iter()
        .flatten()
        .map(|it| it.as_secs_f64() * 1e3)
        .collect();
    ms.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let at = (share * ms.len() as f64) as usize;
        ms.get(at).copied().unwrap_or(f64::NAN)
    };
    let (middle, half) = (f64::from(delay), f64::from(jitter) / 2.0);
    println!(
        "jitter {jitter} ms around {delay} ms: meant {} to {} ms, \
         p0.1 {:.3}, p50 {:.3}, p99.9 {:.3} ms of {} packets",
        middle - half,
        middle + half,
        at(0.001),
        at(0.5),
        at(0.999),
        ms.len(),
    );
    Ok(())
}

/// What each of so many small packets takes from the near end to the far one; nothing of those that are lost.
fn delays(lab: &Lab, packets: usize, gap: Duration) -> io::Result<Vec<Option<Duration>>> {
    let (near, far) = (socket(&lab.near)?, socket(&lab.far)?);
    near.connect(far.local_addr()?)?;
    far.set_read_timeout(Some(PATIENCE))?;
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let sender = scope.spawn(move || send(&near, packets, gap, begin));
        let arrived = arrivals(&far, packets, begin);
        let sent = sender.join().unwrap_or_default();
        let pairs = arrived.into_iter().zip(sent);
        Ok(pairs.map(|(at, sent)| at?.checked_sub(sent)).collect())
    })
}

fn socket(station: &Station) -> io::Result<UdpSocket> {
    let address = station.address();
    station.within(move || UdpSocket::bind((address, 0)))?
}

/// When each was sent.
fn send(near: &UdpSocket, packets: usize, gap: Duration, begin: Instant) -> Vec<Duration> {
    let one = |number: usize| {
        let due = gap.mul_f64(number as f64);
        std::thread::sleep(due.saturating_sub(begin.elapsed()));
        let sent = begin.elapsed();
        // What was not sent does not arrive.
        let _unsent = near.send(&(number as u64).to_le_bytes());
        sent
    };
    (0..packets).map(one).collect()
}

/// When each arrived, until none has come for a while.
fn arrivals(far: &UdpSocket, packets: usize, begin: Instant) -> Vec<Option<Duration>> {
    let mut arrived = vec![None; packets];
    let mut number = [0; 8];
    while arrived.last().is_some_and(Option::is_none) && far.recv(&mut number).is_ok() {
        let number = u64::from_le_bytes(number) as usize;
        if let Some(place) = arrived.get_mut(number) {
            *place = Some(begin.elapsed());
        }
    }
    arrived
}
