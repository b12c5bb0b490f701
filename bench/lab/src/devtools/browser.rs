//! Chromium as a process of the run: found, started headless, told by its WebSocket.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use super::socket::PageSocket;
use crate::targets::{Settings, bound_to_bench, find_program};
use weir_bench_model::limits::DEVTOOLS_SECONDS_MAX;

/// Names under which systems have it.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// A sandbox of its own is what containers refuse; pages here are only ours.
const ARGUMENTS: [&str; 8] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--remote-debugging-port=0",
    "about:blank",
];

/// What stands before the address on the line that the browser prints.
const ANNOUNCEMENT: &str = "DevTools listening on ";

/// A browser, ended when dropped.
pub struct Browser {
    process: Child,
    socket: PageSocket,
    calls: u64,
    /// What it says it is.
    pub version: String,
}

impl Browser {
    /// Starts one with a profile of its own; an error says what is absent.
    pub fn launch(settings: &Settings, profile: &Path) -> Result<Self, String> {
        Self::launch_with(settings, profile, &[])
    }

    /// The same, told more.
    pub fn launch_with(
        settings: &Settings,
        profile: &Path,
        further: &[String],
    ) -> Result<Self, String> {
        let mut command = bound_to_bench(settings, &find()?)?;
        command
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(further)
            .args(ARGUMENTS);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command.note_as(NAMES[0], profile);
        let mut process = command.spawn().map_err(|e| format!("absent: {e}"))?;
        let socket = process
            .stderr
            .take()
            .ok_or_else(|| "it has no output".to_string());
        let socket = socket
            .and_then(announced)
            .and_then(|url| PageSocket::open(&url, &settings.end));
        let socket = socket.inspect_err(|_| end(&mut process))?;
        let mut this = Self {
            process,
            socket,
            calls: 0,
            version: String::new(),
        };
        let version = this.call(None, "Browser.getVersion", json!({}))?;
        this.version = version["product"].as_str().unwrap_or("unknown").into();
        Ok(this)
    }

    /// Its process, whose descendants draw its pages.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Calls a method, of the browser or of a session, and waits for its answer; events on the way
    /// are passed over.
    pub(super) fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        self.calls += 1;
        let id = self.calls;
        let mut request = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            request["sessionId"] = session.into();
        }
        self.socket.send(&request.to_string())?;
        loop {
            let text = self.socket.receive()?;
            let mut message: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
            if message["id"] != id {
                continue;
            }
            return match message["error"]["message"].as_str() {
                Some(fault) => Err(format!("{method}: {fault}")),
                None => Ok(message["result"].take()),
            };
        }
    }

    /// Waits for an event of the browser's own; what else comes is passed over.
    pub(super) fn event(&mut self, method: &str) -> Result<Value, String> {
        loop {
            let text = self.socket.receive()?;
            let mut message: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
            if message["method"] == method {
                return Ok(message["params"].take());
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.call(None, "Browser.close", json!({}));
        end(&mut self.process);
    }
}

fn end(process: &mut Child) {
    let _ = process.kill();
    let _ = process.wait();
}

fn find() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    let found = NAMES
        .iter()
        .find_map(|name| find_program(name, "chromium").ok());
    found.ok_or_else(|| {
        "absent: no Chromium or Chrome on the path (Debian package chromium); CHROMIUM names one"
            .into()
    })
}

/// Reads on a thread of its own, because a pipe has no timeout; the rest must not block the browser.
fn announced(output: impl std::io::Read + Send + 'static) -> Result<String, String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        for line in lines {
            if let Some(url) = line.strip_prefix(ANNOUNCEMENT) {
                let _ = sender.send(url.trim().to_string());
            }
        }
    });
    let wait = Duration::from_secs(DEVTOOLS_SECONDS_MAX);
    receiver
        .recv_timeout(wait)
        .map_err(|_| "the browser did not get ready".into())
}
