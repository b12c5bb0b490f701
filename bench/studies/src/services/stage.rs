//! One cell: which servers it has, and how calls are made to one of them.

use super::cells::{Scale, Setting};
use super::coding::Coding;
use super::job::CallPlan;
use super::sample;
use super::servers::{self, Server};
use weir_bench_lab::alone::{self, Alone};
use weir_bench_lab::link::Ends;
use weir_bench_lab::sample::Sample;
use weir_bench_lab::started::Started;
use weir_bench_lab::worker;
use weir_bench_model::limits::{ECHO_MS_MAX, ECHO_STREAM_MS_MAX};

/// A setting and how much is sent in it.
pub(super) struct Cell {
    /// The factors.
    pub(super) setting: Setting,
    scale: Scale,
}

impl Cell {
    /// Cells of one scale.
    pub(super) fn all(settings: impl IntoIterator<Item = Setting>, scale: Scale) -> Vec<Self> {
        let cell = |setting| Self { setting, scale };
        settings.into_iter().map(cell).collect()
    }
}

impl alone::Server for Server {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl Alone for Cell {
    type Server = Server;

    fn name(&self) -> String {
        self.setting.name()
    }

    fn link(&self) -> String {
        self.setting.link()
    }

    fn contenders(&self) -> Vec<&'static Server> {
        servers::of(&self.setting).collect()
    }

    fn rounds(&self) -> usize {
        self.scale.rounds_of(&self.setting)
    }

    /// The families of addresses take turns: the paper compares them.
    fn group(&self) -> String {
        let setting = Setting {
            family: "ipv4",
            ..self.setting
        };
        setting.name()
    }

    fn is_chief(&self) -> bool {
        self.setting.is_chief()
    }

    fn sample(
        &self,
        server: &'static Server,
        ends: &Ends,
        started: &mut Started,
    ) -> Result<Sample, String> {
        let setting = &self.setting;
        let speech = (server.speech)(setting).ok_or("it does not speak so")?;
        // A virtual machine is warm for as long as it runs.
        let is_cold = server.is_jvm && !started.runs(server.name);
        let (warm_up, messages) = self.scale.messages_of(setting, is_cold);
        let start = |folder: &_| (server.start)(&ends.far, folder, setting);
        started.sample(server.name, start, |running| {
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
            let (outcome, measured) = worker::task(&ends.near, running, &plan)?;
            Ok(sample::of(setting, &plan, &outcome, &measured))
        })
    }
}
