//! What a client sends on an open connection.

use super::super::link::{LinkId, Partial, Stage};
use super::channel::{Channel, Incoming};
use super::{Received, Server, ServerEvent};
use crate::limits::{INCOMING_WINDOW, PARTIAL_BYTES_MAX};
use crate::wire::{Condition, Error, Fault, Performative, ReceiverSettles, Role, Transfer};
use alloc::boxed::Box;
use alloc::vec::Vec;
use bytes::Bytes;

/// Why a transfer is not taken, and what that costs.
enum Breach {
    Session(Condition, &'static str),
    Link(Condition, &'static str),
    /// It is not looked at.
    Ignored,
}

impl Server {
    pub(super) fn receive(
        &mut self,
        number: u16,
        performative: Performative,
        payload: &[u8],
    ) -> Result<(), Fault> {
        if let Performative::Begin(begin) = &performative {
            return self.take_begin(number, begin);
        }
        // [AMQP-2.7.1-2] [AMQP-2.8.16-1]
        let Some(channel) = self.channel(number) else {
            let rule = "a frame on a channel without a session";
            return Err(Fault::new(Condition::NOT_ALLOWED, 6, rule));
        };
        if channel.ended && !matches!(performative, Performative::End(_)) {
            return Ok(());
        }
        match performative {
            Performative::Attach(attach) => self.take_attach(number, attach),
            Performative::Flow(flow) => self.take_flow(number, &flow),
            Performative::Transfer(transfer) => self.take_transfer(number, &transfer, payload),
            Performative::Disposition(disposition) => self.take_disposition(number, &disposition),
            Performative::Detach(detach) => self.take_detach(number, &detach),
            Performative::End(_) => self.take_end(number),
            Performative::Open(_) | Performative::Begin(_) | Performative::Close(_) => {
                let rule = "the first frame is an open, and there is one";
                return Err(Fault::new(Condition::NOT_ALLOWED, 8, rule));
            }
        }
        Ok(())
    }

    /// Section 2.7.5.
    fn take_transfer(&mut self, number: u16, transfer: &Transfer, payload: &[u8]) {
        match self.assemble(number, transfer, payload) {
            Ok(None) => {}
            Ok(Some(received)) => {
                self.events.push_back(ServerEvent::Delivery(received));
                self.replenish(number, transfer.handle);
            }
            Err(Breach::Ignored) => {}
            Err(Breach::Session(condition, rule)) => self.end_session(number, condition, rule),
            Err(Breach::Link(condition, rule)) => {
                let Some(id) = self.id_of(number, transfer.handle) else {
                    return;
                };
                // [AMQP-2.8.18-2]
                self.detach(id, Some(Error::new(condition, rule)));
                self.events.push_back(ServerEvent::Detached(id, true));
            }
        }
        self.widen(number);
    }

    fn id_of(&mut self, number: u16, handle: u32) -> Option<LinkId> {
        let channel = self.channel(number)?;
        let key = channel.link(handle)?.key;
        Some(channel.id(handle, key))
    }

    /// Opens the session's window again once half of it is used.
    fn widen(&mut self, number: u16) {
        let Some(channel) = self.channel(number) else {
            return;
        };
        if !channel.ended && channel.incoming_window < INCOMING_WINDOW / 2 {
            channel.incoming_window = INCOMING_WINDOW;
            let flow = channel.flow(None);
            self.write(number, &Performative::Flow(flow));
        }
    }

    /// Puts the parts of a delivery together (section 2.6.14); the whole, when there is no more.
    fn assemble(
        &mut self,
        number: u16,
        transfer: &Transfer,
        payload: &[u8],
    ) -> Result<Option<Box<Received>>, Breach> {
        let room = self.partial_room(transfer);
        let channel = self.channel(number).ok_or(Breach::Ignored)?;
        channel.count_transfer()?;
        let Some(link) = channel.link(transfer.handle) else {
            // [AMQP-2.8.17-1]
            let rule = "a transfer on a link that is not attached";
            return Err(Breach::Session(Condition::UNATTACHED_HANDLE, rule));
        };
        if link.role == Role::Sender {
            let rule = "a transfer on a link that goes the other way";
            return Err(Breach::Link(Condition::NOT_ALLOWED, rule));
        }
        if link.stage != Stage::Attached {
            return Err(Breach::Ignored);
        }
        let key = link.key;
        // [AMQP-2.6.14-1]
        let mut partial = match link.partial.take() {
            Some(partial) => continued(partial, transfer)?,
            None => {
                let begun = begun(transfer, link.is_second())?;
                // [AMQP-2.6.7-1] [AMQP-2.8.18-1]
                link.credit = link.credit.checked_sub(1).ok_or(Breach::Link(
                    Condition::TRANSFER_LIMIT_EXCEEDED,
                    "more deliveries than there is credit for",
                ))?;
                link.delivery_count = link.delivery_count.wrapping_add(1);
                begun
            }
        };
        // Nothing becomes of it, and it is settled [AMQP-2.7.5-1].
        if transfer.aborted {
            return Ok(None);
        }
        partial.settled |= transfer.settled.unwrap_or(link.sends_settled());
        partial.check(payload.len(), link.message_bytes_max, room)?;
        if transfer.more {
            partial.payload.extend_from_slice(payload);
            link.partial = Some(partial);
            return Ok(None);
        }
        let payload = partial.whole(payload);
        if !partial.settled {
            link.unsettled += 1;
            channel.incoming.push_back(Incoming {
                delivery_id: partial.delivery_id,
                handle: transfer.handle,
                tag: partial.tag,
                second: partial.second,
            });
        }
        Ok(Some(Box::new(Received {
            link: channel.id(transfer.handle, key),
            delivery_id: partial.delivery_id,
            tag: partial.tag,
            settled: partial.settled,
            second: partial.second,
            resume: partial.resume,
            payload,
        })))
    }
}

impl Server {
    /// Bytes that a transfer may bring to what is not whole; the last of a delivery makes it whole.
    fn partial_room(&self, transfer: &Transfer) -> usize {
        if !transfer.more {
            return usize::MAX;
        }
        PARTIAL_BYTES_MAX
            .max(self.limits.message_bytes_max)
            .saturating_sub(self.partial_bytes())
    }

    /// Bytes of deliveries that are not whole.
    pub(super) fn partial_bytes(&self) -> usize {
        let links = self.channels.iter().flat_map(|channel| &channel.links);
        let partials = links.filter_map(|(_, link)| link.partial.as_ref());
        partials.map(|partial| partial.payload.len()).sum()
    }
}

impl Channel {
    /// Counts a transfer against the session's window.
    fn count_transfer(&mut self) -> Result<(), Breach> {
        let window = self.incoming_window.checked_sub(1);
        self.incoming_window = window.ok_or(Breach::Session(
            Condition::WINDOW_VIOLATION,
            "more transfers than the window has room for",
        ))?;
        self.next_incoming_id = self.next_incoming_id.wrapping_add(1);
        Ok(())
    }
}

impl Partial {
    /// Whether there may be so many bytes more, by the link's largest message and by the connection's room.
    fn check(&self, bytes: usize, bytes_max: usize, room: usize) -> Result<(), Breach> {
        if self.payload.len() + bytes > bytes_max {
            let rule = "a message larger than the link takes";
            return Err(Breach::Link(Condition::MESSAGE_SIZE_EXCEEDED, rule));
        }
        if bytes > room {
            let rule = "the connection's messages that are not whole are too large together";
            return Err(Breach::Link(Condition::RESOURCE_LIMIT_EXCEEDED, rule));
        }
        Ok(())
    }

    /// The message, once its last part has come.
    fn whole(&mut self, last: &[u8]) -> Bytes {
        if self.payload.is_empty() {
            return Bytes::copy_from_slice(last);
        }
        self.payload.extend_from_slice(last);
        core::mem::take(&mut self.payload).into()
    }
}

fn begun(transfer: &Transfer, second: bool) -> Result<Box<Partial>, Breach> {
    let (Some(delivery_id), Some(tag)) = (transfer.delivery_id, transfer.delivery_tag) else {
        let rule = "a delivery begins without its identifier or its tag";
        return Err(Breach::Link(Condition::INVALID_FIELD, rule));
    };
    Ok(Box::new(Partial {
        delivery_id,
        tag,
        settled: false,
        resume: transfer.resume,
        second: second || transfer.rcv_settle_mode == Some(ReceiverSettles::Second),
        payload: Vec::new(),
    }))
}

/// What follows belongs to the same delivery, whether it says so or not.
fn continued(partial: Box<Partial>, transfer: &Transfer) -> Result<Box<Partial>, Breach> {
    let other_id = transfer
        .delivery_id
        .is_some_and(|id| id != partial.delivery_id);
    let other_tag = transfer.delivery_tag.is_some_and(|tag| tag != partial.tag);
    if other_id || other_tag {
        Err(Breach::Link(
            Condition::INVALID_FIELD,
            "another delivery begins before one has ended",
        ))
    } else {
        Ok(partial)
    }
}
