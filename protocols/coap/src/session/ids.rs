//! By what the machines know peers, requests and observations.

use core::fmt::Debug;
use core::hash::Hash;

/// Whom an endpoint talks to: a socket address, or anything that tells peers apart.
pub trait Address: Copy + Ord + Hash + Debug {}

impl<A: Copy + Ord + Hash + Debug> Address for A {}

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub(crate) u64);

/// A peer's interest in a resource (RFC 7641 section 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObservationId(pub(crate) u64);

/// A request of ours that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);
