//! Who of each broker's connections sends at once (`TCP_NODELAY`), as far as it is known.
//!
//! The kernel tells it of one's own sockets alone: of the bench's clients it is asked, of a broker's side there is what
//! sets it. What it deliberately does not do: guess; a broker without a setting for it is said to be unknown.

use super::protocols::PROTOCOLS;
use weir_bench_model::results::Run;
use weir_bench_report::page::{self, row};

const BY_WEIR: &str = "set by weir on every connection";
const BY_RELAY: &str = "set by websockify on both of its connections";
const NO_TCP: &str = "no TCP";
const UNKNOWN: &str = "not known: it has no setting";

/// A broker's side of a program's connection, and of what a page's passes.
type Known = (&'static str, &'static str, &'static str);

static KNOWN: [Known; 17] = [
    ("weir_mqtt", BY_WEIR, BY_WEIR),
    (
        "mosquitto",
        "`set_tcp_nodelay true`",
        "not known: its WebSocket is a library's",
    ),
    ("hivemq", UNKNOWN, UNKNOWN),
    ("nats", UNKNOWN, UNKNOWN),
    (
        "rabbitmq",
        "`mqtt.tcp_listen_options.nodelay`",
        "not known: nothing is set for its WebSocket",
    ),
    ("given", "not known", "not known"),
    ("rabbitmq_amqp091", "`tcp_listen_options.nodelay`", BY_RELAY),
    ("qpid_amqp091", "`tcpNoDelay`", BY_RELAY),
    ("weir_amqp10", BY_WEIR, BY_WEIR),
    ("rabbitmq_amqp10", "`tcp_listen_options.nodelay`", BY_RELAY),
    ("qpid_amqp10", "`tcpNoDelay`", "`tcpNoDelay`"),
    (
        "weir_xmpp",
        "`nagle = false` of Prosody; by weir between it and Prosody",
        "the same",
    ),
    ("prosody", "`nagle = false`", "`nagle = false`"),
    ("weir_dds", NO_TCP, BY_WEIR),
    ("rustdds", NO_TCP, NO_TCP),
    ("cyclone", NO_TCP, NO_TCP),
    ("cyclone_weir", NO_TCP, BY_WEIR),
];

/// The page's table: brokers that the run has.
pub(super) fn table(run: &Run, text: &mut String) {
    let has = |name: &str| run.results.iter().any(|result| result.target == name);
    let mut rows = of_protocols().filter(|(name, _)| has(name)).peekable();
    if rows.peek().is_none() {
        return;
    }
    *text += "\n## TCP_NODELAY\n\nThe bench's native clients have it set, and the kernel was asked; a page's side is \
              the browser's. The broker's side:\n\n";
    page::head(&["broker", "programs", "pages"], text);
    for (name, known) in rows {
        let (programs, pages) = known.map_or((UNKNOWN, UNKNOWN), |it| (it.1, it.2));
        row([name, programs, pages].map(str::to_owned), text);
    }
}

/// Each broker, in the order of the report, and what is known of it.
fn of_protocols() -> impl Iterator<Item = (&'static str, Option<&'static Known>)> {
    let brokers = PROTOCOLS.iter().flat_map(|protocol| protocol.brokers(true));
    let mut told = Vec::new();
    for name in brokers {
        if !told.contains(&name) {
            told.push(name);
        }
    }
    let known = |name: &str| KNOWN.iter().find(|known| known.0 == name);
    told.into_iter().map(move |name| (name, known(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::results::CellResult;

    #[test]
    fn of_every_broker_it_is_said() {
        for (name, known) in of_protocols() {
            assert!(known.is_some(), "{name}");
        }
    }

    #[test]
    fn the_page_has_a_row_of_each_broker_of_the_run_once() {
        let of = |target: &str| CellResult::absent("protocol=mqtt;nodes=1", target, "ok");
        let run = Run {
            results: vec![of("mosquitto"), of("mosquitto"), of("weir_mqtt")],
            ..Run::default()
        };
        let mut text = String::new();
        table(&run, &mut text);
        let rows: Vec<&str> = text
            .lines()
            .skip_while(|it| !it.starts_with("| ---"))
            .collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert!(rows[2].starts_with("| mosquitto | `set_tcp_nodelay true` |"));
        let mut nothing = String::new();
        table(&Run::default(), &mut nothing);
        assert!(nothing.is_empty());
    }
}
