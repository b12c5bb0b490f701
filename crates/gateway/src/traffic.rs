//! What was answered and opened, for metrics.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weir_binding::{Metric, Tally};

/// The numbers, each behind a lock or an atomic of its own.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) answers: Mutex<HashMap<(&'static str, u16), u64>>,
    pub(crate) connections: AtomicU64,
    pub(crate) accepted: AtomicU64,
    /// Connections open now by the listener's name.
    pub(crate) listeners: Mutex<BTreeMap<&'static str, Arc<AtomicU64>>>,
    /// Messages by binding and scheme, counted by the bindings themselves.
    pub(crate) tallies: Mutex<BTreeMap<(&'static str, &'static str), Arc<Tally>>>,
    /// Other numbers of the bindings, by metric and labels.
    pub(crate) meters: Mutex<BTreeMap<(&'static Metric, String), Arc<AtomicU64>>>,
}

impl Traffic {
    pub(crate) fn open_now(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Where a number is shown, with labels as they stand between braces.
    pub(crate) fn meter(&self, metric: &'static Metric, labels: &str) -> Arc<AtomicU64> {
        let mut meters = self.meters.lock().unwrap_or_else(PoisonError::into_inner);
        meters
            .entry((metric, labels.to_owned()))
            .or_default()
            .clone()
    }

    /// Where the connections of a listener are counted.
    pub(crate) fn listener(&self, name: &'static str) -> Arc<AtomicU64> {
        let mut listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.entry(name).or_default().clone()
    }
}
