//! CometD on Jetty: Bayeux by long polling and WebSocket, the way of the Web that paper 000 began from.
//!
//! The load cannot subscribe to it: a Bayeux client must hold on to what the handshake tells it. Pages
//! can, at `http://ADDRESS/cometd` and `ws://ADDRESS/cometd`.

use std::path::Path;

use super::java::Program;
use super::{Running, Settings, Target, start_announced};
use weir_bench_load::load::wire::PublishWire;

pub(super) const TARGET: Target = Target {
    name: "cometd",
    about: "CometD on Jetty: a message published by POST, as a text to its Bayeux channel",
    look: |_| PROGRAM.look().map(|version| format!("CometD {version}")),
    start,
    publish: Some(publish),
    subscribe: |_, _| None,
    replay: None,
};

const PROGRAM: Program = Program {
    folder: "conformance/cometd-bench",
    variable: "WEIR_COMETD",
    class: "weir.Comet",
    library: "cometd-java-server-common-",
};

fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let mut command = PROGRAM.command(settings, &[])?;
    command.arg(settings.host().to_string());
    let log = folder.join("stderr.log");
    let running = start_announced(command, "http", "CometD".into(), &log)?;
    let url = format!("ws://{}/cometd", running.address);
    Ok(running.reached_at(url, None))
}

fn publish(topic: &str) -> PublishWire {
    PublishWire::Http {
        head: format!("POST /pub/{topic} HTTP/1.1\r\nHost: localhost\r\n"),
    }
}
