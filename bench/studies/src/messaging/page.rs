//! The page of the documentation: tables 7 and 8 of the paper, ours beside them, brokers and clients.

use std::fmt::Write;

use super::cells::{Clients, State};
use super::figures::{Of, published_brokers};
use super::protocols::{PROTOCOLS, Protocol};
use super::{goals, made_with, nodelay};
use weir_bench_model::number::number;
use weir_bench_model::published::{MESSAGING_LATENCY, MESSAGING_RATE};
use weir_bench_model::results::Run;
use weir_bench_report::page::{self, row};

/// The page of a run; `folder` is where the run lies.
pub(super) fn markdown(run: &Run, folder: &str) -> String {
    let mut text = page::begin("Messaging", run, folder, "");
    text += HOW;
    made_with::paragraph(run, &mut text);
    goals::table(run, &mut text);
    for protocol in PROTOCOLS {
        if !is_measured(run, protocol) {
            continue;
        }
        let _ = write!(text, "\n## {}\n\n{}\n", protocol.title, protocol.about);
        for clients in Clients::ALL {
            latencies(run, protocol, clients, &mut text);
        }
        for state in [State::Steady, State::Started] {
            rates(run, protocol, state, &mut text);
        }
        costs(run, protocol, &mut text);
    }
    nodelay::table(run, &mut text);
    page::ratios(run, &mut text);
    page::claims(run, "", &mut text);
    page::absent(run, &mut text);
    made_with::lacking(run, &mut text);
    text
}

const HOW: &str = "
After Babovic, Protic and Milutinovic 2016, section VII-F. T_transfer runs from the moment at which the data \
were due (before they are encoded) to that at which the other client has observations: a publisher that was held \
up pays for it, and by how much is its own metric (`schedule_lag`). The first messages of each round are sent \
and not counted, since a page has just been opened. Publishers never wait for arrivals. Where messages came \
later and later all through a round it says \"queues\": the broker does not pass so many, and the time is one of \
the round. To and fro is a closed loop, as in the paper, whose formula for T_transmission is printed upside \
down: meant, and used here, is 100 / (2 x messages passed). Clients and broker share one machine and one clock; \
the paper's broker was another machine, on a LAN. Native clients are ours in Rust where the paper had Java's, a \
thread or a process each, and the kernel was asked whether their sockets have TCP_NODELAY: a client without it \
is refused, and brokers that have a setting for it have it set; a table says what is known of each. What each \
promises stands with its protocol. The gateway keeps every message in its log; the others keep none. Why it is \
slower than one or faster than another, and what Mosquitto's WebSocket does with messages of more than 4 kB: \
[where the time goes](../concepts/latency-profile.md).
";

fn is_measured(run: &Run, protocol: &Protocol) -> bool {
    let start = format!("protocol={};", protocol.name);
    run.results
        .iter()
        .any(|result| result.cell.starts_with(&start))
}

fn shown(value: Option<f64>) -> String {
    value.map_or("-".into(), number)
}

/// A head whose first column is words.
fn head(first: &str, columns: impl IntoIterator<Item = String>, text: &mut String) {
    let columns: Vec<String> = columns.into_iter().collect();
    let rules = columns.iter().map(|_| "---:".to_owned());
    let rules: Vec<String> = std::iter::once("---".to_owned()).chain(rules).collect();
    row(std::iter::once(first.to_owned()).chain(columns), text);
    row(rules, text);
}

fn latencies(run: &Run, protocol: &'static Protocol, clients: Clients, text: &mut String) {
    let published = protocol
        .published
        .filter(|_| clients == Clients::NativeBrowser);
    let table = published.map_or("", |_| " (table 7)");
    let _ = write!(
        text,
        "\n## T_transfer by {}, {}{table}, ms\n\nMean; behind it the median.\n\n",
        protocol.title,
        clients.name()
    );
    let columns = ["1 node", "2 nodes", "3 nodes", "4 nodes", "5 nodes"];
    head("broker", columns.map(str::to_owned), text);
    if let Some(name) = published {
        let rows = MESSAGING_LATENCY.rows();
        let rows = rows.iter().filter(|row| row.text("protocol") == name);
        let cells = rows.map(|row| shown(row.number("transfer_ms")));
        let brokers = published_brokers(protocol);
        let first = format!("published ({})", brokers.first().map_or("", String::as_str));
        row(std::iter::once(first).chain(cells), text);
    }
    for broker in protocol.brokers(true) {
        let cell = |nodes| {
            let of = Of::transfer(protocol, clients, nodes);
            let metric = of.metric(run, broker, "t_transfer");
            let median = metric.and_then(|m| m.percentiles).map(|p| p.p50 / 1000.0);
            let mean = metric.map(|metric| metric.estimate.mean / 1000.0);
            match mean.zip(median) {
                Some(_) if !of.keeps_up(run, broker) => "queues".into(),
                Some((mean, median)) => format!("{} ({})", number(mean), number(median)),
                None => "-".into(),
            }
        };
        let cells: Vec<String> = (1..=5).map(cell).collect();
        if cells.iter().any(|cell| cell != "-") {
            row(std::iter::once(broker.to_owned()).chain(cells), text);
        }
    }
}

fn rates(run: &Run, protocol: &'static Protocol, state: State, text: &mut String) {
    let measured = rate_rows(run, protocol, state);
    if measured.is_empty() {
        return;
    }
    let after = match state {
        State::Steady if protocol.published.is_none() => "by a broker that has run for a while",
        State::Steady => "table 8",
        State::Started => "right after the broker's start",
    };
    let _ = write!(
        text,
        "\n## Messages to and fro a second by {}, {after}\n\nBehind each T_transmission, ms.\n\n",
        protocol.title
    );
    head(
        "broker",
        Clients::ALL.map(|clients| clients.name().to_owned()),
        text,
    );
    if state == State::Steady {
        for broker in published_brokers(protocol) {
            let cells = Clients::ALL.map(|clients| published_rate(&broker, clients));
            row(
                std::iter::once(format!("{broker}, published")).chain(cells),
                text,
            );
        }
    }
    for cells in measured {
        row(cells, text);
    }
}

/// A row for each broker that passed messages.
fn rate_rows(run: &Run, protocol: &'static Protocol, state: State) -> Vec<Vec<String>> {
    let of_broker = |broker: &str| {
        let cells = Clients::ALL.map(|clients| {
            let of = Of::ping_pong(protocol, clients, state);
            let rate = of.mean(run, broker, "message_rate");
            let time = of.mean(run, broker, "t_transmission").map(|us| us / 1000.0);
            let both = rate.zip(time);
            both.map(|(rate, time)| format!("{} ({})", number(rate), number(time)))
        });
        let is_measured = cells.iter().any(Option::is_some);
        let shown = cells.map(|cell| cell.unwrap_or_else(|| "-".into()));
        is_measured.then(|| [&[broker.to_owned()], &shown[..]].concat())
    };
    let brokers = protocol.brokers(true);
    brokers.into_iter().filter_map(of_broker).collect()
}

fn published_rate(broker: &str, clients: Clients) -> String {
    let rows = MESSAGING_RATE.rows();
    let mut of = rows
        .iter()
        .filter(|row| row.text("broker") == broker && row.text("clients") == clients.name());
    let figures = of.next().map(|row| {
        let (rate, time) = (row.number("rate_msg_s"), row.number("transmission_ms"));
        format!("{} ({})", shown(rate), shown(time))
    });
    figures.unwrap_or_else(|| "-".into())
}

/// Processor time and memory while messages go to and fro.
fn costs(run: &Run, protocol: &'static Protocol, text: &mut String) {
    let _ = write!(
        text,
        "\n## What both sides spend while messages go to and fro by {}\n\nProcessors kept busy and peak \
         resident memory, MiB: of the broker, of the native clients, of the browsers.\n\n",
        protocol.title
    );
    let columns = Clients::ALL.map(|clients| clients.name().to_owned());
    head("broker", columns, text);
    for broker in protocol.brokers(true) {
        let cells = Clients::ALL.map(|clients| {
            let of = Of::ping_pong(protocol, clients, State::Steady);
            let sides = ["server", "load", "browser"].map(|side| {
                let cpu = of.mean(run, broker, &format!("{side}_cpu"));
                let memory = of.mean(run, broker, &format!("{side}_memory_peak"));
                let memory = memory.map(|bytes| bytes / 1_048_576.0);
                cpu.map(|cpu| format!("{} / {}", number(cpu), shown(memory)))
            });
            let sides: Vec<String> = sides.into_iter().flatten().collect();
            sides.join(", ")
        });
        if cells.iter().any(|cell| !cell.is_empty()) {
            row(std::iter::once(broker.to_owned()).chain(cells), text);
        }
    }
}
