//! What the client tells: lines of `name=value`, times in microseconds.

use super::talk::Fault;
use crate::text::Text;

/// Bytes of a report.
const REPORT_BYTES_MAX: usize = 224;

/// A report.
pub(crate) type Report = Text<REPORT_BYTES_MAX>;

/// An order that is none.
pub(crate) fn not_understood() -> Report {
    let mut report = Report::new();
    report.push("id=0 state=failed reason=the order is not understood");
    report
}

fn begin(id: u32, state: &str) -> Report {
    let mut report = Report::new();
    put(&mut report, "id", id);
    report.push(" state=");
    report.push(state);
    report
}

fn put(report: &mut Report, name: &str, value: u32) {
    report.push(name);
    report.push("=");
    report.push_number(value, 1);
}

/// The order is taken.
pub(crate) fn taken(id: u32) -> Report {
    begin(id, "taken")
}

/// The conversation is open, the packets before those that count are through.
pub(crate) fn opened(id: u32, opening_us: u32) -> Report {
    let mut report = begin(id, "opened");
    put(&mut report, " opening", opening_us);
    report
}

/// It came to an end that was not meant.
pub(crate) fn failed(id: u32, fault: Fault) -> Report {
    let mut report = begin(id, "failed");
    report.push(" reason=");
    report.push(fault.words());
    report
}

/// What was measured; the samples are put in order.
pub(crate) fn done(id: u32, lost: u32, samples: &mut [u32]) -> Report {
    samples.sort_unstable();
    let count = samples.len();
    let sum: u64 = samples.iter().map(|&sample| u64::from(sample)).sum();
    // Of n samples the share q have at most the value of the one in place q * n (its ceiling), from 1 on.
    let at = |thousandths: usize| {
        let place = (count * thousandths).div_ceil(1_000).max(1);
        samples.get(place - 1).copied().unwrap_or_default()
    };
    let mut report = begin(id, "done");
    for (name, value) in [
        (" echoed", count as u32),
        (" lost", lost),
        (" mean", (sum / count.max(1) as u64) as u32),
        (" min", at(0)),
        (" p50", at(500)),
        (" p90", at(900)),
        (" p99", at(990)),
        (" p999", at(999)),
        (" max", at(1_000)),
    ] {
        put(&mut report, name, value);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples() {
        let mut samples: Vec<u32> = (1..=1_000).rev().collect();
        let said = done(7, 2, &mut samples);
        let expected = "id=7 state=done echoed=1000 lost=2 mean=500 min=1 \
                        p50=500 p90=900 p99=990 p999=999 max=1000";
        assert_eq!(std::str::from_utf8(said.bytes()), Ok(expected));
        let said = done(7, 1, &mut [5]);
        assert!(
            said.bytes()
                .ends_with(b"mean=5 min=5 p50=5 p90=5 p99=5 p999=5 max=5")
        );
    }

    #[test]
    fn the_longest_report_fits() {
        let mut samples = [u32::MAX; 10];
        let said = done(u32::MAX, u32::MAX, &mut samples);
        assert!(said.bytes().ends_with(b"max=4294967295"));
    }
}
