//! Settlement, both ways (AMQP 1.0 section 2.6.12).

use super::super::link::LinkId;
use super::channel::Incoming;
use super::{Server, ServerEvent};
use crate::wire::{DeliveryState, Disposition, Performative, Role};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

impl Server {
    /// Says what became of a delivery of the client's; it is settled with it unless the client settles
    /// last.
    pub fn settle(&mut self, id: LinkId, delivery_id: u32, state: DeliveryState) {
        if self.link(id).is_none() {
            return;
        }
        let Some(channel) = self.channel(id.channel) else {
            return;
        };
        let mut incoming = channel.incoming.iter();
        let is_it = |of: &Incoming| of.delivery_id == delivery_id && of.handle == id.handle;
        let Some(at) = incoming.position(is_it) else {
            return;
        };
        let second = channel.incoming[at].second;
        if !second {
            channel.incoming.remove(at);
            if let Some(link) = channel.link(id.handle) {
                link.unsettled = link.unsettled.saturating_sub(1);
            }
        }
        // [AMQP-2.6.12-1] [AMQP-2.8.3-1]
        match (second, state) {
            (false, DeliveryState::Accepted) => self.accepted_too(id.channel, delivery_id),
            (second, state) => {
                self.flush_accepted();
                self.write_disposition(id.channel, (delivery_id, delivery_id), !second, state);
            }
        }
        self.replenish(id.channel, id.handle);
    }

    /// Deliveries that follow one another are told of as one.
    fn accepted_too(&mut self, number: u16, delivery_id: u32) {
        match &mut self.accepted {
            Some((channel, _, last))
                if *channel == number && last.wrapping_add(1) == delivery_id =>
            {
                *last = delivery_id;
            }
            _ => {
                self.flush_accepted();
                self.accepted = Some((number, delivery_id, delivery_id));
            }
        }
    }

    pub(super) fn flush_accepted(&mut self) {
        if let Some((channel, first, last)) = self.accepted.take() {
            self.write_disposition(channel, (first, last), true, DeliveryState::Accepted);
        }
    }

    fn write_disposition(
        &mut self,
        channel: u16,
        (first, last): (u32, u32),
        settled: bool,
        state: DeliveryState,
    ) {
        let disposition = Disposition {
            role: Role::Receiver,
            first,
            last: (last != first).then_some(last),
            settled,
            state: Some(state),
            batchable: false,
        };
        self.write(channel, &Performative::Disposition(disposition));
    }

    /// Section 2.7.6.
    pub(super) fn take_disposition(&mut self, number: u16, of: &Disposition) {
        match of.role {
            Role::Receiver => self.take_outcome(number, of),
            Role::Sender => self.take_settled(number, of),
        }
    }

    /// The client has settled deliveries of its own: nothing is remembered of them any more.
    fn take_settled(&mut self, number: u16, of: &Disposition) {
        let Some(channel) = self.channel(number).filter(|_| of.settled) else {
            return;
        };
        // [AMQP-2.6.12-2]
        let mut settled = Vec::new();
        let range = range(&channel.incoming, of, |delivery| delivery.delivery_id);
        let all = channel.incoming.drain(range);
        settled.extend(all.map(|delivery| (delivery.handle, delivery.tag)));
        for (handle, tag) in settled {
            let Some(channel) = self.channel(number) else {
                return;
            };
            if let Some(link) = channel.link(handle) {
                link.unsettled = link.unsettled.saturating_sub(1);
                let key = link.key;
                let id = channel.id(handle, key);
                self.events.push_back(ServerEvent::Forgotten(id, tag));
            }
            self.replenish(number, handle);
        }
    }

    /// The client says what became of deliveries to it.
    fn take_outcome(&mut self, number: u16, of: &Disposition) {
        let terminal = of.state.as_ref().is_some_and(DeliveryState::is_terminal);
        if !of.settled && !terminal {
            return;
        }
        let Some(channel) = self.channel(number) else {
            return;
        };
        let range = range(&channel.outgoing, of, |delivery| delivery.delivery_id);
        let all = channel.outgoing.drain(range);
        let done: Vec<_> = all
            .map(|delivery| (delivery.handle, delivery.token))
            .collect();
        let any = !done.is_empty();
        for (handle, token) in done {
            let Some(channel) = self.channel(number) else {
                return;
            };
            let Some(link) = channel.link(handle) else {
                continue;
            };
            link.unsettled = link.unsettled.saturating_sub(1);
            let key = link.key;
            let id = channel.id(handle, key);
            let event = ServerEvent::Settled(id, token, of.state.clone());
            self.events.push_back(event);
        }
        // The receiver settles after the sender (section 2.8.3), which does so now.
        // [AMQP-2.8.3-2]
        if !of.settled && any {
            let answer = Disposition {
                role: Role::Sender,
                settled: true,
                ..of.clone()
            };
            self.write(number, &Performative::Disposition(answer));
        }
    }
}

/// Which of some deliveries, ascending, are in a disposition's range, as serial numbers go (section
/// 2.8.8).
fn range<T>(queue: &VecDeque<T>, of: &Disposition, id_of: impl Fn(&T) -> u32) -> Range<usize> {
    let Some(base) = queue.front().map(&id_of) else {
        return 0..0;
    };
    // [AMQP-2.7.6-1]
    let last = of.last.unwrap_or(of.first);
    let behind = |id: u32| id.wrapping_sub(base) as i32;
    let from = queue.partition_point(|each| behind(id_of(each)) < behind(of.first));
    let upto = queue.partition_point(|each| behind(id_of(each)) <= behind(last));
    from..upto.max(from)
}
