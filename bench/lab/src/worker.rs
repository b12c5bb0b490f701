//! One load process, or several: started with a job, watched, and measured beside its target.
//!
//! Its events tell when counting begins and ends, so CPU time covers what counts and no more.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::link::{Crossed, End};
use crate::targets::{Running, Settings, this_program};
use several::{processes, several};
use weir_bench_load::load::SUBCOMMAND;
use weir_bench_load::load::job::{Event, Job, Task};
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::WORKER_SECONDS_MAX;
use weir_bench_model::process::{KernelMemory, Usage, cpu_ms_of, peak_bytes_of, reset_peak};

mod several;

/// What a job gave, and what both sides spent on it.
pub struct Measured {
    /// The outcome, never a failure.
    pub outcome: Event,
    /// The target's side; absent for a target that is not ours.
    pub server: Option<Spent>,
    /// The load's side; of agents all of them together.
    pub load: Spent,
    /// Memory before the first connection and with all open; of idle jobs.
    pub memory: Option<(Memory, Memory)>,
    /// What crossed the link between begin and end, where there is one.
    pub crossed: Option<Crossed>,
    /// How well the agents' clocks agree, where there are agents.
    pub clocks: Option<Clocks>,
}

/// How well clocks of several machines agree.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    /// Microseconds that two of them may have been apart unnoticed.
    pub bound_us: f64,
    /// Every round trip by which they were compared, microseconds.
    pub round_trips_us: Vec<f64>,
}

/// What a side spent between begin and end.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Processors kept busy, from 0 to their number.
    pub cpus: f64,
    /// Greatest resident memory during the job, bytes.
    pub peak_bytes: u64,
}

/// Memory of a target and of the kernel at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// The target's processes.
    pub server: Usage,
    /// What the kernel itself holds.
    pub kernel: KernelMemory,
}

/// A load process, killed when dropped.
pub struct Worker {
    child: Child,
    input: ChildStdin,
    events: Receiver<Event>,
}

/// What processes and those they started take between begin and end.
pub struct Watch {
    roots: Vec<u32>,
    begin: Mark,
    end: Option<Mark>,
    peak_bytes: u64,
}

/// CPU time at one moment.
#[derive(Clone, Copy)]
struct Mark {
    at_ns: u64,
    cpu_ms: f64,
}

/// The target's side of a job.
pub struct Site<'a> {
    settings: &'a Settings,
    server: Option<Watch>,
    before: Memory,
    memory: Option<(Memory, Memory)>,
    crossed: Option<Crossed>,
}

/// Runs a job against a target, here or on all agents; an error is the reason in words.
pub fn run(settings: &Settings, target: &Running, job: &Job) -> Result<Measured, String> {
    let mut site = Site::new(settings, target.roots());
    match &settings.agents {
        None => match processes(job) {
            1 => alone(site, job),
            many => several(site, job, many),
        },
        Some(_) if !matches!(settings.end, End::Local) => {
            Err("agents are not at the end of an emulated link".into())
        }
        Some(crew) => {
            let shared = crew.run(job, &mut site)?;
            let measured = site.measured(shared.outcome, shared.load);
            let clocks = Some(shared.clocks);
            Ok(Measured { clocks, ..measured })
        }
    }
}

/// The same of a task: its outcome, and what was measured beside it.
pub fn task<T: Task>(
    settings: &Settings,
    target: &Running,
    task: &T,
) -> Result<(T::Outcome, Measured), String> {
    let measured = run(settings, target, &Job::of(target.address, task))?;
    let unexpected = || format!("an unexpected outcome {:?}", measured.outcome);
    let outcome = measured.outcome.of_task::<T>().ok_or_else(unexpected)?;
    Ok((outcome, measured))
}

fn alone(mut site: Site<'_>, job: &Job) -> Result<Measured, String> {
    let mut worker = Worker::start(site.settings, job)?;
    let mut load = worker.watch();
    loop {
        let event = worker.next_event()?;
        load.saw(&event);
        site.saw(&event);
        match event {
            Event::Begin | Event::End => {}
            Event::Ready | Event::Quiet => worker.go(0)?,
            Event::Failed { reason } => return Err(reason),
            outcome => return Ok(site.measured(outcome, load.spent())),
        }
    }
}

impl<'a> Site<'a> {
    /// Before the job, of a target whose process is ours.
    fn new(settings: &'a Settings, server: Vec<u32>) -> Self {
        server.iter().copied().for_each(reset_peak);
        Self {
            settings,
            before: Memory::of(&server),
            server: (!server.is_empty()).then(|| Watch::of(server)),
            memory: None,
            crossed: None,
        }
    }

    /// What the load says changes what is looked at here.
    pub fn saw(&mut self, event: &Event) {
        match event {
            Event::Begin => _ = self.settings.end.crossed(),
            Event::End => self.crossed = self.settings.end.crossed_so_far(),
            Event::Quiet => self.crossed = self.settings.end.crossed(),
            Event::Ready => {
                let server = self.server.as_ref().map(|watch| watch.roots.as_slice());
                self.memory = Some((self.before, Memory::of(server.unwrap_or_default())));
            }
            _ => {}
        }
        if let Some(server) = &mut self.server {
            server.saw(event);
        }
    }

    fn measured(self, outcome: Event, load: Spent) -> Measured {
        Measured {
            outcome,
            server: self.server.map(|watch| watch.spent()),
            load,
            memory: self.memory,
            crossed: self.crossed,
            clocks: None,
        }
    }
}

impl Watch {
    fn of(roots: Vec<u32>) -> Self {
        Self {
            begin: Mark::now(&roots),
            roots,
            end: None,
            peak_bytes: 0,
        }
    }

    /// Counts from the begin to the end that the load tells of.
    pub fn saw(&mut self, event: &Event) {
        match event {
            Event::Begin => self.begin = Mark::now(&self.roots),
            Event::End => self.end = Some(Mark::now(&self.roots)),
            _ => {}
        }
        self.peak_bytes = self.peak_bytes.max(peak_bytes_of(&self.roots));
    }

    /// What it took until the end, or until now.
    pub fn spent(&self) -> Spent {
        let end = self.end.unwrap_or_else(|| Mark::now(&self.roots));
        let milliseconds = end.at_ns.saturating_sub(self.begin.at_ns) as f64 / 1e6;
        let cpus = (end.cpu_ms - self.begin.cpu_ms) / milliseconds.max(1.0);
        Spent {
            cpus: cpus.max(0.0),
            peak_bytes: self.peak_bytes,
        }
    }
}

impl Spent {
    /// Both together.
    pub fn with(self, other: Self) -> Self {
        Self {
            cpus: self.cpus + other.cpus,
            peak_bytes: self.peak_bytes + other.peak_bytes,
        }
    }
}

impl Worker {
    /// Starts it with its job.
    pub fn start(settings: &Settings, job: &Job) -> Result<Self, String> {
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

    /// What it takes from now on.
    pub fn watch(&self) -> Watch {
        Watch::of(vec![self.child.id()])
    }

    /// Tells it, which is ready, to go on: from this moment of its clock, if it shares a schedule.
    pub fn go(&mut self, base_ns: u64) -> Result<(), String> {
        let told = self.input.write_all(format!("{base_ns}\n").as_bytes());
        told.map_err(|e| format!("the load: {e}"))
    }

    /// What it says next.
    pub fn next_event(&mut self) -> Result<Event, String> {
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
    fn now(roots: &[u32]) -> Self {
        Self {
            at_ns: now_ns(),
            cpu_ms: cpu_ms_of(roots),
        }
    }
}

impl Memory {
    fn of(server: &[u32]) -> Self {
        Self {
            server: Usage::of(server),
            kernel: KernelMemory::now(),
        }
    }
}
