//! The tables of what the paper does not have.

use weir_sim::{CLIENTS, INSTRUCTIONS_A_SECOND, Scheme, Setting};

use super::{ALL, TOLD, adaptive, lossy, many, shared, silent};
use crate::notification::device::TARGET;
use crate::notification::figures::{Grid, HALF_AND_FULL};
use weir_bench_model::figure::slice::level;
use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, Run};
use weir_bench_report::page::{head, row};

/// A table with a row a setting.
struct Table {
    title: &'static str,
    about: &'static str,
    settings: fn() -> Vec<Setting>,
    /// What tells one row from another.
    factors: &'static [&'static str],
    /// Titles and metrics.
    columns: &'static [(&'static str, &'static str)],
}

const TABLES: [Table; 5] = [
    Table {
        title: "A line that loses packets",
        about: OF_LOSS,
        settings: lossy,
        factors: &["loss", "clients", "publish", "scheme"],
        columns: &[
            ("MPT, s", "mpt"),
            ("RUPM, %", "rupm"),
            ("MCT, %", "mct"),
            ("NTP, 1/s", "ntp"),
            ("again, %", "repeated"),
            ("broken", "broken"),
        ],
    },
    Table {
        title: "Adaptive polling",
        about: OF_ADAPTIVE,
        settings: adaptive,
        factors: &["clients", "publish", "scheme"],
        columns: &[
            ("MPT, s", "mpt"),
            ("RPM, %", "rpm"),
            ("RUPM, %", "rupm"),
            ("MCT, %", "mct"),
            ("NTP, 1/s", "ntp"),
            ("NTB, KiB/s", "ntb"),
        ],
    },
    Table {
        title: "A line that all share",
        about: OF_SHARED,
        settings: shared,
        factors: &["clients", "publish", "scheme"],
        columns: LOST,
    },
    Table {
        title: "A duty cycle",
        about: OF_DUTY,
        settings: silent,
        factors: &["clients", "publish", "scheme"],
        columns: LOST,
    },
    Table {
        title: "More clients, on faster lines",
        about: OF_MANY,
        settings: many,
        factors: &["clients", "line", "publish", "scheme"],
        columns: &[
            ("MPT, s", "mpt"),
            ("RUPM, %", "rupm"),
            ("MCT, %", "mct"),
            ("NTP, 1/s", "ntp"),
            ("NTB, KiB/s", "ntb"),
            ("again, %", "repeated"),
            ("broken", "broken"),
        ],
    },
];

const OF_LOSS: &str = "Each packet alone, each way, half duplex. TCP sends again after a second or more, and CoAP \
after 2 to 3 s, where the newest takes the place of what was lost, which is missed; `again` is what the board sent \
twice, `broken` how many connections and observations clients had to make anew.";
const OF_ADAPTIVE: &str = "The time to the next question follows how often there was something new (LIMD), between 1 \
and 50 s: beside two intervals that are fixed, and streaming; half duplex.";
const OF_SHARED: &str =
    "Both ends on one medium, by CSMA/CA as IEEE 802.15.4 has it: what overlaps is lost.";
const OF_DUTY: &str = "Each end may talk a tenth of the time, half duplex: after a packet it is silent nine times as \
long.";
const OF_MANY: &str =
    "Full duplex, 144 bytes a second of line for each client; three runs each, none left out.";

/// Of lines that lose what they carry, or carry it late.
const LOST: &[(&str, &str)] = &[
    ("MPT, s", "mpt"),
    ("RPM, %", "rpm"),
    ("RUPM, %", "rupm"),
    ("MCT, %", "mct"),
    ("NTP, 1/s", "ntp"),
    ("lost, %", "lost"),
    ("again, %", "repeated"),
];

/// A figure with a row a scheme and a column a number of clients.
struct Figure {
    title: &'static str,
    publish: &'static str,
    of: fn(&CellResult) -> Option<f64>,
}

const TODAY: [Figure; 4] = [
    Figure {
        title: "MPT, s, at 5 s",
        publish: "5",
        of: |result| mean(result, "mpt"),
    },
    Figure {
        title: "RUPM, %, at 1 s",
        publish: "1",
        of: |result| mean(result, "rupm"),
    },
    Figure {
        title: "MCT, %, at 1 s",
        publish: "1",
        of: |result| mean(result, "mct"),
    },
    Figure {
        title: "NTB, KiB/s, at 1 s",
        publish: "1",
        of: |result| mean(result, "ntb"),
    },
];
const COSTS: [Figure; 5] = [
    Figure {
        title: "RMP, %",
        publish: "5",
        of: |result| mean(result, "rmp"),
    },
    Figure {
        title: "SP, %",
        publish: "5",
        of: |result| mean(result, "sp"),
    },
    Figure {
        title: "instructions a message",
        publish: "5",
        of: instructions,
    },
    Figure {
        title: "energy, mJ",
        publish: "5",
        of: |result| mean(result, "energy"),
    },
    Figure {
        title: "energy, radio listening, mJ",
        publish: "5",
        of: |result| mean(result, "energy-listening"),
    },
];

const OF_TODAY: &str = "Two schemes beside the paper's: server-sent events, and CoAP Observe (RFC 7641), which tells \
each client by a datagram that it acknowledges. A request of the paper's clients has some 500 bytes, a registration \
by CoAP 47.\n";
const OF_COSTS: &str = "Published every 5 s, half duplex. RMP: messages received, percent of those that the board \
sent. SP: load of the board's processor, percent of 8 million instructions a second; instructions and millijoules are \
those for each message that was received and for each that was new. They are [stated \
models](../reference/comet.md#in-virtual-time) and not measured: 2,700 instructions for a packet that comes, 1,100 for \
one that goes, 50 a byte; energy is that of a radio of IEEE 802.15.4 in the line's place, asleep between packets, \
or listening whenever it does not send.\n";

/// All tables of which something was measured.
pub(in super::super) fn write(run: &Run, text: &mut String) {
    for duplex in HALF_AND_FULL {
        let title = format!("Server-sent events and CoAP Observe, {duplex} duplex");
        by_clients(run, duplex, &TOLD, &TODAY, [&title, OF_TODAY], text);
    }
    for table in &TABLES {
        table.write(run, text);
    }
    let [half, _] = HALF_AND_FULL;
    let title = "What a notification costs the board";
    by_clients(run, half, &ALL, &COSTS, [title, OF_COSTS], text);
}

impl Table {
    fn write(&self, run: &Run, text: &mut String) {
        let settings = (self.settings)();
        let measured: Vec<_> = settings.iter().filter_map(|it| found(run, it)).collect();
        if measured.is_empty() {
            return;
        }
        *text += &format!("\n## {}\n\n{}\n\n", self.title, self.about);
        let titles = self.columns.iter().map(|(title, _)| *title);
        head(
            &self
                .factors
                .iter()
                .copied()
                .chain(titles)
                .collect::<Vec<_>>(),
            text,
        );
        for result in measured {
            let levels = self.factors.iter().map(|factor| {
                let level = level(&result.cell, factor);
                String::from(level.unwrap_or("-"))
            });
            let figures = self
                .columns
                .iter()
                .map(|(_, metric)| shown(mean(result, metric)));
            row(levels.chain(figures), text);
        }
    }
}

/// A table with a row a figure and scheme, a column a number of clients.
fn by_clients(
    run: &Run,
    duplex: &'static str,
    schemes: &[Scheme],
    figures: &[Figure],
    [title, about]: [&str; 2],
    text: &mut String,
) {
    let grid = Grid::of(run, duplex);
    let mut rows = Vec::new();
    for figure in figures {
        for scheme in schemes.iter().map(Scheme::to_string) {
            let of = |clients| {
                let result = grid.result(clients, figure.publish, &scheme)?;
                (figure.of)(result)
            };
            let values = CLIENTS.map(of);
            if values.iter().any(Option::is_some) {
                let first = [figure.title.to_string(), scheme.clone()];
                rows.push(
                    first
                        .into_iter()
                        .chain(values.map(shown))
                        .collect::<Vec<_>>(),
                );
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    *text += &format!("\n## {title}\n\n{about}\n");
    let counts = CLIENTS.map(|clients| clients.to_string());
    let titles = ["figure, by clients", "scheme"].into_iter();
    head(
        &titles
            .chain(counts.iter().map(String::as_str))
            .collect::<Vec<_>>(),
        text,
    );
    rows.into_iter().for_each(|cells| row(cells, text));
}

fn found<'a>(run: &'a Run, setting: &Setting) -> Option<&'a CellResult> {
    let name = setting.to_string();
    let is = |result: &&CellResult| result.cell == name && result.target == TARGET;
    run.results.iter().find(is)
}

fn mean(result: &CellResult, metric: &str) -> Option<f64> {
    Some(result.metric(metric)?.estimate.mean)
}

fn shown(value: Option<f64>) -> String {
    value.map_or("-".into(), number)
}

/// Instructions for each message that a client received.
fn instructions(result: &CellResult) -> Option<f64> {
    let factor = |name| level(&result.cell, name)?.parse::<f64>().ok();
    let published = factor("clients")? / factor("publish")?;
    let received = published * mean(result, "rpm")? / 100.0;
    let a_second = mean(result, "sp")? / 100.0 * INSTRUCTIONS_A_SECOND;
    (received > 0.0).then_some(a_second / received)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::results::single;

    #[test]
    fn instructions_are_those_of_a_message() {
        let result = CellResult {
            cell: "clients=10;publish=5;scheme=streaming".into(),
            metrics: vec![single("sp", "%", 1.0), single("rpm", "%", 50.0)],
            ..CellResult::default()
        };
        // 80,000 a second, and one of the two messages a second is received.
        assert_eq!(instructions(&result), Some(80_000.0));
    }
}
