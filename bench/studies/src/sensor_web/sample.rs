//! What one server gave in one round, as named figures with units.

use super::cells::Setting;
use weir_bench_lab::sample::Sample;
use weir_bench_lab::worker::Measured;
use weir_bench_load::load::job::{Event, ReadsOutcome, TrafficOutcome};

/// From a request to the last byte of its answer, of what is read.
pub(super) const ANSWER: &str = "answer_time";
/// From a message to its answer, of what is inserted.
pub(super) const ACKNOWLEDGEMENT: &str = "acknowledgement";
/// Observations a second, in or out.
pub(super) const RATE: &str = "observations";
/// By how much resident memory was greater at most than before the reading, bytes.
pub(super) const GROWTH: &str = "server_memory_growth";

/// Reads a measurement.
pub(super) fn of(setting: &Setting, measured: &Measured) -> Result<Sample, String> {
    let mut sample = match &measured.outcome {
        Event::Traffic(outcome) => inserted(setting, outcome)?,
        Event::Reads(outcome) => read(setting, outcome, measured),
        other => return Err(format!("an unexpected outcome {other:?}")),
    };
    sample.put_spent(measured);
    Ok(sample)
}

/// A message that was refused makes the figure worthless: what was not inserted cost nothing.
fn inserted(setting: &Setting, outcome: &TrafficOutcome) -> Result<Sample, String> {
    if let Some(refusal) = &outcome.first_refusal {
        return Err(format!("{} messages refused: {refusal}", outcome.refused));
    }
    if outcome.acknowledged == 0 {
        return Err("no message was answered in the time".into());
    }
    let mut sample = Sample::default();
    let messages = outcome.acknowledged as f64 / outcome.seconds;
    sample.put("messages", "1/s", messages);
    sample.put(RATE, "1/s", messages * setting.observations as f64);
    sample.lost = outcome.sent.saturating_sub(outcome.acknowledged);
    sample.put_latency(ACKNOWLEDGEMENT, &outcome.acknowledgement);
    sample
        .courses
        .insert(ACKNOWLEDGEMENT, outcome.course.clone());
    Ok(sample)
}

fn read(setting: &Setting, outcome: &ReadsOutcome, measured: &Measured) -> Sample {
    let mut sample = Sample::default();
    let answers = outcome.times_us.len() as f64 / outcome.seconds;
    sample.put("messages", "1/s", answers);
    sample.put(RATE, "1/s", answers * setting.observations as f64);
    sample.put("answer_bytes", "bytes", outcome.answer_bytes as f64);
    sample.put_samples(ANSWER, "us", outcome.times_us.clone());
    if let (Some(spent), Some((before, _))) = (measured.server, measured.memory) {
        let grown = spent.peak_bytes as f64 - before.server.resident_bytes as f64;
        sample.put(GROWTH, "bytes", grown.max(0.0));
    }
    sample
}
