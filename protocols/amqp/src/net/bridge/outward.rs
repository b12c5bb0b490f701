//! From the log to the broker: in the order of the log, as far as it is taken, again until it is confirmed.
//!
//! What it deliberately does not do: no queue. What is not sent yet is in the log; what is under way is kept only
//! so that it can be set aside where the broker refuses it.

use super::kept::Kept;
use super::settings::Plan;
use crate::client::{Machine, Outgoing, Sent};
use crate::net::distinct::distinct;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::bridge::{
    self, Told, VIA, Wary, consume, count, declared_media, first, goes_out, set_aside,
};
use weir_binding::{Gateway, Part, parts_as_published};
use weir_carrier::clock::now;
use weir_carrier::outbox::Outbox;
use weir_hub::{Fault, GapReason, Item, Next, Subscription};
use weir_model::Cursor;

/// Bytes that may wait for the socket before nothing more is taken from the log.
const UNSENT_BYTES_MAX: usize = 64 << 10;
/// Bytes that may be under way without being confirmed.
const FLIGHT_BYTES_MAX: usize = 16 << 20;
/// Pieces taken from the log in one turn, so that a bridge does not hold up its thread.
const TAKES_MAX: usize = 16;

/// A message of the log that is not confirmed as a whole.
struct Flight {
    cursor: Cursor,
    /// The token of its first part that went out; the others follow.
    first: u64,
    /// Those parts, until they are confirmed.
    parts: Vec<Option<Part>>,
    /// Whether all of its parts went out.
    whole: bool,
}

/// The consumer, while there is a connection.
pub(super) struct Outward {
    source: Box<Subscription>,
    items: VecDeque<Item>,
    /// Parts of the first item that are still to be sent.
    parts: Option<VecDeque<Part>>,
    flights: VecDeque<Flight>,
    flight_bytes: usize,
    /// What the broker refused, and could not be set aside yet.
    refused: VecDeque<(u64, String)>,
    next_token: u64,
    /// Up to here all was sent.
    sent: Cursor,
}

/// What it works with.
pub(super) struct Way<'a> {
    pub(super) plan: &'a Plan,
    pub(super) here: &'a str,
    pub(super) origin: &'a str,
    pub(super) kept: &'a mut Kept,
    pub(super) wary: &'a mut Wary,
    pub(super) told: &'a Told,
    pub(super) machine: &'a mut dyn Machine,
    pub(super) context: &'a Arc<dyn Gateway>,
}

impl Outward {
    /// Takes up where the broker has confirmed.
    pub(super) fn open(
        plan: &Plan,
        from: Cursor,
        context: &Arc<dyn Gateway>,
        told: &Told,
    ) -> Result<Self, Fault> {
        Ok(Self {
            source: subscribe(plan, from, context, told)?,
            items: VecDeque::new(),
            parts: None,
            flights: VecDeque::new(),
            flight_bytes: 0,
            refused: VecDeque::new(),
            next_token: 0,
            sent: from,
        })
    }

    /// Sends what is due; says whether there may be more at once.
    pub(super) fn send(
        &mut self,
        way: &mut Way<'_>,
        outbox: &mut Outbox,
        cx: &mut Context<'_>,
    ) -> Result<bool, Fault> {
        self.set_refused_aside(way)?;
        for _ in 0..TAKES_MAX {
            if !self.send_items(way, outbox)? {
                return Ok(false);
            }
            if outbox.waiting() >= UNSENT_BYTES_MAX {
                break;
            }
            let Poll::Ready(next) = self.source.poll_next(cx) else {
                return Ok(false);
            };
            match next? {
                Next::Items(items, _) => self.items.extend(items.iter().cloned()),
                // Dropped before they were taken: the log has them.
                Next::Gap(gap, _) if gap.reason == GapReason::Policy => {
                    self.source = subscribe(way.plan, self.sent, way.context, way.told)?;
                }
                Next::Gap(gap, _) => way.told.gap(&gap),
                Next::Bytes(..) | Next::Unframed(..) => {}
                Next::Ended(_) => return Err(Fault::Stopping),
            }
        }
        Ok(true)
    }

    /// `false` where no more can go out now.
    fn send_items(&mut self, way: &mut Way<'_>, outbox: &mut Outbox) -> Result<bool, Fault> {
        while let Some(item) = self.items.front().cloned() {
            if outbox.waiting() >= UNSENT_BYTES_MAX {
                return Ok(true);
            }
            if !self.send_item(way, &item, outbox)? {
                return Ok(false);
            }
            self.items.pop_front();
            self.sent = item.message.cursor;
            self.complete(way.kept);
        }
        Ok(true)
    }

    fn send_item(
        &mut self,
        way: &mut Way<'_>,
        item: &Item,
        outbox: &mut Outbox,
    ) -> Result<bool, Fault> {
        if self.parts.is_none() {
            self.parts = Some(self.begin(way, item));
        }
        while let Some(part) = self.parts.as_ref().and_then(|parts| parts.front().cloned()) {
            if !self.may_send(way) || !self.send_part(way, item, part, outbox.tail())? {
                return Ok(false);
            }
            self.parts.as_mut().map(VecDeque::pop_front);
        }
        self.parts = None;
        if let Some(flight) = self.flights.back_mut() {
            flight.whole = true;
        }
        Ok(true)
    }

    fn may_send(&self, way: &Way<'_>) -> bool {
        let is_next = !way.wary.is_on(way.kept.confirmed) || self.under_way().next().is_none();
        self.flight_bytes < FLIGHT_BYTES_MAX && is_next
    }

    /// The tokens of what is neither confirmed nor set aside.
    fn under_way(&self) -> impl Iterator<Item = u64> {
        self.flights.iter().flat_map(|flight| {
            let parts = flight.parts.iter().zip(flight.first..);
            parts.filter_map(|(part, token)| part.as_ref().map(|_| token))
        })
    }

    /// A flight for a message, and its parts that go out.
    fn begin(&mut self, way: &Way<'_>, item: &Item) -> VecDeque<Part> {
        let message = &item.message;
        self.flights.push_back(Flight {
            cursor: message.cursor,
            first: self.next_token,
            parts: Vec::new(),
            whole: false,
        });
        if !goes_out(message, way.origin, way.here) {
            if message.origin.as_ref() != way.origin {
                count(&way.told.looped);
            }
            return VecDeque::new();
        }
        let expires = message.attributes.expires;
        if expires.is_some_and(|at| at <= way.context.now()) {
            VecDeque::new()
        } else {
            way.wary
                .left(message.cursor, parts_as_published(item).into())
        }
    }

    /// Sends one part; `false` where it cannot go out now.
    fn send_part(
        &mut self,
        way: &mut Way<'_>,
        item: &Item,
        part: Part,
        out: &mut Vec<u8>,
    ) -> Result<bool, Fault> {
        let named = first(&way.plan.outward, |line| line.to_remote(&part.topic));
        let Some((_, topic)) = named else {
            return Ok(true);
        };
        let message = &item.message;
        let mut headers = message.attributes.properties.clone();
        headers.push((VIA.to_owned(), way.here.to_owned()));
        let headers = distinct(&headers);
        let given = message.attributes.content_type.as_deref();
        let outgoing = Outgoing {
            topic: &topic,
            content_type: given.or_else(|| declared_media(message)),
            headers: &headers,
            payload: &part.payload,
            token: self.next_token,
        };
        match way.machine.publish(now(), &outgoing, out) {
            Sent::Full => return Ok(false),
            Sent::Never(reason) => return set_aside(&**way.context, way.told, &part, reason),
            Sent::Done => {}
        }
        count(&way.told.sent);
        self.next_token += 1;
        self.flight_bytes += part.payload.len();
        if let Some(flight) = self.flights.back_mut() {
            flight.parts.push(Some(part));
        }
        Ok(true)
    }

    /// Hears what became of a part.
    pub(super) fn confirmed(
        &mut self,
        way: &mut Way<'_>,
        token: u64,
        outcome: Result<(), String>,
    ) -> Result<(), Fault> {
        match outcome {
            Ok(()) => {
                self.land(token);
                self.complete(way.kept);
                Ok(())
            }
            Err(reason) => {
                self.refused.push_back((token, reason));
                self.set_refused_aside(way)
            }
        }
    }

    /// Hears that the connection ended, nobody said why: over the first of what is under way, if that is always so.
    pub(super) fn ended(&mut self, way: &mut Way<'_>, reason: &str) -> Result<(), Fault> {
        let tokens: Vec<u64> = self.under_way().take(2).collect();
        let Some((token, first)) = tokens
            .first()
            .and_then(|&token| Some((token, self.name_of(token)?)))
        else {
            return Ok(());
        };
        if way.wary.ended(first, tokens.len() == 1, self.last()) {
            self.blame(way, token, reason)
        } else {
            Ok(())
        }
    }

    /// What tells a part from all others over any connection: its message, and how many parts of that go before it.
    fn name_of(&self, token: u64) -> Option<bridge::Sent> {
        let after = self.flights.partition_point(|flight| flight.first <= token);
        let flight = self.flights.get(after.checked_sub(1)?)?;
        Some((flight.cursor, (token - flight.first) as u32))
    }

    /// The last message that is under way.
    fn last(&self) -> Cursor {
        let last = self.flights.back();
        last.map_or(self.sent, |flight| flight.cursor)
    }

    /// Sets aside the one over which the connection ended; what is left of its message goes out by the next.
    fn blame(&mut self, way: &mut Way<'_>, token: u64, reason: &str) -> Result<(), Fault> {
        let last = self.last();
        self.refused.push_back((token, reason.to_owned()));
        self.set_refused_aside(way)?;
        let rest = self.parts.as_ref().filter(|_| self.refused.is_empty());
        if let Some(rest) = rest {
            way.wary.leave(last, rest.len());
        }
        Ok(())
    }

    /// Hears that the broker ended the connection over a message: one of all that are under way, or, where they go
    /// one at a time, this one.
    pub(super) fn ended_over(&mut self, way: &mut Way<'_>, reason: &str) -> Result<(), Fault> {
        let tokens: Vec<u64> = self.under_way().take(2).collect();
        match tokens[..] {
            [] => Ok(()),
            [token] if way.wary.is_on(way.kept.confirmed) => self.blame(way, token, reason),
            _ => {
                way.wary.suspect(self.last());
                Ok(())
            }
        }
    }

    /// What was refused has landed once the log has it.
    fn set_refused_aside(&mut self, way: &mut Way<'_>) -> Result<(), Fault> {
        while let Some((token, reason)) = self.refused.pop_front() {
            if let Some(part) = self.part(token).and_then(|part| part.clone())
                && !set_aside(&**way.context, way.told, &part, &reason)?
            {
                self.refused.push_front((token, reason));
                return Ok(());
            }
            self.land(token);
            self.complete(way.kept);
        }
        Ok(())
    }

    fn part(&mut self, token: u64) -> Option<&mut Option<Part>> {
        let after = self.flights.partition_point(|flight| flight.first <= token);
        let flight = self.flights.get_mut(after.checked_sub(1)?)?;
        flight.parts.get_mut((token - flight.first) as usize)
    }

    fn land(&mut self, token: u64) {
        let part = self.part(token).and_then(Option::take);
        self.flight_bytes -= part.map_or(0, |part| part.payload.len());
    }

    /// Notes up to where all is confirmed.
    fn complete(&mut self, kept: &mut Kept) {
        let is_done = |flight: &Flight| flight.whole && flight.parts.iter().all(Option::is_none);
        while let Some(flight) = self.flights.front().filter(|flight| is_done(flight)) {
            kept.confirmed = kept.confirmed.max(flight.cursor);
            self.flights.pop_front();
        }
    }
}

fn subscribe(
    plan: &Plan,
    from: Cursor,
    context: &Arc<dyn Gateway>,
    told: &Told,
) -> Result<Box<Subscription>, Fault> {
    let filters = plan.outward.iter().map(|line| line.local_filter().clone());
    consume(filters, from, false, &**context, told)
}
