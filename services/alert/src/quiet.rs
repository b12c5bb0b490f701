//! Datastreams of which nothing more is told for a while.

use crate::limits::QUIET_MAX;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use weir_model::{Batch, Time};

/// When datastreams were told of last. It is not kept over a start: then one may be told of early.
pub(crate) struct Quiet {
    time: Option<Duration>,
    told: HashMap<Arc<str>, Time>,
}

impl Quiet {
    pub(crate) fn new(time: Option<Duration>) -> Self {
        Self {
            time,
            told: HashMap::new(),
        }
    }

    /// The observations that are to be told of now; nothing where there are none.
    pub(crate) fn left(&mut self, batch: &Batch, now: Time) -> Option<Batch> {
        let Some(time) = self.time else {
            return (!batch.is_empty()).then(|| batch.select(|_| true));
        };
        let due: Vec<bool> = batch
            .rows()
            .map(|row| self.is_due(row.topic, time, now))
            .collect();
        due.contains(&true).then(|| batch.select(|row| due[row]))
    }

    /// Says whether a datastream may be told of, and notes that it is.
    fn is_due(&mut self, topic: &str, time: Duration, now: Time) -> bool {
        let since = |told: &Time| now.nanos().saturating_sub(told.nanos());
        let nanos = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        // A clock that was set back silences nobody.
        if self
            .told
            .get(topic)
            .is_some_and(|told| (0..nanos).contains(&since(told)))
        {
            return false;
        }
        if self.told.len() >= QUIET_MAX {
            self.told
                .retain(|_, told| (0..nanos).contains(&since(told)));
        }
        if self.told.len() < QUIET_MAX {
            self.told.insert(topic.into(), now);
        }
        true
    }
}
