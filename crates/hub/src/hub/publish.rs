//! The way in: decode, complete, append, remember, hand on.

use crate::access::{Principal, Verb};
use crate::attributes::{Block, Quality};
use crate::checks;
use crate::decoded::{Decoded, Unread, at_topic};
use crate::descriptions::Known;
use crate::fault::Fault;
use crate::hub::{Core, Hub, distribute};
use crate::incoming::{Incoming, looks_like};
use crate::message::{Content, Message};
use crate::problem::Publisher;
use crate::queue::Wakers;
use crate::requests::{Media, Publish};
use crate::state::keys::{self, Used};
use crate::state::numbers::{StreamId, Streams};
use crate::state::stood::Stood;
use crate::ticket::Ticket;
use crate::trace::Traced;
use smallvec::smallvec;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use weir_codec::{DecodeError, Format};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, BatchError, Cursor, Time};
use weir_storage::LogFault;
use weir_storage::{Kind, Record};

impl Hub {
    pub(crate) fn publish(
        &self,
        now: Time,
        principal: &Principal,
        mut publish: Publish,
    ) -> Result<Ticket, Fault> {
        let taken = self.offer(now, principal, &mut publish);
        if let Err(fault) = &taken {
            self.note_refused(&publisher(now, principal, &publish), fault, 1);
        }
        taken
    }

    /// The same, but for a refusal, which is neither counted nor told: something else may be tried.
    pub(crate) fn offer(
        &self,
        now: Time,
        principal: &Principal,
        publish: &mut Publish,
    ) -> Result<Ticket, Fault> {
        let of = (&publish.attributes, &*publish.topic, publish.body.len());
        let trace = Traced::begin(self.tracer.get(), now, publish.incoming, of);
        let admitted = self.admit(now, publish.body.len());
        let accepted = admitted.and_then(|_until_it_is_taken| {
            let mut incoming = self.read_incoming(now, principal, publish, &trace)?;
            let accepted = self.accept(now, principal, &mut incoming);
            // It is the message's now, or nobody's.
            publish.topic = incoming.topic;
            Ok((accepted?, incoming.unread))
        });
        match accepted {
            Ok((ticket, unread)) => {
                if let Some(unread) = unread {
                    self.note_unread(&publisher(now, principal, publish), &unread);
                }
                Ok(ticket)
            }
            Err(fault) => {
                trace.ended(Some(&fault));
                Err(fault)
            }
        }
    }

    fn read_incoming(
        &self,
        now: Time,
        principal: &Principal,
        publish: &mut Publish,
        trace: &Traced,
    ) -> Result<Incoming, Fault> {
        let key = checks::check_sent(principal, publish)?;
        let begun = trace.now();
        let read = self.read(now, principal, publish);
        if read.is_ok() {
            trace.stepped("decode", begun);
        }
        // Whom a refusal would not reach has at least what he sent kept, where he may publish that.
        let may_be_bytes = publish.media.may_be_bytes();
        let Read {
            content,
            unread,
            alone,
            ..
        } = match read {
            Ok(read) => read,
            Err(fault)
                if may_be_bytes
                    && fault.is_of_content()
                    && principal.grants.allow(Verb::Publish, &publish.topic) =>
            {
                let unread = Some(Box::new(Unread::Fault(fault)));
                Read {
                    unread,
                    ..Decoded::bytes(&publish.attributes).into()
                }
            }
            Err(fault) => return Err(fault),
        };
        let fingerprint = match key.is_empty() {
            true => 0,
            false => keys::fingerprint(content.media(), &publish.body),
        };
        let block = Block {
            quality: publish.quality,
            declared: !matches!(publish.media, Media::Undeclared),
            opaque: publish.retain && matches!(content, Decoded::Opaque(_)),
            tombstone: false,
            alone,
            attributes: std::mem::take(&mut publish.attributes),
        };
        Ok(Incoming {
            attributes: block.checked()?,
            topic: std::mem::take(&mut publish.topic),
            content,
            body: std::mem::take(&mut publish.body),
            key,
            fingerprint,
            origin: std::mem::take(&mut publish.origin),
            block,
            client: publish.client,
            retain: publish.retain,
            trace: trace.clone(),
            may_be_bytes,
            is_answered: publish.is_answered,
            unread,
        })
    }

    /// What a message holds, where its publisher may publish all of that; and what of it is not understood.
    fn read(&self, now: Time, principal: &Principal, publish: &Publish) -> Result<Read, Fault> {
        let mut read = self.decode(publish, now)?;
        if let Err(denied) = checks::check_grants(principal, &publish.topic, &read.content) {
            read = read.without_others(principal, &publish.topic, denied)?;
        }
        checks::check_names(&read.content)?;
        Ok(read)
    }

    fn decode(&self, publish: &Publish, now: Time) -> Result<Read, Fault> {
        thread_local! {
            static BUILDER: RefCell<BatchBuilder> = RefCell::default();
        }
        BUILDER.with_borrow_mut(|builder| {
            builder.clear();
            let format = match &publish.media {
                // It only removes what is retained, whatever it says that it is.
                _ if publish.retain && publish.body.is_empty() => {
                    return Ok(Decoded::bytes(&publish.attributes).into());
                }
                Media::Opaque(media) => return Ok(Decoded::Opaque(media.clone()).into()),
                Media::Format(format) => self.decode_as(format, &publish.body, builder)?,
                Media::Claimed(format) => self.decode_claimed(format, &publish.body, builder)?,
                Media::Undeclared => {
                    match weir_codec::sniff(&publish.body, builder, &self.limits) {
                        Some(format) => format,
                        None => match looks_like(&publish.body) {
                            Some(format) => self.decode_as(format, &publish.body, builder)?,
                            None => return Ok(unknown(publish)),
                        },
                    }
                }
            };
            if builder.is_empty() {
                return Err(Fault::Message(BatchError::Nothing));
            }
            if publish.media.may_be_bytes() {
                builder.forgive();
            }
            let has_others = has_others(builder.batch());
            builder
                .complete(&publish.topic, now)
                .and_then(|()| builder.batch().check_periods())
                .map_err(Fault::Message)?;
            let flaws = builder.take_flaws();
            let batch = builder.finish();
            let unread = (!flaws.is_empty())
                .then(|| Box::new(Unread::Parts(flaws, batch.stream(0).topic.into())));
            Ok(Read {
                content: Decoded::Observations(batch, format),
                unread,
                has_others,
                alone: false,
            })
        })
    }

    /// Reads what can be read of a body whose publisher cannot be told what is wrong with it; in another format
    /// where it is in none of that which it is said to be in.
    fn decode_claimed(
        &self,
        format: &'static Format,
        body: &[u8],
        builder: &mut BatchBuilder,
    ) -> Result<&'static Format, Fault> {
        checks::check_bytes(body.len(), &self.limits)?;
        let read = weir_codec::read_forgiving(format, body, builder, &self.limits);
        if read.is_ok() && !builder.is_empty() {
            return Ok(format);
        }
        builder.clear();
        if let Some(format) = weir_codec::sniff(body, builder, &self.limits) {
            return Ok(format);
        }
        read.map_err(|error| undecodable(format, error))?;
        Err(Fault::Message(BatchError::Nothing))
    }

    fn decode_as(
        &self,
        format: &'static Format,
        body: &[u8],
        builder: &mut BatchBuilder,
    ) -> Result<&'static Format, Fault> {
        checks::check_bytes(body.len(), &self.limits)?;
        let decoded = (format.decode)(body, builder, &self.limits);
        decoded.map_err(|error| undecodable(format, error))?;
        Ok(format)
    }

    fn accept(
        &self,
        now: Time,
        principal: &Principal,
        incoming: &mut Incoming,
    ) -> Result<Ticket, Fault> {
        let mut wakers = Wakers::new();
        let accepted = self.accept_locked(now, principal, incoming, &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
        accepted
    }

    fn accept_locked(
        &self,
        now: Time,
        principal: &Principal,
        incoming: &mut Incoming,
        wakers: &mut Wakers,
    ) -> Result<Ticket, Fault> {
        let mut core = self.core();
        if core.stopping {
            return Err(Fault::Stopping);
        }
        if let Some(used) = core.keys.find(&incoming.key) {
            return self.repeated(used, incoming);
        }
        let known = incoming.fit(now, principal, &core)?;
        if let Some(ticket) = self.submit_message(now, incoming)? {
            return Ok(ticket);
        }
        let nothing = Decoded::Opaque(String::new());
        let content = std::mem::replace(&mut incoming.content, nothing);
        let (topic, body) = (&incoming.topic, &incoming.body);
        let about = (topic.as_str(), body.len());
        let (content, streams) = self.locate(&mut core, now, about, content, &known)?;
        let (kind, media) = content.record_parts();
        let record = incoming.record(now, kind, media);
        let begun = incoming.trace.now();
        let cursor = self.log.append(&record)?;
        incoming.trace.appended(begun);
        if !incoming.key.is_empty() {
            let message = incoming.fingerprint;
            core.keys
                .insert(&incoming.key, Used { cursor, message }, now);
        }
        let stood = (streams.first()).and_then(|&id| core.catalog.entry(id).stood());
        let topic = core.named(&incoming.topic, &streams);
        let mut message = incoming.message(Message::new(cursor, now, topic, content));
        message.room = self.memory().hold(message.memory_bytes());
        let unpromised = message.quality == Quality::AtMostOnce;
        let message = Arc::new(message);
        if message.retain {
            core.retained.put(message.clone());
        }
        self.hand_on(&mut core, message, streams, wakers);
        Ok(self.promise(now, cursor, unpromised, stood, incoming.trace.clone()))
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
    fn submit_message(&self, now: Time, incoming: &Incoming) -> Result<Option<Ticket>, Fault> {
        if self.log.shared().is_none() {
            return Ok(None);
        }
        let kind = match &incoming.content {
            Decoded::Observations(..) => Kind::Observations,
            Decoded::Opaque(_) => Kind::Opaque,
        };
        let begun = incoming.trace.now();
        let mut ticket = self.submit(&incoming.record(now, kind, incoming.content.media()))?;
        if let Some(ticket) = &mut ticket {
            incoming.trace.appended(begun);
            ticket.trace = incoming.trace.clone();
        }
        Ok(ticket)
    }

    /// The same ticket for the same message.
    fn repeated(&self, used: Used, incoming: &Incoming) -> Result<Ticket, Fault> {
        let is_same = used.message == incoming.fingerprint
            || incoming.may_be_bytes && used.message == incoming.fingerprint_of_bytes();
        if !is_same {
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
        (topic, body_bytes): (&str, usize),
        content: Decoded,
        known: &Known,
    ) -> Result<(Content, Streams), Fault> {
        match content {
            Decoded::Observations(mut batch, format) => {
                let streams = self.learn(core, now, &mut batch, (known, body_bytes))?;
                Ok((Content::Observations { batch, format }, streams))
            }
            Decoded::Opaque(media) if body_bytes == 0 => {
                let known = core.catalog.find(topic).into_iter().collect();
                Ok((Content::Opaque(media.into()), known))
            }
            Decoded::Opaque(media) => {
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
        distribute::distribute(core, &message, &streams, wakers);
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

/// What a message holds.
struct Read {
    content: Decoded,
    /// What of it is not understood.
    unread: Option<Box<Unread>>,
    /// Whether it is a value with others beside it, which lie below its topic.
    has_others: bool,
    /// Whether those others are left out.
    alone: bool,
}

impl From<Decoded> for Read {
    fn from(content: Decoded) -> Self {
        Self {
            content,
            unread: None,
            has_others: false,
            alone: false,
        }
    }
}

impl Read {
    /// The value of a message without what is beside it, which its publisher may not publish: who may publish at one
    /// topic need not know that what else it says lies below.
    #[cold]
    fn without_others(
        self,
        principal: &Principal,
        topic: &str,
        denied: Fault,
    ) -> Result<Self, Fault> {
        match self.content {
            Decoded::Observations(batch, format)
                if self.has_others && principal.grants.allow(Verb::Publish, topic) =>
            {
                Ok(Self {
                    unread: Some(Box::new(Unread::Below(denied))),
                    alone: true,
                    ..Decoded::Observations(at_topic(&batch, topic), format).into()
                })
            }
            _ => Err(denied),
        }
    }
}

/// Whether a message is a value with others beside it, before its names are made topics.
fn has_others(batch: &Batch) -> bool {
    let naming = |index| batch.stream(index).naming;
    batch.stream_count() > 1
        && naming(0) == Naming::Sent
        && naming(batch.stream_count() - 1) == Naming::Below
}

pub(crate) fn publisher<'a>(
    now: Time,
    principal: &'a Principal,
    publish: &'a Publish,
) -> Publisher<'a> {
    Publisher {
        now,
        principal,
        client: publish.client,
        topic: &publish.topic,
    }
}

fn undecodable(format: &Format, error: DecodeError) -> Fault {
    Fault::Undecodable {
        format: format.name,
        error,
    }
}

/// A body that is none of the formats; a problem, unless its publisher said what else it is.
fn unknown(publish: &Publish) -> Read {
    let is_said = publish.attributes.content_type.is_some() || publish.body.is_empty();
    let flaw = (!is_said).then(|| weir_codec::unreadable(&publish.body));
    Read {
        unread: flaw.map(|flaw| Box::new(Unread::Opaque(flaw))),
        ..Decoded::bytes(&publish.attributes).into()
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

impl Core {
    /// The topic of a message; shared with its datastream, where that has no other.
    fn named(&self, topic: &str, streams: &[StreamId]) -> Arc<str> {
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
