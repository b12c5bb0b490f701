//! What paper 003 says of round trips and of its three links, judged on the emulated ones.
//!
//! Its LAN is a hop of Wi-Fi (`wlan`), its Internet a home router (`isp`) or a phone (`cellular`), and
//! before all stands its modem (`uart`), whose serial line takes most of its LAN's round trip. Where the
//! modem was not measured the links alone are judged, and the words say so.

use super::cells::{CELLULAR, ISP, WLAN};
use super::figures::{Figures, GATEWAY, Of, PAPER, Scenario};
use crate::report::number;

/// A verdict, and what it rests on.
type Judged = (Option<bool>, String);

/// The payload that the paper's text names.
const PAYLOAD: usize = 100;
/// The paper's "nearly the same" and "closely followed".
const NEARLY: f64 = 1.25;
/// Its "by 2 to 3", as a figure that is read off rounds to.
const TWO_TO_THREE: std::ops::Range<f64> = 1.5..3.5;
/// By how much the efficiency of a protocol may differ where it is "not significantly affected".
const UNAFFECTED: f64 = 0.1;
const NAMES: [&str; 4] = ["CoAP", "WebSocket", "QoS 0", "QoS 1"];
const NOT_MEASURED: &str = "not measured in this run";

/// Means of CoAP, WebSocket, QoS 0 and QoS 1 on a link.
fn means(
    figures: &Figures<'_>,
    scenario: &Scenario,
    at: (&'static str, bool),
    metric: &str,
) -> Option<[f64; 4]> {
    let mean = |of: &Of| figures.mean_on(of, at, PAYLOAD, metric);
    let all: Option<Vec<f64>> = scenario[..4].iter().map(mean).collect();
    all?.try_into().ok()
}

/// The same with the modem, or without where it was not measured; whether with.
fn round_trips(
    figures: &Figures<'_>,
    scenario: &Scenario,
    link: &'static str,
) -> Option<([f64; 4], bool)> {
    let at = |modem| means(figures, scenario, (link, modem), "rtt").map(|all| (all, modem));
    at(true).or_else(|| at(false))
}

fn told(values: [f64; 4], unit: &str) -> String {
    let words: Vec<String> = NAMES
        .iter()
        .zip(values)
        .map(|(name, value)| format!("{name} {}{unit}", number(value)))
        .collect();
    words.join(", ")
}

fn milliseconds(times: [f64; 4]) -> String {
    told(times.map(|us| us / 1e3), " ms")
}

fn with_modem(modem: bool) -> &'static str {
    if modem { " behind the modem" } else { "" }
}

/// The paper's LAN: times of its servers, and what is asked of them; the gateway's beside.
fn on_wlan(figures: &Figures<'_>, asked: impl Fn([f64; 4]) -> bool) -> Judged {
    let Some((times, modem)) = round_trips(figures, &PAPER, WLAN) else {
        return (None, NOT_MEASURED.into());
    };
    let gateway = round_trips(figures, &GATEWAY, WLAN);
    let gateway = gateway.map_or(NOT_MEASURED.into(), |(times, _)| milliseconds(times));
    let words = format!(
        "{WLAN}{}, {PAYLOAD} bytes: {}; the gateway: {gateway}",
        with_modem(modem),
        milliseconds(times),
    );
    (Some(asked(times)), words)
}

fn greatest(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Figure 3.
pub(super) fn like_each_other(figures: &Figures<'_>) -> Judged {
    on_wlan(figures, |[coap, websocket, qos0, qos1]| {
        let three = [coap, websocket, qos0];
        greatest(&three) <= NEARLY * least(&three) && qos1 >= greatest(&three)
    })
}

/// The abstract.
pub(super) fn lowest_time(figures: &Figures<'_>) -> Judged {
    on_wlan(figures, |[coap, websocket, qos0, qos1]| {
        coap <= least(&[websocket, qos0, qos1]) && websocket <= NEARLY * coap
    })
}

/// Whether QoS 1 takes longest where the paper measured; the other half of section V's claim.
pub(super) fn slowest_is_qos1(figures: &Figures<'_>) -> Judged {
    on_wlan(figures, |[coap, websocket, qos0, qos1]| {
        qos1 >= greatest(&[coap, websocket, qos0])
    })
}

/// How much longer a round trip is on one link than on another, protocol by protocol.
fn times_longer(
    figures: &Figures<'_>,
    scenario: &Scenario,
    modem: bool,
    (from, to): (&'static str, &'static str),
) -> Option<[f64; 4]> {
    let before = means(figures, scenario, (from, modem), "rtt")?;
    let after = means(figures, scenario, (to, modem), "rtt")?;
    Some(std::array::from_fn(|at| after[at] / before[at]))
}

/// With and without the modem, of both scenarios, in words; and the one that is judged.
fn compared(
    figures: &Figures<'_>,
    links: (&'static str, &'static str),
) -> (Option<[f64; 4]>, String) {
    let of = |scenario, modem| times_longer(figures, scenario, modem, links);
    let shown = |value: Option<[f64; 4]>| value.map_or(NOT_MEASURED.into(), |all| told(all, "x"));
    let judged = of(&PAPER, true).or_else(|| of(&PAPER, false));
    let words = format!(
        "{} to {}, {PAYLOAD} bytes: behind the modem {}; without it {}; the gateway: {}; {}",
        links.0,
        links.1,
        shown(of(&PAPER, true)),
        shown(of(&PAPER, false)),
        shown(of(&GATEWAY, true)),
        shown(of(&GATEWAY, false)),
    );
    (judged, words)
}

/// Figures 4 and 5.
pub(super) fn lan_to_internet(figures: &Figures<'_>) -> Judged {
    let (longer, words) = compared(figures, (WLAN, ISP));
    let etas = [WLAN, ISP].map(|link| {
        let at = |modem| means(figures, &PAPER, (link, modem), "eta");
        at(true).or_else(|| at(false))
    });
    let (Some(longer), [Some(lan), Some(internet)]) = (longer, etas) else {
        return (None, words);
    };
    let change: [f64; 4] = std::array::from_fn(|at| internet[at] / lan[at] - 1.0);
    let is_unaffected = change.iter().all(|change| change.abs() <= UNAFFECTED);
    let percent = told(change.map(|change| 100.0 * change), " %");
    let holds = is_unaffected && longer.iter().all(|times| TWO_TO_THREE.contains(times));
    (
        Some(holds),
        format!("{words}; efficiency changes by {percent}"),
    )
}

/// Figure 7; the paper itself puts it down to the time of its measurements.
pub(super) fn on_cellular(figures: &Figures<'_>) -> Judged {
    let (longer, words) = compared(figures, (ISP, CELLULAR));
    let reversed = longer.map(|[coap, websocket, qos0, qos1]| {
        greatest(&[qos0, qos1]) <= NEARLY && least(&[coap, websocket]) > NEARLY
    });
    let why = "here all protocols meet the same drawn trace, one after the other";
    (reversed, format!("{words}; {why}"))
}

/// Figure 6: the efficiency of the cellular network beside that of the LAN.
pub(super) fn cellular_efficiency(figures: &Figures<'_>) -> Judged {
    let of = |link| {
        let at = |modem| means(figures, &PAPER, (link, modem), "eta");
        at(true).or_else(|| at(false))
    };
    let (Some(lan), Some(cellular)) = (of(WLAN), of(CELLULAR)) else {
        return (None, NOT_MEASURED.into());
    };
    let change: [f64; 4] = std::array::from_fn(|at| cellular[at] / lan[at] - 1.0);
    let holds = change.iter().all(|change| change.abs() <= UNAFFECTED);
    let percent = told(change.map(|change| 100.0 * change), " %");
    (
        Some(holds),
        format!("{WLAN} to {CELLULAR} changes it by {percent}"),
    )
}

/// The abstract: MQTT's efficiency and round trip by its quality, of which the paper measured 0 and 1.
pub(super) fn depends_on_quality(figures: &Figures<'_>) -> Judged {
    let times = round_trips(figures, &PAPER, WLAN);
    let etas = means(
        figures,
        &PAPER,
        (WLAN, times.is_some_and(|(_, modem)| modem)),
        "eta",
    );
    let (Some((times, modem)), Some(etas)) = (times, etas) else {
        return (None, NOT_MEASURED.into());
    };
    let (bytes, time) = (etas[2] / etas[3], times[3] / times[2]);
    let words = format!(
        "{WLAN}{}, {PAYLOAD} bytes: QoS 0 is {} times as efficient as QoS 1, which takes {} times \
         as long",
        with_modem(modem),
        number(bytes),
        number(time),
    );
    (Some(bytes >= NEARLY && time >= NEARLY), words)
}

#[cfg(test)]
mod tests;
