//! The log as the hub sees it.

use crate::api;
use crate::connection::Connection;
use crate::limits::{
    LOOK_TICKS, LOOKS_SHORT_MAX, OPEN_WAIT, PLACE_WAIT, SILENCE, TICK, TROUBLE_AFTER,
};
use crate::look::Looks;
use crate::name::{self, Names};
use crate::pending;
use crate::reader::Reader;
use crate::state::Shared;
use crate::url::Servers;
use crate::wire::Message;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use weir_model::Cursor;
use weir_storage::{
    Follower, Gap, GapReason, Log, LogFault, LogReader, Receipt, Record, Resume,
    Shared as SharedLog,
};

/// What an owner decides about a stream that is made; one that is there stays as it is.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the servers are.
    pub servers: Servers,
    /// Name of the stream.
    pub stream: String,
    /// On how many servers each record is before it is acknowledged (of three, on two).
    pub replicas: usize,
    /// Bytes of records above which the oldest are dropped.
    pub retention_bytes: u64,
    /// After how long a record is dropped.
    pub retention_age: Duration,
}

impl Options {
    /// Says whether a text may name a stream.
    pub fn is_name(text: &str) -> bool {
        Names::is_name(text)
    }
}

/// A stream that several gateways append to.
pub struct JetStreamLog {
    shared: Arc<Shared>,
    /// What came in answer to submissions is sent there.
    acks: String,
    stop: mpsc::Sender<()>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl JetStreamLog {
    /// Opens the stream, or makes it; waits for the servers for a while.
    pub fn open(options: &Options) -> Result<Self, String> {
        let thread = |error: std::io::Error| format!("no thread: {error}");
        let (nats, connecting) = Connection::start(options.servers.clone()).map_err(thread)?;
        let names = Names::of(&options.stream);
        let opened = api::open(&nats, &names, options).inspect_err(|_| nats.close())?;
        let ends = (opened.first, opened.last);
        let shared = Arc::new(Shared::new(nats.clone(), names, opened.epoch, ends));
        let weak = Arc::downgrade(&shared);
        let (_, acks) = nats.inbox(Arc::new(move |message| {
            if let Some(shared) = weak.upgrade() {
                take_answer(&shared, &message);
            }
        }));
        let (stop, stopped) = mpsc::channel();
        let (own, to) = (shared.clone(), acks.clone());
        let ticker = thread::Builder::new().name("nats-tick".into());
        let ticker = ticker
            .spawn(move || tick(&own, &to, &stopped))
            .map_err(thread)?;
        Ok(Self {
            shared,
            acks,
            stop,
            threads: Mutex::new(vec![connecting, ticker]),
        })
    }

    fn keep(&self, thread: JoinHandle<()>) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.push(thread);
    }

    fn end(&self) {
        self.shared.end(LogFault::Closed);
        self.shared.nats.close();
        // It may have ended already.
        let _ended = self.stop.send(());
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let this = thread::current().id();
        // A panic of a thread was printed.
        let others = threads.drain(..).filter(|it| it.thread().id() != this);
        others.for_each(|thread| drop(thread.join()));
    }
}

impl SharedLog for JetStreamLog {
    fn submit(&self, record: &Record<'_>) -> Result<Arc<Receipt>, LogFault> {
        let mut bytes = Vec::with_capacity(record.body.len() + record.topic.len() + 64);
        record.write(&mut bytes);
        let limit = self.shared.nats.payload_max();
        if bytes.len() > limit {
            return Err(LogFault::OverLimit { limit });
        }
        let bytes: Arc<[u8]> = bytes.into();
        let mut state = self.shared.state();
        if let Some(fault) = &state.fault {
            return Err(fault.clone());
        }
        state.pending.check_room()?;
        state.submitted += 1;
        let number = state.submitted;
        let subject = self.shared.names.subject(record);
        let id = Names::message_id(record, &self.shared.nats.nonce, number);
        // Under the lock, so that records leave in the order of their numbers.
        send(&self.shared, &self.acks, number, (&subject, &id), &bytes);
        Ok(state
            .pending
            .insert(number, (subject, id), bytes, Instant::now()))
    }

    fn follow(&self, mut follower: Follower) {
        let shared = self.shared.clone();
        let thread = thread::Builder::new().name("nats-follow".into());
        let spawned = thread.spawn(move || {
            let pull = shared.pull(&shared.names.stream, None, shared.head());
            while shared.state().fault.is_none() {
                let Some((sequence, bytes)) = pull.next(SILENCE) else {
                    continue;
                };
                if let Err(fault) = check_next(&shared, sequence) {
                    return shared.end(fault);
                }
                let goes_on = match Record::read(&bytes) {
                    Ok(record) => follower(shared.cursor(sequence), &record),
                    Err(_) => match check_version(&shared, &bytes) {
                        // Something else was published there: a record that says nothing.
                        Ok(()) => true,
                        Err(fault) => return shared.end(fault),
                    },
                };
                let round = shared.nats.round().ok();
                shared.state().newest.note(round, (sequence, bytes));
                shared.set_head(sequence);
                shared.wake();
                if !goes_on {
                    return;
                }
            }
        });
        match spawned {
            Ok(thread) => self.keep(thread),
            Err(error) => self.shared.end(LogFault::Failed(error.to_string())),
        }
    }

    fn taken(&self, cursor: Cursor) {
        self.shared.set_head(cursor.sequence());
    }

    /// A server that has just become the stream's leader may not have come to its end yet: it is asked again.
    fn reaches(&self, cursor: Cursor) -> Result<bool, LogFault> {
        for _ in 0..LOOKS_SHORT_MAX {
            let standing = api::look(&self.shared.nats, &self.shared.names.stream);
            let standing = standing.map_err(LogFault::Unavailable)?;
            if standing.epoch != self.shared.epoch || standing.last >= cursor.sequence() {
                return Ok(standing.epoch == cursor.epoch());
            }
            thread::sleep(TICK);
        }
        Ok(false)
    }
}

/// Refuses to go on behind records that the stream dropped before they were taken: what they said is missing
/// in all that is known here, and a start reads what is kept of it.
fn check_next(shared: &Shared, sequence: u64) -> Result<(), LogFault> {
    let taken = shared.head();
    if sequence <= taken + 1 {
        return Ok(());
    }
    let standing = look(shared)?;
    // Single ones are missing where somebody removed them.
    if standing.first <= taken + 1 {
        Ok(())
    } else {
        Err(LogFault::Failed(format!(
            "the stream {} dropped records behind {} before they were taken: this gateway was away for \
             longer than it keeps them, and is to be started again",
            shared.names.stream,
            shared.cursor(taken),
        )))
    }
}

/// Refuses to pass over what a later weir may have written: it marks the stream before.
fn check_version(shared: &Shared, bytes: &[u8]) -> Result<(), LogFault> {
    if bytes.first().is_none_or(|&said| said <= Record::VERSION) {
        return Ok(());
    }
    let checked = look(shared)?.mark.check(&shared.names.stream);
    checked.map_err(|later| LogFault::Failed(later.to_string()))
}

/// How the stream stands now, as soon as a server says so.
fn look(shared: &Shared) -> Result<api::Standing, LogFault> {
    loop {
        match api::look(&shared.nats, &shared.names.stream) {
            Ok(standing) => return Ok(standing),
            Err(_) if shared.state().fault.is_none() => thread::sleep(TICK),
            Err(why) => return Err(LogFault::Unavailable(why)),
        }
    }
}

fn send(shared: &Shared, acks: &str, number: u64, (subject, id): (&str, &str), bytes: &[u8]) {
    let headers = [
        ("Nats-Msg-Id", id),
        ("Nats-Expected-Stream", &shared.names.stream),
    ];
    shared
        .nats
        .send((subject, &format!("{acks}.{number}")), &headers, bytes);
}

/// `{"stream":"weir","seq":7}`, or an error, which says `"seq":0` beside: then the record has no place. What is
/// not told now is asked for again by the tick.
fn take_answer(shared: &Shared, message: &Message) {
    let number = message
        .subject
        .rsplit('.')
        .next()
        .and_then(|part| part.parse().ok());
    let answer: Value = serde_json::from_slice(&message.payload).unwrap_or_default();
    let (Some(number), Some(sequence)) = (number, place(&answer)) else {
        return;
    };
    let receipt = shared.state().pending.remove(number);
    if let Some(receipt) = receipt {
        receipt.settle(Ok(shared.cursor(sequence)));
    }
}

/// The sequence that a record was given; none in the answer that another under its identity is under way.
fn place(answer: &Value) -> Option<u64> {
    let sequence = answer["seq"].as_u64();
    sequence.filter(|&sequence| sequence > 0 && answer["error"].is_null())
}

/// Looks after what waits, until it is stopped.
fn tick(shared: &Arc<Shared>, acks: &str, stopped: &mpsc::Receiver<()>) {
    let mut looks = Looks::new(shared);
    let (mut round, mut ticks) = (0, 0_u64);
    while let Err(mpsc::RecvTimeoutError::Timeout) = stopped.recv_timeout(TICK) {
        ticks += 1;
        let now = shared.nats.round();
        let is_new = now
            .as_ref()
            .is_ok_and(|now| std::mem::replace(&mut round, *now) != *now);
        // First: who was stopped for long must not send again what the stream does not know again any more.
        let overdue = shared.state().pending.overdue(Instant::now());
        send_again(shared, acks, is_new);
        let why = now
            .err()
            .unwrap_or_else(|| "no server said that the record is kept".into());
        pending::fail(overdue, &LogFault::Unavailable(why));
        let pulls: Vec<_> = shared
            .state()
            .pulls
            .iter()
            .filter_map(|it| it.upgrade())
            .collect();
        if is_new {
            looks.connected();
        }
        pulls.iter().for_each(|pull| pull.tick(is_new));
        looks.take();
        if ticks % LOOK_TICKS == 0 {
            looks.ask();
        }
    }
}

fn send_again(shared: &Shared, acks: &str, all: bool) {
    let mut state = shared.state();
    for (number, sent) in state.pending.due(Instant::now(), all) {
        send(shared, acks, number, (&sent.subject, &sent.id), &sent.bytes);
    }
}

impl Log for JetStreamLog {
    fn append(&self, _record: &Record<'_>) -> Result<Cursor, LogFault> {
        Err(LogFault::Failed(
            "the log is shared: records are submitted".into(),
        ))
    }

    /// A record is committed when it has a place.
    fn commit(&self) {}

    fn head(&self) -> Cursor {
        self.shared.cursor(self.shared.head())
    }

    fn committed(&self) -> Cursor {
        self.head()
    }

    fn poll_committed(&self, cursor: Cursor, cx: &mut Context<'_>) -> Poll<Result<(), LogFault>> {
        self.shared.poll_head(cursor.sequence(), cx)
    }

    fn poll_reached(&self, cursor: Cursor, cx: &mut Context<'_>) -> Poll<Result<bool, LogFault>> {
        let sequence = cursor.sequence();
        if let Poll::Ready(taken) = self.shared.poll_head(sequence, cx) {
            return Poll::Ready(taken.map(|()| true));
        }
        self.shared
            .poll_ends_before(sequence, cx)
            .map(|()| Ok(false))
    }

    fn tail(&self) -> Cursor {
        self.shared
            .cursor(self.shared.state().first.saturating_sub(1))
    }

    fn resume(&self, cursor: Cursor) -> Resume {
        let gap = |reason, count, at| Resume::Gap(Gap { reason, count }, at);
        if cursor != Cursor::START && cursor.epoch() != self.shared.epoch {
            return gap(GapReason::Foreign, None, self.head());
        }
        let (tail, sequence) = (self.tail(), cursor.sequence());
        match tail.sequence().checked_sub(sequence) {
            Some(missing) if missing > 0 => gap(GapReason::Retention, Some(missing), tail),
            _ => Resume::From(self.shared.cursor(sequence)),
        }
    }

    fn read(&self, from: Cursor) -> Box<dyn LogReader> {
        Box::new(Reader::new(self.shared.clone(), from.sequence()))
    }

    /// All that is kept: the stream is not looked up by time.
    fn seek(&self, _arrival_nanos: i64) -> Cursor {
        self.tail()
    }

    fn snapshot(&self, visit: &mut dyn FnMut(Record<'_>)) -> Result<Cursor, LogFault> {
        let mut last = BTreeMap::new();
        let names = &self.shared.names;
        for (stream, filter) in [
            (&names.keyed, None),
            (&names.stream, Some(names.keyed_filter())),
        ] {
            self.fold(stream, filter, &mut last)?;
        }
        let mut records: Vec<_> = last.into_values().collect();
        records.sort_by_key(|(sequence, _)| *sequence);
        for (_, bytes) in &records {
            match Record::read(bytes) {
                Ok(record) if !record.body.is_empty() => visit(record),
                // A tombstone, or nothing of ours.
                _ => {}
            }
        }
        Ok(self.head())
    }

    /// The stream drops what its own limits say, whoever still needs it.
    fn release(&self, _cursor: Cursor) {}

    fn close(&self) -> Result<(), LogFault> {
        let until = Instant::now() + PLACE_WAIT.min(OPEN_WAIT);
        while !self.shared.state().pending.is_empty() && Instant::now() < until {
            thread::sleep(TICK);
        }
        self.end();
        Ok(())
    }

    fn trouble(&self) -> Option<String> {
        let state = self.shared.state();
        if let Some(fault) = &state.fault {
            return Some(fault.to_string());
        }
        let silent = state
            .seen
            .is_none_or(|seen| seen.elapsed() >= TROUBLE_AFTER);
        drop(state);
        let why = || "no server answers for the stream: most of them are away".to_owned();
        self.shared.nats.round().err().or(silent.then(why))
    }

    fn shared(&self) -> Option<&dyn SharedLog> {
        Some(self)
    }
}

/// The last record of each kind and topic, by what it is about.
type LastOfEach = BTreeMap<(u8, String), (u64, Vec<u8>)>;

impl JetStreamLog {
    fn fold(
        &self,
        stream: &str,
        filter: Option<String>,
        last: &mut LastOfEach,
    ) -> Result<(), LogFault> {
        let pull = self.shared.pull(stream, filter, 0);
        let until = Instant::now() + OPEN_WAIT;
        loop {
            match pull.next_kept(TICK) {
                Some((sequence, bytes)) => fold_in(sequence, bytes, last),
                None if pull.is_at_the_end() => return Ok(()),
                None if Instant::now() >= until => {
                    return Err(LogFault::Unavailable(format!(
                        "the stream {stream} is not read"
                    )));
                }
                None => {}
            }
        }
    }
}

/// What a message taught counts from that message on, and not from where it was logged.
fn fold_in(sequence: u64, bytes: Vec<u8>, last: &mut LastOfEach) {
    let Ok(record) = Record::read(&bytes) else {
        return;
    };
    let counts_from = if name::is_taught(&record) {
        name::taught_by(&record)
    } else {
        sequence
    };
    let about = (record.kind as u8, record.topic.to_owned());
    if last
        .get(&about)
        .is_none_or(|(known, _)| *known <= counts_from)
    {
        last.insert(about, (counts_from, bytes));
    }
}

impl Drop for JetStreamLog {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::place;
    use serde_json::json;

    #[test]
    fn a_record_that_the_stream_refused_has_no_place() {
        let kept = json!({"stream": "weir", "seq": 7, "duplicate": true});
        assert_eq!(place(&kept), Some(7));
        // As nats-server 2.11 answers while the first of two with one identity is not kept yet.
        let error = json!({"code": 409, "err_code": 10158});
        let refused = json!({"error": error, "stream": "weir", "seq": 0});
        assert_eq!(place(&refused), None);
        assert_eq!(place(&json!({"stream": "weir", "seq": 0})), None);
    }
}
