//! Which place the observations of a message have among those of their datastream and time, which is part
//! of their identifier.
//!
//! Observations come mostly in the order of their time: then the hub knows that they are the first of it,
//! and nothing is looked up. Only of those that are not, or were read back from the log, the history is
//! asked, once for all who follow them; whoever does that is on no network thread.

use crate::context::Context;
use crate::history::{filter_of, read};
use crate::lock::lock;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use weir_hub::{Hub, Message};
use weir_model::{Batch, Cursor, Observation};

/// What was looked up lately, by message.
#[derive(Default)]
pub(crate) struct Placing(Mutex<BTreeMap<Cursor, Arc<[u32]>>>);

/// The ordinal of each row of a message; `None` where each is the first of its time.
pub(super) type Ordinals = Option<Arc<[u32]>>;

/// Messages whose places are kept for others who follow them.
const MESSAGES_MAX: usize = 1024;

impl Placing {
    /// Whether the places of a message are known without a look at the past.
    pub(super) fn knows(&self, hub: &Hub, message: &Message) -> bool {
        hub.came_in_order(message) || lock(&self.0).contains_key(&message.cursor)
    }

    /// The places of a message's rows.
    pub(super) fn ordinals(
        &self,
        context: &Context<'_>,
        message: &Message,
        batch: &Batch,
    ) -> Ordinals {
        if context.hub.came_in_order(message) {
            return None;
        }
        let known = lock(&self.0).get(&message.cursor).cloned();
        Some(known.unwrap_or_else(|| self.looked_up(context, message, batch)))
    }

    fn looked_up(&self, context: &Context<'_>, message: &Message, batch: &Batch) -> Arc<[u32]> {
        let place = |row: Observation<'_>| looked_up(context, message, &row);
        let ordinals: Arc<[u32]> = batch.rows().map(place).collect();
        let mut known = lock(&self.0);
        known.insert(message.cursor, ordinals.clone());
        if known.len() > MESSAGES_MAX {
            known.pop_first();
        }
        ordinals
    }
}

/// The place of the last observation of the history that says the same.
fn looked_up(context: &Context<'_>, message: &Message, row: &Observation<'_>) -> u32 {
    let Ok(filter) = filter_of(row.topic) else {
        return 0;
    };
    let time = row.time.unwrap_or(message.arrival);
    let span = (time, time.plus_nanos(1));
    let Ok(page) = read(context, &[filter], span, usize::MAX, None) else {
        return 0;
    };
    let mut rows = (0..page.batch.len()).rev();
    let same = rows.find(|&at| page.batch.row(at).value == row.value);
    same.map_or(0, |at| page.ordinal(at))
}
