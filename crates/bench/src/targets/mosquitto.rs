//! Eclipse Mosquitto, Debian's: MQTT 3.1.1 at quality of service 0 and 1, nothing kept on disk.
//!
//! Started by root it stays root (`user root`): a change of user would undo its tie to the bench.

use std::net::SocketAddr;
use std::path::Path;

use super::{Running, Settings, Target, bound_to_bench, find_program, free_port, start_listening};
use crate::cell::Scheme;
use crate::environment::version_of;
use crate::load::wire::{PublishWire, SubscribeWire};

pub(super) const TARGET: Target = Target {
    name: "mosquitto",
    about: "Eclipse Mosquitto by MQTT 3.1.1, in memory",
    start,
    publish,
    subscribe,
    replay: None,
};

fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let mosquitto = find_program("mosquitto", "mosquitto")?;
    let (host, port) = (settings.host(), free_port()?);
    let file = folder.join("mosquitto.conf");
    let configuration = format!(
        "listener {port} {host}\nallow_anonymous true\npersistence false\nuser root\n\
        set_tcp_nodelay true\nmax_queued_messages 0\nmax_connections -1\nlog_type error\n"
    );
    std::fs::write(&file, configuration).map_err(|e| e.to_string())?;
    let mut command = bound_to_bench(settings, &mosquitto)?;
    command.arg("-c").arg(&file);
    let version = version_of(&mosquitto.to_string_lossy(), "-h");
    let address = SocketAddr::from((host, port));
    start_listening(command, address, version, &folder.join("stderr.log"))
}

pub(super) fn publish(topic: &str) -> PublishWire {
    PublishWire::Mqtt {
        topic: topic.into(),
        qos: 0,
    }
}

pub(super) fn subscribe(scheme: Scheme, topic: &str) -> Option<SubscribeWire> {
    Some(SubscribeWire::Mqtt {
        filter: topic.into(),
        qos: scheme.quality()?,
    })
}
