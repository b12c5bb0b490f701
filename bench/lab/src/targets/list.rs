//! The list of targets: which of them are here, and what would bring those that are not.

use serde::Serialize;

use super::{
    Settings, Target, cometd, dds, emqx, given, hivemq, java_services, libcoap, mosquitto, nats,
    nchan, null, prosody, qpid, rabbitmq, tornado, weir,
};

/// All targets; the first is ours.
pub static TARGETS: &[Target] = &[
    weir::TARGET,
    weir::TLS,
    weir::MQTT,
    weir::COAP,
    weir::AMQP,
    null::TARGET,
    null::COALESCING,
    nchan::TARGET,
    cometd::TARGET,
    mosquitto::TARGET,
    hivemq::TARGET,
    nats::TARGET,
    rabbitmq::TARGET,
    rabbitmq::AMQP091,
    rabbitmq::AMQP10,
    qpid::AMQP091,
    qpid::AMQP10,
    prosody::TARGET,
    prosody::WEIR,
    dds::WEIR,
    dds::RUSTDDS,
    dds::CYCLONE_DDS,
    dds::CYCLONE_WEIR,
    emqx::TARGET,
    given::TARGET,
];

/// Where a name stands in the list.
pub fn place(name: &str) -> Option<usize> {
    TARGETS.iter().position(|target| target.name == name)
}

/// The target of a name.
pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// A server that experiments start for themselves, each with what it is to answer: no load of the bench's speaks to it,
/// so it is none of [`TARGETS`].
pub struct Server {
    /// Its name in results.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    look: fn() -> Result<String, String>,
}

/// All of them.
pub static SERVERS: [Server; 5] = [
    Server {
        name: libcoap::NAME,
        about: "libcoap's coap-server by UDP and TCP, in services and link-efficiency",
        look: libcoap::look,
    },
    Server {
        name: tornado::NAME,
        about: "Tornado by HTTP and WebSocket in Python, in services and link-efficiency",
        look: tornado::look,
    },
    Server {
        name: java_services::CALIFORNIUM,
        about: "Californium by CoAP in Java, in services",
        look: || java_services::look(java_services::CALIFORNIUM),
    },
    Server {
        name: java_services::CXF,
        about: "Apache CXF by SOAP in Java, in services",
        look: || java_services::look(java_services::CXF),
    },
    Server {
        name: java_services::JERSEY,
        about: "Jersey on Grizzly by REST in Java, in services",
        look: || java_services::look(java_services::JERSEY),
    },
];

/// A target and whether it is here.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Its name in results.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What it says it is; absent where it is.
    pub version: Option<String>,
    /// Why it is absent, and what brings it.
    pub absent: Option<String>,
}

/// Looks for all targets, and for what experiments start themselves; none is started.
pub fn inventory(settings: &Settings) -> Vec<Found> {
    let targets = TARGETS
        .iter()
        .map(|it| Found::of((it.name, it.about), (it.look)(settings)));
    let servers = SERVERS
        .iter()
        .map(|it| Found::of((it.name, it.about), (it.look)()));
    targets.chain(servers).collect()
}

impl Found {
    fn of((name, about): (&'static str, &'static str), looked: Result<String, String>) -> Self {
        Self {
            name,
            about,
            absent: looked.as_ref().err().cloned(),
            version: looked.ok(),
        }
    }

    /// A line to print.
    pub fn line(&self) -> String {
        let Self { name, about, .. } = self;
        let state = self.version.as_ref().or(self.absent.as_ref());
        let state = state.map_or("", String::as_str);
        format!("{name}: {about}\n    {state}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_target_is_here_or_says_what_brings_it() {
        let all = inventory(&Settings::default());
        let names: BTreeSet<&str> = all.iter().map(|found| found.name).collect();
        assert_eq!(names.len(), all.len(), "a name twice");
        for server in ["libcoap", "tornado", "californium", "cxf", "jersey"] {
            assert!(names.contains(server), "{server}");
        }
        for found in all {
            let absent = found.absent.as_deref().unwrap_or("absent: ");
            assert!(absent.starts_with("absent: "), "{found:?}");
            assert_ne!(found.version.is_some(), found.absent.is_some());
        }
    }
}
