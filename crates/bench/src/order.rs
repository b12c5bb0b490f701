//! What a person asked a run for.

use std::path::Path;

use crate::calendar::utc_now;
use crate::effort::{Effort, wants};
use crate::environment::Environment;
use crate::journal::Journal;
use crate::results::Run;
use crate::targets::Settings;
use crate::targets::weir::digest_of_build;

/// What a person asked for.
pub(crate) struct Order<'a> {
    /// The experiment, by its name.
    pub(crate) experiment: &'static str,
    /// Where the experiment comes from.
    pub(crate) source: &'static str,
    /// How much time it may take.
    pub(crate) effort: Effort,
    /// What the names of its cells must contain.
    pub(crate) only: &'a str,
    /// What orders cells and contenders, and what data are made from.
    pub(crate) seed: u64,
    /// About targets.
    pub(crate) settings: &'a Settings,
    /// A folder to work in, removed afterwards.
    pub(crate) work: &'a Path,
    /// What is finished; every cell goes through it.
    pub(crate) journal: &'a Journal,
    /// The command line.
    pub(crate) command: String,
}

impl Order<'_> {
    /// A run that begins, without results.
    pub(crate) fn begin(&self) -> Run {
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
    pub(crate) fn wants(&self, cell: &str) -> bool {
        wants(self.only, cell)
    }

    /// Says whether one of these is.
    pub(crate) fn wants_any(&self, cells: &[String]) -> bool {
        cells.iter().any(|cell| self.wants(cell))
    }
}
