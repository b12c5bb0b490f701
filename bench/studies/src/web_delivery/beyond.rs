//! What the paper did not ask: CometD beside the gateway, TLS, a slower processor, more than a page can
//! draw, and whether the browser tells the truth about its frames.

use std::fmt::Write;

use super::cells::{BAYEUX_FORMATS, CHIEF, SPEEDS, Setting, TRANSPORTS, Via, settings, traced};
use super::figures::{Figures, here};
use super::plots::words;
use super::stamps::SUPERSEDED;
use weir_bench_model::effort::Effort;
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::number::number;
use weir_bench_model::results::CellResult;
use weir_bench_report::page::{head, row};

/// Its figures.
pub(super) fn figures(figures: &Figures<'_>) -> Vec<Figure> {
    vec![
        beside_cometd(figures),
        by_tls(figures),
        slowed(figures),
        paced(figures),
        ages(figures),
    ]
}

/// Its tables of the page.
pub(super) fn tables(figures: &Figures<'_>, text: &mut String) {
    cometd_table(figures, text);
    tls_table(figures, text);
    flood_table(figures, text);
    trace_table(figures, text);
}

/// A CometD cell and the gateway's of the same scheme, format and nodes.
fn pairs(figures: &Figures<'_>) -> Vec<(Setting, Setting)> {
    let mut all = Vec::new();
    for nodes in figures.nodes() {
        for transport in TRANSPORTS {
            for format in BAYEUX_FORMATS {
                let pair = (
                    here(transport, format, nodes),
                    Setting::cometd(transport, format, nodes),
                );
                let [ours, theirs] = [&pair.0, &pair.1].map(|it| figures.metric(it, "t_transmit"));
                if ours.is_some() && theirs.is_some() {
                    all.push(pair);
                }
            }
        }
    }
    all
}

fn beside_cometd(figures: &Figures<'_>) -> Figure {
    let pairs = pairs(figures);
    let bars = |name: &str, of: fn(&(Setting, Setting)) -> &Setting| {
        let points = pairs.iter().filter_map(|pair| {
            let setting = of(pair);
            let named = combined(&pair.0);
            let result = figures.result(setting)?;
            Some(time(named, result))
        });
        Series::here(name, points.collect())
    };
    let series = [
        bars("weir", |it| &it.0),
        bars("CometD on Jetty", |it| &it.1),
    ];
    Figure::new(
        Form::Bars,
        "beside-cometd",
        "T transmit, beside CometD on Jetty",
    )
    .axes(
        Axis::new("delivery and format", ""),
        Axis::new("T transmit", "ms"),
    )
    .caption(
        "CometD is what pushed to pages when the paper was written. It hands on a text as it came, stamped by its \
         servlet on arrival; the gateway reads every message, keeps it on disk, and writes it in the format asked \
         for.",
    )
    .series(series)
}

fn cometd_table(figures: &Figures<'_>, text: &mut String) {
    let pairs = pairs(figures);
    if pairs.is_empty() {
        return;
    }
    *text += "\n## Beside CometD on Jetty\n\nMeans, ms: weir / CometD, by the same scheme, in the same page, in \
              rounds that alternate. CometD's messages are texts that it hands on unread, stamped by its servlet on \
              arrival; its virtual machine was warmed up by 250 messages a cell before. `decode` reads the message \
              out of its envelope besides.\n\n";
    let columns = [
        "delivery",
        "format",
        "nodes",
        "transmit",
        "decode",
        "total",
        "until drawn",
    ];
    head(&columns, text);
    for (ours, theirs) in pairs {
        let both = |metric: &str| {
            let [ours, theirs] = [&ours, &theirs].map(|it| milliseconds(figures, it, metric));
            format!("{ours} / {theirs}")
        };
        let named = [
            ours.delivery.to_string(),
            ours.format.into(),
            ours.nodes.to_string(),
        ];
        let times = ["t_transmit", "t_decode", "t_total", "t_total_drawn"].map(both);
        row(named.into_iter().chain(times), text);
    }
}

/// A cell by TLS and the same in the clear.
fn secured(figures: &Figures<'_>) -> Vec<(Setting, Setting)> {
    let all = settings(Effort::Full);
    let by_tls = all.into_iter().filter(|it| it.via == Via::Tls);
    let pair = |it: Setting| {
        let clear = here(it.delivery, it.format, it.nodes);
        let is_there = |it| figures.metric(it, "t_transmit").is_some();
        (is_there(&it) && is_there(&clear)).then_some((clear, it))
    };
    by_tls.filter_map(pair).collect()
}

fn by_tls(figures: &Figures<'_>) -> Figure {
    let pairs = secured(figures);
    let bars = |name: &str, of: fn(&(Setting, Setting)) -> &Setting| {
        let points = pairs.iter().filter_map(|pair| {
            let setting = of(pair);
            let named = combined(setting);
            let result = figures.result(setting)?;
            Some(time(named, result))
        });
        Series::here(name, points.collect())
    };
    let series = [bars("in the clear", |it| &it.0), bars("by TLS", |it| &it.1)];
    Figure::new(Form::Bars, "by-tls", "T transmit, in the clear and by TLS")
        .axes(
            Axis::new("delivery and format", ""),
            Axis::new("T transmit", "ms"),
        )
        .caption(
            "In the clear by HTTP/1.1; by TLS HTTP/2 carries all but WebSockets, which the gateway opens over \
             HTTP/1.1. Both pages are isolated from other origins, their clocks equally fine.",
        )
        .series(series)
}

fn tls_table(figures: &Figures<'_>, text: &mut String) {
    let pairs = secured(figures);
    if pairs.is_empty() {
        return;
    }
    *text += "\n## HTTP/2 and TLS\n\nMeans, ms: in the clear by HTTP/1.1 / by TLS. By TLS the browser speaks HTTP/2, \
              but for WebSockets, which the gateway opens over HTTP/1.1. Each has a page of its own, one after \
              the other.\n\n";
    head(
        &[
            "delivery",
            "format",
            "nodes",
            "transmit",
            "total",
            "gateway, processors",
        ],
        text,
    );
    for (clear, by_tls) in pairs {
        let both = |of: &dyn Fn(&Setting) -> String| format!("{} / {}", of(&clear), of(&by_tls));
        let cpu = |it: &Setting| figures.mean(it, "server_cpu").map_or("-".into(), number);
        let cells = [
            clear.delivery.to_string(),
            clear.format.into(),
            clear.nodes.to_string(),
            both(&|it| milliseconds(figures, it, "t_transmit")),
            both(&|it| milliseconds(figures, it, "t_total")),
            both(&cpu),
        ];
        row(cells, text);
    }
}

/// Delivery, format and nodes of a cell, as a label.
fn combined(setting: &Setting) -> String {
    let nodes = words(setting.nodes);
    format!("{} {}, {nodes}", setting.delivery, setting.format)
}

/// T transmit; of few rounds the interval may reach below nothing, where no time is.
fn time(label: String, result: &CellResult) -> Point {
    let point = Point::of_result(label, result, "t_transmit", 1000.0);
    let low = point.low.map(|low| low.max(0.0));
    Point { low, ..point }
}

/// A mean.
fn milliseconds(figures: &Figures<'_>, setting: &Setting, metric: &str) -> String {
    let mean = figures.mean(setting, metric);
    mean.map_or("-".into(), |us| number(us / 1e3))
}

/// What a slower processor costs: WebSocket, five nodes.
fn slowed(figures: &Figures<'_>) -> Figure {
    let line = |format: &'static str| {
        let points = SPEEDS.into_iter().filter_map(|cpu| {
            let setting = Setting {
                cpu,
                ..here("websocket", format, 5)
            };
            let result = figures.result(&setting)?;
            Some(Point::of_result(f64::from(cpu), result, "t_decode", 1000.0))
        });
        Series::here(format, points.collect::<Vec<_>>())
    };
    Figure::new(
        Form::Lines,
        "slowed-decoding",
        "T decode where the browser's processor is slower",
    )
    .axes(
        Axis::new("times slower", ""),
        Axis::new("T decode", "ms").log(),
    )
    .caption("WebSocket, five nodes; 4x and 6x stand for phones.")
    .series(CHIEF.into_iter().map(line).collect::<Vec<_>>())
}

/// Cells in which more comes than a page can draw.
fn floods() -> Vec<Setting> {
    let all = settings(Effort::Full);
    all.into_iter().filter(|it| it.flood.is_some()).collect()
}

/// What a line of floods is called.
fn pacing(setting: &Setting) -> &'static str {
    match setting.flood {
        Some(super::cells::Paced::On) => "the page sets the pace",
        _ => "the page takes what comes",
    }
}

/// The median age of what is shown, by how slow the browser is.
fn paced(figures: &Figures<'_>) -> Figure {
    let mut series: Vec<Series> = Vec::new();
    for setting in floods() {
        let percentiles = figures
            .metric(&setting, "t_total")
            .and_then(|it| it.percentiles);
        let Some(p) = percentiles else { continue };
        let note = format!("{} shown", p.n);
        let point = Point::at(f64::from(setting.cpu), p.p50 / 1000.0).note(&note);
        match series.iter_mut().find(|it| it.name == pacing(&setting)) {
            Some(line) => line.points.push(point),
            None => series.push(Series::here(pacing(&setting), vec![point])),
        }
    }
    Figure::new(
        Form::Lines,
        "paced-by-the-browser",
        "The age of what is shown, where more comes than the page can draw",
    )
    .axes(
        Axis::new("times slower", ""),
        Axis::new("age when shown, median", "ms").log(),
    )
    .caption(
        "WebSocket, JSON, 200 messages a second of 50 nodes each into a browser as fast as it is, and 4 and 6 times \
         slower. A page that sets the pace tells the gateway what a message costs it and is sent the newest no \
         faster than that; one that takes what comes falls behind.",
    )
    .series(series)
}

/// The same as distributions.
fn ages(figures: &Figures<'_>) -> Figure {
    let lines = floods().into_iter().filter_map(|it| {
        let name = format!("{}x slower, {}", it.cpu, pacing(&it));
        Series::distribution(&name, figures.metric(&it, "t_total")?, 1000.0)
    });
    Figure::new(
        Form::Distribution,
        "paced",
        "The same ages as distributions",
    )
    .axes(
        Axis::new("age when shown", "ms").log(),
        Axis::new("share of what was shown", ""),
    )
    .caption("Of what was shown; what was passed over for something newer has no age.")
    .series(lines.collect::<Vec<_>>())
}

fn flood_table(figures: &Figures<'_>, text: &mut String) {
    let all: Vec<Setting> = floods();
    let mut there = all
        .iter()
        .filter_map(|it| Some((it, figures.metric(it, "t_total")?)))
        .peekable();
    if there.peek().is_none() {
        return;
    }
    *text += "\n## More than the page can draw\n\nThe age of what is shown when it is shown (T total), ms: 200 \
              messages a second of 50 nodes each, JSON by WebSocket. With `pace` the page tells what a message \
              costs it and the gateway sends the newest no faster than that; what was passed over for it is \
              `not shown`.\n\n";
    let columns = [
        "cpu",
        "pace",
        "p50",
        "p90",
        "p99",
        "max",
        "shown",
        "not shown",
    ];
    head(&columns, text);
    for (setting, total) in there {
        let p = total.percentiles.unwrap_or_default();
        let times = [p.p50, p.p90, p.p99, p.max].map(|us| number(us / 1e3));
        let never_shown = never_shown(figures, setting);
        let pace = match setting.flood {
            Some(super::cells::Paced::On) => "on",
            _ => "off",
        };
        let named = [format!("{}x", setting.cpu), pace.into()];
        let counts = [p.n.to_string(), never_shown.to_string()];
        row(named.into_iter().chain(times).chain(counts), text);
    }
}

/// Messages of all rounds that never reached the page, or reached it in one answer with a newer one.
fn never_shown(figures: &Figures<'_>, setting: &Setting) -> u64 {
    let of = |name| figures.metric(setting, name);
    let lost = of("t_transfer").map_or(0, |it| it.lost);
    let superseded = of(SUPERSEDED).map_or(0.0, |it| it.rounds.iter().map(|r| r.mean).sum());
    lost + superseded as u64
}

/// What the browser's own trace says of the frames that its page was told of.
fn trace_table(figures: &Figures<'_>, text: &mut String) {
    let setting = traced();
    let of = |metric| figures.metric(&setting, metric)?.percentiles;
    let (Some(error), Some(by_trace), Some(told)) = (
        of("presentation_error"),
        of("t_render_traced"),
        of("t_render"),
    ) else {
        return;
    };
    let share = figures.mean(&setting, "traced").unwrap_or_default();
    let ms = |us: f64| number(us / 1e3);
    let _ = writeln!(
        text,
        "\n## The canvas, checked\n\nA script is not told when a canvas is on the screen; a text that is drawn in the \
         same frame has its presentation told by Element Timing. In one cell the page marks each frame while it \
         draws its canvas, and the frame is found again in the browser's own trace (`PipelineReporter`, presented). \
         Of {} frames {} % were found. What the page was told less what the trace says: p50 {} ms, p90 {} ms, p99 \
         {} ms. T render by the trace: p50 {} ms, p90 {} ms; as told: {} ms, {} ms.",
        error.n,
        number(share * 100.0),
        ms(error.p50),
        ms(error.p90),
        ms(error.p99),
        ms(by_trace.p50),
        ms(by_trace.p90),
        ms(told.p50),
        ms(told.p90),
    );
}
