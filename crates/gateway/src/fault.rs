//! What is wrong with a configuration, and why a gateway does not start.

use std::fmt;
use std::net::SocketAddr;
use weir_hub::Fault;

/// What is wrong with the configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// `weir.toml:3:1`, `WEIR_HTTP_LISTEN` or `--set`.
    pub place: String,
    /// What is wrong, as a sentence.
    pub problem: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for Problem {}

/// Why a gateway does not start.
#[derive(Debug)]
pub enum RunFault {
    /// The configuration is wrong.
    Config(Problem),
    /// The data cannot be read.
    Hub(Fault),
    /// A socket or thread cannot be had.
    Io(String, std::io::Error),
    /// It would be open to the network without any access rule.
    Exposed(SocketAddr),
}

impl fmt::Display for RunFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFault::Config(problem) => problem.fmt(f),
            RunFault::Hub(fault) => write!(f, "the data cannot be opened: {fault}"),
            RunFault::Io(what, error) => write!(f, "{what}: {error}"),
            RunFault::Exposed(address) => write!(
                f,
                "{address} can be reached from other machines and no access rules are set: \
                 set access.policy to a file, or say --open to let everyone do everything"
            ),
        }
    }
}

impl std::error::Error for RunFault {}
