//! Retained messages.

use crate::access::{Principal, Verb, check_filters};
use crate::attributes::Block;
use crate::fault::Fault;
use crate::hub::{Core, Hub};
use crate::limits::EXPIRIES_PER_TICK;
use crate::message::Message;
use crate::selection::reads_all;
use std::sync::Arc;
use weir_model::{Filter, Time};
use weir_storage::{Kind, Record};

impl Hub {
    /// The retained messages that match and may be read in full.
    pub(crate) fn retained(
        &self,
        now: Time,
        principal: &Principal,
        filters: &[Filter],
    ) -> Result<Vec<Arc<Message>>, Fault> {
        check_filters(principal, filters)?;
        let grants = &principal.grants;
        let mut all = Vec::new();
        let mut after: Option<Arc<str>> = None;
        loop {
            let core = self.core();
            let (found, next) = core.retained.page(filters, after.as_deref());
            let may_be_read = |message: &&&Arc<Message>| {
                grants.allow(Verb::Read, &message.topic)
                    && reads_all(grants, message)
                    && !message.attributes.are_over(now)
            };
            all.extend(found.iter().filter(may_be_read).map(|it| Arc::clone(it)));
            after = next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// How many messages are retained, and their bytes of memory.
    pub fn retained_counts(&self) -> (usize, usize) {
        self.core().retained.counts()
    }

    /// Takes away what expired, here and in the log.
    pub(crate) fn expire_retained(&self, core: &mut Core, now: Time) {
        for _ in 0..EXPIRIES_PER_TICK {
            let Some(topic) = core.retained.pop_expired(now) else {
                return;
            };
            let tombstone = Record {
                kind: Kind::Retained,
                arrival: now,
                topic: &topic,
                media: "",
                key: &[],
                origin: "",
                attributes: &Block::tombstone(),
                body: &[],
            };
            if self.log.shared().is_some() {
                // Every gateway finds it expired; a tombstone might come behind a newer message.
                continue;
            }
            // Where the log takes nothing now, the message expires again at the next start.
            let _again_at_the_next_start = self.log.append(&tombstone);
        }
    }
}
