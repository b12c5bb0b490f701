//! Where a run happened: machine, kernel, versions, settings, and what its disk can do.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::clock::now_ns;
use crate::latency::{Latency, Percentiles};

/// What a result must be read with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Environment {
    /// Model of the processor.
    pub cpu: String,
    /// Processors.
    pub cpus: usize,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Kernel name and release.
    pub kernel: String,
    /// Name of the distribution.
    pub system: String,
    /// The kernel's default TCP congestion control.
    pub congestion_control: String,
    /// Processes that ran or waited to, mean of the last minute before the run.
    pub load_before: f64,
    /// What the bench and all it starts have over other processes: their niceness.
    pub priority: String,
    /// Open files this process may have.
    pub open_files: u64,
    /// This program's version.
    pub weir: String,
    /// One 4 kB append and fdatasync after the other on the data disk, microseconds.
    pub fdatasync: Percentiles,
    /// The file system of the data disk.
    pub data_disk: String,
}

const FDATASYNCS: usize = 400;

impl Environment {
    /// Looks around; `data` is where targets keep their data.
    pub fn of(data: &Path) -> Self {
        let memory = kernel_file("/proc/meminfo");
        let memory_kib = memory
            .split_whitespace()
            .nth(1)
            .and_then(|kib| kib.parse::<u64>().ok());
        let load = kernel_file("/proc/loadavg");
        Self {
            cpu: field(&kernel_file("/proc/cpuinfo"), "model name"),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory_kib.unwrap_or(0) * 1024,
            kernel: kernel_file("/proc/sys/kernel/ostype")
                + " "
                + &kernel_file("/proc/sys/kernel/osrelease"),
            system: system_name(),
            congestion_control: kernel_file("/proc/sys/net/ipv4/tcp_congestion_control"),
            load_before: load
                .split(' ')
                .next()
                .and_then(|l| l.parse().ok())
                .unwrap_or(0.0),
            priority: priority(),
            open_files: open_files(),
            weir: env!("CARGO_PKG_VERSION").into(),
            fdatasync: fdatasync(data).unwrap_or_default(),
            data_disk: file_system(data),
        }
    }

    /// The same in lines to print.
    pub fn lines(&self) -> Vec<String> {
        let gib = self.memory_bytes as f64 / (1u64 << 30) as f64;
        let sync = &self.fdatasync;
        vec![
            format!(
                "{} x {}, {gib:.1} GiB, {}, {}",
                self.cpus, self.cpu, self.kernel, self.system
            ),
            format!(
                "congestion control {}, load before {:.2}, {}, open files {}",
                self.congestion_control, self.load_before, self.priority, self.open_files
            ),
            format!(
                "data disk {}: 4 kB append + fdatasync p50 {:.0} us, p99 {:.0} us ({:.0} a second)",
                self.data_disk,
                sync.p50,
                sync.p99,
                self.fdatasyncs_per_second()
            ),
        ]
    }

    /// How many one thread makes, one after the other.
    pub fn fdatasyncs_per_second(&self) -> f64 {
        if self.fdatasync.mean > 0.0 {
            1e6 / self.fdatasync.mean
        } else {
            0.0
        }
    }
}

/// How many files a process may open, if it asks for all.
pub fn open_files() -> u64 {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.maximum.unwrap_or(u64::MAX)
}

/// Appends to a preallocated file, as a log does, and syncs after each.
fn fdatasync(data: &Path) -> std::io::Result<Percentiles> {
    let path = data.join("fdatasync.probe");
    let mut file = std::fs::File::create(&path)?;
    file.write_all(&vec![0; 4096 * FDATASYNCS])?;
    file.sync_all()?;
    std::io::Seek::rewind(&mut file)?;
    let mut latency = Latency::new();
    for _ in 0..FDATASYNCS {
        let start = now_ns();
        file.write_all(&[1; 4096])?;
        file.sync_data()?;
        latency.record(now_ns() - start);
    }
    drop(file);
    std::fs::remove_file(&path)?;
    Ok(latency.percentiles())
}

/// The version that a program prints, first line, whichever stream it takes.
pub fn version_of(program: &str, argument: &str) -> String {
    let Ok(output) = Command::new(program).arg(argument).output() else {
        return "unknown".into();
    };
    let printed = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&printed)
        .lines()
        .next()
        .unwrap_or("unknown")
        .trim()
        .into()
}

/// The process's own niceness, and its session's, which outweighs it where the kernel groups by session.
fn priority() -> String {
    let stat = kernel_file("/proc/self/stat");
    let after_name = stat.rsplit(") ").next().unwrap_or("");
    let nice = after_name.split_whitespace().nth(16).unwrap_or("unknown");
    let group = kernel_file("/proc/self/autogroup");
    let group_nice = group.rsplit("nice ").next().filter(|nice| !nice.is_empty());
    format!(
        "nice {nice}, session nice {}",
        group_nice.unwrap_or("unknown")
    )
}

fn kernel_file(path: &str) -> String {
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .into()
}

fn field(text: &str, name: &str) -> String {
    let line = text
        .lines()
        .find(|line| line.starts_with(name))
        .unwrap_or("");
    line.split_once(':')
        .map_or("unknown", |(_, value)| value.trim())
        .into()
}

fn system_name() -> String {
    let release = kernel_file("/etc/os-release");
    let name = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.unwrap_or("unknown").trim_matches('"').into()
}

/// The type of the file system that the longest mount point above a path has.
fn file_system(path: &Path) -> String {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let mounts = kernel_file("/proc/mounts");
    let above = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let nearest = above
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(p, _)| p.len());
    nearest.map_or("unknown", |(_, kind)| kind).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_disk_is_measured_and_left_clean() {
        let directory = std::env::temp_dir().join(format!("weir-bench-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a temporary folder");
        let environment = Environment::of(&directory);
        assert!(environment.fdatasync.n == FDATASYNCS as u64);
        assert!(
            std::fs::read_dir(&directory)
                .expect("listable")
                .next()
                .is_none()
        );
        let _ = std::fs::remove_dir(&directory);
    }
}
