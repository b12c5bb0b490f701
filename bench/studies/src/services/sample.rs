//! What one server gave in one round, as named figures with units.

use super::cells::Setting;
use super::job::{CallOutcome, CallPlan};
use weir_bench_lab::sample::Sample;
use weir_bench_lab::worker::Measured;
use weir_bench_peers::sockets::traffic::IPV4_HEADER_BYTES;

/// Bytes of an IPv6 header without extensions (RFC 8200 section 3).
const IPV6_HEADER_BYTES: u64 = 40;

/// Reads a measurement. Metric names are the columns of the paper's table I.
pub(super) fn of(
    setting: &Setting,
    plan: &CallPlan,
    outcome: &CallOutcome,
    measured: &Measured,
) -> Sample {
    let mut sample = Sample {
        lost: outcome.lost,
        ..Sample::default()
    };
    sample.put_latency("serialization", &outcome.serialization);
    sample.put_latency("rtt", &outcome.rtt);
    sample.put_latency("deserialization", &outcome.deserialization);
    let answered = f64::from(plan.messages) - outcome.lost as f64;
    sample.put("message_rate", "1/s", answered / outcome.seconds.max(1e-9));
    put_bytes(setting, plan, outcome, &mut sample);
    sample.put("opening_time", "us", outcome.opening_ns as f64 / 1e3);
    sample.put_crossed(measured);
    sample.put_spent(measured);
    sample
}

/// Bytes and packets a call, both ways.
fn put_bytes(setting: &Setting, plan: &CallPlan, outcome: &CallOutcome, sample: &mut Sample) {
    let traffic = outcome.traffic;
    let header_bytes = match setting.family {
        "ipv6" => IPV6_HEADER_BYTES,
        _ => IPV4_HEADER_BYTES,
    };
    let each = |count: u64| count as f64 / f64::from(plan.messages);
    let network = traffic.transport_bytes() + traffic.packets * header_bytes;
    sample.put(
        "application_bytes",
        "bytes",
        each(traffic.application_bytes),
    );
    sample.put("transport_bytes", "bytes", each(traffic.transport_bytes()));
    sample.put("network_bytes", "bytes", each(network));
    sample.put("packets", "1", each(traffic.packets));
    sample.put("echoed", "1", each(outcome.echoed));
}
