//! `weir` as a process.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "each test uses a part of it"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use weir_binding::{Section, Transport};

/// A running gateway on a folder of its own; ended and cleared away when dropped.
pub(crate) struct Gateway {
    child: Child,
    folder: PathBuf,
    ready: String,
}

/// `weir` with these arguments.
pub(crate) fn weir(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// A folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("weir-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Keys of all that would listen at a port of its own.
fn listeners() -> impl Iterator<Item = String> {
    weir_registry::BINDINGS.iter().flat_map(|line| {
        let binding = (line.configure)(Section::new(line.name)).unwrap();
        let transports = binding.transports();
        let keys = transports.iter().filter_map(Transport::listens);
        let keys: Vec<_> = keys
            .map(|(key, _)| format!("{}.{key}", line.name))
            .collect();
        keys
    })
}

impl Gateway {
    /// Runs `weir serve` or `weir demo` until it is ready.
    pub(crate) fn start(command: &str, folder: &Path, settings: &[&str]) -> Self {
        // Tests run side by side: every protocol takes a free port.
        let free: Vec<_> = listeners()
            .map(|key| format!("{key}=127.0.0.1:0"))
            .collect();
        let free = free.iter().map(String::as_str);
        let settings: Vec<_> = free.chain(settings.iter().copied()).collect();
        let (child, ready) = spawn(command, folder, &settings);
        Self {
            child,
            folder: folder.to_owned(),
            ready,
        }
    }

    /// Kills it, and runs it again on its data and at its address.
    pub(crate) fn restart(&mut self) {
        let listen = format!("http.listen={}", self.address());
        let off = listeners()
            .filter(|key| key != "http.listen")
            .map(|key| format!("{key}="));
        let again: Vec<_> = off.chain([listen]).collect();
        let again: Vec<_> = again.iter().map(String::as_str).collect();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.ready) = spawn("serve", &self.folder, &again);
    }

    /// Host and port of HTTP.
    pub(crate) fn address(&self) -> String {
        self.url("http").replace("http://", "")
    }

    /// The URL of a listener: `http` or `https`.
    pub(crate) fn url(&self, listener: &str) -> String {
        let name = format!("\"{listener}\":\"");
        let (_, rest) = self.ready.split_once(&name).unwrap();
        let (address, _) = rest.split_once('"').unwrap();
        format!("{listener}://{address}")
    }
}

fn spawn(command: &str, folder: &Path, settings: &[&str]) -> (Child, String) {
    let mut gateway = weir(&[command, "--data"]);
    gateway.arg(folder.join("data"));
    for setting in settings {
        gateway.args(["--set", setting]);
    }
    gateway.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = gateway.spawn().unwrap();
    let mut ready = String::new();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    said.read_line(&mut ready).unwrap();
    (child, ready)
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

/// Runs a command to its end with this input.
pub(crate) fn run(arguments: &[&str], input: &str) -> Output {
    let mut command = weir(arguments);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let written = child.stdin.take().unwrap().write_all(input.as_bytes());
    // Who refuses its arguments reads no input.
    let _not_wanted = written;
    child.wait_with_output().unwrap()
}

/// What a command that has to succeed prints.
pub(crate) fn printed(arguments: &[&str], input: &str) -> String {
    let output = run(arguments, input);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
