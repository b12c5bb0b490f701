//! From the log to the other broker: what is due, in the order of the log, as far as it is taken.
//!
//! What it deliberately does not do: no queue. The bridge is a durable consumer; what is not sent yet is in
//! the log, and what is under way is a cursor.

use super::kept::{Kept, RETAINED};
use super::settings::Plan;
use crate::net::packets::{Part, parts_of, qos_of, write_attributes};
use crate::session::{Client, Delivery, InFlight, Sent, Stage, Token};
use crate::wire::{Property, PropertyList, QoS, ReasonCode};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::Gateway;
use weir_binding::bridge::{
    Told, VIA, Wary, before, consume, count, declared_media, first, goes_out, set_aside,
};
use weir_carrier::clock::now;
use weir_carrier::outbox::Outbox;
use weir_hub::{Fault, GapReason, Item, Next, Subscription};
use weir_model::Cursor;

/// Bytes that may wait for the socket before nothing more is taken from the log.
const UNSENT_BYTES_MAX: usize = 64 << 10;

/// Bytes that may be under way without being acknowledged.
const FLIGHT_BYTES_MAX: usize = 16 << 20;

/// Pieces taken from the log in one turn, so that a bridge does not hold up its thread.
const TAKES_MAX: usize = 16;

/// The consumer, while there is a connection.
pub(super) struct Outward {
    source: Box<Subscription>,
    items: VecDeque<Item>,
    /// Packets of the first item, and which of them is next.
    parts: Option<(VecDeque<Part>, u32)>,
    /// Under way since an earlier connection, to be sent again.
    again: HashSet<Token>,
    /// Up to here messages came while there was no connection.
    away: Cursor,
    /// Whether the retained messages that come first, if any do, are all taken.
    past_retained: bool,
    /// Whether one went out with QoS 2 since this was last asked.
    pub(super) promised: bool,
    /// Sent by this connection and not acknowledged, in its order: so that it can be set aside.
    under_way: VecDeque<(Token, Part)>,
    under_way_bytes: usize,
    /// Retained messages that went out with QoS 0 before the first of those.
    unasked: Vec<Token>,
    /// What the other broker refused, and could not be set aside yet.
    refused: VecDeque<(Token, Part, String)>,
    /// Set aside as this connection ended.
    blamed: Option<Token>,
}

/// What a bridge remembers over connections so that no message ends them for ever.
#[derive(Default)]
pub(super) struct Careful {
    wary: Wary,
    /// Retained messages that were set aside.
    passed: HashSet<Token>,
    /// Connections that ended before all retained messages were given.
    greetings: u32,
    /// Retained messages of QoS 0 that they gave, or that ended them.
    given: HashSet<Token>,
}

impl Careful {
    /// Says whether a retained message is not to be sent once more.
    fn is_over(&self, token: &Token) -> bool {
        self.passed.contains(token) || self.greetings > 1 && self.given.contains(token)
    }
}

/// What it works with.
pub(super) struct Way<'a> {
    pub(super) plan: &'a Plan,
    pub(super) here: &'a str,
    pub(super) origin: &'a str,
    pub(super) kept: &'a mut Kept,
    pub(super) careful: &'a mut Careful,
    pub(super) told: &'a Told,
    pub(super) client: &'a mut Client,
    pub(super) outbox: &'a mut Outbox,
    pub(super) context: &'a Arc<dyn Gateway>,
}

impl Outward {
    /// Takes up where the bridge is.
    pub(super) fn open(
        plan: &Plan,
        kept: &Kept,
        context: &dyn Gateway,
        told: &Told,
    ) -> Result<Self, Fault> {
        let waits = |of: &&InFlight| of.stage != Stage::Pubcomp;
        let again: HashSet<Token> = kept
            .in_flight
            .iter()
            .filter(waits)
            .map(|of| of.token)
            .collect();
        Ok(Self {
            source: subscribe(plan, kept, &again, context, told)?,
            items: VecDeque::new(),
            parts: None,
            again,
            away: context.hub().positions().0,
            past_retained: false,
            promised: false,
            under_way: VecDeque::new(),
            under_way_bytes: 0,
            unasked: Vec::new(),
            refused: VecDeque::new(),
            blamed: None,
        })
    }

    /// Opens it again from where it is, after messages were dropped before they were taken.
    fn reopen(&mut self, way: &Way<'_>) -> Result<(), Fault> {
        self.source = subscribe(way.plan, way.kept, &self.again, &**way.context, way.told)?;
        (self.items, self.parts) = (VecDeque::new(), None);
        Ok(())
    }

    /// Sends what is due; says whether there may be more at once.
    pub(super) fn send(&mut self, way: &mut Way<'_>, cx: &mut Context<'_>) -> Result<bool, Fault> {
        if !self.set_refused_aside(way)? {
            return Ok(false);
        }
        for _ in 0..TAKES_MAX {
            if !self.send_items(way)? {
                return Ok(false);
            }
            if way.outbox.waiting() >= UNSENT_BYTES_MAX {
                break;
            }
            let Poll::Ready(next) = self.source.poll_next(cx) else {
                return Ok(false);
            };
            match next? {
                Next::Items(items, _) => self.items.extend(items.iter().cloned()),
                Next::Gap(gap, _) if gap.reason == GapReason::Policy => self.reopen(way)?,
                Next::Gap(gap, _) => way.told.gap(&gap),
                Next::Bytes(..) | Next::Unframed(..) => {}
                Next::Ended(_) => return Err(Fault::Stopping),
            }
        }
        Ok(true)
    }

    /// `false` where the other broker takes no more now.
    fn send_items(&mut self, way: &mut Way<'_>) -> Result<bool, Fault> {
        while let Some(item) = self.items.front().cloned() {
            if way.outbox.waiting() >= UNSENT_BYTES_MAX {
                return Ok(true);
            }
            if !self.send_item(way, &item)? {
                return Ok(false);
            }
            self.items.pop_front();
            self.parts = None;
            if !item.retained {
                self.pass(way, item.message.cursor);
            }
        }
        Ok(true)
    }

    /// Notes that all before and up to here is sent.
    fn pass(&mut self, way: &mut Way<'_>, cursor: Cursor) {
        self.past_retained = true;
        way.kept.delivered = way.kept.delivered.max(cursor);
        if self.again.is_empty() {
            return;
        }
        // What was under way and did not come again is not in the log any more, or not a line's.
        let lost = |token: &Token| token.part & RETAINED == 0 && token.cursor <= cursor.bits();
        self.again.retain(|token| !lost(token));
        way.client.abandon(lost);
    }

    fn send_item(&mut self, way: &mut Way<'_>, item: &Item) -> Result<bool, Fault> {
        let message = &item.message;
        if !goes_out(message, way.origin, way.here) {
            if message.origin.as_ref() != way.origin {
                count(&way.told.looped);
            }
            return Ok(true);
        }
        let (mut parts, mut part) = match self.parts.take() {
            Some(parts) => parts,
            None => (parts_of(item, None).into(), 0),
        };
        while let Some(next) = parts.front() {
            if !self.send_part(way, item, next, part)? {
                self.parts = Some((parts, part));
                return Ok(false);
            }
            parts.pop_front();
            part += 1;
            if !item.retained && message.cursor > way.kept.delivered {
                way.kept.begun = (message.cursor, part);
            }
        }
        Ok(true)
    }

    /// Sends one packet; `false` where the other broker takes no more now.
    fn send_part(
        &mut self,
        way: &mut Way<'_>,
        item: &Item,
        part: &Part,
        number: u32,
    ) -> Result<bool, Fault> {
        let message = &item.message;
        let Some((line, topic)) =
            first(&way.plan.outward, |line| line.names.to_remote(&part.topic))
        else {
            return Ok(true);
        };
        let token = Token {
            cursor: message.cursor.bits(),
            subscription: 0,
            part: number | if item.retained { RETAINED } else { 0 },
        };
        let again = self.again.contains(&token);
        if !again && self.is_done(way.kept, line.qos, item, number) || way.careful.is_over(&token) {
            return Ok(true);
        }
        if !self.may_send(way, part) {
            return Ok(false);
        }
        let mut properties = PropertyList::default();
        let at = way.context.now();
        let fresh = write_attributes(&message.attributes, None, || at, &mut properties);
        if !again && !fresh {
            return Ok(true);
        }
        if let Some(media) = declared_media(message) {
            properties.push(Property::ContentType(media));
        }
        properties.push(Property::UserProperty(VIA, way.here));
        let qos = line.qos.min(qos_of(message.quality));
        let delivery = Delivery {
            topic: &topic,
            qos,
            retain: line.retain && (item.retained || message.retain),
            properties: &mut properties,
            payload_bytes: part.payload.len(),
            token,
        };
        match way.client.publish(now(), delivery, way.outbox.tail()) {
            Sent::Full => return Ok(false),
            Sent::TooLarge => {
                let reason = "it is larger than the other broker takes";
                if !set_aside(&**way.context, way.told, part, reason)? {
                    return Ok(false);
                }
                way.client.abandon(|lost| *lost == token);
            }
            Sent::Head => {
                way.outbox.push(part.payload.clone());
                count(&way.told.sent);
                self.promised |= qos == QoS::ExactlyOnce;
                let qos = qos.min(way.client.qos_max());
                self.note_sent(token, qos, part);
            }
        }
        self.again.remove(&token);
        Ok(true)
    }

    /// Says whether one more may be under way: where one of them may be what ended connections, one at a time.
    fn may_send(&self, way: &Way<'_>, part: &Part) -> bool {
        let bytes = self.under_way_bytes + part.payload.len();
        let wary = &way.careful.wary;
        let is_one_of_many = || match self.earliest() {
            Some(first) => !wary.is_on(before(first)),
            None => true,
        };
        let calm = !wary.is_on(Cursor::START);
        self.under_way.is_empty() || bytes <= FLIGHT_BYTES_MAX && (calm || is_one_of_many())
    }

    /// The first message of those that are not acknowledged.
    fn earliest(&self) -> Option<Cursor> {
        let again = self.again.iter();
        let tokens = again.chain(self.under_way.iter().map(|(token, _)| token));
        tokens.map(|token| Cursor::from_bits(token.cursor)).min()
    }

    fn note_sent(&mut self, token: Token, qos: QoS, part: &Part) {
        if qos != QoS::AtMostOnce {
            self.under_way_bytes += part.payload.len();
            self.under_way.push_back((token, part.clone()));
        } else if token.part & RETAINED != 0 && self.under_way.is_empty() {
            self.unasked.push(token);
        }
    }

    /// Hears that the other broker has a message, or refuses it.
    pub(super) fn acknowledged(&mut self, token: Token, code: ReasonCode) {
        let at = self.under_way.iter().position(|(of, _)| *of == token);
        let Some((token, part)) = at.and_then(|at| self.under_way.remove(at)) else {
            return;
        };
        self.under_way_bytes -= part.payload.len();
        if code.is_failure() {
            let reason = format!("the other broker answers {code}");
            self.refused.push_back((token, part, reason));
        }
    }

    /// Sets aside what the other broker refused; `false` where the log cannot take it now.
    fn set_refused_aside(&mut self, way: &Way<'_>) -> Result<bool, Fault> {
        while let Some((_, part, reason)) = self.refused.front() {
            if !set_aside(&**way.context, way.told, part, reason)? {
                return Ok(false);
            }
            self.refused.pop_front();
        }
        Ok(true)
    }

    /// Hears that the connection ended: over the first of what is under way, if that is always so.
    pub(super) fn ended(
        &mut self,
        careful: &mut Careful,
        context: &dyn Gateway,
        told: &Told,
        reason: &str,
    ) {
        careful.greetings += u32::from(!self.past_retained);
        let Some((token, part)) = self.under_way.front() else {
            careful.given.extend(self.unasked.first());
            return;
        };
        careful.given.extend(&self.unasked);
        let first = (Cursor::from_bits(token.cursor), token.part);
        let last = self.under_way.iter().map(|(token, _)| token.cursor).max();
        let upto = Cursor::from_bits(last.unwrap_or(token.cursor));
        let is_blamed = careful.wary.ended(first, self.under_way.len() == 1, upto);
        // Where the log takes nothing, it is found out again.
        if is_blamed && set_aside(context, told, part, reason) == Ok(true) {
            careful.passed.insert(*token);
            self.blamed = Some(*token);
        }
    }

    /// Says whether a packet was sent before, or promised to nobody while there was no connection.
    fn is_done(&self, kept: &Kept, qos: QoS, item: &Item, part: u32) -> bool {
        let cursor = item.message.cursor;
        if item.retained {
            return false;
        }
        let begun = cursor == kept.begun.0 && part < kept.begun.1;
        cursor <= kept.delivered || begun || (qos == QoS::AtMostOnce && cursor <= self.away)
    }

    /// Notes what is under way, what is still to be sent again, and whether that holds no retained message.
    pub(super) fn note(&self, client: &Client, kept: &mut Kept) {
        kept.in_flight = self.in_flight(client);
        let retained = |of: &InFlight| of.token.part & RETAINED != 0;
        kept.greeted |= self.past_retained && !kept.in_flight.iter().any(retained);
    }

    fn in_flight(&self, client: &Client) -> Vec<InFlight> {
        let mut flights = client.in_flight();
        flights.retain(|of| Some(of.token) != self.blamed);
        let known: HashSet<Token> = flights.iter().map(|of| of.token).collect();
        let refused = self.refused.iter().map(|(token, ..)| token);
        let unknown = self.again.iter().chain(refused);
        let unknown = unknown.filter(|token| !known.contains(token));
        flights.extend(unknown.map(|&token| InFlight {
            packet_id: 0,
            stage: Stage::Puback,
            token,
        }));
        flights
    }
}

fn subscribe(
    plan: &Plan,
    kept: &Kept,
    again: &HashSet<Token>,
    context: &dyn Gateway,
    told: &Told,
) -> Result<Box<Subscription>, Fault> {
    let lines = plan.outward.iter();
    let filters = lines.map(|line| line.names.local_filter().clone());
    let live = again.iter().filter(|token| token.part & RETAINED == 0);
    let earliest = live.map(|token| Cursor::from_bits(token.cursor)).min();
    let from = match earliest {
        Some(first) if first <= kept.delivered => before(first),
        _ => kept.delivered,
    };
    consume(filters, from, !kept.greeted, context, told)
}
