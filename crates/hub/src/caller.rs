//! The one door: who asks, and what can be asked, each with an answer of its own type.
//!
//! The decision worth arguing: a caller is admitted and counted once, however much it then asks; the gateway itself
//! has a door of its own ([`Internal`]), at which nobody is invented to ask and no time to ask at.

use crate::access::Principal;
use crate::fault::Fault;
use crate::hub::Hub;
use crate::hub::change::Change;
use crate::hub::publish::publisher;
use crate::message::Message;
use crate::requests::{Latest, Made, Past, Publish, Subscribe};
use crate::state::catalog::Entry;
use crate::state::entities::Entity;
use crate::state::withdrawn::Place;
use crate::subscription::Subscription;
use crate::ticket::Ticket;
use bytes::Bytes;
use std::sync::Arc;
use weir_model::{Datastream, Filter, Time};
use weir_storage::{Extent, Page};

impl Hub {
    /// Admits a principal at a time of the gateway's clock, and counts that as one request.
    pub fn caller<'a>(
        self: &'a Arc<Self>,
        now: Time,
        principal: &'a Principal,
    ) -> Result<Caller<'a>, Fault> {
        let admitted = principal.standing.admit(now, &principal.name);
        self.audited(principal, admitted)?;
        Ok(Caller {
            hub: self,
            now,
            principal,
        })
    }

    /// The same for a later step of a request that was counted: it is not counted again, and is refused where the
    /// principal was revoked in between.
    pub fn caller_again<'a>(
        self: &'a Arc<Self>,
        now: Time,
        principal: &'a Principal,
    ) -> Result<Caller<'a>, Fault> {
        self.audited(principal, principal.standing.check(&principal.name))?;
        Ok(Caller {
            hub: self,
            now,
            principal,
        })
    }

    /// The gateway itself, which may do all, whenever.
    pub fn internal(self: &Arc<Self>) -> Internal<'_> {
        Internal { hub: self }
    }
}

/// Who was admitted; refusals for who it is are told to the auditor.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    hub: &'a Arc<Hub>,
    now: Time,
    principal: &'a Principal,
}

impl<'a> Caller<'a> {
    fn audited<T>(&self, asked: Result<T, Fault>) -> Result<T, Fault> {
        self.hub.audited(self.principal, asked)
    }

    /// Stores a message and hands it on; acknowledged once the ticket is ready.
    pub fn publish(&self, publish: Publish) -> Result<Ticket, Fault> {
        self.audited(self.hub.publish(self.now, self.principal, publish))
    }

    /// The same, but that a refusal is neither counted nor told: of a message that may be taken in parts, what is
    /// refused in the end is ([`Self::refuse`]).
    pub fn offer(&self, mut publish: Publish) -> Result<Ticket, Fault> {
        self.hub.offer(self.now, self.principal, &mut publish)
    }

    /// Counts and tells that so many messages, of which this is one, are refused.
    pub fn refuse(&self, publish: &Publish, fault: &Fault, messages: u64) {
        let publisher = publisher(self.now, self.principal, publish);
        self.hub.note_refused(&publisher, fault, messages);
        self.hub.tell_auditor(self.principal, fault);
    }

    /// The last value of each datastream that matches.
    pub fn latest(&self, filters: &[Filter]) -> Result<Latest, Fault> {
        self.audited(self.hub.latest(self.principal, filters))
    }

    /// A page of the past.
    pub fn history(&self, past: &Past) -> Result<Page, Fault> {
        self.audited(self.hub.past(self.principal, past))
    }

    /// From when to when there are such observations of each of these datastreams; `None` of one that has none or
    /// may not be read.
    pub fn extents(&self, all: &[Made]) -> Result<Vec<Option<Extent>>, Fault> {
        self.audited(self.hub.extents(self.principal, all))
    }

    /// Messages as they come.
    pub fn subscribe(&self, subscribe: Subscribe) -> Result<Box<Subscription>, Fault> {
        self.audited(self.hub.subscribe(self.now, self.principal, subscribe))
    }

    /// The catalog's entries that match; [`Fault::Unknown`] where one topic is named that has none.
    pub fn entries(&self, filters: &[Filter]) -> Result<Vec<Entry>, Fault> {
        self.audited(self.hub.describe(self.principal, filters))
    }

    /// Says what a datastream is from now on, or (`None`) forgets it with all its past.
    pub fn change(&self, topic: &str, datastream: Option<Datastream>) -> Result<Ticket, Fault> {
        let (now, principal) = (self.now, self.principal);
        self.audited(self.hub.change(now, principal, topic, datastream, false))
    }

    /// Says what a datastream was all along: also what was observed under its description of now is of that.
    pub fn correct(&self, topic: &str, datastream: Datastream) -> Result<Ticket, Fault> {
        let (now, principal, corrected) = (self.now, self.principal, Some(datastream));
        self.audited(self.hub.change(now, principal, topic, corrected, true))
    }

    /// The entities whose keys match, by key.
    pub fn entities(&self, filters: &[Filter]) -> Result<Vec<Entity>, Fault> {
        self.audited(self.hub.entities(self.principal, filters))
    }

    /// Sets what entities are, or (`None`) removes them: all, or none where one is refused.
    pub fn put(&self, entities: Vec<(String, Option<Bytes>)>) -> Result<Ticket, Fault> {
        self.audited(self.hub.put(self.now, self.principal, entities))
    }

    /// Hides an observation of the past.
    pub fn withdraw(&self, place: &Place) -> Result<Ticket, Fault> {
        self.audited(self.hub.withdraw(self.now, self.principal, place))
    }

    /// The retained messages of topics that match, by topic.
    pub fn retained(&self, filters: &[Filter]) -> Result<Vec<Arc<Message>>, Fault> {
        self.audited(self.hub.retained(self.now, self.principal, filters))
    }

    /// Makes one of several changes that belong together ([`Hub::would_take`]).
    pub fn make(&self, change: Change) -> Result<Ticket, Fault> {
        match change {
            Change::Publish(publish) => self.publish(publish),
            Change::Datastream(topic, datastream) => self.change(&topic, datastream),
            Change::Put(entities) => self.put(entities),
            Change::Withdraw(place) => self.withdraw(&place),
        }
    }
}

/// The door of the gateway itself.
#[derive(Clone, Copy)]
pub struct Internal<'a> {
    hub: &'a Arc<Hub>,
}

impl<'a> Internal<'a> {
    /// The catalog's entries that match.
    pub fn entries(&self, filters: &[Filter]) -> Vec<Entry> {
        self.hub.entries(Principal::of_the_gateway(), filters)
    }

    /// The entities whose keys match, by key.
    pub fn entities(&self, filters: &[Filter]) -> Vec<Entity> {
        self.hub.matching(Principal::of_the_gateway(), filters)
    }

    /// Keeps the state of the durable consumer of this name, in the place of what was kept of it. A binding
    /// begins the name with its own.
    pub fn remember(&self, now: Time, name: &str, state: Bytes) -> Result<Ticket, Fault> {
        self.hub.remember(now, name, state)
    }

    /// Keeps nothing of the durable consumer of this name any more.
    pub fn forget(&self, now: Time, name: &str) -> Result<Ticket, Fault> {
        self.hub.remember(now, name, Bytes::new())
    }

    /// The gateway as a caller like others: at topics that begin with `$`, too.
    pub fn at(&self, now: Time) -> Caller<'a> {
        Caller {
            hub: self.hub,
            now,
            principal: Principal::of_the_gateway(),
        }
    }
}
