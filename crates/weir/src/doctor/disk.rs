//! Room and speed of the disk, and whether a gateway has the data already.

use super::finding::Finding;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use weir_gateway::Config;

/// A sync that takes longer is felt by everyone who waits for an acknowledgement.
const SYNC_MAX: Duration = Duration::from_millis(20);
/// Syncs that are timed; the middle one counts.
const SYNCS: usize = 11;
/// What `log.retention_bytes` and `history.retention_bytes` are where they are not set.
const RETAINED: [(&str, u64); 2] = [("log", 1 << 30), ("history", 10_000_000_000)];

/// Says whether a gateway runs that has this data.
pub(super) fn is_in_use(data: &Path) -> bool {
    let lock = OpenOptions::new().write(true).open(data.join("log/lock"));
    lock.is_ok_and(|lock| lock.try_lock().is_err())
}

pub(super) fn look(config: &Config, data: &Path) -> Vec<Finding> {
    let there = data.ancestors().find(|folder| folder.is_dir());
    let there = there.unwrap_or(Path::new("."));
    vec![of_room(config, there), of_sync(there), of_damage(data)]
}

/// What a start put aside, beyond what a crash had left unfinished.
fn of_damage(data: &Path) -> Finding {
    let folders = [data.to_owned(), data.join("log"), data.join("history")];
    let entries = folders.iter().filter_map(|it| std::fs::read_dir(it).ok());
    let names = entries.flatten().flatten().map(|it| it.path());
    let is_evidence = |path: &std::path::PathBuf| {
        let name = path.to_string_lossy();
        let is_torn = name.ends_with("-torn.damaged");
        name.ends_with(".lost") || (name.ends_with(".damaged") && !is_torn)
    };
    let found: Vec<_> = names.filter(is_evidence).collect();
    match found.first() {
        None => Finding::good(format!("nothing in {} was found damaged", data.display())),
        Some(first) => Finding::look(format!(
            "{} files were put aside as damaged, {} among them: look at what the gateway's log says of them, check \
             the disk, then remove them",
            found.len(),
            first.display()
        )),
    }
}

fn of_room(config: &Config, folder: &Path) -> Finding {
    let place = folder.display();
    let free = match rustix::fs::statvfs(folder) {
        Ok(said) => said.f_bavail.saturating_mul(said.f_frsize),
        Err(error) => return Finding::bad(format!("{place}: {error}")),
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
    let sentence = format!("{place} has {free} MiB free; log and history keep up to {kept} MiB");
    Finding::of(free >= kept, sentence)
}

fn of_sync(folder: &Path) -> Finding {
    let file = folder.join(format!(".weir-doctor-{}", std::process::id()));
    let timed = timed(&file);
    // It is there only where it could be made.
    let _not_made = std::fs::remove_file(&file);
    let place = folder.display();
    match timed {
        Err(error) => Finding::bad(format!("{place} cannot be written: {error}")),
        Ok(took) => {
            let millis = took.as_secs_f64() * 1000.0;
            let sentence =
                format!("{place} syncs in {millis:.1} ms, which acknowledgements wait for");
            Finding::of(took <= SYNC_MAX, sentence)
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
