//! The table of the house: which crate may import which. It is `ARCHITECTURE.md`'s table as data;
//! change both in one commit.
//!
//! A crate may import what stands behind its arrow, and what that may import, and nothing else of
//! ours. `protocols/*` and the like stand for every folder below them.

use std::collections::BTreeSet;

/// A folder and the folders behind its arrow.
pub(crate) struct Arrow {
    /// Folder of the crate, `*` for any name in its last place.
    pub(crate) folder: &'static str,
    /// What it may import directly.
    pub(crate) behind: &'static [&'static str],
    /// What it may import besides as a development dependency.
    pub(crate) for_tests: &'static [&'static str],
}

const fn arrow(folder: &'static str, behind: &'static [&'static str]) -> Arrow {
    Arrow {
        folder,
        behind,
        for_tests: &["crates/testkit"],
    }
}

/// THE table.
pub(crate) const ARROWS: &[Arrow] = &[
    arrow("crates/model", &[]),
    arrow("exi", &[]),
    arrow("crates/sansio", &[]),
    arrow("crates/disk", &[]),
    arrow("crates/random", &[]),
    arrow("crates/program", &[]),
    arrow("device/link", &["crates/random"]),
    arrow("crates/geo", &[]),
    arrow("crates/advise", &[]),
    arrow("crates/codec", &["crates/model", "exi"]),
    Arrow {
        folder: "device/comet",
        behind: &["crates/sansio", "crates/model"],
        // The system's own TCP is met over a TUN device.
        for_tests: &["crates/testkit", "device/link"],
    },
    arrow("crates/websocket", &[]),
    arrow(
        "crates/carrier",
        &["crates/sansio", "crates/random", "crates/websocket"],
    ),
    arrow("crates/storage", &["crates/model"]),
    arrow(
        "crates/log",
        &["crates/model", "crates/storage", "crates/disk"],
    ),
    Arrow {
        folder: "crates/hub",
        behind: &[
            "crates/model",
            "crates/sansio",
            "crates/codec",
            "crates/storage",
        ],
        // Faults of disks are met with a real log and a real history.
        for_tests: &["crates/testkit", "crates/log", "stores/embedded"],
    },
    arrow(
        "crates/service",
        &[
            "crates/model",
            "crates/random",
            "crates/codec",
            "crates/hub",
            "crates/websocket",
        ],
    ),
    arrow(
        "crates/binding",
        &[
            "crates/model",
            "crates/sansio",
            "crates/codec",
            "crates/hub",
            "crates/service",
            "crates/carrier",
        ],
    ),
    arrow(
        "crates/registry",
        &[
            "crates/binding",
            "crates/log",
            "protocols/*",
            "services/*",
            "stores/*",
        ],
    ),
    arrow("crates/gateway", &["crates/registry"]),
    arrow("bench/model", &["device/link"]),
    arrow(
        "bench/load",
        &["bench/model", "crates/carrier", "protocols/*"],
    ),
    arrow("bench/peers", &["bench/load", "protocols/*"]),
    arrow("bench/lab", &["bench/peers", "crates/program"]),
    Arrow {
        folder: "bench/report",
        behind: &["bench/model"],
        // Pictures are read back as XML.
        for_tests: &["exi"],
    },
    arrow(
        "bench/studies",
        &[
            "bench/lab",
            "bench/report",
            "crates/registry",
            "device/sim",
            "device/board",
        ],
    ),
    arrow(
        "bench/cli",
        &["bench/studies", "crates/advise", "crates/program"],
    ),
    arrow(
        "device/sim",
        &[
            "device/comet",
            "crates/sansio",
            "device/link",
            "crates/log",
            "crates/hub",
            "protocols/*",
        ],
    ),
    arrow("device/board", &["device/comet"]),
    arrow("crates/backup", &["crates/log", "crates/disk"]),
    arrow("crates/demo", &["crates/registry"]),
    arrow(
        "crates/weir",
        &[
            "exi",
            "crates/gateway",
            "crates/backup",
            "crates/demo",
            "crates/advise",
            "crates/program",
        ],
    ),
    arrow("crates/testkit", &["crates/sansio", "crates/model"]),
    arrow("crates/wasm", &["crates/codec", "exi"]),
    arrow(
        "protocols/*",
        &[
            "crates/sansio",
            "crates/model",
            "crates/binding",
            "crates/carrier",
        ],
    ),
    // Two that open sockets and run beside what is asked of them.
    Arrow {
        folder: "services/alert",
        behind: &["crates/binding", "crates/geo", "crates/advise"],
        for_tests: &["crates/testkit", "crates/log", "stores/*"],
    },
    Arrow {
        folder: "services/dpws",
        behind: &["crates/binding", "crates/geo", "crates/advise"],
        for_tests: &["crates/testkit", "crates/log", "stores/*"],
    },
    Arrow {
        folder: "services/*",
        behind: &[
            "crates/model",
            "crates/geo",
            "crates/codec",
            "crates/hub",
            "crates/random",
            "crates/service",
            "crates/websocket",
            "crates/advise",
        ],
        // A service is asked of a hub with a log and a history.
        for_tests: &["crates/testkit", "crates/log", "stores/*"],
    },
    Arrow {
        folder: "stores/*",
        behind: &[
            "crates/codec",
            "crates/storage",
            "crates/disk",
            "crates/random",
        ],
        // A store is compared with the default one.
        for_tests: &["crates/testkit", "stores/embedded"],
    },
    arrow("exi/conformance", &["exi"]),
    arrow("xtask", &["exi"]),
];

/// The arrow that starts at a folder.
pub(crate) fn from(folder: &str) -> Option<&'static Arrow> {
    ARROWS.iter().find(|arrow| matches(arrow.folder, folder))
}

/// Says whether `folder` may import `other`, directly or through what it may import.
pub(crate) fn allowed(folder: &str, other: &str, for_tests: bool) -> bool {
    let Some(arrow) = from(folder) else {
        return false;
    };
    let extra = if for_tests { arrow.for_tests } else { &[] };
    extra.iter().any(|behind| matches(behind, other)) || behind(arrow, other, &mut BTreeSet::new())
}

fn behind(arrow: &Arrow, other: &str, seen: &mut BTreeSet<&'static str>) -> bool {
    if !seen.insert(arrow.folder) {
        return false;
    }
    let direct = arrow.behind.iter().any(|behind| matches(behind, other));
    direct
        || ARROWS
            .iter()
            .filter(|next| arrow.behind.contains(&next.folder))
            .any(|next| behind(next, other, seen))
}

/// Says whether a folder of the table means `folder`.
fn matches(pattern: &str, folder: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(parent) => folder
            .strip_prefix(parent)
            .is_some_and(|name| !name.contains('/')),
        None => pattern == folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_an_arrow_counts_all_the_way() {
        assert!(allowed("crates/gateway", "crates/model", false));
        assert!(allowed("stores/embedded", "crates/codec", false));
        assert!(allowed("crates/weir", "protocols/http", false));
    }

    #[test]
    fn no_protocol_imports_another() {
        assert!(!allowed("protocols/mqtt", "protocols/http", false));
        assert!(!allowed("services/live", "protocols/http", false));
        assert!(!allowed("crates/hub", "crates/log", false));
        assert!(!allowed("crates/model", "crates/codec", false));
    }

    #[test]
    fn the_testkit_is_for_tests() {
        assert!(allowed("protocols/http", "crates/testkit", true));
        assert!(!allowed("protocols/http", "crates/testkit", false));
    }
}
