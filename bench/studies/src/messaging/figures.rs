//! Figures of a run by what they are of, and the figures of the paper with its values behind ours.

use super::cells::{Clients, Setting, State, Test};
use super::protocols::{PROTOCOLS, Protocol};
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::published::{MESSAGING_LATENCY, MESSAGING_RATE};
use weir_bench_model::results::{CellResult, Metric, Run};
use weir_bench_model::statistics::Estimate;

/// What a result is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of {
    pub(super) protocol: &'static Protocol,
    pub(super) test: Test,
    pub(super) clients: Clients,
    pub(super) nodes: usize,
    pub(super) state: State,
}

impl Setting {
    /// What its results are of.
    pub(super) fn of(&self) -> Of {
        Of {
            protocol: self.protocol,
            test: self.test,
            clients: self.clients,
            nodes: self.nodes,
            state: self.state,
        }
    }
}

impl Of {
    /// T_transfer of messages of so many nodes.
    pub(super) fn transfer(protocol: &'static Protocol, clients: Clients, nodes: usize) -> Self {
        Self {
            protocol,
            test: Test::Transfer,
            clients,
            nodes,
            state: State::Steady,
        }
    }

    /// Messages to and fro, of one node.
    pub(super) fn ping_pong(protocol: &'static Protocol, clients: Clients, state: State) -> Self {
        Self {
            protocol,
            test: Test::PingPong,
            clients,
            nodes: 1,
            state,
        }
    }

    /// The result of a broker, whatever the rate of the run.
    pub(super) fn result<'a>(&self, run: &'a Run, broker: &str) -> Option<&'a CellResult> {
        let start = format!(
            "protocol={};test={};clients={};nodes={};",
            self.protocol.name,
            self.test.name(),
            self.clients.name(),
            self.nodes
        );
        let state = format!("broker={}", self.state.name());
        run.results.iter().find(|result| {
            let rest = result.cell.strip_prefix(&start).unwrap_or("none");
            let is_of = match self.test {
                Test::Transfer => rest.starts_with("rate="),
                Test::PingPong => rest == state,
            };
            is_of && result.target == broker
        })
    }

    /// Whether the broker passed messages as fast as they were due.
    pub(super) fn keeps_up(&self, run: &Run, broker: &str) -> bool {
        self.result(run, broker).is_none_or(|result| !result.missed)
    }

    /// A metric of it.
    pub(super) fn metric<'a>(&self, run: &'a Run, broker: &str, name: &str) -> Option<&'a Metric> {
        self.result(run, broker)?.metric(name)
    }

    /// The mean of it over rounds, with its interval; nothing of a broker behind which messages queued up.
    pub(super) fn estimate(&self, run: &Run, broker: &str, name: &str) -> Option<Estimate> {
        let metric = self.metric(run, broker, name)?;
        self.keeps_up(run, broker).then_some(metric.estimate)
    }

    /// The mean of it.
    pub(super) fn mean(&self, run: &Run, broker: &str, name: &str) -> Option<f64> {
        Some(self.estimate(run, broker, name)?.mean)
    }
}

/// The figures of the report.
pub(super) fn figures(run: &Run) -> Vec<Figure> {
    let all = PROTOCOLS.iter().flat_map(|protocol| {
        let latencies = Clients::ALL.map(|clients| latency(run, protocol, clients));
        latencies.into_iter().chain([rates(run, protocol)])
    });
    all.filter(Figure::shows_something).collect()
}

fn brokers(protocol: &Protocol, run: &Run) -> Vec<&'static str> {
    let all = protocol.brokers(true).into_iter();
    all.filter(|name| run.results.iter().any(|result| result.target == *name))
        .collect()
}

/// Figure 9.
fn latency(run: &Run, protocol: &'static Protocol, clients: Clients) -> Figure {
    let of = |broker: &str| {
        let points = (1..=5).filter_map(|nodes| {
            let result = Of::transfer(protocol, clients, nodes).result(run, broker)?;
            Some(Point::of_result(nodes as f64, result, "t_transfer", 1000.0))
        });
        Series::here(broker, points.collect())
    };
    let here = brokers(protocol, run).into_iter().map(of);
    let theirs = protocol
        .published
        .filter(|_| clients == Clients::NativeBrowser);
    let theirs = theirs.map(published_latency);
    let name = format!("transfer-{}-{}", protocol.name, clients.name());
    let title = format!("T_transfer by {}, {}", protocol.title, clients.name());
    Figure::new(Form::Lines, &name, &title)
        .axes(Axis::new("nodes", ""), Axis::new("T_transfer", "ms"))
        .caption("From the data at hand to observations in the other client, mean over rounds.")
        .group("T_transfer")
        .series(here.chain(theirs))
}

fn published_latency(name: &str) -> Series {
    let rows = MESSAGING_LATENCY.rows();
    let rows = rows.iter().filter(|row| row.text("protocol") == name);
    let points =
        rows.filter_map(|row| Some(Point::at(row.number("nodes")?, row.number("transfer_ms")?)));
    Series::published(name, &MESSAGING_LATENCY.cited(), points.collect())
}

/// Figure 10.
fn rates(run: &Run, protocol: &'static Protocol) -> Figure {
    let of = |broker: &str, state: State| {
        let points = Clients::ALL.into_iter().filter_map(|clients| {
            let result = Of::ping_pong(protocol, clients, state).result(run, broker)?;
            Some(Point::of_result(
                clients.name(),
                result,
                "message_rate",
                1.0,
            ))
        });
        let name = match state {
            State::Steady => broker.to_owned(),
            State::Started => format!("{broker}, just started"),
        };
        Series::here(&name, points.collect())
    };
    let here = brokers(protocol, run).into_iter();
    let here = here.flat_map(|name| [of(name, State::Steady), of(name, State::Started)]);
    let published = published_brokers(protocol).into_iter().map(|broker| {
        let rows = MESSAGING_RATE.rows();
        let rows = rows.iter().filter(|row| row.text("broker") == broker);
        let points = rows.filter_map(|row| {
            let rate = row.number("rate_msg_s")?;
            Some(Point::at(row.text("clients"), rate))
        });
        Series::published(&broker, &MESSAGING_RATE.cited(), points.collect())
    });
    let title = format!("Messages to and fro by {}", protocol.title);
    Figure::new(Form::Bars, &format!("rate-{}", protocol.name), &title)
        .axes(
            Axis::new("clients", ""),
            Axis::new("message rate", "1/s").log(),
        )
        .caption("A message of one node, sent again as soon as it is back: a closed loop.")
        .series(here.chain(published))
}

/// The brokers of a protocol in table 8.
pub(super) fn published_brokers(protocol: &Protocol) -> Vec<String> {
    let rows = MESSAGING_RATE.rows();
    let of = rows
        .iter()
        .filter(|row| Some(row.text("protocol")) == protocol.published);
    let mut names: Vec<String> = of.map(|row| row.text("broker").to_owned()).collect();
    names.dedup();
    names
}
