//! What the kernel says of a process and its children: CPU time and memory, from /proc.
//!
//! Linux only; elsewhere every figure is absent and the report says so.

use rustix::process::{Signal, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};

/// Asks the kernel to kill this process when the thread that started it ends.
pub fn die_with_parent() {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// What this machine's processors have done since it started, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Processors {
    busy: u64,
    all: u64,
}

impl Processors {
    /// Reads it now.
    pub fn now() -> Self {
        Self::read(&read("/proc/stat"))
    }

    /// The first line of `/proc/stat` (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal. What runs
    /// niced is not counted as busy: it gives way to whatever is measured.
    fn read(stat: &str) -> Self {
        let line = stat.lines().next().unwrap_or_default();
        let words = line.split_ascii_whitespace().skip(1).take(8);
        let ticks: Vec<u64> = words.map(|word| word.parse().unwrap_or(0)).collect();
        let all = ticks.iter().sum();
        let niced = ticks.get(1).copied().unwrap_or(0);
        let idle: u64 = ticks.iter().skip(3).take(2).sum();
        Self {
            busy: all - idle - niced,
            all,
        }
    }

    /// The share of them that was busy since then, whoever kept it busy (niced work does not).
    pub fn share_since(self, before: Self) -> f64 {
        let all = self.all.saturating_sub(before.all).max(1);
        self.busy.saturating_sub(before.busy) as f64 / all as f64
    }
}

/// Memory of a process tree at one moment.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Resident memory, bytes.
    pub resident_bytes: u64,
    /// Proportional share of resident memory, bytes.
    pub proportional_bytes: u64,
}

/// Memory that the kernel itself holds, of all processes together.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct KernelMemory {
    /// Slab, bytes (`/proc/meminfo`).
    pub slab_bytes: u64,
    /// TCP buffers, bytes (`/proc/net/sockstat`).
    pub socket_bytes: u64,
}

impl Usage {
    /// Reads processes and all their descendants.
    pub fn of(roots: &[u32]) -> Self {
        let mut sum = Self::default();
        for pid in roots.iter().flat_map(|&root| tree(root)) {
            let usage = Self::of_one(pid);
            sum.resident_bytes += usage.resident_bytes;
            sum.proportional_bytes += usage.proportional_bytes;
        }
        sum
    }

    fn of_one(pid: u32) -> Self {
        let read = |name: &str| read(&format!("/proc/{pid}/{name}"));
        let status = read("status");
        Self {
            resident_bytes: kibibytes(&status, "VmRSS:"),
            proportional_bytes: kibibytes(&read("smaps_rollup"), "Pss:"),
        }
    }
}

impl KernelMemory {
    /// Reads it now.
    pub fn now() -> Self {
        let pages = socket_pages(&read("/proc/net/sockstat"));
        let page_bytes = rustix::param::page_size() as u64;
        Self {
            slab_bytes: kibibytes(&read("/proc/meminfo"), "Slab:"),
            socket_bytes: pages * page_bytes,
        }
    }
}

/// CPU time of several process trees, milliseconds.
pub fn cpu_ms_of(roots: &[u32]) -> f64 {
    roots.iter().copied().map(cpu_ms_of_tree).sum()
}

/// CPU time of a process tree, milliseconds: the cheap part of [`Usage`].
pub fn cpu_ms_of_tree(root: u32) -> f64 {
    tree(root).into_iter().map(cpu_ms_of_one).sum()
}

/// Of one process. Its ticks count threads that have ended, too, but no less than 10 ms; what the scheduler
/// tells of each thread that runs counts nanoseconds. Neither is too much.
fn cpu_ms_of_one(pid: u32) -> f64 {
    let of_thread = |thread| ran_ms(&read(&format!("{thread}/schedstat")));
    let threads: f64 = threads(pid).map(of_thread).sum();
    threads.max(cpu_ms(&read(&format!("/proc/{pid}/stat"))))
}

/// Greatest resident memory of several process trees since [`reset_peak`], bytes.
pub fn peak_bytes_of(roots: &[u32]) -> u64 {
    roots.iter().copied().map(peak_bytes_of_tree).sum()
}

/// Greatest resident memory of a process tree since [`reset_peak`], bytes.
pub fn peak_bytes_of_tree(root: u32) -> u64 {
    tree(root).into_iter().map(peak_bytes).sum()
}

/// The same of a process without its children.
pub fn peak_bytes(pid: u32) -> u64 {
    kibibytes(&read(&format!("/proc/{pid}/status")), "VmHWM:")
}

/// Lets the peak of a process tree begin anew.
pub fn reset_peak(root: u32) {
    tree(root).into_iter().for_each(reset_peak_of_one);
}

/// The same of a process without its children.
pub fn reset_peak_of_one(pid: u32) {
    // Only the owner may; the peak is then that since the start, which is still an upper bound.
    let _ = std::fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

fn tree(root: u32) -> Vec<u32> {
    let mut pids = vec![root];
    let mut next = 0;
    while let Some(&pid) = pids.get(next) {
        pids.extend(children(pid));
        next += 1;
    }
    pids
}

/// The children of all its threads: a virtual machine starts programs from any of them.
fn children(pid: u32) -> Vec<u32> {
    let of_thread = |thread| {
        let children = read(&format!("{thread}/children"));
        let pids = children.split_whitespace();
        pids.filter_map(|child| child.parse().ok())
            .collect::<Vec<_>>()
    };
    threads(pid).flat_map(of_thread).collect()
}

/// The folders of a process's threads.
fn threads(pid: u32) -> impl Iterator<Item = String> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().flatten();
    threads.map(|thread| thread.path().display().to_string())
}

/// From a thread's `schedstat`, whose first field is the nanoseconds that it ran.
fn ran_ms(schedstat: &str) -> f64 {
    let ran = schedstat.split_whitespace().next();
    let ran = ran.and_then(|ns| ns.parse::<f64>().ok());
    ran.unwrap_or(0.0) / 1e6
}

/// From `stat` (fields 14 and 15, proc(5)) in ticks of 10 ms, which every Linux has.
fn cpu_ms(stat: &str) -> f64 {
    let after_name = stat.rsplit(") ").next().unwrap_or("");
    let mut fields = after_name.split_whitespace().skip(11);
    let mut ticks = || {
        fields
            .next()
            .and_then(|f| f.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let user = ticks();
    (user + ticks()) * 1e3 / rustix::param::clock_ticks_per_second() as f64
}

fn kibibytes(text: &str, name: &str) -> u64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap_or("");
    let number = line
        .split_whitespace()
        .next()
        .and_then(|n| n.parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}

fn socket_pages(sockstat: &str) -> u64 {
    let tcp = sockstat
        .lines()
        .find(|line| line.starts_with("TCP:"))
        .unwrap_or("");
    let mem = tcp
        .split_once("mem ")
        .and_then(|(_, rest)| rest.split_whitespace().next());
    mem.and_then(|pages| pages.parse().ok()).unwrap_or(0)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_past_a_name_with_spaces_and_brackets() {
        let stat = "7 (a (b) c) S 1 1 1 0 -1 0 9 0 0 0 150 50 0 0 20 0 1 0 5 0 0";
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(cpu_ms(stat), 200.0 * 1e3 / ticks);
    }

    #[test]
    fn processors_that_wait_for_a_disk_are_not_busy() {
        let of = |line: &str| Processors::read(&format!("{line}\ncpu0 9 9 9 9 9 9 9 9\n"));
        let before = of("cpu  100 0 50 800 40 0 5 5 77 0");
        let after = of("cpu  120 0 60 860 50 0 5 5 99 0");
        assert_eq!(after.share_since(before), 0.3);
        let beside_niced_work = of("cpu  120 70 60 860 50 0 5 5 99 0");
        assert_eq!(beside_niced_work.share_since(after), 0.0);
        assert_eq!(before.share_since(before), 0.0);
    }

    #[test]
    fn a_thread_that_ran_less_than_a_tick_is_seen() {
        assert_eq!(ran_ms("93748 8680430 2\n"), 0.093_748);
        assert_eq!(ran_ms(""), 0.0);
    }

    #[test]
    fn socket_memory_is_counted_in_pages() {
        assert_eq!(
            socket_pages("UDP: inuse 1 mem 9\nTCP: inuse 5 orphan 0 tw 0 alloc 7 mem 3\n"),
            3
        );
    }

    #[test]
    fn children_of_every_thread_are_counted() {
        let started = std::thread::spawn(|| {
            let mut sleeper = std::process::Command::new("sleep");
            let sleeper = sleeper.arg("60").spawn().expect("sleep");
            let found = tree(std::process::id()).contains(&sleeper.id());
            (sleeper, found)
        });
        let (mut sleeper, found) = started.join().expect("the thread ends");
        let ended = sleeper.kill().and_then(|()| sleeper.wait());
        assert!(found && ended.is_ok());
    }

    #[test]
    fn this_process_uses_memory() {
        let pid = std::process::id();
        assert!(Usage::of(&[pid]).resident_bytes > 0);
        assert!(peak_bytes_of_tree(pid) > 0);
    }
}
