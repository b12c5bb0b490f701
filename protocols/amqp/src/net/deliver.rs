//! From the hub's subscriptions to the client: what is due, as far as the client takes it.

use super::attach::{DEFAULT_OUTCOME, open};
use super::link::{Outward, Taken, Work};
use super::member::Member;
use super::outgoing::write_head;
use crate::limits::UNSENT_BYTES_MAX;
use crate::session::{Delivery, LinkId, Sent, Server, Sink, Token};
use crate::wire::{Condition, DeliveryState, Error};
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::{Gateway, Part, parts_as_published, parts_in};
use weir_carrier::outbox::Outbox;
use weir_codec::Format;
use weir_hub::{Content, Fault, Gap, GapReason, Item, Message, Next, Policy, Since, Verb};
use weir_model::Time;

/// Bytes of messages that a client may leave unsettled on one link before it gets no more.
const UNSETTLED_BYTES_MAX: usize = 16 << 20;

/// What is missing where a message is larger than the client takes (`max-message-size`, section 2.7.3).
const TOO_LARGE: Gap = Gap {
    reason: GapReason::Policy,
    count: Some(1),
};

/// An outbox as the machine writes to it.
pub(super) struct Out<'a>(pub(super) &'a mut Outbox);

impl Sink for Out<'_> {
    fn small(&mut self) -> &mut Vec<u8> {
        self.0.tail()
    }

    fn shared(&mut self, bytes: Bytes) {
        self.0.push(bytes);
    }
}

/// Hands over what is due.
pub(super) struct Deliverer<'a> {
    pub(super) context: &'a Arc<dyn Gateway>,
    pub(super) server: &'a mut Server,
    pub(super) outbox: &'a mut Outbox,
    pub(super) head: &'a mut Vec<u8>,
    pub(super) now: Time,
    /// Messages handed over.
    pub(super) sent: u64,
}

/// What a look at a link came to.
enum Looked {
    /// Nothing is due, or nothing more can be sent.
    Idle,
    /// Messages were dropped that must not be: open it again from where the client is.
    Lapped,
    /// Nothing comes any more.
    Ended,
}

impl Deliverer<'_> {
    /// Takes from each link what is due; says whether there may be more at once.
    pub(super) fn deliver(
        &mut self,
        member: &mut Member,
        cx: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        let more = self.deliver_each(member, cx);
        // The client's answer to a detach from here is not heard of.
        member.outward.retain(|of| of.source.is_some());
        more
    }

    fn deliver_each(&mut self, member: &mut Member, cx: &mut Context<'_>) -> Result<bool, Fault> {
        let count = member.outward.len();
        let mut more = false;
        for step in 0..count {
            let at = member.turn.wrapping_add(step) % count;
            if self.outbox.waiting() >= UNSENT_BYTES_MAX {
                // Who was not served begins the next time.
                member.turn = at;
                return Ok(more);
            }
            let grants = member.principal.grants.clone();
            let may_read = |topic: &str| grants.allow(Verb::Read, topic);
            let of = &mut member.outward[at];
            if of
                .durable
                .as_ref()
                .is_some_and(|durable| durable.is_stolen())
            {
                self.stolen(of);
                continue;
            }
            match self.look(of, &may_read, cx)? {
                Looked::Idle => {}
                Looked::Ended => self.end(of),
                Looked::Lapped => {
                    let since = Since::Cursor(of.delivered);
                    let kept = of.durable.is_some();
                    let opened = open(&**self.context, &member.principal, &of.wanted, since, kept);
                    match opened {
                        Ok(source) => of.source = Some(source),
                        Err(_) => self.end(of),
                    }
                    more = true;
                }
            }
        }
        member.turn = member.turn.wrapping_add(1);
        Ok(more)
    }

    /// The link is another connection's now (section 2.6.1).
    fn stolen(&mut self, of: &mut Outward) {
        of.source = None;
        of.durable = None;
        let error = Error::new(
            Condition::STOLEN,
            "another connection has attached the link",
        );
        self.server.detach(of.id, Some(error));
    }

    /// The gateway stops, or what could be read cannot be any more.
    fn end(&mut self, of: &mut Outward) {
        of.source = None;
        let sentence = "nothing comes from this source any more";
        let error = Error::new(Condition::RESOURCE_DELETED, sentence);
        self.server.detach(of.id, Some(error));
    }

    fn look(
        &mut self,
        of: &mut Outward,
        may_read: &dyn Fn(&str) -> bool,
        cx: &mut Context<'_>,
    ) -> Result<Looked, Fault> {
        let promised = !self.server.sends_settled(of.id);
        loop {
            if !self.send_work(of, may_read, promised) {
                return Ok(Looked::Idle);
            }
            // What is not taken waits where it is: no credit is the back-pressure (section 2.6.7).
            if !self.may_send(of) {
                if self.server.is_drained(of.id) {
                    self.server.idle_link(of.id);
                }
                return Ok(Looked::Idle);
            }
            let Some(source) = &mut of.source else {
                return Ok(Looked::Idle);
            };
            let next = match source.poll_next(cx) {
                Poll::Ready(next) => next?,
                Poll::Pending => {
                    self.server.idle_link(of.id);
                    return Ok(Looked::Idle);
                }
            };
            match next {
                Next::Items(items, _) => {
                    let work = of.work.get_or_insert_default();
                    work.items.extend(items.iter().cloned());
                }
                Next::Gap(gap, _) if is_mended(&gap, promised, of.wanted.policy) => {
                    return Ok(Looked::Lapped);
                }
                Next::Gap(gap, _) => of.work.get_or_insert_default().miss(gap),
                Next::Bytes(..) | Next::Unframed(..) => {}
                Next::Ended(_) => return Ok(Looked::Ended),
            }
        }
    }

    fn may_send(&mut self, of: &Outward) -> bool {
        let held = of.work.as_ref().map_or(0, |work| work.taken_bytes);
        held < UNSETTLED_BYTES_MAX
            && self.outbox.waiting() < UNSENT_BYTES_MAX
            && self.server.may_send(of.id)
    }

    /// Sends what was taken; `false` where the client or its socket takes no more now.
    fn send_work(
        &mut self,
        of: &mut Outward,
        may_read: &dyn Fn(&str) -> bool,
        promised: bool,
    ) -> bool {
        let Some(mut work) = of.work.take() else {
            return true;
        };
        let sent =
            self.send_again(of, &mut work) && self.send_items(of, &mut work, may_read, promised);
        if !work.is_done() {
            of.work = Some(work);
        }
        sent
    }

    /// Sends once more what the client gave back.
    fn send_again(&mut self, of: &Outward, work: &mut Work) -> bool {
        while let Some(taken) = work.again.front() {
            if !self.may_send(of) {
                return false;
            }
            let (message, part, failed) = (taken.message.clone(), taken.part.clone(), taken.failed);
            let sent = self.send(of.id, taken.token, &message, &part, None, failed);
            if sent == Some(Sent::Full) {
                return false;
            }
            let taken = work.again.pop_front();
            match sent {
                Some(Sent::Yes) => taken.into_iter().for_each(|taken| work.take(taken)),
                Some(_) => work.miss(TOO_LARGE),
                None => {}
            }
        }
        true
    }

    fn send_items(
        &mut self,
        of: &mut Outward,
        work: &mut Work,
        may_read: &dyn Fn(&str) -> bool,
        promised: bool,
    ) -> bool {
        while let Some(item) = work.items.front().cloned() {
            if work.parts.is_empty() {
                work.parts = parts_of(&item, of, may_read).into();
                work.part = 0;
            }
            while let Some(part) = work.parts.front().cloned() {
                if !self.may_send(of) {
                    return false;
                }
                let token = Token {
                    cursor: item.message.cursor.bits(),
                    part: work.part,
                };
                match self.send(of.id, token, &item.message, &part, work.gap.as_ref(), 0) {
                    Some(Sent::Full) => return false,
                    Some(Sent::TooLarge) => work.miss(TOO_LARGE),
                    // What has expired is not missing.
                    None => {}
                    Some(Sent::Yes) => {
                        work.gap = None;
                        if promised {
                            let message = item.message.clone();
                            work.take(Taken {
                                token,
                                message,
                                part,
                                failed: 0,
                            });
                        }
                    }
                }
                work.parts.pop_front();
                work.part += 1;
            }
            work.items.pop_front();
            of.delivered = of.delivered.max(item.message.cursor);
        }
        true
    }

    /// Sends a part, unless it has expired.
    fn send(
        &mut self,
        id: LinkId,
        token: Token,
        message: &Message,
        part: &Part,
        gap: Option<&Gap>,
        failed: u32,
    ) -> Option<Sent> {
        self.head.clear();
        let payload = write_head(message, part, gap, failed, self.now, self.head)?;
        let delivery = Delivery {
            token,
            head: self.head,
            payload,
        };
        let sent = self.server.deliver(id, delivery, &mut Out(self.outbox));
        self.sent += u64::from(sent == Sent::Yes);
        Some(sent)
    }
}

impl Work {
    fn is_done(&self) -> bool {
        self.items.is_empty()
            && self.taken.is_empty()
            && self.again.is_empty()
            && self.gap.is_none()
    }

    /// Messages are missing before the next one, which says so.
    fn miss(&mut self, gap: Gap) {
        self.gap = Some(self.gap.map_or(gap, |before| both(before, gap)));
    }

    fn take(&mut self, taken: Taken) {
        self.taken_bytes += taken.part.payload.len();
        self.taken.push_back(taken);
    }

    /// What the client says of a message that is under way (section 3.4).
    pub(super) fn settle(&mut self, token: Token, state: Option<&DeliveryState>) {
        let Some(at) = self.taken.iter().position(|taken| taken.token == token) else {
            return;
        };
        let Some(mut taken) = self.taken.remove(at) else {
            return;
        };
        self.taken_bytes -= taken.part.payload.len();
        // Settled before there was an outcome: it is the one that the attach announced (section 3.5.3).
        let outcome = state.filter(|state| state.is_terminal());
        // [AMQP-3.4-1]
        match outcome.unwrap_or(&DEFAULT_OUTCOME) {
            // Section 3.4.4: it was not looked at, so that it is as if it had not been sent.
            // [AMQP-3.4.4-1]
            DeliveryState::Released => self.again.push_back(taken),
            DeliveryState::Modified {
                delivery_failed,
                undeliverable_here: false,
                ..
            } => {
                // [AMQP-3.4.5-1]
                taken.failed += u32::from(*delivery_failed);
                self.again.push_back(taken);
            }
            // What is rejected, or cannot be delivered here, is done with; the rest flows on.
            _ => {}
        }
    }
}

fn parts_of(item: &Item, of: &Outward, may_read: &dyn Fn(&str) -> bool) -> Vec<Part> {
    let own = match &item.message.content {
        Content::Observations { format, .. } => Some(*format),
        Content::Opaque(_) => None,
    };
    match of.wanted.format.or(own) {
        Some(format) if !of.wanted.is_raw() => in_format(item, format, of, may_read),
        _ => parts_as_published(item),
    }
}

/// One part where the topic may be known and the format says itself what belongs where.
fn in_format(
    item: &Item,
    format: &'static Format,
    of: &Outward,
    may_read: &dyn Fn(&str) -> bool,
) -> Vec<Part> {
    parts_in(item, format, |topic| {
        let known = of.wanted.filter.matches(topic) && may_read(topic);
        format.carries.topic && !topic.is_empty() && known
    })
}

/// Whether what was dropped is still in the log, and the client gets it from there.
fn is_mended(gap: &Gap, promised: bool, policy: Policy) -> bool {
    gap.reason == GapReason::Policy && promised && policy == Policy::DropOldest
}

/// Two gaps with nothing between them, as one.
fn both(before: Gap, after: Gap) -> Gap {
    let count = before.count.zip(after.count).map(|(a, b)| a + b);
    Gap {
        count: count.filter(|_| before.reason == after.reason),
        ..after
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_model::Cursor;

    fn taken(cursor: u64) -> Taken {
        let (at, time) = (Cursor::from_bits(cursor), Time::from_nanos(0));
        let content = Content::Opaque("text/plain".into());
        Taken {
            token: Token { cursor, part: 0 },
            message: Arc::new(Message::new(at, time, "t".into(), content)),
            part: Part {
                topic: "t".into(),
                payload: Bytes::from_static(b"1"),
                format: None,
            },
            failed: 0,
        }
    }

    // Sections 3.4 and 3.5.3.
    #[test]
    fn what_is_settled_without_an_outcome_comes_again() {
        let received = DeliveryState::Received {
            section_number: 0,
            section_offset: 0,
        };
        let cases = [
            (None, true),
            (Some(received), true),
            (Some(DeliveryState::Released), true),
            (Some(DeliveryState::Accepted), false),
            (Some(DeliveryState::Rejected(None)), false),
        ];
        for (state, comes_again) in cases {
            let mut work = Work::default();
            work.take(taken(7));
            work.settle(Token { cursor: 7, part: 0 }, state.as_ref());
            assert_eq!(work.again.len() == 1, comes_again, "{state:?}");
            assert!(work.taken.is_empty() && work.taken_bytes == 0);
        }
    }
}
