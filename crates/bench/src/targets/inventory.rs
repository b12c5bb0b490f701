//! Which targets are here, and what would bring those that are not.

use serde::Serialize;

use super::{Settings, TARGETS};

/// A target and whether it is here.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Found {
    /// Its name in results.
    pub(crate) name: &'static str,
    /// What it is, in a sentence.
    pub(crate) about: &'static str,
    /// What it says it is; absent where it is.
    pub(crate) version: Option<String>,
    /// Why it is absent, and what brings it.
    pub(crate) absent: Option<String>,
}

/// Looks for all targets; none is started.
pub(crate) fn inventory(settings: &Settings) -> Vec<Found> {
    let found = TARGETS.iter().map(|target| {
        let looked = (target.look)(settings);
        Found {
            name: target.name,
            about: target.about,
            absent: looked.as_ref().err().cloned(),
            version: looked.ok(),
        }
    });
    found.collect()
}

impl Found {
    /// A line to print.
    pub(crate) fn line(&self) -> String {
        let Self { name, about, .. } = self;
        let state = self.version.as_ref().or(self.absent.as_ref());
        let state = state.map_or("", String::as_str);
        format!("{name}: {about}\n    {state}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_here_or_says_what_brings_it() {
        for found in inventory(&Settings::default()) {
            let absent = found.absent.as_deref().unwrap_or("absent: ");
            assert!(absent.starts_with("absent: "), "{found:?}");
            assert_ne!(found.version.is_some(), found.absent.is_some());
        }
    }
}
