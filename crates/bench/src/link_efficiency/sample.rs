//! What one server gave in one round, as named figures with units.

use super::job::{EchoOutcome, EchoPlan};
use super::traffic::eta;
use crate::load::job::Event;
use crate::sample::Sample;
use crate::worker::Measured;

/// Reads a measurement.
pub(crate) fn of(plan: &EchoPlan, measured: &Measured) -> Result<Sample, String> {
    let Event::Echo(outcome) = &measured.outcome else {
        return Err(format!("an unexpected outcome {:?}", measured.outcome));
    };
    let mut sample = Sample {
        lost: outcome.lost,
        ..Sample::default()
    };
    sample.put_latency("rtt", &outcome.rtt);
    sample.put_latency("rtt_settled", &outcome.settled);
    put_bytes(plan, outcome, &mut sample);
    sample.put("opening_time", "us", outcome.opening_ns as f64 / 1e3);
    let opening = outcome.opening.transport_bytes();
    sample.put("opening_bytes", "bytes", opening as f64);
    sample.put_spent(measured);
    Ok(sample)
}

/// Bytes and packets an exchange, both ways, and the efficiencies.
fn put_bytes(plan: &EchoPlan, outcome: &EchoOutcome, sample: &mut Sample) {
    let traffic = outcome.traffic;
    let each = |count: u64| count as f64 / f64::from(plan.packets);
    let bytes = [
        ("application_bytes", traffic.application_bytes),
        ("transport_bytes", traffic.transport_bytes()),
        ("network_bytes", traffic.network_bytes()),
    ];
    for (name, count) in bytes {
        sample.put(name, "bytes", each(count));
    }
    sample.put("packets", "1", each(traffic.packets));
    let echoed = u64::from(plan.packets).saturating_sub(outcome.lost);
    let payload = plan.payload_bytes as u64 * echoed;
    let efficiencies = [
        ("eta", payload, traffic.transport_bytes()),
        ("eta_both_ways", 2 * payload, traffic.transport_bytes()),
        ("eta_with_ip", payload, traffic.network_bytes()),
    ];
    for (name, payload, bytes) in efficiencies {
        sample.put(name, "1", eta(payload, bytes));
    }
}
