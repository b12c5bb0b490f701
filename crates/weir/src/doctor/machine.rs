//! The machine: files, memory, clock.

use super::finding::Finding;
use rustix::process::{Resource, getrlimit};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Files that a gateway of some clients has open.
const FILES_MIN: u64 = 4096;
/// Memory below which limits of messages and bodies should be lowered.
const MEMORY_MIN: usize = 128 << 20;
/// Connections that may wait to be accepted, below which a crowd that comes at once is refused.
const BACKLOG_MIN: u64 = 1024;
/// A clock before this has not been set: 2025, in seconds.
const CLOCK_MIN: Duration = Duration::from_secs(1_735_689_600);
/// How far ahead of the clock files may be: clocks are set, a little.
const AHEAD_MAX: Duration = Duration::from_secs(60);

pub(super) fn look(data: &Path) -> Vec<Finding> {
    let mut found = vec![of_files(), of_memory()];
    found.extend(of_backlog());
    found.extend(of_clock(data));
    found
}

fn of_files() -> Finding {
    let most = getrlimit(Resource::Nofile).maximum;
    let is_enough = most.is_none_or(|most| most >= FILES_MIN);
    let most = most.map_or("any number of".into(), |most| most.to_string());
    let sentence = format!("{most} files may be open: one a connection, some for the data");
    Finding::of(is_enough, sentence)
}

fn of_memory() -> Finding {
    let there_is = weir_gateway::memory_there_is(Path::new("/"));
    let (whole, part) = (there_is >> 20, (there_is / 4) >> 20);
    Finding::of(
        there_is >= MEMORY_MIN,
        format!(
            "{whole} MiB of memory may be used; messages take {part} MiB of it at most, unless \
             gateway.memory_bytes says otherwise"
        ),
    )
}

fn of_backlog() -> Option<Finding> {
    let said = std::fs::read_to_string("/proc/sys/net/core/somaxconn").ok()?;
    let most: u64 = said.trim().parse().ok()?;
    let sentence = format!("{most} connections may wait to be accepted (net.core.somaxconn)");
    Some(Finding::of(most >= BACKLOG_MIN, sentence))
}

fn of_clock(data: &Path) -> Vec<Finding> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    if since.is_ok_and(|since| since < CLOCK_MIN) {
        let sentence = "the clock is not set: times and retention are wrong";
        return vec![Finding::bad(sentence)];
    }
    let mut found = vec![
        match Path::new("/run/systemd/timesync/synchronized").exists() {
            true => Finding::good("the clock is set, and kept by systemd-timesyncd"),
            false => Finding::good(
                "the clock is set; what keeps it, if anything does, is not known here",
            ),
        },
    ];
    if let Some(ahead) = newest(data).filter(|ahead| *ahead > AHEAD_MAX) {
        let hours = ahead.as_secs_f64() / 3600.0;
        found.push(Finding::look(format!(
            "the data was written {hours:.1} hours from now: the clock was ahead then, or is behind"
        )));
    }
    found
}

/// How far ahead of the clock the newest file of the data was written.
fn newest(data: &Path) -> Option<Duration> {
    let folders = [data.join("log"), data.join("history")];
    let files = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok());
    let times = files
        .flatten()
        .filter_map(|file| file.ok()?.metadata().ok()?.modified().ok());
    times.max()?.duration_since(SystemTime::now()).ok()
}
