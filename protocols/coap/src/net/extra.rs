//! Resources that CoAP has beside those of the services; those of the plugtests are the only ones.

use crate::wire::{Link, Message};
use std::fmt;
use std::task::Waker;
use std::time::Duration;

/// Resources, each a path.
pub(super) trait Extra: fmt::Debug + Send + Sync {
    /// Says whether a path is one of these.
    fn holds(&self, path: &str) -> bool;

    /// Links to them.
    fn links(&self) -> Vec<Link>;

    /// How long the answer takes.
    fn delay(&self, path: &str) -> Option<Duration>;

    /// Which version of a resource there is; each look at one that changes by itself makes another.
    fn version(&self, path: &str) -> Option<u64>;

    /// Has this waker woken at the next change.
    fn watch(&self, waker: &Waker);

    /// What an observer is told of a change.
    fn told(&self, path: &str, request: &Message) -> Message;

    /// Answers a request.
    fn answer(&self, path: &str, request: &Message) -> Message;
}
