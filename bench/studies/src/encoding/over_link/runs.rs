//! How often an exchange is made, and what one of them gave as figures.

use std::path::Path;

use super::super::spent::{Names, SERVER, Side, Watch};
use super::super::steady::{COV_MAX, K, Steady};
use weir_bench_lab::link::Ends;
use weir_bench_lab::merge::merge;
use weir_bench_lab::order::Order;
use weir_bench_lab::sample::Sample;
use weir_bench_lab::targets::Running;
use weir_bench_model::effort::Effort;
use weir_bench_model::results::{CellResult, single};

/// The paper's links beside local ones (004, section 4.2).
pub(crate) const LINKS: [&str; 2] = ["wifi", "3g"];

/// Where documents are exchanged.
pub(super) struct Place<'a> {
    pub(super) order: &'a Order<'a>,
    pub(super) ends: &'a Ends,
    pub(super) server: &'a Running,
    pub(super) folder: &'a Path,
    pub(super) link: &'static str,
}

/// One exchange, microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exchange {
    /// Parsing what came, or building what is sent.
    pub(super) processing: f64,
    /// From opening the connection to the last byte or the acknowledgment.
    pub(super) transmit: f64,
    /// Until the answer begins; of downloads.
    pub(super) first_byte: Option<f64>,
    /// Until the first observation could be shown; of downloads.
    pub(super) first_observation: Option<f64>,
}

/// What a wait of some length feels like (004, section 5.1.1, after its reference 70).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Up to 150 ms.
    Crisp,
    /// Up to a second.
    Noticeable,
    /// Up to five.
    Annoying,
    /// Beyond.
    Unbearable,
}

impl Class {
    /// Of so many microseconds.
    pub(crate) fn of(us: f64) -> Self {
        match us {
            us if us < 150e3 => Self::Crisp,
            us if us < 1e6 => Self::Noticeable,
            us if us < 5e6 => Self::Annoying,
            _ => Self::Unbearable,
        }
    }

    /// In a word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Crisp => "crisp",
            Self::Noticeable => "noticeable",
            Self::Annoying => "annoying",
            Self::Unbearable => "unbearable",
        }
    }
}

impl Exchange {
    fn total(&self) -> f64 {
        self.processing + self.transmit
    }

    fn sample(&self, processing: &'static str) -> Sample {
        let mut sample = Sample::default();
        sample.put(processing, "us", self.processing);
        sample.put("t_transmit", "us", self.transmit);
        sample.put("t_total", "us", self.total());
        let share = 100.0 * self.transmit / self.total().max(f64::MIN_POSITIVE);
        sample.put("communication_share", "%", share);
        for (name, us) in [
            ("t_first_byte", self.first_byte),
            ("t_first_observation", self.first_observation),
        ] {
            if let Some(us) = us {
                sample.put(name, "us", us);
            }
        }
        sample
    }
}

/// Makes an exchange as often as the paper did: over 3G one warm-up and three that count, over Wi-Fi until
/// ten in a row are steady; a quick run is content with two behind its warm-up.
pub(super) fn repeat(
    place: &Place<'_>,
    (cell, target): (&str, &str),
    client: (Names, Side<'_>),
    processing: &'static str,
    mut exchange: impl FnMut() -> Result<Exchange, String>,
) -> CellResult {
    let (least, most) = match (place.order.effort, place.link) {
        (Effort::Quick, _) => (2, 2),
        (Effort::Full, "3g") => (3, 3),
        (Effort::Full, _) => (K, 3 * K),
    };
    let is_short = least < K;
    let mut all: Vec<Exchange> = Vec::new();
    let mut failed = exchange().err();
    let server = Side::Documents(&place.ends.far.end, place.server.address);
    let watch = Watch::begin([client, (SERVER, server)]);
    while failed.is_none() && all.len() < most && !is_steady(&all, least) {
        match exchange() {
            Ok(one) => all.push(one),
            Err(reason) => failed = Some(reason),
        }
    }
    let spent = watch.spent();
    let kept = &all[all.len() - all.len().min(least)..];
    let mut rounds: Vec<_> = kept
        .iter()
        .enumerate()
        .map(|(round, one)| (round, Ok(one.sample(processing))))
        .collect();
    rounds.extend(failed.map(|reason| (kept.len(), Err(reason))));
    let mut result = merge(cell, target, &rounds);
    if !kept.is_empty() {
        let spent = spent.into_iter();
        let metrics = spent.map(|(name, unit, value)| single(name, unit, value));
        result.metrics.extend(metrics);
    }
    describe(&mut result, kept, is_short);
    result
}

fn totals(all: &[Exchange]) -> Vec<f64> {
    all.iter().map(Exchange::total).collect()
}

/// Whether the last so many are; a few need only be there.
fn is_steady(all: &[Exchange], least: usize) -> bool {
    let Some(begin) = all.len().checked_sub(least) else {
        return false;
    };
    least < K || Steady::of(totals(&all[begin..])).is_steady
}

fn describe(result: &mut CellResult, kept: &[Exchange], is_short: bool) {
    if kept.is_empty() {
        return;
    }
    let steady = Steady::of(totals(kept));
    if !is_short && !steady.is_steady {
        let words = format!("not steady (COV {:.3}, {COV_MAX} asked)", steady.cov);
        result.remarks.push(words);
    }
    let mean = totals(kept).iter().sum::<f64>() / kept.len() as f64;
    result.remarks.push(Class::of(mean).name().into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(transmit: f64) -> Exchange {
        Exchange {
            processing: 100.0,
            transmit,
            first_byte: None,
            first_observation: None,
        }
    }

    #[test]
    fn classes_begin_where_the_paper_has_them() {
        let named = [149e3, 150e3, 999e3, 1e6, 5e6].map(|us| Class::of(us).name());
        let expected = [
            "crisp",
            "noticeable",
            "noticeable",
            "annoying",
            "unbearable",
        ];
        assert_eq!(named, expected);
    }

    #[test]
    fn the_share_is_that_of_the_way_in_the_whole() {
        let sample = exchange(300.0).sample("parse");
        assert_eq!(sample.values["communication_share"], ("%", 75.0));
        assert_eq!(sample.values["t_total"], ("us", 400.0));
        assert!(!sample.values.contains_key("t_first_byte"));
    }

    #[test]
    fn three_are_enough_for_a_short_one_and_ten_alike_for_a_long_one() {
        let alike = vec![exchange(300.0); K];
        assert!(is_steady(&alike[..3], 3) && !is_steady(&alike[..2], 3));
        assert!(is_steady(&alike, K) && !is_steady(&alike[..9], K));
        let wild: Vec<Exchange> = (0..K)
            .map(|i| exchange(300.0 * (1 + i % 2) as f64))
            .collect();
        assert!(!is_steady(&wild, K));
    }
}
