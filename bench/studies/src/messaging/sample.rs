//! What clients saw in one round, as named figures with units.

use std::collections::HashMap;

use super::job::{Arrived, PingPong, Sent};
use weir_bench_lab::sample::Sample;
use weir_bench_model::latency::Latency;
use weir_bench_model::samples::percentiles;

/// By how much moments of two processes may seem swapped.
const CLOCKS_NS: f64 = 1e6;

/// T_transfer from the moment at which the data were due to that at which there are observations, and its parts: until
/// the publisher began, to the last byte, and to the observations.
pub(super) fn of_transfer(sent: &[Sent], arrived: &[Arrived]) -> Result<Sample, String> {
    let arrived: HashMap<&str, &Arrived> = arrived.iter().map(|it| (it.id.as_str(), it)).collect();
    let mut parts = [(); 4].map(|()| Latency::new());
    let mut times_ns = Vec::new();
    let mut sample = Sample::default();
    for message in sent {
        parts[3].record(between(message.due_ns, message.begun_ns));
        // What came before it was sent is of another measurement.
        let came = arrived.get(message.id.as_str());
        let came = came.filter(|came| came.decoded_ns + CLOCKS_NS >= message.begun_ns);
        let Some(came) = came else {
            sample.lost += 1;
            continue;
        };
        let time_ns = between(message.due_ns, came.decoded_ns);
        times_ns.push(time_ns as f64);
        parts[0].record(time_ns);
        parts[1].record(between(message.begun_ns, came.received_ns));
        parts[2].record(between(came.received_ns, came.decoded_ns));
    }
    if sample.lost == sent.len() as u64 {
        return Err(format!("none of {} messages came", sent.len()));
    }
    let names = ["t_transfer", "t_transmit", "t_decode", "schedule_lag"];
    for (name, latency) in names.into_iter().zip(&parts) {
        sample.put_latency(name, latency);
    }
    sample.missed = not_kept_up(sent, &times_ns);
    sample.courses.insert("t_transfer", times_ns);
    Ok(sample)
}

/// What is said of a broker behind which messages queue up: those of each quarter took longer than those of the one
/// before, and of the last longer than of the first by more than lies between two messages. Such times tell how long
/// the round was, and nothing of the broker but that it does not pass so many.
fn not_kept_up(sent: &[Sent], times_ns: &[f64]) -> Option<String> {
    let [first, second, ..] = sent else {
        return None;
    };
    let quarter = (times_ns.len() / 4).max(1);
    let middles = times_ns
        .chunks_exact(quarter)
        .map(|part| percentiles(part).p50);
    let middles: Vec<f64> = middles.collect();
    let (&early, &late) = (middles.first()?, middles.last()?);
    let grows = middles.is_sorted_by(|before, after| before < after);
    let is_queue = grows && late - early > second.due_ns - first.due_ns;
    is_queue.then(|| {
        format!(
            "messages queue up: {:.0} ms in the first quarter, {:.0} in the last",
            early / 1e6,
            late / 1e6
        )
    })
}

/// Nanoseconds; moments of two processes may seem swapped by the clocks' grain.
fn between(from: f64, to: f64) -> u64 {
    (to - from).max(1.0) as u64
}

/// The rate, T_transmission by the formula that the paper means, and the round trips.
pub(super) fn of_ping_pong(measured: &PingPong) -> Sample {
    let mut sample = Sample {
        lost: measured.lost,
        ..Sample::default()
    };
    let rate = measured.passed as f64 / measured.seconds;
    sample.put("message_rate", "1/s", rate);
    sample.put("t_transmission", "us", t_transmission_s(rate) * 1e6);
    sample.put_latency("rtt", &measured.rtt);
    sample
}

/// Half the time of a message to and fro (section VII-F). Printed is `100 / 2 * messages passed`, which
/// grows with the rate; the table's figures are those of `100 / (2 * messages passed)`.
pub(super) fn t_transmission_s(rate: f64) -> f64 {
    1.0 / (2.0 * rate)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_model::published::MESSAGING_RATE;

    fn sent(id: &str, begun_ns: f64) -> Sent {
        Sent {
            id: id.into(),
            due_ns: begun_ns - 10.0,
            begun_ns,
        }
    }

    #[test]
    fn a_message_that_did_not_come_is_lost_and_the_others_are_told_apart() {
        let came = |id: &str, received_ns| Arrived {
            id: id.into(),
            received_ns,
            decoded_ns: received_ns + 500.0,
        };
        let all = [sent("a", 1e6), sent("b", 2e6), sent("c", 3e6)];
        let sample = of_transfer(&all, &[came("c", 3.2e6), came("a", 1.1e6)]).unwrap();
        assert_eq!(sample.lost, 1);
        let transfer = &sample.latencies["t_transfer"];
        assert_eq!(transfer.count(), 2);
        assert!(transfer.quantile_ns(1.0) >= 200_000);
        assert!(of_transfer(&all, &[]).is_err());
    }

    #[test]
    fn a_late_publisher_is_counted_and_told_apart() {
        let late = Sent {
            due_ns: 1e6,
            ..sent("a", 3e6)
        };
        let came = Arrived {
            id: "a".into(),
            received_ns: 3.2e6,
            decoded_ns: 3.3e6,
        };
        let sample = of_transfer(&[late], &[came]).unwrap();
        let longest = |name: &str| sample.latencies[name].quantile_ns(1.0);
        assert!(longest("t_transfer") >= 2_300_000);
        assert!(longest("schedule_lag") >= 2_000_000 && longest("t_transmit") < 210_000);
    }

    #[test]
    fn who_is_behind_by_more_and_more_does_not_keep_up() {
        let all: Vec<Sent> = (0..20)
            .map(|n| sent(&n.to_string(), f64::from(n) * 1e6))
            .collect();
        let after = |ns: fn(usize) -> f64| {
            let arrived = all.iter().enumerate().map(|(n, message)| Arrived {
                id: message.id.clone(),
                received_ns: message.begun_ns + ns(n),
                decoded_ns: message.begun_ns + ns(n),
            });
            of_transfer(&all, &arrived.collect::<Vec<_>>())
                .unwrap()
                .missed
        };
        assert_eq!(after(|_| 5e6), None);
        assert_eq!(
            after(|n| if n == 19 { 9e6 } else { 1e5 }),
            None,
            "one that waited"
        );
        assert_eq!(
            after(|n| if n > 14 { 9e6 } else { 1e5 }),
            None,
            "one pause near the end"
        );
        assert!(
            after(|n| 1e5 + n as f64 * 1e5)
                .unwrap()
                .contains("queue up")
        );
    }

    #[test]
    fn the_formula_as_meant_gives_the_published_times() {
        for row in MESSAGING_RATE.rows() {
            let pair = row.number("rate_msg_s").zip(row.number("transmission_ms"));
            let Some((rate, published)) = pair else {
                continue;
            };
            let ours = t_transmission_s(rate) * 1e3;
            assert!((ours / published - 1.0).abs() < 0.02, "{ours} {published}");
        }
    }
}
