//! Entities: what services describe beyond datastreams (things, sensors, places, features), by key.
//!
//! An entity is a JSON object under a key that is a topic, so that the one access policy covers it; the
//! last record of each key is kept in the log and outlives retention. Deliberately nothing is known here
//! of what an entity means. The decision worth arguing: several entities are put in one request and
//! checked before the first is appended, so that a refused one leaves nothing behind.

use crate::fault::Fault;
use crate::limits::{COMPARISONS_MAX, ENTITIES_BYTES_MAX, ENTITIES_MAX};
use crate::state::catalog::literal_prefix;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use weir_model::{Cursor, Filter};

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
    /// The most that they may be, where that is less than [`ENTITIES_BYTES_MAX`].
    bytes_max: Option<usize>,
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

    /// Refuses what would be more than there may be; what makes it no more goes through however full it is.
    pub(crate) fn check_room(&self, put: &[(String, Option<Bytes>)]) -> Result<(), Fault> {
        let crowded = |what, limit| Err(Fault::Crowded { what, limit });
        // The last word on a key counts.
        let put: BTreeMap<&str, Option<&Bytes>> = put
            .iter()
            .map(|(key, body)| (&**key, body.as_ref()))
            .collect();
        let replaced = put.keys().filter_map(|key| self.by_key.get(*key));
        let added = put.values().copied().flatten();
        let (before, kept) = (self.by_key.len(), replaced.clone().count());
        if before.saturating_sub(kept) + added.clone().count() > before.max(ENTITIES_MAX) {
            return crowded("entities", ENTITIES_MAX);
        }
        let replaced: usize = replaced.map(|old| old.body.len()).sum();
        let added: usize = added.map(Bytes::len).sum();
        let most = self.bytes_max.unwrap_or(ENTITIES_BYTES_MAX);
        match self.bytes.saturating_sub(replaced) + added > self.bytes.max(most) {
            true => crowded("bytes of entities", most),
            false => Ok(()),
        }
    }

    /// Bounds their bytes further, where there is little memory.
    pub(crate) fn limit(&mut self, most: usize) {
        self.bytes_max = Some(ENTITIES_BYTES_MAX.min(most));
    }

    /// Entities whose key a filter matches, as far as [`COMPARISONS_MAX`] goes, and where to go on.
    pub(crate) fn page(
        &self,
        filters: &[Filter],
        after: Option<&str>,
    ) -> (Vec<&Entity>, Option<Arc<str>>) {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn put(key: &str, body: &str) -> Vec<(String, Option<Bytes>)> {
        let body = Some(body.to_owned().into()).filter(|body: &Bytes| !body.is_empty());
        vec![(key.into(), body)]
    }

    #[test]
    fn where_there_is_no_room_replacing_and_removing_go_on() {
        let mut entities = Entities::default();
        entities.put("a", "{\"n\":1}".into(), Cursor::START);
        entities.bytes = ENTITIES_BYTES_MAX;
        let check = |key, body| entities.check_room(&put(key, body));
        assert!(matches!(check("b", "{}"), Err(Fault::Crowded { .. })));
        assert!(matches!(
            check("a", "{\"n\":10}"),
            Err(Fault::Crowded { .. })
        ));
        check("a", "{\"n\":2}").unwrap();
        check("a", "{}").unwrap();
        check("a", "").unwrap();
        check("b", "").unwrap();
        // Saying of one key twice makes no room for two.
        let twice = [
            put("a", ""),
            put("a", ""),
            put("b", "{\"n\":1}"),
            put("c", "{}"),
        ];
        let refused = entities.check_room(&twice.concat());
        assert!(matches!(refused, Err(Fault::Crowded { .. })));
    }
}
