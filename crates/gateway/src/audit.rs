//! The audit log: who was let in or refused, and which rules were in force, a line of JSON each.
//!
//! What it deliberately does not do: hold anybody up. Lines are written by a thread of its own; where the
//! disk is slower than what there is to say, lines are left out and the next one says how many. Who asks too
//! often is in it once a second. It holds no secrets: names of entries, verbs and topics only.

use crate::config::Problem;
use crate::context::now;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use weir_hub::{Fault, Principal};

/// Lines that wait for the disk.
const WAITING_MAX: usize = 4096;

/// Names that are remembered for how often they asked too often.
const HASTY_MAX: usize = 1024;
/// How long the end of the gateway waits for the lines of before.
const FLUSH_TIME: Duration = Duration::from_secs(2);

/// Where lines go.
#[derive(Default)]
pub(crate) struct Audit {
    lines: Option<SyncSender<Entry>>,
    left_out: AtomicU64,
    hasty: Mutex<Hasty>,
}

enum Entry {
    Line(String),
    /// All before this is written.
    Flush(SyncSender<()>),
}

/// Who asked too often, in which second that was told, and how often since.
type Hasty = HashMap<Arc<str>, (i64, u64)>;

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
            ..Self::default()
        })
    }

    /// Notes what happened to whom, and the details.
    pub(crate) fn note(&self, event: &str, who: &str, detail: &str) {
        self.note_again(event, who, detail, 0);
    }

    /// The same, of something that was so often so before and was not noted.
    fn note_again(&self, event: &str, who: &str, detail: &str, again: u64) {
        let Some(lines) = &self.lines else { return };
        let left_out = self.left_out.swap(0, Ordering::Relaxed);
        let mut line = serde_json::json!({ "time": now().to_string(), "event": event });
        for (key, text) in [("who", who), ("detail", detail)] {
            if !text.is_empty() {
                line[key] = text.into();
            }
        }
        for (key, count) in [("again", again), ("left_out", left_out)] {
            if count > 0 {
                line[key] = count.into();
            }
        }
        if lines.try_send(Entry::Line(line.to_string())).is_err() {
            self.left_out.fetch_add(left_out + 1, Ordering::Relaxed);
        }
    }

    /// Notes what the hub refused.
    pub(crate) fn refused(&self, principal: &Principal, fault: &Fault) {
        let name = &principal.name;
        let (event, again) = match fault {
            Fault::TooFast { .. } => match self.hasty(name, now().nanos() / 1_000_000_000) {
                Some(again) => ("too-fast", again),
                None => return,
            },
            Fault::Revoked(_) => ("after-revocation", 0),
            _ => ("denied", 0),
        };
        self.note_again(event, name, &fault.to_string(), again);
    }

    /// How often it was so since it was told last; none where that was in this second.
    fn hasty(&self, name: &Arc<str>, second: i64) -> Option<u64> {
        let mut hasty = self.hasty.lock().unwrap_or_else(PoisonError::into_inner);
        if hasty.len() >= HASTY_MAX && !hasty.contains_key(name) {
            hasty.clear();
        }
        let (told, since) = hasty.entry(name.clone()).or_insert((i64::MIN, 0));
        if *told == second {
            *since += 1;
            return None;
        }
        *told = second;
        Some(std::mem::take(since))
    }

    /// Waits until what was noted is written, unless the disk stands still.
    pub(crate) fn flush(&self) {
        let Some(lines) = &self.lines else { return };
        let (written, waiting) = sync_channel(1);
        if lines.try_send(Entry::Flush(written)).is_ok() {
            let _in_time = waiting.recv_timeout(FLUSH_TIME);
        }
    }
}

fn opened(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn write(mut file: File, entries: &Receiver<Entry>) {
    while let Ok(entry) = entries.recv() {
        let written = match entry {
            Entry::Line(line) => writeln!(file, "{line}"),
            Entry::Flush(written) => {
                // Who does not wait any more need not be told.
                let _told = written.send(());
                continue;
            }
        };
        if let Err(error) = written {
            tracing::error!(%error, "the audit log cannot be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_too_often_is_noted_once_a_second_with_how_often_it_was() {
        let (audit, who) = (Audit::default(), Arc::from("ada"));
        let seconds = [1, 1, 1, 2, 2, 4];
        let told = seconds.map(|second| audit.hasty(&who, second));
        assert_eq!(told, [Some(0), None, None, Some(2), None, Some(1)]);
        assert_eq!(audit.hasty(&Arc::from("bob"), 4), Some(0));
    }
}
