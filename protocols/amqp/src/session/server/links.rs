//! Links: attaching, refusing, detaching, and the credit of those that messages come in by.

use super::super::link::{Link, LinkId, Stage};
use super::{Server, ServerEvent};
use crate::limits::{CREDIT, LINKS_MAX, LINKS_OF_CONNECTION_MAX, NAME_BYTES_MAX};
use crate::wire::{
    Attach, Condition, Detach, Error, Flow, Map, Performative, ReceiverSettles, Role,
    SenderSettles, Source, TargetKind,
};
use alloc::boxed::Box;

/// What a link is accepted with (AMQP 1.0 section 2.7.3).
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    /// As it is in effect here.
    pub source: Option<Box<Source>>,
    /// As it is in effect here.
    pub target: Option<TargetKind>,
    /// Deliveries that are still unsettled since an earlier connection.
    pub unsettled: Map,
}

impl Server {
    /// Section 2.7.3.
    pub(super) fn take_attach(&mut self, number: u16, attach: Box<Attach>) {
        let links: usize = self.channels.iter().map(|of| of.links.len()).sum();
        let (key, message_bytes_max) = (self.next_key, self.limits.message_bytes_max);
        let Some(channel) = self.channel(number) else {
            return;
        };
        let handle = attach.handle;
        if handle as usize >= LINKS_MAX {
            // Section 2.7.2: a handle above the maximum.
            let sentence = "a handle above the maximum";
            return self.close(Condition::FRAMING_ERROR, sentence);
        }
        if channel.link(handle).is_some() {
            // [AMQP-2.8.17-2]
            let rule = "an attach with a handle that is in use";
            return self.end_session(number, Condition::HANDLE_IN_USE, rule);
        }
        if handle > channel.handle_max {
            let rule = "a handle above the client's own maximum";
            return self.end_session(number, Condition::NOT_ALLOWED, rule);
        }
        let role = match attach.role {
            Role::Sender => Role::Receiver,
            Role::Receiver => Role::Sender,
        };
        let theirs = attach.max_message_size.filter(|bytes| *bytes > 0);
        let theirs = theirs.and_then(|bytes| usize::try_from(bytes).ok());
        let link = Link {
            key,
            stage: Stage::Deciding,
            name: attach.name.clone(),
            role,
            snd_settle_mode: attach.snd_settle_mode,
            rcv_settle_mode: attach.rcv_settle_mode,
            message_bytes_max: match role {
                Role::Sender => theirs.unwrap_or(usize::MAX),
                Role::Receiver => message_bytes_max,
            },
            delivery_count: match role {
                Role::Sender => 0,
                Role::Receiver => attach.initial_delivery_count.unwrap_or(0),
            },
            credit: 0,
            drain: false,
            unsettled: 0,
            partial: None,
        };
        channel.links.push((handle, Box::new(link)));
        let id = channel.id(handle, key);
        self.next_key += 1;
        if let Some(error) = unattachable(&attach, links) {
            return self.refuse(id, &attach, error);
        }
        self.steal(id, &attach.name);
        self.events.push_back(ServerEvent::Attach(id, attach));
    }

    /// A link of the same name and direction is the same link: the one before is over (section 2.6.1).
    fn steal(&mut self, new: LinkId, name: &str) {
        // [AMQP-2.6.1-1]
        let role = self.link(new).map(|link| link.role);
        let of = self.channels.iter().flat_map(|channel| {
            let links = channel.links.iter();
            links.map(|(handle, link)| (channel.id(*handle, link.key), link))
        });
        let before = of.filter(|(id, link)| {
            *id != new
                && link.name == name
                && Some(link.role) == role
                && link.stage == Stage::Attached
        });
        let stolen = before.map(|(id, _)| id).next();
        if let Some(id) = stolen {
            let sentence = "the link was attached again";
            self.detach(id, Some(Error::new(Condition::STOLEN, sentence)));
            self.events.push_back(ServerEvent::Detached(id, false));
        }
    }

    pub(super) fn link(&mut self, id: LinkId) -> Option<&mut Link> {
        let link = self.channel(id.channel)?.link(id.handle)?;
        (link.key == id.key).then_some(link)
    }

    /// The name of a link.
    pub fn link_name(&mut self, id: LinkId) -> Option<&str> {
        self.link(id).map(|link| link.name.as_str())
    }

    /// Accepts a link; one that messages come in by is given credit.
    pub fn accept(&mut self, id: LinkId, accepted: Accepted) {
        let message_bytes_max = self.limits.message_bytes_max as u64;
        let Some(link) = self.link(id).filter(|link| link.stage == Stage::Deciding) else {
            return;
        };
        link.stage = Stage::Attached;
        let role = link.role;
        if role == Role::Receiver {
            link.credit = CREDIT;
        }
        // [AMQP-2.7.3-1] [AMQP-2.8.2-1]
        let answer = Attach {
            snd_settle_mode: link.snd_settle_mode,
            rcv_settle_mode: link.rcv_settle_mode,
            source: accepted.source,
            target: accepted.target,
            unsettled: accepted.unsettled,
            max_message_size: (role == Role::Receiver).then_some(message_bytes_max),
            ..Attach::new(link.name.clone(), id.handle, role)
        };
        self.write(id.channel, &Performative::Attach(Box::new(answer)));
        if role == Role::Receiver {
            self.write_link_flow(id);
        }
    }

    /// Refuses a link: it is attached without the terminus that there is none of, and detached (section
    /// 2.6.3).
    pub fn refuse(&mut self, id: LinkId, attach: &Attach, error: Error) {
        let Some(link) = self.link(id) else {
            return;
        };
        let role = link.role;
        // [AMQP-2.6.3-1]
        let (source, target) = match role {
            Role::Sender => (None, attach.target.clone()),
            Role::Receiver => (attach.source.clone(), None),
        };
        let answer = Attach {
            source,
            target,
            ..Attach::new(link.name.clone(), id.handle, role)
        };
        self.write(id.channel, &Performative::Attach(Box::new(answer)));
        self.detach(id, Some(error));
    }

    /// Detaches a link for good from this side.
    pub fn detach(&mut self, id: LinkId, error: Option<Error>) {
        self.flush_accepted();
        let Some(link) = self.link(id).filter(|link| link.stage != Stage::Detached) else {
            return;
        };
        link.stage = Stage::Detached;
        link.partial = None;
        let detach = Detach {
            handle: id.handle,
            closed: true,
            error,
        };
        self.forget(id);
        self.write(id.channel, &Performative::Detach(detach));
    }

    /// What was under way on a link is nobody's any more.
    fn forget(&mut self, id: LinkId) {
        if let Some(channel) = self.channel(id.channel) {
            channel.incoming.retain(|of| of.handle != id.handle);
            channel.outgoing.retain(|of| of.handle != id.handle);
            // The rest of a delivery that was begun is not sent: the link is gone.
            let rest = channel.pending.take();
            channel.pending = rest.filter(|of| of.handle != id.handle);
        }
    }

    /// Section 2.7.7.
    pub(super) fn take_detach(&mut self, number: u16, detach: &Detach) {
        self.flush_accepted();
        let Some(channel) = self.channel(number) else {
            return;
        };
        let handle = detach.handle;
        let Some(at) = channel.links.iter().position(|(of, _)| *of == handle) else {
            let rule = "a detach of a link that is not attached";
            return self.end_session(number, Condition::UNATTACHED_HANDLE, rule);
        };
        let (_, link) = channel.links.remove(at);
        let id = channel.id(handle, link.key);
        if link.stage == Stage::Detached {
            return;
        }
        self.forget(id);
        let answer = Detach {
            handle,
            closed: detach.closed,
            error: None,
        };
        self.write(number, &Performative::Detach(answer));
        self.events
            .push_back(ServerEvent::Detached(id, detach.closed));
    }

    pub(super) fn write_link_flow(&mut self, id: LinkId) {
        if let Some(channel) = self.channel(id.channel) {
            let flow: Flow = channel.flow(Some(id.handle));
            self.write(id.channel, &Performative::Flow(flow));
        }
    }

    /// Gives a sender new credit once half of it is used, but none for what still waits for the disk.
    pub(super) fn replenish(&mut self, number: u16, handle: u32) {
        let Some(channel) = self.channel(number) else {
            return;
        };
        let Some(link) = channel.link(handle) else {
            return;
        };
        let room = CREDIT.saturating_sub(link.unsettled as u32);
        let due = link.role == Role::Receiver && link.stage == Stage::Attached;
        if due && link.credit < CREDIT / 2 && room >= link.credit + CREDIT / 4 {
            link.credit = room;
            let id = LinkId {
                channel: number,
                handle,
                key: link.key,
            };
            self.write_link_flow(id);
        }
    }
}

/// Why nobody could accept an attach.
fn unattachable(attach: &Attach, links: usize) -> Option<Error> {
    if links >= LINKS_OF_CONNECTION_MAX {
        let sentence = "the connection has as many links as it may";
        return Some(Error::new(Condition::RESOURCE_LIMIT_EXCEEDED, sentence));
    }
    if attach.name.len() > NAME_BYTES_MAX {
        let sentence = "a link name longer than is taken";
        return Some(Error::new(Condition::RESOURCE_LIMIT_EXCEEDED, sentence));
    }
    // Section 2.7.3: a sender says where it begins to count.
    if attach.role == Role::Sender && attach.initial_delivery_count.is_none() {
        let sentence = "a sender without an initial delivery count";
        return Some(Error::new(Condition::INVALID_FIELD, sentence));
    }
    // [AMQP-4.5.1-1]
    if matches!(attach.target, Some(TargetKind::Coordinator)) {
        let sentence = "there are no transactions here";
        return Some(Error::new(Condition::NOT_IMPLEMENTED, sentence));
    }
    None
}

impl Link {
    /// Whether what is sent is settled at once.
    pub(super) fn sends_settled(&self) -> bool {
        self.snd_settle_mode == SenderSettles::Settled
    }

    /// Whether its receiver settles after its sender.
    pub(super) fn is_second(&self) -> bool {
        self.rcv_settle_mode == ReceiverSettles::Second
    }
}
