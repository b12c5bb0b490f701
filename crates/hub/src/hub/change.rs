//! What a datastream is: set, or forgotten.

use crate::access::{Principal, Verb, denied};
use crate::checks::{self, check_full, check_own};
use crate::descriptions;
use crate::entry;
use crate::fault::Fault;
use crate::hub::Hub;
use crate::requests::Publish;
use crate::room;
use crate::state::withdrawn::Place;
use crate::ticket::Ticket;
use bytes::Bytes;
use weir_model::{Datastream, Time, topic};

/// A change that belongs together with others.
#[derive(Clone, Debug)]
pub enum Change {
    /// Store a message and hand it on.
    Publish(Publish),
    /// Set what a datastream is, or (`None`) forget it with all its past.
    Datastream(String, Option<Datastream>),
    /// Set what entities are, or (`None`) remove them: all, or none where one is refused.
    Put(Vec<(String, Option<Bytes>)>),
    /// Hide an observation of the past.
    Withdraw(Place),
}

impl Hub {
    pub(crate) fn change(
        &self,
        now: Time,
        principal: &Principal,
        topic: &str,
        datastream: Option<Datastream>,
        is_correction: bool,
    ) -> Result<Ticket, Fault> {
        check_change(principal, topic, datastream.as_ref())?;
        match datastream {
            Some(datastream) => self.set(now, topic, datastream, is_correction),
            None => self.forget(now, principal, topic),
        }
    }

    /// Whether a change would be taken as things stand, where that can be told before it is made: so that
    /// of several that belong together the first is not made where the last is refused.
    pub fn would_take(&self, principal: &Principal, change: &Change) -> Result<(), Fault> {
        match change {
            Change::Put(entities) => self.check_put(principal, entities),
            Change::Datastream(topic, datastream) => {
                check_change(principal, topic, datastream.as_ref())?;
                match datastream {
                    Some(datastream) => {
                        let core = self.core();
                        check_full(&core.catalog, topic)?;
                        room::check_described(&core.catalog, topic, datastream)
                    }
                    None => Ok(()),
                }
            }
            Change::Withdraw(place) => self.check_withdrawal(principal, place),
            Change::Publish(publish) => self.would_publish(principal, publish),
        }
    }

    /// The same of a message.
    pub fn would_publish(&self, principal: &Principal, publish: &Publish) -> Result<(), Fault> {
        checks::check_sent(principal, publish)?;
        checks::check_bytes(publish.body.len(), &self.limits)
    }

    /// Its number stays, and what is known beyond its core where nothing is said of that.
    fn set(
        &self,
        now: Time,
        topic: &str,
        mut said: Datastream,
        is_correction: bool,
    ) -> Result<Ticket, Fault> {
        let mut core = self.core();
        check_full(&core.catalog, topic)?;
        said.drop_blanks();
        let known = core.catalog.find(topic).map(|id| core.catalog.entry(id));
        let mut datastream = descriptions::declare(known, &said, is_correction, now)?;
        datastream.number = Some(core.catalog.known(topic).0);
        room::check_described(&core.catalog, topic, &datastream)?;
        if self.log.shared().is_some() {
            let body = entry::declaration(&datastream, &said, is_correction);
            if let Some(ticket) = self.submit_change(now, topic, &body)? {
                return Ok(ticket);
            }
        }
        let cursor = self.append_change(now, topic, &entry::to_json(&datastream))?;
        core.journal.note(topic);
        let id = core.catalog.intern(topic);
        core.catalog.take(id, cursor, datastream);
        let mut ticket = self.ticket(cursor);
        ticket.stood = core.catalog.entry(id).stood();
        Ok(ticket)
    }

    fn forget(&self, now: Time, principal: &Principal, topic: &str) -> Result<Ticket, Fault> {
        let mut core = self.core();
        if core.catalog.find(topic).is_none() {
            // Who may not read it is not told whether there was one.
            return match principal.grants.allow(Verb::Read, topic) {
                true => Err(Fault::Unknown(topic.into())),
                false => Ok(self.ticket(self.log.head())),
            };
        }
        if let Some(ticket) = self.submit_change(now, topic, &[])? {
            return self.forget_withdrawn(&mut core, now, topic, ticket);
        }
        let cursor = self.append_change(now, topic, &[])?;
        core.catalog.remove(topic);
        core.journal.note(topic);
        core.note_forgotten(topic, cursor, now, &*self.log);
        self.enqueue_forget(cursor, topic);
        self.forget_withdrawn(&mut core, now, topic, self.ticket(cursor))
    }
}

/// Whether a principal may say this of a topic's datastream.
fn check_change(
    principal: &Principal,
    topic: &str,
    datastream: Option<&Datastream>,
) -> Result<(), Fault> {
    topic::check(topic).map_err(Fault::Topic)?;
    check_own(principal, topic)?;
    if !principal.grants.allow(Verb::Change, topic) {
        return Err(denied(principal, Verb::Change, topic));
    }
    let Some(datastream) = datastream else {
        return Ok(());
    };
    entry::check_lengths(&[
        ("bytes of a name", datastream.name.as_deref()),
        ("bytes of a sensor", datastream.sensor.as_deref()),
        ("bytes of a type", datastream.property.as_deref()),
        ("bytes of a unit", datastream.unit.as_deref()),
    ])?;
    entry::check_about(datastream.about.as_deref())
}
