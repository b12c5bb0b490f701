//! The experiment `link-efficiency`: what a packet and its echo take on the link, by protocol.
//!
//! From Mijovic, Shehu and Buratti 2016 (paper 003, figures 2 to 7): on the machine itself, and over
//! emulated links in place of their Wi-Fi, home router and cellular network, with and without the modem
//! that stood between their board and the air. The decision worth arguing: a closed loop, as the paper's;
//! a device that waits for its echo offers no rate, so nothing is omitted by waiting.

mod cells;
mod claims;
pub mod echo;
mod figures;
mod over_links;
mod page;
mod page_of_links;
mod plots;
mod protocol;
mod servers;
mod stage;
#[cfg(test)]
mod tests;
mod verdict;

use self::cells::Scale;
use self::figures::Figures;
use self::servers::SERVERS;
use self::stage::Cell;
use weir_bench_lab::alone;
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::order::Order;
use weir_bench_model::ratios;
use weir_bench_model::results::{ClaimResult, Run};

/// Its line in the list.
pub const EXPERIMENT: Experiment = Experiment {
    name: "link-efficiency",
    source: "Mijovic et al. 2016, figures 2-7",
    about: "bytes and round trips of an echo by CoAP, WebSocket, HTTP and MQTT, also over links",
    cells: cells::names,
    run,
    page: page::markdown,
    figures: plots::of,
    claims: claims_of,
};

/// Runs the experiment.
fn run(order: &Order<'_>) -> Run {
    let scale = Scale::of(order.effort);
    let mut settings = cells::settings(order.effort);
    let cells: Vec<Cell> = Cell::all(settings.iter().copied(), scale);
    let mut run = alone::run(order, &cells, &SERVERS);
    settings.retain(|setting| order.wants(&setting.name()));
    verdict::mark_ceiling(&mut run.results, &settings);
    let figures = Figures(&run.results);
    run.goals = verdict::goals(&figures, &settings);
    run.ratios = ratios::between(&run.results, &verdict::COMPARED);
    run.claims = claims_of(&run);
    run
}

/// What the papers claim of it, judged by a run.
fn claims_of(run: &Run) -> Vec<ClaimResult> {
    claims::judge(&Figures(&run.results))
}
