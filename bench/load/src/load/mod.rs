//! The load generator: one thread, one epoll, a process of its own.
//!
//! It knows no target: a [`Job`] carries the very bytes that subscribe and publish, so a new
//! target costs nothing here. It deliberately reads only the stamp out of what arrives (the time
//! at which the message was due, found by a byte search), because on two cores that server and
//! load share each instruction spent here would be charged to the server. The decision worth
//! arguing: JSON is never parsed; a server that mangled a message beside its value would pass.

mod answer;
mod connect;
pub mod http;
mod idle;
pub mod job;
pub mod message;
mod mqtt;
mod observer;
mod observers;
mod one_by_one;
mod orchestrator;
pub mod prepare;
mod publisher;
pub mod reactor;
pub mod reads;
mod receiver;
pub mod replay;
pub mod search;
mod stamp;
mod subscriber;
mod tls;

pub mod topics;
pub mod traffic;
pub mod wire;

use std::num::NonZeroU64;

use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::thread::set_current_timer_slack;

use job::{Event, Job, Kind, Runner};
use weir_bench_model::process::die_with_parent;

pub use orchestrator::{await_orchestrator, emit, tell};

/// The hidden subcommand that turns a process into the load.
pub const SUBCOMMAND: &str = "__load";

/// Reads one job from standard input, runs it, and writes events as lines of JSON. Beside its own loads it knows
/// these tasks.
pub fn main(tasks: &[Runner]) -> i32 {
    let event = match run(tasks) {
        Ok(event) => event,
        Err(reason) => Event::Failed { reason },
    };
    let failed = matches!(event, Event::Failed { .. });
    emit(&event);
    i32::from(failed)
}

fn run(tasks: &[Runner]) -> Result<Event, String> {
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|e| format!("reading the job: {e}"))?;
    let job: Job = serde_json::from_str(&line).map_err(|e| format!("the job: {e}"))?;
    die_with_parent();
    raise_open_files();
    // The default slack of 50 us would be added to each message's due time.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    match job.kind {
        Kind::Traffic(ref plan) => {
            traffic::run(job.address, plan).map(|outcome| Event::Traffic(Box::new(outcome)))
        }
        Kind::Idle(ref plan) => idle::run(job.address, plan).map(Event::Idle),
        Kind::Topics(ref plan) => topics::run(job.address, plan).map(Event::Topics),
        Kind::Observers(ref plan) => observers::run(job.address, plan).map(Event::Observers),
        Kind::Replay(ref plan) => replay::run(job.address, plan).map(Event::Replay),
        Kind::Prepare(ref posts) => prepare::run(job.address, posts).map(|()| Event::Prepared),
        Kind::Reads(ref plan) => reads::run(job.address, plan).map(Event::Reads),
        Kind::Task { ref name, ref plan } => {
            let task = tasks.iter().find(|(task, _)| task == name);
            let (_, run) = task.ok_or_else(|| format!("the job: no task {name:?}"))?;
            Ok(run(job.address, plan))
        }
    }
}

/// Ten thousand connections need as many descriptors: take all the system gives.
pub fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
