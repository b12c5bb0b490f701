//! Following a peer that has nothing live: asked again and again for what is newer.
//!
//! The position is a time for each datastream, that of its newest observation; so what comes with an older time
//! than was seen, or a second one with the very same time, is not told. What it deliberately does not do: lose the
//! position where the peer is away for a while.

use crate::client::{Event, LocalFuture, Subscriber};
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::io;
use weir_codec::Format;
use weir_model::{Batch, BatchBuilder, Time};

/// What can be asked for what is newer.
pub trait Readings {
    /// The datastreams that are followed, as they are now.
    fn shelves(&mut self) -> LocalFuture<'_, io::Result<Vec<Shelf>>>;

    /// Observations of one behind a time, the oldest first, as many as one answer has; topics are in full.
    fn behind<'a>(
        &'a mut self,
        shelf: &'a Shelf,
        after: Time,
    ) -> LocalFuture<'a, io::Result<Batch>>;

    /// Ready when it is time to ask again.
    fn pause(&self) -> LocalFuture<'static, ()>;

    /// This machine's clock.
    fn now(&self) -> Time;
}

/// Observations that are asked for together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    /// What it is asked for by.
    pub id: String,
    /// The time of its newest observation, where the peer tells.
    pub newest: Option<Time>,
}

/// A subscriber that polls.
pub struct Polled<R> {
    readings: R,
    format: &'static Format,
    /// Where shelves begin that were not there before.
    since: Option<Time>,
    marks: HashMap<String, Time>,
    due: VecDeque<Bytes>,
    /// Whether all shelves have been looked at once.
    has_begun: bool,
}

impl<R: Readings> Polled<R> {
    /// Looks for the first time: from now on without `since`.
    pub async fn open(
        readings: R,
        format: &'static Format,
        since: Option<Time>,
    ) -> io::Result<Self> {
        let mut own = Self {
            readings,
            format,
            since,
            marks: HashMap::new(),
            due: VecDeque::new(),
            has_begun: false,
        };
        own.round().await?;
        own.has_begun = true;
        Ok(own)
    }

    async fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(message) = self.due.pop_front() {
                return Ok(Some(Event::Message(message, None)));
            }
            self.readings.pause().await;
            self.round().await?;
        }
    }

    async fn round(&mut self) -> io::Result<()> {
        for shelf in self.readings.shelves().await? {
            let mut mark = self.mark(&shelf);
            while shelf.newest.is_none_or(|newest| newest > mark) {
                let got = self.readings.behind(&shelf, mark).await?;
                let reached = self.take(&got, mark)?;
                if reached == mark {
                    break;
                }
                mark = reached;
                self.marks.insert(shelf.id.clone(), mark);
            }
        }
        Ok(())
    }

    /// Up to where a shelf is known.
    fn mark(&mut self, shelf: &Shelf) -> Time {
        if let Some(mark) = self.marks.get(&shelf.id) {
            return *mark;
        }
        let mark = match (self.since, self.has_begun) {
            (Some(since), _) => since,
            (None, true) => Time::from_nanos(i64::MIN + 1),
            (None, false) => shelf.newest.unwrap_or_else(|| self.readings.now()),
        };
        self.marks.insert(shelf.id.clone(), mark);
        mark
    }

    /// Keeps what is newer as a message; says up to where it goes.
    fn take(&mut self, got: &Batch, mark: Time) -> io::Result<Time> {
        let mut newer = BatchBuilder::new();
        let mut reached = mark;
        for row in got.rows().filter(|row| row.time > Some(mark)) {
            reached = reached.max(row.time.unwrap_or(mark));
            let pushed = newer.push(&row);
            pushed.map_err(|error| crate::misspoken(error.to_string()))?;
        }
        if !newer.is_empty() {
            let mut message = Vec::new();
            (self.format.encode)(&newer.finish(), &mut message);
            self.due.push_back(message.into());
        }
        Ok(reached)
    }
}

impl<R: Readings> Subscriber for Polled<R> {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(Polled::next(self))
    }

    fn keeps_its_place(&self) -> bool {
        true
    }
}

/// The time that `--since` names, for who has no cursors.
pub fn since_time(since: Option<&str>) -> io::Result<Option<Time>> {
    let parse = |text: &str| {
        text.parse::<Time>().map_err(|error| {
            let expected =
                "a time such as 2026-11-20T09:41:00Z was expected, as this peer has no cursors";
            crate::invalid(format!("--since `{text}`: {expected}: {error}"))
        })
    };
    since.map(parse).transpose()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::task::{Context, Poll, Waker};
    use weir_model::Value;
    use weir_model::batch::Naming;

    /// A peer whose observations are times of one datastream, two an answer; one more comes with each pause.
    #[derive(Default)]
    struct Peer {
        kept: Vec<i64>,
        fails: bool,
    }

    impl Readings for Peer {
        fn shelves(&mut self) -> LocalFuture<'_, io::Result<Vec<Shelf>>> {
            if self.fails {
                return Box::pin(std::future::ready(Err(io::ErrorKind::TimedOut.into())));
            }
            let newest = self.kept.last().map(|&at| Time::from_nanos(at));
            let id = "a".to_owned();
            Box::pin(std::future::ready(Ok(vec![Shelf { id, newest }])))
        }

        fn behind<'a>(
            &'a mut self,
            _shelf: &'a Shelf,
            after: Time,
        ) -> LocalFuture<'a, io::Result<Batch>> {
            let mut rows = BatchBuilder::new();
            let newer = self.kept.iter().filter(|&&at| Time::from_nanos(at) > after);
            for &at in newer.take(2) {
                rows.begin();
                rows.topic(Naming::Topic, "a");
                rows.value(Value::Number(at as f64));
                rows.time(Time::from_nanos(at));
                rows.end().unwrap();
            }
            Box::pin(std::future::ready(Ok(rows.finish())))
        }

        fn pause(&self) -> LocalFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }

        fn now(&self) -> Time {
            Time::from_nanos(50)
        }
    }

    /// What is told until the peer has nothing newer.
    fn told(polled: &mut Polled<Peer>) -> Vec<String> {
        let text = |message: Bytes| String::from_utf8(message.to_vec()).unwrap();
        ready(polled.round()).unwrap();
        polled.due.drain(..).map(text).collect()
    }

    fn ready<T>(future: impl Future<Output = T>) -> T {
        match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("nothing here waits"),
        }
    }

    fn opened(kept: &[i64], since: Option<i64>) -> Polled<Peer> {
        let peer = Peer {
            kept: kept.to_vec(),
            fails: false,
        };
        let format = weir_codec::by_name("plain").unwrap();
        ready(Polled::open(peer, format, since.map(Time::from_nanos))).unwrap()
    }

    #[test]
    fn without_a_time_it_begins_behind_what_is_there() {
        let mut polled = opened(&[10, 20], None);
        assert!(told(&mut polled).is_empty());
        polled.readings.kept.push(30);
        assert_eq!(told(&mut polled).concat(), "30");
        assert!(told(&mut polled).is_empty());
    }

    #[test]
    fn the_past_comes_answer_by_answer_and_nothing_twice() {
        let mut polled = opened(&[10, 20, 30, 40, 50], Some(10));
        let due = polled.due.drain(..).count();
        assert_eq!(due, 2, "two answers of two");
        assert!(told(&mut polled).is_empty());
    }

    #[test]
    fn a_peer_that_was_away_is_asked_from_where_it_was_left() {
        let mut polled = opened(&[10], None);
        polled.readings.fails = true;
        assert!(ready(Polled::next(&mut polled)).is_err());
        polled.readings.kept.extend([20, 30]);
        polled.readings.fails = false;
        assert!(polled.keeps_its_place());
        assert_eq!(told(&mut polled).len(), 1);
    }

    #[test]
    fn since_is_a_time_for_who_has_no_cursors() {
        assert_eq!(since_time(None).unwrap(), None);
        assert!(since_time(Some("2026-11-20T09:41:00Z")).unwrap().is_some());
        let refused = since_time(Some("1-2f")).unwrap_err().to_string();
        assert!(refused.contains("no cursors"), "{refused}");
    }
}
