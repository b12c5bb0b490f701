//! The gateway itself, as a person starts it: `weir serve` on a free port and a fresh data folder.
//!
//! With TLS it is a target of its own, since it needs a certificate before it starts: one made for
//! the occasion, which vouches for itself and for nothing else.

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use rcgen::generate_simple_self_signed;
use ring::digest::{Context, SHA256};
use weir_program::beside;

use super::{Replay, Running, Settings, Target, bound_to_bench, start_announced};
use weir_bench_load::load::wire::{PublishWire, SubscribeWire};
use weir_bench_load::tls;
use weir_bench_model::cell::Scheme;
use weir_bench_model::environment::version_of;
use weir_bench_model::limits::POLL_MS;

pub(super) const TARGET: Target = Target {
    name: "weir",
    about: "the gateway: HTTP publish, every message durable before its answer",
    look: |settings| program(settings).map(|(_, version)| version),
    start,
    publish: Some(publish),
    subscribe,
    replay: Some(replay),
};

pub(super) const TLS: Target = Target {
    name: "weir_tls",
    about: "the gateway on its TLS listener; of idle cells only",
    look: |settings| program(settings).map(|(_, version)| version),
    start: start_tls,
    publish: Some(publish),
    subscribe,
    replay: None,
};

pub(super) const MQTT: Target = Target {
    name: "weir_mqtt",
    about: "the gateway by MQTT 3.1.1: all goes to its log, quality 1 before its PUBACK",
    look: |settings| program(settings).map(|(_, version)| version),
    start: start_mqtt,
    publish: Some(super::mosquitto::publish),
    subscribe: super::mosquitto::subscribe,
    replay: None,
};

pub(super) const COAP: Target = Target {
    name: "weir_coap",
    about: "the gateway by CoAP over UDP; of observers only",
    look: |settings| program(settings).map(|(_, version)| version),
    start: start_coap,
    publish: None,
    subscribe: |_, _| None,
    replay: None,
};

pub(super) const AMQP: Target = Target {
    name: "weir_amqp10",
    about: "the gateway by AMQP 1.0: all goes to its log; of `messaging` only",
    look: |settings| program(settings).map(|(_, version)| version),
    start: start_amqp,
    ..super::OF_MESSAGING
};

/// Listeners that would otherwise take the ports of whatever runs here already.
const FREE_PORTS: [&str; 4] = ["http.listen", "mqtt.listen", "coap.listen", "amqp.listen"];

const HOST: &str = "Host: localhost\r\n";
/// The fields that open a WebSocket (RFC 6455 section 4.1).
pub const WEBSOCKET: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: weir.json\r\n";

fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    if let Some(address) = settings.address {
        return Ok(Running::new(address, "as given by --url".into(), None));
    }
    launch(settings, folder, "http", &[])
}

fn start_mqtt(settings: &Settings, folder: &Path) -> Result<Running, String> {
    if settings.address.is_some() {
        return Err("absent: a gateway given by --url is spoken to by HTTP".into());
    }
    let running = launch(settings, folder, "mqtt", &[])?;
    Ok(reached_by_pages(running, settings, "/mqtt"))
}

/// The same with the path of its HTTP server at which pages speak the protocol.
pub(super) fn reached_by_pages(running: Running, settings: &Settings, path: &str) -> Running {
    let http = running.listeners.get("http").copied();
    match http.filter(|_| settings.pages.is_some()) {
        None => running,
        Some(http) => running.reached_at(format!("ws://{http}{path}"), None),
    }
}

fn start_coap(settings: &Settings, folder: &Path) -> Result<Running, String> {
    if settings.address.is_some() {
        return Err("absent: a gateway given by --url is spoken to by HTTP".into());
    }
    launch(settings, folder, "coap", &[])
}

fn start_amqp(settings: &Settings, folder: &Path) -> Result<Running, String> {
    if settings.address.is_some() {
        return Err("absent: a gateway given by --url is spoken to by HTTP".into());
    }
    let running = launch(settings, folder, "amqp", &[])?;
    Ok(reached_by_pages(running, settings, "/amqp"))
}

fn start_tls(settings: &Settings, folder: &Path) -> Result<Running, String> {
    if settings.address.is_some() {
        return Err("absent: a gateway given by --url has a certificate of its own".into());
    }
    launch_certified(settings, folder, "https")
}

/// Starts the gateway with a certificate of its own and all listeners of TLS.
pub fn launch_certified(
    settings: &Settings,
    folder: &Path,
    listener: &str,
) -> Result<Running, String> {
    launch_certified_with(settings, folder, listener, &[])
}

/// The same with further settings.
pub fn launch_certified_with(
    settings: &Settings,
    folder: &Path,
    listener: &str,
    further: &[String],
) -> Result<Running, String> {
    let made = generate_simple_self_signed([tls::NAME.to_owned()])
        .map_err(|e| format!("the certificate: {e}"))?;
    let certificate = keep(folder, "certificate.pem", &made.cert.pem())?;
    let key = keep(folder, "key.pem", &made.signing_key.serialize_pem())?;
    let mut sets = vec![
        format!("tls.certificate={certificate}"),
        format!("tls.key={key}"),
        format!("http.listen_tls={}:0", settings.host()),
        format!("mqtt.listen_tls={}:0", settings.host()),
        format!("coap.listen_tls={}:0", settings.host()),
        format!("amqp.listen_tls={}:0", settings.host()),
    ];
    sets.extend_from_slice(further);
    let mut running = launch(settings, folder, listener, &sets)?;
    running.certificate = Some(made.cert.der().to_vec());
    Ok(running)
}

fn keep(folder: &Path, name: &str, text: &str) -> Result<String, String> {
    let file = folder.join(name).display().to_string();
    std::fs::write(&file, text).map_err(|e| format!("{file}: {e}"))?;
    Ok(file)
}

/// Starts the gateway with these settings beside those of every run; `listener` is the one that
/// will be spoken to.
pub fn launch(
    settings: &Settings,
    folder: &Path,
    listener: &str,
    sets: &[String],
) -> Result<Running, String> {
    let (program, version) = program(settings)?;
    let mut command = bound_to_bench(settings, &program)?;
    command
        .args(["serve", "--data"])
        .arg(folder.join("data"))
        .args(exposed(settings))
        .args(FREE_PORTS.iter().flat_map(|key| free_port(settings, key)))
        .args(sets.iter().flat_map(|set| ["--set", set]));
    if let Some(origin) = &settings.pages {
        command.args(["--set", &format!("http.cors={origin}")]);
    }
    let log = folder.join("stderr.log");
    start_announced(command, listener, version, &log)
}

/// The gateway's program and its version.
fn program(settings: &Settings) -> Result<(PathBuf, String), String> {
    let program = gateway(settings.weir.as_deref()).ok_or(
        "absent: no program weir beside this one or on the PATH; build it, or name one by --weir",
    )?;
    let version = version_of(&program.to_string_lossy(), "--version");
    Ok((program, version))
}

/// The gateway's program, where there is one.
fn gateway(named: Option<&Path>) -> Option<PathBuf> {
    named.map(Path::to_owned).or_else(|| beside("weir"))
}

/// SHA-256 of the gateway's program, in hexadecimal; of one that is given by its address nothing.
pub fn digest_of_build(named: Option<&Path>, address: Option<SocketAddr>) -> String {
    let program = match address {
        Some(_) => None,
        None => gateway(named),
    };
    program.and_then(|it| digest(&it).ok()).unwrap_or_default()
}

/// Piece by piece: a program with its symbols may be as large as memory.
fn digest(program: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(program)?;
    let mut digest = Context::new(&SHA256);
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            read => digest.update(&piece[..read]),
        }
    }
    let bytes = digest.finish();
    Ok(bytes
        .as_ref()
        .iter()
        .map(|it| format!("{it:02x}"))
        .collect())
}

/// What lets it listen at the end of a link, where only the bench reaches it, or to a person's browser.
fn exposed(settings: &Settings) -> Option<&'static str> {
    let is_reached = settings.is_opened || !settings.host().is_loopback();
    is_reached.then_some("--open")
}

fn free_port(settings: &Settings, listener: &str) -> [String; 2] {
    ["--set".into(), format!("{listener}={}:0", settings.host())]
}

/// How to publish to a topic.
pub fn publish(topic: &str) -> PublishWire {
    PublishWire::Http {
        head: format!("POST /live/{topic} HTTP/1.1\r\n{HOST}"),
    }
}

/// How to subscribe to a topic, where it has such a scheme.
pub fn subscribe(scheme: Scheme, topic: &str) -> Option<SubscribeWire> {
    let get = |target: &str, fields: &str| {
        format!("GET /live/{topic}{target} HTTP/1.1\r\n{HOST}{fields}\r\n")
    };
    let json = "Accept: application/json\r\n";
    match scheme {
        Scheme::Polling => Some(SubscribeWire::Poll {
            request: get("", json),
            interval_ms: POLL_MS,
        }),
        Scheme::LongPolling => Some(SubscribeWire::LongPoll {
            request: get("?wait=30", json),
            again: get("?wait=30&since={weir-cursor}", json),
        }),
        Scheme::Streaming => Some(stream(get("?stream", json))),
        Scheme::Sse => Some(stream(get("", "Accept: text/event-stream\r\n"))),
        Scheme::SseBare => Some(stream(get("?bare", "Accept: text/event-stream\r\n"))),
        Scheme::WebSocket => Some(stream(get("", WEBSOCKET))),
        Scheme::WebSocketBare => Some(stream(get("?bare", WEBSOCKET))),
        Scheme::Observe => Some(SubscribeWire::Observe {
            path: format!("live/{topic}"),
        }),
        Scheme::Mqtt | Scheme::MqttQos1 => None,
    }
}

fn stream(request: String) -> SubscribeWire {
    SubscribeWire::Stream { request }
}

fn replay(topic: &str) -> Replay {
    let get = |query: &str| {
        format!(
            "GET /live/{topic}?stream{query} HTTP/1.1\r\n{HOST}Accept: application/json\r\n\r\n"
        )
    };
    Replay {
        cursor_request: Some(get("")),
        replay_request: get("&since={cursor}"),
    }
}
