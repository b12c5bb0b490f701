//! Targets that are started when they are first wanted, each with a folder of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::sample::Sample;
use crate::targets::Running;
use weir_bench_model::clock::now_ns;
use weir_bench_model::journal::Versions;

/// Starts something in a fresh folder below another.
pub fn start_fresh(
    below: &Path,
    name: &str,
    start: impl FnOnce(&Path) -> Result<Running, String>,
) -> Result<Running, String> {
    let folder = below.join(format!("{name}-{}", now_ns()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    start(&folder)
}

/// What it says it is, or why it does not run.
pub fn version(running: &Result<Running, String>) -> String {
    let version = running.as_ref().map(|running| running.version.clone());
    version.unwrap_or_else(|reason| reason.clone())
}

/// The targets of one cell.
pub struct Started {
    folder: PathBuf,
    running: BTreeMap<&'static str, Result<Running, String>>,
    versions: Versions,
}

impl Started {
    /// None yet; each will have its folder below this one.
    pub fn below(folder: &Path) -> Self {
        Self {
            folder: folder.into(),
            running: BTreeMap::new(),
            versions: Versions::new(),
        }
    }

    /// Measures a target, which is started if it does not run. Whatever state one is in that failed, the
    /// next round gets a fresh one; what could not be started is not tried again.
    pub fn sample(
        &mut self,
        name: &'static str,
        start: impl FnOnce(&Path) -> Result<Running, String>,
        sample: impl FnOnce(&Running) -> Result<Sample, String>,
    ) -> Result<Sample, String> {
        let folder = &self.folder;
        let start = || start_fresh(folder, name, start);
        let running = self.running.entry(name).or_insert_with(start);
        let versions = self.versions.entry(name.into());
        versions.or_insert_with(|| version(running));
        let sample = sample(running.as_ref().map_err(Clone::clone)?);
        if sample.is_err() {
            self.running.remove(name);
        }
        sample
    }

    /// Ends one that runs, so that the next round gets one that has held nothing yet.
    pub fn end(&mut self, name: &str) {
        if self.runs(name) {
            self.running.remove(name);
        }
    }

    /// Whether one has been started and still runs.
    pub fn runs(&self, name: &str) -> bool {
        matches!(self.running.get(name), Some(Ok(_)))
    }

    /// Adds what they say they are; what is known already stays.
    pub fn tell(&self, targets: &mut Versions) {
        for (name, version) in &self.versions {
            let known = targets.entry(name.clone());
            known.or_insert_with(|| version.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_failed_is_started_again_and_what_is_absent_is_not() {
        let below = std::env::temp_dir().join(format!("weir-started-{}", now_ns()));
        let mut started = Started::below(&below);
        let (good, bad) = (Cell::new(0), Cell::new(0));
        let absent = |_: &Path| {
            bad.set(bad.get() + 1);
            Err("absent: it".into())
        };
        for fails in [false, true, false, false] {
            let start = |_: &Path| {
                good.set(good.get() + 1);
                let address = ([127, 0, 0, 1], 9).into();
                Ok(Running::elsewhere(address, "1.0"))
            };
            let sample = |_: &Running| match fails {
                true => Err("it hung".into()),
                false => Ok(Sample::default()),
            };
            assert_eq!(started.sample("good", start, sample).is_err(), fails);
            let never = started.sample("bad", absent, |_| Ok(Sample::default()));
            assert_eq!(never.err().as_deref(), Some("absent: it"));
        }
        assert_eq!((good.get(), bad.get()), (2, 1));
        started.end("good");
        started.end("bad");
        assert!(!started.runs("good"));
        let never = started.sample("bad", absent, |_| Ok(Sample::default()));
        assert_eq!(
            (never.is_err(), bad.get()),
            (true, 1),
            "an end is no other try"
        );
        let mut told = Versions::new();
        started.tell(&mut told);
        let told: Vec<_> = told.into_iter().collect();
        let expected = [("bad", "absent: it"), ("good", "1.0")];
        assert_eq!(told, expected.map(|(name, it)| (name.into(), it.into())));
        let _ = std::fs::remove_dir_all(below);
    }
}
