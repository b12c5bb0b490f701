//! The bench's model: cells, runs as they are kept, statistics, goals and claims. It starts nothing.
//!
//! A cell is one setting of an experiment's factors ([`cell`]); what was measured in it is a result of a run
//! ([`results`], which is `run.json`), kept as it comes ([`journal`], [`samples`]). What results mean is said by
//! [`statistics`], [`verdict`] (goals), [`claims`] (papers) and [`compare`] (two runs); [`figure`] picks what is drawn.

// The bench measures real time, real processes and real files; the bans guard deterministic code.
#![allow(clippy::disallowed_methods)]
// What is printed goes where the caller says: a reader that is gone is no panic.
#![deny(clippy::print_stdout)]

pub mod body;
pub mod budget;
pub mod calendar;
pub mod cell;
pub mod claims;
pub mod clock;
pub mod compare;
pub mod configuration;
pub mod effort;
pub mod environment;
pub mod figure;
pub mod journal;
pub mod latency;
pub mod limits;
pub mod link_used;
pub mod number;
pub mod own;
pub mod pace;
pub mod process;
pub mod published;
pub mod quantiles;
pub mod random;
pub mod ratios;
pub mod results;
pub mod samples;
pub mod statistics;
pub mod steadiness;
pub mod tally;
pub mod verdict;
