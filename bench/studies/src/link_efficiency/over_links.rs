//! What paper 003 says of round trips and of its three links, judged on the emulated ones.
//!
//! Its LAN is a hop of Wi-Fi (`wlan`), its Internet a home router (`isp`) or a phone (`cellular`), and
//! before all stands its modem (`uart`), whose serial line takes most of its LAN's round trip. Where the
//! modem was not measured the links alone are judged, and the words say so. Means are compared by their intervals:
//! where these decide nothing, or where there was one round, nothing is said.

use super::cells::{CELLULAR, ISP, WLAN};
use super::figures::{Figures, GATEWAY, Of, PAPER, Scenario};
use weir_bench_model::claims::{NOT_MEASURED, all_hold};
use weir_bench_model::number::number;
use weir_bench_model::statistics::Estimate;

/// A verdict, and what it rests on.
type Judged = (Option<bool>, String);

/// The payload that the paper's text names.
const PAYLOAD: usize = 100;
/// The paper's "nearly the same" and "closely followed".
const NEARLY: f64 = 1.25;
/// Its "by 2 to 3", as a figure that is read off rounds to.
const TWO_TO_THREE: [f64; 2] = [1.5, 3.5];
/// By how much the efficiency of a protocol may differ where it is "not significantly affected".
const UNAFFECTED: f64 = 0.1;
const NAMES: [&str; 4] = ["CoAP", "WebSocket", "QoS 0", "QoS 1"];
/// Of CoAP, WebSocket, QoS 0 and QoS 1.
type Four = [Estimate; 4];

/// Means of all four on a link.
fn means(
    figures: &Figures<'_>,
    scenario: &Scenario,
    at: (&'static str, bool),
    metric: &str,
) -> Option<Four> {
    let mean = |of: &Of| {
        let metric = figures.metric(&of.on(at, PAYLOAD), of.server, metric)?;
        Some(metric.estimate)
    };
    let all: Option<Vec<Estimate>> = scenario[..4].iter().map(mean).collect();
    all?.try_into().ok()
}

/// The same with the modem, or without where it was not measured; whether with.
fn round_trips(
    figures: &Figures<'_>,
    scenario: &Scenario,
    link: &'static str,
) -> Option<(Four, bool)> {
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

fn milliseconds(times: Four) -> String {
    told(times.map(|it| it.mean / 1e3), " ms")
}

fn with_modem(modem: bool) -> &'static str {
    if modem { " behind the modem" } else { "" }
}

/// The paper's LAN: times of its servers, and what is asked of them; the gateway's beside.
fn on_wlan(figures: &Figures<'_>, asked: impl Fn(Four) -> Option<bool>) -> Judged {
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
    (asked(times), words)
}

/// Whether one is below every other.
fn is_below_all(one: Estimate, others: &[Estimate]) -> Option<bool> {
    all_hold(others.iter().map(|other| one.is_below(other)))
}

/// Whether every other is below one.
fn is_above_all(one: Estimate, others: &[Estimate]) -> Option<bool> {
    all_hold(others.iter().map(|other| other.is_below(&one)))
}

/// Figure 3.
pub(super) fn like_each_other(figures: &Figures<'_>) -> Judged {
    on_wlan(figures, |[coap, websocket, qos0, qos1]| {
        let three = [coap, websocket, qos0];
        let is_near = |it: &Estimate| is_below_all(*it, &three.map(|it| it.times(NEARLY)));
        let parts = three.iter().map(is_near);
        all_hold(parts.chain([is_above_all(qos1, &three)]))
    })
}

/// The abstract.
pub(super) fn lowest_time(figures: &Figures<'_>) -> Judged {
    on_wlan(figures, |[coap, websocket, qos0, qos1]| {
        let lowest = is_below_all(coap, &[websocket, qos0, qos1]);
        all_hold([lowest, websocket.is_below(&coap.times(NEARLY))])
    })
}

/// Whether QoS 1 takes longest where the paper measured; the other half of section V's claim.
pub(super) fn slowest_is_qos1(figures: &Figures<'_>) -> Judged {
    on_wlan(figures, |[others @ .., qos1]| is_above_all(qos1, &others))
}

/// A figure of all four on one link, and on another.
type Change = [Four; 2];

/// How many times as much it is there.
fn times([before, after]: &Change) -> [f64; 4] {
    std::array::from_fn(|at| after[at].mean / before[at].mean)
}

/// By how much it differs there, in words.
fn percent(change: &Change) -> String {
    told(times(change).map(|times| 100.0 * (times - 1.0)), " %")
}

/// Whether it is there between so many times as much, protocol by protocol.
fn is_between([before, after]: &Change, [least, most]: [f64; 2]) -> Option<bool> {
    let pairs = before.iter().zip(after);
    all_hold(pairs.flat_map(|(before, after)| {
        let least = before.times(least).is_below(after);
        [least, after.is_below(&before.times(most))]
    }))
}

/// Whether efficiency is the same on two links, but for what does not matter.
fn is_unaffected(etas: &Change) -> Option<bool> {
    is_between(etas, [1.0 - UNAFFECTED, 1.0 + UNAFFECTED])
}

/// Efficiency in the paper's place on two links.
fn etas(figures: &Figures<'_>, links: [&'static str; 2]) -> Option<Change> {
    let [from, to] = links.map(|link| {
        let at = |modem| means(figures, &PAPER, (link, modem), "eta");
        at(true).or_else(|| at(false))
    });
    Some([from?, to?])
}

/// Round trips on one link and on another.
fn trips(
    figures: &Figures<'_>,
    scenario: &Scenario,
    modem: bool,
    (from, to): (&'static str, &'static str),
) -> Option<Change> {
    let on = |link| means(figures, scenario, (link, modem), "rtt");
    Some([on(from)?, on(to)?])
}

/// With and without the modem, of both scenarios, in words; and the one that is judged.
fn compared(
    figures: &Figures<'_>,
    links: (&'static str, &'static str),
) -> (Option<Change>, String) {
    let of = |scenario, modem| trips(figures, scenario, modem, links);
    let shown =
        |value: Option<Change>| value.map_or(NOT_MEASURED.into(), |all| told(times(&all), "x"));
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
    let (Some(longer), Some(etas)) = (longer, etas(figures, [WLAN, ISP])) else {
        return (None, words);
    };
    let holds = all_hold([is_unaffected(&etas), is_between(&longer, TWO_TO_THREE)]);
    let percent = percent(&etas);
    (holds, format!("{words}; efficiency changes by {percent}"))
}

/// Figure 7; the paper itself puts it down to the time of its measurements.
pub(super) fn on_cellular(figures: &Figures<'_>) -> Judged {
    let (longer, words) = compared(figures, (ISP, CELLULAR));
    let reversed = longer.and_then(|[before, after]| {
        let is_near = |at: usize| after[at].is_below(&before[at].times(NEARLY));
        let [coap, websocket, qos0, qos1] = [0, 1, 2, 3].map(is_near);
        let not = |holds: Option<bool>| holds.map(|holds| !holds);
        all_hold([not(coap), not(websocket), qos0, qos1])
    });
    let why = "here all protocols meet the same drawn trace, one after the other";
    (reversed, format!("{words}; {why}"))
}

/// Figure 6: the efficiency of the cellular network beside that of the LAN.
pub(super) fn cellular_efficiency(figures: &Figures<'_>) -> Judged {
    let Some(etas) = etas(figures, [WLAN, CELLULAR]) else {
        return (None, NOT_MEASURED.into());
    };
    let percent = percent(&etas);
    let words = format!("{WLAN} to {CELLULAR} changes it by {percent}");
    (is_unaffected(&etas), words)
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
    let [.., eta0, eta1] = etas;
    let [.., qos0, qos1] = times;
    let holds = all_hold([
        eta1.times(NEARLY).is_below(&eta0),
        qos0.times(NEARLY).is_below(&qos1),
    ]);
    let words = format!(
        "{WLAN}{}, {PAYLOAD} bytes: QoS 0 is {} times as efficient as QoS 1, which takes {} times \
         as long",
        with_modem(modem),
        number(eta0.mean / eta1.mean),
        number(qos1.mean / qos0.mean),
    );
    (holds, words)
}

#[cfg(test)]
mod tests;
