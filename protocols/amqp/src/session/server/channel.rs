//! Sessions (AMQP 1.0 section 2.5): windows of transfers, and the links of each.

use super::super::link::{Link, LinkId, Stage, Token};
use super::{Server, ServerEvent};
use crate::limits::{INCOMING_WINDOW, LINKS_MAX, SESSIONS_MAX};
use crate::wire::{Begin, Condition, Error, Fault, Flow, Performative, Role, Tag};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use bytes::Bytes;

/// One session; both sides have it on the same channel.
pub(super) struct Channel {
    pub(super) number: u16,
    /// Number of the client's next transfer.
    pub(super) next_incoming_id: u32,
    /// Transfers that the client may still send.
    pub(super) incoming_window: u32,
    /// Number of the next transfer from here.
    pub(super) next_outgoing_id: u32,
    /// Transfers that the client still takes.
    pub(super) outgoing_window: u32,
    /// Highest handle that the client takes.
    pub(super) handle_max: u32,
    pub(super) next_delivery_id: u32,
    pub(super) links: Vec<(u32, Box<Link>)>,
    /// Deliveries of the client that are not settled, ascending.
    pub(super) incoming: VecDeque<Incoming>,
    /// Deliveries to the client that are not settled, ascending.
    pub(super) outgoing: VecDeque<Outgoing>,
    /// What is left of a delivery for which the window had no room.
    pub(super) pending: Option<Box<Pending>>,
    /// This side has ended it; what still comes is passed over.
    pub(super) ended: bool,
}

/// A delivery of the client that is not settled.
pub(super) struct Incoming {
    pub(super) delivery_id: u32,
    pub(super) handle: u32,
    pub(super) tag: Tag,
    /// The client settles after us.
    pub(super) second: bool,
}

/// A delivery to the client that is not settled.
pub(super) struct Outgoing {
    pub(super) delivery_id: u32,
    pub(super) handle: u32,
    pub(super) token: Token,
}

/// The rest of a delivery.
pub(super) struct Pending {
    pub(super) handle: u32,
    pub(super) head: Bytes,
    pub(super) payload: Bytes,
}

impl Channel {
    pub(super) fn link(&mut self, handle: u32) -> Option<&mut Link> {
        let found = self.links.iter_mut().find(|(number, _)| *number == handle);
        found.map(|(_, link)| &mut **link)
    }

    pub(super) fn id(&self, handle: u32, key: u32) -> LinkId {
        LinkId {
            channel: self.number,
            handle,
            key,
        }
    }

    /// The flow that tells the session's windows, and a link's credit (section 2.7.4).
    pub(super) fn flow(&self, handle: Option<u32>) -> Flow {
        let found = self
            .links
            .iter()
            .find(|(number, _)| Some(*number) == handle);
        let link = found.map(|(_, link)| link);
        Flow {
            next_incoming_id: Some(self.next_incoming_id),
            incoming_window: self.incoming_window,
            next_outgoing_id: self.next_outgoing_id,
            outgoing_window: u32::from(u16::MAX),
            handle: link.and(handle),
            delivery_count: link.map(|link| link.delivery_count),
            link_credit: link.map(|link| link.credit),
            available: None,
            drain: link.is_some_and(|link| link.role == Role::Sender && link.drain),
            echo: false,
        }
    }
}

impl Server {
    pub(super) fn channel(&mut self, number: u16) -> Option<&mut Channel> {
        self.channels.iter_mut().find(|of| of.number == number)
    }

    /// Section 2.7.2.
    pub(super) fn take_begin(&mut self, number: u16, begin: &Begin) -> Result<(), Fault> {
        let not_allowed = |rule| Err(Fault::new(Condition::NOT_ALLOWED, 8, rule));
        // [AMQP-2.7.2-2]
        if usize::from(number) >= SESSIONS_MAX {
            // Section 2.7.1: a channel above the maximum.
            let rule = "a channel above the maximum";
            return Err(Fault::new(Condition::FRAMING_ERROR, 6, rule));
        }
        if self.channel(number).is_some() {
            return not_allowed("a session on a channel that has one");
        }
        if begin.remote_channel.is_some() {
            return not_allowed("an answer to a begin that was not sent");
        }
        if number > self.peer.channel_max {
            return not_allowed("a channel above the client's own maximum");
        }
        // Most connections have one.
        self.channels.reserve_exact(1);
        self.channels.push(Channel {
            number,
            next_incoming_id: begin.next_outgoing_id,
            incoming_window: INCOMING_WINDOW,
            next_outgoing_id: 0,
            outgoing_window: begin.incoming_window,
            handle_max: begin.handle_max,
            next_delivery_id: 0,
            links: Vec::new(),
            incoming: VecDeque::new(),
            outgoing: VecDeque::new(),
            pending: None,
            ended: false,
        });
        // [AMQP-2.7.2-1]
        let answer = Begin {
            remote_channel: Some(number),
            next_outgoing_id: 0,
            incoming_window: INCOMING_WINDOW,
            outgoing_window: u32::from(u16::MAX),
            handle_max: (LINKS_MAX - 1) as u32,
            ..Begin::default()
        };
        self.write(number, &Performative::Begin(Box::new(answer)));
        Ok(())
    }

    /// Section 2.7.8.
    pub(super) fn take_end(&mut self, number: u16) {
        let Some(at) = self.channels.iter().position(|of| of.number == number) else {
            return;
        };
        self.flush_accepted();
        let channel = self.channels.remove(at);
        self.detach_all(&channel);
        if !channel.ended {
            self.write(number, &Performative::End(None));
        }
    }

    /// Ends a session from this side; what its client still sends there is passed over until it agrees.
    pub(super) fn end_session(&mut self, number: u16, condition: Condition, rule: &'static str) {
        self.flush_accepted();
        let Some(at) = self.channels.iter().position(|of| of.number == number) else {
            return;
        };
        let mut channel = self.channels.remove(at);
        self.detach_all(&channel);
        channel.links = Vec::new();
        channel.incoming = VecDeque::new();
        channel.outgoing = VecDeque::new();
        channel.pending = None;
        channel.ended = true;
        self.channels.push(channel);
        let error = Error::new(condition, rule);
        self.write(number, &Performative::End(Some(error)));
    }

    /// Tells the layer above that all links of a session are gone.
    pub(super) fn detach_all(&mut self, channel: &Channel) {
        for (handle, link) in &channel.links {
            if link.stage != Stage::Detached {
                let id = channel.id(*handle, link.key);
                self.events.push_back(ServerEvent::Detached(id, false));
            }
        }
    }

    /// Section 2.7.4: windows and credit as the client has them.
    pub(super) fn take_flow(&mut self, number: u16, flow: &Flow) {
        let Some(channel) = self.channel(number) else {
            return;
        };
        // Section 2.5.6: what the client takes beyond what it has seen.
        let seen = flow.next_incoming_id.unwrap_or(0);
        let under_way = channel.next_outgoing_id.wrapping_sub(seen);
        channel.outgoing_window = flow.incoming_window.saturating_sub(under_way);
        if let Some(handle) = flow.handle {
            let Some(link) = channel.link(handle) else {
                let rule = "a flow for a link that is not attached";
                return self.end_session(number, Condition::UNATTACHED_HANDLE, rule);
            };
            if link.role == Role::Sender {
                // Section 2.6.7: credit counts from what the receiver has seen.
                let seen = flow.delivery_count.unwrap_or(0);
                let under_way = link.delivery_count.wrapping_sub(seen);
                let credit = flow.link_credit.unwrap_or(0);
                link.credit = credit.saturating_sub(under_way);
                link.drain = flow.drain;
            }
        }
        self.send_pending(number);
        if flow.echo
            && let Some(channel) = self.channel(number)
        {
            let answer = channel.flow(flow.handle);
            self.write(number, &Performative::Flow(answer));
        }
    }
}
