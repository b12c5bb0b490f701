//! What the fits say about more clients than one machine holds: memory, processors, and how many gateways.
//!
//! A client costs what the slopes of the lines say: a connection its memory and its heartbeats, a message that it hears
//! the time of a processor. What it deliberately does not do: follow latencies, which no more machines would change in
//! that way, or count what gateways owe each other, which is words and no number here.

use super::RATE_TO_ALL;
use super::curves::Course;
use super::fit::{Fit, digits};
use super::list::CURVES;
use weir_bench_model::environment::Environment;
use weir_bench_model::limits::FILES_RESERVED;
use weir_bench_model::number::number;
use weir_bench_model::results::Run;

/// How many clients are asked about.
pub(super) const CLIENTS: [f64; 2] = [1e6, 1e8];

/// What each of them hears, messages a second, in words.
pub(super) const HEARD: [(f64, &str); 4] = [
    (0.0, "nothing"),
    (1.0 / 60.0, "a message a minute"),
    (1.0, "one a second"),
    (10.0, "ten a second"),
];

/// A quantity with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) middle: f64,
    pub(super) high: f64,
}

/// What one client costs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Client {
    pub(super) delivery: String,
    /// Bytes, of the gateway and of its half of what the kernel keeps.
    memory: Range,
    /// Processors while it rests.
    rest: Range,
    /// Seconds of a processor for a message that it hears.
    message: Range,
    /// Whether it takes one of the gateway's files.
    takes_file: bool,
}

/// What so many clients need, in gateways of this machine's size.
pub(super) struct Need {
    pub(super) memory_bytes: Range,
    pub(super) cpus: Range,
    pub(super) gateways: Range,
    /// What they run out of first.
    pub(super) limit: &'static str,
}

impl Range {
    /// What is there once: its interval is of the fit, and nothing costs less than nothing.
    fn of(middle: f64, (low, high): (f64, f64)) -> Self {
        let [low, middle, high] = [low, middle, high].map(|end| end.max(0.0));
        Self { low, middle, high }
    }

    fn times(self, by: f64) -> Self {
        let [low, middle, high] = [self.low, self.middle, self.high].map(|end| end * by);
        Self { low, middle, high }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            low: self.low + other.low,
            middle: self.middle + other.middle,
            high: self.high + other.high,
        }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [low, middle, high] = [self.low, self.middle, self.high].map(digits);
        match low == high {
            // What nobody sees in three digits is no interval.
            true => f.write_str(&middle),
            false => write!(f, "{middle} ({low} to {high})"),
        }
    }
}

/// The clients of which a run says enough: those that hold a connection, and observers by CoAP.
pub(super) fn clients(run: &Run) -> Vec<Client> {
    let connections = courses(run, "memory-connections").into_iter();
    let connected = connections.filter_map(|course| {
        let of = |curve| slope(run, curve, &course.delivery);
        let kernel = of("kernel-connections").unwrap_or_default();
        Some(Client {
            memory: of("memory-connections")?.plus(kernel.times(0.5)),
            rest: of("cpu-connections")?,
            message: of("cpu-subscribers")?.times(1.0 / f64::from(RATE_TO_ALL)),
            takes_file: true,
            delivery: course.delivery,
        })
    });
    connected.chain(observer(run)).collect()
}

/// It has no connection: all share one socket of datagrams.
fn observer(run: &Run) -> Option<Client> {
    Some(Client {
        delivery: "observe".into(),
        memory: slope(run, "memory-observers", "")?,
        rest: Range::default(),
        message: slope(run, "cpu-observers", "")?.times(1e-3),
        takes_file: false,
    })
}

fn courses(run: &Run, name: &str) -> Vec<Course> {
    let curve = CURVES.iter().find(|curve| curve.name == name);
    curve.map(|curve| curve.courses(run)).unwrap_or_default()
}

/// What each more costs by a curve that is a line.
fn slope(run: &Run, name: &str, delivery: &str) -> Option<Range> {
    let curve = CURVES.iter().find(|curve| curve.name == name)?;
    let course = courses(run, name);
    let course = course.iter().find(|course| course.delivery == delivery)?;
    match curve.fit(course)? {
        Fit::Line(line) => Some(Range::of(line.slope, line.slopes())),
        Fit::Power(_) => None,
    }
}

impl Client {
    /// What so many of them need who hear so many messages a second.
    pub(super) fn need(&self, count: f64, heard: f64, machine: &Environment) -> Need {
        let memory_bytes = self.memory.times(count);
        let cpus = self.rest.plus(self.message.times(heard)).times(count);
        let files = machine.open_files.saturating_sub(FILES_RESERVED as u64);
        let by_files = match self.takes_file {
            true => count / files.max(1) as f64,
            false => 0.0,
        };
        let by = [
            (
                memory_bytes.times(1.0 / machine.memory_bytes.max(1) as f64),
                "memory",
            ),
            (cpus.times(1.0 / machine.cpus.max(1) as f64), "processors"),
            (Range::of(by_files, (by_files, by_files)), "open files"),
        ];
        let most = |end: fn(&Range) -> f64| {
            let ends = by.iter().map(|(range, _)| end(range));
            ends.fold(0.0, f64::max).ceil().max(1.0)
        };
        let first = by.iter().max_by(|a, b| a.0.middle.total_cmp(&b.0.middle));
        Need {
            memory_bytes,
            cpus,
            gateways: Range {
                low: most(|range| range.low),
                middle: most(|range| range.middle),
                high: most(|range| range.high),
            },
            limit: first.map_or("", |(_, limit)| limit),
        }
    }
}

impl Need {
    /// In a table: GB, processors, gateways, what runs out.
    pub(super) fn cells(&self) -> [String; 4] {
        let gigabytes = self.memory_bytes.times(1e-9).to_string();
        let Range { low, middle, high } = self.gateways;
        let gateways = match low == high {
            true => whole(middle),
            false => format!("{} ({} to {})", whole(middle), whole(low), whole(high)),
        };
        [
            gigabytes,
            self.cpus.to_string(),
            gateways,
            self.limit.into(),
        ]
    }
}

/// Nobody buys a part of one.
fn whole(gateways: f64) -> String {
    match gateways < 1000.0 {
        true => format!("{gateways:.0}"),
        false => number(gateways),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_model::results::{CellResult, single};

    fn result(cell: String, metric: &str, value: f64) -> CellResult {
        CellResult {
            cell,
            target: "weir".into(),
            status: "ok".into(),
            metrics: vec![single(metric, "", value)],
            ..CellResult::default()
        }
    }

    /// 3 kB a connection of the gateway and 2 kB of the kernel at both ends, 1e-6 processors a connection that rests,
    /// 2e-6 seconds a message.
    fn run() -> Run {
        let levels = [100.0, 1000.0, 10_000.0];
        let idle = |n: f64| format!("test=idle;delivery=sse;connections={n}");
        let to_all = |n: f64| format!("test=subscribers;delivery=sse;subscribers={n};rate=10");
        let of = |n: f64| {
            let both = |more: (&str, f64)| {
                let mut of_idle = result(idle(n), "server_memory_per_connection", 3000.0);
                of_idle
                    .metrics
                    .push(single("kernel_slab_per_connection", "", 2000.0));
                of_idle.metrics.push(single(more.0, "", more.1));
                of_idle
            };
            let busy = result(to_all(n), "server_cpu", 0.1 + n * 2e-5);
            [both(("server_cpu", 0.01 + n * 1e-6)), busy]
        };
        Run {
            results: levels.into_iter().flat_map(of).collect(),
            environment: Environment {
                cpus: 2,
                memory_bytes: 16_000_000_000,
                open_files: 20_500,
                ..Environment::default()
            },
            ..Run::default()
        }
    }

    #[test]
    fn a_million_clients_take_what_their_slopes_say_and_as_many_gateways_as_run_out_first() {
        let run = run();
        let clients = clients(&run);
        assert_eq!(clients.len(), 1, "{clients:?}");
        let need = |heard| clients[0].need(1e6, heard, &run.environment);
        let near = |range: Range, value: f64| (range.middle / value - 1.0).abs() < 1e-6;
        let silent = need(0.0);
        assert!(near(silent.memory_bytes, 4e9) && near(silent.cpus, 1.0));
        assert_eq!((silent.gateways.middle, silent.limit), (50.0, "open files"));
        let busy = need(100.0);
        assert!(near(busy.cpus, 201.0));
        assert_eq!((busy.gateways.middle, busy.limit), (101.0, "processors"));
    }

    #[test]
    fn a_hundred_million_take_a_hundred_times_as_much() {
        let run = run();
        let client = &clients(&run)[0];
        let need = |count| client.need(count, 1.0, &run.environment);
        let ratio = need(1e8).cpus.middle / need(1e6).cpus.middle;
        assert!((ratio - 100.0).abs() < 1e-9);
        assert_eq!(need(1e8).cells()[2..], ["5,000", "open files"]);
    }

    #[test]
    fn what_costs_nothing_that_is_seen_costs_no_less_than_nothing() {
        let range = Range::of(-2.0, (-5.0, 1.0));
        assert_eq!((range.low, range.middle, range.high), (0.0, 0.0, 1.0));
        assert_eq!(range.to_string(), "0 (0 to 1.00)");
    }

    #[test]
    fn without_a_curve_of_all_that_a_client_does_nothing_is_said() {
        let mut run = run();
        run.results
            .retain(|result| result.cell.starts_with("test=idle"));
        assert_eq!(clients(&run), []);
    }
}
