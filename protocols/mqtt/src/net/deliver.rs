//! From the hub's subscriptions to the client: what is due, as far as the client takes it.

use super::framing::write_gap;
use super::member::Member;
use super::packets::{Part, has_expired, parts_of, qos_of, told, write_attributes, write_cursor};
use super::subscribe::Opener;
use super::subscription::{Source, Subscribed, Work};
use crate::limits::UNSENT_BYTES_MAX;
use crate::session::{Delivery, Sent, Server, Stage, State, Token};
use crate::wire::{Framed, Property, PropertyList, QoS, frame};
use bytes::Bytes;
use std::task::{Context, Poll, ready};
use weir_binding::hand_over_next;
use weir_carrier::outbox::Outbox;
use weir_hub::{Fault, Gap, GapReason, Item, Next};
use weir_model::{Cursor, Time};

/// Says in a token that a message came from the table of retained ones.
const RETAINED: u32 = 1 << 31;

/// Hands over what is due.
pub(super) struct Deliverer<'a> {
    pub(super) opener: Opener<'a>,
    pub(super) server: &'a mut Server,
    pub(super) outbox: &'a mut Outbox,
    pub(super) now: Time,
    /// Messages handed over.
    pub(super) sent: u64,
    /// Whether one of them went out with QoS 2.
    pub(super) sent_exactly_once: bool,
}

/// What a look at a subscription came to.
#[derive(PartialEq, Eq)]
enum Looked {
    /// Nothing is due, or nothing more can be sent.
    Idle,
    /// Something was sent, and there may be more.
    Sent,
    /// Messages were dropped before they were taken: open it again from where the client is.
    Lapped,
}

impl Deliverer<'_> {
    /// Takes from each subscription in turn what is due; says whether there may be more at once.
    pub(super) fn deliver(
        &mut self,
        member: &mut Member,
        cx: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        let count = member.subscriptions.len();
        let mut more = false;
        for step in 0..count {
            let at = member.turn.wrapping_add(step) % count;
            if self.outbox.waiting() >= UNSENT_BYTES_MAX {
                // Who was not served begins the next time.
                member.turn = at;
                return Ok(more);
            }
            match self.look(member, at, cx)? {
                Looked::Idle => {}
                Looked::Sent => more = true,
                Looked::Lapped => {
                    self.opener.reopen(member, at);
                    more = true;
                }
            }
        }
        member.turn = member.turn.wrapping_add(1);
        Ok(more)
    }

    fn look(
        &mut self,
        member: &mut Member,
        at: usize,
        cx: &mut Context<'_>,
    ) -> Result<Looked, Fault> {
        let client = member.client;
        let of = &mut member.subscriptions[at];
        if let Source::Framed(subscription) = &mut of.source {
            return match subscription.poll_next(cx) {
                Poll::Pending => Ok(Looked::Idle),
                Poll::Ready(next) => Ok(match next? {
                    Next::Bytes(bytes, cursor) => {
                        of.delivered = of.delivered.max(cursor);
                        self.sent += packets_in(&bytes);
                        self.outbox.push(bytes);
                        Looked::Sent
                    }
                    Next::Items(..) | Next::Unframed(..) | Next::Gap(..) => Looked::Sent,
                    Next::Ended(_) => {
                        of.source = Source::Ended;
                        Looked::Idle
                    }
                }),
            };
        }
        loop {
            if !self.send_work(of, client, cx) {
                return Ok(Looked::Idle);
            }
            match poll_source(of, cx)? {
                Poll::Pending => return Ok(Looked::Idle),
                Poll::Ready(false) => return Ok(Looked::Lapped),
                Poll::Ready(true) => {}
            }
        }
    }

    /// Sends what was taken; `false` where the client or its socket takes no more now.
    fn send_work(
        &mut self,
        of: &mut Subscribed,
        client: weir_hub::ClientId,
        cx: &mut Context<'_>,
    ) -> bool {
        let Some(mut work) = of.work.take() else {
            return true;
        };
        let sent = self.send_items(of, &mut work, client, cx);
        let nothing = work.items.is_empty() && work.taken.is_empty();
        if !nothing || work.gap.is_some() || work.again.is_some() {
            of.work = Some(work);
        }
        sent
    }

    /// In the order of the log, which is that of publishing [MQTT-4.6.0-5] [MQTT-4.6.0-6].
    fn send_items(
        &mut self,
        of: &mut Subscribed,
        work: &mut Work,
        client: weir_hub::ClientId,
        cx: &mut Context<'_>,
    ) -> bool {
        while let Some(item) = work.items.front().cloned() {
            if self.outbox.waiting() >= UNSENT_BYTES_MAX {
                return false;
            }
            // [MQTT-3.8.3-3]
            let own = of.options.no_local && item.message.client == Some(client);
            if work.parts.is_empty() && !own {
                let Poll::Ready(parts) = self.parts(of, work, &item, cx) else {
                    return false;
                };
                work.parts = parts.into();
                work.part = 0;
            }
            while !work.parts.is_empty() {
                if !self.send_part(of, work, &item) {
                    return false;
                }
                work.parts.pop_front();
                work.part += 1;
            }
            work.items.pop_front();
            work.again_items = work.again_items.saturating_sub(1);
            let cursor = item.message.cursor;
            if !item.retained {
                of.delivered = of.delivered.max(cursor);
            }
            if !work
                .taken
                .iter()
                .any(|(token, _)| token.cursor == cursor.bits())
            {
                of.settle(cursor);
            }
        }
        true
    }

    /// The packets of a message, once they are made.
    fn parts(
        &self,
        of: &Subscribed,
        work: &mut Work,
        item: &Item,
        cx: &mut Context<'_>,
    ) -> Poll<Vec<Part>> {
        let conversion = of.conversion.as_deref();
        if work.telling.is_none() {
            let rendered = conversion.and_then(|conversion| conversion.rendered.as_ref());
            let Some(rendered) = rendered.filter(|of| of.rendering.reads_past(item)) else {
                return Poll::Ready(parts_of(item, conversion));
            };
            let (rendered, item) = (rendered.clone(), item.clone());
            let workers = self.opener.context.workers();
            let telling = hand_over_next(&*workers, move || told(&item, &rendered));
            // Who is refused is told nothing of this one.
            let Ok(telling) = telling else {
                return Poll::Ready(Vec::new());
            };
            work.telling = Some(telling);
        }
        let polled = work.telling.as_mut().map(|telling| telling.poll(cx));
        let told = ready!(polled.unwrap_or(Poll::Ready(None)));
        work.telling = None;
        Poll::Ready(told.unwrap_or_default())
    }

    /// Sends one packet; `false` where the client takes no more of its quality now.
    fn send_part(&mut self, of: &Subscribed, work: &mut Work, item: &Item) -> bool {
        let message = &item.message;
        let Some(part) = work.parts.front() else {
            return true;
        };
        let token = Token {
            cursor: message.cursor.bits(),
            subscription: of.key,
            part: work.part | if item.retained { RETAINED } else { 0 },
        };
        // [MQTT-3.8.4-8] [MQTT-4.8.2-3]
        let qos = of.options.qos.min(qos_of(message.quality));
        // What was sent once does not expire [MQTT-4.3.3-7] [MQTT-4.3.3-13].
        let again = self.server.is_unacknowledged(&token);
        let done_before = if of.is_shared() {
            work.again_items > 0
        } else {
            !item.retained && of.before(|before| message.cursor <= before.resumed)
        };
        if !again && (done_before || has_expired(message, self.now)) {
            return true;
        }
        let mut properties = PropertyList::default();
        let format = of.conversion.as_deref().map(|conversion| conversion.format);
        let now = || self.now;
        write_attributes(&message.attributes, format, now, &mut properties);
        // [MQTT-3.3.4-3] [MQTT-3.3.4-5]
        if let Some(id) = of.identifier {
            properties.push(Property::SubscriptionIdentifier(id));
        }
        if of.wants_cursor {
            write_cursor(message.cursor, &mut properties);
            if let Some(gap) = &work.gap {
                write_gap(gap, &mut properties);
            }
        }
        let delivery = Delivery {
            topic: &part.topic,
            qos,
            // [MQTT-3.3.1-12] [MQTT-3.3.1-13]
            retain: item.retained || (of.options.retain_as_published && message.retain),
            properties: &mut properties,
            payload_bytes: part.payload.len(),
            token,
        };
        let out = self.outbox.tail();
        let may_repeat = of.before(|before| message.cursor <= before.doubtful);
        let sent = if !item.retained && may_repeat {
            // [MQTT-3.3.1-1]
            self.server.deliver_perhaps_again(delivery, out)
        } else {
            self.server.deliver(delivery, out)
        };
        match sent {
            Sent::Full => return false,
            Sent::TooLarge => return true,
            Sent::Head => {}
        }
        self.outbox.push(part.payload.clone());
        self.sent += 1;
        self.sent_exactly_once |= qos == QoS::ExactlyOnce;
        work.gap = None;
        // One of QoS 2 is this member's to complete, or nobody's [MQTT-4.8.2-4] [MQTT-4.8.2-5].
        if qos == QoS::AtLeastOnce && of.is_shared() {
            work.taken.push((token, item.clone()));
        }
        true
    }
}

/// Takes what the source has; `false` where messages were dropped that must not be.
fn poll_source(of: &mut Subscribed, cx: &mut Context<'_>) -> Result<Poll<bool>, Fault> {
    let promised = of.options.qos != QoS::AtMostOnce;
    let next = match &mut of.source {
        Source::Framed(_) | Source::Ended => return Ok(Poll::Pending),
        Source::Followed(followed) => {
            return Ok(followed.poll(cx).map(|items| {
                of.work.get_or_insert_default().items.extend(items);
                true
            }));
        }
        Source::Items(subscription) => match subscription.poll_next(cx) {
            Poll::Pending => return Ok(Poll::Pending),
            Poll::Ready(next) => next?,
        },
        Source::Shared(..) if poll_again(&mut of.work, cx)? => return Ok(Poll::Ready(true)),
        Source::Shared(share, member) => match share.poll_take(*member, cx) {
            Poll::Pending => return Ok(Poll::Pending),
            Poll::Ready(item) => match item? {
                Some(item) => {
                    of.work.get_or_insert_default().items.push_back(item);
                    return Ok(Poll::Ready(true));
                }
                None => {
                    of.source = Source::Ended;
                    return Ok(Poll::Pending);
                }
            },
        },
    };
    match next {
        Next::Items(items, _) => {
            let work = of.work.get_or_insert_default();
            work.items.extend(items.iter().cloned());
        }
        Next::Gap(gap, _) if gap.reason == GapReason::Policy && promised => {
            return Ok(Poll::Ready(false));
        }
        Next::Gap(gap, _) => {
            let told = &mut of.work.get_or_insert_default().gap;
            *told = Some(told.map_or(gap, |before| both(before, gap)));
        }
        Next::Bytes(..) | Next::Unframed(..) => {}
        Next::Ended(_) => {
            of.source = Source::Ended;
            return Ok(Poll::Pending);
        }
    }
    Ok(Poll::Ready(true))
}

/// Two gaps with nothing between them, as one.
fn both(before: Gap, after: Gap) -> Gap {
    if before.reason == after.reason {
        Gap {
            count: before.count.zip(after.count).map(|(a, b)| a + b),
            ..after
        }
    } else {
        Gap {
            count: None,
            ..after
        }
    }
}

/// Takes of what is read once more for a member of a share what is due; says whether anything was read.
fn poll_again(of: &mut Option<Box<Work>>, cx: &mut Context<'_>) -> Result<bool, Fault> {
    let Some(work) = of else {
        return Ok(false);
    };
    let Some(again) = &mut work.again else {
        return Ok(false);
    };
    let Poll::Ready(next) = again.subscription.poll_next(cx) else {
        return Ok(false);
    };
    let (items, upto) = match next? {
        Next::Items(items, upto) => (items, upto),
        Next::Bytes(..) | Next::Unframed(..) | Next::Gap(..) => return Ok(true),
        Next::Ended(_) => {
            work.again = None;
            return Ok(true);
        }
    };
    let is_due = |item: &&Item| again.due.binary_search(&item.message.cursor).is_ok();
    let found = items.iter().filter(is_due).cloned();
    let before = work.items.len();
    work.items.extend(found);
    work.again_items += work.items.len() - before;
    if again.due.last().is_none_or(|last| *last <= upto) {
        work.again = None;
    }
    Ok(true)
}

/// How many packets stand in these bytes.
fn packets_in(bytes: &Bytes) -> u64 {
    let (mut at, mut count) = (0, 0);
    while let Ok(Framed::Whole(header)) = frame(&bytes[at..], usize::MAX) {
        at += header.end;
        count += 1;
    }
    count
}

/// The messages under way of a subscription that are to be sent again, ascending, retained ones aside.
pub(super) fn in_flight(state: &State, subscription: u32) -> Vec<Cursor> {
    let of = state.in_flight.iter().filter(|of| {
        let token = &of.token;
        let is_live = token.subscription == subscription && token.part & RETAINED == 0;
        is_live && of.stage != Stage::Pubcomp
    });
    let mut found: Vec<Cursor> = of.map(|of| Cursor::from_bits(of.token.cursor)).collect();
    found.sort_unstable();
    found
}

/// The token of a whole retained message.
pub(super) fn retained_token(message: &weir_hub::Message, subscription: u32) -> Token {
    Token {
        cursor: message.cursor.bits(),
        subscription,
        part: RETAINED,
    }
}
