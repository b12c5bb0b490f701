//! The audit log: who was let in or refused, and which rules were in force, a line of JSON each.
//!
//! What it deliberately does not do: hold anybody up. Lines are written by a thread of its own; where the
//! disk is slower than what there is to say, lines are left out and the next one says how many. Nor fill the disk:
//! of what one name is refused a second some lines are written, and the next one says how many were not. It holds no
//! secrets: names of entries, verbs and topics only.

use crate::clock::now;
use crate::fault::Problem;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use weir_hub::{Fault, Principal};

/// Lines that wait for the disk.
const WAITING_MAX: usize = 4096;

/// Names that are remembered for how often they were refused.
const REFUSED_MAX: usize = 1024;
/// Bytes of a name that are looked at: who is not let in yet may call himself anything.
const NAME_BYTES_MAX: usize = 64;
/// Lines a second about one name that is refused; of who asks too often, which says all there is to say, one.
const LINES_A_SECOND: u32 = 16;
const TOO_FAST: &str = "too-fast";
/// How long the end of the gateway waits for the lines of before.
const FLUSH_TIME: Duration = Duration::from_secs(2);

/// Where lines go.
#[derive(Default)]
pub(crate) struct Audit {
    lines: Option<SyncSender<Entry>>,
    left_out: AtomicU64,
    refused: Mutex<HashMap<(&'static str, String), Told>>,
    /// The file is another one now.
    is_rotated: Arc<AtomicBool>,
}

enum Entry {
    Line(String),
    /// All before this is written.
    Flush(SyncSender<()>),
}

/// What was told of somebody's refusals.
struct Told {
    /// The last second in which any was.
    second: i64,
    /// Lines in it.
    lines: u32,
    /// Those of which nothing was told since.
    left_out: u64,
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
        let is_rotated = Arc::new(AtomicBool::new(false));
        let place = Place {
            path: path.to_owned(),
            is_rotated: is_rotated.clone(),
        };
        writer
            .spawn(move || write(&place, file, &waiting))
            .map_err(unable)?;
        Ok(Self {
            lines: Some(lines),
            is_rotated,
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
        let event = match fault {
            Fault::TooFast { .. } => TOO_FAST,
            Fault::Revoked(_) => "after-revocation",
            _ => "denied",
        };
        self.note_refusal(event, &principal.name, &fault.to_string());
    }

    /// Notes that somebody was refused, unless enough was said of that in this second.
    pub(crate) fn note_refusal(&self, event: &'static str, who: &Arc<str>, detail: &str) {
        if self.lines.is_none() {
            return;
        }
        if let Some(again) = self.told(event, who, now().nanos() / 1_000_000_000) {
            self.note_again(event, who, detail, again);
        }
    }

    /// How often it was so since it was told last; none where enough was told in this second.
    fn told(&self, event: &'static str, who: &Arc<str>, second: i64) -> Option<u64> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let mut end = who.len().min(NAME_BYTES_MAX);
        while !who.is_char_boundary(end) {
            end -= 1;
        }
        let key = (event, who[..end].to_owned());
        if refused.len() >= REFUSED_MAX && !refused.contains_key(&key) {
            refused.clear();
        }
        let fresh = Told {
            second,
            lines: 0,
            left_out: 0,
        };
        let told = refused.entry(key).or_insert(fresh);
        if told.second != second {
            (told.second, told.lines) = (second, 0);
        }
        let most = if event == TOO_FAST { 1 } else { LINES_A_SECOND };
        if told.lines == most {
            told.left_out += 1;
            return None;
        }
        told.lines += 1;
        Some(std::mem::take(&mut told.left_out))
    }

    /// Goes on in the file that now has the name, behind what rotated the other away.
    pub(crate) fn reopen(&self) {
        self.is_rotated.store(true, Ordering::Relaxed);
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

/// Where the file is.
struct Place {
    path: PathBuf,
    is_rotated: Arc<AtomicBool>,
}

impl Place {
    /// Another file, where the one before was rotated away.
    fn another(&self) -> Option<std::io::Result<File>> {
        let is_rotated = self.is_rotated.swap(false, Ordering::Relaxed);
        is_rotated.then(|| opened(&self.path))
    }
}

fn write(place: &Place, mut file: File, entries: &Receiver<Entry>) {
    while let Ok(entry) = entries.recv() {
        match place.another() {
            Some(Ok(another)) => file = another,
            Some(Err(error)) => tracing::error!(%error, "the audit log cannot be opened anew"),
            None => {}
        }
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
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    #[test]
    fn who_asks_too_often_is_noted_once_a_second() {
        let (audit, who) = (Audit::default(), Arc::from("ada"));
        let seconds = [1, 1, 1, 2, 2, 4];
        let told = seconds.map(|second| audit.told(TOO_FAST, &who, second));
        assert_eq!(told, [Some(0), None, None, Some(2), None, Some(1)]);
        assert_eq!(audit.told(TOO_FAST, &Arc::from("bob"), 4), Some(0));
    }

    #[test]
    fn of_one_name_that_is_refused_a_few_lines_a_second_are_written() {
        let (audit, who) = (Audit::default(), Arc::from("eve"));
        let lines = |second| {
            (0..1000)
                .filter_map(|_| audit.told("denied", &who, second))
                .count()
        };
        assert_eq!(lines(7), LINES_A_SECOND as usize);
        assert_eq!(
            audit.told("denied", &who, 8),
            Some(1000 - u64::from(LINES_A_SECOND))
        );
        assert_eq!(audit.told("denied", &Arc::from("bob"), 8), Some(0));
    }

    #[test]
    fn a_file_that_was_rotated_away_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("weir-audit-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, old) = (folder.join("audit.jsonl"), folder.join("audit.jsonl.1"));
        let audit = Audit::of(Some(&path)).unwrap_or_else(|problem| panic!("{problem}"));
        audit.note("before", "", "");
        audit.flush();
        std::fs::rename(&path, &old).unwrap();
        audit.reopen();
        audit.note("after", "", "");
        audit.flush();
        let [old, new] = [&old, &path].map(|file| std::fs::read_to_string(file).unwrap());
        assert!(old.contains("before") && !old.contains("after"), "{old}");
        assert!(new.contains("after") && !new.contains("before"), "{new}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
