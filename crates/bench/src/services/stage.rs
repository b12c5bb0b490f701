//! One cell: its servers started afresh, measured in interleaved rounds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::cells::{Scale, Setting};
use super::job::CallPlan;
use super::sample;
use super::servers::{self, Server};
use crate::clock::now_ns;
use crate::limits::ECHO_MS_MAX;
use crate::link::Ends;
use crate::load::job::{Job, Kind};
use crate::merge::{Round, merge};
use crate::plan::Shuffle;
use crate::progress::Progress;
use crate::results::CellResult;
use crate::sample::Sample;
use crate::targets::Running;
use crate::worker;

/// The servers of one cell.
pub(super) struct Stage<'a> {
    ends: &'a Ends,
    folder: PathBuf,
    scale: Scale,
    setting: &'a Setting,
    running: BTreeMap<&'static str, Result<Running, String>>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(ends: &'a Ends, folder: &Path, scale: Scale, setting: &'a Setting) -> Self {
        Self {
            ends,
            folder: folder.into(),
            scale,
            setting,
            running: BTreeMap::new(),
        }
    }

    /// Measures all rounds; versions go to `targets`.
    pub(super) fn measure(
        mut self,
        shuffle: &mut Shuffle,
        progress: &Progress,
        targets: &mut BTreeMap<String, String>,
    ) -> Vec<CellResult> {
        let cell = self.setting.name();
        let mut contenders: Vec<&Server> = servers::of(self.setting).collect();
        let mut rounds: BTreeMap<&str, Vec<Round>> = BTreeMap::new();
        for round in 0..self.scale.rounds {
            shuffle.shuffle(&mut contenders);
            for server in &contenders {
                progress.begin(&cell, server.name, round);
                let sample = self.sample(server);
                progress.end(&cell, server.name, &sample);
                let rounds = rounds.entry(server.name).or_default();
                rounds.push((round, sample));
            }
        }
        for (name, running) in &self.running {
            let version = running.as_ref().map(|running| running.version.clone());
            let version = version.unwrap_or_else(|reason| reason.clone());
            targets.entry((*name).into()).or_insert(version);
        }
        let merged = rounds
            .iter()
            .map(|(target, rounds)| merge(&cell, target, rounds));
        merged.collect()
    }

    fn sample(&mut self, server: &Server) -> Result<Sample, String> {
        let (far, folder, setting) = (&self.ends.far, &self.folder, self.setting);
        let start = || {
            let folder = folder.join(format!("{}-{}", server.name, now_ns()));
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            (server.start)(far, &folder, setting)
        };
        let running = self.running.entry(server.name).or_insert_with(start);
        let running = running.as_ref().map_err(Clone::clone)?;
        let speech = (server.speech)(setting).ok_or("the server does not speak so")?;
        let (warm_up, messages) = self.scale.messages_of(setting);
        let plan = CallPlan {
            speech,
            certificate: running.certificate.clone(),
            path: server.path.into(),
            payload_bytes: setting.payload_bytes,
            depth: setting.depth,
            warm_up,
            messages,
            wait_ms: ECHO_MS_MAX,
        };
        let job = Job {
            address: running.address,
            kind: Kind::Calls(plan.clone()),
        };
        let measured = worker::run(&self.ends.near, running, &job)?;
        sample::of(setting, &plan, &measured)
    }
}
