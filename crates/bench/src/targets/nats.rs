//! NATS with its MQTT: sessions and retained messages in JetStream, which it does not go without.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::mosquitto::{publish, subscribe};
use super::{Running, Settings, Target, bound_to_bench, find_program, free_ports, start_listening};
use crate::environment::version_of;

pub(super) const TARGET: Target = Target {
    name: "nats",
    about: "NATS by MQTT 3.1.1, JetStream in a folder of its own",
    look: |_| program().map(|program| version(&program)),
    start,
    publish,
    subscribe,
    replay: None,
};

fn program() -> Result<PathBuf, String> {
    find_program("nats-server", "nats-server")
}

fn version(program: &Path) -> String {
    version_of(&program.to_string_lossy(), "--version")
}

fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let program = program()?;
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
    let mut running = start_listening(command, mqtt, version(&program), &log)?;
    running.await_listener(&settings.end, websocket, &log)?;
    Ok(running.reached_at(format!("ws://{websocket}/mqtt"), None))
}
