//! What paper 003 says, claim by claim, set beside what was measured.
//!
//! The verdict is on the paper's own servers, in the versions of today; the gateway's figures stand
//! beside them. Claims of bytes are judged on the machine itself, those of time on the emulated links.

use super::cells::{Pace, payloads};
use super::figures::{Figures, GATEWAY, Of, PAPER, Scenario};
use super::over_links;
use weir_bench_model::claims::{NOT_MEASURED, judged};
use weir_bench_model::effort::Effort;
use weir_bench_model::number::number;
use weir_bench_model::results::ClaimResult;

/// A claim and how it is judged.
struct Claim {
    /// Its name in the list.
    id: &'static str,
    /// The verdict and the number it rests on.
    judge: fn(&Figures<'_>) -> (Option<bool>, String),
}

const CLAIMS: [Claim; 10] = [
    Claim {
        id: "mijovic-order-of-efficiency",
        judge: order_of_efficiency,
    },
    Claim {
        id: "mijovic-coap-a-third",
        judge: a_third,
    },
    Claim {
        id: "mijovic-lan-rtt-alike",
        judge: over_links::like_each_other,
    },
    Claim {
        id: "mijovic-coap-lowest-rtt",
        judge: over_links::lowest_time,
    },
    Claim {
        id: "mijovic-qos1-worst",
        judge: worst_of_both,
    },
    Claim {
        id: "mijovic-qos2-too-slow",
        judge: |f| (None, slowness(f)),
    },
    Claim {
        id: "mijovic-internet-doubles-rtt",
        judge: over_links::lan_to_internet,
    },
    Claim {
        id: "mijovic-cellular-mqtt-keeps-rtt",
        judge: over_links::on_cellular,
    },
    Claim {
        id: "mijovic-cellular-efficiency",
        judge: over_links::cellular_efficiency,
    },
    Claim {
        id: "mijovic-mqtt-depends-on-qos",
        judge: over_links::depends_on_quality,
    },
];

/// Judges every claim.
pub(super) fn judge(figures: &Figures<'_>) -> Vec<ClaimResult> {
    let all = CLAIMS.iter().map(|claim| {
        let (holds, number) = (claim.judge)(figures);
        judged(claim.id, holds, number)
    });
    all.collect()
}

/// The protocols in the paper's order, as columns of numbers are told.
const NAMES: [&str; 5] = ["CoAP", "WebSocket", "QoS 0", "QoS 1", "QoS 2"];

/// A metric's means of the scenario's first so many protocols, at a payload.
fn means(
    figures: &Figures<'_>,
    scenario: &[Of],
    payload_bytes: usize,
    metric: &str,
) -> Option<Vec<f64>> {
    let mean = |of: &Of| figures.mean(of, payload_bytes, metric);
    scenario.iter().map(mean).collect()
}

/// The payloads at which all of them were measured.
fn measured(figures: &Figures<'_>, scenario: &[Of], metric: &str) -> Vec<(usize, Vec<f64>)> {
    payloads(Effort::Full)
        .iter()
        .filter_map(|&bytes| Some((bytes, means(figures, scenario, bytes, metric)?)))
        .collect()
}

fn told(values: &[f64]) -> String {
    let pairs = NAMES.iter().zip(values);
    let words: Vec<String> = pairs
        .map(|(name, value)| format!("{name} {}", number(*value)))
        .collect();
    words.join(", ")
}

/// A scenario's figures at 100 bytes, or at whatever was measured.
fn example(all: &[(usize, Vec<f64>)]) -> String {
    let hundred = all.iter().find(|(bytes, _)| *bytes == 100).or(all.first());
    match hundred {
        Some((bytes, values)) => format!("at {bytes} bytes {}", told(values)),
        None => NOT_MEASURED.into(),
    }
}

/// Both scenarios in words.
fn both(figures: &Figures<'_>, count: usize, metric: &str) -> String {
    let of = |scenario: &Scenario| example(&measured(figures, &scenario[..count], metric));
    format!("{}; the gateway: {}", of(&PAPER), of(&GATEWAY))
}

fn order_of_efficiency(figures: &Figures<'_>) -> (Option<bool>, String) {
    let all = measured(figures, &PAPER[..4], "eta");
    let falls = |(_, etas): &(usize, Vec<f64>)| etas.windows(2).all(|pair| pair[0] > pair[1]);
    let holds = (!all.is_empty()).then(|| all.iter().all(falls));
    let exceptions: Vec<String> = all
        .iter()
        .filter(|at| !falls(at))
        .map(|(bytes, _)| bytes.to_string())
        .collect();
    let exceptions = match exceptions.is_empty() {
        true => String::new(),
        false => format!("; not so at {} bytes", exceptions.join(", ")),
    };
    (holds, both(figures, 4, "eta") + &exceptions)
}

/// Within a tenth.
fn a_third(figures: &Figures<'_>) -> (Option<bool>, String) {
    let of = |scenario: &Scenario, metric| figures.mean(&scenario[0], 100, metric);
    let Some(eta) = of(&PAPER, "eta") else {
        return (None, NOT_MEASURED.into());
    };
    let shown = |value: Option<f64>| value.map_or(NOT_MEASURED.into(), number);
    let words = format!(
        "{}, and {} with the headers of IP, which the definition leaves out; the gateway: {}, {}",
        number(eta),
        shown(of(&PAPER, "eta_with_ip")),
        shown(of(&GATEWAY, "eta")),
        shown(of(&GATEWAY, "eta_with_ip")),
    );
    (Some((eta * 3.0 - 1.0).abs() <= 0.1), words)
}

/// Either half can refute it.
fn worst_of_both(figures: &Figures<'_>) -> (Option<bool>, String) {
    let all = measured(figures, &PAPER[..4], "eta");
    let least = |(_, of): &(usize, Vec<f64>)| of[..3].iter().all(|other| of[3] < *other);
    let count = all.iter().filter(|at| least(at)).count();
    let (slowest, times) = over_links::slowest_is_qos1(figures);
    let words = format!(
        "efficiency lowest at {count} of {} payloads; {times}",
        all.len()
    );
    let lowest = count == all.len();
    let holds = match (all.is_empty(), slowest) {
        (true, _) => None,
        (false, _) if !lowest => Some(false),
        (false, slowest) => slowest,
    };
    (holds, words)
}

fn slowness(figures: &Figures<'_>) -> String {
    let of = |scenario: &Scenario| {
        let mean = |at: usize| figures.mean(&scenario[at], 100, "rtt_settled");
        match (mean(2), mean(3), mean(4)) {
            (Some(qos0), Some(qos1), Some(qos2)) => format!(
                "{} times QoS 1's RTT and {} times QoS 0's",
                number(qos2 / qos1),
                number(qos2 / qos0)
            ),
            _ => NOT_MEASURED.into(),
        }
    };
    format!(
        "no bound is named; at 100 bytes {}; the gateway, which syncs to disk: {}",
        of(&PAPER),
        of(&GATEWAY)
    )
}

/// Efficiency of a protocol where its device rests between packets, beside that where it does not.
pub(super) fn rested(figures: &Figures<'_>, of: &Of, payload_bytes: usize) -> Option<f64> {
    let setting = of.at(payload_bytes, Pace::Rest);
    let metric = figures.metric(&setting, of.server, "eta")?;
    Some(metric.estimate.mean)
}
