//! What paper 000 says of protocols against each other.
//!
//! The paper had one broker a protocol (two of MQTT). Here each protocol stands by the best of other people's
//! brokers that was measured, and by the gateway where nobody else's was. The decision worth arguing: AMQP is
//! 0.9.1, as it was there; AMQP 1.0 is another protocol, of which the paper says nothing.

use super::super::cells::{Clients, State};
use super::super::figures::Of;
use super::super::protocols::{PROTOCOLS, Protocol};
use super::{Judgement, MOSQUITTO, NOT_MEASURED};
use crate::report::number;
use crate::results::Run;

const MQTT: &str = "mqtt";
const AMQP: &str = "amqp091";
const XMPP: &str = "xmpp";
const DDS: &str = "dds";
/// The protocols of the paper.
const ALL: [&str; 4] = [MQTT, AMQP, XMPP, DDS];

/// A broker and its figure.
type Best = (&'static str, f64);

fn best(
    run: &Run,
    protocol: &'static str,
    of: impl Fn(&'static Protocol) -> Of,
    metric: &str,
    less: bool,
) -> Option<Best> {
    let protocol = Protocol::named(protocol)?;
    let figure = |broker: &&'static str| Some((*broker, of(protocol).mean(run, broker, metric)?));
    let others = protocol.others.iter().filter_map(figure);
    let best = match less {
        true => others.min_by(|a, b| a.1.total_cmp(&b.1)),
        false => others.max_by(|a, b| a.1.total_cmp(&b.1)),
    };
    best.or_else(|| figure(&protocol.ours?))
}

/// The highest rate between clients.
fn rate(run: &Run, protocol: &'static str, clients: Clients) -> Option<Best> {
    let of = |protocol| Of::ping_pong(protocol, clients, State::Steady);
    best(run, protocol, of, "message_rate", false)
}

/// The lowest T_transfer, milliseconds.
fn transfer(run: &Run, protocol: &'static str, clients: Clients, nodes: usize) -> Option<Best> {
    let of = |protocol| Of::transfer(protocol, clients, nodes);
    let (broker, us) = best(run, protocol, of, "t_transfer", true)?;
    Some((broker, us / 1000.0))
}

fn words(all: &[Best]) -> String {
    let each = all
        .iter()
        .map(|(broker, value)| format!("{broker} {}", number(*value)));
    each.collect::<Vec<_>>().join(", ")
}

/// Judges figures once there are all; `None` among them is a protocol that was not measured.
fn judged<const N: usize>(
    all: [Option<Best>; N],
    unit: &str,
    holds: impl Fn([f64; N]) -> bool,
) -> Judgement {
    let there: Vec<Best> = all.into_iter().flatten().collect();
    match <[Best; N]>::try_from(there) {
        Ok(all) => {
            let verdict = holds(all.map(|(_, value)| value));
            (Some(verdict), format!("{unit}: {}", words(&all)))
        }
        Err(there) if there.is_empty() => (None, NOT_MEASURED.into()),
        Err(there) => {
            let known = words(&there);
            (
                None,
                format!("not measured whole in this run; {unit}: {known}"),
            )
        }
    }
}

pub(super) fn latencies_in_order(run: &Run) -> Judgement {
    let of = |protocol| transfer(run, protocol, Clients::NativeBrowser, 1);
    judged(
        ALL.map(of),
        "ms, native to browser, one node",
        |[mqtt, amqp, xmpp, dds]| mqtt < amqp && amqp < xmpp.min(dds),
    )
}

pub(super) fn dds_is_fastest(run: &Run) -> Judgement {
    let of = |protocol| rate(run, protocol, Clients::NativeNative);
    judged(
        ALL.map(of),
        "a second, between programs",
        |[mqtt, amqp, xmpp, dds]| dds >= 1.5 * mqtt.max(amqp).max(xmpp),
    )
}

pub(super) fn mqtt_passes_more(run: &Run) -> Judgement {
    let of =
        Protocol::named(MQTT).map(|mqtt| Of::ping_pong(mqtt, Clients::NativeNative, State::Steady));
    let mosquitto = of.and_then(|of| of.mean(run, MOSQUITTO, "message_rate"));
    let other = |protocol| rate(run, protocol, Clients::NativeNative);
    let all = [
        mosquitto.map(|rate| (MOSQUITTO, rate)),
        other(AMQP),
        other(XMPP),
    ];
    judged(all, "a second, between programs", |[mqtt, amqp, xmpp]| {
        mqtt > amqp.max(xmpp)
    })
}

pub(super) fn amqp_above_xmpp(run: &Run) -> Judgement {
    let of = |protocol| rate(run, protocol, Clients::NativeBrowser);
    let all = [of(AMQP), of(XMPP)];
    judged(all, "a second, native to browser", |[amqp, xmpp]| {
        amqp > xmpp
    })
}

/// Mosquitto is left out, as the paper leaves it out.
pub(super) fn dds_is_slow_in_browsers(run: &Run) -> Judgement {
    let of = |protocol| rate(run, protocol, Clients::BrowserBrowser);
    let hivemq = Protocol::named(MQTT)
        .map(|mqtt| Of::ping_pong(mqtt, Clients::BrowserBrowser, State::Steady))
        .and_then(|of| Some((super::HIVEMQ, of.mean(run, super::HIVEMQ, "message_rate")?)));
    let all = [hivemq, of(AMQP), of(XMPP), of(DDS)];
    judged(
        all,
        "a second, browser to browser",
        |[mqtt, amqp, xmpp, dds]| dds < mqtt.min(amqp).min(xmpp),
    )
}

/// Of every broker that was measured both ways; the paper's was Qpid.
pub(super) fn amqp_is_best_at_first(run: &Run) -> Judgement {
    let Some(amqp) = Protocol::named(AMQP) else {
        return (None, NOT_MEASURED.into());
    };
    let pairs = amqp.others.iter().filter_map(|broker| {
        let of = |state| {
            let of = Of::ping_pong(amqp, Clients::NativeBrowser, state);
            of.mean(run, broker, "message_rate")
        };
        Some((*broker, of(State::Started)?, of(State::Steady)?))
    });
    let pairs: Vec<(&str, f64, f64)> = pairs.collect();
    if pairs.is_empty() {
        return (None, NOT_MEASURED.into());
    }
    let words = pairs.iter().map(|(broker, started, steady)| {
        let (started, steady) = (number(*started), number(*steady));
        format!("{broker} {started} right after its start, {steady} later")
    });
    let words = words.collect::<Vec<_>>().join("; ");
    let best = pairs.iter().all(|(_, started, steady)| started > steady);
    (Some(best), format!("a second, native to browser: {words}"))
}

pub(super) fn xmpp_is_never_best(run: &Run) -> Judgement {
    let measured = PROTOCOLS.iter().any(|protocol| protocol.name == XMPP);
    if !measured || rate(run, XMPP, Clients::NativeNative).is_none() {
        return (None, NOT_MEASURED.into());
    }
    let latencies = Clients::ALL.into_iter().flat_map(|clients| {
        (1..=5).map(move |nodes| {
            (
                clients,
                ALL.map(|protocol| transfer(run, protocol, clients, nodes)),
            )
        })
    });
    let rates = Clients::ALL
        .into_iter()
        .map(|clients| (clients, ALL.map(|protocol| rate(run, protocol, clients))));
    let won = latencies
        .filter(|(_, all)| is_least(all))
        .map(|it| ("T_transfer", it.0));
    let won = won.chain(
        rates
            .filter(|(_, all)| is_most(all))
            .map(|it| ("rate", it.0)),
    );
    let won: Vec<String> = won
        .map(|(what, clients)| format!("{what} {}", clients.name()))
        .collect();
    let words = match won.is_empty() {
        true => "the best in no test that was measured".to_owned(),
        false => format!("the best in: {}", won.join(", ")),
    };
    (Some(won.is_empty()), words)
}

/// Whether XMPP, which is third, is below all others that are there.
fn is_least(all: &[Option<Best>; 4]) -> bool {
    let [mqtt, amqp, Some((_, xmpp)), dds] = all else {
        return false;
    };
    [mqtt, amqp, dds]
        .into_iter()
        .flatten()
        .all(|other| *xmpp < other.1)
}

fn is_most(all: &[Option<Best>; 4]) -> bool {
    let [mqtt, amqp, Some((_, xmpp)), dds] = all else {
        return false;
    };
    [mqtt, amqp, dds]
        .into_iter()
        .flatten()
        .all(|other| *xmpp > other.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_of_protocols_needs_all_of_them() {
        let (mqtt, amqp) = (Some(("mosquitto", 1.0)), Some(("qpid", 2.0)));
        let (holds, words) = judged([mqtt, amqp], "ms", |[mqtt, amqp]| mqtt < amqp);
        assert_eq!(
            (holds, words.as_str()),
            (Some(true), "ms: mosquitto 1.00, qpid 2.00")
        );
        let (holds, words) = judged([mqtt, None], "ms", |_| true);
        assert!(holds.is_none() && words.contains("mosquitto"), "{words}");
        assert_eq!(
            judged([None, None], "ms", |_| true),
            (None, NOT_MEASURED.into())
        );
    }

    #[test]
    fn xmpp_is_best_where_it_is_below_all_that_are_there() {
        let all = [Some(("a", 2.0)), None, Some(("b", 1.0)), Some(("c", 3.0))];
        assert!(is_least(&all) && !is_most(&all));
        assert!(!is_least(&[None, None, None, Some(("c", 3.0))]));
    }
}
