//! The experiment `link-efficiency`: what a packet and its echo take on the link, by protocol.
//!
//! From Mijovic, Shehu and Buratti 2016 (paper 003, figures 2 to 7): on the machine itself, and over
//! emulated links in place of their Wi-Fi, home router and cellular network, with and without the modem
//! that stood between their board and the air. The decision worth arguing: a closed loop, as the paper's;
//! a device that waits for its echo offers no rate, so nothing is omitted by waiting.

mod cells;
mod claims;
mod device;
pub(crate) mod echo;
mod figures;
pub(crate) mod job;
mod oscore;
mod over_links;
mod page;
mod page_of_links;
mod plots;
mod protocol;
mod sample;
mod servers;
mod stage;
pub(crate) mod tcp_info;
#[cfg(test)]
mod tests;
pub(crate) mod traffic;
mod verdict;

pub(crate) use cells::names;
pub(crate) use device::run as run_device;
pub(crate) use page::markdown;
pub(crate) use plots::of as figures_of;
pub(crate) use sample::of as sample_of_echo;

use self::cells::{Scale, Setting};
use self::figures::Figures;
use self::servers::SERVERS;
use self::stage::Stage;
use crate::clock::now_ns;
use crate::experiments::Order;
use crate::link::Links;
use crate::plan::Shuffle;
use crate::progress::Progress;
use crate::results::{ClaimResult, Run};

/// Runs the experiment.
pub(crate) fn run(order: &Order<'_>) -> Run {
    let started = now_ns();
    let mut run = Run::begin(order);
    let scale = Scale::of(order.effort);
    let mut wanted = cells::settings(order.effort);
    wanted.retain(|setting| order.wants(&setting.name()));
    let in_order = wanted.clone();
    let to_measure = wanted.iter().filter(|s| !order.journal.has(&s.name()));
    let measurements = to_measure.map(|s| servers::of(s).count() * scale.rounds(s));
    let progress = Progress::new(measurements.sum());
    let mut shuffle = Shuffle::new(order.seed);
    shuffle.shuffle(&mut wanted);
    let mut links = Links::new(order.seed);
    for (index, setting) in wanted.iter().enumerate() {
        let folder = order.work.join(format!("cell-{index}"));
        let measure = |targets: &mut _| match links.ends(order.settings, setting.link) {
            Ok(ends) => {
                let stage = Stage::new(&ends, &folder, scale, *setting);
                stage.measure(&mut shuffle, &progress, targets)
            }
            Err(reason) => stage::refused(setting, &reason),
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
    let figures = Figures(&run.results);
    run.ratios = verdict::ratios(&figures, &in_order);
    run.goals = verdict::goals(&figures, &in_order);
    run.claims = claims_of(&run);
    run.seconds = (now_ns() - started) as f64 / 1e9;
    run
}

/// What the papers claim of it, judged by a run.
pub(crate) fn claims_of(run: &Run) -> Vec<ClaimResult> {
    claims::judge(&Figures(&run.results))
}

/// In the order of the experiment, not of the run.
fn sort(run: &mut Run, settings: &[Setting]) {
    let names: Vec<String> = settings.iter().map(Setting::name).collect();
    let place = |cell: &str| names.iter().position(|name| name == cell);
    let server = |target: &str| SERVERS.iter().position(|server| server.name == target);
    run.results
        .sort_by_key(|result| (place(&result.cell), server(&result.target)));
}
