//! A person's own experiment, `plan.toml`: factors, message, targets and what they must reach.
//!
//! It becomes cells like those of any experiment and is run, kept and reported as they are. What it
//! deliberately does not do: start a system that no target knows how to start; such a one is named by
//! its URL. Faults name file, line and key.

mod build;
mod needs;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::Deserialize;

use needs::Needs;
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::guest::Guest;
use weir_bench_lab::order::Order;
use weir_bench_lab::plan::Plan;
use weir_bench_model::cell::Cell;
use weir_bench_model::limits::PLAN_BYTES_MAX;
use weir_bench_model::results::{PLAN, Run};

/// What a run of a plan is called in its results.
pub static EXPERIMENT: Experiment = Experiment {
    name: PLAN,
    source: "Plan",
    about: "factors, message and targets of a plan, which lies beside it as plan.toml",
    cells: |_| Vec::new(),
    run: |order| order.begin(),
    page: weir_bench_report::markdown,
    figures: |_| Vec::new(),
    claims: |_| Vec::new(),
};

/// A plan that was read.
pub struct PlanFile {
    /// The text it was read from.
    pub text: String,
    /// What it is about, where it says so.
    title: Option<String>,
    cells: Vec<Cell>,
    guests: Vec<Guest>,
    needs: Needs,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    title: Option<String>,
    target: Many<String>,
    #[serde(default)]
    delivery: Option<Many<String>>,
    #[serde(default)]
    link: Option<Many<String>>,
    #[serde(default)]
    rate: Option<Many<Rate>>,
    #[serde(default)]
    clients: Option<Many<usize>>,
    #[serde(default)]
    publishers: Option<usize>,
    #[serde(default)]
    rounds: Option<usize>,
    #[serde(default)]
    seconds: Option<f64>,
    #[serde(default)]
    warm_up: Option<f64>,
    #[serde(default)]
    payload: Payload,
    #[serde(default)]
    needs: Needs,
}

/// One level of a factor, or several.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "a level or a list of levels")]
enum Many<T> {
    One(T),
    Several(Vec<T>),
}

/// Messages a second.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "messages a second, or \"max\"")]
enum Rate {
    Fixed(f64),
    Word(String),
}

/// The message: a file, or so many observations.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    media_type: Option<String>,
    #[serde(default)]
    observations: Option<usize>,
}

/// What is wrong, and with which key.
struct Fault {
    key: &'static str,
    reason: String,
}

impl Fault {
    fn new(key: &'static str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { key, reason }
    }
}

impl<T> Many<T> {
    fn into_levels(self) -> Vec<T> {
        match self {
            Self::One(level) => vec![level],
            Self::Several(levels) => levels,
        }
    }
}

impl PlanFile {
    /// Reads a file; a fault is `file:line: key: reason`.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|e| format!("{shown}: {e}"))?;
        if text.len() > PLAN_BYTES_MAX {
            return Err(format!("{shown}: over {PLAN_BYTES_MAX} bytes"));
        }
        let written: Written = toml::from_str(&text).map_err(|e| {
            let line = e.span().map_or(1, |span| line_at(&text, span.start));
            format!("{shown}:{line}: {}", e.message())
        })?;
        let title = written.title.clone();
        let folder = path.parent().unwrap_or(Path::new("."));
        let built = build::build(written, folder);
        let (cells, guests, needs) = built.map_err(|Fault { key, reason }| {
            format!("{shown}:{}: {key}: {reason}", line_of(&text, key))
        })?;
        Ok(Self {
            text,
            title,
            cells,
            guests,
            needs,
        })
    }

    /// The names of its cells.
    pub fn names(&self) -> Vec<String> {
        self.cells.iter().map(Cell::name).collect()
    }

    /// Runs it.
    pub fn run(&self, order: &Order<'_>) -> Run {
        let plan = Plan::new(self.cells.clone(), order.only, order.seed);
        let mut run = weir_bench_lab::run::execute(&plan.with_guests(self.guests.clone()), order);
        if let Some(title) = &self.title {
            run.source.clone_from(title);
        }
        run.goals = self.needs.judge(&run.results);
        run
    }
}

fn line_at(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().iter().take(byte);
    1 + before.filter(|&&byte| byte == b'\n').count()
}

/// The line on which a key stands; the first where it does not.
fn line_of(text: &str, key: &str) -> usize {
    let is_key = |line: &str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    text.lines().position(is_key).map_or(1, |line| line + 1)
}
