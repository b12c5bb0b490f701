//! HiveMQ Community Edition, by its embedded library: MQTT over TCP and WebSocket.

use std::path::Path;

use super::java::Program;
use super::mosquitto::{publish, subscribe};
use super::{Running, Settings, Target, free_ports, start_announced};

pub(super) const TARGET: Target = Target {
    name: "hivemq",
    about: "HiveMQ CE by MQTT 3.1.1, on a JVM as it comes",
    look: |_| PROGRAM.look().map(|version| format!("HiveMQ CE {version}")),
    start,
    publish: Some(publish),
    subscribe,
    replay: None,
};

const PROGRAM: Program = Program {
    folder: "conformance/hivemq-bench",
    variable: "WEIR_HIVEMQ",
    class: "weir.Broker",
    library: "hivemq-community-edition-embedded-",
};

/// What its authors' own start script opens to its libraries.
const FLAGS: [&str; 4] = [
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Djava.net.preferIPv4Stack=true",
];

fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let [mqtt, websocket] = free_ports()?;
    let mut command = PROGRAM.command(settings, &FLAGS)?;
    command.arg(folder).args([
        settings.host().to_string(),
        mqtt.to_string(),
        websocket.to_string(),
    ]);
    let log = folder.join("stderr.log");
    let running = start_announced(command, "mqtt", "HiveMQ CE".into(), &log)?;
    let url = format!("ws://{}:{websocket}/mqtt", settings.host());
    Ok(running.reached_at(url, None))
}
