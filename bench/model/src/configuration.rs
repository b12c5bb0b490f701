//! With what targets are started: their command lines, and the files that the bench writes for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::limits::CONFIGURATIONS_MAX;

/// One way in which a program was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// What its environment has more, its program and its arguments, as for a shell.
    pub command: String,
    /// The files in its folder, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// All ways in which each target was started, by its name.
pub type Configurations = BTreeMap<String, Vec<Configuration>>;

/// What a run has started so far; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Starts(Arc<Mutex<Configurations>>);

impl Starts {
    /// Adds what another attempt at the run, or another run, has started.
    pub fn extend(&self, others: Configurations) {
        for (name, configurations) in others {
            for configuration in configurations {
                self.add(name.clone(), configuration);
            }
        }
    }

    /// All of it.
    pub fn all(&self) -> Configurations {
        self.known().clone()
    }

    /// Adds one way in which a target was started.
    pub fn add(&self, name: String, configuration: Configuration) {
        let mut known = self.known();
        let of_name = known.entry(name).or_default();
        if of_name.len() < CONFIGURATIONS_MAX && !of_name.contains(&configuration) {
            of_name.push(configuration);
        }
    }

    fn known(&self) -> MutexGuard<'_, Configurations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
