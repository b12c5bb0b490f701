//! The coordinator's side: agents by their addresses, their clocks, and one job for all of them.

use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::clock::{Exchange, Offset};
use super::line::Line;
use super::search;
use super::serve::{proof, unhex};
use super::spread::{cut, join};
use super::{Ask, TOKEN, Tell};
use crate::worker::{Clocks, Site, Spent};
use weir_bench_load::load::job::{Event, Job, SHARED_START_NS};
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::{AGENT_CLOCK_EXCHANGES, CONNECT_MS_MAX, WORKER_SECONDS_MAX};

/// Nanoseconds from the word to go until the first message is due: longer than the word takes.
const LEAD_NS: u64 = 300_000_000;

/// Agents that share every load of a run.
#[derive(Debug)]
pub struct Crew {
    addresses: Vec<SocketAddr>,
    /// None after a failure: what they are about is unknown, and they are connected to anew.
    agents: Mutex<Vec<Agent>>,
    names: Vec<String>,
}

pub(super) struct Agent {
    address: SocketAddr,
    line: Line,
    /// What it says it is.
    version: String,
}

/// What a job on all agents gave.
pub struct Shared {
    /// Their outcomes as one.
    pub outcome: Event,
    /// What their loads took together.
    pub load: Spent,
    /// How well their clocks agree.
    pub clocks: Clocks,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "agent {} at {}", self.version, self.address)
    }
}

impl Crew {
    /// Connects to all and says what each clock is; the token is that of the environment.
    pub fn connect(addresses: &[SocketAddr]) -> Result<Self, String> {
        let mut agents = connect(addresses)?;
        for agent in &mut agents {
            let (offset, _) = agent.offset()?;
            eprintln!(
                "{agent:?}: clock {:+.3} ms from here, within {:.1} us",
                offset.ns as f64 / 1e6,
                offset.bound_ns as f64 / 1e3
            );
        }
        Ok(Self {
            addresses: addresses.into(),
            names: agents.iter().map(|agent| format!("{agent:?}")).collect(),
            agents: Mutex::new(agents),
        })
    }

    /// Where they are and what they are, for the results.
    pub fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Runs a job on all of them at once.
    pub fn run(&self, job: &Job, site: &mut Site<'_>) -> Result<Shared, String> {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if agents.is_empty() {
            *agents = connect(&self.addresses)?;
        }
        let shared = match search::of(job) {
            Some((plan, limits)) => search::run(&mut agents, (job, plan), &limits, site),
            None => together(&mut agents, job, site),
        };
        if shared.is_err() {
            agents.clear();
        }
        shared
    }
}

fn connect(addresses: &[SocketAddr]) -> Result<Vec<Agent>, String> {
    let token = std::env::var(TOKEN).unwrap_or_default();
    let agent = |&address: &SocketAddr| {
        let agent = Agent::connect(address, &token);
        agent.map_err(|e| format!("agent {address}: {e}"))
    };
    addresses.iter().map(agent).collect()
}

/// A job cut into one for each, begun at one moment; what they gave as one.
pub(super) fn together(
    agents: &mut [Agent],
    job: &Job,
    site: &mut Site<'_>,
) -> Result<Shared, String> {
    let mut round_trips_us = Vec::new();
    let before = offsets(agents, &mut round_trips_us)?;
    let skew_ns = 2 * pair_bound(before.iter().map(|offset| offset.bound_ns));
    let jobs = cut(job, agents.len(), skew_ns)?;
    for (agent, job) in agents.iter_mut().zip(jobs) {
        agent.line.say(&Ask::Job { job: Box::new(job) })?;
    }
    make_ready(agents, &before, site)?;
    let (mut outcomes, mut load) = (Vec::new(), Spent::default());
    for (number, agent) in agents.iter_mut().enumerate() {
        // One schedule: all begin and end as the first does.
        let (outcome, spent) = agent.outcome(|event| {
            if number == 0 {
                site.saw(event);
            }
        })?;
        outcomes.push(outcome);
        load = load.with(spent);
    }
    let after = offsets(agents, &mut round_trips_us)?;
    let bounds = before.iter().zip(after).map(|(a, b)| a.bound_until(b));
    let clocks = Clocks {
        bound_us: pair_bound(bounds) as f64 / 1e3,
        round_trips_us,
    };
    Ok(Shared {
        outcome: join(outcomes)?,
        load,
        clocks,
    })
}

/// Every agent's offset now.
fn offsets(agents: &mut [Agent], round_trips_us: &mut Vec<f64>) -> Result<Vec<Offset>, String> {
    let mut offsets = Vec::new();
    for agent in agents {
        let (offset, round_trips) = agent.offset()?;
        offsets.push(offset);
        round_trips_us.extend(round_trips);
    }
    Ok(offsets)
}

/// Awaits all, then says from which moment all count: each is told on its own clock.
fn make_ready(agents: &mut [Agent], offsets: &[Offset], site: &mut Site<'_>) -> Result<(), String> {
    for agent in agents.iter_mut() {
        match agent.event()? {
            Event::Ready => {}
            Event::Failed { reason } => return Err(agent.told(&reason)),
            other => return Err(agent.told(&format!("not ready but {other:?}"))),
        }
    }
    site.saw(&Event::Ready);
    let base_ns = (now_ns() + LEAD_NS).saturating_sub(SHARED_START_NS);
    for (agent, offset) in agents.iter_mut().zip(offsets) {
        let base_ns = offset.there(base_ns);
        agent.line.say(&Ask::Go { base_ns })?;
    }
    Ok(())
}

/// What two clocks may be apart: the two widest bounds together.
fn pair_bound(bounds: impl Iterator<Item = u64>) -> u64 {
    let mut bounds: Vec<u64> = bounds.collect();
    bounds.sort_unstable();
    bounds.iter().rev().take(2).sum()
}

impl Agent {
    fn connect(address: SocketAddr, token: &str) -> Result<Self, String> {
        let timeout = Duration::from_millis(CONNECT_MS_MAX);
        let stream = TcpStream::connect_timeout(&address, timeout).map_err(|e| e.to_string())?;
        let mut line = Line::new(stream, Duration::from_secs(WORKER_SECONDS_MAX))?;
        let nonce = match line.hear()? {
            Some(Tell::Nonce { nonce }) => unhex(&nonce).ok_or("an odd nonce")?,
            _ => return Err("no agent of ours".into()),
        };
        let proof = proof(token, &nonce);
        line.say(&Ask::Proof { proof })?;
        match line.hear()? {
            Some(Tell::Welcome { version, cpus }) => Ok(Self {
                address,
                line,
                version: format!("{version}, {cpus} processors,"),
            }),
            Some(Tell::Refused { reason }) => Err(reason),
            other => Err(format!("no welcome but {other:?}")),
        }
    }

    /// Its clock less ours, and the round trips that told.
    fn offset(&mut self) -> Result<(Offset, Vec<f64>), String> {
        let mut exchanges = Vec::with_capacity(AGENT_CLOCK_EXCHANGES);
        for _ in 0..AGENT_CLOCK_EXCHANGES {
            let asked = now_ns();
            self.line.say(&Ask::Clock)?;
            match self.line.hear()? {
                Some(Tell::Clock { now_ns: read }) => exchanges.push(Exchange {
                    asked,
                    read,
                    answered: now_ns(),
                }),
                other => return Err(self.told(&format!("no time but {other:?}"))),
            }
        }
        let round_trips = exchanges.iter().map(|e| e.round_trip_ns() as f64 / 1e3);
        let round_trips = round_trips.collect();
        let offset = Offset::of(&exchanges).ok_or_else(|| self.told("no time"))?;
        Ok((offset, round_trips))
    }

    fn event(&mut self) -> Result<Event, String> {
        match self.line.hear()? {
            Some(Tell::Event { event }) => Ok(*event),
            Some(Tell::Refused { reason }) => Err(self.told(&reason)),
            other => Err(self.told(&format!("no event but {other:?}"))),
        }
    }

    /// Its outcome, and what it took; `each` sees when counting begins and ends.
    fn outcome(&mut self, mut each: impl FnMut(&Event)) -> Result<(Event, Spent), String> {
        let outcome = loop {
            match self.event()? {
                event @ (Event::Begin | Event::End) => each(&event),
                Event::Failed { reason } => return Err(self.told(&reason)),
                event => break event,
            }
        };
        match self.line.hear()? {
            Some(Tell::Spent { spent }) => Ok((outcome, spent)),
            other => Err(self.told(&format!("no account but {other:?}"))),
        }
    }

    fn told(&self, reason: &str) -> String {
        format!("agent {}: {reason}", self.address)
    }
}
