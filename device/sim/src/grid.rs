//! All settings, several runs each, on all processors; the same table whatever their number.

use crate::setting::{Setting, Window};
use crate::tally::Figures;
use crate::world::simulate_in;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use weir_random::Random;

/// Runs that the paper leaves out at each end, of ten.
const TRIMMED: usize = 2;
/// Student's t for a confidence of 95 %, by degrees of freedom.
const STUDENT: [f64; 10] = [
    f64::NAN,
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
];

/// The runs of a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The setting.
    pub setting: Setting,
    /// What its runs gave.
    pub outcome: Outcome,
}

/// A cell's metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Each metric, over the runs that are left.
    pub metrics: Vec<Metric>,
    /// How many these are.
    pub runs: usize,
}

/// A metric's mean, and the interval in which it lies with a confidence of 95 %.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The paper's name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The mean.
    pub mean: f64,
    /// Half the interval.
    pub spread: f64,
}

/// Runs every setting so many times; `told` is told how many cells are done.
pub fn grid(
    settings: &[Setting],
    seed: u64,
    runs: usize,
    workers: usize,
    told: &(dyn Fn(usize) + Sync),
) -> Vec<Cell> {
    // The long ones first, so that no processor waits at the end.
    let mut order: Vec<usize> = (0..settings.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(settings[at].clients));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let cells = Mutex::new(vec![None; settings.len()]);
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let cell = run(&settings[at], seed, runs);
                    if let Ok(mut cells) = cells.lock() {
                        cells[at] = Some(cell);
                    }
                    told(done.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    let cells = cells.into_inner().unwrap_or_default();
    cells.into_iter().flatten().collect()
}

/// Runs a setting so many times. Which runs, depends on the seed and the setting alone.
pub fn run(setting: &Setting, seed: u64, runs: usize) -> Cell {
    run_in(setting, setting.window(), seed, runs)
}

/// The same, measured in another window.
pub fn run_in(setting: &Setting, window: Window, seed: u64, runs: usize) -> Cell {
    let name = setting.to_string();
    let mut seeds = Random::new(name.bytes().fold(seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }));
    let figures = (0..runs).map(|_| simulate_in(setting, window, seeds.bits()));
    let figures = figures.collect();
    Cell {
        setting: *setting,
        outcome: outcome(figures),
    }
}

/// The means, without the 2 best and the 2 worst runs where there are ten (by RUPM, as the authors have it).
fn outcome(mut figures: Vec<Figures>) -> Outcome {
    figures.sort_by(|a, b| a.rupm.total_cmp(&b.rupm));
    let trimmed = if figures.len() >= 3 * TRIMMED {
        TRIMMED
    } else {
        0
    };
    let left = &figures[trimmed..figures.len() - trimmed];
    let Some(first) = left.first() else {
        return Outcome {
            metrics: Vec::new(),
            runs: 0,
        };
    };
    let metric = |(at, &(name, unit, _)): (usize, &(&'static str, &'static str, f64))| {
        let values: Vec<f64> = figures.iter().map(|figures| figures.all()[at].2).collect();
        // Of all other metrics those left were chosen by another: they are a sample as they are.
        let (mean, spread) = match name {
            "RUPM" => mean(&values, trimmed),
            _ => mean(&values[trimmed..values.len() - trimmed], 0),
        };
        Metric {
            name,
            unit,
            mean,
            spread,
        }
    };
    Outcome {
        metrics: first.all().iter().enumerate().map(metric).collect(),
        runs: left.len(),
    }
}

/// The mean of what is left of sorted values, and half its interval by Yuen (1974): those left are no sample of their
/// own, so that it is all of them that tell how far they scatter, each one left out taken for the nearest that is not.
fn mean(values: &[f64], trimmed: usize) -> (f64, f64) {
    let left = &values[trimmed..values.len() - trimmed];
    let (count, kept) = (values.len() as f64, left.len() as f64);
    let mean = left.iter().sum::<f64>() / kept;
    let last = values.len() - trimmed - 1;
    let winsorized = (0..values.len()).map(|at| values[at.clamp(trimmed, last)]);
    let middle = winsorized.clone().sum::<f64>() / count;
    let squares: f64 = winsorized.map(|value| (value - middle).powi(2)).sum();
    let student = STUDENT.get(left.len() - 1).copied().unwrap_or(1.96);
    let spread = match left.len() {
        1 => f64::NAN,
        _ => student * (squares / (count - 1.0) * count).sqrt() / kept,
    };
    (mean, spread)
}

impl Outcome {
    /// The mean of a metric.
    pub fn mean(&self, name: &str) -> f64 {
        let metric = self.metrics.iter().find(|metric| metric.name == name);
        metric.map_or(f64::NAN, |metric| metric.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{Duplex, Line, Publication, SCHEMES, Scheme, settings};
    use crate::simulate;

    fn setting(clients: usize, scheme: Scheme, duplex: Duplex) -> Setting {
        Setting {
            clients,
            publication: Publication::Every(1),
            scheme,
            line: Line {
                rate: 14_400,
                duplex,
                loss: 0.0,
            },
            duty: 1.0,
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_table_whoever_computes_it() {
        let settings: Vec<_> = settings(setting(1, SCHEMES[0], Duplex::Full).line, &SCHEMES)
            .into_iter()
            .filter(|setting| setting.clients == 16 && setting.publication == Publication::Every(1))
            .collect();
        let one = grid(&settings, 7, 2, 1, &|_| {});
        let two = grid(&settings, 7, 2, 2, &|_| {});
        assert_eq!(crate::csv(&one), crate::csv(&two));
        let other = grid(&settings, 8, 2, 2, &|_| {});
        assert_ne!(crate::csv(&one), crate::csv(&other));
    }

    /// Of 1 to 10 trimmed by two at each end: a winsorized deviation of 2.1731 over 0.6 times the root of ten, and
    /// Student's t of five degrees of freedom.
    #[test]
    fn the_interval_is_yuens_if_trimmed_and_else_students() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let (middle, spread) = mean(&values, 2);
        assert_eq!(middle, 5.5);
        assert!((spread - 2.9446).abs() < 1e-3, "{spread}");
        let (middle, spread) = mean(&values[..5], 0);
        assert_eq!(middle, 3.0);
        assert!((spread - 1.9629).abs() < 1e-3, "{spread}");
        assert!(mean(&[1.0], 0).1.is_nan());
    }

    #[test]
    fn runs_that_another_metric_chose_are_a_sample_as_they_are() {
        let times = [3.0, 9.0, 4.0, 1.0, 7.0, 2.0, 8.0, 6.0, 5.0, 0.0];
        let figures = (1..=10).zip(times).map(|(rupm, mpt)| Figures {
            rupm: f64::from(rupm),
            mpt,
            ..Figures::default()
        });
        let outcome = outcome(figures.collect());
        let of = |name: &str| outcome.metrics.iter().find(|it| it.name == name).unwrap();
        let (middle, spread) = mean(&times[2..8], 0);
        assert_eq!((of("MPT").mean, of("MPT").spread), (middle, spread));
        assert!((of("RUPM").spread - 2.9446).abs() < 1e-3);
    }

    /// All bits of all figures (FNV-1a).
    fn digest(figures: &[Figures]) -> u64 {
        let bits = figures.iter().flat_map(|figures| figures.all());
        let bytes = bits.flat_map(|(.., value)| value.to_bits().to_be_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// A small grid of every scheme on every kind of line.
    fn samples() -> Vec<Setting> {
        let schemes = [Scheme::Adaptive, Scheme::LongPolling, Scheme::Events];
        let duplexes = [Duplex::Half, Duplex::Full, Duplex::Shared];
        let of = |duplex| schemes.map(|scheme| setting(4, scheme, duplex));
        let mut samples: Vec<_> = duplexes.into_iter().flat_map(of).collect();
        samples[0].duty = 0.1;
        samples[1].line.loss = 0.05;
        samples
    }

    #[test]
    fn a_run_is_the_same_to_the_bit_everywhere() {
        let figures: Vec<_> = samples().iter().map(|cell| simulate(cell, 3)).collect();
        // A change of the server, the line or smoltcp shows here: it is meant, or it is a mistake.
        assert_eq!(digest(&figures), 12_391_514_615_211_700_617);
    }

    #[test]
    fn a_run_of_observers_is_the_same_to_the_bit_everywhere() {
        let of = |duplex| setting(4, Scheme::Observe, duplex);
        let mut samples = [Duplex::Half, Duplex::Full, Duplex::Shared].map(of);
        samples[0].line.loss = 0.05;
        let figures: Vec<_> = samples.iter().map(|cell| simulate(cell, 3)).collect();
        assert_eq!(digest(&figures), 11_125_070_826_671_376_566);
    }

    #[test]
    fn observers_hear_all_and_acknowledge_each_in_a_packet() {
        let figures = simulate(&setting(64, Scheme::Observe, Duplex::Full), 1);
        assert!(figures.rupm >= 99.9 && figures.rpm <= 100.1, "{figures:?}");
        assert!((127.0..=129.0).contains(&figures.ntp), "{figures:?}");
        assert_eq!((figures.repeated, figures.broken), (0.0, 0.0));
        let streaming = simulate(&setting(64, Scheme::Streaming, Duplex::Full), 1);
        assert!(figures.ntb < streaming.ntb, "{figures:?} {streaming:?}");
    }

    #[test]
    fn what_is_lost_on_the_line_comes_to_an_observer_again() {
        let mut lossy = setting(16, Scheme::Observe, Duplex::Full);
        lossy.publication = Publication::Every(15);
        lossy.line.loss = 0.1;
        let figures = simulate(&lossy, 1);
        assert!(figures.rupm >= 99.0, "{figures:?}");
        assert!(figures.repeated > 0.0 && figures.mpt > 0.1, "{figures:?}");
    }

    #[test]
    fn an_observer_that_the_board_forgot_registers_again() {
        let mut lossy = setting(16, Scheme::Observe, Duplex::Full);
        lossy.publication = Publication::Every(5);
        lossy.line.loss = 0.6;
        let figures = simulate(&lossy, 1);
        assert!(figures.resets > 0.0 && figures.rupm > 10.0, "{figures:?}");
    }

    #[test]
    fn adaptive_polling_asks_as_often_as_there_is_news() {
        let mut polling = setting(8, Scheme::Adaptive, Duplex::Full);
        polling.publication = Publication::Every(15);
        let figures = simulate(&polling, 1);
        assert!((90.0..150.0).contains(&figures.rpm), "{figures:?}");
        assert!(figures.rupm >= 90.0, "{figures:?}");
    }

    #[test]
    fn on_a_shared_medium_packets_collide_and_most_is_heard() {
        let figures = simulate(&setting(16, Scheme::Streaming, Duplex::Shared), 1);
        assert!(figures.lost > 0.5 && figures.rupm >= 95.0, "{figures:?}");
        let alone = simulate(&setting(16, Scheme::Streaming, Duplex::Full), 1);
        assert!(alone.lost == 0.0 && alone.mpt < figures.mpt, "{alone:?}");
    }

    #[test]
    fn who_may_talk_a_tenth_of_the_time_does() {
        let mut silent = setting(64, Scheme::Streaming, Duplex::Full);
        silent.duty = 0.1;
        let figures = simulate(&silent, 1);
        // Two ends, each with a tenth of 14,400 B/s.
        assert!(figures.ntb * 1_024.0 <= 2_880.0, "{figures:?}");
        assert!(figures.rupm > 5.0 && figures.rupm < 99.0, "{figures:?}");
    }

    #[test]
    fn a_thousand_clients_hear_all_on_a_faster_line() {
        let mut many = setting(1_000, Scheme::Streaming, Duplex::Full);
        many.line.rate = 144_000;
        many.publication = Publication::Every(5);
        let figures = simulate(&many, 1);
        assert!(figures.rupm >= 99.9, "{figures:?}");
        // A notification and its acknowledgement are some 100 bytes: about 1 mJ with the model's radio.
        assert!((0.1..10.0).contains(&figures.energy), "{figures:?}");
        assert!(figures.energy_listening > figures.energy);
    }

    #[test]
    fn as_many_listeners_as_a_board_has_hear_all() {
        for clients in [16, 64, 128, 256] {
            let mut events = setting(clients, Scheme::Events, Duplex::Full);
            events.publication = Publication::Every(4);
            let figures = simulate(&events, 1);
            assert!(figures.rupm >= 99.9, "{clients}: {figures:?}");
            assert_eq!((figures.resets, figures.broken), (0.0, 0.0), "{clients}");
        }
    }

    #[test]
    fn a_full_duplex_line_carries_128_streams_of_a_message() {
        let figures = simulate(&setting(128, Scheme::Streaming, Duplex::Full), 1);
        assert!(figures.rupm >= 99.9, "{figures:?}");
        assert!(figures.mpt <= 0.27, "{figures:?}");
        assert!(figures.mct >= 70.0, "{figures:?}");
        assert!(figures.repeated <= 5.0, "{figures:?}");
    }

    #[test]
    fn long_polling_saturates_the_line_and_little_goes_twice() {
        let figures = simulate(&setting(128, Scheme::LongPolling, Duplex::Full), 1);
        assert!(figures.rupm < 60.0 && figures.rupm > 5.0, "{figures:?}");
        assert!(figures.repeated <= 5.0, "{figures:?}");
    }

    #[test]
    fn what_is_lost_on_the_line_is_not_lost_on_clients() {
        let mut lossy = setting(16, Scheme::Streaming, Duplex::Full);
        lossy.line.loss = 0.02;
        let figures = simulate(&lossy, 1);
        assert!(
            figures.rupm >= 99.0 && figures.repeated > 0.0,
            "{figures:?}"
        );
    }
}
