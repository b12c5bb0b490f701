//! What paper 000 says in words about brokers, judged by a run.
//!
//! What it says of protocols against each other is judged in [`between`].

mod between;

use super::cells::{Clients, State};
use super::figures::Of;
use super::protocols::{PROTOCOLS, Protocol};
use crate::claims::judged;
use crate::report::number;
use crate::results::{ClaimResult, Run};

const NOT_MEASURED: &str = "not measured in this run";
const MOSQUITTO: &str = "mosquitto";
const HIVEMQ: &str = "hivemq";

/// A verdict and the number that it rests on.
type Judgement = (Option<bool>, String);
/// How a run is asked for it.
type Judge = fn(&Run) -> Judgement;

/// Judges every claim that is listed as measured here.
pub(crate) fn judge(run: &Run) -> Vec<ClaimResult> {
    let judgements: [(&str, Judge); 11] = [
        ("babovic-mosquitto-websocket-collapses", collapse),
        ("babovic-latency-grows-with-size", growth),
        ("babovic-hivemq-fastest-browser", fastest_in_browsers),
        ("babovic-hivemq-higher-latency", higher_latency),
        ("babovic-mqtt-lowest-latency", between::latencies_in_order),
        ("babovic-dds-highest-rate", between::dds_is_fastest),
        ("babovic-mqtt-native-rate", between::mqtt_passes_more),
        ("babovic-amqp-above-xmpp", between::amqp_above_xmpp),
        (
            "babovic-dds-slow-in-browser",
            between::dds_is_slow_in_browsers,
        ),
        (
            "babovic-amqp-best-after-start",
            between::amqp_is_best_at_first,
        ),
        ("babovic-xmpp-never-best", between::xmpp_is_never_best),
    ];
    let all = judgements.into_iter().map(|(id, judge)| {
        let (holds, words) = judge(run);
        judged(id, holds, words)
    });
    all.collect()
}

/// MQTT, of which all these speak.
fn mqtt() -> &'static Protocol {
    &PROTOCOLS[0]
}

/// The mean rate between clients, of a broker that has run for a while.
fn rate(run: &Run, broker: &str, clients: Clients) -> Option<f64> {
    Of::ping_pong(mqtt(), clients, State::Steady).mean(run, broker, "message_rate")
}

/// The mean T_transfer between clients, milliseconds.
fn transfer(run: &Run, broker: &str, clients: Clients, nodes: usize) -> Option<f64> {
    let mean = Of::transfer(mqtt(), clients, nodes).mean(run, broker, "t_transfer")?;
    Some(mean / 1000.0)
}

fn collapse(run: &Run) -> Judgement {
    let rates = [Clients::NativeBrowser, Clients::BrowserBrowser]
        .map(|clients| rate(run, MOSQUITTO, clients));
    let [Some(to_browser), Some(between)] = rates else {
        return (None, NOT_MEASURED.into());
    };
    let version = run.targets.get(MOSQUITTO).map_or("", String::as_str);
    let large = transfer(run, MOSQUITTO, Clients::NativeBrowser, 5).map(number);
    let large = large.unwrap_or_else(|| "unknown".into());
    let words = format!(
        "{version}: {} messages of one node a second native to browser, {} between browsers; \
         T_transfer of five nodes, more than the 4 kB that it writes to a page at once, \
         {large} ms",
        number(to_browser),
        number(between)
    );
    (Some(to_browser < 10.0 && between < 10.0), words)
}

/// Of every protocol that was measured, and every broker of it.
fn growth(run: &Run) -> Judgement {
    let pairs: Vec<(String, f64, f64)> = PROTOCOLS
        .iter()
        .flat_map(|protocol| grown(run, protocol))
        .collect();
    let words: Vec<String> = pairs
        .iter()
        .map(|(who, one, five)| format!("{who} {} to {} ms", number(*one), number(*five)))
        .collect();
    match pairs.is_empty() {
        true => (None, NOT_MEASURED.into()),
        false => {
            let grows = pairs.iter().all(|(_, one, five)| five > one);
            (Some(grows), words.join(", "))
        }
    }
}

/// T_transfer of one node and of five by each broker.
fn grown(run: &Run, protocol: &'static Protocol) -> Vec<(String, f64, f64)> {
    let brokers = protocol.brokers(false).into_iter();
    let pairs = brokers.filter_map(|broker| {
        let of = |nodes| {
            let of = Of::transfer(protocol, Clients::NativeBrowser, nodes);
            Some(of.mean(run, broker, "t_transfer")? / 1000.0)
        };
        Some((format!("{} {broker}", protocol.title), of(1)?, of(5)?))
    });
    pairs.collect()
}

fn fastest_in_browsers(run: &Run) -> Judgement {
    let brokers = mqtt().others.iter();
    let mut rates: Vec<(&str, f64)> = brokers
        .filter_map(|broker| Some((*broker, rate(run, broker, Clients::BrowserBrowser)?)))
        .collect();
    rates.sort_by(|a, b| b.1.total_cmp(&a.1));
    let measured = |name| rates.iter().any(|(broker, _)| *broker == name);
    if !measured(HIVEMQ) || !measured(MOSQUITTO) {
        return (None, NOT_MEASURED.into());
    }
    let words: Vec<String> = rates
        .iter()
        .map(|(broker, rate)| format!("{broker} {}", number(*rate)))
        .collect();
    let words = format!(
        "of other people's MQTT brokers, a second: {}",
        words.join(", ")
    );
    (Some(rates[0].0 == HIVEMQ), words)
}

fn higher_latency(run: &Run) -> Judgement {
    let of = |broker| transfer(run, broker, Clients::NativeBrowser, 1);
    let (Some(hivemq), Some(mosquitto)) = (of(HIVEMQ), of(MOSQUITTO)) else {
        return (None, NOT_MEASURED.into());
    };
    let words = format!(
        "{} ms against {} ms at one node",
        number(hivemq),
        number(mosquitto)
    );
    (Some(hivemq > mosquitto), words)
}
