//! The experiment `encoding`: what a document or a message costs in each format.
//!
//! From Tamayo, Granell and Huerta, Sensors 2012 (tables 2 to 4), and the message of Babovic, Protic
//! and Milutinovic, IEEE Access 2016 (tables 2 and 5). Bytes in memory, one thread, here and in
//! a browser; and whole documents over the links of the former. The decision worth arguing: codings of documents and of
//! observations are never compared with each other, because they do not keep the same things.

mod browser;
mod cells;
mod claims;
mod codings;
mod data;
mod density;
mod exificient;
mod figures;
mod goals;
mod native;
mod outcome;
pub mod over_link;
mod page;
mod plots;
mod published;
#[cfg(test)]
mod sizes_of_a;
mod spent;
mod steady;
mod task;

use self::browser::InBrowser;
use self::data::{Source, sources};
use self::exificient::Exificient;
use self::figures::Figures;
use self::native::{Native, Scale};
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::order::Order;
use weir_bench_lab::progress::Progress;
use weir_bench_model::budget::Budget;
use weir_bench_model::clock::now_ns;
use weir_bench_model::journal::Versions;
use weir_bench_model::random::Random;
use weir_bench_model::results::{CellResult, ClaimResult, Run};

/// Its line in the list.
pub const EXPERIMENT: Experiment = Experiment {
    name: "encoding",
    source: "Tamayo et al. 2012, tables 2-4; Babovic et al. 2016, tables 2 and 5",
    about: "size, parse and serialization time of documents and messages in every format",
    cells: cells::names,
    run,
    page: page::markdown,
    figures: plots::of,
    claims: claims_of,
};

/// Runs the experiment.
fn run(order: &Order<'_>) -> Run {
    let started = now_ns();
    let in_order = sources(order.effort);
    let read = in_browser(order, &in_order);
    let on_links = over_link::documents(order);
    let mut sources = here(order, &in_order);
    Random::new(order.seed, "documents").shuffle(&mut sources);
    let mut going = Going {
        order,
        run: order.begin(),
        budget: Budget::of(order.effort),
        progress: Progress::new(sources.len() + read.len() + on_links.len()),
    };
    going.measure_here(&sources);
    going.budget.turn_to_others();
    going.measure_in_browser(&read);
    going.budget.turn_to_others();
    over_link::measure(&mut going, &on_links);
    going.progress.finish();
    let Going {
        mut run, budget, ..
    } = going;
    run.left_out = budget.left_out();
    sort(&mut run.results, &cells::names(order.effort));
    let figures = Figures(&run.results);
    run.goals = goals::judge(&figures);
    run.ratios = goals::ratios(&figures);
    run.claims = claims_of(&run);
    run.seconds = (now_ns() - started) as f64 / 1e9;
    run
}

/// What the papers claim of it, judged by a run.
fn claims_of(run: &Run) -> Vec<ClaimResult> {
    claims::judge(&Figures(&run.results))
}

/// A run that goes on: what it has, and what it may still begin.
struct Going<'a> {
    order: &'a Order<'a>,
    run: Run,
    budget: Budget,
    progress: Progress,
}

impl Going<'_> {
    /// So many pieces of the run, if there is time; none is measured whose key is in the journal.
    fn pieces(
        &mut self,
        (key, count): (&str, usize),
        measure: impl FnOnce(&mut Versions, &Progress) -> Vec<CellResult>,
    ) {
        if self.order.journal.has(key) {
            self.progress.skip(count);
        } else if self.budget.allows(key) {
            self.progress.begin_piece(key);
        } else {
            self.progress.skip(count);
            return;
        }
        let measure = |targets: &mut Versions| measure(targets, &self.progress);
        let results = self.order.journal.cell(key, &mut self.run.targets, measure);
        self.run.results.extend(results);
    }

    /// All documents in memory, by every contender.
    fn measure_here(&mut self, sources: &[Source]) {
        if sources.is_empty() {
            return;
        }
        let mut native = native(self.order, &mut self.run.targets);
        for source in sources {
            let key = format!("native {} {}", source.data, source.file);
            self.pieces((&key, 1), |_, progress| {
                let results = native.measure(source);
                progress.end_piece(&key);
                results
            });
        }
    }

    /// All documents in one browser, which takes longer to start than to read most of them.
    fn measure_in_browser(&mut self, sources: &[Source]) {
        if sources.is_empty() {
            return;
        }
        let order = self.order;
        self.pieces(("browser", sources.len()), |targets, progress| {
            read_by_a_browser(order, sources, targets, progress)
        });
    }
}

/// The documents that are wanted in memory.
fn here(order: &Order<'_>, sources: &[Source]) -> Vec<Source> {
    let wanted = |source: &&Source| order.wants_any(&cells::native(source));
    sources.iter().filter(wanted).copied().collect()
}

/// The documents that are wanted in the browser.
fn in_browser(order: &Order<'_>, sources: &[Source]) -> Vec<Source> {
    let wanted = |source: &&Source| {
        cells::SLOWDOWNS
            .iter()
            .any(|&times| order.wants_any(&cells::browser(source, times, order.effort)))
    };
    sources.iter().filter(wanted).copied().collect()
}

/// The contenders, whose versions are noted.
fn native<'a>(order: &Order<'a>, targets: &mut Versions) -> Native<'a> {
    let exificient = Exificient::start(order.settings)
        .inspect_err(|reason| eprintln!("{}: {reason}", exificient::NAME));
    let version = exificient
        .as_ref()
        .map_or_else(Clone::clone, |e| e.version.clone());
    targets.insert(exificient::NAME.into(), version);
    for (name, version) in REFERENCES {
        targets.insert(name.into(), version.into());
    }
    Native {
        scale: Scale::of(order.effort),
        seed: order.seed,
        only: order.only,
        folder: order.work,
        exificient,
    }
}

/// The libraries that stand beside ours, by name, in the versions that this was built with.
const REFERENCES: [(&str, &str); 7] = [
    ("quick-xml", "0.42"),
    ("serde_json", "1"),
    ("flate2", "1.1, miniz_oxide, level 6"),
    ("bzip2", "0.6, libbz2-rs, level 9"),
    ("zstd", "0.14, level 3"),
    ("pco", "1.1, level 8"),
    ("weir", env!("CARGO_PKG_VERSION")),
];

fn read_by_a_browser(
    order: &Order<'_>,
    sources: &[Source],
    targets: &mut Versions,
    progress: &Progress,
) -> Vec<CellResult> {
    let started = InBrowser::start(
        order.settings,
        order.work,
        order.effort,
        order.seed,
        order.only,
    );
    let measured = started.and_then(|mut browser| {
        let version = browser.version().to_string();
        targets.insert(browser::NAME.into(), version);
        browser.measure(sources, progress)
    });
    measured.unwrap_or_else(|reason| {
        targets.insert(browser::NAME.into(), reason.clone());
        eprintln!("{}: {reason}", browser::NAME);
        let of = |source| cells::browser(source, 1, order.effort);
        let cells = sources.iter().flat_map(of);
        let cells = cells.filter(|cell| order.wants(cell));
        cells
            .map(|c| CellResult::absent(&c, browser::NAME, &reason))
            .collect()
    })
}

/// In the order of the experiment, not of the run.
fn sort(results: &mut [CellResult], names: &[String]) {
    let places: std::collections::HashMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(place, name)| (name.as_str(), place))
        .collect();
    results.sort_by_key(|result| {
        let place = places
            .get(result.cell.as_str())
            .copied()
            .unwrap_or(usize::MAX);
        (
            place,
            result.target != weir_bench_model::results::OURS,
            result.target.clone(),
        )
    });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_lab::targets::Settings;
    use weir_bench_model::effort::Effort;

    #[test]
    fn a_tiny_run_goes_from_order_to_page() {
        let work = std::env::temp_dir().join(format!("weir-encoding-{}", std::process::id()));
        std::fs::create_dir_all(&work).unwrap();
        let run = run(&Order {
            experiment: EXPERIMENT.name,
            source: EXPERIMENT.source,
            effort: Effort::Quick,
            only: "place=native;data=message;file=1;",
            seed: 1,
            settings: &Settings::default(),
            work: &work,
            journal: &weir_bench_model::journal::Journal::none(),
            command: "weir bench run encoding".into(),
        });
        std::fs::remove_dir_all(&work).unwrap();
        let find = |cell: &str, target: &str| {
            let found = run
                .results
                .iter()
                .find(|r| r.cell.ends_with(cell) && r.target == target);
            found.unwrap_or_else(|| panic!("no {cell} by {target}"))
        };
        for format in weir_codec::FORMATS {
            let cell = format!("from=observations;format={}", format.name);
            let result = find(&cell, weir_bench_model::results::OURS);
            assert!(result.metric("parse").is_some() && result.metric("serialize").is_some());
        }
        assert!(
            find(
                "from=document;format=exi-s",
                weir_bench_model::results::OURS
            )
            .metric("size")
            .is_some()
        );
        assert!(
            find("from=document;format=xml", "quick-xml")
                .metric("content_density")
                .is_some()
        );
        assert!(
            run.results
                .iter()
                .all(|r| r.cell.starts_with("place=native;data=message;file=1;"))
        );
        let again: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
        let page = page::markdown(&again, "runs/encoding");
        assert!(
            page.contains("| message 1 |") && page.contains("This run has no cells of "),
            "{page}"
        );
    }
}
