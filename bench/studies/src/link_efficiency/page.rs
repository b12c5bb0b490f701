//! The page `docs/results/link-efficiency.md`, generated from a run and from nothing else.

use std::fmt::Write;

use super::cells::{Pace, Setting, payloads};
use super::claims::rested;
use super::figures::{Figures, Of};
use super::page_of_links::links;
use super::protocol::{Protocol, Security};
use super::servers::SERVERS;
use weir_bench_model::cell::LOCAL;
use weir_bench_model::effort::Effort;
use weir_bench_model::number::number;
use weir_bench_model::results::Run;
use weir_bench_report::page::{self, head, row};

/// The page of a run; `folder` is where the run lies, for the command that made the page.
pub(super) fn markdown(run: &Run, folder: &str) -> String {
    let mut text = page::begin("Efficiency on the link", run, folder, QUICK);
    text += HOW;
    let figures = Figures(&run.results);
    if run.claims.iter().any(|claim| claim.holds.is_some()) {
        page::claims(run, JUDGED, &mut text);
    } else {
        text += NOTHING_JUDGED;
    }
    if is_on_this_machine(run) {
        on_this_machine(run, &figures, &mut text);
    }
    links(run, &figures, &mut text);
    page::ratios(run, &mut text);
    page::absent(run, &mut text);
    text
}

/// Whether a run has cells without a link.
fn is_on_this_machine(run: &Run) -> bool {
    let local = format!("link={LOCAL};");
    let mut cells = run.results.iter().map(|result| &result.cell);
    cells.any(|cell| cell.starts_with(&local))
}

fn on_this_machine(run: &Run, figures: &Figures<'_>, text: &mut String) {
    page::goals(run, "", page::reached, text);
    efficiency(figures, text);
    bytes(figures, text);
    times(figures, text);
    rests(figures, text);
    openings(figures, text);
}

const NOTHING_JUDGED: &str = "
What the paper claims compares links or is of the machine itself; this run has neither, so it judges nothing.
";

const QUICK: &str = "
**A quick run**: bytes are those of a full one, but for acknowledgments of TCP; times are of a few hundred
packets, over links of eight to sixty, on a machine that may have had other work, and show orders of magnitude:
do not quote them. Only 100 bytes without a link have two rounds, and with them ratios an interval. The paper's modem
stands before its LAN alone.
";

const HOW: &str = "\n## How it was measured

The scenario is that of Mijovic, Shehu and Buratti 2016 (paper 003): a device sends a packet to a server, the
server sends back as many bytes, and then comes the next packet. Theirs went over Wi-Fi, a home router and a
cellular network; here it goes over loopback, where round trips are those of the servers, and over emulated links
(a part of its own below). Of the paper's figures only the captions and the numbers in its text reach us; it
names one payload size, 100 bytes.

**Echo.** `answer`: the server answers the packet itself, as the paper's WebSocket and CoAP servers did. libcoap's
`coap-server -e` returns what is PUT; Tornado runs a handler of two lines; from the gateway a GET is asked that
carries the payload (which has no meaning there) and is answered with the latest value, of as many bytes.
`subscription`: the device receives what it publishes, as the paper had it with MQTT: PUBLISH to a topic that is
subscribed to; a PUT or POST to a resource that is observed; a text to the gateway's WebSocket, which is a
subscriber of its own topic and is told besides, in a text of its own, that what it sent is kept. MQTT is 3.1.1;
topic and resource are called `echo` (the gateway's `live/echo`). `bare` is an echo of datagrams, or of a
stream, on the gateway's runtime and with no protocol at all.

**Bytes** are counted at the device, both ways. Application: what it gives to its socket and takes from it.
Transport: and 8 bytes a datagram (UDP), or 20 bytes a TCP segment and 12 for its timestamps, which Linux sends
and the paper's module did not; segments are those of `TCP_INFO`, acknowledgments without data included. With IP:
and 20 bytes a packet. Link layers are not counted. **Efficiency** is the paper's: payload, counted once, over all
bytes at application and transport layer; no protocol exceeds 0.5 by it. The conversation's opening is told apart.

**Time** runs on one clock, from the packet's creation to its echo in the application's hands (RTT), and until all
that the protocol promises is acknowledged (settled: PUBACK or PUBCOMP of the packet, release of the echo, the
response to a POST, the gateway's word that it is on disk). `next`: a packet follows its echo at once, so that
acknowledgments of TCP ride on it. `rest`: the device waits 60 ms, longer than they are delayed. Device and
server share the machine. The device sets TCP_NODELAY, and so do Mosquitto (`set_tcp_nodelay`), Tornado and
`bare`. Mosquitto, libcoap and Tornado keep nothing on disk; the gateway answers a QoS 1 or 2 PUBLISH, a POST and a
text when it is synced.

**Secrecy.** A row `in TLS` is its protocol within TLS 1.3; one `by OSCORE` stands where CoAP by DTLS would: the gateway
speaks no DTLS ([decision 18](../decisions/0018-oscore-and-tls-for-coap.md)).
";

const JUDGED: &str = "Judged on its own servers, in the versions above.\n\n";

/// Every protocol as every server speaks it, that was measured at some payload.
fn series(figures: &Figures<'_>, pace: Pace) -> Vec<Of> {
    let mut all = every();
    all.retain(|of| {
        let measured = |&bytes: &usize| {
            let result = figures.result(&of.at(bytes, pace), of.server);
            result.is_some_and(|result| !result.metrics.is_empty())
        };
        payloads(Effort::Full).iter().any(measured)
    });
    all
}

/// Every protocol, secured or not, as every server may speak it.
pub(super) fn every() -> Vec<Of> {
    let mut all = Vec::new();
    for protocol in Protocol::ALL {
        for security in [Security::None, Security::Tls, Security::Oscore] {
            for &echo in protocol.echoes() {
                all.extend(SERVERS.iter().map(|server| Of {
                    protocol,
                    security,
                    echo,
                    server: server.name,
                }));
            }
        }
    }
    all
}

/// Payloads at which anything was measured.
fn columns(figures: &Figures<'_>, pace: Pace, all: &[Of]) -> Vec<usize> {
    let measured = |&bytes: &usize| {
        all.iter()
            .any(|of| figures.result(&of.at(bytes, pace), of.server).is_some())
    };
    let bytes = payloads(Effort::Full).iter().copied();
    bytes.filter(measured).collect()
}

pub(super) fn named(of: &Of) -> [String; 3] {
    [
        match of.security {
            Security::None => of.protocol.name().into(),
            Security::Tls => format!("{} in TLS", of.protocol.name()),
            Security::Oscore => format!("{} by OSCORE", of.protocol.name()),
        },
        of.echo.name().into(),
        of.server.into(),
    ]
}

/// A table of series by payloads.
fn by_payload(
    figures: &Figures<'_>,
    pace: Pace,
    shown: impl Fn(&Setting, &str) -> String,
    text: &mut String,
) {
    let all = series(figures, pace);
    let payloads = columns(figures, pace, &all);
    let mut heads: Vec<String> = ["protocol", "echo", "server"].map(String::from).into();
    heads.extend(payloads.iter().map(|bytes| format!("{bytes} B")));
    head(&heads.iter().map(String::as_str).collect::<Vec<_>>(), text);
    for of in all {
        let cells = payloads
            .iter()
            .map(|&bytes| shown(&of.at(bytes, pace), of.server));
        row(named(&of).into_iter().chain(cells), text);
    }
}

fn mean(figures: &Figures<'_>, setting: &Setting, server: &str, metric: &str) -> Option<f64> {
    let metric = figures.metric(setting, server, metric)?;
    Some(metric.estimate.mean)
}

fn share(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.3}"))
}

fn efficiency(figures: &Figures<'_>, text: &mut String) {
    let tables = [
        (
            "eta",
            "Protocol efficiency",
            "Figure 2 of the paper, by its definition. Published: CoAP about 1/3 at 100 bytes.",
        ),
        (
            "eta_both_ways",
            "Efficiency, payload counted both ways",
            "The echo is payload too.",
        ),
        (
            "eta_with_ip",
            "Efficiency with the headers of IP",
            "As the first, over the bytes that IPv4 carries.",
        ),
    ];
    for (metric, title, about) in tables {
        let _ = writeln!(text, "\n## {title}\n\n{about}\n");
        let shown = |setting: &Setting, server: &str| share(mean(figures, setting, server, metric));
        by_payload(figures, Pace::Next, shown, text);
    }
}

fn bytes(figures: &Figures<'_>, text: &mut String) {
    *text += "\n## Bytes an exchange\n\nA packet and its echo: application / transport / with IP, and \
              packets in brackets.\n\n";
    let shown = |setting: &Setting, server: &str| {
        let whole = |metric| {
            let value = mean(figures, setting, server, metric)?;
            Some(format!("{value:.0}"))
        };
        let all = ["application_bytes", "transport_bytes", "network_bytes"].map(whole);
        let packets = mean(figures, setting, server, "packets");
        match (all, packets) {
            ([Some(application), Some(transport), Some(network)], Some(packets)) => {
                format!("{application} / {transport} / {network} ({packets:.2})")
            }
            _ => "-".into(),
        }
    };
    by_payload(figures, Pace::Next, shown, text);
}

fn times(figures: &Figures<'_>, text: &mut String) {
    *text += "\n## Round trips, us\n\nMean, and p50 / p99 in brackets.\n\n";
    let shown = |setting: &Setting, server: &str| {
        let metric = figures.metric(setting, server, "rtt");
        metric.and_then(|m| m.percentiles).map_or("-".into(), |p| {
            let [mean, p50, p99] = [p.mean, p.p50, p.p99].map(number);
            format!("{mean} ({p50} / {p99})")
        })
    };
    by_payload(figures, Pace::Next, shown, text);
    *text += "\n## Distribution at 100 bytes, us\n\n";
    head(
        &[
            "protocol",
            "echo",
            "server",
            "n",
            "mean",
            "p50",
            "p90",
            "p99",
            "p99.9",
            "max",
            "settled p50",
            "settled p99",
            "lost",
        ],
        text,
    );
    for of in series(figures, Pace::Next) {
        distribution(figures, &of, text);
    }
}

fn distribution(figures: &Figures<'_>, of: &Of, text: &mut String) {
    let setting = of.at(100, Pace::Next);
    let metric = |name| figures.metric(&setting, of.server, name);
    let (Some(rtt), Some(settled)) = (metric("rtt"), metric("rtt_settled")) else {
        return;
    };
    let (Some(p), Some(s)) = (rtt.percentiles, settled.percentiles) else {
        return;
    };
    let mut cells: Vec<String> = named(of).into();
    cells.push(p.n.to_string());
    let figures = [p.mean, p.p50, p.p90, p.p99, p.p999, p.max, s.p50, s.p99];
    cells.extend(figures.map(number));
    cells.push(rtt.lost.to_string());
    row(cells, text);
}

fn rests(figures: &Figures<'_>, text: &mut String) {
    let all = series(figures, Pace::Rest);
    if all.is_empty() {
        return;
    }
    *text += "\n## A device that rests\n\nWith 60 ms between packets TCP acknowledges an echo by a segment of its \
              own; at 100 bytes.\n\n";
    head(
        &[
            "protocol",
            "echo",
            "server",
            "efficiency, next",
            "efficiency, rest",
            "packets, next",
            "packets, rest",
            "RTT p50, rest",
        ],
        text,
    );
    for of in all {
        let packets = |pace| {
            let value = mean(figures, &of.at(100, pace), of.server, "packets");
            value.map_or("-".into(), |value| format!("{value:.2}"))
        };
        let rtt = figures.metric(&of.at(100, Pace::Rest), of.server, "rtt");
        let p50 = rtt.and_then(|metric| metric.percentiles);
        let cells = [
            share(figures.mean(&of, 100, "eta")),
            share(rested(figures, &of, 100)),
            packets(Pace::Next),
            packets(Pace::Rest),
            p50.map_or("-".into(), |p| number(p.p50)),
        ];
        row(named(&of).into_iter().chain(cells), text);
    }
}

fn openings(figures: &Figures<'_>, text: &mut String) {
    *text += "\n## Openings\n\nUntil the first packet may be sent: connecting, shaking hands, \
              subscribing or observing, and giving the resource a first representation; bytes at \
              application and transport layer, at 100 bytes of payload.\n\n";
    head(&["protocol", "echo", "server", "bytes", "us"], text);
    for of in series(figures, Pace::Next) {
        let setting = of.at(100, Pace::Next);
        let shown = |metric| mean(figures, &setting, of.server, metric).map_or("-".into(), number);
        let cells = [shown("opening_bytes"), shown("opening_time")];
        row(named(&of).into_iter().chain(cells), text);
    }
}
