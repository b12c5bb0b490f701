//! The link out: credit, transfers in parts, and what is not settled (sections 2.5.6 and 2.6.7).

use crate::client::{Outgoing, Sent};
use crate::limits::{FRAME_BYTES_SENT_MAX, UNCONFIRMED_MAX};
use crate::wire::{
    Flow, Header, Map, Message, Performative, Properties, Symbol, Tag, Transfer, Value,
};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Bytes of a frame that are a transfer's own, at most.
const TRANSFER_BYTES_MAX: usize = 64;

/// The link out of a session.
#[derive(Default)]
pub(super) struct Way {
    pub(super) handle: u32,
    /// The peer's handle of it.
    pub(super) theirs: u32,
    /// Largest message that the peer takes.
    pub(super) bytes_max: Option<u64>,
    /// Messages since the link is there, and up to which number of them there is credit.
    count: u32,
    credit_end: u32,
    /// Number of the next transfer, and up to which the session's window goes.
    next: u32,
    window_end: u32,
    next_delivery: u32,
    unsettled: VecDeque<(u32, u64)>,
    body: Vec<u8>,
    /// How much of the body went out, where the window had no room for all of it.
    pending: Option<Pending>,
}

/// A delivery that is not out as a whole.
#[derive(Clone, Copy)]
struct Pending {
    id: u32,
    at: usize,
    part_bytes_max: usize,
    settled: bool,
}

impl Way {
    pub(super) fn next_id(&self) -> u32 {
        self.next
    }

    /// The session's first window.
    pub(super) fn window(&mut self, window: u32) {
        self.window_end = self.next.wrapping_add(window);
    }

    /// Takes what the peer grants; says whether it is of this link.
    pub(super) fn flow(&mut self, flow: &Flow) -> bool {
        // Counted from what the peer has seen (section 2.5.6).
        let seen = flow.next_incoming_id.unwrap_or(0);
        self.window_end = seen.wrapping_add(flow.incoming_window);
        let is_own =
            flow.handle.is_some_and(|handle| handle == self.theirs) && flow.link_credit.is_some();
        if is_own {
            let from = flow.delivery_count.unwrap_or(0);
            self.credit_end = from.wrapping_add(flow.link_credit.unwrap_or(0));
        }
        is_own
    }

    pub(super) fn send(
        &mut self,
        message: &Outgoing<'_>,
        (to, subject): (Option<String>, Option<String>),
        settled: bool,
        frame_bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Sent {
        let has_credit = self.credit_end.wrapping_sub(self.count) as i32 > 0;
        let has_room = self.pending.is_none() && self.room() > 0;
        if !has_credit || !has_room || self.unsettled.len() >= UNCONFIRMED_MAX {
            return Sent::Full;
        }
        let mut body = core::mem::take(&mut self.body);
        body.clear();
        sections(message, to, subject, !settled).write_head(&mut body);
        Message::write_data_head(message.payload.len(), &mut body);
        body.extend_from_slice(message.payload);
        if self.bytes_max.is_some_and(|max| body.len() as u64 > max) {
            self.body = body;
            return Sent::Never("it is larger than the peer takes");
        }
        self.body = body;
        self.pending = Some(Pending {
            id: self.next_delivery,
            at: 0,
            part_bytes_max: frame_bytes_max.min(FRAME_BYTES_SENT_MAX) - TRANSFER_BYTES_MAX,
            settled,
        });
        if !settled {
            self.unsettled
                .push_back((self.next_delivery, message.token));
        }
        self.next_delivery = self.next_delivery.wrapping_add(1);
        self.count = self.count.wrapping_add(1);
        self.go_on(out);
        Sent::Done
    }

    /// Transfers that the session's window has room for.
    fn room(&self) -> u32 {
        self.window_end
            .wrapping_sub(self.next)
            .cast_signed()
            .max(0)
            .cast_unsigned()
    }

    /// Sends what is left of a delivery, as far as the window goes (section 2.5.6).
    pub(super) fn go_on(&mut self, out: &mut Vec<u8>) {
        while self.room() > 0
            && let Some(pending) = self.pending
        {
            let end = self.body.len().min(pending.at + pending.part_bytes_max);
            let part = &self.body[pending.at..end];
            let (is_first, more) = (pending.at == 0, end < self.body.len());
            let transfer = Transfer {
                handle: self.handle,
                delivery_id: is_first.then_some(pending.id),
                delivery_tag: is_first
                    .then(|| Tag::new(&pending.id.to_be_bytes()))
                    .flatten(),
                message_format: is_first.then_some(0),
                settled: Some(pending.settled),
                more,
                ..Transfer::default()
            };
            Performative::Transfer(transfer).write(0, part.len(), out);
            out.extend_from_slice(part);
            self.next = self.next.wrapping_add(1);
            self.pending = more.then_some(Pending { at: end, ..pending });
        }
    }

    /// The tokens of what the peer has settled, or told an outcome of.
    pub(super) fn settled(&mut self, first: u32, last: u32) -> Vec<u64> {
        let is_meant = |id: u32| id.wrapping_sub(first) <= last.wrapping_sub(first);
        let mut tokens = Vec::new();
        self.unsettled.retain(|&(id, token)| {
            if is_meant(id) {
                tokens.push(token);
            }
            !is_meant(id)
        });
        tokens
    }
}

fn sections(
    message: &Outgoing<'_>,
    to: Option<String>,
    subject: Option<String>,
    durable: bool,
) -> Message {
    let mut whole = Message::of(bytes::Bytes::new());
    if durable {
        whole.header = Some(Header {
            durable,
            ..Header::default()
        });
    }
    let content_type = message
        .content_type
        .map(|it| Symbol(Cow::Owned(it.to_string())));
    whole.properties = Some(Box::new(Properties {
        to,
        subject,
        content_type,
        ..Properties::default()
    }));
    let text = |text: &String| Value::String(text.clone());
    let headers = message
        .headers
        .iter()
        .map(|(name, value)| (text(name), text(value)));
    whole.application_properties = Map(headers.collect());
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    // [AMQP-2.5.6-1]
    #[test]
    fn a_long_message_goes_out_as_the_window_opens() {
        let mut way = Way::default();
        let window = |seen: u32| Flow {
            next_incoming_id: Some(seen),
            incoming_window: 2,
            handle: Some(0),
            delivery_count: Some(0),
            link_credit: Some(1),
            ..Flow::default()
        };
        assert!(way.flow(&window(0)));
        let message = Outgoing {
            topic: "t",
            content_type: None,
            headers: &[],
            payload: &[b'x'; 2000],
            token: 7,
        };
        let mut out = Vec::new();
        let sent = way.send(&message, (Some("t".into()), None), false, 512, &mut out);
        assert_eq!((sent, way.next), (Sent::Done, 2));
        for seen in [2, 4] {
            assert!(way.pending.is_some());
            way.flow(&window(seen));
            way.go_on(&mut out);
        }
        assert!(way.pending.is_none());
        assert_eq!((way.next, way.settled(0, 0)), (5, vec![7]));
        assert_eq!(out.iter().filter(|byte| **byte == b'x').count(), 2000);
    }
}
