//! The audit log: who was let in or refused, and which rules were in force, a line of JSON each.
//!
//! What it deliberately does not do: hold anybody up. Lines are written by a thread of its own; where the
//! disk is slower than what there is to say, lines are left out and the next one says how many. It holds
//! no secrets: names of entries, verbs and topics only.

use crate::config::Problem;
use crate::context::now;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use weir_hub::{Fault, Principal};

/// Lines that wait for the disk.
const WAITING_MAX: usize = 4096;

/// Where lines go.
#[derive(Default)]
pub(crate) struct Audit {
    lines: Option<SyncSender<String>>,
    left_out: AtomicU64,
}

impl Audit {
    /// One that appends to a file, which nobody else may read if it is new; none without.
    pub(crate) fn of(file: Option<&Path>) -> Result<Self, Problem> {
        let Some(path) = file else {
            return Ok(Self::default());
        };
        let unable = |error: std::io::Error| Problem {
            place: path.display().to_string(),
            problem: format!("cannot be appended to: {error}"),
        };
        let file = opened(path).map_err(unable)?;
        let (lines, waiting) = sync_channel(WAITING_MAX);
        let writer = thread::Builder::new().name("audit".into());
        writer
            .spawn(move || write(file, &waiting))
            .map_err(unable)?;
        Ok(Self {
            lines: Some(lines),
            left_out: AtomicU64::new(0),
        })
    }

    /// Notes what happened to whom, and the details.
    pub(crate) fn note(&self, event: &str, who: &str, detail: &str) {
        let Some(lines) = &self.lines else { return };
        let left_out = self.left_out.swap(0, Ordering::Relaxed);
        let mut line = serde_json::json!({ "time": now().to_string(), "event": event });
        for (key, text) in [("who", who), ("detail", detail)] {
            if !text.is_empty() {
                line[key] = text.into();
            }
        }
        if left_out > 0 {
            line["left_out"] = left_out.into();
        }
        if lines.try_send(line.to_string()).is_err() {
            self.left_out.fetch_add(left_out + 1, Ordering::Relaxed);
        }
    }

    /// Notes what the hub refused.
    pub(crate) fn refused(&self, principal: &Principal, fault: &Fault) {
        let event = match fault {
            Fault::TooFast { .. } => "too-fast",
            Fault::Revoked(_) => "after-revocation",
            _ => "denied",
        };
        self.note(event, &principal.name, &fault.to_string());
    }
}

fn opened(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn write(mut file: File, lines: &Receiver<String>) {
    while let Ok(line) = lines.recv() {
        if let Err(error) = writeln!(file, "{line}") {
            tracing::error!(%error, "the audit log cannot be written");
        }
    }
}
