//! What paper 000 says of protocols against each other.
//!
//! The paper had one broker a protocol (two of MQTT). Here each protocol stands by the best of other people's
//! brokers that was measured, and by the gateway where nobody else's was. The decision worth arguing: AMQP is
//! 0.9.1, as it was there; AMQP 1.0 is another protocol, of which the paper says nothing.

use super::super::cells::{Clients, State};
use super::super::figures::Of;
use super::super::protocols::{PROTOCOLS, Protocol};
use super::{Judgement, MOSQUITTO, with_doubt};
use weir_bench_model::claims::{NOT_MEASURED, all_hold};
use weir_bench_model::number::number;
use weir_bench_model::results::Run;
use weir_bench_model::statistics::Estimate;

const MQTT: &str = "mqtt";
const AMQP: &str = "amqp091";
const XMPP: &str = "xmpp";
const DDS: &str = "dds";
/// The protocols of the paper.
const ALL: [&str; 4] = [MQTT, AMQP, XMPP, DDS];

/// A broker and its figure.
type Best = (&'static str, Estimate);

fn best(
    run: &Run,
    protocol: &'static str,
    of: impl Fn(&'static Protocol) -> Of,
    metric: &str,
    less: bool,
) -> Option<Best> {
    let protocol = Protocol::named(protocol)?;
    let figure =
        |broker: &&'static str| Some((*broker, of(protocol).estimate(run, broker, metric)?));
    let others = protocol.others.iter().filter_map(figure);
    let best = match less {
        true => others.min_by(|a, b| a.1.mean.total_cmp(&b.1.mean)),
        false => others.max_by(|a, b| a.1.mean.total_cmp(&b.1.mean)),
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
    Some((broker, us.times(1e-3)))
}

fn words(all: &[Best]) -> String {
    let each = all
        .iter()
        .map(|(broker, value)| format!("{broker} {}", number(value.mean)));
    each.collect::<Vec<_>>().join(", ")
}

/// Judges figures once there are all; `None` among them is a protocol that was not measured.
fn judged<const N: usize>(
    all: [Option<Best>; N],
    unit: &str,
    holds: impl Fn([Estimate; N]) -> Option<bool>,
) -> Judgement {
    let there: Vec<Best> = all.into_iter().flatten().collect();
    match <[Best; N]>::try_from(there) {
        Ok(all) => {
            let verdict = holds(all.map(|(_, value)| value));
            with_doubt(verdict, format!("{unit}: {}", words(&all)))
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
        |[mqtt, amqp, xmpp, dds]| {
            let behind = [xmpp, dds].map(|it| amqp.is_below(&it));
            all_hold([mqtt.is_below(&amqp)].into_iter().chain(behind))
        },
    )
}

pub(super) fn dds_is_fastest(run: &Run) -> Judgement {
    let of = |protocol| rate(run, protocol, Clients::NativeNative);
    judged(
        ALL.map(of),
        "a second, between programs",
        |[mqtt, amqp, xmpp, dds]| {
            all_hold([mqtt, amqp, xmpp].map(|it| it.times(1.5).is_below(&dds)))
        },
    )
}

pub(super) fn mqtt_passes_more(run: &Run) -> Judgement {
    let of =
        Protocol::named(MQTT).map(|mqtt| Of::ping_pong(mqtt, Clients::NativeNative, State::Steady));
    let mosquitto = of.and_then(|of| of.estimate(run, MOSQUITTO, "message_rate"));
    let other = |protocol| rate(run, protocol, Clients::NativeNative);
    let all = [
        mosquitto.map(|rate| (MOSQUITTO, rate)),
        other(AMQP),
        other(XMPP),
    ];
    judged(all, "a second, between programs", |[mqtt, amqp, xmpp]| {
        all_hold([amqp, xmpp].map(|it| it.is_below(&mqtt)))
    })
}

pub(super) fn amqp_above_xmpp(run: &Run) -> Judgement {
    let of = |protocol| rate(run, protocol, Clients::NativeBrowser);
    let all = [of(AMQP), of(XMPP)];
    judged(all, "a second, native to browser", |[amqp, xmpp]| {
        xmpp.is_below(&amqp)
    })
}

/// Mosquitto is left out, as the paper leaves it out.
pub(super) fn dds_is_slow_in_browsers(run: &Run) -> Judgement {
    let of = |protocol| rate(run, protocol, Clients::BrowserBrowser);
    let hivemq = Protocol::named(MQTT)
        .map(|mqtt| Of::ping_pong(mqtt, Clients::BrowserBrowser, State::Steady))
        .and_then(|of| {
            let rate = of.estimate(run, super::HIVEMQ, "message_rate")?;
            Some((super::HIVEMQ, rate))
        });
    let all = [hivemq, of(AMQP), of(XMPP), of(DDS)];
    judged(
        all,
        "a second, browser to browser",
        |[mqtt, amqp, xmpp, dds]| all_hold([mqtt, amqp, xmpp].map(|it| dds.is_below(&it))),
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
            of.estimate(run, broker, "message_rate")
        };
        Some((*broker, of(State::Started)?, of(State::Steady)?))
    });
    let pairs: Vec<(&str, Estimate, Estimate)> = pairs.collect();
    if pairs.is_empty() {
        return (None, NOT_MEASURED.into());
    }
    let words = pairs.iter().map(|(broker, started, steady)| {
        let (started, steady) = (number(started.mean), number(steady.mean));
        format!("{broker} {started} right after its start, {steady} later")
    });
    let words = words.collect::<Vec<_>>().join("; ");
    let best = pairs.iter();
    let best = all_hold(best.map(|(_, started, steady)| steady.is_below(started)));
    with_doubt(best, format!("a second, native to browser: {words}"))
}

pub(super) fn xmpp_is_never_best(run: &Run) -> Judgement {
    let measured = PROTOCOLS.iter().any(|protocol| protocol.name == XMPP);
    if !measured || rate(run, XMPP, Clients::NativeNative).is_none() {
        return (None, NOT_MEASURED.into());
    }
    let won = tests_by_xmpp(run);
    let named = |wanted| {
        let of = won.iter().filter(|(_, won)| *won == wanted);
        let words = of.map(|(test, _)| test.as_str()).collect::<Vec<_>>();
        words.join(", ")
    };
    let never = all_hold(won.iter().map(|(_, won)| won.map(|won| !won)));
    let words = match never {
        Some(true) => "the best in no test that was measured".to_owned(),
        Some(false) => format!("the best in: {}", named(Some(true))),
        None => format!(
            "the best in none for sure; the intervals meet in: {}",
            named(None)
        ),
    };
    (never, words)
}

/// Every test in which XMPP and another took part, and whether XMPP is the best in it.
fn tests_by_xmpp(run: &Run) -> Vec<(String, Option<bool>)> {
    let latencies = Clients::ALL.into_iter().flat_map(|clients| {
        (1..=5).map(move |nodes| {
            let all = ALL.map(|protocol| transfer(run, protocol, clients, nodes));
            let name = format!("T_transfer {} of {nodes}", clients.name());
            Some((name, is_best(&all, |xmpp, other| xmpp.is_below(other))?))
        })
    });
    let rates = Clients::ALL.into_iter().map(|clients| {
        let all = ALL.map(|protocol| rate(run, protocol, clients));
        let name = format!("rate {}", clients.name());
        Some((name, is_best(&all, |xmpp, other| other.is_below(xmpp))?))
    });
    latencies.chain(rates).flatten().collect()
}

/// Whether XMPP, which is third, is better than all others that are there; nothing where there is no other.
fn is_best(
    all: &[Option<Best>; 4],
    is_better: impl Fn(&Estimate, &Estimate) -> Option<bool>,
) -> Option<Option<bool>> {
    let [mqtt, amqp, Some((_, xmpp)), dds] = all else {
        return None;
    };
    let others: Vec<&Best> = [mqtt, amqp, dds].into_iter().flatten().collect();
    let better = others.iter().map(|(_, other)| is_better(xmpp, other));
    (!others.is_empty()).then(|| all_hold(better))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(mean: f64) -> Estimate {
        Estimate {
            n: 4,
            mean,
            low: mean - 0.4,
            high: mean + 0.4,
        }
    }

    #[test]
    fn a_claim_of_protocols_needs_all_of_them() {
        let (mqtt, amqp) = (Some(("mosquitto", about(1.0))), Some(("qpid", about(2.0))));
        let (holds, words) = judged([mqtt, amqp], "ms", |[mqtt, amqp]| mqtt.is_below(&amqp));
        assert_eq!(
            (holds, words.as_str()),
            (Some(true), "ms: mosquitto 1.00, qpid 2.00")
        );
        let (holds, words) = judged([mqtt, None], "ms", |_| Some(true));
        assert!(holds.is_none() && words.contains("mosquitto"), "{words}");
        assert_eq!(
            judged([None, None], "ms", |_| Some(true)),
            (None, NOT_MEASURED.into())
        );
    }

    #[test]
    fn xmpp_is_best_where_it_is_below_all_that_are_there() {
        let below = |xmpp: &Estimate, other: &Estimate| xmpp.is_below(other);
        let all = |a, xmpp, c| {
            [
                Some(("a", about(a))),
                None,
                Some(("b", about(xmpp))),
                Some(("c", about(c))),
            ]
        };
        assert_eq!(is_best(&all(2.0, 1.0, 3.0), below), Some(Some(true)));
        assert_eq!(is_best(&all(2.0, 1.5, 3.0), below), Some(None));
        assert_eq!(is_best(&all(1.0, 2.0, 3.0), below), Some(Some(false)));
        assert_eq!(
            is_best(&[None, None, all(1.0, 1.0, 1.0)[2], None], below),
            None
        );
    }
}
