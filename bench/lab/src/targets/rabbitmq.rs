//! RabbitMQ by MQTT, by AMQP 0.9.1 and by AMQP 1.0, a node for each, apart from one that the system may run.
//!
//! A node has a name, a data folder, ports and a port mapper of its own. The scripts that start it are
//! passed by where Debian changes the user, which would undo its tie to the bench, and told what they
//! are told under systemd: to become the Erlang machine rather than to wait for it. It has no WebSocket for
//! AMQP: pages come through a relay, as in the paper's time they had to.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::mosquitto::{publish, subscribe};
use super::{
    OF_MESSAGING, Running, Settings, Target, bound_to_bench, find_program, free_ports, relay,
    start_listening,
};

pub(super) const TARGET: Target = Target {
    name: "rabbitmq",
    about: "RabbitMQ by MQTT 3.1.1, one node of its own",
    look: |_| look().map(|(_, version)| version),
    start: start_mqtt,
    publish: Some(publish),
    subscribe,
    replay: None,
};

pub(super) const AMQP091: Target = Target {
    name: "rabbitmq_amqp091",
    about: "RabbitMQ by AMQP 0.9.1; of `messaging` only, pages by a relay",
    look: |_| look().map(|(_, version)| version),
    start: |settings, folder| start_amqp(settings, folder, ""),
    ..OF_MESSAGING
};

pub(super) const AMQP10: Target = Target {
    name: "rabbitmq_amqp10",
    about: "RabbitMQ by AMQP 1.0, its plug-in; of `messaging` only, pages by a relay",
    look: |_| look().map(|(_, version)| version),
    start: |settings, folder| start_amqp(settings, folder, "rabbitmq_amqp1_0"),
    ..OF_MESSAGING
};

/// Where its packages put what starts it.
const SCRIPT: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const FOLDER: &str = "/usr/lib/rabbitmq/lib";
/// What it says while it starts.
const LOG: &str = "stderr.log";
/// How the name of a version's folder begins.
const VERSIONED: &str = "rabbitmq_server-";

fn look() -> Result<(PathBuf, String), String> {
    find_program("rabbitmq-server", "rabbitmq-server")?;
    let script = PathBuf::from(SCRIPT);
    if !script.is_file() {
        return Err(format!(
            "absent: no {SCRIPT} (Debian package rabbitmq-server)"
        ));
    }
    let folders = std::fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let mut names = folders.map(|folder| folder.file_name().to_string_lossy().into_owned());
    let version = names.find_map(|name| name.strip_prefix(VERSIONED).map(str::to_owned));
    let version = version.unwrap_or_else(|| "of unknown version".into());
    Ok((script, format!("RabbitMQ {version}")))
}

fn start_mqtt(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let host = settings.host();
    let [mqtt, websocket] = free_ports()?.map(|port| SocketAddr::from((host, port)));
    let configuration = format!(
        "listeners.tcp = none\n\
         mqtt.listeners.tcp.1 = {mqtt}\n\
         mqtt.allow_anonymous = true\n\
         mqtt.tcp_listen_options.nodelay = true\n\
         web_mqtt.tcp.ip = {}\n\
         web_mqtt.tcp.port = {}\n\
         web_mqtt.ws_path = /mqtt\n",
        websocket.ip(),
        websocket.port(),
    );
    let plugins = "rabbitmq_mqtt,rabbitmq_web_mqtt";
    let mut running = start(settings, folder, mqtt, &configuration, plugins)?;
    running.await_listener(&settings.end, websocket, &folder.join(LOG))?;
    Ok(running.reached_at(format!("ws://{websocket}/mqtt"), None))
}

fn start_amqp(settings: &Settings, folder: &Path, plugins: &str) -> Result<Running, String> {
    let host = settings.host();
    let [amqp] = free_ports()?.map(|port| SocketAddr::from((host, port)));
    let configuration = format!("listeners.tcp.1 = {amqp}\ntcp_listen_options.nodelay = true\n");
    let running = start(settings, folder, amqp, &configuration, plugins)?;
    relay::before(running, settings, folder)
}

fn start(
    settings: &Settings,
    folder: &Path,
    address: SocketAddr,
    listeners: &str,
    plugins: &str,
) -> Result<Running, String> {
    let (script, version) = look()?;
    let host = settings.host();
    let [distribution, mapper] = free_ports()?.map(|port| SocketAddr::from((host, port)));
    let configuration = format!(
        "{listeners}\
         distribution.listener.interface = {host}\n\
         loopback_users = none\n\
         log.console = false\n\
         log.file.level = error\n"
    );
    let files = [
        ("rabbitmq.conf", configuration),
        ("plugins", format!("[{plugins}].\n")),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).map_err(|e| e.to_string())?;
    }
    let daemon = start_mapper(settings, folder, mapper)?;
    let mut command = bound_to_bench(settings, &script)?;
    command
        .env("HOME", folder)
        .env("RABBITMQ_CONFIG_FILE", folder.join("rabbitmq.conf"))
        .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("plugins"))
        .env("RABBITMQ_MNESIA_BASE", folder.join("mnesia"))
        .env("RABBITMQ_LOG_BASE", folder.join("log"))
        .env("RABBITMQ_CONF_ENV_FILE", "/dev/null")
        .env(
            "RABBITMQ_NODENAME",
            format!("bench-{}@localhost", address.port()),
        )
        .env("RABBITMQ_DIST_PORT", distribution.port().to_string())
        .env("ERL_EPMD_PORT", mapper.port().to_string())
        .env("ERL_EPMD_ADDRESS", host.to_string())
        .env("ERL_CRASH_DUMP_SECONDS", "0")
        .env("RUNNING_UNDER_SYSTEMD", "true");
    Ok(start_listening(command, address, version, &folder.join(LOG))?.beside(daemon))
}

/// Erlang's port mapper, which would otherwise be started as a daemon that stays.
fn start_mapper(settings: &Settings, folder: &Path, at: SocketAddr) -> Result<Running, String> {
    let program = find_program("epmd", "erlang-base")?;
    let mut command = bound_to_bench(settings, &program)?;
    command.args(["-port", &at.port().to_string()]);
    command.args(["-address", &at.ip().to_string()]);
    let log = folder.join("epmd.log");
    start_listening(command, at, "epmd".into(), &log)
}
