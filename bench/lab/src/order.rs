//! What a person asked a run for.

use std::path::Path;

use crate::targets::Settings;
use crate::targets::weir::digest_of_build;
use weir_bench_model::calendar::utc_now;
use weir_bench_model::effort::{Effort, wants};
use weir_bench_model::environment::Environment;
use weir_bench_model::journal::Journal;
use weir_bench_model::results::Run;

/// What a person asked for.
pub struct Order<'a> {
    /// The experiment, by its name.
    pub experiment: &'static str,
    /// Where the experiment comes from.
    pub source: &'static str,
    /// How much time it may take.
    pub effort: Effort,
    /// What the names of its cells must contain.
    pub only: &'a str,
    /// What orders cells and contenders, and what data are made from.
    pub seed: u64,
    /// About targets.
    pub settings: &'a Settings,
    /// A folder to work in, removed afterwards.
    pub work: &'a Path,
    /// What is finished; every cell goes through it.
    pub journal: &'a Journal,
    /// The command line.
    pub command: String,
}

impl Order<'_> {
    /// A run that begins, without results.
    pub fn begin(&self) -> Run {
        let agents = self.settings.agents.as_ref();
        Run {
            schema: 1,
            experiment: self.experiment.into(),
            source: self.source.into(),
            command: self.command.clone(),
            seed: self.seed,
            effort: self.effort.name().into(),
            started: utc_now(),
            environment: Environment::of(self.work),
            build: digest_of_build(self.settings.weir.as_deref(), self.settings.address),
            agents: agents.map_or_else(Vec::new, |crew| crew.names()),
            ..Run::default()
        }
    }

    /// Says whether a cell is to be run.
    pub fn wants(&self, cell: &str) -> bool {
        wants(self.only, cell)
    }

    /// Says whether one of these is.
    pub fn wants_any(&self, cells: &[String]) -> bool {
        cells.iter().any(|cell| self.wants(cell))
    }
}
