//! Spot settings on the board itself, in an emulator behind a paced line, each beside its simulation.
//!
//! The clients are the simulation's, with smoltcp's TCP; server, line and time are real: the image of
//! `device/firmware/` that publishes its clock, built here, and the machine's own clock. Both are measured in the same
//! window, which is shorter than the paper's: the authors' scripts have 150 s. What it deliberately does not do: count
//! what only the board could tell (what it sent again, RMP).

mod agreement;
mod live;

pub(super) use agreement::{goals, table};

use weir_sim::{Duplex, Line, Publication, SECOND, Scheme, Setting, Window, run_in};

use super::cells::LINE;
use super::device::{self, TARGET};
use weir_bench_lab::order::Order;
use weir_bench_lab::progress::Progress;
use weir_bench_model::effort::Effort;
use weir_bench_model::environment::version_of;
use weir_bench_model::journal::Versions;
use weir_bench_model::results::{CellResult, single};

/// The name under which the board stands in results.
pub(super) const BOARD: &str = "comet_mps2";

/// Share of the measured time that a line may be late beyond what it makes up for.
const LATE_SHARE_MAX: f64 = 0.01;

/// The spots: clients, publication, scheme, line. The first are those of a quick run, whose lines have room: one
/// that is saturated takes minutes to come to rest.
const SPOTS: [(usize, u32, Scheme, Duplex); 10] = [
    (128, 1, Scheme::Streaming, Duplex::Full),
    (16, 1, Scheme::LongPolling, Duplex::Full),
    (16, 1, Scheme::Polling(1), Duplex::Full),
    (64, 1, Scheme::Streaming, Duplex::Full),
    (256, 1, Scheme::Streaming, Duplex::Full),
    (128, 1, Scheme::Streaming, Duplex::Half),
    (64, 1, Scheme::LongPolling, Duplex::Half),
    (64, 1, Scheme::LongPolling, Duplex::Full),
    (128, 1, Scheme::Polling(1), Duplex::Full),
    (256, 5, Scheme::Streaming, Duplex::Half),
];
const SPOTS_QUICK: usize = 3;

/// A setting of the grid that is run on the board too.
#[derive(Clone, Copy)]
struct Spot {
    setting: Setting,
}

fn spots(effort: Effort) -> Vec<Spot> {
    let count = match effort {
        Effort::Quick => SPOTS_QUICK,
        Effort::Full => SPOTS.len(),
    };
    let of = |&(clients, seconds, scheme, duplex): &_| Spot {
        setting: Setting {
            clients,
            publication: Publication::Every(seconds),
            scheme,
            line: Line {
                rate: LINE,
                duplex,
                loss: 0.0,
            },
            duty: 1.0,
        },
    };
    SPOTS.iter().take(count).map(of).collect()
}

/// What is measured of each.
fn window(effort: Effort) -> Window {
    let (measured, drain) = match effort {
        Effort::Quick => (12, 3),
        Effort::Full => (150, 10),
    };
    Window {
        measured: measured * SECOND,
        drain: drain * SECOND,
    }
}

impl Spot {
    /// Its cell.
    fn name(self) -> String {
        let Setting {
            clients,
            publication,
            scheme,
            line,
            ..
        } = self.setting;
        let duplex = match line.duplex {
            Duplex::Half => "half",
            Duplex::Full => "full",
            Duplex::Shared => "shared",
        };
        format!(
            "board=mps2;clients={clients};publish={publication};scheme={scheme};duplex={duplex}"
        )
    }

    /// The two results of its cell.
    fn measure(self, order: &Order<'_>, versions: &mut Versions) -> Vec<CellResult> {
        let window = window(order.effort);
        let cell = run_in(
            &self.setting,
            window,
            order.seed,
            super::cells::runs(order.effort, self.setting.clients),
        );
        let simulated = CellResult {
            cell: self.name(),
            ..device::result(&cell)
        };
        let board = match live::run(&self.setting, window, order.seed) {
            Ok(live) => {
                versions.insert(BOARD.into(), version());
                self.result(&live)
            }
            Err(reason) => {
                versions.insert(BOARD.into(), reason.clone());
                CellResult::absent(&self.name(), BOARD, &reason)
            }
        };
        vec![simulated, board]
    }

    fn result(self, live: &live::Live) -> CellResult {
        let all = live.figures.all();
        let known = all
            .iter()
            .filter(|(name, ..)| agreement::METRICS.contains(name) || *name == "broken");
        let metrics = known.map(|&(name, unit, value)| single(&name.to_lowercase(), unit, value));
        let more = [
            ("clock_spread", "ms", live.clock_spread as f64 / 1e6),
            ("line_late", "s", live.forgotten as f64 / SECOND as f64),
        ];
        let more = more.map(|(name, unit, value)| single(name, unit, value));
        let late = live.forgotten as f64 / live.took as f64;
        CellResult {
            cell: self.name(),
            target: BOARD.into(),
            status: match late > LATE_SHARE_MAX {
                true => format!(
                    "the machine was too busy: its line was late for {:.1} % of the time",
                    late * 100.0
                ),
                false => "ok".into(),
            },
            metrics: metrics.chain(more).collect(),
            ..CellResult::default()
        }
    }
}

fn version() -> String {
    let emulator = version_of("qemu-system-arm", "--version");
    format!(
        "weir-comet {} on mps2-an385, {emulator}",
        env!("CARGO_PKG_VERSION")
    )
}

/// The names of all cells.
pub(super) fn names(effort: Effort) -> Vec<String> {
    spots(effort).into_iter().map(Spot::name).collect()
}

/// Runs the spots that are wanted: one after the other, those of a quick run side by side.
pub(super) fn measure(order: &Order<'_>, versions: &mut Versions) -> Vec<CellResult> {
    let mut wanted = spots(order.effort);
    wanted.retain(|spot| order.wants(&spot.name()));
    let at_once = match order.effort {
        Effort::Quick => SPOTS_QUICK,
        Effort::Full => 1,
    };
    let progress = Progress::new(wanted.len());
    let groups = wanted.chunks(at_once);
    let results = groups
        .flat_map(|group| of_group(order, group, (versions, &progress)))
        .collect();
    progress.finish();
    results
}

fn of_group(
    order: &Order<'_>,
    group: &[Spot],
    (versions, progress): (&mut Versions, &Progress),
) -> Vec<CellResult> {
    let key = group[0].name();
    if order.journal.has(&key) {
        progress.skip(group.len());
    }
    progress.begin_piece(&key);
    order.journal.cell(&key, versions, |versions| {
        // Built before anything is measured: building one keeps the other from its time.
        let built = group.iter().map(|spot| live::image(&spot.setting));
        if let Some(reason) = built.filter_map(Result::err).next() {
            versions.insert(BOARD.into(), reason.clone());
            let absent = |spot: &Spot| CellResult::absent(&spot.name(), BOARD, &reason);
            return group.iter().map(absent).collect();
        }
        side_by_side(order, group, (versions, progress))
    })
}

fn side_by_side(
    order: &Order<'_>,
    group: &[Spot],
    (versions, progress): (&mut Versions, &Progress),
) -> Vec<CellResult> {
    std::thread::scope(|scope| {
        let run = |spot: &Spot| {
            let spot = *spot;
            scope.spawn(move || {
                let mut versions = Versions::new();
                let results = spot.measure(order, &mut versions);
                progress.end_piece(&format!("{}  {}", spot.name(), status(&results)));
                (results, versions)
            })
        };
        let running: Vec<_> = group.iter().map(run).collect();
        let done = running.into_iter().filter_map(|thread| thread.join().ok());
        let mut all = Vec::new();
        for (results, own) in done {
            all.extend(results);
            versions.extend(own);
        }
        all
    })
}

/// What became of the board's result.
fn status(results: &[CellResult]) -> &str {
    let board = results.iter().find(|result| result.target == BOARD);
    board.map_or("absent", |board| &board.status)
}

/// The simulated result and the board's of each cell that has both.
fn pairs(results: &[CellResult]) -> Vec<(&CellResult, &CellResult)> {
    let boards = results.iter().filter(|result| result.target == BOARD);
    let pair = |board: &'_ CellResult| -> Option<usize> {
        results
            .iter()
            .position(|it| it.target == TARGET && it.cell == board.cell)
    };
    boards
        .filter(|board| !board.metrics.is_empty())
        .filter_map(|board| Some((&results[pair(board)?], board)))
        .collect()
}

/// A mean, where it was measured.
fn mean(result: &CellResult, metric: &str) -> Option<f64> {
    Some(result.metric(&metric.to_lowercase())?.estimate.mean)
}
