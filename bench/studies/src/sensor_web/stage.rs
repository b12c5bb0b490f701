//! One cell: who is measured, what a fresh gateway is told before, and what the load does.

use super::cells::{Scale, Setting};
use super::requests::{Does, Insertion, Reading};
use super::sample;
use super::servers::{SERVERS, Server};
use weir_bench_lab::alone::{self, Alone};
use weir_bench_lab::link::Ends;
use weir_bench_lab::sample::Sample;
use weir_bench_lab::started::Started;
use weir_bench_lab::worker;
use weir_bench_load::load::job::{Job, Kind, ReadsPlan, TrafficPlan};
use weir_bench_load::load::wire::PublishWire;
use weir_bench_load::null::LINES;
use weir_bench_model::body::Body;
use weir_bench_model::cell::LOCAL;
use weir_bench_model::pace::Pace;

/// A setting and for how long it is measured.
pub(super) struct Cell {
    setting: Setting,
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
        LOCAL.into()
    }

    fn contenders(&self) -> Vec<&'static Server> {
        SERVERS.iter().collect()
    }

    fn rounds(&self) -> usize {
        self.scale.rounds
    }

    fn is_chief(&self) -> bool {
        super::goals::rest_on(&self.setting)
    }

    fn sample(
        &self,
        server: &'static Server,
        ends: &Ends,
        started: &mut Started,
    ) -> Result<Sample, String> {
        let is_fresh = !started.runs(server.name);
        let start = |folder: &_| server.start(&ends.far, folder);
        started.sample(server.name, start, |running| {
            let run = |kind| {
                let address = running.address;
                worker::run(&ends.near, running, &Job { address, kind })
            };
            if is_fresh && server.keeps {
                let request = self.setting.request;
                run(Kind::Prepare((request.furnish)(self.setting.observations)))?;
            }
            sample::of(&self.setting, &run(self.kind(server))?)
        })
    }
}

impl Cell {
    /// What the load does.
    fn kind(&self, server: &Server) -> Kind {
        match &self.setting.request.does {
            Does::Insert(insertion) => {
                Kind::Traffic(self.inserts(&insertion(self.setting.observations)))
            }
            Does::Read(reading) if server.keeps => {
                let target = (reading.target)(self.setting.observations);
                Kind::Reads(self.reads(&target, reading.marker))
            }
            Does::Read(Reading { each_bytes, .. }) => {
                let count = self.setting.observations;
                let target = format!("{LINES}?count={count}&width={each_bytes}");
                Kind::Reads(self.reads(&target, "\n"))
            }
        }
    }

    /// Each connection sends a message when the one before was answered.
    fn inserts(&self, insertion: &Insertion) -> TrafficPlan {
        let path = insertion.path;
        TrafficPlan {
            publish: PublishWire::Http {
                head: format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n"),
            },
            publishers: self.setting.connections,
            body: Body::Service(insertion.message, self.setting.observations),
            subscribe: None,
            subscribers: 0,
            subscribe_at: None,
            pace: Pace::Window {
                outstanding: 1,
                warm_up_ms: self.scale.warm_up_ms,
                measure_ms: self.scale.measure_ms,
            },
            share: None,
        }
    }

    fn reads(&self, target: &str, marker: &str) -> ReadsPlan {
        ReadsPlan {
            request: format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            marker: marker.into(),
            expected: self.setting.observations as u64,
            warm_up_ms: self.scale.warm_up_ms,
            measure_ms: self.scale.measure_ms,
        }
    }
}
