//! What a run has finished, on disk as soon as it is: a line a cell in `cells.jsonl`.
//!
//! A run that was killed goes on behind its last line (`--resume`); at the end the samples in it become
//! `samples.parquet` and the file goes. What it deliberately does not keep: half a cell, whose targets
//! would not be the ones it began with. The decision worth arguing: samples wait in text on the disk
//! and not in columns, because a sheet of columns without its end is unreadable.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::calendar::utc_now;
use crate::clock::now_ns;
use crate::configuration::{Configurations, Starts};
use crate::link_used::LinkUsed;
use crate::results::{CellResult, RUN, Run};
use crate::samples::{SHEET, Series, Sheet};

/// Its name in the run's folder.
const FILE: &str = "cells.jsonl";

/// What makes two invocations the same run, by name: command, seed, version.
pub type Terms = BTreeMap<String, String>;
/// Versions of targets, or why they are absent.
pub type Versions = BTreeMap<String, String>;

/// The finished cells of a run.
pub struct Journal(Mutex<Pages>);

struct Pages {
    /// Where lines go; `None`: nowhere.
    file: Option<(PathBuf, File)>,
    /// What an earlier attempt finished, without its samples.
    kept: BTreeMap<String, Line>,
    /// What links were like, in all attempts.
    links: BTreeMap<String, LinkUsed>,
    /// With what programs were started, in all attempts.
    starts: Starts,
    /// How many of them are on the disk.
    starts_written: usize,
    /// When the first attempt began.
    started: String,
    /// Seconds that earlier attempts took until their last line.
    seconds_before: f64,
    began_ns: u64,
    /// The first line that could not be written.
    fault: Option<String>,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    terms: Terms,
    started: String,
}

/// A finished cell, or a group of cells that are finished together.
#[derive(Default, Serialize, Deserialize)]
struct Line {
    key: String,
    /// Since the first attempt began, without the time between attempts.
    seconds: f64,
    targets: Versions,
    results: Vec<CellResult>,
    /// Of each result.
    samples: Vec<Vec<Series>>,
    /// Links that were made and measured; these have a line of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    links: BTreeMap<String, LinkUsed>,
    /// With what all programs were started until then, where that is more than before.
    #[serde(default, skip_serializing_if = "Configurations::is_empty")]
    started: Configurations,
}

fn nothing_to_resume(folder: &Path, error: &std::io::Error) -> String {
    let why = match folder.join(RUN).exists() {
        true => "its run is finished".into(),
        false => error.to_string(),
    };
    format!("nothing to resume in {}: {why}", folder.display())
}

impl Journal {
    /// One that keeps nothing.
    pub fn none() -> Self {
        Self(Mutex::new(Pages::new(None, utc_now())))
    }

    /// A new one in a folder, which must hold no unfinished run.
    pub fn begin(folder: &Path, terms: &Terms) -> Result<Self, String> {
        let path = folder.join(FILE);
        if Self::is_in(folder) {
            let shown = folder.display();
            return Err(format!(
                "{shown} holds an unfinished run: --resume goes on with it; or give another --out"
            ));
        }
        let started = utc_now();
        let head = Head {
            terms: terms.clone(),
            started: started.clone(),
        };
        let file = File::create(&path).map_err(|e| at(&path, &e))?;
        let mut pages = Pages::new(Some((path, file)), started);
        pages.write(&head)?;
        Ok(Self(Mutex::new(pages)))
    }

    /// Whether a folder holds an unfinished run.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FILE).exists()
    }

    /// Goes on behind the last whole line of a folder's unfinished run; an error says what differs.
    pub fn resume(folder: &Path, terms: &Terms) -> Result<Self, String> {
        let path = folder.join(FILE);
        let file = File::open(&path).map_err(|e| nothing_to_resume(folder, &e))?;
        let mut lines = Lines::new(BufReader::new(file));
        let head: Head = lines.next().ok_or_else(|| at(&path, &"no head"))?;
        let differing = differing(&head.terms, terms);
        if !differing.is_empty() {
            return Err(format!("{} is another run: {differing}", folder.display()));
        }
        let mut pages = Pages::new(None, head.started);
        while let Some(mut line) = lines.next::<Line>() {
            line.samples.clear();
            pages.seconds_before = line.seconds;
            pages.links.append(&mut line.links);
            pages.starts.extend(std::mem::take(&mut line.started));
            pages.kept.insert(line.key.clone(), line);
        }
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|e| at(&path, &e))?;
        // What was being written when the run was killed.
        file.set_len(lines.whole_bytes).map_err(|e| at(&path, &e))?;
        pages.file = Some((path, file));
        Ok(Self(Mutex::new(pages)))
    }

    /// What an earlier attempt found in a cell, or what `measure` finds now, which is kept first.
    /// Versions of targets are added to `targets`; those that it knows stay.
    pub fn cell(
        &self,
        key: &str,
        targets: &mut Versions,
        measure: impl FnOnce(&mut Versions) -> Vec<CellResult>,
    ) -> Vec<CellResult> {
        let kept = self.pages().kept.remove(key);
        let line = kept.unwrap_or_else(|| {
            let mut found = Versions::new();
            let mut results = measure(&mut found);
            self.keep(key, found, &mut results)
        });
        for (name, version) in line.targets {
            targets.entry(name).or_insert(version);
        }
        line.results
    }

    /// Whether an earlier attempt has finished a cell.
    pub fn has(&self, key: &str) -> bool {
        self.pages().kept.contains_key(key)
    }

    /// Keeps what a link was like before it was used: cells on it may be all that an attempt finishes.
    /// One of several links of a name that is refused says nothing of those that are used.
    pub fn keep_link(&self, name: &str, used: &LinkUsed) {
        let is_sound = |it: &LinkUsed| it.fault.is_none();
        if !is_sound(used) && self.pages().links.get(name).is_some_and(is_sound) {
            return;
        }
        let links = BTreeMap::from([(name.to_owned(), used.clone())]);
        let mut pages = self.pages();
        let line = Line {
            seconds: pages.seconds(),
            links: links.clone(),
            ..Line::default()
        };
        pages.links.extend(links);
        pages.write_on(&line);
    }

    /// What the links were like that this attempt and those before it made.
    pub fn links(&self) -> BTreeMap<String, LinkUsed> {
        self.pages().links.clone()
    }

    /// Keeps from now on with what programs are started; those of earlier attempts are added.
    pub fn note(&self, starts: &Starts) {
        let mut pages = self.pages();
        starts.extend(pages.starts.all());
        pages.starts = starts.clone();
    }

    /// When the run began, and how many seconds its earlier attempts took.
    pub fn before(&self) -> (String, f64) {
        let pages = self.pages();
        (pages.started.clone(), pages.seconds_before)
    }

    /// Makes the sheet of all samples, those in `run` that no cell has kept included.
    pub fn sheet(&self, run: &mut Run) -> Result<(), String> {
        drop(self.keep("", Versions::new(), &mut run.results));
        let pages = self.pages();
        if let Some(fault) = &pages.fault {
            return Err(fault.clone());
        }
        let Some((path, _)) = &pages.file else {
            return Ok(());
        };
        let file = File::open(path).map_err(|e| at(path, &e))?;
        let mut lines = Lines::new(BufReader::new(file));
        let _: Option<Head> = lines.next();
        let mut sheet = Sheet::create(&path.with_file_name(SHEET), &run.experiment)?;
        while let Some(line) = lines.next::<Line>() {
            for (result, samples) in line.results.iter().zip(&line.samples) {
                sheet.add(&result.cell, &result.target, samples)?;
            }
        }
        sheet.finish()
    }

    /// Removes the file: the run is whole and lies beside it.
    pub fn close(self) {
        if let Some((path, _)) = &self.pages().file {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Writes a line; its samples are then on the disk alone.
    fn keep(&self, key: &str, targets: Versions, results: &mut [CellResult]) -> Line {
        let samples = results.iter_mut().map(|r| std::mem::take(&mut r.samples));
        let mut pages = self.pages();
        let mut line = Line {
            key: key.into(),
            seconds: pages.seconds(),
            targets,
            samples: samples.collect(),
            results: results.to_vec(),
            links: BTreeMap::new(),
            started: pages.started_since(),
        };
        pages.write_on(&line);
        line.samples.clear();
        line
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        // Whoever panicked had written whole lines or none.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn new(file: Option<(PathBuf, File)>, started: String) -> Self {
        Self {
            file,
            kept: BTreeMap::new(),
            links: BTreeMap::new(),
            starts: Starts::default(),
            starts_written: 0,
            started,
            seconds_before: 0.0,
            began_ns: now_ns(),
            fault: None,
        }
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + (now_ns() - self.began_ns) as f64 / 1e9
    }

    /// With what all programs were started, where it is more than is on the disk.
    fn started_since(&mut self) -> Configurations {
        let all = self.starts.all();
        let count = all.values().map(Vec::len).sum();
        match std::mem::replace(&mut self.starts_written, count) == count {
            true => Configurations::new(),
            false => all,
        }
    }

    /// The same, for what a run can do without.
    fn write_on(&mut self, line: &Line) {
        if let Err(fault) = self.write(line) {
            eprintln!("{fault}: the run goes on, but cannot be resumed");
            self.fault.get_or_insert(fault);
        }
    }

    /// One write a line, so that a kill leaves whole lines and at most one torn.
    fn write<T: Serialize>(&mut self, line: &T) -> Result<(), String> {
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        let text = serde_json::to_string(line).map_err(|e| at(path, &e))? + "\n";
        file.write_all(text.as_bytes()).map_err(|e| at(path, &e))
    }
}

/// Whole lines of a file, and how many bytes they take.
struct Lines<R> {
    input: R,
    whole_bytes: u64,
}

impl<R: BufRead> Lines<R> {
    fn new(input: R) -> Self {
        Self {
            input,
            whole_bytes: 0,
        }
    }

    /// The next line; nothing at the end and of what is torn.
    fn next<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        let mut line = Vec::new();
        let len = self.input.read_until(b'\n', &mut line).ok()?;
        let read = serde_json::from_slice(line.strip_suffix(b"\n")?).ok()?;
        self.whole_bytes += len as u64;
        Some(read)
    }
}

/// What differs between two runs, in words.
fn differing(before: &Terms, now: &Terms) -> String {
    let none = String::new();
    let names: std::collections::BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let both = names.into_iter().map(|name| {
        let of = |terms: &'_ Terms| terms.get(name).unwrap_or(&none).clone();
        (name, of(before), of(now))
    });
    let differing = both.filter(|(_, before, now)| before != now);
    let told = differing.map(|(name, before, now)| format!("{name} was {before:?}, is {now:?}"));
    told.collect::<Vec<_>>().join("; ")
}

fn at(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests;
