//! Who is measured: the gateway on its disk, and the server that does nothing, which says what load and machine can do.

use std::path::Path;

use weir_bench_lab::targets::{Running, Settings, list};
use weir_bench_model::results::{CEILING, OURS};

/// One of them.
pub(super) struct Server {
    /// Its name in results.
    pub(super) name: &'static str,
    /// Whether it keeps what it is sent, and is told what it needs before it is measured.
    pub(super) keeps: bool,
}

/// All; the first is ours.
pub(super) static SERVERS: [Server; 2] = [
    Server {
        name: OURS,
        keeps: true,
    },
    Server {
        name: CEILING,
        keeps: false,
    },
];

impl Server {
    /// Starts it with a fresh folder.
    pub(super) fn start(&self, settings: &Settings, folder: &Path) -> Result<Running, String> {
        if self.keeps && settings.address.is_some() {
            return Err("absent: a gateway given by --url would keep what is measured here".into());
        }
        let target = list::named(self.name).ok_or("no such target")?;
        (target.start)(settings, folder)
    }
}
