//! NATS with its MQTT: sessions and retained messages in JetStream, which it does not go without.

use std::net::SocketAddr;
use std::path::Path;

use super::mosquitto::{publish, subscribe};
use super::{Program, Running, Settings, Target, bound_to_bench, free_ports, start_listening};

pub(super) const TARGET: Target = Target {
    name: "nats",
    about: "NATS by MQTT 3.1.1, JetStream in a folder of its own",
    look: |_| PROGRAM.look(),
    start,
    publish: Some(publish),
    subscribe,
    replay: None,
};

const PROGRAM: Program = Program {
    name: "nats-server",
    package: "nats-server",
    asked_by: "--version",
};

fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let (program, version) = PROGRAM.found()?;
    let (host, ports) = (settings.host(), free_ports()?);
    let [client, mqtt, websocket] = ports.map(|port| SocketAddr::from((host, port)));
    let file = folder.join("nats.conf");
    let configuration = format!(
        "server_name: bench\nlisten: \"{client}\"\n\
         jetstream {{ store_dir: \"{}\" }}\n\
         mqtt {{ listen: \"{mqtt}\" }}\n\
         websocket {{ listen: \"{websocket}\", no_tls: true }}\n",
        folder.join("jetstream").display()
    );
    std::fs::write(&file, configuration).map_err(|e| e.to_string())?;
    let mut command = bound_to_bench(settings, &program)?;
    command.arg("-c").arg(&file);
    let log = folder.join("stderr.log");
    let mut running = start_listening(command, mqtt, version, &log)?;
    running.await_listener(&settings.end, websocket, &log)?;
    Ok(running.reached_at(format!("ws://{websocket}/mqtt"), None))
}
