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
pub(crate) const RUN: &str = "run.json";
/// The experiment that is a person's own plan.
pub(crate) const PLAN: &str = "plan";

/// A whole run; `run.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Version of this layout.
    pub(crate) schema: u32,
    /// The experiment.
    pub(crate) experiment: String,
    /// Where the experiment comes from.
    pub(crate) source: String,
    /// The command that made it.
    pub(crate) command: String,
    /// What ordered it.
    pub(crate) seed: u64,
    /// `quick` or `full`.
    pub(crate) effort: String,
    /// When it began, UTC.
    pub(crate) started: String,
    /// How long it took, seconds; of a resumed run what all attempts took.
    pub(crate) seconds: f64,
    /// Where.
    pub(crate) environment: Environment,
    /// SHA-256 of the gateway's program: two builds of one version differ in it. Older runs have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) build: String,
    /// Machines that shared the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) agents: Vec<String>,
    /// Targets: name and version, or why absent.
    pub(crate) targets: BTreeMap<String, String>,
    /// With what the bench started them, each way in which it did.
    #[serde(default, skip_serializing_if = "Configurations::is_empty")]
    pub(crate) configurations: Configurations,
    /// Emulated links that were used, by name, as they were measured before use.
    #[serde(default)]
    pub(crate) links: BTreeMap<String, LinkUsed>,
    /// The runs that it was joined from; of a run that was made in one go none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<Part>,
    /// One result a cell and contender.
    pub(crate) results: Vec<CellResult>,
    /// Cells that a quick run left out, because its time was over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
    /// Ours against others, cell by cell.
    pub(crate) ratios: Vec<Ratio>,
    /// What ours had to reach.
    pub(crate) goals: Vec<GoalResult>,
    /// What papers claim, judged.
    #[serde(default)]
    pub(crate) claims: Vec<ClaimResult>,
}

/// A run that became part of another: what [`crate::join`] keeps of it beside its results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The command that made it.
    pub(crate) command: String,
    /// When it began, UTC.
    pub(crate) started: String,
    /// How long it took, seconds.
    pub(crate) seconds: f64,
    /// Processes that ran or waited to, mean of the last minute before it.
    pub(crate) load_before: f64,
    /// Its results.
    pub(crate) results: usize,
}

/// What a paper claims, and whether it held here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClaimResult {
    /// Paper and year.
    pub(crate) paper: String,
    /// What it says.
    pub(crate) claim: String,
    /// Where it does.
    pub(crate) place: String,
    /// Whether it holds; unknown where it cannot be compared.
    pub(crate) holds: Option<bool>,
    /// What was measured, or why nothing can be said.
    pub(crate) number: String,
}

impl ClaimResult {
    /// The judgement in words.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "not comparable",
        }
    }
}

/// What one contender gave in one cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CellResult {
    /// The cell's name.
    pub(crate) cell: String,
    /// The target's name.
    pub(crate) target: String,
    /// `ok`, `ceiling`, `wide`, or why it failed.
    pub(crate) status: String,
    /// A search found no rate within the limit: the figures are of a rate that broke it, and
    /// reach no goal.
    pub(crate) missed: bool,
    /// Further things a reader must know.
    pub(crate) remarks: Vec<String>,
    /// Its metrics.
    pub(crate) metrics: Vec<Metric>,
    /// The trials of each round's search.
    pub(crate) trials: Vec<Vec<Trial>>,
    /// The samples behind the metrics, until the cell is kept: see [`crate::journal`].
    #[serde(skip)]
    pub(crate) samples: Vec<Series>,
}

/// One metric of one contender in one cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Metric {
    /// Its name.
    pub(crate) metric: String,
    /// Its unit.
    pub(crate) unit: String,
    /// Over rounds.
    pub(crate) estimate: Estimate,
    /// Over all samples of all rounds; of distributions.
    pub(crate) percentiles: Option<Percentiles>,
    /// The same distribution at more shares, for drawing; of few samples, and in older runs, none.
    #[serde(default, skip_serializing_if = "Quantiles::is_empty")]
    pub(crate) quantiles: Quantiles,
    /// Whether it was steady while it was measured; of what was measured repeatedly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<State>,
    /// Each round on its own.
    pub(crate) rounds: Vec<Figures>,
    /// What did not come.
    pub(crate) lost: u64,
}

/// Figures of one round; of a single figure all are the same.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Number of the round.
    pub(crate) round: usize,
    /// Mean.
    pub(crate) mean: f64,
    /// Median.
    pub(crate) p50: f64,
    /// 99th percentile.
    pub(crate) p99: f64,
}

/// A figure that is the same in every round.
pub(crate) fn single(name: &str, unit: &str, value: f64) -> Metric {
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
pub(crate) struct Ratio {
    /// The cell's name.
    pub(crate) cell: String,
    /// By whose figure ours is divided.
    pub(crate) target: String,
    /// Metric and figure.
    pub(crate) metric: String,
    /// Geometric mean and interval.
    pub(crate) estimate: Estimate,
}

/// Whether a goal was reached.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct GoalResult {
    /// The cell's name.
    pub(crate) cell: String,
    /// Metric and figure.
    pub(crate) metric: String,
    /// What was asked.
    pub(crate) asked: String,
    /// The bound: in the unit of the metric, or by how much it may be of another target's.
    pub(crate) bound: Option<f64>,
    /// What was measured.
    pub(crate) measured: Option<f64>,
    /// What was measured with its interval, where the interval decides; of other goals nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<Estimate>,
    /// Whether it holds; unknown where something is missing, or where the bound lies within the interval.
    pub(crate) holds: Option<bool>,
}

impl GoalResult {
    /// The verdict in words, of which the caller has those for what holds.
    pub(crate) fn verdict(&self, holds: &'static str) -> &'static str {
        match (self.holds, self.estimate) {
            (Some(true), _) => holds,
            (Some(false), _) => "falls short",
            (None, Some(_)) => "undecided",
            (None, None) => "not measured",
        }
    }

    /// What was measured in words, with its interval where that decides; nothing where it was not.
    pub(crate) fn measured(&self) -> Option<String> {
        let measured = crate::number::number(self.measured?);
        Some(match self.estimate {
            Some(estimate) => format!("{measured} ({})", estimate.interval()),
            None => measured,
        })
    }
}

/// The target whose results are ours.
pub(crate) const OURS: &str = "weir";

/// Whether a target is ours: the gateway, or the gateway in some way (`weir_mqtt`).
pub(crate) fn is_ours(target: &str) -> bool {
    let way = target.strip_prefix(OURS);
    way.is_some_and(|way| way.is_empty() || way.starts_with('_'))
}

/// The target that is the ceiling of the load.
pub(crate) const CEILING: &str = "null_coalescing";
/// The status of a result whose page was not as slow as its cell says.
pub(crate) const NOT_SLOWED: &str = "not slowed";
/// How far apart the clocks of who sends and who receives may be, where they are not one.
pub(crate) const CLOCK_BOUND: &str = "clock_bound";
/// Metrics that are rates, for which the ceiling is asked.
pub(crate) const RATES: [&str; 2] = ["deliveries", "observations"];

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
    pub(crate) fn commands(&self) -> Vec<&str> {
        let parts = self.parts.iter().map(|part| part.command.as_str());
        parts.chain([self.command.as_str()]).collect()
    }

    /// What it is called: a plan as its owner calls it.
    pub(crate) fn title(&self) -> &str {
        match self.is_of_a_plan() {
            true => &self.source,
            false => &self.experiment,
        }
    }

    /// What its tables begin with.
    pub(crate) fn heading(&self) -> String {
        match self.is_of_a_plan() {
            true => self.title().into(),
            false => format!("Experiment {}", self.experiment),
        }
    }

    /// Whether a person's own plan says what was measured.
    pub(crate) fn is_of_a_plan(&self) -> bool {
        self.experiment == PLAN
    }

    /// Takes in what was measured, and by whom; versions that are known stay.
    pub(crate) fn add(&mut self, (versions, results): (Versions, Vec<CellResult>)) {
        for (name, version) in versions {
            self.targets.entry(name).or_insert(version);
        }
        self.results.extend(results);
    }

    /// Puts all in the order of the experiment's cells and targets, not of the run.
    pub(crate) fn sort(&mut self, cells: &[String], target: impl Fn(&str) -> Option<usize>) {
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
    pub(crate) fn absent(cell: &str, target: &str, reason: &str) -> Self {
        Self {
            cell: cell.into(),
            target: target.into(),
            status: reason.into(),
            ..Self::default()
        }
    }

    /// A metric by its name.
    pub(crate) fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.metric == name)
    }
}
