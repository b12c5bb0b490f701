//! The experiment `messaging`: what a broker costs a message, by protocol, broker and kind of client.
//!
//! From Babovic, Protic and Milutinovic 2016 (paper 000, section VII-F, tables 7 and 8). Brokers are
//! started once, side by side before anything is measured, and kept, so that each is measured as it is
//! after a while; cells of the state `started` start theirs anew. The decision worth arguing: all clients
//! are on the machine of the broker, as the two clients of the paper were on one, and share its processors
//! with it; so a rate is that of the whole, and the processor time of each side stands beside it.

mod apart;
mod browsers;
mod cells;
mod claims;
mod deeds;
mod figures;
mod goals;
pub mod job;
mod made_with;
mod native;
mod nodelay;
mod page;
mod payload;
mod protocols;
mod sample;
mod stage;
mod starting;
mod verdict;

use self::cells::{Scale, Setting};
use self::stage::Stage;
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::order::Order;
use weir_bench_lab::progress::Progress;
use weir_bench_lab::targets::list;
use weir_bench_model::budget::Budget;
use weir_bench_model::clock::now_ns;
use weir_bench_model::random::Random;
use weir_bench_model::results::Run;

/// Its line in the list.
pub const EXPERIMENT: Experiment = Experiment {
    name: "messaging",
    source: "Babovic et al. 2016, tables 7 and 8",
    about: "protocols by the gateway and other brokers, programs and pages: latency, rates",
    cells: cells::names,
    run,
    page: page::markdown,
    figures: figures::figures,
    claims: claims::judge,
};

/// Runs the experiment.
fn run(order: &Order<'_>) -> Run {
    let started = now_ns();
    let mut budget = Budget::of(order.effort);
    let mut run = order.begin();
    let scale = Scale::of(order.effort).with_rounds(order.settings.rounds);
    let mut wanted = cells::settings(order.effort, order.settings.rate);
    wanted.retain(|setting| order.wants(&setting.name()));
    let in_order: Vec<String> = wanted.iter().map(Setting::name).collect();
    let mut shuffle = Random::of(order.seed);
    shuffle.shuffle(&mut wanted);
    if budget.is_short() {
        wanted.sort_by_key(Setting::rank);
    }
    let mut stage = Stage::new(order, scale);
    let to_measure = wanted.iter().filter(|s| !order.journal.has(&s.name()));
    let to_measure: Vec<Setting> = to_measure.copied().collect();
    stage.start_all(&to_measure);
    let progress = Progress::new(to_measure.iter().map(|s| stage.measurements(s)).sum());
    for group in grouped(wanted) {
        let (in_time, late): (Vec<_>, Vec<_>) = group
            .into_iter()
            .partition(|it| order.journal.has(&it.name()) || budget.allows(&it.name()));
        for setting in late {
            progress.skip(stage.measurements(&setting));
        }
        let is_new = |it: &&Setting| !order.journal.has(&it.name());
        let new: Vec<Setting> = in_time.iter().filter(is_new).copied().collect();
        let mut found = stage.measure(&new, &mut shuffle, &progress).into_iter();
        for setting in &in_time {
            let results = (order.journal).cell(&setting.name(), &mut run.targets, |targets| {
                let (versions, results) = found.next().unwrap_or_default();
                targets.extend(versions);
                results
            });
            run.results.extend(results);
        }
    }
    drop(stage);
    progress.finish();
    run.left_out = budget.left_out();
    run.sort(&in_order, list::place);
    run.ratios = verdict::ratios(&run.results);
    run.goals = goals::of(&run);
    run.claims = claims::judge(&run);
    run.seconds = (now_ns() - started) as f64 / 1e9;
    run
}

/// Cells that take turns, in the order of each group's first.
fn grouped(cells: Vec<Setting>) -> Vec<Vec<Setting>> {
    let mut groups: Vec<(String, Vec<Setting>)> = Vec::new();
    for cell in cells {
        let name = cell.group();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(cell),
            None => groups.push((name, vec![cell])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
