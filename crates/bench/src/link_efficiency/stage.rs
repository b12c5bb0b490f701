//! One cell: which servers it has, and how a device's packets are sent to one of them.

use super::cells::{Pace, Scale, Setting};
use super::job::{Conversation, EchoPlan};
use super::protocol::Protocol;
use super::sample;
use super::servers::{self, SERVERS};
use crate::alone::Alone;
use crate::limits::{ECHO_MS_MAX, ECHO_REST_MS, ECHO_STREAM_MS_MAX};
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
        self.setting.link.into()
    }

    fn contenders(&self) -> Vec<&'static str> {
        let servers = servers::of(&self.setting);
        servers.map(|(server, _)| server.name).collect()
    }

    fn rounds(&self) -> usize {
        self.scale.rounds(&self.setting)
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
        let conversation = (server.conversation)(&self.setting).ok_or("it does not speak so")?;
        let start = |folder: &_| (server.start)(&ends.far, folder, &self.setting);
        started.sample(contender, start, |running| {
            let plan = EchoPlan {
                certificate: running.certificate.clone(),
                ..self.plan(conversation)
            };
            let job = Job {
                address: running.address,
                kind: Kind::Echo(plan.clone()),
            };
            let measured = worker::run(&ends.near, running, &job)?;
            sample::of(&plan, &measured)
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
