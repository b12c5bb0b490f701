//! The systems under test: one file and one line of [`list::TARGETS`] each.
//!
//! A target says how it is started and, as data, which bytes subscribe and publish. It
//! deliberately holds no client code: the one load generator speaks to all, so that two systems
//! never differ by the client that measured them.

mod cometd;
pub mod configuration;
pub mod dds;
mod emqx;
mod given;
mod hivemq;
mod java;
pub mod java_services;
pub mod libcoap;
pub mod list;
pub mod mosquitto;
mod nats;
mod nchan;
mod null;
mod ports;
mod program;
pub mod prosody;
mod qpid;
mod rabbitmq;
mod relay;
pub mod tornado;
pub mod weir;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::agent::Crew;
use crate::link::{Captures, End, Launch};
use weir_bench_load::load::wire::{PublishWire, SubscribeWire};
use weir_bench_model::cell::Scheme;
use weir_bench_model::clock::now_ns;
use weir_bench_model::configuration::Starts;
use weir_bench_model::limits::TARGET_START_MS_MAX;
use weir_bench_model::process::die_with_parent;

pub use configuration::{SUBCOMMAND, quoted};
pub use given::Given;
pub use ports::free_port;
use ports::free_ports;
pub use program::{Program, find_program, of_the_project};

/// A system that can be measured.
pub struct Target {
    /// Its name in results.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What it says it is, or what is absent here and what brings it, without starting it.
    pub look: fn(&Settings) -> Result<String, String>,
    /// Starts it in a folder that is its own.
    pub start: fn(&Settings, &Path) -> Result<Running, String>,
    /// How to publish to a topic; `None` of one to which the load generator does not speak.
    pub publish: Option<fn(&str) -> PublishWire>,
    /// How to subscribe to a topic by a scheme; `None` where it has no such scheme.
    pub subscribe: fn(Scheme, &str) -> Option<SubscribeWire>,
    /// The requests that tell a cursor and that replay from it.
    pub replay: Option<fn(&str) -> Replay>,
}

/// How a target is asked for what was before.
pub struct Replay {
    /// A stream that tells cursors; `None`: the cursor is `0`.
    pub cursor_request: Option<String>,
    /// The replay, with `{cursor}`.
    pub replay_request: String,
}

/// What a person may say about targets, and where programs are started.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The gateway's program; absent: the one beside this program, or on the PATH.
    pub weir: Option<PathBuf>,
    /// A gateway that runs already.
    pub address: Option<SocketAddr>,
    /// A broker of others that runs already.
    pub given: Option<Given>,
    /// Where programs are started: see [`crate::link`].
    pub end: End,
    /// Where targets listen on this machine; absent: at an end's address, which is loopback or a link's.
    pub host: Option<Ipv4Addr>,
    /// Machines that share the load; absent: this one makes it.
    pub agents: Option<Arc<Crew>>,
    /// The origin of the pages that will reach targets by WebSocket; absent: none will.
    pub pages: Option<String>,
    /// Messages a second, where an experiment's own rate is not wanted.
    pub rate: Option<f64>,
    /// Rounds of a cell, where an experiment's own are not wanted.
    pub rounds: Option<usize>,
    /// Where packets on links are written down; absent: nowhere.
    pub capture: Option<Captures>,
    /// Whether a person opens the browser, anywhere on the network.
    pub is_opened: bool,
    /// With what programs were started so far.
    pub starts: Starts,
}

impl Settings {
    /// Where a target listens, so that the load reaches it.
    pub fn host(&self) -> Ipv4Addr {
        match (&self.end, self.host) {
            (End::Local, Some(host)) => host,
            (end, _) => end.host(),
        }
    }
}

/// Where a page reaches a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebSocketAt {
    /// `ws://host:port/path`.
    pub url: String,
    /// User and password, where it wants them.
    pub user: Option<(String, String)>,
}

/// A target that runs, until dropped.
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    /// Where pages reach it, where [`Settings::pages`] are told and it has such a way.
    pub websocket: Option<WebSocketAt>,
    /// The certificate of a target that speaks TLS there, in DER; it vouches for itself.
    pub certificate: Option<Vec<u8>>,
    /// What it says it is.
    pub version: String,
    /// All addresses that it told, by name.
    listeners: BTreeMap<String, SocketAddr>,
    process: Option<Child>,
    /// What it is made of besides, so that what they spend is its own; they end behind it.
    parts: Vec<Running>,
    /// What it cannot be without and is no part of it, as a relay for pages; that ends behind it too.
    beside: Vec<Running>,
}

/// What the targets of `messaging` alone have in common: its own clients speak to them.
pub const OF_MESSAGING: Target = Target {
    name: "",
    about: "",
    look: |_| Err("absent: it has no name".into()),
    start: |_, _| Err("absent: it has no name".into()),
    publish: None,
    subscribe: |_, _| None,
    replay: None,
};

impl Running {
    /// What was started by someone else.
    pub fn elsewhere(address: SocketAddr, version: &str) -> Self {
        Self::new(address, version.into(), None)
    }

    /// One whose process is this, or nobody's.
    fn new(address: SocketAddr, version: String, process: Option<Child>) -> Self {
        Self {
            address,
            websocket: None,
            certificate: None,
            version,
            listeners: BTreeMap::new(),
            process,
            parts: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// Its process, if it is ours.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// The roots of all processes that it is made of, as far as they are ours.
    pub fn roots(&self) -> Vec<u32> {
        let of_parts = self.parts.iter().flat_map(Self::roots);
        self.pid().into_iter().chain(of_parts).collect()
    }

    /// Where a listener of it is, by the name that it told.
    pub fn listener(&self, name: &str) -> Option<SocketAddr> {
        self.listeners.get(name).copied()
    }

    /// The same with a WebSocket for pages.
    fn reached_at(mut self, url: String, user: Option<(String, String)>) -> Self {
        self.websocket = Some(WebSocketAt { url, user });
        self
    }

    /// The same with another program that is a part of it.
    fn with(mut self, part: Running) -> Self {
        self.parts.push(part);
        self
    }

    /// The same that needs another program.
    fn beside(mut self, other: Running) -> Self {
        self.beside.push(other);
        self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// This program again, for hidden subcommands.
pub fn this_program(settings: &Settings) -> Result<Launch, String> {
    let program = std::env::current_exe().map_err(|e| format!("this program's path: {e}"))?;
    Ok(Launch::new(
        Command::new(program),
        &settings.end,
        &settings.starts,
    ))
}

/// A program that dies with the bench, however the bench dies: see [`exec`].
pub fn bound_to_bench(settings: &Settings, program: &Path) -> Result<Launch, String> {
    let mut command = this_program(settings)?;
    command.arg(SUBCOMMAND).arg(program);
    Ok(command)
}

/// Becomes the program that the arguments name, to be killed when its parent ends.
pub fn exec(arguments: &[String]) -> i32 {
    let [program, rest @ ..] = arguments else {
        return 2;
    };
    die_with_parent();
    let error = Command::new(program).args(rest).exec();
    eprintln!("{program}: {error}");
    1
}

/// Starts a program that prints one line `{"ready":true,"http":"address"}`, where `listener` is
/// the key whose address is wanted.
pub fn start_announced(
    command: Launch,
    listener: &str,
    version: String,
    log: &Path,
) -> Result<Running, String> {
    let mut process = spawn(command, Stdio::piped(), log)?;
    let output = process.stdout.take();
    let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let mut running = Running::new(address, version, Some(process));
    let line = first_line(output.ok_or("no output")?)
        .ok_or_else(|| format!("did not get ready: {}", last_line(log)))?;
    let ready: serde_json::Value = serde_json::from_str(&line)
        .map_err(|e| format!("its first line is no JSON: {e}: {line}"))?;
    running.listeners = listeners(&ready);
    if let Some(version) = ready["version"].as_str() {
        running.version = version.into();
    }
    running.address = *running
        .listeners
        .get(listener)
        .ok_or_else(|| format!("its first line names no {listener}: {line}"))?;
    Ok(running)
}

/// The addresses in a line of JSON, by name.
fn listeners(ready: &serde_json::Value) -> BTreeMap<String, SocketAddr> {
    let members = ready.as_object().into_iter().flatten();
    members
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.parse().ok()?)))
        .collect()
}

/// Reads on a thread of its own, because a pipe has no timeout.
fn first_line(output: impl std::io::Read + Send + 'static) -> Option<String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut line = String::new();
        let _ = reader.read_line(&mut line);
        let _ = sender.send(line);
        // Whatever else it prints must not block it.
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
    });
    let line = receiver
        .recv_timeout(Duration::from_millis(TARGET_START_MS_MAX))
        .ok()?;
    (!line.is_empty()).then_some(line)
}

/// Starts a program without input, its errors going to a file of its folder.
fn spawn(mut command: Launch, output: Stdio, log: &Path) -> Result<Child, String> {
    command.note(log.parent().unwrap_or(log));
    let errors = std::fs::File::create(log).map_err(|e| format!("{}: {e}", log.display()))?;
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    command.spawn().map_err(|e| format!("absent: {e}"))
}

/// Starts a program that listens on a port we chose.
pub fn start_listening(
    command: Launch,
    address: SocketAddr,
    version: String,
    log: &Path,
) -> Result<Running, String> {
    let end = command.end().clone();
    let process = spawn(command, Stdio::null(), log)?;
    let mut running = Running::new(address, version, Some(process));
    running.await_listener(&end, address, log)?;
    Ok(running)
}

impl Running {
    /// Waits until something listens there; an error where its process ends before.
    fn await_listener(&mut self, end: &End, address: SocketAddr, log: &Path) -> Result<(), String> {
        let latest = now_ns() + TARGET_START_MS_MAX * 1_000_000;
        while end.connect(address).is_err() {
            let process = self.process.as_mut();
            let exited = process.and_then(|process| process.try_wait().ok().flatten());
            if exited.is_some() || now_ns() > latest {
                return Err(format!("did not listen: {}", last_line(log)));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

fn last_line(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().last().unwrap_or("it said nothing").into()
}
