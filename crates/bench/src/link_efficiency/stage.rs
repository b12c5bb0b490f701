//! One cell: its servers started afresh, measured in interleaved rounds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::cells::{Pace, Scale, Setting};
use super::job::{Conversation, EchoPlan};
use super::sample;
use super::servers::{self, Server};
use crate::clock::now_ns;
use crate::limits::{ECHO_MS_MAX, ECHO_REST_MS};
use crate::link::Ends;
use crate::load::job::{Job, Kind};
use crate::merge::{Round, merge};
use crate::plan::Shuffle;
use crate::progress::Progress;
use crate::results::CellResult;
use crate::sample::Sample;
use crate::targets::{Running, Settings};
use crate::worker;

/// The servers of one cell.
pub(super) struct Stage<'a> {
    ends: &'a Ends,
    folder: PathBuf,
    scale: Scale,
    setting: Setting,
    running: BTreeMap<&'static str, Result<Running, String>>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(ends: &'a Ends, folder: &Path, scale: Scale, setting: Setting) -> Self {
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
        let mut contenders: Vec<(&Server, Conversation)> = servers::of(&self.setting).collect();
        let mut rounds: BTreeMap<&str, Vec<Round>> = BTreeMap::new();
        for round in 0..self.scale.rounds(&self.setting) {
            shuffle.shuffle(&mut contenders);
            for (server, conversation) in &contenders {
                progress.begin(&cell, server.name, round);
                let sample = self.sample(server, conversation);
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
        rounds
            .iter()
            .map(|(target, rounds)| merge(&cell, target, rounds))
            .collect()
    }

    fn sample(&mut self, server: &Server, conversation: &Conversation) -> Result<Sample, String> {
        let (ends, folder, setting) = (self.ends, &self.folder, &self.setting);
        let running = self
            .running
            .entry(server.name)
            .or_insert_with(|| start(server, &ends.far, folder, setting));
        let running = running.as_ref().map_err(Clone::clone)?;
        let plan = EchoPlan {
            certificate: running.certificate.clone(),
            ..self.scale.plan(setting, conversation)
        };
        let job = Job {
            address: running.address,
            kind: Kind::Echo(plan.clone()),
        };
        let measured = worker::run(&ends.near, running, &job)?;
        sample::of(&plan, &measured)
    }
}

/// A cell whose link there is not: each of its servers with the reason.
pub(super) fn refused(setting: &Setting, reason: &str) -> Vec<CellResult> {
    let cell = setting.name();
    let servers = servers::of(setting);
    servers
        .map(|(server, _)| merge(&cell, server.name, &[(0, Err(reason.into()))]))
        .collect()
}

fn start(
    server: &Server,
    settings: &Settings,
    folder: &Path,
    setting: &Setting,
) -> Result<Running, String> {
    let folder = folder.join(format!("{}-{}", server.name, now_ns()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    (server.start)(settings, &folder, setting)
}

impl Scale {
    fn plan(&self, setting: &Setting, conversation: &Conversation) -> EchoPlan {
        EchoPlan {
            conversation: conversation.clone(),
            payload_bytes: setting.payload_bytes,
            warm_up: self.warm_up(setting),
            packets: self.packets(setting),
            rest_ms: match setting.pace {
                Pace::Next => 0,
                Pace::Rest => ECHO_REST_MS,
            },
            is_on_link: !setting.is_local(),
            modem: setting.modem,
            certificate: None,
            wait_ms: ECHO_MS_MAX,
        }
    }
}
