//! The experiment `services`: what a call of a Web service takes, by stack.
//!
//! From Karnouskos and Somlev 2012 (paper 001, table I, figures 4 to 8): a client sends a simple message of
//! several value fields, one after the other, and waits for the answer of each. The client serializes, the
//! receiver deserializes; the RTT lies between, with neither in it. REST and CoAP carry Protobuf, SOAP an
//! envelope in XML or EXI. What it deliberately does not do: guess at the paper's message, whose bytes it does
//! not print. The decision worth arguing: both codings are timed in the client's process, so that one clock and
//! one codec serve all servers alike; where the server sends the message back, what came back is what is read.

mod caller;
mod cells;
mod claims;
mod coding;
mod figures;
pub mod job;
mod message;
mod page;
mod sample;
mod servers;
mod stage;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use self::cells::Scale;
use self::servers::SERVERS;
use self::stage::Cell;
use weir_bench_lab::alone;
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::order::Order;
use weir_bench_model::ratios::{self, Compared};
use weir_bench_model::results::{CellResult, Run};
use weir_bench_model::verdict::mark_share;

/// What of the gateway is divided by every other server's.
const COMPARED: [Compared; 3] = [
    ("rtt", "rtt_p50", |round| round.p50),
    ("rtt", "rtt_p99", |round| round.p99),
    ("message_rate", "message_rate", |round| round.mean),
];

/// Its line in the list.
pub const EXPERIMENT: Experiment = Experiment {
    name: "services",
    source: "Karnouskos and Somlev 2012, table I, figures 4-8",
    about: "serialization, round trip and deserialization of a call by REST and CoAP with Protobuf",
    cells: cells::names,
    run,
    page: page::markdown,
    figures: figures::figures,
    claims: claims::judge,
};

/// Runs the experiment.
fn run(order: &Order<'_>) -> Run {
    let scale = Scale::of(order.effort);
    let cells: Vec<Cell> = Cell::all(cells::settings(order.effort), scale);
    let mut run = alone::run(order, &cells, &SERVERS);
    mark_ceiling(&mut run.results, &cells);
    run.ratios = ratios::between(&run.results, &COMPARED);
    run.claims = claims::judge(&run);
    run
}

/// Marks where many calls are under way and the caller, which is one thread, is what limits them: at the rate that it
/// would have with a whole processor to itself nothing could be told of a server.
fn mark_ceiling(results: &mut [CellResult], cells: &[Cell]) {
    let deep = cells.iter().filter(|cell| cell.setting.depth > 1);
    let deep: BTreeSet<String> = deep.map(|cell| cell.setting.name()).collect();
    for result in results.iter_mut().filter(|it| deep.contains(&it.cell)) {
        let busy = result.metric("load_cpu").map(|metric| metric.estimate.mean);
        if let Some(busy) = busy {
            mark_share(result, "message_rate", busy);
        }
    }
}
