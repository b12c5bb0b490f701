//! From what is on disk to a hub that knows all it knew before.

use crate::attributes::Block;
use crate::decoded::{at_topic, fill_places};
use crate::descriptions;
use crate::entry;
use crate::fault::Fault;
use crate::hub::{Core, Hub};
use crate::limits::KEY_AGE_NANOS;
use crate::message::{Content, Message, shared};
use crate::state::catalog::Catalog;
use crate::state::keys::{self, Used};
use crate::state::stood::Newest;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_codec::Format;
use weir_model::{Batch, BatchBuilder, Cursor, Datastream, Limits, Time};
use weir_storage::{GapReason, Log, LogFault, Resume};
use weir_storage::{History, HistoryFault};
use weir_storage::{Kind, Record};

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
            let mut retained = Vec::new();
            let folded = hub.log.snapshot(&mut |record| match record.kind {
                Kind::Consumer => core.consumers.put(record.topic, body_of(&record)),
                // Where it stands in the log, its cursor is read from there.
                Kind::Retained => retained.extend(hub.decode_record(Cursor::START, &record)),
                Kind::Entity => core
                    .entities
                    .put(record.topic, body_of(&record), Cursor::START),
                Kind::Withdrawn => core.withdrawn.put(record.topic, true),
                _ => apply_change(&mut core.catalog, &record),
            })?;
            for mut message in retained {
                fill(&core.catalog, &mut message);
                core.retained.put(Arc::new(message));
            }
            let seen = hub.recall_last_values(&mut core, now)?;
            let known = hub.log.newest_arrival().or(seen);
            hub.begin_age(known);
            // A clock that is ahead now has forgotten no key.
            let newest = known.map_or(now, |known| known.min(now));
            let keys = hub.log.seek(newest.nanos().saturating_sub(KEY_AGE_NANOS));
            folded.min(hub.history.applied()).min(keys)
        };
        hub.core().read_from = replay_from;
        hub.replay(replay_from)?;
        hub.recall_hidden()?;
        hub.recall_newest();
        hub.history.advance(hub.log.head());
        let hub = Arc::new(hub);
        hub.follow();
        Ok(hub)
    }

    /// A history that was fed more than the log holds would take nothing new for old: what the log has lost of
    /// an epoch that it knows keeps its place. One that several gateways feed may be ahead of what this one has
    /// read of their log.
    fn refuse_a_history_without_its_log(&self) -> Result<(), Fault> {
        let (applied, head) = (self.history.applied(), self.log.head());
        let resumed = |log: &dyn Log| match log.resume(applied) {
            Resume::From(_) => None,
            Resume::Gap(gap, _) => Some(gap.reason),
        };
        let is_of_the_log = match self.log.shared() {
            None if applied <= head && applied.sequence() <= head.sequence() => true,
            None if resumed(&*self.log) == Some(GapReason::Rollback) => {
                self.log.cover(applied)?;
                true
            }
            None => false,
            Some(_) if applied == Cursor::START => true,
            Some(shared) => {
                resumed(&*self.log) != Some(GapReason::Foreign)
                    && (applied <= head || shared.reaches(applied)?)
            }
        };
        if is_of_the_log {
            return Ok(());
        }
        let problem = format!(
            "the history goes on to {applied}, ahead of the log, which ends at {head}: the log was \
             removed or is of another time; restore both together or move both away"
        );
        Err(Fault::History(HistoryFault::Failed(problem)))
    }

    /// Last values of the history store, which no longer says when they arrived: at their time, and
    /// before all else where that has not come yet, so that a clock that ran ahead pins nothing. Says the
    /// newest time that has come.
    fn recall_last_values(&self, core: &mut Core, now: Time) -> Result<Option<Time>, Fault> {
        let catalog = &mut core.catalog;
        let mut newest = None;
        self.history.latest(&mut |cursor, row| {
            let id = catalog.intern(row.topic);
            catalog.number(id);
            let time = row.time.filter(|time| *time <= now);
            let arrival = time.unwrap_or(Time::from_nanos(i64::MIN));
            let entry = catalog.observe(id, cursor, arrival, row);
            entry.last_seen = time.or(entry.last_seen);
            newest = newest.max(time);
        })?;
        Ok(newest)
    }

    /// What was read twice would be counted twice.
    fn recall_newest(&self) {
        let mut core = self.core();
        let topics: Vec<_> = core
            .catalog
            .entries_mut()
            .map(|it| it.topic.clone())
            .collect();
        let names: Vec<&str> = topics.iter().map(|topic| &**topic).collect();
        let newest = self.history.newest_of(&names);
        for (entry, newest) in core.catalog.entries_mut().zip(newest) {
            entry.newest = Newest::uncounted(newest);
            entry.last.iter_mut().for_each(|last| last.ordinal = None);
        }
    }

    fn replay(&self, from: Cursor) -> Result<(), Fault> {
        let mut reader = self.log.read(from);
        loop {
            match reader.next() {
                Ok(Some((cursor, record))) => self.replay_record(cursor, &record)?,
                Ok(None) => return Ok(()),
                // The log has said so; what is behind the hole is not to be lost with it.
                Err(LogFault::Damaged(_)) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    fn replay_record(&self, cursor: Cursor, record: &Record<'_>) -> Result<(), Fault> {
        if self.log.shared().is_some() {
            return self.take_past(cursor, record);
        }
        let mut core = self.core();
        if record.kind == Kind::Change {
            apply_change(&mut core.catalog, record);
            if record.body.is_empty() {
                core.note_forgotten(record.topic, cursor, record.arrival, &*self.log);
                self.history.forget(cursor, record.topic)?;
            }
            return Ok(());
        }
        match record.kind {
            Kind::Consumer => core.consumers.put(record.topic, body_of(record)),
            Kind::Entity => core.entities.put(record.topic, body_of(record), cursor),
            Kind::Withdrawn => core.withdrawn.put(record.topic, !record.body.is_empty()),
            _ => self.replay_message(&mut core, cursor, record)?,
        }
        Ok(())
    }

    fn replay_message(
        &self,
        core: &mut Core,
        cursor: Cursor,
        record: &Record<'_>,
    ) -> Result<(), Fault> {
        if !record.key.is_empty() {
            let message = keys::fingerprint(record.media, record.body);
            let used = Used { cursor, message };
            core.keys.insert(record.key, used, record.arrival);
        }
        let Some(mut message) = self.decode_record(cursor, record) else {
            if record.kind == Kind::Retained {
                core.retained.remove(record.topic);
            }
            return Ok(());
        };
        fill(&core.catalog, &mut message);
        let streams = streams_of(&mut core.catalog, &message);
        core.remember(&message, &streams);
        let message = Arc::new(message);
        if message.retain {
            core.retained.put(message.clone());
        }
        if let Some(batch) = message.batch() {
            self.history.apply(cursor, record.arrival, batch)?;
        }
        Ok(())
    }

    /// The message that a record holds, completed as it was when it came; `None` for other kinds.
    pub(crate) fn message_of(&self, cursor: Cursor, record: &Record<'_>) -> Option<Message> {
        let mut message = self.decode_record(cursor, record)?;
        fill(&self.core().catalog, &mut message);
        Some(message)
    }

    /// The same without what only the catalog knows: decoding is done outside of its lock.
    pub(crate) fn decode_record(&self, cursor: Cursor, record: &Record<'_>) -> Option<Message> {
        let block = Block::read(record.attributes);
        if block.tombstone {
            return None;
        }
        let content = match record.kind {
            Kind::Opaque => Content::Opaque(record.media.into()),
            Kind::Retained if block.opaque => Content::Opaque(record.media.into()),
            Kind::Observations | Kind::Retained => self.read_content(record, block.alone),
            _ => return None,
        };
        let mut message = Message::new(cursor, record.arrival, record.topic.into(), content);
        message.body = Bytes::copy_from_slice(record.body);
        message.origin = shared(record.origin);
        message.take(block);
        message.retain = record.kind == Kind::Retained;
        Some(message)
    }

    /// What was accepted once decodes again, unless the limits are lower now or the format is not built in: then it
    /// is bytes.
    fn read_content(&self, record: &Record<'_>, alone: bool) -> Content {
        let format = weir_codec::by_name(record.media);
        let batch = format.and_then(|format| decode_batch(format, record, &self.limits));
        let batch = match alone {
            true => batch.map(|batch| at_topic(&batch, record.topic)),
            false => batch,
        };
        match (format, batch) {
            (Some(format), Some(batch)) => Content::Observations { batch, format },
            _ => Content::Opaque(record.media.into()),
        }
    }
}

/// What a log knows of datastreams, by topic, for who wants no more of it.
pub fn datastreams_of(log: &dyn Log) -> Result<BTreeMap<String, Datastream>, LogFault> {
    let mut known = BTreeMap::new();
    let mut hear = |record: &Record<'_>| match entry::of_log(record.body) {
        _ if record.kind != Kind::Change => {}
        Some(change) => drop(known.insert(record.topic.to_owned(), change.datastream)),
        None if record.body.is_empty() => drop(known.remove(record.topic)),
        None => {}
    };
    let folded = log.snapshot(&mut |record| hear(&record))?;
    let mut reader = log.read(folded);
    loop {
        match reader.next() {
            Ok(Some((_, record))) => hear(&record),
            Ok(None) => break,
            Err(LogFault::Damaged(_)) => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(known)
}

fn body_of(record: &Record<'_>) -> Bytes {
    Bytes::copy_from_slice(record.body)
}

/// The observations of a record with their topics and times.
fn decode_batch(format: &Format, record: &Record<'_>, limits: &Limits) -> Option<Batch> {
    let mut builder = BatchBuilder::new();
    weir_codec::read_forgiving(format, record.body, &mut builder, limits).ok()?;
    builder.forgive();
    builder.complete(record.topic, record.arrival).ok()?;
    Some(builder.finish())
}

/// Fills in what the catalog knows and the message left out.
fn fill(catalog: &Catalog, message: &mut Message) {
    let Content::Observations { batch, .. } = &mut message.content else {
        return;
    };
    let arrival = message.arrival;
    let datastream = |topic: &str| catalog.find(topic).map(|id| &*catalog.entry(id).datastream);
    descriptions::settle(batch, datastream, arrival);
    let mut places = Vec::with_capacity(batch.stream_count());
    for index in 0..batch.stream_count() {
        let datastream = datastream(batch.stream(index).topic);
        if let Some(datastream) = datastream {
            batch.fill(index, datastream);
        }
        places.push(datastream.and_then(|datastream| datastream.place));
    }
    fill_places(batch, &places);
}

/// The datastreams of a message.
fn streams_of(catalog: &mut Catalog, message: &Message) -> Vec<u32> {
    match message.batch() {
        None if message.body.is_empty() => catalog.find(&message.topic).into_iter().collect(),
        None => vec![catalog.intern(&message.topic)],
        Some(batch) => {
            let topics = (0..batch.stream_count()).map(|index| batch.stream(index).topic);
            let numbered = topics.map(|topic| {
                let id = catalog.intern(topic);
                catalog.number(id);
                id
            });
            numbered.collect()
        }
    }
}

fn apply_change(catalog: &mut Catalog, record: &Record<'_>) {
    if record.kind != Kind::Change {
        return;
    }
    if record.body.is_empty() {
        catalog.remove(record.topic);
    } else if let Some(change) = entry::of_log(record.body) {
        let id = catalog.intern(record.topic);
        catalog.take(id, Cursor::START, change.datastream);
    }
}
