//! How much memory there is for messages, and for the catalog: parts of what this process may have.
//!
//! What a machine has, or a container or a control group lets a process have: whoever takes more is
//! killed. The rest is for what is not counted: sockets, a history that is read, and what an
//! allocator cannot give back.

use crate::config::Config;
use std::path::{Path, PathBuf};
use weir_binding::ConfigFault;

/// The part that messages may take, all together, and the catalog as much.
const PART: usize = 4;
/// The part of that which may wait for the disk, of the log and again of the history.
const PENDING_PART: usize = 4;
/// Bytes that may wait for the disk, however much memory there is.
const PENDING_BYTES_MAX: usize = 32 << 20;
/// The least that is of use.
const BYTES_MIN: usize = 1 << 20;

/// Bytes that messages may take: what the configuration says, else a quarter of what there is.
pub(crate) fn of_messages(config: &Config) -> Result<usize, ConfigFault> {
    part(config, "memory_bytes")
}

/// Bytes that the catalog may take: names, descriptions and last values.
pub(crate) fn of_catalog(config: &Config) -> Result<usize, ConfigFault> {
    part(config, "catalog_bytes")
}

fn part(config: &Config, key: &'static str) -> Result<usize, ConfigFault> {
    let mut section = config.section("gateway");
    let set = section.parsed(key, 0, "a number of bytes")?;
    match set {
        0 => Ok((there_is(Path::new("/")) / PART).max(BYTES_MIN)),
        set if set < BYTES_MIN => {
            let problem = format!("expected {BYTES_MIN} or more, found `{set}`");
            Err(section.fault(key, problem))
        }
        set => Ok(set),
    }
}

/// Bytes that may wait for the disk.
pub(crate) fn pending(of_messages: usize) -> usize {
    (of_messages / PENDING_PART).min(PENDING_BYTES_MAX)
}

/// Bytes of memory that this process may have, as the files below this root say; without end where nothing
/// says so.
pub fn there_is(root: &Path) -> usize {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let of_groups = groups.lines().filter_map(|line| of_group(root, line));
    of_groups
        .chain(of_machine(root))
        .chain(of_process(root))
        .min()
        .unwrap_or(usize::MAX)
}

/// `MemTotal:  24576000 kB`.
fn of_machine(root: &Path) -> Option<usize> {
    let said = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let total = said
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: usize = total.split_whitespace().next()?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// What `ulimit -v` or `ulimit -d` lets the process have: `Max address space  900000000  unlimited  bytes`.
fn of_process(root: &Path) -> Option<usize> {
    let limits = std::fs::read_to_string(root.join("proc/self/limits")).ok()?;
    let of = |name: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let both = [of("Max address space"), of("Max data size")];
    both.into_iter().flatten().min()
}

/// The least limit of a control group and those around it: `0::/path` of the second hierarchy, or
/// `4:memory:/path` of the first.
fn of_group(root: &Path, line: &str) -> Option<usize> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let (mount, file) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        some if some.split(',').any(|it| it == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let mount = root.join(mount);
    let inner: PathBuf = mount.join(path.trim_start_matches('/'));
    // In a container the path may be of the machine around it: then the mount is the group.
    let around = inner.ancestors().take_while(|it| it.starts_with(&mount));
    let limits = around.filter_map(|folder| {
        let text = std::fs::read_to_string(folder.join(file)).ok()?;
        text.trim().parse().ok()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::Folder;

    fn root(name: &str, files: &[(&str, &str)]) -> Folder {
        let folder = Folder::new(name);
        for (file, text) in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal:   1024 kB\nMemFree: 1 kB\n");

    #[test]
    fn the_least_of_machine_and_groups_counts() {
        let machine = root("memory-machine", &[MACHINE]);
        assert_eq!(there_is(machine.path()), 1 << 20);
        let second = [
            MACHINE,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/memory.max", "5000\n"),
        ];
        assert_eq!(there_is(root("memory-second", &second).path()), 5000);
        let first = [
            MACHINE,
            ("proc/self/cgroup", "7:cpu:/x\n4:memory:/a\n0::/\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "7000\n"),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
        ];
        assert_eq!(there_is(root("memory-first", &first).path()), 7000);
        let contained = [
            MACHINE,
            ("proc/self/cgroup", "0::/of/the/host\n"),
            ("sys/fs/cgroup/memory.max", "6000\n"),
        ];
        assert_eq!(there_is(root("memory-contained", &contained).path()), 6000);
        let limited = [
            MACHINE,
            (
                "proc/self/limits",
                "Limit  Soft Limit  Hard Limit  Units\n\
                 Max data size  unlimited  unlimited  bytes\n\
                 Max address space  4000  unlimited  bytes\n",
            ),
        ];
        assert_eq!(there_is(root("memory-limited", &limited).path()), 4000);
        assert_eq!(there_is(Path::new("/nowhere")), usize::MAX);
    }

    #[test]
    fn what_is_set_counts() {
        let mut config = Config::default();
        config.set("gateway.memory_bytes=50000000").unwrap();
        assert_eq!(of_messages(&config), Ok(50_000_000));
        assert_eq!(pending(50_000_000), 12_500_000);
        config.set("gateway.memory_bytes=5").unwrap();
        assert_eq!(
            of_messages(&config).unwrap_err().key,
            "gateway.memory_bytes"
        );
        config.set("gateway.catalog_bytes=70000000").unwrap();
        assert_eq!(of_catalog(&config), Ok(70_000_000));
    }
}
