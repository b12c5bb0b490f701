//! Executes a plan: cell by cell, round by round, contender by contender.
//!
//! Each cell starts its targets afresh and keeps them running over its rounds, so that two
//! systems are compared within seconds of each other and none inherits another cell's state.
//! What fails stays in the results with its reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cell::{Cell, Contender, Scheme, Work};
use crate::clock::now_ns;
use crate::experiments::Order;
use crate::journal::Versions;
use crate::load::job::{IdlePlan, Job, Kind, ReplayPlan, TrafficPlan};
use crate::merge::{Round, merge};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::results::{CellResult, Run};
use crate::sample::Sample;
use crate::targets::{Running, Settings, TARGETS, Target};
use crate::verdict::{goals, mark_ceiling, ratios};
use crate::worker;

/// Milliseconds idle connections settle before memory is read.
const IDLE_SETTLE_MS: u64 = 1000;

/// Where single observations are published.
const TOPIC: &str = "bench/x";
/// Where batches are published, whose observations lie under [`REPLAY_TOPIC`].
const INGEST_TOPIC: &str = "bench";
/// Where batches are published that will be read back.
pub(crate) const REPLAY_TOPIC: &str = "bench/batch";

/// Runs all cells; the order's folder holds the targets' data while they run.
pub(crate) fn execute(plan: &Plan, order: &Order<'_>) -> Run {
    let started = now_ns();
    let mut run = Run::begin(order);
    let measurements = plan
        .cells
        .iter()
        .filter(|cell| !order.journal.has(&cell.name()))
        .map(|cell| cell.rounds * cell.contenders.len())
        .sum();
    let progress = Progress::new(measurements);
    for (index, cell) in plan.cells.iter().enumerate() {
        let folder = order.work.join(format!("cell-{index}"));
        let mut results = order
            .journal
            .cell(&cell.name(), &mut run.targets, |targets| {
                Stage::new(order.settings, &folder).measure(plan, cell, &progress, targets)
            });
        let _ = std::fs::remove_dir_all(&folder);
        mark_ceiling(cell, &mut results);
        run.ratios.extend(ratios(cell, &results));
        run.goals.extend(goals(cell, &results, &run.environment));
        run.results.extend(results);
    }
    progress.finish();
    sort(&mut run, plan);
    run.seconds = (now_ns() - started) as f64 / 1e9;
    run
}

/// Results in the experiment's order, not the shuffled one of the run.
fn sort(run: &mut Run, plan: &Plan) {
    let place = |name: &str| plan.order.iter().position(|cell| cell == name);
    let target = |name: &str| TARGETS.iter().position(|target| target.name == name);
    run.results
        .sort_by_key(|result| (place(&result.cell), target(&result.target)));
    run.ratios
        .sort_by_key(|ratio| (place(&ratio.cell), target(&ratio.target)));
    run.goals.sort_by_key(|goal| place(&goal.cell));
}

/// The targets of one cell.
struct Stage<'a> {
    settings: &'a Settings,
    folder: PathBuf,
    running: BTreeMap<&'static str, Result<Running, String>>,
}

impl<'a> Stage<'a> {
    fn new(settings: &'a Settings, folder: &Path) -> Self {
        Self {
            settings,
            folder: folder.into(),
            running: BTreeMap::new(),
        }
    }

    fn measure(
        mut self,
        plan: &Plan,
        cell: &Cell,
        progress: &Progress,
        targets: &mut Versions,
    ) -> Vec<CellResult> {
        let mut samples: BTreeMap<&str, Vec<Round>> = BTreeMap::new();
        for (round, contenders) in plan.rounds(cell).into_iter().enumerate() {
            for contender in contenders {
                progress.begin(&cell.name(), contender.target, round);
                let sample = self.sample(cell, contender);
                progress.end(&cell.name(), contender.target, &sample);
                samples
                    .entry(contender.target)
                    .or_default()
                    .push((round, sample));
            }
        }
        for (name, running) in &self.running {
            let version = running
                .as_ref()
                .map_or_else(Clone::clone, |r| r.version.clone());
            targets.entry((*name).into()).or_insert(version);
        }
        samples
            .iter()
            .map(|(target, rounds)| merge(&cell.name(), target, rounds))
            .collect()
    }

    fn sample(&mut self, cell: &Cell, contender: Contender) -> Result<Sample, String> {
        if let Work::Unmeasured { reason } = cell.work {
            return Err(reason.into());
        }
        let target = Target::named(contender.target).ok_or("no such target")?;
        let (settings, folder) = (self.settings, &self.folder);
        let running = self
            .running
            .entry(target.name)
            .or_insert_with(|| start(target, settings, folder));
        let running = running.as_ref().map_err(Clone::clone)?;
        let kind = kind(cell, contender, target, running)?;
        let job = Job {
            address: running.address,
            kind,
        };
        let measured = worker::run(self.settings, running, &job);
        let sample = measured.and_then(|measured| Sample::of(&cell.work, &measured));
        if sample.is_err() {
            // Whatever state it is in, the next round gets a fresh one.
            self.running.remove(target.name);
        }
        sample
    }
}

fn start(target: &Target, settings: &Settings, folder: &Path) -> Result<Running, String> {
    let folder = folder.join(format!("{}-{}", target.name, now_ns()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    (target.start)(settings, &folder)
}

/// What the load process is asked, in the target's own terms.
fn kind(
    cell: &Cell,
    contender: Contender,
    target: &Target,
    running: &Running,
) -> Result<Kind, String> {
    if running.certificate.is_some() && !matches!(cell.work, Work::Idle { .. }) {
        return Err("only idle connections are measured with TLS".into());
    }
    let subscribe = |topic| {
        let wire = contender
            .scheme
            .and_then(|scheme| (target.subscribe)(scheme, topic));
        wire.ok_or_else(|| format!("{} has no such delivery scheme", target.name))
    };
    // What is promised to subscribers is promised to publishers.
    let quality = contender.scheme.and_then(Scheme::quality).unwrap_or(0);
    let publish = |topic| (target.publish)(topic).at_quality(quality);
    Ok(match cell.work {
        Work::Ingest {
            body,
            connections,
            pace,
        } => Kind::Traffic(TrafficPlan {
            publish: publish(topic_of(body.observations())),
            publishers: connections,
            body,
            subscribe: None,
            subscribers: 0,
            pace,
        }),
        Work::FanOut {
            publishers,
            subscribers,
            pace,
        } => Kind::Traffic(TrafficPlan {
            publish: publish(TOPIC),
            publishers,
            body: crate::load::message::Body::Stamped,
            subscribe: Some(subscribe(TOPIC)?),
            subscribers,
            pace,
        }),
        Work::Idle { connections } => Kind::Idle(IdlePlan {
            subscribe: subscribe(TOPIC)?,
            connections,
            certificate: running.certificate.clone(),
            settle_ms: IDLE_SETTLE_MS,
        }),
        Work::Replay { messages, body } => {
            let replay = target.replay.ok_or("this target replays nothing")?;
            let requests = replay(&format!("{REPLAY_TOPIC}/%23"));
            Kind::Replay(ReplayPlan {
                publish: (target.publish)(REPLAY_TOPIC),
                body,
                messages,
                cursor_request: requests.cursor_request,
                replay_request: requests.replay_request,
            })
        }
        Work::Unmeasured { reason } => return Err(reason.into()),
    })
}

fn topic_of(observations: usize) -> &'static str {
    if observations > 1 {
        INGEST_TOPIC
    } else {
        TOPIC
    }
}
