//! Entities: what services describe beyond datastreams (things, sensors, places, features), by key.
//!
//! An entity is a JSON object under a key that is a topic, so that the one access policy covers it; the
//! last record of each key is kept in the log and outlives retention. Deliberately nothing is known here
//! of what an entity means. The decision worth arguing: several entities are put in one request and
//! checked before the first is appended, so that a refused one leaves nothing behind.

use crate::access::{Principal, Verb};
use crate::catalog::literal_prefix;
use crate::checks::check_own;
use crate::exchange::{Exchange, Fault, Ticket};
use crate::hub::{Core, Hub, check_filters, denied};
use crate::limits::{
    COMPARISONS_MAX, ENTITIES_BYTES_MAX, ENTITIES_MAX, ENTITIES_OF_ONE_REQUEST_MAX,
    ENTITY_BYTES_MAX,
};
use crate::record::{Kind, Record};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use weir_model::{Cursor, Filter, Time, topic};

/// An entity as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// Its key, a topic such as `v1.1/Sensors/7`.
    pub key: Arc<str>,
    /// A JSON object.
    pub body: Bytes,
    /// Its record's place in the log; the start where the record is of an earlier run.
    pub cursor: Cursor,
}

/// All entities, by key.
#[derive(Debug, Default)]
pub(crate) struct Entities {
    by_key: BTreeMap<Arc<str>, Entity>,
    bytes: usize,
}

impl Entities {
    /// Takes what a record says: an empty body, that there is none any more.
    pub(crate) fn put(&mut self, key: &str, body: Bytes, cursor: Cursor) {
        if let Some(old) = self.by_key.remove(key) {
            self.bytes -= old.body.len();
        }
        if body.is_empty() {
            return;
        }
        self.bytes += body.len();
        let key: Arc<str> = key.into();
        let entity = Entity {
            key: key.clone(),
            body,
            cursor,
        };
        self.by_key.insert(key, entity);
    }

    fn check_room(&self, bodies: &[(String, Option<Bytes>)]) -> Result<(), Fault> {
        let crowded = |what, limit| Err(Fault::Crowded { what, limit });
        if self.by_key.len() + bodies.len() > ENTITIES_MAX {
            return crowded("entities", ENTITIES_MAX);
        }
        let more = bodies.iter().flat_map(|(_, body)| body).map(Bytes::len);
        match self.bytes + more.sum::<usize>() > ENTITIES_BYTES_MAX {
            true => crowded("bytes of entities", ENTITIES_BYTES_MAX),
            false => Ok(()),
        }
    }

    /// Entities whose key a filter matches, as far as [`COMPARISONS_MAX`] goes, and where to go on.
    fn page(&self, filters: &[Filter], after: Option<&str>) -> (Vec<&Entity>, Option<Arc<str>>) {
        let first = match filters {
            [one] => literal_prefix(one),
            _ => "",
        };
        let begin = after.map_or(Bound::Included(first), Bound::Excluded);
        let range = self.by_key.range::<str, _>((begin, Bound::Unbounded));
        let mut range = range.take_while(|(key, _)| key.starts_with(first));
        let (mut found, mut last) = (Vec::new(), None);
        for (key, entity) in range.by_ref().take(COMPARISONS_MAX / filters.len().max(1)) {
            last = Some(key);
            if filters.iter().any(|filter| filter.matches(key)) {
                found.push(entity);
            }
        }
        let next = last.filter(|_| range.next().is_some());
        (found, next.cloned())
    }
}

impl Hub {
    /// The entities that match and may be read, by key.
    pub(crate) fn entities(
        &self,
        principal: &Principal,
        filters: &[Filter],
    ) -> Result<Exchange, Fault> {
        check_filters(principal, filters)?;
        let mut all = Vec::new();
        let mut after: Option<Arc<str>> = None;
        loop {
            let core = self.core();
            let (found, next) = core.entities.page(filters, after.as_deref());
            let may_be_read = |entity: &&&Entity| principal.grants.allow(Verb::Read, &entity.key);
            all.extend(found.iter().filter(may_be_read).map(|it| (*it).clone()));
            after = next;
            if after.is_none() {
                return Ok(Exchange::Described(all));
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
