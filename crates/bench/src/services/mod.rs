//! The experiment `services`: what a call of a Web service takes, by stack.
//!
//! From Karnouskos and Somlev 2012 (paper 001, table I, figures 4 to 8): a client sends a simple message of
//! several value fields, one after the other, and waits for the answer of each. The client serializes, the
//! receiver deserializes; the RTT lies between, with neither in it. REST and CoAP carry Protobuf. What it
//! deliberately does not do: guess at the paper's message, whose bytes it does not print. The decision worth
//! arguing: both codings are timed in the client's process, so that one clock and one codec serve all servers
//! alike; where the server sends the message back, what came back is what is read.

mod caller;
mod cells;
mod claims;
mod figures;
pub(crate) mod job;
mod message;
mod sample;
mod servers;
mod stage;
#[cfg(test)]
mod tests;

pub(crate) use caller::run as run_caller;
pub(crate) use cells::names;
pub(crate) use claims::judge as claims_of;
pub(crate) use figures::figures as figures_of;

use self::cells::{Scale, Setting};
use self::servers::SERVERS;
use self::stage::Stage;
use crate::clock::now_ns;
use crate::experiments::Order;
use crate::link::Links;
use crate::plan::Shuffle;
use crate::progress::Progress;
use crate::results::{CellResult, Run};

/// Runs the experiment.
pub(crate) fn run(order: &Order<'_>) -> Run {
    let started = now_ns();
    let mut run = Run::begin(order);
    let scale = Scale::of(order.effort);
    let in_order: Vec<Setting> = cells::settings(order.effort)
        .into_iter()
        .filter(|setting| order.wants(&setting.name()))
        .collect();
    let to_measure = in_order.iter().filter(|s| !order.journal.has(&s.name()));
    let measurements: usize = to_measure.map(|s| servers::of(s).count()).sum();
    let progress = Progress::new(measurements * scale.rounds);
    let mut shuffle = Shuffle::new(order.seed);
    let mut wanted = in_order.clone();
    shuffle.shuffle(&mut wanted);
    let mut links = Links::new(order.seed);
    for (index, setting) in wanted.iter().enumerate() {
        let folder = order.work.join(format!("cell-{index}"));
        let measure = |targets: &mut _| match links.ends(order.settings, &setting.link()) {
            Ok(ends) => {
                Stage::new(&ends, &folder, scale, setting).measure(&mut shuffle, &progress, targets)
            }
            Err(reason) => failed(setting, &reason),
        };
        let results = order
            .journal
            .cell(&setting.name(), &mut run.targets, measure);
        run.results.extend(results);
        let _ = std::fs::remove_dir_all(&folder);
    }
    progress.finish();
    run.links = links.used();
    sort(&mut run, &in_order);
    run.claims = claims::judge(&run);
    run.seconds = (now_ns() - started) as f64 / 1e9;
    run
}

/// A cell whose link is not to be had keeps its rows, with the reason.
fn failed(setting: &Setting, reason: &str) -> Vec<CellResult> {
    let row = |server: &servers::Server| CellResult {
        cell: setting.name(),
        target: server.name.into(),
        status: reason.into(),
        ..CellResult::default()
    };
    servers::of(setting).map(row).collect()
}

/// In the order of the experiment, not of the run.
fn sort(run: &mut Run, settings: &[Setting]) {
    let names: Vec<String> = settings.iter().map(Setting::name).collect();
    let place = |cell: &str| names.iter().position(|name| name == cell);
    let server = |target: &str| SERVERS.iter().position(|server| server.name == target);
    run.results
        .sort_by_key(|result| (place(&result.cell), server(&result.target)));
}
