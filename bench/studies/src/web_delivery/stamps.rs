//! What a page measured of a cell, as metrics.
//!
//! The terms are those of Babovic et al. 2016, section V, equations 1 and 2, in microseconds:
//! `t_total` = `t_transfer` + `t_process` + `t_render`, `t_transfer` = `t_transmit` + `t_decode`.
//! `t_transmit` begins when the gateway has the message, before it is encoded, and ends with the last
//! byte in the page's hands; `t_render` ends with the frame being presented. The paper's ended with the
//! canvas drawn, which is `t_draw` here, and `t_total_drawn` is the total that its tables have: a screen's
//! next frame is up to 17 ms away, whatever was delivered, and would hide what is compared.

use serde::Deserialize;

use super::publisher::Published;
use super::traced::Frames;
use weir_bench_lab::opened::Clocks;
use weir_bench_lab::sample::{Name, Sample};
use weir_bench_model::results::CLOCK_BOUND;

/// What the page answers.
#[derive(Debug, Deserialize)]
pub(super) struct Outcome {
    /// A message each.
    stamps: Vec<Stamps>,
    /// Messages that came: those stamped, and those that came in one answer with a newer one.
    reached: u64,
    /// Why it ended early, or what could not be read.
    fault: Option<String>,
}

/// Times of one message on the page's clock, milliseconds; what did not happen is absent.
#[derive(Debug, Deserialize)]
struct Stamps {
    /// On the gateway's clock, since the epoch.
    available: Option<f64>,
    arrival: f64,
    decoded: f64,
    processed: f64,
    began: Option<f64>,
    drawn: Option<f64>,
    presented: Option<f64>,
    /// Number of that frame.
    frame: Option<u64>,
    /// Whether the browser itself said when the frame was presented.
    observed: bool,
    size: f64,
}

/// Messages that reached the page in one answer with a newer one, which alone is shown and stamped.
pub(super) const SUPERSEDED: Name = "superseded";

/// A metric and its samples in milliseconds.
type Term = (Name, fn(&Stamps, &Clocks) -> Option<f64>);

const TERMS: [Term; 8] = [
    ("t_transmit", Stamps::transmit),
    ("t_decode", |it, _| Some(it.decoded - it.arrival)),
    ("t_transfer", |it, clocks| {
        Some(it.transmit(clocks)? + it.decoded - it.arrival)
    }),
    ("t_process", |it, _| Some(it.processed - it.decoded)),
    ("t_render", |it, _| Some(it.presented? - it.processed)),
    ("t_draw", |it, _| Some(it.drawn? - it.began?)),
    ("t_total", |it, clocks| {
        Some(it.transmit(clocks)? + it.presented? - it.arrival)
    }),
    ("t_total_drawn", |it, clocks| {
        Some(it.transmit(clocks)? + it.processed - it.arrival + it.drawn? - it.began?)
    }),
];

impl Stamps {
    fn transmit(&self, clocks: &Clocks) -> Option<f64> {
        Some(clocks.epoch_ms(self.arrival) - self.available?)
    }
}

/// The figures of a round of `expected` messages; an error where it shows nothing.
pub(super) fn sample_of(
    outcome: &Outcome,
    published: &Published,
    expected: u64,
    clocks: &Clocks,
) -> Result<Sample, String> {
    let stamped = outcome.stamps.len() as f64;
    match (&outcome.fault, &published.refusal) {
        (Some(fault), _) => return Err(fault.clone()),
        (_, Some(refusal)) => return Err(format!("a message was refused: {refusal}")),
        _ if stamped == 0.0 => return Err(format!("none of {expected} messages came")),
        _ => {}
    }
    let mut sample = Sample::default();
    for (name, of) in TERMS {
        let times = outcome.stamps.iter().filter_map(|it| of(it, clocks));
        sample.put_samples(name, "us", times.map(|ms| ms * 1e3).collect());
    }
    let lags = published.lags_ns.iter().map(|&lag| lag as f64 / 1e3);
    sample.put_samples("schedule_lag", "us", lags.collect());
    let mean = |of: fn(&Stamps) -> f64| outcome.stamps.iter().map(of).sum::<f64>() / stamped;
    sample.put("payload", "characters", mean(|it| it.size));
    let observed = mean(|it| f64::from(u8::from(it.observed)));
    sample.put("presentation_observed", "share", observed);
    sample.put("received", "messages", outcome.reached as f64);
    let superseded = outcome.reached.saturating_sub(outcome.stamps.len() as u64);
    sample.put(SUPERSEDED, "messages", superseded as f64);
    sample.lost = expected.saturating_sub(outcome.reached);
    if let Some(bound) = clocks.bound_ms() {
        sample.put(CLOCK_BOUND, "us", bound * 1e3);
    }
    sample.remark = remark(outcome, clocks);
    Ok(sample)
}

impl Outcome {
    /// Sets the frames of the browser's trace beside what its page was told: T_render by the trace, and
    /// how much later or earlier the page was told that a frame was on the screen.
    pub(super) fn put_traced(&self, frames: &Frames, clocks: &Clocks, sample: &mut Sample) {
        let (mut render, mut error) = (Vec::new(), Vec::new());
        for it in &self.stamps {
            let traced = it.frame.and_then(|frame| frames.presented_us(frame));
            let told = it.presented.and_then(|ms| clocks.monotonic_us(ms));
            let ready = clocks.monotonic_us(it.processed);
            if let (Some(traced), Some(told), Some(ready)) = (traced, told, ready) {
                render.push(traced - ready);
                error.push(told - traced);
            }
        }
        let share = error.len() as f64 / self.stamps.len().max(1) as f64;
        sample.put("traced", "share", share);
        sample.put_samples("t_render_traced", "us", render);
        sample.put_samples("presentation_error", "us", error);
    }
}

/// What a reader of T_transmit must know of the clocks.
fn remark(outcome: &Outcome, clocks: &Clocks) -> Option<String> {
    let negative = |it: &&Stamps| it.transmit(clocks).is_some_and(|ms| ms < 0.0);
    let negative = outcome.stamps.iter().filter(negative).count();
    let early =
        (negative > 0).then(|| format!("{negative} messages seem to arrive before they left"));
    clocks.remark().or(early)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;
    use weir_bench_lab::opened::Offset;

    fn clocks() -> Clocks {
        Clocks::Asked(vec![Offset {
            at: 0.0,
            offset: 1000.0,
            bound: 0.5,
        }])
    }

    fn outcome(presented: Option<f64>, reached: u64) -> Outcome {
        let stamps = json!({
            "seq": 1, "available": 1010.0, "arrival": 12.0, "decoded": 13.0, "processed": 13.5,
            "began": 14.0, "drawn": 14.25, "presented": presented, "frame": 1,
            "observed": true, "size": 100,
        });
        serde_json::from_value(json!({"stamps": [stamps], "reached": reached})).unwrap()
    }

    #[test]
    fn the_terms_add_up_to_the_total() {
        let published = Published::default();
        let sample = sample_of(&outcome(Some(20.0), 1), &published, 2, &clocks()).unwrap();
        let close =
            |name, us: f64| assert!((sample.samples[name].1[0] - us).abs() < 1e-3, "{name}");
        close("t_transmit", 2000.0);
        close("t_decode", 1000.0);
        close("t_transfer", 3000.0);
        close("t_process", 500.0);
        close("t_render", 6500.0);
        close("t_draw", 250.0);
        close("t_total", 10_000.0);
        close("t_total_drawn", 3750.0);
        assert_eq!(sample.lost, 1);
        assert_eq!(sample.remark.unwrap(), "the clocks may differ by 0.50 ms");
        assert_eq!(sample.values[CLOCK_BOUND], ("us", 500.0));
    }

    #[test]
    fn what_came_in_one_answer_with_a_newer_message_is_not_lost() {
        let published = Published::default();
        let sample = sample_of(&outcome(Some(20.0), 3), &published, 5, &clocks()).unwrap();
        assert_eq!(sample.values[SUPERSEDED].1, 2.0);
        assert_eq!(sample.values["received"].1, 3.0);
        assert_eq!(sample.lost, 2);
    }

    #[test]
    fn a_message_that_was_never_shown_has_no_total() {
        let sample = sample_of(&outcome(None, 1), &Published::default(), 1, &clocks()).unwrap();
        assert!(sample.samples.contains_key("t_transfer"));
        assert!(!sample.samples.contains_key("t_total"));
    }

    #[test]
    fn a_page_that_got_nothing_is_a_failure_with_its_reason() {
        let none: Outcome = serde_json::from_value(json!({"stamps": [], "reached": 0})).unwrap();
        let failed = sample_of(&none, &Published::default(), 5, &clocks());
        assert_eq!(failed.err().unwrap(), "none of 5 messages came");
        let closed =
            json!({"stamps": [], "reached": 0, "fault": "the gateway closed the connection"});
        let closed: Outcome = serde_json::from_value(closed).unwrap();
        let failed = sample_of(&closed, &Published::default(), 5, &clocks());
        assert_eq!(failed.err().unwrap(), "the gateway closed the connection");
    }
}
