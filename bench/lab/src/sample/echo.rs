//! What a device's echoes gave in one round, as named figures with units.

use super::Sample;
use crate::worker::Measured;
use weir_bench_peers::device::job::{EchoOutcome, EchoPlan};
use weir_bench_peers::sockets::Traffic;

/// Reads a measurement.
pub fn of(plan: &EchoPlan, outcome: &EchoOutcome, measured: &Measured) -> Result<Sample, String> {
    let mut sample = Sample {
        lost: outcome.lost,
        ..Sample::default()
    };
    sample.put_latency("rtt", &outcome.rtt);
    sample.put_latency("rtt_settled", &outcome.settled);
    let traffic = traffic(outcome, measured)?;
    put_bytes(plan, (traffic, outcome), &mut sample);
    put_opening(plan, (traffic, outcome), &mut sample);
    sample.put_spent(measured);
    sample.put_crossed(measured);
    Ok(sample)
}

/// What the packets took: on a link as its emulator counted, which must be what the device did.
fn traffic(outcome: &EchoOutcome, measured: &Measured) -> Result<Traffic, String> {
    let Some(crossed) = &measured.crossed else {
        return Ok(outcome.traffic);
    };
    let all = crossed.all();
    let counted = Traffic::of_link(&all);
    let device = outcome.traffic.application_bytes;
    let is_whole = all.dropped_loss + all.dropped_queue + all.retransmitted == 0;
    match counted.application_bytes {
        bytes if bytes == device => Ok(counted),
        // What was lost or sent again crossed the link more often than the device saw it.
        bytes if bytes > device && !is_whole => Ok(counted),
        bytes => Err(format!(
            "{bytes} bytes of payload crossed the link, but the device counts {device}"
        )),
    }
}

/// What opening the conversation adds to a packet that needs it.
fn put_opening(plan: &EchoPlan, (traffic, outcome): (Traffic, &EchoOutcome), sample: &mut Sample) {
    let opening_us = outcome.opening_ns as f64 / 1e3;
    let opening = outcome.opening.transport_bytes();
    sample.put("opening_time", "us", opening_us);
    sample.put("opening_bytes", "bytes", opening as f64);
    let rtt = outcome.rtt.percentiles().mean;
    sample.put("rtt_with_opening", "us", opening_us + rtt);
    let exchange = traffic.transport_bytes() / u64::from(plan.packets).max(1);
    let payload = plan.payload_bytes as u64;
    sample.put("eta_with_opening", "1", eta(payload, opening + exchange));
}

/// Bytes and packets an exchange, both ways, and the efficiencies.
fn put_bytes(plan: &EchoPlan, (traffic, outcome): (Traffic, &EchoOutcome), sample: &mut Sample) {
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

/// The protocol efficiency (paper 003, section III): payload over all bytes that its exchange took.
/// With the payload counted once, one way, no protocol exceeds a half.
fn eta(payload_bytes: u64, bytes: u64) -> f64 {
    match bytes {
        0 => 0.0,
        bytes => payload_bytes as f64 / bytes as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_that_is_half_of_all_bytes_has_the_efficiency_one_half() {
        assert_eq!(eta(108, 216), 0.5);
        assert_eq!(eta(1, 0), 0.0);
    }
}
