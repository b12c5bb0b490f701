//! Executes a plan: cell by cell, round by round, contender by contender.
//!
//! Each cell starts its targets afresh and keeps them running over its rounds, so that two
//! systems are compared within seconds of each other and none inherits another cell's state;
//! where memory's growth is measured, a round starts them afresh as well.
//! What fails stays in the results with its reason.

use std::net::SocketAddr;
use std::path::Path;

use crate::guest::Guest;
use crate::link::{Ends, Links};
use crate::order::Order;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::rounds::Rounds;
use crate::sample::{Sample, echo};
use crate::started::Started;
use crate::targets::{Replay, Running, Settings, Target, list};
use crate::worker;
use weir_bench_load::load::job::{
    IdlePlan, Job, Kind, ObserversPlan, ReplayPlan, TopicsPlan, TrafficPlan,
};
use weir_bench_load::load::message::REPLAY_TOPIC;
use weir_bench_load::load::topics::ONE_OF_THEM;
use weir_bench_load::load::wire::{PublishWire, SubscribeWire};
use weir_bench_model::body::Body;
use weir_bench_model::budget::Budget;
use weir_bench_model::cell::{Cell, Contender, LOCAL, Scheme, Work};
use weir_bench_model::clock::now_ns;
use weir_bench_model::effort::Effort;
use weir_bench_model::environment::open_files;
use weir_bench_model::journal::Versions;
use weir_bench_model::limits::{
    ECHO_MS_MAX, FILES_RESERVED, OBSERVED_BYTES_MAX, QUICK_SECONDS_MAX,
};
use weir_bench_model::own::Own;
use weir_bench_model::pace::Pace;
use weir_bench_model::results::{CellResult, Run};
use weir_bench_model::verdict::{goals, mark_ceiling, ratios};
use weir_bench_peers::device::job::{Conversation, EchoPlan};

/// Milliseconds idle connections settle before memory is read.
const IDLE_SETTLE_MS: u64 = 1000;
/// New datastreams a message.
const TOPICS_BATCH: usize = 1000;

/// Where a probe beside idle connections publishes, who hear nothing of it.
const PROBE_TOPIC: &str = "bench/probe";
/// Where single observations are published.
const TOPIC: &str = "bench/x";
/// Where batches are published, whose observations lie under [`REPLAY_TOPIC`].
const INGEST_TOPIC: &str = "bench";

/// Runs an experiment that is its cells and nothing more.
pub fn run_cells(cells: Vec<Cell>, order: &Order<'_>) -> Run {
    execute(&Plan::new(cells, order.only, order.seed), order)
}

/// Runs all cells; the order's folder holds the targets' data while they run.
pub fn execute(plan: &Plan, order: &Order<'_>) -> Run {
    execute_since(plan, order, now_ns())
}

/// The same of a run that began then, with what is not in the plan.
pub fn execute_since(plan: &Plan, order: &Order<'_>, started: u64) -> Run {
    let mut budget = Budget::since(order.effort, started);
    let mut run = order.begin();
    let measurements = |cell: &Cell| cell.rounds * cell.contenders.len();
    let to_measure = plan
        .cells
        .iter()
        .filter(|cell| !order.journal.has(&cell.name()));
    let (mut count, mut seconds) = (0, 0.0);
    for cell in to_measure {
        count += measurements(cell);
        seconds += cell.seconds();
    }
    eprintln!("{}", in_all(count, seconds, order.effort));
    let progress = Progress::new(count);
    let mut links = Links::new(order);
    for (index, cell) in plan.cells.iter().enumerate() {
        if !order.journal.has(&cell.name()) && !budget.allows(&cell.name()) {
            progress.skip(measurements(cell));
            continue;
        }
        let folder = order.work.join(format!("cell-{index}"));
        let measure = |targets: &mut Versions| match links.ends(order.settings, cell.link()) {
            Ok(ends) => Stage::new(ends, &folder, plan).measure(cell, &progress, targets),
            Err(reason) => {
                progress.skip(measurements(cell));
                unlinked(cell, &reason)
            }
        };
        let mut results = order.journal.cell(&cell.name(), &mut run.targets, measure);
        let _ = std::fs::remove_dir_all(&folder);
        mark_ceiling(cell, &mut results);
        run.ratios.extend(ratios(cell, &results));
        run.goals.extend(goals(cell, &results, &run.environment));
        run.results.extend(results);
    }
    progress.finish();
    run.left_out = budget.left_out();
    run.links = links.used();
    run.sort(&plan.order, list::place);
    run.seconds = (now_ns() - started) as f64 / 1e9;
    run
}

/// How long all will take, said before it begins.
fn in_all(measurements: usize, seconds: f64, effort: Effort) -> String {
    let most = match effort {
        Effort::Quick => QUICK_SECONDS_MAX as f64,
        Effort::Full => f64::INFINITY,
    };
    let time = match seconds.min(most) {
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    };
    format!("{measurements} measurements, about {time} in all")
}

/// What a cell gives whose link could not be made.
fn unlinked(cell: &Cell, reason: &str) -> Vec<CellResult> {
    let contenders = cell.contenders.iter();
    contenders
        .map(|contender| CellResult::absent(&cell.name(), contender.target, reason))
        .collect()
}

/// The targets of one cell.
struct Stage<'a> {
    ends: Ends,
    plan: &'a Plan,
    started: Started,
}

/// One of them: on the list, or by its URL.
#[derive(Clone, Copy)]
enum Side<'a> {
    Listed(&'static Target),
    Guest(&'a Guest),
}

impl<'a> Stage<'a> {
    fn new(ends: Ends, folder: &Path, plan: &'a Plan) -> Self {
        Self {
            ends,
            plan,
            started: Started::below(folder),
        }
    }

    fn measure(
        mut self,
        cell: &Cell,
        progress: &Progress,
        targets: &mut Versions,
    ) -> Vec<CellResult> {
        let mut rounds = Rounds::new(cell.name(), progress);
        for (round, contenders) in self.plan.rounds(cell).into_iter().enumerate() {
            for contender in contenders {
                rounds.measure(contender.target, round, || self.sample(cell, contender));
            }
        }
        self.started.tell(targets);
        rounds.merged()
    }

    fn sample(&mut self, cell: &Cell, contender: Contender) -> Result<Sample, String> {
        if let Work::Unmeasured { reason } = cell.work {
            return Err(reason.into());
        }
        let side = Side::named(contender.target, self.plan)?;
        if cell.work.is_growth() {
            self.started.end(contender.target);
        }
        let ends = &self.ends;
        let start = |folder: &_| side.start(&ends.far, cell, folder);
        self.started.sample(contender.target, start, |running| {
            if let Work::Own { own, pace, .. } = cell.work
                && let Some(conversation) = side.conversation()
            {
                let plan = round_trips(conversation, own, pace)?;
                let (outcome, measured) = worker::task(&ends.near, running, &plan)?;
                return echo::of(&plan, &outcome, &measured);
            }
            let job = Job {
                address: running.address,
                kind: kind(cell, contender, side, running)?,
            };
            Sample::of(&cell.work, &worker::run(&ends.near, running, &job)?)
        })
    }
}

impl<'a> Side<'a> {
    fn named(name: &str, plan: &'a Plan) -> Result<Self, String> {
        let guest = plan.guests.iter().find(|guest| guest.name == name);
        let listed = || list::named(name).map(Self::Listed).ok_or("no such target");
        Ok(guest.map_or_else(listed, |guest| Ok(Self::Guest(guest)))?)
    }

    fn start(self, settings: &Settings, cell: &Cell, folder: &Path) -> Result<Running, String> {
        match self {
            Self::Listed(target) => (target.start)(settings, folder),
            Self::Guest(guest) if cell.link() == LOCAL => Ok(guest.running()),
            Self::Guest(_) => {
                Err("a target by its URL is not at the end of an emulated link".into())
            }
        }
    }

    /// How it is asked where it only answers.
    fn conversation(self) -> Option<Conversation> {
        match self {
            Self::Guest(guest) => guest.conversation(),
            Self::Listed(_) => None,
        }
    }

    fn publish(self, topic: &str) -> Result<PublishWire, String> {
        match self {
            Self::Guest(guest) => Ok(guest.publish(topic)),
            Self::Listed(target) => match target.publish {
                Some(publish) => Ok(publish(topic)),
                None => Err(format!("{} is spoken to by `messaging` alone", target.name)),
            },
        }
    }

    fn subscribe(self, contender: Contender, topic: &str) -> Result<SubscribeWire, String> {
        let wire = contender.scheme.and_then(|scheme| match self {
            Self::Listed(target) => (target.subscribe)(scheme, topic),
            Self::Guest(guest) => guest.subscribe(scheme, topic),
        });
        wire.ok_or_else(|| format!("{} has no such delivery scheme", contender.target))
    }

    fn replay(self) -> Result<Replay, String> {
        let replay = match self {
            Self::Listed(target) => target.replay,
            Self::Guest(_) => None,
        };
        let replay = replay.ok_or("this target replays nothing")?;
        Ok(replay(&format!("{REPLAY_TOPIC}/%23")))
    }
}

/// What the load process is asked, in the target's own terms.
fn kind(
    cell: &Cell,
    contender: Contender,
    side: Side<'_>,
    running: &Running,
) -> Result<Kind, String> {
    if running.certificate.is_some() && !matches!(cell.work, Work::Idle { .. }) {
        return Err("only idle connections are measured with TLS".into());
    }
    // What is promised to subscribers is promised to publishers.
    let quality = contender.scheme.and_then(Scheme::quality).unwrap_or(0);
    let publish =
        |topic| -> Result<PublishWire, String> { Ok(side.publish(topic)?.at_quality(quality)) };
    let between = |counts, load| traffic(contender, side, running, counts, load);
    Ok(match cell.work {
        Work::Ingest {
            body,
            connections,
            pace,
        } => Kind::Traffic(TrafficPlan {
            publish: publish(topic_of(body.observations()))?,
            publishers: connections,
            body,
            subscribe: None,
            subscribers: 0,
            subscribe_at: None,
            pace,
            share: None,
        }),
        Work::FanOut {
            publishers,
            subscribers,
            pace,
        } => between((publishers, subscribers), (Body::Stamped, pace))?,
        Work::Idle { connections, probe } => Kind::Idle(IdlePlan {
            subscribe: side.subscribe(contender, TOPIC)?,
            connections: in_one_process(connections, open_files())?,
            first: 0,
            certificate: running.certificate.clone(),
            settle_ms: IDLE_SETTLE_MS,
            probe: beside(probe, contender, side, PROBE_TOPIC)?,
        }),
        Work::Topics { topics, probe } => Kind::Topics(TopicsPlan {
            publish: side.publish(INGEST_TOPIC)?,
            topics,
            batch: TOPICS_BATCH,
            settle_ms: IDLE_SETTLE_MS,
            probe: beside(probe, contender, side, ONE_OF_THEM)?,
        }),
        Work::Observers { observers } => Kind::Observers(observed(observers)),
        Work::Replay { messages, body } => {
            let requests = side.replay()?;
            Kind::Replay(ReplayPlan {
                publish: side.publish(REPLAY_TOPIC)?,
                body,
                messages,
                cursor_request: requests.cursor_request,
                replay_request: requests.replay_request,
            })
        }
        Work::Own {
            own,
            publishers,
            subscribers,
            pace,
        } => between((publishers, subscribers), (Body::Own(own), pace))?,
        Work::Unmeasured { reason } => return Err(reason.into()),
    })
}

/// So many connections, where a target, which is one process, may have as many files.
fn in_one_process(connections: usize, files: u64) -> Result<usize, String> {
    if connections as u64 + FILES_RESERVED as u64 > files {
        return Err(format!(
            "a target is one process, which may open {files} files here, {FILES_RESERVED} of them for other things"
        ));
    }
    Ok(connections)
}

/// One publisher and one subscriber of a topic, beside what is measured; nothing where they are not asked for. Who has
/// no scheme hears by server-sent events.
fn beside(
    pace: Option<Pace>,
    contender: Contender,
    side: Side<'_>,
    topic: &str,
) -> Result<Option<Box<TrafficPlan>>, String> {
    let Some(pace) = pace else {
        return Ok(None);
    };
    let scheme = contender.scheme.unwrap_or(Scheme::Sse);
    let contender = Contender {
        scheme: Some(scheme),
        ..contender
    };
    Ok(Some(Box::new(TrafficPlan {
        publish: side
            .publish(topic)?
            .at_quality(scheme.quality().unwrap_or(0)),
        publishers: 1,
        body: Body::Stamped,
        subscribe: Some(side.subscribe(contender, topic)?),
        subscribers: 1,
        subscribe_at: None,
        pace,
        share: None,
    })))
}

/// Publishing to subscribers, at a quality that both are promised.
fn traffic(
    contender: Contender,
    side: Side<'_>,
    running: &Running,
    (publishers, subscribers): (usize, usize),
    (body, pace): (Body, Pace),
) -> Result<Kind, String> {
    let quality = contender.scheme.and_then(Scheme::quality).unwrap_or(0);
    let subscribe = (subscribers > 0).then(|| side.subscribe(contender, TOPIC));
    let subscribe = subscribe.transpose()?;
    let at = subscribe
        .as_ref()
        .map(|wire| subscribed_at(wire, &body, running));
    Ok(Kind::Traffic(TrafficPlan {
        publish: side.publish(TOPIC)?.at_quality(quality),
        publishers,
        subscribe_at: at.transpose()?.flatten(),
        body,
        subscribe,
        subscribers,
        pace,
        share: None,
    }))
}

/// Where subscribers go, if not where messages are published: observers go to the listener of CoAP, which sends them
/// longer messages in blocks.
fn subscribed_at(
    wire: &SubscribeWire,
    body: &Body,
    running: &Running,
) -> Result<Option<SocketAddr>, String> {
    if !wire.is_observed() {
        return Ok(None);
    }
    if matches!(body, Body::Own(own) if own.text.len() > OBSERVED_BYTES_MAX) {
        return Err(format!(
            "an observer by CoAP is sent {OBSERVED_BYTES_MAX} bytes at most here: more comes in blocks"
        ));
    }
    let listener = running.listener("coap");
    Ok(Some(
        listener.ok_or("where it listens by CoAP is not known")?,
    ))
}

/// What is observed, where single observations are published.
fn observed(observers: u32) -> ObserversPlan {
    ObserversPlan {
        path: format!("live/{TOPIC}"),
        observers,
        settle_ms: IDLE_SETTLE_MS,
    }
}

/// As many as the rate gives in the time, with rests between them.
fn round_trips(conversation: Conversation, own: Own, pace: Pace) -> Result<EchoPlan, String> {
    let Pace::Open {
        rate, measure_ms, ..
    } = pace
    else {
        return Err("round trips, one after the other, have no highest rate: give one".into());
    };
    Ok(EchoPlan {
        conversation,
        payload_bytes: own.text.len(),
        warm_up: 5,
        packets: (rate * measure_ms as f64 / 1e3).max(10.0) as u32,
        rest_ms: (1e3 / rate) as u64,
        // A target by its URL, which is who is asked so, is not behind a link of ours.
        is_on_link: false,
        modem: false,
        certificate: None,
        wait_ms: ECHO_MS_MAX,
    })
}

fn topic_of(observations: usize) -> &'static str {
    if observations > 1 {
        INGEST_TOPIC
    } else {
        TOPIC
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_no_process_can_hold_is_refused_with_the_limit() {
        assert_eq!(in_one_process(19_000, 20_000), Ok(19_000));
        let refused = in_one_process(50_000, 20_000).unwrap_err();
        assert!(refused.contains("may open 20000 files"), "{refused}");
    }

    #[test]
    fn the_time_in_all_is_told_and_a_quick_run_has_a_limit() {
        let told = in_all(12, 65.0, Effort::Full);
        assert_eq!(told, "12 measurements, about 65 s in all");
        assert_eq!(
            in_all(120, 1800.0, Effort::Full),
            "120 measurements, about 30 min in all"
        );
        let told = in_all(120, 1800.0, Effort::Quick);
        assert_eq!(told, "120 measurements, about 2 min in all");
    }
}
