//! The way in: decode, complete, append, remember, hand on.

use crate::access::Principal;
use crate::attributes::{Attributes, Block, BlockBytes, Quality};
use crate::catalog::StreamId;
use crate::checks;
use crate::client::ClientId;
use crate::entry;
use crate::exchange::{Fault, Media, Publish, Ticket};
use crate::hub::{Core, Hub, Streams, Wakers};
use crate::keys::{self, Used};
use crate::limits::NAME_BYTES_MAX;
use crate::log::LogFault;
use crate::message::{Content, Message, shared};
use crate::record::{Kind, Record};
use crate::route;
use crate::stood::Stood;
use crate::trace::Traced;
use crate::weight;
use bytes::Bytes;
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use weir_codec::Format;
use weir_model::batch::StreamView;
use weir_model::{Batch, BatchBuilder, BatchError, Cursor, Datastream, Place, Time};

/// A message read and checked, on its way to the log.
struct Incoming {
    topic: String,
    content: Decoded,
    body: Bytes,
    key: Vec<u8>,
    /// Of media and body, where there is a key.
    fingerprint: u64,
    origin: String,
    /// What goes with it, and the same as the log keeps it.
    block: Block,
    attributes: BlockBytes,
    client: Option<ClientId>,
    retain: bool,
    trace: Traced,
}

pub(crate) enum Decoded {
    Observations(Batch, &'static Format),
    Opaque(String),
}

impl Decoded {
    /// Bytes that are none of the formats; of a content type, where one was given.
    fn bytes(attributes: &Attributes) -> Self {
        let given = attributes.content_type.as_deref();
        let given = given.filter(|media| !media.is_empty() && media.len() <= NAME_BYTES_MAX);
        Decoded::Opaque(given.unwrap_or("application/octet-stream").into())
    }

    /// What the log calls the body.
    fn media(&self) -> &str {
        match self {
            Decoded::Observations(_, format) => format.name,
            Decoded::Opaque(media) => media,
        }
    }
}

impl Hub {
    pub(crate) fn publish(
        &self,
        now: Time,
        principal: &Principal,
        publish: Publish,
    ) -> Result<Ticket, Fault> {
        let trace = Traced::begin(self.tracer.get(), now, &publish);
        let admitted = self.admit(now, publish.body.len());
        let accepted = admitted.and_then(|_until_it_is_taken| {
            let incoming = self.read_incoming(now, principal, publish, &trace)?;
            self.accept(now, incoming)
        });
        if let Err(fault) = &accepted {
            self.counters.refused();
            trace.ended(Some(fault));
        }
        accepted
    }

    fn read_incoming(
        &self,
        now: Time,
        principal: &Principal,
        publish: Publish,
        trace: &Traced,
    ) -> Result<Incoming, Fault> {
        let key = checks::check_sent(principal, &publish)?;
        let begun = trace.now();
        let content = self.decode(&publish, now)?;
        trace.stepped("decode", begun);
        checks::check_grants(principal, &publish.topic, &content)?;
        checks::check_names(&content)?;
        let fingerprint = match key.is_empty() {
            true => 0,
            false => keys::fingerprint(content.media(), &publish.body),
        };
        let block = Block {
            quality: publish.quality,
            declared: !matches!(publish.media, Media::Undeclared),
            opaque: publish.retain && matches!(content, Decoded::Opaque(_)),
            tombstone: false,
            attributes: publish.attributes,
        };
        Ok(Incoming {
            topic: publish.topic,
            content,
            body: publish.body,
            key,
            fingerprint,
            origin: publish.origin,
            attributes: block.checked()?,
            block,
            client: publish.client,
            retain: publish.retain,
            trace: trace.clone(),
        })
    }

    fn decode(&self, publish: &Publish, now: Time) -> Result<Decoded, Fault> {
        thread_local! {
            static BUILDER: RefCell<BatchBuilder> = RefCell::default();
        }
        BUILDER.with_borrow_mut(|builder| {
            builder.clear();
            let format = match &publish.media {
                // It only removes what is retained, whatever it says that it is.
                _ if publish.retain && publish.body.is_empty() => {
                    return Ok(Decoded::bytes(&publish.attributes));
                }
                Media::Opaque(media) => return Ok(Decoded::Opaque(media.clone())),
                Media::Format(format) => self.decode_as(format, &publish.body, builder)?,
                Media::Undeclared => {
                    match weir_codec::sniff(&publish.body, builder, &self.limits) {
                        Some(format) => format,
                        None => return Ok(Decoded::bytes(&publish.attributes)),
                    }
                }
            };
            if builder.is_empty() {
                return Err(Fault::Message(BatchError::Nothing));
            }
            builder
                .complete(&publish.topic, now)
                .map_err(Fault::Message)?;
            Ok(Decoded::Observations(builder.finish(), format))
        })
    }

    fn decode_as(
        &self,
        format: &'static Format,
        body: &[u8],
        builder: &mut BatchBuilder,
    ) -> Result<&'static Format, Fault> {
        checks::check_bytes(body.len(), &self.limits)?;
        let decoded = (format.decode)(body, builder, &self.limits);
        decoded.map_err(|error| Fault::Undecodable {
            format: format.name,
            error,
        })?;
        Ok(format)
    }

    fn accept(&self, now: Time, incoming: Incoming) -> Result<Ticket, Fault> {
        let mut wakers = Wakers::new();
        let accepted = self.accept_locked(now, incoming, &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
        accepted
    }

    fn accept_locked(
        &self,
        now: Time,
        incoming: Incoming,
        wakers: &mut Wakers,
    ) -> Result<Ticket, Fault> {
        let mut core = self.core();
        if core.stopping {
            return Err(Fault::Stopping);
        }
        if let Some(used) = core.keys.find(&incoming.key) {
            return self.repeated(used, incoming.fingerprint);
        }
        if let Some(ticket) = self.submit_message(&core, now, &incoming)? {
            return Ok(ticket);
        }
        let Incoming {
            topic,
            content,
            body,
            key,
            fingerprint,
            origin,
            block,
            attributes,
            client,
            retain,
            trace,
        } = incoming;
        if retain && !body.is_empty() {
            core.retained.check_room(&topic)?;
        }
        let (content, streams) = self.locate(&mut core, now, (&topic, body.is_empty()), content)?;
        let (kind, media) = content.record_parts();
        let record = Record {
            kind: if retain { Kind::Retained } else { kind },
            arrival: now,
            topic: &topic,
            media,
            key: &key,
            origin: &origin,
            attributes: &attributes,
            body: &body,
        };
        let begun = trace.now();
        let cursor = self.log.append(&record)?;
        trace.appended(begun);
        if !key.is_empty() {
            let message = fingerprint;
            core.keys.insert(&key, Used { cursor, message }, now);
        }
        let stood = (streams.first()).and_then(|&id| core.catalog.entry(id).stood());
        let topic = core.named(topic, &streams);
        let mut message = Message::new(cursor, now, topic, content);
        message.body = body;
        message.origin = shared(&origin);
        message.client = client;
        message.take(block);
        message.retain = retain;
        message.trace = trace.clone();
        message.room = self.memory().hold(message.memory_bytes());
        let unpromised = message.quality == Quality::AtMostOnce;
        let message = Arc::new(message);
        if retain {
            core.retained.put(message.clone());
        }
        self.hand_on(&mut core, message, streams, wakers);
        Ok(self.promise(now, cursor, unpromised, stood, trace))
    }

    /// What whoever published waits for.
    fn promise(
        &self,
        now: Time,
        cursor: Cursor,
        unpromised: bool,
        stood: Option<Stood>,
        trace: Traced,
    ) -> Ticket {
        if unpromised {
            self.unasked.fetch_min(now.nanos(), Ordering::Relaxed);
        }
        let mut ticket = self.ticket(cursor);
        ticket.unpromised = unpromised;
        ticket.stood = stood;
        ticket.trace = trace;
        ticket
    }

    /// Sends a message on its way to a shared log, as far as can be told now that it will be taken.
    fn submit_message(
        &self,
        core: &Core,
        now: Time,
        incoming: &Incoming,
    ) -> Result<Option<Ticket>, Fault> {
        if self.log.shared().is_none() {
            return Ok(None);
        }
        let kind = match &incoming.content {
            Decoded::Observations(batch, _) => {
                checks::check_new(&core.catalog, batch)?;
                weight::check_batch(&core.catalog, batch)?;
                Kind::Observations
            }
            Decoded::Opaque(_) if incoming.body.is_empty() => Kind::Opaque,
            Decoded::Opaque(_) => {
                checks::check_full(&core.catalog, &incoming.topic)?;
                Kind::Opaque
            }
        };
        if incoming.retain && !incoming.body.is_empty() {
            core.retained.check_room(&incoming.topic)?;
        }
        let begun = incoming.trace.now();
        let mut ticket = self.submit(&Record {
            kind: if incoming.retain {
                Kind::Retained
            } else {
                kind
            },
            arrival: now,
            topic: &incoming.topic,
            media: incoming.content.media(),
            key: &incoming.key,
            origin: &incoming.origin,
            attributes: &incoming.attributes,
            body: &incoming.body,
        })?;
        if let Some(ticket) = &mut ticket {
            incoming.trace.appended(begun);
            ticket.trace = incoming.trace.clone();
        }
        Ok(ticket)
    }

    /// The same ticket for the same message.
    fn repeated(&self, used: Used, fingerprint: u64) -> Result<Ticket, Fault> {
        if used.message != fingerprint {
            return Err(Fault::KeyReused(used.cursor));
        }
        self.counters.repeated();
        Ok(self.ticket(used.cursor))
    }

    /// Finds the datastreams that a message is about; one that holds nothing brings none into being.
    fn locate(
        &self,
        core: &mut Core,
        now: Time,
        (topic, is_empty): (&str, bool),
        content: Decoded,
    ) -> Result<(Content, Streams), Fault> {
        match content {
            Decoded::Observations(mut batch, format) => {
                let streams = self.learn(core, now, &mut batch)?;
                Ok((Content::Observations { batch, format }, streams))
            }
            Decoded::Opaque(media) if is_empty => {
                let known = core.catalog.find(topic).into_iter().collect();
                Ok((Content::Opaque(media.into()), known))
            }
            Decoded::Opaque(media) => {
                checks::check_full(&core.catalog, topic)?;
                let stream = core.catalog.intern(topic);
                Ok((Content::Opaque(media.into()), smallvec![stream]))
            }
        }
    }

    /// Gives a message to every group that wants a part of it, and leaves it to be kept.
    pub(crate) fn hand_on(
        &self,
        core: &mut Core,
        message: Arc<Message>,
        streams: Streams,
        wakers: &mut Wakers,
    ) {
        self.counters
            .published(message.batch().map_or(0, Batch::len), message.body.len());
        let begun = message.trace.routing();
        route::distribute(core, &message, &streams, wakers);
        message.trace.stepped("route", begun);
        core.handed_on = Some((message, streams));
        self.owes.store(true, Ordering::Relaxed);
    }

    /// Does what a message that was handed on still needs: its values are the last ones, it is among the
    /// recent messages, and it waits for the history store.
    pub(crate) fn keep(&self, core: &mut Core, message: Arc<Message>, streams: &[StreamId]) {
        core.remember(&message, streams);
        core.recent.push(message.clone());
        self.enqueue_for_history(message);
    }

    /// Finds the datastreams of a batch, learns what it says of them (a record of its own in the log,
    /// so that it outlives retention) and fills in what it leaves out.
    fn learn(&self, core: &mut Core, now: Time, batch: &mut Batch) -> Result<Streams, Fault> {
        checks::check_new(&core.catalog, batch)?;
        weight::check_batch(&core.catalog, batch)?;
        let mut streams = Streams::with_capacity(batch.stream_count());
        for index in 0..batch.stream_count() {
            let id = self.learn_stream(core, now, &batch.stream(index))?;
            batch.fill(index, &core.catalog.entry(id).datastream);
            streams.push(id);
        }
        let place = |&id: &StreamId| core.catalog.entry(id).datastream.place;
        let places: SmallVec<[Option<Place>; 4]> = streams.iter().map(place).collect();
        fill_places(batch, &places);
        Ok(streams)
    }

    /// The datastream of a part of a message, with what that part says of it; nothing is learned that
    /// the log refused.
    fn learn_stream(
        &self,
        core: &mut Core,
        now: Time,
        view: &StreamView<'_>,
    ) -> Result<StreamId, Fault> {
        let known = core.catalog.find(view.topic);
        let nothing = Datastream::default();
        let before = known.map_or(&nothing, |id| &core.catalog.entry(id).datastream);
        let heard = heard(view, before);
        match known {
            Some(id) if heard == nothing && !core.catalog.entry(id).had_but_bytes() => {
                return Ok(id);
            }
            _ => {}
        }
        let mut datastream = before.clone();
        datastream.learn(&heard);
        datastream.number = Some(core.catalog.known(view.topic).0);
        let cursor = self.append_change(now, view.topic, &entry::to_json(&datastream))?;
        let id = core.catalog.intern(view.topic);
        core.catalog.take(id, cursor, datastream);
        core.journal.note(view.topic);
        Ok(id)
    }

    /// Appends what the catalog now says of a topic; an empty body says it is forgotten.
    pub(crate) fn append_change(
        &self,
        now: Time,
        topic: &str,
        body: &[u8],
    ) -> Result<weir_model::Cursor, LogFault> {
        self.log.append(&change_of(now, topic, body))
    }

    /// Sends the same on its way where the log is shared.
    pub(crate) fn submit_change(
        &self,
        now: Time,
        topic: &str,
        body: &[u8],
    ) -> Result<Option<Ticket>, Fault> {
        self.submit(&change_of(now, topic, body))
    }
}

fn change_of<'a>(now: Time, topic: &'a str, body: &'a [u8]) -> Record<'a> {
    Record {
        kind: Kind::Change,
        arrival: now,
        topic,
        media: "json",
        key: &[],
        origin: "",
        attributes: &[],
        body,
    }
}

/// What a part of a message says of its datastream that is not known.
pub(crate) fn heard(view: &StreamView<'_>, known: &Datastream) -> Datastream {
    Datastream {
        sensor: differs(view.sensor, &known.sensor),
        property: differs(view.property, &known.property),
        unit: differs(view.unit, &known.unit),
        ..Datastream::default()
    }
}

fn differs(heard: Option<&str>, known: &Option<Box<str>>) -> Option<Box<str>> {
    heard
        .filter(|heard| known.as_deref() != Some(heard))
        .map(Into::into)
}

/// Rows without a place get that of their datastream, where it was set or heard before.
pub(crate) fn fill_places(batch: &mut Batch, places: &[Option<Place>]) {
    if places.iter().all(Option::is_none) {
        return;
    }
    for row in 0..batch.len() {
        if let Some(place) = places[batch.stream_of(row)] {
            batch.fill_place(row, place);
        }
    }
}

impl Core {
    /// The topic of a message; shared with its datastream, where that has no other.
    fn named(&self, topic: String, streams: &[StreamId]) -> Arc<str> {
        let known = streams.first().map(|&id| &self.catalog.entry(id).topic);
        match known.filter(|known| ***known == *topic) {
            Some(known) => known.clone(),
            None => topic.into(),
        }
    }

    /// Keeps the last observation of each datastream of a message.
    pub(crate) fn remember(&mut self, message: &Message, streams: &[StreamId]) {
        for &id in streams {
            self.catalog.slot(id).entry.seen(message.arrival);
        }
        match &message.content {
            Content::Observations { batch, .. } => {
                let mut in_order = true;
                for row in 0..batch.len() {
                    let id = streams[batch.stream_of(row)];
                    let row = batch.row(row);
                    let (cursor, arrival) = (message.cursor, message.arrival);
                    let entry = self.catalog.observe(id, cursor, arrival, &row);
                    entry.came_through(message.cursor, &message.origin);
                    let time = row.time.unwrap_or(message.arrival);
                    in_order &= entry.count(message.cursor, time);
                }
                if in_order {
                    message.came_in_order();
                }
            }
            Content::Opaque(media) => {
                let said = streams.first().filter(|_| !message.body.is_empty());
                if let Some(&id) = said {
                    self.catalog.slot(id).entry.opaque = Some(media.clone());
                }
            }
        }
    }
}
