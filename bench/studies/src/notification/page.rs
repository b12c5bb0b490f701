//! The pages `docs/results/notification*.md`, each generated from a run and from nothing else.
//!
//! A run of a part of the experiment, such as the gateway alone, has a page of that part.

use super::beyond;
use super::cells::{CLIENTS, LINKS, TOLD_BY, gateway_name};
use super::claims;
use super::figures::{FIGURES, Grid, HALF_AND_FULL, Of, schemes};
use super::spots;
use weir_bench_model::figure::slice::level;
use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, Run};
use weir_bench_report::page::{self, head, row};

/// The page of a run; `folder` is where the run lies, for the command that made the page.
pub(super) fn markdown(run: &Run, folder: &str) -> String {
    let mut text = page::begin("Notification", run, folder, QUICK);
    let parts = Parts::of(run);
    parts.how(&mut text);
    if parts.device || parts.board {
        page::goals(run, "", page::reached, &mut text);
    }
    if parts.device {
        of_paper(run, &mut text);
    }
    spots::table(run, &mut text);
    if parts.gateway {
        of_gateway(run, &mut text);
    }
    page::ratios(run, &mut text);
    page::absent(run, &mut text);
    text
}

/// Which parts of the experiment a run has.
struct Parts {
    device: bool,
    board: bool,
    gateway: bool,
}

impl Parts {
    fn of(run: &Run) -> Self {
        let have = |factor| {
            let mut cells = run.results.iter().map(|result| &result.cell);
            cells.any(|cell| level(cell, factor).is_some())
        };
        Self {
            device: have("line"),
            board: have("board"),
            gateway: have("link"),
        }
    }

    /// How each of them was measured.
    fn how(&self, text: &mut String) {
        *text += SCENARIO;
        let simulated = self.device || self.board;
        let told = [
            (simulated, DEVICE),
            (simulated, METRICS),
            (self.board, BOARD),
            (self.gateway, GATEWAY),
        ];
        text.extend(told.iter().filter(|(is, _)| *is).map(|(_, how)| *how));
    }
}

/// What the paper has: its claims and figures; and behind them what it has not.
fn of_paper(run: &Run, text: &mut String) {
    page::claims(run, JUDGED, text);
    *text += &claims::follows(run);
    for figure in &FIGURES {
        of_device(run, figure, text);
    }
    beyond::write(run, text);
}

const QUICK: &str = "
**A quick run**: two runs of each of the device's settings where the paper made ten, three of them on the board for
twelve seconds and all at once, and the gateway for three seconds on a machine that may have had other work.
";

const SCENARIO: &str = "\n## How it was measured

The scenario is that of Duquennoy, Grimaud and Vandewalle 2009 (paper 002): a device publishes its clock every 1 to 50
seconds, and up to 256 clients get to know by polling at five intervals, by long polling or by streaming, over a
serial line of 14,400 bytes a second with SLIP. Each setting of the device is run ten times for five minutes, ten where
the interval varies; of the ten runs the two best and the two worst are left out.
";

const DEVICE: &str = "
**The device** is weir's server for microcontrollers ([what it is](../reference/comet.md)), the very code; line,
queue of the host before it and the clients' programs are modelled, the clients' TCP is smoltcp's and their CoAP the
gateway's, and time is virtual: the same seed gives the same table, bit for bit (`weir sim notification` runs any of
them). The board's processor costs no time. The paper says that its line carries 14,400 bytes a second each way; its
packet counts are those of a line on which one end talks at a time. `half` and `full` are these two readings.
";

const METRICS: &str = "
**Metrics** are the paper's. MPT: mean time from a publication to its reception, of those received. RPM: messages
received, percent of those published; RUPM: each counted once. NTP, NTB: packets and bytes on the line, both ways,
IP included. MCT: share of the time in which a client holds the newest. RMP, SP and energy stand with their table.
";

const BOARD: &str = "
**The board** runs ten of these settings for real, in an emulator behind the same line at its pace; a table sets each
beside its simulation, and the goals say how far they may differ.
";

const GATEWAY: &str = "
**The gateway** stands in the device's place with a hundred to ten thousand clients, a publication a second, on
this machine and over emulated links; clients and server share the processors. Trips run from when a message was
due to be published until a client has it, over all clients. Who polls asks every second, whatever it has; what was
published and overwritten between two of its questions is lost on it. `observe` is CoAP (RFC 7641): each client has a
socket of datagrams, and messages are published by HTTP as for the others. One notification in nine asks to be
acknowledged; what is dropped of the rest on its way, even on this machine alone, is not sent again, and is lost.
";

const JUDGED: &str =
    "Judged on the line where one end talks at a time; the other reading is told besides.\n\n";

/// A figure's numbers: a table a publication and reading.
fn of_device(run: &Run, figure: &Of, text: &mut String) {
    *text += &format!(
        "\n## Figure {}: {}, {}\n",
        figure.number,
        figure.title.to_lowercase(),
        figure.unit
    );
    for publish in figure.publications {
        for duplex in HALF_AND_FULL {
            let grid = Grid::of(run, duplex);
            *text += &format!("\nPublished every {publish} s, {duplex} duplex, by clients:\n\n");
            table(&grid, figure, publish, text);
        }
    }
}

fn table(grid: &Grid<'_>, figure: &Of, publish: &str, text: &mut String) {
    let counts = weir_sim::CLIENTS.map(|clients| clients.to_string());
    let titles: Vec<&str> = ["scheme"]
        .into_iter()
        .chain(counts.iter().map(String::as_str))
        .collect();
    head(&titles, text);
    for scheme in schemes() {
        let of = |clients| {
            let mean = grid.mean(clients, publish, &scheme, figure.metric);
            mean.map_or("-".into(), number)
        };
        row(
            [scheme.clone()]
                .into_iter()
                .chain(weir_sim::CLIENTS.map(of)),
            text,
        );
    }
}

/// Trips from the gateway: a row a link and scheme.
fn of_gateway(run: &Run, text: &mut String) {
    *text += "\n## The gateway\n\nTrip, ms: mean (p50 / p99), and what was lost, by clients; a \
              publication a second.\n\n";
    let counts = CLIENTS.map(|clients| clients.to_string());
    let titles = ["link", "scheme", "server"].into_iter();
    head(
        &titles
            .chain(counts.iter().map(String::as_str))
            .collect::<Vec<_>>(),
        text,
    );
    for link in LINKS {
        for scheme in TOLD_BY {
            for server in ["weir", "nchan"] {
                let of = |clients| trip(run, &gateway_name(link, clients, scheme), server);
                let trips = CLIENTS.map(of);
                if trips.iter().any(|trip| trip != "-") {
                    let first = [link.to_string(), scheme.name().into(), server.into()];
                    row(first.into_iter().chain(trips), text);
                }
            }
        }
    }
}

fn trip(run: &Run, cell: &str, server: &str) -> String {
    let is = |result: &&CellResult| result.cell == cell && result.target == server;
    let metric = run
        .results
        .iter()
        .find(is)
        .and_then(|result| result.metric("publish_to_receive"));
    let Some((metric, all)) =
        metric.and_then(|metric| Some((metric, metric.percentiles.as_ref()?)))
    else {
        return "-".into();
    };
    let [mean, p50, p99] = [metric.estimate.mean, all.p50, all.p99].map(|us| number(us / 1000.0));
    match metric.lost {
        0 => format!("{mean} ({p50} / {p99})"),
        lost => format!("{mean} ({p50} / {p99}), {lost} lost"),
    }
}
