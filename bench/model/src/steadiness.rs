//! Whether what is measured again and again has become steady, as a value beside the figure.
//!
//! The papers' rule is the coefficient of variation of the last k = 10 (Georges et al., OOPSLA 2007,
//! section 4; Tamayo et al. 2012, section 4.3). It passes what slowly changes, so a slope and a change
//! point are looked for as well (Barrett et al., OOPSLA 2017, whose names the states have). What it
//! deliberately does not do: drop anything. An unsteady figure stays and says so.

use serde::{Deserialize, Serialize};

/// Parts that a series is cut into: the papers' k.
pub const PARTS: usize = 10;
/// Coefficient of variation, and share of drift, under which parts are steady: the papers'.
const SPREAD_MAX: f64 = 0.05;
/// Parts that each side of a change point has at least.
const SIDE_PARTS_MIN: usize = 2;

/// What a series came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It varies little and goes nowhere.
    Steady,
    /// It takes longer in the end than in the beginning, by a slope or at one point.
    Slowdown,
    /// Neither.
    NoSteady,
    /// Rounds came to different states.
    Inconsistent,
}

impl State {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Slowdown => "slowdown",
            Self::NoSteady => "no-steady",
            Self::Inconsistent => "inconsistent",
        }
    }

    /// Of times in their order, judged by the medians of ten parts; nothing of fewer than ten.
    pub fn of(times: &[f64]) -> Option<Self> {
        let parts = parts(times)?;
        let (spread, drift) = (spread(&parts), drift(&parts));
        Some(match () {
            () if spread < SPREAD_MAX && drift.abs() < SPREAD_MAX => Self::Steady,
            () if rises_at_a_point(&parts) || rises_all_along(&parts, drift) => Self::Slowdown,
            () => Self::NoSteady,
        })
    }

    /// Of the states of rounds.
    pub fn of_rounds(rounds: impl IntoIterator<Item = Self>) -> Option<Self> {
        let agreed = |a: Self, b: Self| if a == b { a } else { Self::Inconsistent };
        rounds.into_iter().reduce(agreed)
    }
}

fn parts(times: &[f64]) -> Option<Vec<f64>> {
    let at = |part: usize| part * times.len() / PARTS;
    let part = |part| crate::samples::percentiles(&times[at(part)..at(part + 1)]).p50;
    (times.len() >= PARTS).then(|| (0..PARTS).map(part).collect())
}

/// The coefficient of variation.
fn spread(parts: &[f64]) -> f64 {
    let mean = mean(parts);
    let squares: f64 = parts.iter().map(|part| (part - mean).powi(2)).sum();
    (squares / (parts.len() - 1) as f64).sqrt() / mean
}

/// How much the least squares' line rises from end to end, as a share of the mean.
fn drift(parts: &[f64]) -> f64 {
    let middle = (parts.len() - 1) as f64 / 2.0;
    let places = || (0..parts.len()).map(|place| place as f64 - middle);
    let rise: f64 = places().zip(parts).map(|(x, y)| x * y).sum();
    let squares: f64 = places().map(|x| x * x).sum();
    rise / squares * (parts.len() - 1) as f64 / mean(parts)
}

/// Whether two levels explain it, of which the second is the slower.
fn rises_at_a_point(parts: &[f64]) -> bool {
    let level = |side: &[f64]| spread(side) < SPREAD_MAX;
    let split = |at| parts.split_at(at);
    let steps = (SIDE_PARTS_MIN..=parts.len() - SIDE_PARTS_MIN).map(split);
    let mut rises = steps.filter(|(a, b)| mean(b) > mean(a) * (1.0 + SPREAD_MAX));
    rises.any(|(a, b)| level(a) && level(b))
}

/// Whether the line rises and what is left without it is steady.
fn rises_all_along(parts: &[f64], drift: f64) -> bool {
    let step = drift * mean(parts) / (parts.len() - 1) as f64;
    let level = parts
        .iter()
        .enumerate()
        .map(|(place, part)| part - step * place as f64);
    drift > SPREAD_MAX && spread(&level.collect::<Vec<_>>()) < SPREAD_MAX
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(times: impl IntoIterator<Item = f64>) -> Option<State> {
        State::of(&times.into_iter().collect::<Vec<_>>())
    }

    #[test]
    fn little_variation_without_a_drift_is_steady() {
        let around = (0..40).map(|n| 100.0 + f64::from(n % 3));
        assert_eq!(state(around), Some(State::Steady));
        assert_eq!(state([100.0; 9]), None);
    }

    #[test]
    fn a_slow_rise_and_a_step_up_are_slowdowns_however_little_they_vary() {
        let slope = (0..10).map(|n| 100.0 + 1.2 * f64::from(n));
        assert_eq!(state(slope), Some(State::Slowdown));
        let step = (0..30).map(|n| if n < 15 { 100.0 } else { 130.0 });
        assert_eq!(state(step), Some(State::Slowdown));
    }

    #[test]
    fn a_warm_up_and_a_wild_series_are_not_steady() {
        let warm_up = (0..30).map(|n| if n < 9 { 200.0 } else { 100.0 });
        assert_eq!(state(warm_up), Some(State::NoSteady));
        let wild = (0..10).map(|n| if n % 2 == 0 { 10.0 } else { 20.0 });
        assert_eq!(state(wild), Some(State::NoSteady));
    }

    #[test]
    fn rounds_that_differ_are_inconsistent() {
        let of = |states: &[State]| State::of_rounds(states.iter().copied());
        assert_eq!(of(&[State::Steady; 3]), Some(State::Steady));
        let mixed = [State::Steady, State::Slowdown];
        assert_eq!(of(&mixed), Some(State::Inconsistent));
        assert_eq!(of(&[]), None);
    }
}
