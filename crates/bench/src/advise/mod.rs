//! What `weir advise` rests on: runs as their folders hold them, and what could be run.
//!
//! The advising itself is `weir_advise`, which knows no experiment; here folders are read and written.
//! The decision worth arguing: only `summary.csv` and the head of `run.json` are read, so that results of
//! another version, or of another bench that writes this table, advise as well.

mod reference;

use std::path::{Path, PathBuf};

use serde_json::Value;
use weir_advise::{Library, Offer, Origin, Source, offers_of};

use crate::experiments::{EXPERIMENTS, Effort};

pub(crate) use reference::write as write_reference;

/// The table of a run's folder.
const TABLE: &str = "summary.csv";

/// What was measured: the shipped reference, unless it is left out, and behind it the runs of these
/// folders; a folder may hold runs instead.
pub fn library(results: &[PathBuf], with_reference: bool) -> Result<Library, String> {
    let mut library = match with_reference {
        true => weir_advise::reference().map_err(|fault| format!("the reference: {fault}"))?,
        false => Library::default(),
    };
    for folder in results {
        for run in runs(folder)? {
            let table = read(&run.join(TABLE))?;
            let source = source(&run, Origin::Own);
            let added = library.add(source, &table);
            added.map_err(|fault| format!("{}: {fault}", run.join(TABLE).display()))?;
        }
    }
    Ok(library)
}

/// What could be measured, by experiment.
pub fn offers() -> Vec<Offer> {
    let offer = |experiment: &crate::Experiment| {
        let cells = (experiment.cells)(Effort::Full);
        offers_of(experiment.name, cells.iter().map(String::as_str))
    };
    EXPERIMENTS.iter().map(offer).collect()
}

/// The folder itself where it is a run, else the runs in it, by name.
fn runs(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if folder.join(TABLE).is_file() {
        return Ok(vec![folder.into()]);
    }
    let listed = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let inner = listed.filter_map(|entry| Some(entry.ok()?.path()));
    let mut runs: Vec<PathBuf> = inner.filter(|path| path.join(TABLE).is_file()).collect();
    runs.sort();
    match runs.is_empty() {
        true => Err(format!(
            "{}: no run is there, and none in it",
            folder.display()
        )),
        false => Ok(runs),
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// What a run says of itself; a run without `run.json` says nothing.
fn source(run: &Path, origin: Origin) -> Source {
    let text = std::fs::read_to_string(run.join("run.json")).unwrap_or_default();
    let told: Value = serde_json::from_str(&text).unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
    let environment = &told["environment"];
    let machine = format!(
        "{} with {} processors, {}",
        word(&environment["cpu"]),
        environment["cpus"],
        word(&environment["kernel"])
    );
    Source {
        name: run.display().to_string(),
        command: word(&told["command"]),
        started: word(&told["started"]),
        machine,
        origin,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_folder_without_runs_is_named() {
        let folder = std::env::temp_dir().join(format!("weir-advise-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let error = library(std::slice::from_ref(&folder), false).err().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(
            error.ends_with("no run is there, and none in it"),
            "{error}"
        );
    }

    #[test]
    fn what_is_offered_names_every_experiment_and_the_shipped_offer_none_but_those() {
        let offered: Vec<String> = offers().into_iter().map(|offer| offer.experiment).collect();
        let known: Vec<&str> = EXPERIMENTS
            .iter()
            .map(|experiment| experiment.name)
            .collect();
        assert_eq!(offered, known);
        let shipped = weir_advise::offers();
        assert!(
            shipped
                .iter()
                .all(|offer| known.contains(&offer.experiment.as_str()))
        );
    }
}
