//! From what is on disk to a hub that knows all it knew before.

use crate::catalog::Catalog;
use crate::entry;
use crate::exchange::Fault;
use crate::history::{History, HistoryFault};
use crate::hub::{Core, Hub};
use crate::limits::KEY_AGE_NANOS;
use crate::log::Log;
use crate::message::{Content, Message};
use crate::record::{Kind, Record};
use bytes::Bytes;
use std::sync::Arc;
use weir_codec::Format;
use weir_model::{Batch, BatchBuilder, Cursor, Limits, Time};

impl Hub {
    /// Starts from a log and the history behind it: the catalog from the log's snapshot, last values
    /// from history, then all that the log holds beyond both.
    pub fn start(
        log: Arc<dyn Log>,
        history: Arc<dyn History>,
        limits: Limits,
        now: Time,
    ) -> Result<Arc<Self>, Fault> {
        let hub = Self::assemble(log, history, limits);
        hub.refuse_a_history_without_its_log()?;
        let replay_from = {
            let mut core = hub.core();
            let folded = hub
                .log
                .snapshot(&mut |record| apply_change(&mut core.catalog, &record))?;
            hub.recall_last_values(&mut core)?;
            let keys = hub.log.seek(now.nanos() - KEY_AGE_NANOS);
            folded.min(hub.history.applied()).min(keys)
        };
        hub.replay(replay_from)?;
        hub.history.advance(hub.log.head());
        Ok(Arc::new(hub))
    }

    /// A history that was fed more than the log holds would take nothing new for old.
    fn refuse_a_history_without_its_log(&self) -> Result<(), Fault> {
        let (applied, head) = (self.history.applied(), self.log.head());
        if applied <= head {
            return Ok(());
        }
        let problem = format!(
            "the history goes on to {applied}, ahead of the log, which ends at {head}: the log was \
             removed or is of another time; restore both together or move both away"
        );
        Err(Fault::History(HistoryFault::Failed(problem)))
    }

    fn recall_last_values(&self, core: &mut Core) -> Result<(), Fault> {
        let catalog = &mut core.catalog;
        self.history.latest(&mut |cursor, row| {
            let Some(id) = catalog.intern(row.topic) else {
                return;
            };
            let arrival = row.time.unwrap_or(Time::from_nanos(0));
            let entry = &mut catalog.slot(id).entry;
            entry.observe(cursor, arrival, row);
            entry.last_seen = Some(arrival);
        })?;
        Ok(())
    }

    fn replay(&self, from: Cursor) -> Result<(), Fault> {
        let mut reader = self.log.read(from);
        while let Some((cursor, record)) = reader.next()? {
            self.replay_record(cursor, &record)?;
        }
        Ok(())
    }

    fn replay_record(&self, cursor: Cursor, record: &Record<'_>) -> Result<(), Fault> {
        let mut core = self.core();
        if record.kind == Kind::Change {
            apply_change(&mut core.catalog, record);
            if record.body.is_empty() {
                self.history.forget(cursor, record.topic)?;
            }
            return Ok(());
        }
        if !record.key.is_empty() {
            core.keys.insert(record.key, cursor, record.arrival);
        }
        let Some(message) = self.decode_record(&core, cursor, record) else {
            return Ok(());
        };
        let streams = streams_of(&mut core.catalog, &message);
        core.remember(&message, &streams);
        if let Some(batch) = message.batch() {
            self.history.apply(cursor, record.arrival, batch)?;
        }
        Ok(())
    }

    /// The message that a record holds, completed as it was when it came; `None` for other kinds.
    pub(crate) fn message_of(&self, cursor: Cursor, record: &Record<'_>) -> Option<Message> {
        self.decode_record(&self.core(), cursor, record)
    }

    /// The same for who holds the lock.
    pub(crate) fn decode_record(
        &self,
        core: &Core,
        cursor: Cursor,
        record: &Record<'_>,
    ) -> Option<Message> {
        let content = match record.kind {
            Kind::Opaque => Content::Opaque(record.media.into()),
            Kind::Observations => {
                let format = weir_codec::by_name(record.media)?;
                let batch = decode_batch(format, record, &core.catalog, &self.limits)?;
                Content::Observations { batch, format }
            }
            _ => return None,
        };
        let mut message = Message::new(cursor, record.arrival, record.topic.into(), content);
        message.body = Bytes::copy_from_slice(record.body);
        message.origin = record.origin.into();
        Some(message)
    }
}

/// The observations of a record, complete; what was accepted once decodes again.
fn decode_batch(
    format: &Format,
    record: &Record<'_>,
    catalog: &Catalog,
    limits: &Limits,
) -> Option<Batch> {
    let mut builder = BatchBuilder::new();
    (format.decode)(record.body, &mut builder, limits).ok()?;
    let mut batch = builder.finish();
    batch.complete(record.topic, record.arrival).ok()?;
    for index in 0..batch.stream_count() {
        if let Some(id) = catalog.find(batch.stream(index).topic) {
            batch.fill(index, &catalog.entry(id).datastream);
        }
    }
    Some(batch)
}

fn streams_of(catalog: &mut Catalog, message: &Message) -> Vec<u32> {
    match message.batch() {
        None => catalog.intern(&message.topic).into_iter().collect(),
        Some(batch) => {
            let topics = (0..batch.stream_count()).map(|index| batch.stream(index).topic);
            topics.filter_map(|topic| catalog.intern(topic)).collect()
        }
    }
}

fn apply_change(catalog: &mut Catalog, record: &Record<'_>) {
    if record.kind != Kind::Change {
        return;
    }
    if record.body.is_empty() {
        catalog.remove(record.topic);
    } else if let (Ok(datastream), Some(id)) =
        (entry::from_json(record.body), catalog.intern(record.topic))
    {
        catalog.slot(id).entry.datastream = datastream;
    }
}
