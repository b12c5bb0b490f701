//! Durable links: a receiver's place in the log outlives its connection (AMQP 1.0 sections 2.6.1 and 3.5.5).
//!
//! A receiver whose source is durable and never expires is known by its user, its container and its name: so that a
//! name tells nobody whether another user has one of that name. The log keeps
//! where it is; nothing is queued for it. The record lags up to 5 s behind what its client settled, which then
//! comes again after a crash.

use super::filter::Wanted;
use crate::wire::{Encode, Map, Reader, Source, Symbol, Value};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weir_binding::Gateway;
use weir_hub::{Fault, Since};
use weir_model::Cursor;

/// Longest that a record lags behind.
pub(super) const RECORD_TIME: weir_sansio::Duration = weir_sansio::Duration::from_secs(5);

/// Who has which durable link now.
#[derive(Default)]
pub(super) struct Holders(Mutex<HashMap<Box<str>, Arc<AtomicBool>>>);

impl Holders {
    /// Makes a link somebody's; whoever had it has lost it.
    fn claim(&self, key: &str) -> Arc<AtomicBool> {
        let stolen = Arc::new(AtomicBool::new(false));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = all.insert(key.into(), stolen.clone()) {
            before.store(true, Ordering::Release);
        }
        stolen
    }

    fn release(&self, key: &str, stolen: &Arc<AtomicBool>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all
            .get(key)
            .is_some_and(|holder| Arc::ptr_eq(holder, stolen))
        {
            all.remove(key);
        }
    }
}

/// What the log keeps of a link.
#[derive(Debug, PartialEq)]
pub(super) struct Stored {
    pub(super) owner: String,
    pub(super) address: String,
    pub(super) filter: Map,
    pub(super) position: Cursor,
}

impl Stored {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let Ok(Value::List(fields)) = Reader::new(bytes, 0).value() else {
            return None;
        };
        let mut fields = fields.into_iter();
        match (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        ) {
            (
                Value::String(owner),
                Value::String(address),
                Value::Map(filter),
                Value::Ulong(position),
            ) => Some(Self {
                owner,
                address,
                filter,
                position: Cursor::from_bits(position),
            }),
            _ => None,
        }
    }

    pub(super) fn write(&self) -> Bytes {
        let fields = vec![
            Value::String(self.owner.clone()),
            Value::String(self.address.clone()),
            Value::Map(self.filter.clone()),
            Value::Ulong(self.position.bits()),
        ];
        let mut out = Vec::new();
        Value::List(fields).encode(&mut out);
        out.into()
    }

    /// As the source of an attach.
    pub(super) fn source(&self) -> Source {
        Source {
            address: Some(self.address.clone()),
            filter: self.filter.clone(),
            durable: 1,
            expiry_policy: Some(NEVER),
            ..Source::default()
        }
    }

    /// Where a link goes on that asks for the same.
    pub(super) fn since(&self, source: &Source, wanted: &Wanted) -> Option<Since> {
        let same =
            source.address.as_deref() == Some(&*self.address) && source.filter == self.filter;
        (same && wanted.since == Since::Now).then_some(Since::Cursor(self.position))
    }
}

/// The expiry policy of what is kept (section 3.5.6).
pub(super) const NEVER: Symbol = Symbol::new("never");

/// Whether a source asks to be kept.
pub(super) fn is_kept(source: &Source) -> bool {
    source.durable > 0 && source.expiry_policy.as_ref() == Some(&NEVER)
}

/// The key of a user's link: the names of user and container are as long as it says.
pub(super) fn key(owner: &str, container: &str, name: &str) -> String {
    let (of_owner, of_container) = (owner.len(), container.len());
    format!("amqp/{of_owner}.{of_container}/{owner}/{container}/{name}")
}

/// The key of earlier versions, where a name was of the user who came with it first.
fn key_before(container: &str, name: &str) -> String {
    format!("amqp/{}/{container}/{name}", container.len())
}

/// What the log keeps of a user's link; what an earlier version kept is moved.
pub(super) fn stored(
    context: &dyn Gateway,
    owner: &str,
    container: &str,
    name: &str,
) -> Option<Stored> {
    let (hub, key) = (context.hub(), key(owner, container, name));
    if let Some(own) = hub.consumer(&key) {
        return Stored::read(&own);
    }
    let before = key_before(container, name);
    let stored = Stored::read(&hub.consumer(&before)?);
    let stored = stored.filter(|stored| stored.owner == owner)?;
    if remember(context, &key, &stored).is_ok() {
        forget(context, before);
    }
    Some(stored)
}

/// A link that is kept, and who has it.
pub(super) struct Durable {
    key: Box<str>,
    stored: Stored,
    stolen: Arc<AtomicBool>,
    context: Arc<dyn Gateway>,
    holders: Arc<Holders>,
}

impl Durable {
    /// Makes a link its client's and the log remember it.
    pub(super) fn claim(
        holders: &Arc<Holders>,
        context: &Arc<dyn Gateway>,
        key: String,
        stored: Stored,
    ) -> Result<Self, Fault> {
        remember(&**context, &key, &stored)?;
        Ok(Self {
            stolen: holders.claim(&key),
            key: key.into(),
            stored,
            context: context.clone(),
            holders: holders.clone(),
        })
    }

    /// Whether it is another connection's now.
    pub(super) fn is_stolen(&self) -> bool {
        self.stolen.load(Ordering::Acquire)
    }

    /// Keeps where its client is, unless that is another connection's by now. What the log does not take now
    /// it is told later.
    pub(super) fn record(&mut self, position: Cursor) {
        if position != self.stored.position && !self.is_stolen() {
            self.stored.position = position;
            drop(remember(&*self.context, &self.key, &self.stored));
        }
    }

    /// Lets go of the link, which is kept, or forgotten where its client closed it.
    pub(super) fn leave(&mut self, position: Cursor, closed: bool) {
        if closed && !self.is_stolen() {
            forget(&*self.context, self.key.to_string())
        } else {
            self.record(position)
        }
        self.holders.release(&self.key, &self.stolen);
    }
}

fn remember(context: &dyn Gateway, key: &str, stored: &Stored) -> Result<(), Fault> {
    let gateway = context.hub().internal();
    gateway
        .remember(context.now(), key, stored.write())
        .map(drop)
}

/// What the log does not forget now stays for its user.
fn forget(context: &dyn Gateway, key: String) {
    drop(context.hub().internal().forget(context.now(), &key));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_other_bytes_are_none() {
        let mut filter = Map::default();
        filter.push("weir:where", Value::from("value>3"));
        let stored = Stored {
            owner: "somebody".into(),
            address: "a/#".into(),
            filter,
            position: Cursor::new(3, 77),
        };
        assert_eq!(Stored::read(&stored.write()), Some(stored));
        assert_eq!(Stored::read(b"\x45"), None);
        assert_eq!(Stored::read(b""), None);
    }

    #[test]
    fn keys_of_other_users_and_containers_differ() {
        let all = [
            key("u", "a/b", "c"),
            key("u", "a", "b/c"),
            key("u/a", "b", "c"),
            key("v", "a", "b/c"),
            key_before("a", "b/c"),
        ];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
