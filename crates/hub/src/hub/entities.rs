//! Entities, as the hub keeps them.

use crate::access::{Principal, Verb, check_filters, denied};
use crate::checks::check_own;
use crate::fault::Fault;
use crate::hub::{Core, Hub};
use crate::limits::{ENTITIES_OF_ONE_REQUEST_MAX, ENTITY_BYTES_MAX};
use crate::state::entities::Entity;
use crate::ticket::Ticket;
use bytes::Bytes;
use std::sync::Arc;
use weir_model::{Filter, Time, topic};
use weir_storage::{Kind, Record};

impl Hub {
    /// The entities that match and may be read, by key.
    pub(crate) fn entities(
        &self,
        principal: &Principal,
        filters: &[Filter],
    ) -> Result<Vec<Entity>, Fault> {
        check_filters(principal, filters)?;
        Ok(self.matching(principal, filters))
    }

    pub(crate) fn matching(&self, principal: &Principal, filters: &[Filter]) -> Vec<Entity> {
        let mut all = Vec::new();
        let mut after: Option<Arc<str>> = None;
        loop {
            let core = self.core();
            let (found, next) = core.entities.page(filters, after.as_deref());
            let may_be_read = |entity: &&&Entity| principal.grants.allow(Verb::Read, &entity.key);
            all.extend(found.iter().filter(may_be_read).map(|it| (*it).clone()));
            after = next;
            if after.is_none() {
                return all;
            }
        }
    }

    /// Puts entities, or removes those without a body; all of them or, where one is refused, none.
    pub(crate) fn put(
        &self,
        now: Time,
        principal: &Principal,
        entities: Vec<(String, Option<Bytes>)>,
    ) -> Result<Ticket, Fault> {
        self.check_put(principal, &entities)?;
        let mut core = self.core();
        if core.stopping {
            return Err(Fault::Stopping);
        }
        core.entities.check_room(&entities)?;
        let mut all = self.ticket(self.log.head());
        for (key, body) in entities {
            let ticket = self.put_one(&mut core, now, &key, body.unwrap_or_default())?;
            all = ticket.with(all);
        }
        Ok(all)
    }

    pub(crate) fn check_put(
        &self,
        principal: &Principal,
        entities: &[(String, Option<Bytes>)],
    ) -> Result<(), Fault> {
        entities
            .iter()
            .try_for_each(|(key, body)| check(principal, key, body.as_ref()))?;
        if entities.len() > ENTITIES_OF_ONE_REQUEST_MAX {
            return Err(Fault::OverLimit {
                what: "entities of one request",
                limit: ENTITIES_OF_ONE_REQUEST_MAX,
            });
        }
        self.core().entities.check_room(entities)
    }

    fn put_one(&self, core: &mut Core, now: Time, key: &str, body: Bytes) -> Result<Ticket, Fault> {
        let record = Record {
            kind: Kind::Entity,
            arrival: now,
            topic: key,
            media: "json",
            key: &[],
            origin: "",
            attributes: &[],
            body: &body,
        };
        if let Some(ticket) = self.submit(&record)? {
            return Ok(ticket);
        }
        let cursor = self.log.append(&record)?;
        core.entities.put(key, body, cursor);
        core.journal.note(key);
        Ok(self.ticket(cursor))
    }
}

fn check(principal: &Principal, key: &str, body: Option<&Bytes>) -> Result<(), Fault> {
    topic::check(key).map_err(Fault::Topic)?;
    check_own(principal, key)?;
    if !principal.grants.allow(Verb::Change, key) {
        return Err(denied(principal, Verb::Change, key));
    }
    match body.is_some_and(|body| body.len() > ENTITY_BYTES_MAX) {
        true => Err(Fault::OverLimit {
            what: "bytes of an entity",
            limit: ENTITY_BYTES_MAX,
        }),
        false => Ok(()),
    }
}
