//! The page `docs/results/services.md`, generated from a run and from nothing else.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::cells::{PAYLOAD, PAYLOADS, QUEUES, STACKS, Setting, Stack, links, queued, simple};
use super::figures::{metric, named, result};
use super::servers;
use weir_bench_model::effort::Effort;
use weir_bench_model::number::number;
use weir_bench_model::published::SERVICES;
use weir_bench_model::results::{CellResult, Run};
use weir_bench_report::page::{self, head, row};

/// A stack and the name of a server that speaks it.
type Spoken = (&'static Stack, &'static str);
/// A column: its title, and its cell, whose stack is that of the row.
type Column = (String, Setting);

/// The page of a run; `folder` is where the run lies, for the command that made the page.
pub(super) fn markdown(run: &Run, folder: &str) -> String {
    let mut text = page::begin("Services", run, folder, QUICK);
    text += HOW;
    page::claims(run, JUDGED, &mut text);
    table_1(run, &mut text);
    by_payload(run, &mut text);
    bytes(run, &mut text);
    by_depth(run, &mut text);
    by_family(run, &mut text);
    by_link(run, &mut text);
    by_queue(run, &mut text);
    spent(run, &mut text);
    page::ratios(run, &mut text);
    page::absent(run, &mut text);
    text += ABSENT;
    text
}

const QUICK: &str = "
**A quick run**: some hundred messages a cell, eight a round over a link, where the paper sent 10,000; on a machine
that may have had other work. It shows orders of magnitude: do not quote its times.
";

const HOW: &str = "\n## How it was measured

The scenario is that of Karnouskos and Somlev 2012 (paper 001): a client sends a simple message of several value
fields (texts, integers, floating point, truths), waits for the answer, and sends the next. The paper does not print
its message; here it has 100 bytes of Protobuf, and larger ones have more of the same fields; SOAP carries the same
fields. **Serialization** runs from values to bytes, **RTT** from those bytes to the bytes of the answer,
**deserialization** from bytes back to values: none of the three contains another. Client and server share the
machine, and one clock; the paper's were two machines on a LAN, and all of it was Java. Both codings are timed in the
client, which is weir's: its codec of Protobuf, and its reader and writer of envelopes. An envelope in EXI is made from
one in XML, which its serialization contains.

**Rows.** `soap` is the call of a web service as the paper's on Axis2: `publish` of the gateway's WSDL in an envelope
of SOAP 1.2, by HTTP; `soap ..., exi` has the envelope in EXI without a schema, `soap coap` is POSTed by CoAP over
datagrams, which the paper names as future work. `dpws` looks for the device by a directed probe before each call of the
service that it hosts, and both are in its RTT, as discovery is in the paper's; probes of everybody are not measured,
since answers to them wait up to half a second (WS-Discovery 1.1 section 3.1.3). `rest` is Protobuf POSTed by HTTP,
`coap` Protobuf POSTed by CoAP.

**Servers.** The paper's kept nothing. Neither do Apache CXF, Jersey and Californium, which as the paper's stacks are
Java; and Tornado and libcoap (`coap-server -e`). All send the message back, and that is what is deserialized; the Java
programs (`conformance/services-bench`) read it into objects and write it anew. `weir` answers when all fields are on
disk, without the message, and what was sent is what is deserialized. Its round trips therefore contain a write to
disk. **A Java virtual machine is warmed** by 2,000 calls before its first round (10,000 in full), and as the others by
30 (100) before each; over links longer than `lan` Java takes no part, since there such a warm-up takes minutes. A CoAP
client goes on from another port before its 65,536 message identifiers come again, since a server may take a message
for a repetition for 247 s (RFC 7252 section 4.4). **IPv4 and IPv6** take turns, round by round.

**Bytes** are counted at the client, both ways: application is what it gives to its socket and takes from it (TLS
included), transport adds headers of UDP or TCP (segments as the kernel counts them, acknowledgments among them),
and network those of IP. Opening the connection is not in them and is told apart. **Calls under way** are pipelined
(HTTP/1.1), streams (HTTP/2) or tokens (CoAP, with NSTART as many); a call waits there for those before it. Without an
answer within 5 s a call by datagrams is lost; a connection may be silent for 20 s, in which TCP has sent again what was
lost.

**OSCORE** stands where a row of CoAP by DTLS would: the gateway speaks no DTLS ([decision
18](../decisions/0018-oscore-and-tls-for-coap.md)). It begins with a request that the gateway has the client repeat,
by which it knows that nobody replays it. A gateway that has just started answers it when its sequence numbers are on
disk; a client that asks before asks again after 2 to 3 s, and so the opening of a first round may take as long.
";

const JUDGED: &str = "Judged on the servers that keep nothing, as the paper's did, \
                      in Java where that was measured.\n\n";

const ABSENT: &str = "
## Not there yet

- DPWS (table I) beside another device than the gateway: absent: sdc11073 of PyPI brings one, in the place of JMEDS
- Axis2, JMEDS and jCoAP themselves: absent: Apache CXF, Jersey and Californium of Maven Central stand in their places
- CoAP by DTLS: the gateway does not speak it; OSCORE stands in its place, for the reasons of
  [decision 18](../decisions/0018-oscore-and-tls-for-coap.md)
";

/// Every stack as every server speaks it.
fn all() -> impl Iterator<Item = Spoken> {
    let spoken = |stack| servers::of(&simple(stack, PAYLOAD)).map(move |it| (stack, it.name));
    STACKS.iter().flat_map(spoken)
}

fn is_measured(run: &Run, setting: &Setting, server: &str) -> bool {
    result(run, setting, server).is_some_and(|result| !result.metrics.is_empty())
}

/// A row a stack and server, of those that were measured in so many columns; those that nothing was
/// measured of are left out.
fn table(
    run: &Run,
    columns: &[Column],
    least: usize,
    shown: impl Fn(&CellResult) -> String,
    text: &mut String,
) {
    let of = |stack, cell: Setting| Setting { stack, ..cell };
    let measured = |(_, cell): &&Column| {
        all().any(|(stack, server)| is_measured(run, &of(stack, *cell), server))
    };
    let columns: Vec<&Column> = columns.iter().filter(measured).collect();
    let mut titles = vec!["stack", "server"];
    titles.extend(columns.iter().map(|(title, _)| title.as_str()));
    head(&titles, text);
    for (stack, server) in all() {
        let cells = columns.iter().map(|(_, cell)| {
            let found = result(run, &of(stack, *cell), server);
            let found = found.filter(|result| !result.metrics.is_empty());
            found.map_or("-".into(), &shown)
        });
        let cells: Vec<String> = cells.collect();
        if cells.iter().filter(|cell| *cell != "-").count() >= least {
            row([named(stack), server.into()].into_iter().chain(cells), text);
        }
    }
}

/// Columns of levels, each of which makes a cell.
fn columns<T: Copy>(
    levels: &[T],
    title: impl Fn(T) -> String,
    cell: impl Fn(T) -> Setting,
) -> Vec<Column> {
    levels
        .iter()
        .map(|&level| (title(level), cell(level)))
        .collect()
}

/// A call alone on this machine, by whichever stack.
fn alone(payload_bytes: usize) -> Setting {
    simple(&STACKS[0], payload_bytes)
}

fn by_bytes() -> Vec<Column> {
    columns(&PAYLOADS, |bytes| format!("{bytes} B"), alone)
}

/// A distribution in microseconds divided by `scale`: the mean, and in brackets p50 and p99; and what is lost.
fn times(result: &CellResult, name: &str, scale: f64) -> String {
    let metric = result.metric(name);
    let Some((metric, p)) = metric.and_then(|metric| Some((metric, metric.percentiles?))) else {
        return "-".into();
    };
    let [mean, p50, p99] = [p.mean, p.p50, p.p99].map(|us| number(us / scale));
    match metric.lost {
        0 => format!("{mean} ({p50} / {p99})"),
        lost => format!("{mean} ({p50} / {p99}), {lost} lost"),
    }
}

fn mean(result: &CellResult, name: &str) -> String {
    let metric = result.metric(name);
    metric.map_or("-".into(), |metric| number(metric.estimate.mean))
}

fn table_1(run: &Run, text: &mut String) {
    let _ = writeln!(
        text,
        "\n## Table I\n\nMessages of {PAYLOAD} bytes, one after the other; means, us, and in brackets p50 / p99. \
         The paper's row stands above its protocol's.\n"
    );
    let columns = [
        "stack",
        "server",
        "serialization",
        "RTT",
        "deserialization",
        "n",
    ];
    head(&columns, text);
    for published in SERVICES.rows() {
        let printed = ["serialization_ns", "rtt_ns", "deserialization_ns"];
        let printed = printed.map(|column| {
            let value = published.number(column);
            value.map_or("-".into(), |ns| number(ns / 1e3))
        });
        let name = published.text("stack");
        let named = [format!("**{name}**"), "published".into()];
        row(
            named.into_iter().chain(printed).chain(["10,000".into()]),
            text,
        );
        let protocol = STACKS.iter().find(|stack| stack.published == Some(name));
        let protocol = protocol.map(|stack| stack.protocol);
        for spoken in all().filter(|(stack, _)| Some(stack.protocol) == protocol) {
            measured_row(run, spoken, text);
        }
    }
}

fn measured_row(run: &Run, (stack, server): Spoken, text: &mut String) {
    let setting = simple(stack, PAYLOAD);
    let Some(found) = result(run, &setting, server).filter(|it| !it.metrics.is_empty()) else {
        return;
    };
    let figures = ["serialization", "rtt", "deserialization"].map(|name| times(found, name, 1.0));
    let n = metric(run, &setting, server, "rtt").and_then(|metric| metric.percentiles);
    let n = n.map_or("-".into(), |p| p.n.to_string());
    let named = [named(stack), server.into()];
    row(named.into_iter().chain(figures).chain([n]), text);
}

fn by_payload(run: &Run, text: &mut String) {
    *text += "\n## Round trips by size of the message, us\n\nMean, and p50 / p99 in brackets; one call at \
              a time.\n\n";
    table(run, &by_bytes(), 1, |it| times(it, "rtt", 1.0), text);
}

fn bytes(run: &Run, text: &mut String) {
    *text += "\n## Bytes a call\n\nA message and its answer: application / transport / with IP, and packets in \
              brackets; one call at a time.\n\n";
    let shown = |it: &CellResult| {
        let names = ["application_bytes", "transport_bytes", "network_bytes"];
        let [application, transport, network] = names.map(|name| mean(it, name));
        let packets = mean(it, "packets");
        format!("{application} / {transport} / {network} ({packets})")
    };
    table(run, &by_bytes(), 1, shown, text);
}

fn by_depth(run: &Run, text: &mut String) {
    *text += "\n## Calls under way\n\nCalls answered a second, and in brackets p50 / p99 of the RTT, us; messages of \
              100 bytes.\n\n";
    let cell = |depth| Setting {
        depth,
        ..alone(PAYLOAD)
    };
    let columns = columns(&[1, 8, 32], |depth| format!("{depth} at once"), cell);
    let shown = |it: &CellResult| {
        let rate = mean(it, "message_rate");
        let rtt = it.metric("rtt").and_then(|metric| metric.percentiles);
        let rtt = rtt.map(|p| format!(" ({} / {})", number(p.p50), number(p.p99)));
        rate + &rtt.unwrap_or_default()
    };
    table(run, &columns, 2, shown, text);
}

fn by_family(run: &Run, text: &mut String) {
    *text += "\n## IPv4 and IPv6, us\n\nRTT: mean, and p50 / p99 in brackets.\n\n";
    let cell = |family| Setting {
        family,
        ..alone(PAYLOAD)
    };
    let columns = columns(&["ipv4", "ipv6"], str::to_owned, cell);
    table(run, &columns, 2, |it| times(it, "rtt", 1.0), text);
}

fn by_link(run: &Run, text: &mut String) {
    if run.links.is_empty() {
        return;
    }
    *text += "\n## Over emulated links\n\nRTT, ms: mean, and p50 / p99 in brackets. Each link is measured before it is \
              used:\n\n";
    for (link, used) in &run.links {
        let _ = writeln!(text, "- `{link}`: {used}");
    }
    *text += "\n";
    let cell = |link| Setting {
        link,
        ..alone(PAYLOAD)
    };
    let titled = |link| format!("{link}{}", counted(run, &cell(link)));
    let columns = columns(&links(Effort::Full), titled, cell);
    table(run, &columns, 1, |it| times(it, "rtt", 1e3), text);
}

/// How many messages the figures of a column are of, whatever the stack; nothing of a column without any.
fn counted(run: &Run, cell: &Setting) -> String {
    let of = |(stack, server): Spoken| {
        let setting = Setting { stack, ..*cell };
        Some(metric(run, &setting, server, "rtt")?.percentiles?.n)
    };
    let counts: BTreeSet<u64> = all().filter_map(of).collect();
    match (counts.first(), counts.last()) {
        (Some(least), Some(most)) if least == most => format!(", n = {most}"),
        (Some(least), Some(most)) => format!(", n = {least} to {most}"),
        _ => String::new(),
    }
}

fn by_queue(run: &Run, text: &mut String) {
    let is_queued = |it: &CellResult| it.cell.contains(";queue=") && !it.metrics.is_empty();
    if !run.results.iter().any(is_queued) {
        return;
    }
    *text += "\n## A queue that fills\n\nRTT, ms, of 32 calls of 1000 bytes at once over `3g`, by the bytes that may \
              wait for its medium.\n\n";
    let cell = |bytes| queued(&STACKS[0], bytes);
    let columns = columns(&QUEUES, |bytes| format!("{bytes} B"), cell);
    table(run, &columns, 1, |it| times(it, "rtt", 1e3), text);
}

/// What both sides take, and what opening costs.
fn spent(run: &Run, text: &mut String) {
    *text += "\n## What both sides spend\n\nMessages of 100 bytes, one at a time: processors kept \
              busy, processor time a call, us, peak resident memory, MiB; and what opening the \
              connection takes, us.\n\n";
    head(
        &[
            "stack",
            "server",
            "server cpus",
            "server us a call",
            "server MiB",
            "client cpus",
            "client us a call",
            "client MiB",
            "opening",
        ],
        text,
    );
    for (stack, server) in all() {
        let setting = simple(stack, PAYLOAD);
        let of = |name: &str| Some(metric(run, &setting, server, name)?.estimate.mean);
        let Some(opening) = of("opening_time") else {
            continue;
        };
        let rate = of("message_rate");
        let mut cells = vec![named(stack), server.into()];
        for side in ["server", "load"] {
            let cpus = of(&format!("{side}_cpu"));
            let a_call = cpus.zip(rate).map(|(cpus, rate)| cpus / rate * 1e6);
            let memory = of(&format!("{side}_memory_peak")).map(|bytes| bytes / 1_048_576.0);
            let shown = [cpus, a_call, memory].map(|it| it.map_or("-".into(), number));
            cells.extend(shown);
        }
        cells.push(number(opening));
        row(cells, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::latency::Percentiles;
    use weir_bench_model::link_used::LinkUsed;
    use weir_bench_model::results::single;

    fn timed(cell: &Setting, n: u64) -> CellResult {
        let mut rtt = single("rtt", "us", 1500.0);
        rtt.percentiles = Some(Percentiles {
            n,
            ..Percentiles::default()
        });
        CellResult {
            cell: cell.name(),
            target: "weir".into(),
            metrics: vec![rtt],
            ..CellResult::default()
        }
    }

    #[test]
    fn a_column_of_a_link_says_of_how_many_messages_it_is() {
        let [first, second, ..] = STACKS
            .iter()
            .map(|stack| simple(stack, PAYLOAD))
            .collect::<Vec<_>>()[..]
        else {
            panic!("two stacks")
        };
        let on = |link, cell| Setting { link, ..cell };
        let run = Run {
            links: [("lan".into(), LinkUsed::default())].into(),
            results: vec![
                timed(&on("lan", first), 500),
                timed(&on("lan", second), 500),
                timed(&on("3g", first), 40),
                timed(&on("3g", second), 50),
            ],
            ..Run::default()
        };
        let mut text = String::new();
        by_link(&run, &mut text);
        let titles = "| stack | server | lan, n = 500 | 3g, n = 40 to 50 |";
        assert!(text.contains(titles), "{text}");
    }
}
