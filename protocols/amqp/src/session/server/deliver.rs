//! Messages to the client: as credit, window and frame size let them.

use super::super::link::{LinkId, Sent, Sink, Stage, Token};
use super::Server;
use super::channel::{Outgoing, Pending};
use crate::limits::UNSETTLED_MAX;
use crate::wire::{Performative, Role, Transfer};
use alloc::boxed::Box;
use alloc::vec::Vec;
use bytes::{Buf, Bytes};

/// A message to be sent.
pub struct Delivery<'a> {
    /// What the layer above knows it by.
    pub token: Token,
    /// The sections before the data, and what stands before the data.
    pub head: &'a [u8],
    /// The data.
    pub payload: Bytes,
}

/// Bytes of a transfer's frame beside the message, at most.
const OVERHEAD_BYTES: usize = 96;

impl Server {
    /// Says whether a link's client takes a message now.
    pub fn may_send(&mut self, id: LinkId) -> bool {
        let Some(channel) = self.channel(id.channel) else {
            return false;
        };
        if channel.pending.is_some() || channel.outgoing_window == 0 {
            return false;
        }
        let link = channel.link(id.handle).filter(|link| link.key == id.key);
        link.is_some_and(|link| {
            // [AMQP-2.6.7-2]
            link.role == Role::Sender
                && link.stage == Stage::Attached
                && link.credit > 0
                && link.unsettled < UNSETTLED_MAX
        })
    }

    /// Says whether what is sent on a link is settled at once.
    pub fn sends_settled(&mut self, id: LinkId) -> bool {
        self.link(id).is_some_and(|link| link.sends_settled())
    }

    /// Sends a message (section 2.7.5).
    pub fn deliver(&mut self, id: LinkId, delivery: Delivery<'_>, sink: &mut dyn Sink) -> Sent {
        if !self.may_send(id) {
            return Sent::Full;
        }
        self.flush_accepted();
        let frame_bytes_max = self.peer.frame_bytes_max;
        // What is to be said before goes before.
        sink.small().extend_from_slice(&self.out);
        self.out.clear();
        self.spoke = true;
        let Some(channel) = self.channel(id.channel) else {
            return Sent::Full;
        };
        let delivery_id = channel.next_delivery_id;
        let Some(link) = channel.link(id.handle) else {
            return Sent::Full;
        };
        if delivery.head.len() + delivery.payload.len() > link.message_bytes_max {
            return Sent::TooLarge;
        }
        let settled = link.sends_settled();
        link.credit -= 1;
        link.delivery_count = link.delivery_count.wrapping_add(1);
        link.unsettled += usize::from(!settled);
        channel.next_delivery_id = delivery_id.wrapping_add(1);
        if !settled {
            channel.outgoing.push_back(Outgoing {
                delivery_id,
                handle: id.handle,
                token: delivery.token,
            });
        }
        let first = Transfer {
            handle: id.handle,
            delivery_id: Some(delivery_id),
            delivery_tag: Some(delivery.token.tag()),
            message_format: Some(0),
            settled: settled.then_some(true),
            ..Transfer::default()
        };
        let mut cut = Cut {
            transfer: first,
            channel: id.channel,
            room: frame_bytes_max - OVERHEAD_BYTES,
        };
        if delivery.head.len() + delivery.payload.len() <= cut.room {
            channel.next_outgoing_id = channel.next_outgoing_id.wrapping_add(1);
            channel.outgoing_window -= 1;
            cut.write(delivery.head, delivery.payload, false, sink);
            return Sent::Yes;
        }
        let mut rest = (Bytes::copy_from_slice(delivery.head), delivery.payload);
        channel.pending = channel.cut(&mut cut, &mut rest, sink);
        Sent::Yes
    }

    /// Goes on with a delivery that the window had no room for.
    pub(super) fn send_pending(&mut self, number: u16) {
        let frame_bytes_max = self.peer.frame_bytes_max;
        let mut out: Vec<u8> = core::mem::take(&mut self.out);
        if let Some(channel) = self.channel(number)
            && let Some(pending) = channel.pending.take()
        {
            let mut cut = Cut {
                transfer: Transfer {
                    handle: pending.handle,
                    ..Transfer::default()
                },
                channel: number,
                room: frame_bytes_max - OVERHEAD_BYTES,
            };
            let mut rest = (pending.head, pending.payload);
            channel.pending = channel.cut(&mut cut, &mut rest, &mut out);
        }
        self.out = out;
    }

    /// Gives back the credit of a link whose client wants it used up, when there is nothing to send (section
    /// 2.6.7).
    pub fn idle_link(&mut self, id: LinkId) {
        let Some(link) = self.link(id) else {
            return;
        };
        // [AMQP-2.6.7-3]
        if link.drain && link.stage == Stage::Attached {
            link.delivery_count = link.delivery_count.wrapping_add(link.credit);
            link.credit = 0;
            self.write_link_flow(id);
            if let Some(link) = self.link(id) {
                link.drain = false;
            }
        }
    }

    /// Says whether a link's client wants its credit used up, and it is.
    pub fn is_drained(&mut self, id: LinkId) -> bool {
        self.link(id)
            .is_some_and(|link| link.drain && link.credit == 0)
    }
}

/// Cuts a delivery into frames.
struct Cut {
    /// Of the next frame.
    transfer: Transfer,
    channel: u16,
    /// Bytes of the message that a frame has room for.
    room: usize,
}

impl Cut {
    fn write(&mut self, head: &[u8], payload: Bytes, more: bool, sink: &mut dyn Sink) {
        self.transfer.more = more;
        let bytes = head.len() + payload.len();
        let performative = Performative::Transfer(core::mem::take(&mut self.transfer));
        performative.write(self.channel, bytes, sink.small());
        if let Performative::Transfer(transfer) = performative {
            self.transfer.handle = transfer.handle;
        }
        sink.small().extend_from_slice(head);
        sink.shared(payload);
    }
}

impl super::channel::Channel {
    /// Sends as many frames of a delivery as the window takes; what is left of it then.
    fn cut(
        &mut self,
        cut: &mut Cut,
        (head, payload): &mut (Bytes, Bytes),
        sink: &mut dyn Sink,
    ) -> Option<Box<Pending>> {
        while head.has_remaining() || payload.has_remaining() {
            // [AMQP-2.5.6-1]
            if self.outgoing_window == 0 {
                return Some(Box::new(Pending {
                    handle: cut.transfer.handle,
                    head: head.clone(),
                    payload: payload.clone(),
                }));
            }
            self.outgoing_window -= 1;
            self.next_outgoing_id = self.next_outgoing_id.wrapping_add(1);
            // [AMQP-2.3.1-3]
            let first = head.split_to(head.len().min(cut.room));
            let second = payload.split_to(payload.len().min(cut.room - first.len()));
            let more = head.has_remaining() || payload.has_remaining();
            cut.write(&first, second, more, sink);
        }
        None
    }
}
