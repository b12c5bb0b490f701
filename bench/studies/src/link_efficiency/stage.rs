//! One cell: which servers it has, and how a device's packets are sent to one of them.

use super::cells::{Pace, Scale, Setting};
use super::protocol::Protocol;
use super::servers::{self, Server};
use weir_bench_lab::alone::{self, Alone};
use weir_bench_lab::link::Ends;
use weir_bench_lab::sample::{Sample, echo};
use weir_bench_lab::side_by_side;
use weir_bench_lab::started::Started;
use weir_bench_lab::worker;
use weir_bench_model::limits::{ECHO_MS_MAX, ECHO_REST_MS, ECHO_STREAM_MS_MAX};
use weir_bench_peers::device::job::{Conversation, EchoPlan};

/// A setting and how much is sent in it.
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
        self.setting.link.into()
    }

    fn contenders(&self) -> Vec<&'static Server> {
        let servers = servers::of(&self.setting);
        servers.map(|(server, _)| server).collect()
    }

    fn rounds(&self) -> usize {
        self.scale.rounds(&self.setting)
    }

    fn waits(&self) -> bool {
        side_by_side::waits(self.setting.link, self.setting.modem)
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
        let conversation = (server.conversation)(&self.setting).ok_or("it does not speak so")?;
        let start = |folder: &_| (server.start)(&ends.far, folder, &self.setting);
        started.sample(server.name, start, |running| {
            let plan = EchoPlan {
                certificate: running.certificate.clone(),
                ..self.plan(conversation)
            };
            let (outcome, measured) = worker::task(&ends.near, running, &plan)?;
            echo::of(&plan, &outcome, &measured)
        })
    }
}

impl Cell {
    fn plan(&self, conversation: Conversation) -> EchoPlan {
        let Self { setting, scale } = self;
        EchoPlan {
            conversation,
            payload_bytes: setting.payload_bytes,
            warm_up: scale.warm_up(setting),
            packets: scale.packets(setting),
            rest_ms: match setting.pace {
                Pace::Next => 0,
                Pace::Rest => ECHO_REST_MS,
            },
            is_on_link: !setting.is_local(),
            modem: setting.modem,
            certificate: None,
            wait_ms: match setting.protocol {
                Protocol::CoapCon | Protocol::CoapNon => ECHO_MS_MAX,
                _ => ECHO_STREAM_MS_MAX,
            },
        }
    }
}
