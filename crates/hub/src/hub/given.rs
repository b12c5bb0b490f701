//! What of a message in the log may still be given to who reads on in it: not what was forgotten or withdrawn since.
//!
//! The decision worth arguing: of observations of a time of which one was withdrawn, the history says which are left,
//! since the log does not say the how manieth each is.

use crate::fault::Fault;
use crate::hub::{Core, Hub};
use crate::limits::PAGE_OBSERVATIONS_MAX;
use crate::message::Message;
use crate::requests::Past;
use crate::state::recent::Recent;
use weir_model::{Batch, Cursor, Observation, Time};
use weir_storage::units::InUnit;
use weir_storage::{Log, Range};

impl Core {
    /// Notes that a topic is forgotten up to a place in the log.
    pub(crate) fn note_forgotten(&mut self, topic: &str, upto: Cursor, now: Time, log: &dyn Log) {
        self.keys.forget(topic, upto, now);
        self.forgotten.put(topic, upto, log.tail());
        self.reread(log);
    }

    /// Has who resumes read the log, where it is looked at what may still be given.
    pub(crate) fn reread(&mut self, log: &dyn Log) {
        self.recent = Recent::new(log.head());
    }

    /// Whether a topic was forgotten behind this place of the log. Of what was there before this run read it, only
    /// that it is not known any more is left.
    fn is_forgotten(&self, topic: &str, cursor: Cursor) -> bool {
        let is_of_before = self.forgotten.is_of_before(topic, cursor);
        let was_read = cursor.sequence() > self.read_from.sequence();
        is_of_before || !was_read && self.catalog.find(topic).is_none()
    }
}

impl Hub {
    /// What is left of a message of the log.
    pub(crate) fn remaining(&self, message: Message) -> Result<Option<Message>, Fault> {
        let Some(batch) = message.batch() else {
            let forgotten = &self.core().forgotten;
            let is_gone = forgotten.is_of_before(&message.topic, message.cursor);
            return Ok((!is_gone).then_some(message));
        };
        let Some(doubtful) = self.doubtful(batch, message.cursor) else {
            return Ok(Some(message));
        };
        let mut kept = Vec::with_capacity(batch.len());
        for (row, doubt) in doubtful.into_iter().enumerate() {
            kept.push(match doubt {
                Doubt::None => true,
                Doubt::Forgotten => false,
                Doubt::Withdrawn => self.is_shown(message.cursor, &batch.row(row))?,
            });
        }
        let left = batch.select(|row| kept[row]);
        Ok(match left.len() {
            0 => None,
            count if count == batch.len() => Some(message),
            _ => {
                let mut part = message.with(left);
                (part.quality, part.declared) = (message.quality, message.declared);
                part.retain = message.retain;
                Some(part)
            }
        })
    }

    /// What is to be thought of each row; `None` where all of them are as they were.
    fn doubtful(&self, batch: &Batch, cursor: Cursor) -> Option<Vec<Doubt>> {
        let core = self.core();
        let streams = 0..batch.stream_count();
        let topics: Vec<_> = streams.map(|index| batch.stream(index).topic).collect();
        let gone: Vec<_> = topics
            .iter()
            .map(|it| core.is_forgotten(it, cursor))
            .collect();
        let is_withdrawn = |topic: &&str| core.withdrawn.by_topic.contains_key(*topic);
        if !gone.contains(&true) && !topics.iter().any(is_withdrawn) {
            return None;
        }
        let doubt = |row: usize| {
            let stream = batch.stream_of(row);
            let time = Time::from_nanos(batch.times()[row]);
            if gone[stream] {
                Doubt::Forgotten
            } else if core.withdrawn.is_any_of(topics[stream], time) {
                Doubt::Withdrawn
            } else {
                Doubt::None
            }
        };
        Some((0..batch.len()).map(doubt).collect())
    }

    /// Whether the history shows an observation that is like this one, or has not come as far.
    fn is_shown(&self, cursor: Cursor, row: &Observation<'_>) -> Result<bool, Fault> {
        let committed = self.log.committed();
        self.feed()?;
        let Some(time) = row.time.filter(|_| cursor <= committed) else {
            return Ok(true);
        };
        let mut past = Past {
            filters: Vec::new(),
            from: time,
            to: time.plus_nanos(1),
            limit: PAGE_OBSERVATIONS_MAX,
            page: None,
            aggregate: None,
            unit: InUnit::AsMade,
        };
        loop {
            let read = self.history.read(&Range {
                topics: &[row.topic],
                from: past.from,
                to: past.to,
                limit: past.limit,
                page: past.page.as_deref(),
                aggregate: None,
                hidden: None,
                units: None,
            })?;
            let page = self.visible(&past, read);
            let mut shown = page.batch.rows();
            if shown.any(|it| it.value == row.value && it.extra == row.extra) {
                return Ok(true);
            }
            past.page = page.next;
            if past.page.is_none() {
                return Ok(false);
            }
        }
    }
}

/// What is to be thought of a row.
enum Doubt {
    None,
    Forgotten,
    /// One of its time was.
    Withdrawn,
}
