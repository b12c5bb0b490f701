//! What a connection has to send, as far as it is known: lengths, and any part of it anew.
//!
//! A listener sends *units*: its head, then the ring's slots, each framed. An answer is one text.

use crate::answer::{self, Part, Places};
use crate::connection::{Connection, Ending, Phase, SENT_MAX, STATUS};
use crate::features::{ANSWERS, PAGES, STREAMING, VALUES};
use crate::limits::SEGMENT_BYTES_MAX;
use crate::server::Server;
use crate::site::{Kind, Resource};
use crate::slice::Slice;

impl<const CONNECTIONS: usize, const HOSTS: usize, const ITEMS: usize, const ITEM_BYTES: usize>
    Server<CONNECTIONS, HOSTS, ITEMS, ITEM_BYTES>
{
    fn resource(&self, number: u8) -> Option<&'static Resource> {
        self.site?.resource(usize::from(number))
    }

    /// Writes an answer, whole.
    pub(crate) fn write_answer(&self, connection: &Connection, out: &mut Slice<'_>) {
        let (task, closes) = (connection.task(), connection.closes());
        if let Some(status) = task.checked_sub(STATUS) {
            return answer::status(out, status, closes);
        }
        let Some(resource) = self.resource(task).filter(|_| VALUES || PAGES) else {
            return;
        };
        let slot = connection.slot();
        let (part, text) = match resource.kind {
            Kind::Page(page) => (Part::Page, page),
            Kind::Deflated(page) => (Part::Deflated, page),
            Kind::Topic => (Part::Value, self.ring.item(slot, task).unwrap_or(&[])),
        };
        let places = Places {
            media_type: resource.media_type,
            number: self.ring.number(slot),
            text,
            closes,
            is_head: connection.is_head(),
        };
        places.write(out, part);
    }

    pub(crate) fn answer_length(&self, connection: &Connection) -> usize {
        let mut length = Slice::counting();
        self.write_answer(connection, &mut length);
        length.length()
    }

    /// Where what was sent of an answer ends: segments lie on a grid, so that a count tells it.
    #[inline(always)]
    pub(crate) fn answer_sent(
        &self,
        connection: &Connection,
        position: usize,
        length: usize,
    ) -> usize {
        match connection.flight() {
            0 => position,
            segments => {
                let segments = position / SEGMENT_BYTES_MAX + usize::from(segments);
                (segments * SEGMENT_BYTES_MAX).min(length)
            }
        }
    }

    /// How many units a listener has, sent or not.
    pub(crate) fn units(&self, connection: &Connection) -> u8 {
        let heads = u8::from(connection.phase() == Phase::Opening);
        (self.ring.behind(connection.first()) + heads).min(SENT_MAX)
    }

    /// Writes one of a listener's units, counted from the oldest that is not acknowledged.
    pub(crate) fn write_unit(&self, connection: &Connection, unit: u8, out: &mut Slice<'_>) {
        let topic = connection.topic();
        let slot = match (connection.phase(), unit) {
            (Phase::Opening, 0) => return self.write_head(connection, out),
            (Phase::Opening, _) => unit - 1,
            _ => unit,
        };
        let slot = self.ring.after(connection.first(), slot);
        if let Some(text) = self.ring.item(slot, topic) {
            answer::framed(out, self.ring.number(slot), text, connection.is_events());
        }
    }

    fn write_head(&self, connection: &Connection, out: &mut Slice<'_>) {
        let resource = self.resource(connection.topic());
        let (media_type, part) = match connection.is_events() || !STREAMING {
            true => ("text/event-stream", Part::Events),
            false => (
                resource.map_or("", |resource| resource.media_type),
                Part::Stream,
            ),
        };
        let places = Places {
            media_type,
            closes: connection.is_events(),
            ..Places::default()
        };
        places.write(out, part);
    }

    pub(crate) fn unit_length(&self, connection: &Connection, unit: u8) -> usize {
        let mut length = Slice::counting();
        self.write_unit(connection, unit, &mut length);
        length.length()
    }

    /// Sequence numbers that were sent and not acknowledged.
    pub(crate) fn in_flight(&self, connection: &Connection) -> u32 {
        match connection.phase() {
            Phase::Answering if !ANSWERS || connection.flight() == 0 => 0,
            Phase::Answering => {
                let position = connection.position(self.is_value(connection));
                let length = self.answer_length(connection);
                (self.answer_sent(connection, position, length) - position) as u32
            }
            Phase::Opening | Phase::Streaming => {
                let units = 0..connection.sent();
                let sent: usize = units.map(|unit| self.unit_length(connection, unit)).sum();
                sent.saturating_sub(connection.offset()) as u32
            }
            _ => u32::from(connection.ending() == Some(Ending::FinSent)),
        }
    }
}
