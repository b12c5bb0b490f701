//! Apache Qpid Broker-J, in memory, by AMQP 0.9.1 and by AMQP 1.0 with a WebSocket of its own.
//!
//! Its configuration is one file made for the run: a virtual host that forgets, ports on loopback, users
//! `guest` and nobody. Without aliases of the virtual host on its ports it knows no client's host name.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    OF_MESSAGING, Running, Settings, Target, bound_to_bench, find_program, free_ports,
    of_the_project, relay, start_listening,
};

pub(super) const AMQP091: Target = Target {
    name: "qpid_amqp091",
    about: "Apache Qpid Broker-J by AMQP 0.9.1; of `messaging` only, pages by a relay",
    look: |_| look().map(|(_, version)| version),
    start: start_091,
    ..OF_MESSAGING
};

pub(super) const AMQP10: Target = Target {
    name: "qpid_amqp10",
    about: "Apache Qpid Broker-J by AMQP 1.0, pages by its WebSocket; of `messaging` only",
    look: |_| look().map(|(_, version)| version),
    start: start_10,
    ..OF_MESSAGING
};

/// Where `scripts/peers` puts it: a folder with the version's own folder in it.
const INSTALLED: &str = "build/qpid-broker";
/// The environment variable that names another folder.
const VARIABLE: &str = "WEIR_QPID";
const ABSENT: &str = "absent: no Qpid Broker-J in build/qpid-broker; from the project's root, \
                      `scripts/peers` puts it there, and WEIR_QPID names another folder";

/// The folder of its libraries, and its version by the name of one.
fn look() -> Result<(PathBuf, String), String> {
    find_program("java", "default-jdk-headless")?;
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let folder = named.unwrap_or_else(|| INSTALLED.into());
    let inside = std::fs::read_dir(of_the_project(&folder))
        .into_iter()
        .flatten()
        .flatten();
    let lib = inside
        .map(|entry| entry.path().join("lib"))
        .find(|lib| lib.is_dir());
    let lib = lib.ok_or(ABSENT)?;
    let files = std::fs::read_dir(&lib).into_iter().flatten().flatten();
    let mut names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    let version = names.find_map(|name| {
        let version = name
            .strip_prefix("qpid-broker-core-")?
            .strip_suffix(".jar")?;
        Some(version.to_owned())
    });
    let version = version.ok_or(ABSENT)?;
    Ok((lib, format!("Qpid Broker-J {version}")))
}

fn start_091(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let running = start(settings, folder, "AMQP_0_9_1")?;
    relay::before(running, settings, folder)
}

fn start_10(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let running = start(settings, folder, "AMQP_1_0")?;
    let websocket = running.listener("ws").ok_or("no WebSocket")?;
    Ok(running.reached_at(format!("ws://{websocket}/"), None))
}

fn start(settings: &Settings, folder: &Path, protocol: &str) -> Result<Running, String> {
    let (lib, version) = look()?;
    let host = settings.host();
    let [tcp, websocket] = free_ports()?.map(|port| SocketAddr::from((host, port)));
    let file = folder.join("initial.json");
    let configuration = configuration(tcp, websocket, protocol);
    std::fs::write(&file, configuration.to_string()).map_err(|e| e.to_string())?;
    let java = find_program("java", "default-jdk-headless")?;
    let mut command = bound_to_bench(settings, &java)?;
    command
        .arg(format!("-DQPID_WORK={}", folder.display()))
        .arg(format!("-DQPID_HOME={}", folder.display()))
        // Its database's log would lie wherever the bench was started.
        .arg(format!("-Dderby.system.home={}", folder.display()))
        .args(["-cp", &format!("{}/*", lib.display())])
        .args(["org.apache.qpid.server.Main", "-st", "Memory", "-icp"])
        .arg(&file);
    let log = folder.join("stderr.log");
    let mut running = start_listening(command, tcp, version, &log)?;
    running.await_listener(&settings.end, websocket, &log)?;
    running.listeners.insert("ws".into(), websocket);
    Ok(running)
}

fn configuration(tcp: SocketAddr, websocket: SocketAddr, protocol: &str) -> Value {
    let port = |name: &str, at: SocketAddr, transport: &str, protocol: &str, provider: &str| {
        json!({
            "name": name,
            "type": "AMQP",
            "bindingAddress": at.ip().to_string(),
            "port": at.port(),
            "transports": [transport],
            "protocols": [protocol],
            "tcpNoDelay": true,
            "authenticationProvider": provider,
            "virtualhostaliases": [
                {"name": "nameAlias", "type": "nameAlias"},
                {"name": "defaultAlias", "type": "defaultAlias"},
                {"name": "hostnameAlias", "type": "hostnameAlias"},
            ],
        })
    };
    let guest = json!({"name": "guest", "type": "managed", "password": "guest"});
    json!({
        "name": "bench",
        "modelVersion": "9.0",
        "authenticationproviders": [
            {"name": "plain", "type": "Plain", "secureOnlyMechanisms": [], "users": [guest]},
            {"name": "anonymous", "type": "Anonymous"},
        ],
        "ports": [
            port("tcp", tcp, "TCP", protocol, "plain"),
            port("ws", websocket, "WS", "AMQP_1_0", "anonymous"),
        ],
        "virtualhostnodes": [{
            "name": "default",
            "type": "Memory",
            "defaultVirtualHostNode": true,
            "virtualHostInitialConfiguration": "{\"type\":\"Memory\"}",
        }],
    })
}
