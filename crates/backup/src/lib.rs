//! A copy of a gateway's data while it runs, as one tar file, and the data made of it again.
//!
//! What it deliberately does not do: ask the gateway, stop it, or understand its files. It rests on what
//! log and history promise of theirs: a file that grows (`.log`, `.dat`) is only appended to, and removed
//! whole; every other is small and replaced whole; the log keeps what the history has not taken. So a copy
//! that takes the files in the right order ([`save`](mod@save)) is one that a crash could have left, and a
//! start repairs that.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "it copies files, which is all that it does"
)]

mod contents;
mod fault;
mod restore;
mod save;

pub use contents::Contents;
pub use fault::SaveFault;
pub use restore::restore;
pub use save::save;
