//! What the log keeps of subscriptions: a record for each user, so that what one has costs nobody else theirs.
//!
//! A line of a record is a subscription. What deliberately is not kept is the format of its messages: the node
//! names it, or the configuration does. A record of all users, under the domain alone, is moved over.

use crate::jid;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use weir_hub::{Fault, Hub, Ticket};
use weir_model::{Cursor, Time};

/// One subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) id: u64,
    /// Up to here the server has everything.
    pub(super) cursor: Cursor,
    pub(super) jid: String,
    pub(super) node: String,
}

impl Line {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('\t');
        Some(Self {
            id: parts.next()?.parse().ok()?,
            cursor: parts.next()?.parse().ok()?,
            jid: parts.next()?.into(),
            node: parts.next()?.into(),
        })
    }
}

/// Appends a subscription to its user's record. Neither addresses nor nodes hold control characters.
pub(super) fn write(id: u64, cursor: Cursor, jid: &str, node: &str, record: &mut String) {
    // Writing to a text cannot fail.
    let _ = writeln!(record, "{id}\t{cursor}\t{jid}\t{node}");
}

/// The records of one domain.
pub(super) struct Kept<'a> {
    pub(super) hub: &'a Arc<Hub>,
    pub(super) now: Time,
    pub(super) domain: &'a str,
}

impl Kept<'_> {
    /// The subscriptions of the last run.
    pub(super) fn recall(&self) -> Vec<Line> {
        if let Err(fault) = self.move_over() {
            tracing::warn!("XMPP: the subscriptions of all users stay one record: {fault}");
        }
        let mut lines = Vec::new();
        let common = self.hub.consumer(&self.common());
        common.iter().for_each(|record| read(record, &mut lines));
        let visit = &mut |_: &str, record: &Bytes| read(record, &mut lines);
        self.hub.consumers(&self.key(""), visit);
        lines
    }

    /// Keeps a user's record, or none where it is empty; it is on disk once the ticket is ready.
    pub(super) fn put(&self, user: &str, record: String) -> Result<Ticket, Fault> {
        let gateway = self.hub.internal();
        gateway.remember(self.now, &self.key(user), record.into())
    }

    fn key(&self, user: &str) -> String {
        format!("xmpp/{}/{user}", self.domain)
    }

    /// The key of the record of all users.
    fn common(&self) -> String {
        format!("xmpp/{}", self.domain)
    }

    fn move_over(&self) -> Result<(), Fault> {
        let Some(common) = self.hub.consumer(&self.common()) else {
            return Ok(());
        };
        let (mut lines, mut records) = (Vec::new(), BTreeMap::<&str, String>::new());
        read(&common, &mut lines);
        for line in &lines {
            let record = records.entry(jid::bare(&line.jid)).or_default();
            write(line.id, line.cursor, &line.jid, &line.node, record);
        }
        // Who has a record of his own has changed it since, where not all could be moved at once.
        records.retain(|user, _| self.hub.consumer(&self.key(user)).is_none());
        for (user, record) in records {
            self.put(user, record)?;
        }
        let gateway = self.hub.internal();
        gateway.forget(self.now, &self.common()).map(drop)
    }
}

fn read(record: &[u8], lines: &mut Vec<Line>) {
    let text = String::from_utf8_lossy(record);
    lines.extend(text.lines().filter_map(Line::parse));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::task::{Context, Poll};
    use weir_hub::limits::CONSUMER_BYTES_MAX;
    use weir_hub::{History, HistoryFault, Log, LogFault, LogReader, Page, Range, Record, Resume};
    use weir_model::{Batch, Limits, Observation};

    const NOW: Time = Time::from_nanos(0);
    const DOMAIN: &str = "weir.example.org";

    fn hub() -> Arc<Hub> {
        let log = Arc::new(Counter(AtomicU64::new(0)));
        Hub::start(log, Arc::new(Nothing), Limits::default(), NOW).unwrap()
    }

    fn kept(hub: &Arc<Hub>) -> Kept<'_> {
        Kept {
            hub,
            now: NOW,
            domain: DOMAIN,
        }
    }

    fn nodes(hub: &Arc<Hub>) -> Vec<(u64, String)> {
        let lines = kept(hub).recall().into_iter();
        lines.map(|line| (line.id, line.node)).collect()
    }

    #[test]
    fn what_one_user_has_too_much_of_leaves_the_others_records() {
        let hub = hub();
        let mut record = String::new();
        write(1, Cursor::new(1, 7), "ann@a/1", "b/#", &mut record);
        kept(&hub).put("ann@a", record).unwrap();
        let much = "x".repeat(CONSUMER_BYTES_MAX + 1);
        assert!(matches!(
            kept(&hub).put("bob@a", much),
            Err(Fault::OverLimit { .. })
        ));
        let [line] = &kept(&hub).recall()[..] else {
            panic!("one line");
        };
        assert_eq!(
            (line.cursor, &*line.jid, &*line.node),
            (Cursor::new(1, 7), "ann@a/1", "b/#")
        );
        kept(&hub).put("ann@a", String::new()).unwrap();
        assert!(kept(&hub).recall().is_empty());
    }

    #[test]
    fn the_record_of_all_users_is_moved_over_once() {
        let hub = hub();
        let mut common = String::new();
        for (id, jid) in [(1, "ann@a/1"), (2, "bob@a"), (3, "ann@a")] {
            write(id, Cursor::START, jid, "b", &mut common);
        }
        // Another domain's record begins with the same letters.
        for domain in [DOMAIN.to_owned(), format!("{DOMAIN}x")] {
            let (name, state) = (format!("xmpp/{domain}"), common.clone().into());
            hub.internal().remember(NOW, &name, state).unwrap();
        }
        for _ in 0..2 {
            let expected = [1, 3, 2].map(|id| (id, "b".to_owned()));
            assert_eq!(nodes(&hub), expected);
            assert_eq!(hub.consumer(&format!("xmpp/{DOMAIN}")), None);
        }
        assert!(hub.consumer(&format!("xmpp/{DOMAIN}x")).is_some());
    }

    /// Counts records and keeps none.
    struct Counter(AtomicU64);

    impl Log for Counter {
        fn append(&self, _: &Record<'_>) -> Result<Cursor, LogFault> {
            Ok(Cursor::new(1, self.0.fetch_add(1, Ordering::Relaxed) + 1))
        }
        fn commit(&self) {}
        fn head(&self) -> Cursor {
            Cursor::new(1, self.0.load(Ordering::Relaxed))
        }
        fn committed(&self) -> Cursor {
            self.head()
        }
        fn poll_committed(&self, _: Cursor, _: &mut Context<'_>) -> Poll<Result<(), LogFault>> {
            Poll::Ready(Ok(()))
        }
        fn tail(&self) -> Cursor {
            Cursor::START
        }
        fn resume(&self, cursor: Cursor) -> Resume {
            Resume::From(cursor)
        }
        fn read(&self, _: Cursor) -> Box<dyn LogReader> {
            Box::new(Nothing)
        }
        fn seek(&self, _: i64) -> Cursor {
            self.head()
        }
        fn snapshot(&self, _: &mut dyn FnMut(Record<'_>)) -> Result<Cursor, LogFault> {
            Ok(self.head())
        }
        fn release(&self, _: Cursor) {}
        fn close(&self) -> Result<(), LogFault> {
            Ok(())
        }
    }

    struct Nothing;

    impl LogReader for Nothing {
        fn next(&mut self) -> Result<Option<(Cursor, Record<'_>)>, LogFault> {
            Ok(None)
        }
    }

    impl History for Nothing {
        fn apply(&self, _: Cursor, _: Time, _: &Batch) -> Result<(), HistoryFault> {
            Ok(())
        }
        fn forget(&self, _: Cursor, _: &str) -> Result<(), HistoryFault> {
            Ok(())
        }
        fn advance(&self, _: Cursor) {}
        fn applied(&self) -> Cursor {
            Cursor::START
        }
        fn latest(&self, _: &mut dyn FnMut(Cursor, &Observation<'_>)) -> Result<(), HistoryFault> {
            Ok(())
        }
        fn read(&self, _: &Range<'_>) -> Result<Page, HistoryFault> {
            Ok(Page::default())
        }
        fn maintain(&self, _: Time) -> Result<(), HistoryFault> {
            Ok(())
        }
    }
}
