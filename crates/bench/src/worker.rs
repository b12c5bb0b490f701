//! One load process: started with a job, watched, and measured beside its target.
//!
//! Its events tell when counting begins and ends, so CPU time covers what counts and no more.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::clock::now_ns;
use crate::limits::WORKER_SECONDS_MAX;
use crate::link::Crossed;
use crate::load::SUBCOMMAND;
use crate::load::job::{Event, Job};
use crate::process::{KernelMemory, Usage, cpu_ms_of_tree, peak_bytes_of_tree, reset_peak};
use crate::targets::{Running, Settings, this_program};

/// What a job gave, and what both sides spent on it.
pub(crate) struct Measured {
    /// The outcome, never a failure.
    pub(crate) outcome: Event,
    /// The target's side; absent for a target that is not ours.
    pub(crate) server: Option<Spent>,
    /// The load's side.
    pub(crate) load: Spent,
    /// Memory before the first connection and with all open; of idle jobs.
    pub(crate) memory: Option<(Memory, Memory)>,
    /// What crossed the link between begin and end, where there is one.
    pub(crate) crossed: Option<Crossed>,
}

/// What a side spent between begin and end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// Processors kept busy, from 0 to their number.
    pub(crate) cpus: f64,
    /// Greatest resident memory during the job, bytes.
    pub(crate) peak_bytes: u64,
}

/// Memory of a target and of the kernel at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) server: Usage,
    pub(crate) kernel: KernelMemory,
}

/// A load process, killed when dropped.
struct Worker {
    child: Child,
    input: ChildStdin,
    events: Receiver<Event>,
}

/// CPU time of both sides at one moment.
#[derive(Clone, Copy, Default)]
struct Mark {
    at_ns: u64,
    server_ms: f64,
    load_ms: f64,
}

/// Runs a job against a target; an error is the reason in words.
pub(crate) fn run(settings: &Settings, target: &Running, job: &Job) -> Result<Measured, String> {
    let server = target.pid();
    if let Some(pid) = server {
        reset_peak(pid);
    }
    let before = Memory::of(server);
    let mut worker = Worker::start(settings, job)?;
    let load = worker.child.id();
    let (mut begin, mut end) = (Mark::now(server, load), None);
    let mut memory = None;
    let mut load_peak = 0;
    let mut crossed = None;
    loop {
        match worker.next_event()? {
            Event::Begin => {
                settings.end.crossed();
                begin = Mark::now(server, load);
            }
            Event::End => {
                crossed = settings.end.crossed_so_far();
                end = Some(Mark::now(server, load));
                load_peak = peak_bytes_of_tree(load);
            }
            Event::Quiet => {
                crossed = settings.end.crossed();
                worker.go_on()?;
            }
            Event::Ready => {
                memory = Some((before, Memory::of(server)));
                load_peak = peak_bytes_of_tree(load);
                worker.go_on()?;
            }
            Event::Failed { reason } => return Err(reason),
            outcome => {
                let end = end.unwrap_or_else(|| Mark::now(server, load));
                let spent = measured(outcome, server, begin, end, load_peak, memory);
                return Ok(Measured { crossed, ..spent });
            }
        }
    }
}

fn measured(
    outcome: Event,
    server: Option<u32>,
    begin: Mark,
    end: Mark,
    load_peak: u64,
    memory: Option<(Memory, Memory)>,
) -> Measured {
    let milliseconds = (end.at_ns.saturating_sub(begin.at_ns) as f64 / 1e6).max(1.0);
    let cpus = |from: f64, to: f64| ((to - from) / milliseconds).max(0.0);
    Measured {
        outcome,
        server: server.map(|pid| Spent {
            cpus: cpus(begin.server_ms, end.server_ms),
            peak_bytes: peak_bytes_of_tree(pid),
        }),
        load: Spent {
            cpus: cpus(begin.load_ms, end.load_ms),
            peak_bytes: load_peak,
        },
        memory,
        crossed: None,
    }
}

impl Worker {
    fn start(settings: &Settings, job: &Job) -> Result<Self, String> {
        let mut command = this_program(settings)?;
        command
            .arg(SUBCOMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|e| format!("the load process: {e}"))?;
        let output = child
            .stdout
            .take()
            .ok_or("the load process has no output")?;
        let mut input = child.stdin.take().ok_or("the load process has no input")?;
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or_else(|e| Event::Failed {
                    reason: format!("{e}: {line}"),
                });
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        let line = serde_json::to_string(job).map_err(|e| e.to_string())? + "\n";
        input
            .write_all(line.as_bytes())
            .map_err(|e| format!("the load process: {e}"))?;
        Ok(Self {
            child,
            input,
            events,
        })
    }

    /// Lets it go on that waits.
    fn go_on(&mut self) -> Result<(), String> {
        let gone = |e| format!("the load: {e}");
        self.input.write_all(b"\n").map_err(gone)
    }

    fn next_event(&mut self) -> Result<Event, String> {
        self.events
            .recv_timeout(Duration::from_secs(WORKER_SECONDS_MAX))
            .map_err(|e| match e {
                std::sync::mpsc::RecvTimeoutError::Timeout => {
                    format!("the load process said nothing for {WORKER_SECONDS_MAX} s")
                }
                std::sync::mpsc::RecvTimeoutError::Disconnected => "the load process ended".into(),
            })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Mark {
    fn now(server: Option<u32>, load: u32) -> Self {
        Self {
            at_ns: now_ns(),
            server_ms: server.map_or(0.0, cpu_ms_of_tree),
            load_ms: cpu_ms_of_tree(load),
        }
    }
}

impl Memory {
    fn of(server: Option<u32>) -> Self {
        Self {
            server: server.map(Usage::of_tree).unwrap_or_default(),
            kernel: KernelMemory::now(),
        }
    }
}
