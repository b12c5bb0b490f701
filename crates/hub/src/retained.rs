//! The retained message of each topic: what a subscriber gets of it before anything new comes.
//!
//! It is a table of its own and not the last value: only a message that asks for it is retained, whole and
//! as published. The decision worth arguing: a retained message is one record, which is message and keyed
//! at once (`docs/decisions/0013-a-retained-message-is-one-record.md`).

use crate::access::{Principal, Verb};
use crate::attributes::Block;
use crate::catalog::literal_prefix;
use crate::exchange::Fault;
use crate::hub::{Core, Hub, check_filters};
use crate::limits::{
    CHUNK_BYTES_MAX, COMPARISONS_MAX, EXPIRIES_PER_TICK, RETAINED_BYTES_MAX, RETAINED_MAX,
};
use crate::message::{Item, Message};
use crate::route::{self, reads_all};
use crate::snapshot::Piece;
use crate::subscription::Subscription;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use weir_model::{Cursor, Filter, Time};
use weir_storage::{Kind, Record};

/// The retained messages, by topic.
#[derive(Debug, Default)]
pub(crate) struct Retained {
    by_topic: BTreeMap<Arc<str>, Arc<Message>>,
    bytes: usize,
    /// The most that they may be, where that is less than [`RETAINED_BYTES_MAX`].
    bytes_max: Option<usize>,
    expiring: BTreeSet<(Time, Arc<str>)>,
}

impl Retained {
    /// Leaves half of the memory of messages to those that go on.
    pub(crate) fn limit(&mut self, of_messages: usize) {
        self.bytes_max = Some(RETAINED_BYTES_MAX.min(of_messages / 2));
    }

    /// Refuses a topic more than there may be, or more bytes; the last message may pass the bound.
    pub(crate) fn check_room(&self, topic: &str) -> Result<(), Fault> {
        let limit = self.bytes_max.unwrap_or(RETAINED_BYTES_MAX);
        if self.bytes >= limit {
            return Err(Fault::Crowded {
                what: "bytes of retained messages",
                limit,
            });
        }
        match self.by_topic.len() >= RETAINED_MAX && !self.by_topic.contains_key(topic) {
            false => Ok(()),
            true => Err(Fault::Crowded {
                what: "retained messages",
                limit: RETAINED_MAX,
            }),
        }
    }

    /// Takes a message in the place of its topic's; an empty one only removes that (MQTT 5.0 section
    /// 3.3.1.3).
    pub(crate) fn put(&mut self, message: Arc<Message>) {
        self.remove(&message.topic);
        if message.body.is_empty() {
            return;
        }
        let topic = message.topic.clone();
        self.bytes += message.memory_bytes();
        let expires = message.attributes.expires;
        self.expiring.extend(expires.map(|at| (at, topic.clone())));
        self.by_topic.insert(topic, message);
    }

    /// Takes a topic's message away.
    pub(crate) fn remove(&mut self, topic: &str) {
        let Some((topic, message)) = self.by_topic.remove_entry(topic) else {
            return;
        };
        self.bytes -= message.memory_bytes();
        if let Some(at) = message.attributes.expires {
            self.expiring.remove(&(at, topic));
        }
    }

    /// When the next one expires.
    pub(crate) fn next_expiry(&self) -> Option<Time> {
        self.expiring.first().map(|(at, _)| *at)
    }

    fn pop_expired(&mut self, now: Time) -> Option<Arc<str>> {
        let (_, topic) = self.expiring.first().filter(|(at, _)| *at <= now)?;
        let topic = topic.clone();
        self.remove(&topic);
        Some(topic)
    }

    /// How many there are, and their bytes of memory.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.by_topic.len(), self.bytes)
    }

    /// Messages at topics that a filter matches, by topic, those up to `after` left out, as far as a page
    /// goes; and the topic to go on after, where that is not the end.
    fn page(
        &self,
        filters: &[Filter],
        after: Option<&str>,
    ) -> (Vec<&Arc<Message>>, Option<Arc<str>>) {
        if let [one] = filters
            && one.is_topic()
        {
            return (self.by_topic.get(one.as_str()).into_iter().collect(), None);
        }
        let first = match filters {
            [one] => literal_prefix(one),
            _ => "",
        };
        let begin = after.map_or(Bound::Included(first), Bound::Excluded);
        let range = self.by_topic.range::<str, _>((begin, Bound::Unbounded));
        let mut range = range.take_while(|(topic, _)| topic.starts_with(first));
        let (mut found, mut bytes, mut last) = (Vec::new(), 0, None);
        for (topic, message) in range.by_ref().take(COMPARISONS_MAX / filters.len().max(1)) {
            last = Some(topic);
            if filters.iter().any(|filter| filter.matches(topic)) {
                bytes += message.body.len();
                found.push(message);
            }
            if bytes >= CHUNK_BYTES_MAX {
                break;
            }
        }
        let next = last.filter(|_| range.next().is_some());
        (found, next.cloned())
    }
}

impl Hub {
    /// The retained messages that match and may be read in full.
    pub(crate) fn retained(
        &self,
        now: Time,
        principal: &Principal,
        filters: &[Filter],
    ) -> Result<Vec<Arc<Message>>, Fault> {
        check_filters(principal, filters)?;
        let grants = &principal.grants;
        let mut all = Vec::new();
        let mut after: Option<Arc<str>> = None;
        loop {
            let core = self.core();
            let (found, next) = core.retained.page(filters, after.as_deref());
            let may_be_read = |message: &&&Arc<Message>| {
                grants.allow(Verb::Read, &message.topic)
                    && reads_all(grants, message)
                    && !message.attributes.are_over(now)
            };
            all.extend(found.iter().filter(may_be_read).map(|it| Arc::clone(it)));
            after = next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// How many messages are retained, and their bytes of memory.
    pub fn retained_counts(&self) -> (usize, usize) {
        self.core().retained.counts()
    }

    /// Takes away what expired, here and in the log.
    pub(crate) fn expire_retained(&self, core: &mut Core, now: Time) {
        for _ in 0..EXPIRIES_PER_TICK {
            let Some(topic) = core.retained.pop_expired(now) else {
                return;
            };
            let tombstone = Record {
                kind: Kind::Retained,
                arrival: now,
                topic: &topic,
                media: "",
                key: &[],
                origin: "",
                attributes: &Block::tombstone(),
                body: &[],
            };
            if self.log.shared().is_some() {
                // Every gateway finds it expired; a tombstone might come behind a newer message.
                continue;
            }
            // Where the log takes nothing now, the message expires again at the next start.
            let _again_at_the_next_start = self.log.append(&tombstone);
        }
    }
}

impl Subscription {
    /// Some retained messages with cursors up to `due`, of topics behind `upto`. Those replaced since then
    /// come live.
    pub(crate) fn retained(&mut self, due: Cursor, upto: Option<&str>) -> Piece {
        let (hub, group) = (self.hub.clone(), self.group.clone());
        let core = hub.core();
        let (found, upto) = core.retained.page(&group.interest.filters, upto);
        let old = found.into_iter().filter(|message| message.cursor <= due);
        let items = old.filter_map(|message| {
            let item = route::project(message, &group.interest)?;
            Some(Item {
                retained: true,
                ..item
            })
        });
        let items: Vec<Item> = items.collect();
        drop(core);
        let next = self.hand_over(items);
        Piece { next, upto }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::attributes::Given;
    use crate::message::Content;

    fn message(topic: &str, body: &'static str, expires: Option<i64>) -> Arc<Message> {
        let content = Content::Opaque("text/plain".into());
        let mut message = Message::new(Cursor::START, Time::from_nanos(0), topic.into(), content);
        message.body = body.into();
        message.attributes = Given {
            expires: expires.map(Time::from_nanos),
            ..Given::default()
        }
        .into();
        Arc::new(message)
    }

    #[test]
    fn what_was_taken_is_given_back_and_nothing_expires_twice() {
        let mut retained = Retained::default();
        retained.put(message("a", "1", Some(5)));
        retained.put(message("a", "22", Some(9)));
        retained.put(message("b", "3", None));
        assert_eq!(retained.next_expiry(), Some(Time::from_nanos(9)));
        assert_eq!(retained.pop_expired(Time::from_nanos(8)), None);
        assert_eq!(
            retained.pop_expired(Time::from_nanos(9)).as_deref(),
            Some("a")
        );
        assert_eq!(retained.pop_expired(Time::from_nanos(9)), None);
        retained.put(message("b", "", None));
        assert_eq!(retained.counts(), (0, 0));
    }

    #[test]
    fn pages_of_many_topics_join_without_hole_or_repeat() {
        let mut retained = Retained::default();
        for number in 0..50_000 {
            retained.put(message(&format!("a/{number}"), "x", None));
        }
        retained.put(message("b", "x", None));
        let filter = [Filter::parse("a/#").unwrap()];
        let (mut seen, mut pages, mut after) = (Vec::new(), 0, None);
        loop {
            let (found, next) = retained.page(&filter, after.as_deref());
            seen.extend(found.iter().map(|message| message.topic.clone()));
            pages += 1;
            after = next;
            if after.is_none() {
                break;
            }
        }
        assert!(pages > 1 && seen.is_sorted());
        seen.dedup();
        assert_eq!(seen.len(), 50_000);
    }
}
