//! The retained message of each topic: what a subscriber gets of it before anything new comes.
//!
//! It is a table of its own and not the last value: only a message that asks for it is retained, whole and
//! as published. The decision worth arguing: a retained message is one record, which is message and keyed
//! at once (`docs/decisions/0013-a-retained-message-is-one-record.md`).

use crate::fault::Fault;
use crate::limits::{CHUNK_BYTES_MAX, COMPARISONS_MAX, RETAINED_BYTES_MAX, RETAINED_MAX};
use crate::message::Message;
use crate::state::catalog::literal_prefix;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use weir_model::{Filter, Time};

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

    pub(crate) fn pop_expired(&mut self, now: Time) -> Option<Arc<str>> {
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
    pub(crate) fn page(
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::attributes::Given;
    use crate::message::Content;
    use weir_model::Cursor;

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
