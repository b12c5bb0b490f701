//! The laboratory: starts targets and links, watches them, and runs cells in turns.
//!
//! A target is a file that says how a system is started and which bytes speak to it ([`targets`]); cells run on links
//! ([`link`]), in browsers ([`devtools`], [`opened`]), and with load from other machines ([`agent`]). [`experiment`]
//! is what a study has to be.

// The bench measures real time, real processes and real files; the bans guard deterministic code.
#![allow(clippy::disallowed_methods)]
// What is printed goes where the caller says: a reader that is gone is no panic.
#![deny(clippy::print_stdout)]

#[cfg(test)]
mod against_null;
pub mod agent;
pub mod alone;
pub mod devtools;
pub mod experiment;
pub mod guest;
pub mod link;
pub mod merge;
pub mod meter;
pub mod opened;
pub mod order;
pub mod plan;
pub mod progress;
pub mod rounds;
pub mod run;
pub mod sample;
pub mod side_by_side;
pub mod started;
pub mod targets;
pub mod worker;
