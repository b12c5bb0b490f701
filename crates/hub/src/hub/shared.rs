//! A log that several gateways append to: what that changes for the hub.
//!
//! Where the log is this gateway's own, appending gives a record its place at once. Where it is shared,
//! the log gives the place: a record is *submitted*, and every gateway, the one that submitted it too,
//! *takes* the records in the log's order. The decision worth arguing: nothing but taking changes what a
//! hub knows or hands on, so that all of them know the same (docs/decisions).
//!
//! What it deliberately does not do: no publisher is recognised in what comes back from the log, so a
//! subscriber that asks to be spared its own messages gets them where the log is shared.

use crate::descriptions::{self, Known, Learned};
use crate::entry::{self, Recorded};
use crate::fault::Fault;
use crate::hub::{Core, Hub, learn};
use crate::message::{Content, Message};
use crate::queue::Wakers;
use crate::state::keys::{self, Used};
use crate::state::numbers::Streams;
use crate::ticket::{InLog, Ticket};
use crate::trace::Traced;
use bytes::Bytes;
use smallvec::smallvec;
use std::sync::{Arc, Weak};
use std::task::Waker;
use weir_model::{Batch, Cursor, Datastream, Time};
use weir_storage::{Kind, Record};

/// What a record taught of datastreams, to be logged so that it outlives retention.
type Taught = Vec<(Arc<str>, Datastream)>;

impl Hub {
    /// Sends a record on its way where the log is shared; `None` where it is this gateway's own.
    pub(crate) fn submit(&self, record: &Record<'_>) -> Result<Option<Ticket>, Fault> {
        let Some(shared) = self.log.shared() else {
            return Ok(None);
        };
        let receipt = shared.submit(record)?;
        Ok(Some(self.ticket_of(InLog::Awaited(receipt))))
    }

    /// Begins to take what the log's other gateways submit, and what this one does.
    pub(crate) fn follow(self: &Arc<Self>) {
        let Some(shared) = self.log.shared() else {
            return;
        };
        let hub: Weak<Self> = Arc::downgrade(self);
        shared.follow(Box::new(move |cursor, record| {
            let hub = hub.upgrade();
            hub.map(|hub| hub.take(cursor, record)).is_some()
        }));
    }

    fn take(&self, cursor: Cursor, record: &Record<'_>) {
        let mut message = self.decode_record(cursor, record);
        if let Some(message) = &mut message {
            let of = (&*message.topic, message.body.len());
            message.trace = Traced::go_on(self.tracer.get(), &message.attributes, of);
            message.room = self.memory().hold(message.memory_bytes());
        }
        let mut wakers = Wakers::new();
        let mut core = self.core();
        let mut taught = Taught::new();
        if let Some((message, streams)) =
            self.take_in(&mut core, (cursor, false), record, message, &mut taught)
        {
            if let Some(&first) = streams.first() {
                let newest = core.catalog.entry(first).newest;
                core.before.note(cursor, newest);
            }
            self.hand_on(&mut core, message, streams, &mut wakers);
        }
        if record.kind == Kind::Change && record.body.is_empty() {
            self.enqueue_forget(cursor, record.topic);
        }
        if record.kind == Kind::Withdrawn && !record.body.is_empty() {
            // Whoever follows the log never waits for the history.
            self.enqueue_recall(cursor, record.topic);
        }
        if let Some(shared) = self.log.shared() {
            shared.taken(cursor);
        }
        drop(core);
        wakers.into_iter().for_each(Waker::wake);
        for (topic, datastream) in taught {
            self.submit_taught(cursor, record.arrival, &topic, &datastream);
        }
    }

    /// Takes a record of before this run.
    pub(crate) fn take_past(&self, cursor: Cursor, record: &Record<'_>) -> Result<(), Fault> {
        let message = self.decode_record(cursor, record);
        let mut core = self.core();
        let taken = self.take_in(
            &mut core,
            (cursor, true),
            record,
            message,
            &mut Taught::new(),
        );
        if let Some((message, streams)) = taken {
            core.remember(&message, &streams);
            if let Some(batch) = message.batch() {
                self.history.apply(cursor, record.arrival, batch)?;
            }
        }
        if record.kind == Kind::Change && record.body.is_empty() {
            self.history.forget(cursor, record.topic)?;
        }
        Ok(())
    }

    /// Brings what is known up to date with a record; gives back the message that it holds.
    fn take_in(
        &self,
        core: &mut Core,
        (cursor, is_past): (Cursor, bool),
        record: &Record<'_>,
        message: Option<Message>,
        taught: &mut Taught,
    ) -> Option<(Arc<Message>, Streams)> {
        let body = || Bytes::copy_from_slice(record.body);
        match record.kind {
            Kind::Change => {
                if record.body.is_empty() {
                    core.note_forgotten(record.topic, cursor, record.arrival, &*self.log);
                }
                core.take_change(cursor, record, is_past, taught);
            }
            Kind::Consumer => core.take_consumer(cursor, record.topic, body()),
            Kind::Entity => {
                core.entities.put(record.topic, body(), cursor);
                core.journal.note(record.topic);
            }
            Kind::Withdrawn => {
                core.withdrawn.put(record.topic, !record.body.is_empty());
                core.reread(&*self.log);
            }
            Kind::Observations | Kind::Opaque | Kind::Retained => {
                return self.take_message(core, cursor, record, message, taught);
            }
        }
        None
    }

    fn take_message(
        &self,
        core: &mut Core,
        cursor: Cursor,
        record: &Record<'_>,
        message: Option<Message>,
        taught: &mut Taught,
    ) -> Option<(Arc<Message>, Streams)> {
        if !record.key.is_empty() {
            let message = keys::fingerprint(record.media, record.body);
            let used = Used { cursor, message };
            core.keys.insert(record.key, used, record.arrival);
        }
        let Some(mut message) = message else {
            core.retained.remove(record.topic);
            return None;
        };
        let streams = match &mut message.content {
            Content::Observations { batch, .. } => {
                core.take_streams((cursor, record.arrival), batch, taught)
            }
            Content::Opaque(_) if message.body.is_empty() => {
                core.catalog.find(record.topic).into_iter().collect()
            }
            Content::Opaque(_) => smallvec![core.catalog.intern(record.topic)],
        };
        let message = Arc::new(message);
        if message.retain {
            core.retained.put(message.clone());
        }
        Some((message, streams))
    }

    /// Every gateway submits it, and the first one's is kept, as they have the same key.
    fn submit_taught(&self, cursor: Cursor, now: Time, topic: &str, datastream: &Datastream) {
        let submitted = self.submit(&Record {
            kind: Kind::Change,
            arrival: now,
            topic,
            media: "json",
            key: &cursor.bits().to_be_bytes(),
            origin: "",
            attributes: &[],
            body: &entry::to_json(datastream),
        });
        // The message itself teaches it again as long as the log keeps that.
        drop(submitted);
    }
}

impl Core {
    /// What is set of a datastream replaces what is known. What a message had taught is known from that
    /// message, wherever the datastream is, but for its number.
    fn take_change(
        &mut self,
        cursor: Cursor,
        record: &Record<'_>,
        is_past: bool,
        taught: &mut Taught,
    ) {
        let topic = record.topic;
        if record.body.is_empty() {
            self.withdrawn.take(topic);
            if self.catalog.remove(topic) {
                self.journal.note(topic);
            }
            return;
        }
        let Some(change) = entry::of_log(record.body) else {
            return;
        };
        let known = self.catalog.find(topic);
        let is_said = match known.filter(|_| !record.key.is_empty()) {
            Some(id) => {
                let said = change.datastream.number;
                said.is_some_and(|number| self.catalog.take_number(id, number))
            }
            None => self.take_declared(cursor, record, change, is_past),
        };
        self.journal.note(topic);
        if let Some(id) = self.catalog.find(topic).filter(|_| !is_said) {
            self.catalog.number(id);
            let entry = self.catalog.entry(id);
            taught.push((entry.topic.clone(), Datastream::clone(&entry.datastream)));
        }
    }

    /// Takes what was declared as of what is known here, which may be more than was known where it was said; `false`
    /// where the record does not say all that it is now. Of the past, descriptions that are known already stay.
    fn take_declared(
        &mut self,
        cursor: Cursor,
        record: &Record<'_>,
        change: Recorded,
        is_past: bool,
    ) -> bool {
        let mut is_whole = true;
        let id = self.catalog.intern(record.topic);
        let entry = self.catalog.entry(id);
        let Recorded {
            mut datastream,
            said,
        } = change;
        let known = entry.datastream.clone();
        if is_past {
            if known.descriptions.len() > datastream.descriptions.len() {
                datastream.keep_descriptions(&known);
            }
        } else if let Some((said, is_correction)) = said
            && let Ok(declared) =
                descriptions::declare(Some(entry), &said, is_correction, record.arrival)
            && declared.descriptions != datastream.descriptions
        {
            let number = datastream.number;
            datastream = Datastream { number, ..declared };
            is_whole = false;
        }
        self.catalog.take(id, cursor, datastream) && is_whole
    }

    /// Finds the datastreams of a batch, learns what it says of them and fills in what it leaves out.
    fn take_streams(
        &mut self,
        (cursor, arrival): (Cursor, Time),
        batch: &mut Batch,
        taught: &mut Taught,
    ) -> Streams {
        let known: Known = (0..batch.stream_count())
            .map(|index| self.catalog.find(batch.stream(index).topic))
            .collect();
        for Learned {
            topic,
            mut datastream,
            ..
        } in descriptions::hear(&self.catalog, batch, &known, arrival)
        {
            let id = self.catalog.intern(&topic);
            datastream.number = Some(self.catalog.number(id));
            self.journal.note(&topic);
            taught.push((topic, datastream.clone()));
            self.catalog.describe(id, cursor, datastream);
        }
        for id in known.iter().flatten() {
            self.catalog.number(*id);
        }
        learn::fill(&self.catalog, batch, &known)
    }
}

#[cfg(test)]
mod stream;
#[cfg(test)]
mod tests;
