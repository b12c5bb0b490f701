//! Subscriptions that a peer keeps and nobody wants any more: taken up again once, to be closed for good.
//!
//! A link whose source never expires lives on at the peer until it is closed (sections 2.6.6 and 3.5.6): who only
//! stops attaching it leaves a queue there that fills for nobody. What this deliberately does not do: it gives
//! such a link no credit, so nothing comes by it.

use super::Client;
use super::peer::Peer;
use crate::wire::{Attach, Detach, Performative};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A link that is to be closed.
pub(super) struct Ending {
    filter: String,
    /// The peer's handle of it, once it is attached.
    theirs: Option<u32>,
}

/// What is to be closed at a peer: brokers bind queues as they do, which this protocol cannot undo at RabbitMQ.
pub(super) fn all(peer: Peer, filters: &[String]) -> Vec<Ending> {
    let ending = |filter: &String| Ending {
        filter: filter.clone(),
        theirs: None,
    };
    match peer {
        Peer::RabbitMq => Vec::new(),
        Peer::Plain | Peer::BrokerJ => filters.iter().map(ending).collect(),
    }
}

impl Client {
    /// Their handles are behind those of the links in and of the link out.
    pub(super) fn attach_ended(&mut self) {
        self.ending = match self.options.queue {
            Some(_) => all(self.peer, &self.options.ended),
            None => Vec::new(),
        };
        self.awaited += self.ending.len();
        for at in 0..self.ending.len() {
            let filter = &self.ending[at].filter;
            let name = self.name_of(filter);
            let attach = self.attach_to(filter, name, self.ending_handle(at));
            self.write(&Performative::Attach(Box::new(attach)));
        }
    }

    fn ending_handle(&self, at: usize) -> u32 {
        (self.links.len() + 1 + at) as u32
    }

    /// Closes a link that is attached only for that; says whether it is such a one.
    pub(super) fn attached_to_end(&mut self, attach: &Attach) -> bool {
        let named = |ending: &Ending| self.name_of(&ending.filter) == attach.name;
        let Some(at) = self.ending.iter().position(named) else {
            return false;
        };
        self.ending[at].theirs = Some(attach.handle);
        let detach = Detach {
            handle: self.ending_handle(at),
            closed: true,
            error: None,
        };
        self.write(&Performative::Detach(detach));
        true
    }

    /// The peer has closed one, or does not know it: gone it is either way. Says whether it was such a one.
    pub(super) fn ended(&mut self, detach: &Detach) -> bool {
        let handle = Some(detach.handle);
        let of = self
            .ending
            .iter_mut()
            .find(|ending| ending.theirs == handle);
        let Some(ending) = of else {
            return false;
        };
        ending.theirs = None;
        self.awaited = self.awaited.saturating_sub(1);
        self.is_ready();
        true
    }
}
