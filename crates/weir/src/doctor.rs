//! `weir doctor`: what of this machine and configuration would hurt a gateway, before it does.
//!
//! What it deliberately does not do: mend anything, or ask a gateway that runs (its `/metrics` do). It writes
//! one small file beside the data to see how long the disk takes, and takes it away again.

use crate::arguments::Serve;
use crate::{Failure, check, output};
use rustix::process::{Resource, getrlimit};
use std::fmt::Write;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use weir_gateway::Config;

/// Files that a gateway of some clients has open.
const FILES_MIN: u64 = 4096;
/// A sync that takes longer is felt by everyone who waits for an acknowledgement.
const SYNC_MAX: Duration = Duration::from_millis(20);
/// Syncs that are timed; the middle one counts.
const SYNCS: usize = 11;
/// What `log.retention_bytes` and `history.retention_bytes` are where they are not set.
const RETAINED: [(&str, u64); 2] = [("log", 1 << 30), ("history", 10_000_000_000)];
/// A clock before this has not been set: 2025, in seconds.
const CLOCK_MIN: Duration = Duration::from_secs(1_735_689_600);

/// How grave something is.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Good,
    Look,
    Bad,
}

struct Finding(Level, String);

/// Prints what it finds, a line each; ends with 1 where something is bad.
pub(crate) fn run(serve: &Serve) -> Result<(), Failure> {
    let config = check::read_for(serve)?;
    let data = PathBuf::from(config.text("data", "dir").unwrap_or("weir-data"));
    let mut found = of_configuration(&config, serve.open);
    found.extend(of_disk(&config, &data));
    found.push(of_files());
    found.push(of_clock());
    let mut text = String::new();
    for Finding(level, sentence) in &found {
        let level = match level {
            Level::Good => "good",
            Level::Look => "LOOK",
            Level::Bad => "BAD ",
        };
        let _infallible = writeln!(text, "{level}  {sentence}");
    }
    output::print(text)?;
    match found.iter().filter(|it| it.0 == Level::Bad).count() {
        0 => Ok(()),
        bad => Err(Failure::no(format!("{bad} of {} are bad", found.len()))),
    }
}

fn of_configuration(config: &Config, open: bool) -> Vec<Finding> {
    let problems = config.check();
    let mut found: Vec<_> = problems
        .iter()
        .map(|problem| Finding(Level::Bad, problem.to_string()))
        .collect();
    if found.is_empty() {
        found.push(Finding(Level::Good, "the configuration is right".into()));
    }
    found.push(match (config.text("access", "policy"), open) {
        (Some(policy), _) => Finding(Level::Good, format!("{policy} says who may what")),
        (None, false) => Finding(Level::Good, "no policy: it listens on loopback only".into()),
        (None, true) => Finding(Level::Look, "--open: everyone may everything".into()),
    });
    let secret = [("access", "policy"), ("tls", "key")];
    let files = secret
        .iter()
        .filter_map(|(section, key)| config.text(section, key));
    found.extend(files.filter_map(|file| of_secret(Path::new(file))));
    found
}

/// A file of secrets that others than its owner may read.
fn of_secret(file: &Path) -> Option<Finding> {
    use std::os::unix::fs::MetadataExt;
    let mode = std::fs::metadata(file).ok()?.mode() & 0o777;
    let place = file.display();
    Some(match mode & 0o077 {
        0 => Finding(Level::Good, format!("{place} is its owner's alone")),
        _ => Finding(
            Level::Look,
            format!("others may read {place} (mode {mode:o})"),
        ),
    })
}

fn of_disk(config: &Config, data: &Path) -> Vec<Finding> {
    let there = data.ancestors().find(|folder| folder.is_dir());
    let there = there.unwrap_or(Path::new("."));
    vec![of_room(config, there), of_sync(there)]
}

fn of_room(config: &Config, folder: &Path) -> Finding {
    let place = folder.display();
    let free = match rustix::fs::statvfs(folder) {
        Ok(said) => said.f_bavail.saturating_mul(said.f_frsize),
        Err(error) => return Finding(Level::Bad, format!("{place}: {error}")),
    };
    // Where history is elsewhere, that is another disk's.
    let is_elsewhere = config
        .text("store", "url")
        .is_some_and(|url| !url.is_empty());
    let here = RETAINED
        .iter()
        .filter(|(section, _)| !is_elsewhere || *section == "log");
    let kept = here.map(|(section, usual)| {
        let set = config.text(section, "retention_bytes");
        set.and_then(|text| text.parse().ok()).unwrap_or(*usual)
    });
    let kept: u64 = kept.fold(0, u64::saturating_add);
    let (free, kept) = (free >> 20, kept >> 20);
    let level = if free < kept {
        Level::Look
    } else {
        Level::Good
    };
    let sentence = format!("{place} has {free} MiB free; log and history keep up to {kept} MiB");
    Finding(level, sentence)
}

fn of_sync(folder: &Path) -> Finding {
    let file = folder.join(format!(".weir-doctor-{}", std::process::id()));
    let timed = timed(&file);
    // It is there only where it could be made.
    let _not_made = std::fs::remove_file(&file);
    let place = folder.display();
    match timed {
        Err(error) => Finding(Level::Bad, format!("{place} cannot be written: {error}")),
        Ok(took) => {
            let level = if took > SYNC_MAX {
                Level::Look
            } else {
                Level::Good
            };
            let millis = took.as_secs_f64() * 1000.0;
            let sentence =
                format!("{place} syncs in {millis:.1} ms, which acknowledgements wait for");
            Finding(level, sentence)
        }
    }
}

/// How long the disk takes for a block, in the middle.
fn timed(path: &Path) -> std::io::Result<Duration> {
    let mut options = OpenOptions::new();
    let mut file: File = options.write(true).create_new(true).open(path)?;
    let mut times = Vec::new();
    for _ in 0..SYNCS {
        let began = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times[SYNCS / 2])
}

fn of_files() -> Finding {
    let most = getrlimit(Resource::Nofile).maximum;
    let level = match most {
        Some(most) if most < FILES_MIN => Level::Look,
        _ => Level::Good,
    };
    let most = most.map_or("any number of".into(), |most| most.to_string());
    Finding(
        level,
        format!("{most} files may be open: one a connection, some for the data"),
    )
}

fn of_clock() -> Finding {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    match since.is_ok_and(|since| since >= CLOCK_MIN) {
        true => Finding(Level::Good, "the clock is set".into()),
        false => Finding(
            Level::Bad,
            "the clock is not set: times and retention are wrong".into(),
        ),
    }
}
