//! The results of a run as they are kept: the layout of `run.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::configuration::Configurations;
use crate::environment::Environment;
use crate::journal::Versions;
use crate::latency::Percentiles;
use crate::link_used::LinkUsed;
use crate::pace::Trial;
use crate::quantiles::Quantiles;
use crate::samples::Series;
use crate::statistics::Estimate;
use crate::steadiness::State;

/// Where a run is kept, in its folder.
pub const RUN: &str = "run.json";
/// The experiment that is a person's own plan.
pub const PLAN: &str = "plan";

/// A whole run; `run.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Version of this layout.
    pub schema: u32,
    /// The experiment.
    pub experiment: String,
    /// Where the experiment comes from.
    pub source: String,
    /// The command that made it.
    pub command: String,
    /// What ordered it.
    pub seed: u64,
    /// `quick` or `full`.
    pub effort: String,
    /// When it began, UTC.
    pub started: String,
    /// How long it took, seconds; of a resumed run what all attempts took.
    pub seconds: f64,
    /// Where.
    pub environment: Environment,
    /// SHA-256 of the gateway's program: two builds of one version differ in it. Older runs have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build: String,
    /// Machines that shared the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Targets: name and version, or why absent.
    pub targets: BTreeMap<String, String>,
    /// With what the bench started them, each way in which it did.
    #[serde(default, skip_serializing_if = "Configurations::is_empty")]
    pub configurations: Configurations,
    /// Emulated links that were used, by name, as they were measured before use.
    #[serde(default)]
    pub links: BTreeMap<String, LinkUsed>,
    /// The runs that it was joined from; of a run that was made in one go none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// One result a cell and contender.
    pub results: Vec<CellResult>,
    /// Cells that a quick run left out, because its time was over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Ours against others, cell by cell.
    pub ratios: Vec<Ratio>,
    /// What ours had to reach.
    pub goals: Vec<GoalResult>,
    /// What papers claim, judged.
    #[serde(default)]
    pub claims: Vec<ClaimResult>,
}

/// A run that became part of another: what [`weir_bench_cli::join`] keeps of it beside its results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The command that made it.
    pub command: String,
    /// When it began, UTC.
    pub started: String,
    /// How long it took, seconds.
    pub seconds: f64,
    /// Processes that ran or waited to, mean of the last minute before it.
    pub load_before: f64,
    /// Its results.
    pub results: usize,
}

/// What a paper claims, and whether it held here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClaimResult {
    /// Paper and year.
    pub paper: String,
    /// What it says.
    pub claim: String,
    /// Where it does.
    pub place: String,
    /// Whether it holds; unknown where it cannot be compared.
    pub holds: Option<bool>,
    /// What was measured, or why nothing can be said.
    pub number: String,
}

impl ClaimResult {
    /// The judgement in words.
    pub fn verdict(&self) -> &'static str {
        match self.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "not comparable",
        }
    }
}

/// What one contender gave in one cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CellResult {
    /// The cell's name.
    pub cell: String,
    /// The target's name.
    pub target: String,
    /// `ok`, `ceiling`, `wide`, or why it failed.
    pub status: String,
    /// A search found no rate within the limit: the figures are of a rate that broke it, and
    /// reach no goal.
    pub missed: bool,
    /// Further things a reader must know.
    pub remarks: Vec<String>,
    /// Its metrics.
    pub metrics: Vec<Metric>,
    /// The trials of each round's search.
    pub trials: Vec<Vec<Trial>>,
    /// The samples behind the metrics, until the cell is kept: see [`crate::journal`].
    #[serde(skip)]
    pub samples: Vec<Series>,
}

/// One metric of one contender in one cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Metric {
    /// Its name.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Over rounds.
    pub estimate: Estimate,
    /// Over all samples of all rounds; of distributions.
    pub percentiles: Option<Percentiles>,
    /// The same distribution at more shares, for drawing; of few samples, and in older runs, none.
    #[serde(default, skip_serializing_if = "Quantiles::is_empty")]
    pub quantiles: Quantiles,
    /// Whether it was steady while it was measured; of what was measured repeatedly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Each round on its own.
    pub rounds: Vec<Figures>,
    /// What did not come.
    pub lost: u64,
}

/// Figures of one round; of a single figure all are the same.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Figures {
    /// Number of the round.
    pub round: usize,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// A figure that is the same in every round.
pub fn single(name: &str, unit: &str, value: f64) -> Metric {
    Metric {
        metric: name.into(),
        unit: unit.into(),
        estimate: Estimate {
            n: 1,
            mean: value,
            low: value,
            high: value,
        },
        percentiles: None,
        quantiles: Quantiles::default(),
        state: None,
        rounds: vec![Figures {
            round: 0,
            mean: value,
            p50: value,
            p99: value,
        }],
        lost: 0,
    }
}

/// Ours divided by another's, round by round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ratio {
    /// The cell's name.
    pub cell: String,
    /// By whose figure ours is divided.
    pub target: String,
    /// Metric and figure.
    pub metric: String,
    /// Geometric mean and interval.
    pub estimate: Estimate,
}

/// Whether a goal was reached.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GoalResult {
    /// The cell's name.
    pub cell: String,
    /// Metric and figure.
    pub metric: String,
    /// What was asked.
    pub asked: String,
    /// The bound: in the unit of the metric, or by how much it may be of another target's.
    pub bound: Option<f64>,
    /// What was measured.
    pub measured: Option<f64>,
    /// What was measured with its interval, where the interval decides; of other goals nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Whether it holds; unknown where something is missing, or where the bound lies within the interval.
    pub holds: Option<bool>,
}

impl GoalResult {
    /// The verdict in words, of which the caller has those for what holds.
    pub fn verdict(&self, holds: &'static str) -> &'static str {
        match (self.holds, self.estimate) {
            (Some(true), _) => holds,
            (Some(false), _) => "falls short",
            (None, Some(_)) => "undecided",
            (None, None) => "not measured",
        }
    }

    /// What was measured in words, with its interval where that decides; nothing where it was not.
    pub fn measured(&self) -> Option<String> {
        let measured = crate::number::number(self.measured?);
        Some(match self.estimate {
            Some(estimate) => format!("{measured} ({})", estimate.interval()),
            None => measured,
        })
    }
}

/// The target whose results are ours.
pub const OURS: &str = "weir";

/// Whether a target is ours: the gateway, or the gateway in some way (`weir_mqtt`).
pub fn is_ours(target: &str) -> bool {
    let way = target.strip_prefix(OURS);
    way.is_some_and(|way| way.is_empty() || way.starts_with('_'))
}

/// The target that is the ceiling of the load.
pub const CEILING: &str = "null_coalescing";
/// The status of a result whose page was not as slow as its cell says.
pub const NOT_SLOWED: &str = "not slowed";
/// How far apart the clocks of who sends and who receives may be, where they are not one.
pub const CLOCK_BOUND: &str = "clock_bound";
/// Metrics that are rates, for which the ceiling is asked.
pub const RATES: [&str; 2] = ["deliveries", "observations"];

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            command,
            started,
            seconds,
            load_before,
            results,
        } = self;
        write!(
            f,
            "{command}: {started}, {seconds:.0} s, {results} results, load before {load_before:.2}"
        )
    }
}

impl Run {
    /// The commands that made it, in their order.
    pub fn commands(&self) -> Vec<&str> {
        let parts = self.parts.iter().map(|part| part.command.as_str());
        parts.chain([self.command.as_str()]).collect()
    }

    /// What it is called: a plan as its owner calls it.
    pub fn title(&self) -> &str {
        match self.is_of_a_plan() {
            true => &self.source,
            false => &self.experiment,
        }
    }

    /// What its tables begin with.
    pub fn heading(&self) -> String {
        match self.is_of_a_plan() {
            true => self.title().into(),
            false => format!("Experiment {}", self.experiment),
        }
    }

    /// Whether a person's own plan says what was measured.
    pub fn is_of_a_plan(&self) -> bool {
        self.experiment == PLAN
    }

    /// Takes in what was measured, and by whom; versions that are known stay.
    pub fn add(&mut self, (versions, results): (Versions, Vec<CellResult>)) {
        for (name, version) in versions {
            self.targets.entry(name).or_insert(version);
        }
        self.results.extend(results);
    }

    /// Puts all in the order of the experiment's cells and targets, not of the run.
    pub fn sort(&mut self, cells: &[String], target: impl Fn(&str) -> Option<usize>) {
        let place = |name: &str| cells.iter().position(|cell| cell == name);
        self.results
            .sort_by_cached_key(|result| (place(&result.cell), target(&result.target)));
        self.ratios
            .sort_by_cached_key(|ratio| (place(&ratio.cell), target(&ratio.target)));
        self.goals.sort_by_cached_key(|goal| place(&goal.cell));
    }
}

impl CellResult {
    /// What could not be measured, and why.
    pub fn absent(cell: &str, target: &str, reason: &str) -> Self {
        Self {
            cell: cell.into(),
            target: target.into(),
            status: reason.into(),
            ..Self::default()
        }
    }

    /// A metric by its name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.metric == name)
    }
}
