//! What tests of whole gateways share: a folder that goes with its test, and listeners in nobody's way.
#![allow(clippy::unwrap_used)]

use crate::config::Config;
use crate::run::bindings;
use std::path::{Path, PathBuf};
use weir_binding::Transport;

/// A folder that goes with its test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("weir-{name}-{}", std::process::id()));
        Self(folder)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Data here, and every listener of every binding at this address; nowhere if it is empty. Tests run
    /// beside each other, and beside programs that have the usual ports.
    pub(crate) fn config(&self, listen: &str) -> Config {
        let mut config = Config::default();
        let data = format!("data.dir={}", self.0.display());
        config.set(&data).unwrap();
        for (section, binding) in bindings(&config).unwrap() {
            let transports = binding.transports();
            for (key, _) in transports.iter().filter_map(Transport::listens) {
                config.set(&format!("{section}.{key}={listen}")).unwrap();
            }
        }
        config
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind is in the system's folder for that.
        let _as_far_as_possible = std::fs::remove_dir_all(&self.0);
    }
}
