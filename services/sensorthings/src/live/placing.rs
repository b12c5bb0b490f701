//! Which place the observations of a message have among those of their datastream and time, which is part
//! of their identifier.
//!
//! Observations come mostly in the order of their time: then the hub knows that they are the first of it,
//! and nothing is looked up. Only of one that is not the history is asked, once for all who follow it.

use crate::node::Context;
use crate::observations::{filter_of, ordinal, read};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use weir_hub::Message;
use weir_model::{Batch, Cursor, Observation, Time};

/// What was placed lately.
#[derive(Default)]
pub(crate) struct Placing(Mutex<Placed>);

#[derive(Default)]
struct Placed {
    messages: BTreeMap<Cursor, Arc<[u32]>>,
    /// The newest time that was placed of a datastream by topic.
    newest: HashMap<Arc<str>, Time>,
}

/// Messages whose places are kept for others who follow them.
const MESSAGES_MAX: usize = 1024;
/// Datastreams whose newest time is kept.
const DATASTREAMS_MAX: usize = 100_000;

impl Placing {
    /// The ordinal of each row of a message.
    pub(super) fn ordinals(
        &self,
        context: &Context<'_>,
        message: &Message,
        batch: &Batch,
    ) -> Arc<[u32]> {
        let mut placed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = placed.messages.get(&message.cursor) {
            return known.clone();
        }
        let rows = batch.rows();
        let ordinals: Arc<[u32]> = rows
            .map(|row| placed.place(context, message, &row))
            .collect();
        placed.messages.insert(message.cursor, ordinals.clone());
        if placed.messages.len() > MESSAGES_MAX {
            placed.messages.pop_first();
        }
        ordinals
    }
}

impl Placed {
    fn place(&mut self, context: &Context<'_>, message: &Message, row: &Observation<'_>) -> u32 {
        let time = row.time.unwrap_or(message.arrival);
        let stood = context.hub.stood(row.topic);
        let of_newest = stood.and_then(|stood| stood.newest.of(time));
        let known = self.newest.get(row.topic).copied();
        let is_first = match of_newest {
            Some(count) => count == 1,
            // A newer one was published meanwhile.
            None => known.is_some_and(|known| known < time),
        };
        if known.is_none_or(|known| known < time) {
            self.note(row.topic, time);
        }
        match is_first {
            true => 0,
            false => looked_up(context, row, time),
        }
    }

    fn note(&mut self, topic: &str, time: Time) {
        if let Some(known) = self.newest.get_mut(topic) {
            *known = time;
            return;
        }
        if self.newest.len() >= DATASTREAMS_MAX {
            self.newest.clear();
        }
        self.newest.insert(topic.into(), time);
    }
}

/// The place of the last observation of the history that says the same.
fn looked_up(context: &Context<'_>, row: &Observation<'_>, time: Time) -> u32 {
    let Ok(filter) = filter_of(row.topic) else {
        return 0;
    };
    let span = (time, time.plus_nanos(1));
    let Ok(page) = read(context, &[filter], span, usize::MAX, None) else {
        return 0;
    };
    let mut rows = (0..page.batch.len()).rev();
    let same = rows.find(|&at| page.batch.row(at).value == row.value);
    same.map_or(0, |at| ordinal(&page, at))
}
