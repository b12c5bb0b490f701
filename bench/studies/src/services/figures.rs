//! Figures of a run: the paper's table I and figures 6 to 8 with its values beside ours, and what it left
//! for later: message size, calls under way, links.

use super::cells::{self, PAYLOAD, PAYLOADS, STACKS, Setting, Stack, simple};
use super::servers::{CALIFORNIUM, CXF, JERSEY, LIBCOAP, SERVERS, TORNADO};
use weir_bench_model::cell::LOCAL;
use weir_bench_model::effort::Effort;
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::published::SERVICES;
use weir_bench_model::results::{CellResult, Metric, OURS, Run};

/// The columns of table I: our metric, the paper's column, what it is.
const COLUMNS: [(&str, &str, &str); 3] = [
    ("serialization", "serialization_ns", "Serialization"),
    ("rtt", "rtt_ns", "Round trip"),
    ("deserialization", "deserialization_ns", "Deserialization"),
];

/// All figures, in the order of the report.
pub(super) fn figures(run: &Run) -> Vec<Figure> {
    let mut all: Vec<Figure> = COLUMNS.iter().map(|column| table_1(run, column)).collect();
    all.push(bytes(run));
    all.push(by_payload(run));
    all.push(by_depth(run));
    all.push(by_link(run));
    all
}

/// The result of a server in a cell.
pub(super) fn result<'a>(run: &'a Run, setting: &Setting, server: &str) -> Option<&'a CellResult> {
    let cell = setting.name();
    run.results
        .iter()
        .find(|result| result.cell == cell && result.target == server)
}

/// A metric of it.
pub(super) fn metric<'a>(
    run: &'a Run,
    setting: &Setting,
    server: &str,
    name: &str,
) -> Option<&'a Metric> {
    result(run, setting, server)?.metric(name)
}

/// The server that stands in the place of the paper's, in memory, and sends the message back: one on a Java
/// virtual machine as the paper's, where it was measured.
pub(super) fn in_memory(run: &Run, stack: &'static Stack) -> &'static str {
    let [java, other] = match stack.protocol {
        "soap" => [CXF, CXF],
        // Nobody else's device keeps nothing here.
        "dpws" => [OURS, OURS],
        "coap" => [CALIFORNIUM, LIBCOAP],
        _ => [JERSEY, TORNADO],
    };
    match metric(run, &simple(stack, PAYLOAD), java, "rtt") {
        Some(_) => java,
        None => other,
    }
}

/// What a stack is called.
pub(super) fn named(stack: &Stack) -> String {
    let mut named = format!("{} {}", stack.protocol, stack.transport);
    for (level, usual) in [
        (stack.security, "none"),
        (stack.format, usual_format(stack)),
    ] {
        if level != usual {
            named = named + ", " + level;
        }
    }
    named
}

/// What a protocol carries where nothing else is said.
fn usual_format(stack: &Stack) -> &'static str {
    match stack.protocol {
        "soap" | "dpws" => "soap",
        _ => "protobuf",
    }
}

fn table_1(run: &Run, (name, column, title): &(&str, &str, &str)) -> Figure {
    let here = SERVERS.iter().map(|server| {
        let cells = STACKS.iter().filter_map(|stack| {
            let found = result(run, &simple(stack, PAYLOAD), server.name)?;
            let label = stack.published.map_or_else(|| named(stack), Into::into);
            Some(Point::of_result(label, found, name, 1.0))
        });
        Series::here(server.name, cells.collect())
    });
    let printed = SERVICES.rows().into_iter().filter_map(|row| {
        let value = row.number(column)?;
        Some(Point::at(row.text("stack"), value / 1000.0))
    });
    let published = Series::published("Java stacks of 2012", &SERVICES.cited(), printed.collect());
    Figure::new(Form::Bars, &format!("karnouskos-table-1-{name}"), title)
        .axes(Axis::new("stack", ""), Axis::new(title, "us").log())
        .caption(
            "Table I and figures 4 to 8 of the paper, mean over all messages of 100 bytes of Protobuf. CXF, \
             Jersey and Californium (Java), Tornado and libcoap keep nothing and send the message back, as the \
             paper's servers; the gateway's answer waits for its disk. The paper's values are those of Java \
             stacks on a corporate LAN of 2012.",
        )
        .series(here.chain([published]))
        .group("karnouskos-table-1")
}

fn bytes(run: &Run) -> Figure {
    let here = SERVERS.iter().map(|server| {
        let cells = STACKS.iter().filter_map(|stack| {
            let found = result(run, &simple(stack, PAYLOAD), server.name)?;
            Some(Point::of_result(named(stack), found, "network_bytes", 1.0))
        });
        Series::here(server.name, cells.collect())
    });
    Figure::new(Form::Bars, "bytes-a-call", "Bytes a call")
        .axes(Axis::new("stack", ""), Axis::new("both ways, with IP", "bytes"))
        .caption(
            "A message of 100 bytes of Protobuf and its answer, which carries the message back but for the gateway's; \
             opening the connection is not in it.",
        )
        .series(here)
}

fn by_payload(run: &Run) -> Figure {
    let series = STACKS.iter().map(|stack| {
        let found = PAYLOADS.iter().filter_map(|&bytes| {
            let found = result(run, &simple(stack, bytes), OURS)?;
            Some(Point::of_result(bytes as f64, found, "rtt", 1.0))
        });
        Series::here(&named(stack), found.collect())
    });
    Figure::new(
        Form::Lines,
        "rtt-by-payload",
        "Round trip by size of the message",
    )
    .axes(
        Axis::new("message", "bytes").log(),
        Axis::new("RTT", "us").log(),
    )
    .caption("Against the gateway, whose answer waits for the disk; one call at a time.")
    .series(series)
}

fn by_depth(run: &Run) -> Figure {
    let series = STACKS.iter().filter_map(|stack| {
        let found = [1, 8, 32].into_iter().filter_map(|depth| {
            let setting = Setting {
                depth,
                ..simple(stack, PAYLOAD)
            };
            Some(Point::of_result(
                depth as f64,
                result(run, &setting, OURS)?,
                "rtt",
                1.0,
            ))
        });
        let found: Vec<Point> = found.collect();
        (found.len() > 1).then(|| Series::here(&named(stack), found))
    });
    Figure::new(Form::Lines, "rtt-by-depth", "Round trip by calls under way")
        .axes(
            Axis::new("calls under way", "").log(),
            Axis::new("RTT", "us").log(),
        )
        .caption(
            "HTTP/1.1 is pipelined, HTTP/2 has a stream a call, CoAP a token; against the gateway.",
        )
        .series(series)
}

fn by_link(run: &Run) -> Figure {
    let mut links = vec![LOCAL];
    links.extend(cells::links(Effort::Full));
    let series = STACKS.iter().filter_map(|stack| {
        let found = links.iter().filter_map(|&link| {
            let setting = Setting {
                link,
                ..simple(stack, PAYLOAD)
            };
            Some(Point::of_result(
                link,
                result(run, &setting, OURS)?,
                "rtt",
                1000.0,
            ))
        });
        let found: Vec<Point> = found.collect();
        (found.len() > 1).then(|| Series::here(&named(stack), found))
    });
    Figure::new(Form::Bars, "rtt-by-link", "Round trip by link")
        .axes(Axis::new("link", ""), Axis::new("RTT", "ms").log())
        .caption("The paper left links other than its LAN for later (II-A). Against the gateway.")
        .series(series)
}
