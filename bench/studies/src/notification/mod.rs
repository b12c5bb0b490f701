//! The experiment `notification`: who hears of a publication, and when, by the scheme that tells them.
//!
//! From Duquennoy, Grimaud and Vandewalle 2009 (paper 002, figures 2 to 7): a device of a few kilobytes behind
//! a serial line, in virtual time ([`weir_sim`]: the board's own server, clients with another's TCP); and the
//! gateway in the device's place, with as many clients as Bozdag et al. had and more, for real. Some settings are run
//! on the board itself, too ([`spots`]). What it deliberately does not do: run the grid there, whose 252 settings take
//! two weeks by the clock. The decision
//! worth arguing: every claim is judged on a line where one end talks at a time, which alone explains the paper's
//! packet counts; the other reading of the paper stands beside it.

mod beyond;
mod cells;
mod claims;
mod device;
mod figures;
mod goals;
mod page;
mod spots;
#[cfg(test)]
mod tests;

use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::order::Order;
use weir_bench_lab::plan::Plan;
use weir_bench_model::clock::now_ns;
use weir_bench_model::results::Run;

/// Its line in the list.
pub const EXPERIMENT: Experiment = Experiment {
    name: "notification",
    source: "Duquennoy, Grimaud and Vandewalle 2009, figures 2-7",
    about: "how soon and how completely a device, and the gateway, tell many clients what is new",
    cells: cells::names,
    run,
    page: page::markdown,
    figures: figures::of,
    claims: claims::judge,
};

/// Runs the experiment: the device first, since a quick run must not lack it.
fn run(order: &Order<'_>) -> Run {
    let began_ns = now_ns();
    let device = device::measure(order);
    let mut versions = weir_bench_model::journal::Versions::new();
    let spots = spots::measure(order, &mut versions);
    let plan = Plan::new(cells::of_gateway(order.effort), order.only, order.seed);
    let mut run = weir_bench_lab::run::execute_since(&plan, order, began_ns);
    if !device.is_empty() {
        let version = env!("CARGO_PKG_VERSION");
        let version = format!("weir-comet {version} in virtual time");
        run.targets.insert(device::TARGET.into(), version);
        run.targets
            .insert(device::SIMULATION.into(), device::simulation());
    }
    run.targets.extend(versions);
    run.results.splice(0..0, device.into_iter().chain(spots));
    run.goals = goals::of(&run);
    run.goals.extend(spots::goals(&run));
    run.claims = claims::judge(&run);
    run.seconds = (now_ns() - began_ns) as f64 / 1e9;
    run
}
