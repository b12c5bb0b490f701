//! Load from several machines: agents that lend theirs, and the coordinator that spreads a job over them.
//!
//! An agent starts the same load process that a run on one machine starts, for whoever knows its token.
//! All agents of a job follow one schedule from one moment, each on its own clock, whose offset was
//! measured before and after; a search for the highest rate is decided by the coordinator. What it
//! deliberately does not do: what a single client does (reading back, echoes, calls), and links, whose
//! ends are on one machine; and anything without a token beyond loopback, since an open agent is a
//! cannon for whoever finds it.

mod clock;
mod crew;
mod line;
mod search;
mod serve;
mod spread;

use serde::{Deserialize, Serialize};

use crate::worker::Spent;
use weir_bench_load::load::job::{Event, Job};

pub use crew::Crew;
pub use serve::main;
pub use spread::{cut, join};

/// The environment variable that holds the token, on both sides.
pub const TOKEN: &str = "WEIR_BENCH_TOKEN";

/// Experiments whose loads agents carry; what the others measure is one client's own.
pub const CARRIED: [&str; 3] = ["gateway", "mqtt-broker", "plan"];

/// Whether agents have a part in an experiment; an error says which have one.
pub fn carry(experiment: &str) -> Result<(), String> {
    match CARRIED.contains(&experiment) {
        true => Ok(()),
        false => Err(format!(
            "agents carry no part of {experiment}, which measures what one client sees: leave out --agents, \
             or run {} with them",
            CARRIED.join(", ")
        )),
    }
}

/// What a coordinator says.
#[derive(Debug, Serialize, Deserialize)]
enum Ask {
    /// That it knows the token: HMAC-SHA256 of the agent's nonce, in hexadecimal.
    Proof { proof: String },
    /// What time it is there.
    Clock,
    /// Connections and messages.
    Job { job: Box<Job> },
    /// That all others are ready too; the moment from which all count, on the agent's clock.
    Go { base_ns: u64 },
}

/// What an agent says.
#[derive(Debug, Serialize, Deserialize)]
enum Tell {
    /// What must be proven, in hexadecimal.
    Nonce { nonce: String },
    /// That the proof is good.
    Welcome { version: String, cpus: usize },
    /// The time there.
    Clock { now_ns: u64 },
    /// What the load says.
    Event { event: Box<Event> },
    /// What the load took; the end of a job.
    Spent { spent: Spent },
    /// Why it does not do what it was asked.
    Refused { reason: String },
}
