//! The page `docs/results/web-delivery.md`, generated from a run and from nothing else.

use std::fmt::Write;

use super::beyond;
use super::cells::{CHIEF, DELIVERIES, FORMATS, Setting, Via, settings};
use super::figures::{Figures, here, lives_on};
use super::plots::{fastest, words};
use super::stamps::SUPERSEDED;
use weir_bench_model::cell::LOCAL;
use weir_bench_model::effort::Effort;
use weir_bench_model::number::number;
use weir_bench_model::published::{FLASH, HTML5, SILVERLIGHT, Table};
use weir_bench_model::results::Run;
use weir_bench_report::page::{self, head, row};

/// The page of a run; `folder` is where the run lies, for the command that made the page.
pub(super) fn markdown(run: &Run, folder: &str) -> String {
    let mut text = page::begin("Web delivery", run, folder, QUICK);
    text += HOW;
    let figures = Figures(&run.results);
    page::claims(run, "", &mut text);
    best(&figures, &mut text);
    for nodes in figures.nodes() {
        times(&figures, nodes, &mut text);
    }
    beside(&figures, &HTML5, &mut text);
    beside(&figures, &FLASH, &mut text);
    silverlight(&mut text);
    sizes(&figures, &mut text);
    others(&figures, &mut text);
    beyond::tables(&figures, &mut text);
    spent(&figures, &mut text);
    page::absent(run, &mut text);
    text
}

const QUICK: &str = "
**A quick run**: a few messages a cell, many a second, on a machine that may have had other work. It shows
orders of magnitude; the published scale is 100 messages at 1 Hz.
";

const HOW: &str = "\n## How it was measured

The scenario is that of Babovic, Protic and Milutinovic 2016 (paper 000): a page in a browser follows a gateway and
draws a bar for each value. A node is seven observations with latitude and longitude, in JSON as long as the
paper's. Messages are put into the gateway at a fixed rate whether it keeps up or not; rounds of all deliveries and
formats alternate in random order, in one page that stays open. Nothing is compressed on the way (`http.compress`,
permessage-deflate), by the gateway as by CometD, whose long polling has no gzip: a payload crosses the link as long as
it is.

**Times** are those of the paper's section V. `T transmit` runs from the message's arrival at the gateway, which its
observations carry as their time, to its last byte in the page's hands: routing, encoding and the way. `T decode`:
bytes to observations as objects, base64 of binary event streams included. `T process`: combined with the last
hundred values of each datastream (mean, bounds); the paper left it out. `T render`: until the frame that shows the
message is on the screen, by Element Timing. The paper's T_render ended with the canvas drawn: here `drawn`, which
is a part of it. `T transfer` is transmit and decode, `T total` all four; `as printed` is the paper's total, which
ends with the canvas: the screen's next frame is up to 17 ms away, whatever was delivered. Claims are judged by it.
Polling asks once in the interval between messages; what it waits for the next question is part of its `T transmit`.
Of messages that reach the page as one answer the newest is shown and timed; the others are `superseded`. `lost` are
those that never reached it.

**One clock**: the page's times are put on the machine's monotonic clock by the start of its navigation, which the
browser tells over its DevTools protocol; the gateway's stamps are of the same machine's real time. A browser on
another machine asks the gateway for its time, and the bound is stated with each cell. A browser of the
bench runs without a screen and presents sixty frames a second as if it had one.
";

/// A mean in milliseconds.
fn ms(figures: &Figures<'_>, setting: &Setting, metric: &str) -> String {
    let mean = figures.mean(setting, metric);
    mean.map_or("-".into(), |us| number(us / 1e3))
}

/// As table 6: the best combination here, beside the paper's of each platform.
fn best(figures: &Figures<'_>, text: &mut String) {
    *text += "\n## The best combination\n\n\
              As table 6 of the paper, totals as printed there; means, ms.\n\n";
    head(
        &[
            "nodes", "of", "delivery", "format", "payload", "total", "transfer", "transmit",
            "decode",
        ],
        text,
    );
    for nodes in figures.nodes() {
        if let Some((delivery, format)) = figures.least(nodes) {
            let setting = here(delivery, format, nodes);
            let payload = figures.mean(&setting, "payload").map_or("-".into(), number);
            let times = ["t_total_drawn", "t_transfer", "t_transmit", "t_decode"];
            let times = times.map(|metric| ms(figures, &setting, metric));
            let named = [&nodes.to_string(), "here", delivery, format].map(String::from);
            row(named.into_iter().chain([payload]).chain(times), text);
        }
        for table in [HTML5, FLASH, SILVERLIGHT] {
            published_best(&table, nodes, text);
        }
    }
}

fn published_best(table: &Table, nodes: usize, text: &mut String) {
    let Some(best) = fastest(table, nodes) else {
        return;
    };
    let columns = [
        "protocol",
        "encoding",
        "payload_chars",
        "total_ms",
        "transfer_ms",
        "transmit_ms",
        "decode_ms",
    ];
    let cells = columns.map(|column| best.text(column).to_string());
    row(
        [nodes.to_string(), table.cited()].into_iter().chain(cells),
        text,
    );
}

/// Times of a number of nodes, on this machine at full speed.
fn times(figures: &Figures<'_>, nodes: usize, text: &mut String) {
    let _ = writeln!(
        text,
        "\n## {}\n\nMeans, ms; of the total its interval (95 %) and p50 / p99.\n",
        words(nodes)
    );
    head(
        &[
            "delivery",
            "format",
            "payload",
            "as printed",
            "total",
            "",
            "p50 / p99",
            "transfer",
            "transmit",
            "decode",
            "process",
            "render",
            "drawn",
            "superseded",
            "lost",
        ],
        text,
    );
    for delivery in DELIVERIES {
        for format in FORMATS {
            time_row(figures, &here(delivery, format, nodes), text);
        }
    }
}

fn time_row(figures: &Figures<'_>, setting: &Setting, text: &mut String) {
    let Some(total) = figures.metric(setting, "t_total") else {
        return;
    };
    let payload = figures.mean(setting, "payload").map_or("-".into(), number);
    let estimate = &total.estimate;
    let interval = [estimate.low, estimate.high].map(|us| number(us / 1e3));
    let percentiles = total.percentiles.unwrap_or_default();
    let percentiles = [percentiles.p50, percentiles.p99].map(|us| number(us / 1e3));
    let lost = figures
        .metric(setting, "t_transfer")
        .map_or(0, |it| it.lost);
    let superseded = figures.mean(setting, SUPERSEDED);
    let never_shown = [superseded.map_or("-".into(), number), lost.to_string()];
    let parts = [
        "t_transfer",
        "t_transmit",
        "t_decode",
        "t_process",
        "t_render",
        "t_draw",
    ];
    let parts = parts.map(|metric| ms(figures, setting, metric));
    let cells = [
        setting.delivery.into(),
        setting.format.into(),
        payload,
        ms(figures, setting, "t_total_drawn"),
        number(estimate.mean / 1e3),
        interval.join(" to "),
        percentiles.join(" / "),
    ];
    row(cells.into_iter().chain(parts).chain(never_shown), text);
}

/// A table of the paper beside ours, row by row where both scheme and encoding live on.
fn beside(figures: &Figures<'_>, table: &Table, text: &mut String) {
    let _ = writeln!(
        text,
        "\n## Beside {}\n\n{}. Published / here, ms; here at full speed, without a link.\n",
        table.cited(),
        table.about().trim_end_matches('.')
    );
    head(
        &[
            "protocol",
            "encoding",
            "nodes",
            "payload",
            "total / as printed",
            "transfer",
            "transmit",
            "decode",
            "render / drawn",
        ],
        text,
    );
    for published in table.rows() {
        let nodes = published.number("nodes").unwrap_or_default() as usize;
        let setting = lives_on(&published).map(|(delivery, format)| here(delivery, format, nodes));
        let ours = |metric: &str, scale: f64| {
            let mean = setting.and_then(|setting| figures.mean(&setting, metric));
            mean.map_or("-".into(), |mean| number(mean / scale))
        };
        let pair = |column: &str, ours: String| {
            let printed = published.text(column);
            let printed = if printed.is_empty() { "-" } else { printed };
            format!("{printed} / {ours}")
        };
        let cells = [
            published.text("protocol").into(),
            published.text("encoding").into(),
            nodes.to_string(),
            pair("payload_chars", ours("payload", 1.0)),
            pair("total_ms", ours("t_total_drawn", 1e3)),
            pair("transfer_ms", ours("t_transfer", 1e3)),
            pair("transmit_ms", ours("t_transmit", 1e3)),
            pair("decode_ms", ours("t_decode", 1e3)),
            pair("render_ms", ours("t_draw", 1e3)),
        ];
        row(cells, text);
    }
}

fn silverlight(text: &mut String) {
    let _ = writeln!(
        text,
        "\n## {}\n\nSilverlight is dead and spoke SOAP by a framework of its own: nothing here can be set beside \
         it but the size of a SOAP message, below. As printed, ms.\n",
        SILVERLIGHT.cited()
    );
    let rows = SILVERLIGHT.rows();
    let columns: Vec<&str> = rows
        .first()
        .map(|row| row.fields().iter().map(|(name, _)| name.as_str()).collect())
        .unwrap_or_default();
    head(&columns, text);
    for published in &rows {
        row(published.fields().iter().map(|(_, it)| it.clone()), text);
    }
}

/// As table 5.
fn sizes(figures: &Figures<'_>, text: &mut String) {
    *text += "\n## Sizes\n\nAs table 5 of the paper: characters of text formats, bytes of binary ones; published \
              of the HTML5 application in brackets.\n\n";
    let nodes = figures.nodes();
    let names: Vec<String> = nodes.iter().map(|&nodes| words(nodes)).collect();
    let mut columns = vec!["format"];
    columns.extend(names.iter().map(String::as_str));
    head(&columns, text);
    let printed = HTML5.rows();
    for format in FORMATS {
        let size = |&nodes: &usize| {
            let measured = DELIVERIES
                .iter()
                .find_map(|delivery| figures.mean(&here(delivery, format, nodes), "payload"));
            let published = printed.iter().find(|row| {
                row.number("nodes") == Some(nodes as f64)
                    && lives_on(row).is_some_and(|(_, name)| name == format)
            });
            let published = published.map(|row| format!(" ({})", row.text("payload_chars")));
            let measured = measured.map_or("-".into(), number);
            measured + &published.unwrap_or_default()
        };
        let sizes: Vec<String> = nodes.iter().map(size).collect();
        if sizes.iter().any(|size| !size.starts_with('-')) {
            row([format.to_string()].into_iter().chain(sizes), text);
        }
    }
}

/// What a link or a slow processor makes of the chief cells.
fn others(figures: &Figures<'_>, text: &mut String) {
    let further: Vec<Setting> = settings(Effort::Full)
        .into_iter()
        .filter(|it| {
            (it.link != LOCAL || it.cpu != 1)
                && it.via != Via::Tls
                && it.flood.is_none()
                && figures.metric(it, "t_total").is_some()
        })
        .collect();
    if further.is_empty() {
        return;
    }
    *text += "\n## Over links, and with a slower processor\n\n\
              T total, mean ms; T decode in brackets.\n\n";
    let mut columns = vec!["link", "cpu", "nodes", "delivery"];
    columns.extend(CHIEF);
    head(&columns, text);
    let mut rows: Vec<Setting> = Vec::new();
    for it in further {
        let is_there = |row: &Setting| {
            it == Setting {
                format: it.format,
                ..*row
            }
        };
        if !rows.iter().any(is_there) {
            rows.push(it);
        }
    }
    for it in rows {
        let of = |format| {
            let setting = Setting { format, ..it };
            let [total, decode] = ["t_total", "t_decode"].map(|it| ms(figures, &setting, it));
            format!("{total} ({decode})")
        };
        let delivery = match it.via {
            Via::Bayeux(transport) => format!("{}, {transport}", it.delivery),
            Via::Clear | Via::Tls => it.delivery.into(),
        };
        let named = [
            it.link.to_string(),
            format!("{}x", it.cpu),
            it.nodes.to_string(),
            delivery,
        ];
        row(named.into_iter().chain(CHIEF.map(of)), text);
    }
}

/// Processor and memory of both sides.
fn spent(figures: &Figures<'_>, text: &mut String) {
    *text += "\n## What both sides spent\n\nProcessors kept busy, of JSON; greatest resident memory, MB. The browser's \
              is that of all its processes.\n\n";
    head(
        &[
            "delivery",
            "nodes",
            "gateway",
            "browser",
            "gateway MB",
            "browser MB",
        ],
        text,
    );
    for nodes in figures.nodes() {
        for delivery in DELIVERIES {
            let setting = here(delivery, "json", nodes);
            let of = |metric, scale: f64| {
                let mean = figures.mean(&setting, metric);
                mean.map_or("-".into(), |mean| number(mean / scale))
            };
            let cells = [
                delivery.into(),
                nodes.to_string(),
                of("server_cpu", 1.0),
                of("browser_cpu", 1.0),
                of("server_memory_peak", 1e6),
                of("browser_memory_peak", 1e6),
            ];
            row(cells, text);
        }
    }
}
