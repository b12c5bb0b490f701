//! The part of the page that is of the emulated links: what they were like, round trips, efficiency.

use std::fmt::Write;

use super::cells::{LINKS, Setting, payloads};
use super::figures::{Figures, Of};
use super::page::{every, named};
use weir_bench_model::effort::Effort;
use weir_bench_model::number::number;
use weir_bench_model::results::{Metric, Run};
use weir_bench_report::page::{head, row};

/// A link, and whether the modem stands before it.
type At = (&'static str, bool);

/// A cell of a table, from a setting and the server.
type Shown<'a> = &'a dyn Fn(&Setting, &str) -> String;

/// The whole part; nothing where no link was used.
pub(super) fn links(run: &Run, figures: &Figures<'_>, text: &mut String) {
    if run.links.is_empty() {
        return;
    }
    *text += "\n## Over emulated links\n\nDevice and server are in network namespaces of their own, joined by \
              the emulator of `weir link`, which counts every packet; its count of payload must agree with \
              the device's, or the cell fails. Each link is measured before it is used:\n\n";
    for (link, used) in &run.links {
        let _ = writeln!(text, "- `{link}`: {used}");
    }
    *text += MODEM;
    for payload in payloads(Effort::Full) {
        tables(figures, *payload, text);
    }
}

const MODEM: &str = "
`uart` is the paper's modem in series with the link: what the application says crosses a line of 115200 baud to
a module that holds the TCP/IP stack, announced by its AT commands, and back; the bytes on the link are the same.
The paper's own LAN is `wlan` behind it.
";

/// Round trips and efficiencies at a payload, by link.
fn tables(figures: &Figures<'_>, payload_bytes: usize, text: &mut String) {
    let of = |setting: &Setting, server: &str, metric: &str| {
        figures.metric(setting, server, metric).cloned()
    };
    let rtt = |setting: &Setting, server: &str| {
        let metric = of(setting, server, "rtt");
        let percentiles = metric.and_then(|m: Metric| Some((m.percentiles?, m.lost)));
        percentiles.map_or("-".into(), |(p, lost)| {
            let [mean, p50, p99] = [p.mean, p.p50, p.p99].map(|us| number(us / 1e3));
            let lost = if lost > 0 {
                format!(", {lost} lost")
            } else {
                String::new()
            };
            format!("{mean} ({p50} / {p99}{lost})")
        })
    };
    let share = |name: &'static str| {
        move |setting: &Setting, server: &str| {
            let metric = figures.metric(setting, server, name);
            metric.map_or("-".into(), |m| format!("{:.3}", m.estimate.mean))
        }
    };
    let opened = |setting: &Setting, server: &str| {
        let metric = of(setting, server, "rtt_with_opening");
        metric.map_or("-".into(), |m| number(m.estimate.mean / 1e3))
    };
    let titled: [(&str, Shown<'_>); 4] = [
        ("round trip, ms: mean (p50 / p99)", &rtt),
        (
            "round trip of a packet that opens its conversation, ms",
            &opened,
        ),
        ("efficiency, as the paper counts", &share("eta")),
        (
            "efficiency of a packet that opens its conversation",
            &share("eta_with_opening"),
        ),
    ];
    for (title, shown) in titled {
        table(figures, (title, payload_bytes), shown, text);
    }
}

fn table(
    figures: &Figures<'_>,
    (title, payload_bytes): (&str, usize),
    shown: Shown<'_>,
    text: &mut String,
) {
    let rows = rows(figures, payload_bytes);
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{payload_bytes} bytes, {title}:\n");
    let columns = columns(figures, payload_bytes, &rows);
    let mut heads: Vec<String> = ["protocol", "echo", "server"].map(String::from).into();
    heads.extend(columns.iter().map(|(link, modem)| match modem {
        true => format!("{link}, uart"),
        false => (*link).into(),
    }));
    head(&heads.iter().map(String::as_str).collect::<Vec<_>>(), text);
    for of in rows {
        let cells = columns
            .iter()
            .map(|&at| shown(&of.on(at, payload_bytes), of.server));
        row(named(&of).into_iter().chain(cells), text);
    }
}

fn is_measured(figures: &Figures<'_>, of: &Of, at: At, payload_bytes: usize) -> bool {
    let result = figures.result(&of.on(at, payload_bytes), of.server);
    result.is_some_and(|result| !result.metrics.is_empty())
}

fn all_links() -> impl Iterator<Item = At> {
    let links = LINKS.into_iter();
    links.flat_map(|link| [(link, false), (link, true)])
}

/// Who was measured on an emulated link.
fn rows(figures: &Figures<'_>, payload_bytes: usize) -> Vec<Of> {
    let on_link = |of: &Of| {
        let mut links = all_links().skip(2);
        links.any(|at| is_measured(figures, of, at, payload_bytes))
    };
    every().into_iter().filter(on_link).collect()
}

/// The links on which anybody was.
fn columns(figures: &Figures<'_>, payload_bytes: usize, rows: &[Of]) -> Vec<At> {
    let anybody = |at: &At| {
        let mut rows = rows.iter();
        rows.any(|of| is_measured(figures, of, *at, payload_bytes))
    };
    all_links().filter(anybody).collect()
}
