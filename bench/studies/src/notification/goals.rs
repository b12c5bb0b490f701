//! What the device has to reach: on a line that carries both ways at once more than the paper, on one that does not
//! what the paper says, each where it says so; what may go twice on either; and how long all of it may take.

use weir_sim::{CLIENTS, Duplex, SCHEMES, Scheme, settings};

use super::cells::line;
use super::device::{SIMULATION, TARGET, TOOK};
use super::figures::{Grid, HALF_AND_FULL};
use weir_bench_model::results::{GoalResult, Run};

/// Segments that go twice on a saturated line that loses nothing, percent, at most.
const REPEATED_MAX: f64 = 5.0;
/// How long the paper's grid may take by one reading of its line, ten runs a setting, on two processors, seconds.
const TOOK_MAX_S: f64 = 600.0;

/// A figure of streaming, and its bound.
struct Goal {
    duplex: &'static str,
    clients: usize,
    publish: &'static str,
    metric: &'static str,
    asked: &'static str,
    bound: f64,
    is_least: bool,
}

const GOALS: [Goal; 7] = [
    Goal {
        duplex: "full",
        clients: 128,
        publish: "1",
        metric: "rupm",
        asked: "at least, %",
        bound: 99.9,
        is_least: true,
    },
    Goal {
        duplex: "full",
        clients: 128,
        publish: "1",
        metric: "mpt",
        asked: "at most, s",
        bound: 0.27,
        is_least: false,
    },
    Goal {
        duplex: "full",
        clients: 128,
        publish: "1",
        metric: "mct",
        asked: "at least, % (paper: 50)",
        bound: 70.0,
        is_least: true,
    },
    Goal {
        duplex: "half",
        clients: 256,
        publish: "5",
        metric: "mpt",
        asked: "at most, s (paper, 4.3.1)",
        bound: 1.0,
        is_least: false,
    },
    Goal {
        duplex: "half",
        clients: 128,
        publish: "1",
        metric: "rupm",
        asked: "at least, % (paper, 4.3.4: near 100)",
        bound: 99.0,
        is_least: true,
    },
    Goal {
        duplex: "half",
        clients: 256,
        publish: "1",
        metric: "ntp",
        asked: "at least, packets/s (paper, 4.3.6)",
        bound: 250.0,
        is_least: true,
    },
    Goal {
        duplex: "half",
        clients: 128,
        publish: "1",
        metric: "mct",
        asked: "at least, % (paper, 4.3.8)",
        bound: 50.0,
        is_least: true,
    },
];

/// Every goal, of what was not measured too.
pub(super) fn of(run: &Run) -> Vec<GoalResult> {
    let grids = HALF_AND_FULL.map(|duplex| Grid::of(run, duplex));
    let mut goals: Vec<_> = GOALS.iter().map(|goal| goal.of(&grids)).collect();
    goals.extend(grids.iter().map(repeated));
    goals.push(took(run));
    goals
}

impl Goal {
    fn of(&self, grids: &[Grid<'_>]) -> GoalResult {
        let (clients, publish, duplex) = (self.clients, self.publish, self.duplex);
        let scheme = Scheme::Streaming.to_string();
        let grid = grids.iter().find(|grid| grid.duplex == duplex);
        let measured = grid.and_then(|grid| grid.mean(clients, publish, &scheme, self.metric));
        GoalResult {
            cell: format!("clients={clients};publish={publish};scheme={scheme};duplex={duplex}"),
            metric: self.metric.into(),
            asked: self.asked.into(),
            bound: Some(self.bound),
            measured,
            estimate: None,
            holds: measured.map(|value| self.is_reached(value)),
        }
    }

    fn is_reached(&self, value: f64) -> bool {
        match self.is_least {
            true => value >= self.bound,
            false => value <= self.bound,
        }
    }
}

/// The most that went twice in any setting.
fn repeated(grid: &Grid<'_>) -> GoalResult {
    let all = CLIENTS
        .iter()
        .flat_map(|&clients| grid.of_clients(clients, "repeated"));
    let most = all.fold(None, |most: Option<f64>, value| {
        Some(most.map_or(value, |it| it.max(value)))
    });
    GoalResult {
        cell: format!("every setting, {} duplex", grid.duplex),
        metric: "repeated".into(),
        asked: "at most, %".into(),
        bound: Some(REPEATED_MAX),
        measured: most,
        estimate: None,
        holds: most.map(|value| value <= REPEATED_MAX),
    }
}

/// What simulating the paper's grid took, where it was whole and run as often as there; and apart all else.
fn took(run: &Run) -> GoalResult {
    let grid = settings(line(Duplex::Half, 0.0), &SCHEMES);
    let grid: Vec<_> = grid.iter().map(ToString::to_string).collect();
    let has = |name: &String| {
        let mut results = run.results.iter();
        results.any(|result| result.target == TARGET && result.cell == *name)
    };
    let is_whole = run.effort == "full" && grid.iter().all(has);
    // A group's time is kept with its first setting.
    let seconds = |is_of_grid: bool| -> f64 {
        let times = run.results.iter().filter(|result| {
            result.target == SIMULATION && grid.contains(&result.cell) == is_of_grid
        });
        let seconds = times.filter_map(|result| Some(result.metric(TOOK)?.estimate.mean));
        seconds.sum()
    };
    let measured = is_whole.then(|| seconds(true));
    let rest = weir_bench_model::number::number(seconds(false));
    GoalResult {
        cell: "the paper's grid ten times, half duplex".into(),
        metric: TOOK.into(),
        asked: format!("at most, s (all else: {rest})"),
        bound: Some(TOOK_MAX_S),
        measured,
        estimate: None,
        holds: measured.map(|value| value <= TOOK_MAX_S),
    }
}
