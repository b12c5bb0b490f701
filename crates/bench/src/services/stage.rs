//! One cell: which servers it has, and how calls are made to one of them.

use super::cells::{Scale, Setting};
use super::coding::Coding;
use super::job::CallPlan;
use super::sample;
use super::servers::{self, SERVERS};
use crate::alone::Alone;
use crate::limits::{ECHO_MS_MAX, ECHO_STREAM_MS_MAX};
use crate::link::Ends;
use crate::load::job::{Job, Kind};
use crate::sample::Sample;
use crate::targets::Started;
use crate::worker;

/// A setting and how much is sent in it.
pub(super) struct Cell {
    pub(super) setting: Setting,
    pub(super) scale: Scale,
}

impl Alone for Cell {
    fn name(&self) -> String {
        self.setting.name()
    }

    fn link(&self) -> String {
        self.setting.link()
    }

    fn contenders(&self) -> Vec<&'static str> {
        let servers = servers::of(&self.setting);
        servers.map(|server| server.name).collect()
    }

    fn rounds(&self) -> usize {
        self.scale.rounds
    }

    fn sample(
        &self,
        contender: &'static str,
        ends: &Ends,
        started: &mut Started,
    ) -> Result<Sample, String> {
        let mut servers = SERVERS.iter();
        let server = servers.find(|server| server.name == contender);
        let server = server.ok_or("no such server")?;
        let setting = &self.setting;
        let speech = (server.speech)(setting).ok_or("it does not speak so")?;
        let (warm_up, messages) = self.scale.messages_of(setting, server.is_jvm);
        let start = |folder: &_| (server.start)(&ends.far, folder, setting);
        started.sample(contender, start, |running| {
            let plan = CallPlan {
                speech,
                coding: Coding::of(setting.stack),
                echoes: server.echoes,
                certificate: running.certificate.clone(),
                path: (server.path)(setting).into(),
                payload_bytes: setting.payload_bytes,
                depth: setting.depth,
                warm_up,
                messages,
                wait_ms: match setting.stack.by_datagrams() {
                    true => ECHO_MS_MAX,
                    false => ECHO_STREAM_MS_MAX,
                },
            };
            let job = Job {
                address: running.address,
                kind: Kind::Calls(plan.clone()),
            };
            let measured = worker::run(&ends.near, running, &job)?;
            sample::of(setting, &plan, &measured)
        })
    }
}
