//! What paper 000 says in words about brokers, judged by a run.
//!
//! Means are compared by their intervals: where these meet, nothing can be said. What the paper says of protocols
//! against each other is judged in [`between`].

mod between;

use super::cells::{Clients, State};
use super::figures::Of;
use super::protocols::{PROTOCOLS, Protocol};
use weir_bench_model::claims::{NOT_MEASURED, all_hold, judged};
use weir_bench_model::number::number;
use weir_bench_model::results::{ClaimResult, Run};
use weir_bench_model::statistics::Estimate;

const MOSQUITTO: &str = "mosquitto";
const HIVEMQ: &str = "hivemq";

/// A verdict and the number that it rests on.
type Judgement = (Option<bool>, String);
/// How a run is asked for it.
type Judge = fn(&Run) -> Judgement;

/// Judges every claim that is listed as measured here.
pub(super) fn judge(run: &Run) -> Vec<ClaimResult> {
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

/// The rate between clients, of a broker that has run for a while.
fn rate(run: &Run, broker: &str, clients: Clients) -> Option<Estimate> {
    Of::ping_pong(mqtt(), clients, State::Steady).estimate(run, broker, "message_rate")
}

/// T_transfer between clients, milliseconds.
fn transfer(run: &Run, broker: &str, clients: Clients, nodes: usize) -> Option<Estimate> {
    let us = Of::transfer(mqtt(), clients, nodes).estimate(run, broker, "t_transfer")?;
    Some(us.times(1e-3))
}

/// What is said of a verdict that intervals leave open.
fn with_doubt(holds: Option<bool>, words: String) -> Judgement {
    match holds {
        None => (None, format!("{words}; the intervals meet")),
        Some(_) => (holds, words),
    }
}

fn collapse(run: &Run) -> Judgement {
    let rates = [Clients::NativeBrowser, Clients::BrowserBrowser]
        .map(|clients| rate(run, MOSQUITTO, clients));
    let [Some(to_browser), Some(between)] = rates else {
        return (None, NOT_MEASURED.into());
    };
    let version = run.targets.get(MOSQUITTO).map_or("", String::as_str);
    let of_five = Of::transfer(mqtt(), Clients::NativeBrowser, 5);
    let large = match of_five.estimate(run, MOSQUITTO, "t_transfer") {
        Some(us) => format!("take {} ms", number(us.mean / 1e3)),
        None if of_five.keeps_up(run, MOSQUITTO) => "were not measured".into(),
        None => "queue up at the rate of this run".into(),
    };
    let words = format!(
        "{version}: {} messages of one node a second native to browser, {} between browsers; \
         those of five nodes, more than the 4 kB that it writes to a page at once, {large}",
        number(to_browser.mean),
        number(between.mean)
    );
    let is_few = |rate: &Estimate| rate.is_below(&TEN);
    with_doubt(all_hold([to_browser, between].iter().map(is_few)), words)
}

/// Messages a second, of which a broker that collapsed passes fewer.
const TEN: Estimate = Estimate::exactly(10.0);

/// Of every protocol that was measured, and every broker of it.
fn growth(run: &Run) -> Judgement {
    let pairs: Vec<(String, Estimate, Estimate)> = PROTOCOLS
        .iter()
        .flat_map(|protocol| grown(run, protocol))
        .collect();
    if pairs.is_empty() {
        return (None, NOT_MEASURED.into());
    }
    let words = pairs.iter().map(|(who, one, five)| {
        let met = match one.is_below(five) {
            None => " (intervals meet)",
            Some(_) => "",
        };
        format!(
            "{who} {} to {} ms{met}",
            number(one.mean),
            number(five.mean)
        )
    });
    let words: Vec<String> = words.collect();
    let grows = pairs.iter().map(|(_, one, five)| one.is_below(five));
    (all_hold(grows), words.join(", "))
}

/// T_transfer of one node and of five by each broker.
fn grown(run: &Run, protocol: &'static Protocol) -> Vec<(String, Estimate, Estimate)> {
    let brokers = protocol.brokers(false).into_iter();
    let pairs = brokers.filter_map(|broker| {
        let of = |nodes| {
            let of = Of::transfer(protocol, Clients::NativeBrowser, nodes);
            Some(of.estimate(run, broker, "t_transfer")?.times(1e-3))
        };
        Some((format!("{} {broker}", protocol.title), of(1)?, of(5)?))
    });
    pairs.collect()
}

fn fastest_in_browsers(run: &Run) -> Judgement {
    let brokers = mqtt().others.iter();
    let mut rates: Vec<(&str, Estimate)> = brokers
        .filter_map(|broker| Some((*broker, rate(run, broker, Clients::BrowserBrowser)?)))
        .collect();
    rates.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
    let of = |name| rates.iter().find(|(broker, _)| *broker == name);
    let (Some((_, hivemq)), Some(_)) = (of(HIVEMQ), of(MOSQUITTO)) else {
        return (None, NOT_MEASURED.into());
    };
    let words: Vec<String> = rates
        .iter()
        .map(|(broker, rate)| format!("{broker} {}", number(rate.mean)))
        .collect();
    let words = format!(
        "of other people's MQTT brokers, a second: {}",
        words.join(", ")
    );
    let others = rates.iter().filter(|(broker, _)| *broker != HIVEMQ);
    let slower = others.map(|(_, rate)| rate.is_below(hivemq));
    with_doubt(all_hold(slower), words)
}

fn higher_latency(run: &Run) -> Judgement {
    let of = |broker| transfer(run, broker, Clients::NativeBrowser, 1);
    let (Some(hivemq), Some(mosquitto)) = (of(HIVEMQ), of(MOSQUITTO)) else {
        return (None, NOT_MEASURED.into());
    };
    let words = format!(
        "{} ms against {} ms at one node",
        number(hivemq.mean),
        number(mosquitto.mean)
    );
    with_doubt(mosquitto.is_below(&hivemq), words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::results::{CellResult, Metric};

    /// A run with T_transfer of one node to a page by two brokers, microseconds.
    fn run(times: [(&str, [f64; 3]); 2]) -> Run {
        let result = |(broker, [low, mean, high]): (&str, [f64; 3])| CellResult {
            cell: "protocol=mqtt;test=transfer;clients=native-browser;nodes=1;rate=1".into(),
            target: broker.into(),
            metrics: vec![Metric {
                metric: "t_transfer".into(),
                estimate: Estimate {
                    n: 4,
                    mean,
                    low,
                    high,
                },
                ..Metric::default()
            }],
            ..CellResult::default()
        };
        Run {
            results: times.into_iter().map(result).collect(),
            ..Run::default()
        }
    }

    #[test]
    fn means_whose_intervals_meet_say_nothing() {
        let hivemq = (HIVEMQ, [2000.0, 2400.0, 2800.0]);
        let apart = run([hivemq, (MOSQUITTO, [1200.0, 1400.0, 1600.0])]);
        let words = "2.40 ms against 1.40 ms at one node";
        assert_eq!(higher_latency(&apart), (Some(true), words.into()));
        let meeting = run([hivemq, (MOSQUITTO, [200.0, 1400.0, 2600.0])]);
        let words = format!("{words}; the intervals meet");
        assert_eq!(higher_latency(&meeting), (None, words));
    }
}
