//! Eclipse Mosquitto, Debian's: MQTT 3.1.1 at quality of service 0 and 1, nothing kept on disk.
//!
//! Started by root it stays root (`user root`): a change of user would undo its tie to the bench. Its
//! listener for WebSockets is bound to every address, whatever it is told; so it is opened only where
//! pages will come, and wants a password that only they know.

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{
    Program, Running, Settings, Target, bound_to_bench, find_program, free_ports, start_listening,
};
use weir_bench_load::load::wire::{PublishWire, SubscribeWire};
use weir_bench_model::cell::Scheme;

pub(super) const TARGET: Target = Target {
    name: "mosquitto",
    about: "Eclipse Mosquitto by MQTT 3.1.1, in memory",
    look: |_| PROGRAM.look(),
    start,
    publish: Some(publish),
    subscribe,
    replay: None,
};

const PROGRAM: Program = Program {
    name: "mosquitto",
    package: "mosquitto",
    asked_by: "-h",
};

fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let (program, version) = PROGRAM.found()?;
    let [port, websocket] = free_ports()?;
    let host = settings.host();
    let mut configuration = format!(
        "per_listener_settings true\npersistence false\nuser root\nset_tcp_nodelay true\n\
        max_queued_messages 0\nlog_type error\n\
        listener {port} {host}\nallow_anonymous true\nmax_connections -1\n"
    );
    let user = settings.pages.as_ref().map(|_| user(folder)).transpose()?;
    if user.is_some() {
        configuration += &format!(
            "listener {websocket} {host}\nprotocol websockets\nallow_anonymous false\n\
             password_file {}\nmax_connections -1\n",
            passwords(folder).display()
        );
    }
    let file = folder.join("mosquitto.conf");
    std::fs::write(&file, configuration).map_err(|e| e.to_string())?;
    let mut command = bound_to_bench(settings, &program)?;
    command.arg("-c").arg(&file);
    let address = SocketAddr::from((host, port));
    let log = folder.join("stderr.log");
    let running = start_listening(command, address, version, &log)?;
    Ok(match user {
        None => running,
        Some(user) => running.reached_at(format!("ws://{host}:{websocket}/mqtt"), Some(user)),
    })
}

fn passwords(folder: &Path) -> PathBuf {
    folder.join("passwords")
}

/// A user whom it will know, and a password of this moment.
fn user(folder: &Path) -> Result<(String, String), String> {
    let program = find_program("mosquitto_passwd", "mosquitto")?;
    let user = ("page".to_owned(), password().map_err(|e| e.to_string())?);
    let made = Command::new(program)
        .args(["-b", "-c"])
        .arg(passwords(folder))
        .args([&user.0, &user.1])
        .output();
    let made = made.map_err(|e| format!("its passwords: {e}"))?;
    match made.status.success() {
        true => Ok(user),
        false => Err(format!(
            "its passwords: {}",
            String::from_utf8_lossy(&made.stderr).trim()
        )),
    }
}

fn password() -> std::io::Result<String> {
    let mut random = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// How to publish to a topic.
pub fn publish(topic: &str) -> PublishWire {
    PublishWire::Mqtt {
        topic: topic.into(),
        qos: 0,
    }
}

/// How to subscribe to a topic, where it has such a scheme.
pub fn subscribe(scheme: Scheme, topic: &str) -> Option<SubscribeWire> {
    Some(SubscribeWire::Mqtt {
        filter: topic.into(),
        qos: scheme.quality()?,
    })
}
