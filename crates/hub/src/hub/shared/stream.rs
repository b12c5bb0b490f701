//! For tests: a stream that several hubs append to. What is submitted is kept and taken when a test says so.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::hub::Hub;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use weir_model::{Batch, Cursor, Limits, Observation, Time};
use weir_storage::{Follower, Receipt, Shared};
use weir_storage::{History, HistoryFault, Page, Range};
use weir_storage::{Kind, Record};
use weir_storage::{Log, LogFault, LogReader, Resume};

const EPOCH: u16 = 7;

/// What all gateways share.
#[derive(Default)]
pub(super) struct Stream(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    records: Vec<Vec<u8>>,
    places: HashMap<(Vec<u8>, String), u64>,
    under_way: VecDeque<(Vec<u8>, Arc<Receipt>)>,
}

/// One that follows the stream.
pub(super) struct Gateway {
    member: Arc<Member>,
    pub(super) hub: Arc<Hub>,
}

struct Member {
    stream: Arc<Stream>,
    head: AtomicU64,
    follower: Mutex<Option<Follower>>,
}

impl Stream {
    /// Starts a gateway.
    pub(super) fn gateway(self: &Arc<Self>, history: Arc<dyn History>) -> Gateway {
        let member = Arc::new(Member {
            stream: self.clone(),
            head: AtomicU64::new(self.0.lock().unwrap().records.len() as u64),
            follower: Mutex::default(),
        });
        let now = Time::from_nanos(0);
        let hub = Hub::start(member.clone(), history, Limits::default(), now).unwrap();
        Gateway { member, hub }
    }

    /// Keeps the record that was submitted first, or loses it; `false` where there is none.
    pub(super) fn keep(&self, is_lost: bool) -> bool {
        let mut kept = self.0.lock().unwrap();
        let Some((bytes, receipt)) = kept.under_way.pop_front() else {
            return false;
        };
        if is_lost {
            return true;
        }
        let record = Record::read(&bytes).unwrap();
        let identity = (record.key.to_vec(), record.topic.to_owned());
        let next = kept.records.len() as u64 + 1;
        let place = match identity.0.is_empty() {
            true => next,
            false => *kept.places.entry(identity).or_insert(next),
        };
        if place == next {
            kept.records.push(bytes);
        }
        receipt.settle(Ok(Cursor::new(EPOCH, place)));
        true
    }

    /// Keeps what was submitted, and has the gateways take it, until there is nothing more.
    pub(super) fn settle(&self, gateways: &[&Gateway]) {
        while self.keep(false) {
            while self.keep(false) {}
            gateways.iter().for_each(|gateway| gateway.take());
        }
    }
}

impl Gateway {
    /// Takes what the stream has beyond its head.
    pub(super) fn take(&self) {
        let mut follower = self.member.follower.lock().unwrap();
        let follower = follower.as_mut().unwrap();
        loop {
            let next = self.member.head.load(Ordering::SeqCst) as usize;
            let bytes = self
                .member
                .stream
                .0
                .lock()
                .unwrap()
                .records
                .get(next)
                .cloned();
            let Some(bytes) = bytes else {
                return;
            };
            let cursor = Cursor::new(EPOCH, next as u64 + 1);
            assert!(follower(cursor, &Record::read(&bytes).unwrap()));
        }
    }
}

impl Shared for Member {
    fn submit(&self, record: &Record<'_>) -> Result<Arc<Receipt>, LogFault> {
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        let receipt = Arc::new(Receipt::default());
        let mut kept = self.stream.0.lock().unwrap();
        kept.under_way.push_back((bytes, receipt.clone()));
        Ok(receipt)
    }

    fn follow(&self, follower: Follower) {
        *self.follower.lock().unwrap() = Some(follower);
    }

    fn taken(&self, cursor: Cursor) {
        self.head.store(cursor.sequence(), Ordering::SeqCst);
    }

    fn reaches(&self, cursor: Cursor) -> Result<bool, LogFault> {
        Ok(self.stream.0.lock().unwrap().records.len() as u64 >= cursor.sequence())
    }
}

impl Log for Member {
    fn append(&self, _: &Record<'_>) -> Result<Cursor, LogFault> {
        Err(LogFault::Failed("the log is shared".into()))
    }

    fn commit(&self) {}

    fn head(&self) -> Cursor {
        Cursor::new(EPOCH, self.head.load(Ordering::SeqCst))
    }

    fn committed(&self) -> Cursor {
        self.head()
    }

    fn poll_committed(&self, cursor: Cursor, _: &mut Context<'_>) -> Poll<Result<(), LogFault>> {
        match cursor <= self.head() {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }

    fn tail(&self) -> Cursor {
        Cursor::new(EPOCH, 0)
    }

    fn resume(&self, cursor: Cursor) -> Resume {
        Resume::From(cursor)
    }

    fn read(&self, from: Cursor) -> Box<dyn LogReader> {
        let head = self.head.load(Ordering::SeqCst) as usize;
        Box::new(Reader {
            records: self.stream.0.lock().unwrap().records[..head].to_vec(),
            next: from.sequence() as usize,
        })
    }

    fn seek(&self, _: i64) -> Cursor {
        self.tail()
    }

    /// What a message taught counts from that message on.
    fn snapshot(&self, visit: &mut dyn FnMut(Record<'_>)) -> Result<Cursor, LogFault> {
        let records = self.stream.0.lock().unwrap().records.clone();
        let mut last = BTreeMap::new();
        for (index, bytes) in records.iter().enumerate() {
            let record = Record::read(bytes).unwrap();
            let taught_by = record.key.try_into().map(u64::from_be_bytes).ok();
            let taught_by = taught_by.filter(|_| record.kind == Kind::Change);
            let counts_from = taught_by.map(|bits| Cursor::from_bits(bits).sequence());
            let counts_from = counts_from.unwrap_or(index as u64 + 1);
            let known = last.entry((record.kind as u8, record.topic));
            let known = known.or_insert((counts_from, record));
            if known.0 <= counts_from && record.kind.is_keyed() {
                *known = (counts_from, record);
            }
        }
        let mut records: Vec<_> = last.into_values().collect();
        records.retain(|(_, record)| record.kind.is_keyed() && !record.body.is_empty());
        records.sort_by_key(|(counts_from, _)| *counts_from);
        records.into_iter().for_each(|(_, record)| visit(record));
        Ok(self.head())
    }

    fn release(&self, _: Cursor) {}

    fn close(&self) -> Result<(), LogFault> {
        Ok(())
    }

    fn shared(&self) -> Option<&dyn Shared> {
        Some(self)
    }
}

struct Reader {
    records: Vec<Vec<u8>>,
    next: usize,
}

impl LogReader for Reader {
    fn next(&mut self) -> Result<Option<(Cursor, Record<'_>)>, LogFault> {
        let Some(bytes) = self.records.get(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        let cursor = Cursor::new(EPOCH, self.next as u64);
        Ok(Some((cursor, Record::read(bytes).unwrap())))
    }
}

/// A history that keeps nothing.
#[derive(Default)]
pub(super) struct Nothing {
    /// How often it was read.
    pub(super) reads: AtomicUsize,
    /// It cannot be read.
    pub(super) is_away: AtomicBool,
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
        self.reads.fetch_add(1, Ordering::SeqCst);
        match self.is_away.load(Ordering::SeqCst) {
            true => Err(HistoryFault::Failed("away".into())),
            false => Ok(Page::default()),
        }
    }

    fn maintain(&self, _: Time) -> Result<(), HistoryFault> {
        Ok(())
    }
}
