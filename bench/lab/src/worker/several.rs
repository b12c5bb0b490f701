//! Several load processes that hold one job's idle connections together, since a process may open only so many files.
//!
//! They open theirs side by side, and memory is read when all are ready. Then the first, which probes where there is a
//! probe, does its part while the others still hold theirs. What it deliberately does not do: share what is published
//! at a rate, which is one schedule's; agents do that.

use super::{Measured, Site, Spent, Watch, Worker};
use crate::agent::{cut, join};
use weir_bench_load::load::job::{Event, Job, Kind};
use weir_bench_model::limits::CONNECTIONS_A_LOAD_MAX;

/// How many load processes a job takes.
pub(super) fn processes(job: &Job) -> usize {
    match &job.kind {
        Kind::Idle(plan) => plan.connections.div_ceil(CONNECTIONS_A_LOAD_MAX).max(1),
        _ => 1,
    }
}

/// Runs a job on so many.
pub(super) fn several(mut site: Site<'_>, job: &Job, many: usize) -> Result<Measured, String> {
    let mut workers = Vec::with_capacity(many);
    for part in cut(job, many, 0)? {
        let worker = Worker::start(site.settings, &part)?;
        let watch = worker.watch();
        workers.push((worker, watch));
    }
    for (worker, watch) in &mut workers {
        make_ready(worker, watch)?;
    }
    site.saw(&Event::Ready);
    let (mut outcomes, mut load) = (Vec::with_capacity(many), Spent::default());
    for (worker, watch) in &mut workers {
        worker.go(0)?;
        outcomes.push(outcome(worker, watch, &mut site)?);
        load = load.with(watch.spent());
    }
    Ok(site.measured(join(outcomes)?, load))
}

fn make_ready(worker: &mut Worker, watch: &mut Watch) -> Result<(), String> {
    let event = worker.next_event()?;
    watch.saw(&event);
    match event {
        Event::Ready => Ok(()),
        Event::Failed { reason } => Err(reason),
        other => Err(format!("not ready but {other:?}")),
    }
}

/// What one of them gives when told to go on; what it counts is what is counted of the target.
fn outcome(worker: &mut Worker, watch: &mut Watch, site: &mut Site<'_>) -> Result<Event, String> {
    loop {
        let event = worker.next_event()?;
        watch.saw(&event);
        match event {
            Event::Begin | Event::End => site.saw(&event),
            Event::Failed { reason } => return Err(reason),
            outcome => return Ok(outcome),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_load::load::job::IdlePlan;
    use weir_bench_load::load::wire::SubscribeWire;

    fn idle(connections: usize) -> Job {
        let subscribe = SubscribeWire::Stream {
            request: String::new(),
        };
        let plan = IdlePlan {
            subscribe,
            connections,
            first: 0,
            certificate: None,
            settle_ms: 0,
            probe: None,
        };
        Job {
            address: ([127, 0, 0, 1], 1).into(),
            kind: Kind::Idle(plan),
        }
    }

    #[test]
    fn no_process_holds_more_than_its_share() {
        let of = |connections| processes(&idle(connections));
        let most = CONNECTIONS_A_LOAD_MAX;
        assert_eq!([0, 1, most, most + 1, 100_000].map(of), [1, 1, 1, 2, 20]);
    }
}
