//! A hub on a simulated disk, and how tests talk to it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test uses a part of it"
)]

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use weir_codec::by_name;
use weir_hub::{
    Ending, Fault, Frame, Framing, FramingKey, History, HistoryFault, Hub, Media, Next, Page,
    Principal, Publish, Range, Shape, Since, Subscribe, Subscription, Ticket,
};
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{Batch, Cursor, Filter, Limits, Observation, Time};

/// A history store that only counts: these tests are about what comes before it.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) applied: Mutex<Vec<(Cursor, usize)>>,
    /// Done once, at the next application.
    pub(crate) meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// Done once, at the next reading.
    pub(crate) while_read: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// What it says at a start to be the last observations.
    pub(crate) latest: Mutex<Option<(Cursor, Batch)>>,
}

impl History for Tally {
    fn apply(&self, cursor: Cursor, _: Time, batch: &Batch) -> Result<(), HistoryFault> {
        self.applied.lock().unwrap().push((cursor, batch.len()));
        let meanwhile = self.meanwhile.lock().unwrap().take();
        meanwhile.into_iter().for_each(|act| act());
        Ok(())
    }
    fn forget(&self, _: Cursor, _: &str) -> Result<(), HistoryFault> {
        Ok(())
    }
    fn advance(&self, _: Cursor) {}
    fn applied(&self) -> Cursor {
        Cursor::START
    }
    fn latest(&self, visit: &mut dyn FnMut(Cursor, &Observation<'_>)) -> Result<(), HistoryFault> {
        if let Some((cursor, batch)) = &*self.latest.lock().unwrap() {
            batch.rows().for_each(|row| visit(*cursor, &row));
        }
        Ok(())
    }
    fn read(&self, _: &Range<'_>) -> Result<Page, HistoryFault> {
        let meanwhile = self.while_read.lock().unwrap().take();
        meanwhile.into_iter().for_each(|act| act());
        Ok(Page::default())
    }
    fn maintain(&self, _: Time) -> Result<(), HistoryFault> {
        Ok(())
    }
}

pub(crate) struct House {
    pub(crate) disk: Arc<SimDisk>,
    pub(crate) log: Arc<DiskLog>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) hub: Arc<Hub>,
}

pub(crate) fn open(disk: Arc<SimDisk>) -> House {
    open_with(disk, Tally::default())
}

pub(crate) fn open_with(disk: Arc<SimDisk>, tally: Tally) -> House {
    let options = Options {
        segment_bytes: 1 << 20,
        ..Options::default()
    };
    let log = Arc::new(DiskLog::open(disk.clone(), options).unwrap());
    let tally = Arc::new(tally);
    let hub = Hub::start(log.clone(), tally.clone(), Limits::default(), at(0)).unwrap();
    House {
        disk,
        log,
        tally,
        hub,
    }
}

pub(crate) fn new() -> House {
    open(Arc::new(SimDisk::new()))
}

/// Milliseconds after a fixed moment of 2026.
pub(crate) fn at(millis: i64) -> Time {
    Time::from_millis(1_795_000_000_000 + millis)
}

pub(crate) fn everyone() -> Principal {
    Principal::unrestricted()
}

pub(crate) fn publication(topic: &str, body: &str) -> Publish {
    let media = Media::Format(by_name("json").unwrap());
    Publish::new(topic, media, body.to_owned())
}

/// Publishes a number and waits until it is on disk.
pub(crate) fn publish(hub: &Arc<Hub>, topic: &str, value: f64) -> Cursor {
    let body = format!("{{\"value\":{value}}}");
    acknowledged(hub, &everyone(), publication(topic, &body)).unwrap()
}

pub(crate) fn acknowledged(
    hub: &Arc<Hub>,
    principal: &Principal,
    publish: Publish,
) -> Result<Cursor, Fault> {
    let ticket = hub.caller(at(0), principal)?.publish(publish)?;
    wait(|cx| ticket.poll(cx))
}

/// Publishes at a time of the gateway's clock, and does not wait.
pub(crate) fn accepted(hub: &Arc<Hub>, millis: i64, publish: Publish) -> Result<Ticket, Fault> {
    hub.caller(at(millis), &everyone())?.publish(publish)
}

/// Frames as `CURSOR PAYLOAD;`, gaps as `gap REASON COUNT;`.
pub(crate) struct Plain;

impl Framing for Plain {
    fn key(&self) -> FramingKey {
        ("test", 0)
    }
    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let Some(gap) = frame.gap {
            let count = gap.count.unwrap_or_default();
            out.extend_from_slice(format!("gap {} {count};", gap.reason.name()).as_bytes());
        }
        if let Some(payload) = frame.payload {
            out.extend_from_slice(format!("{} ", frame.cursor).as_bytes());
            out.extend_from_slice(payload.trim_ascii_end());
            out.push(b';');
        }
    }
}

pub(crate) fn wish(filters: &[&str], since: Since) -> Subscribe {
    let filters = filters.iter().map(|text| Filter::parse(text).unwrap());
    let shape = Shape::Framed(by_name("plain").unwrap(), Arc::new(Plain));
    Subscribe {
        since,
        ..Subscribe::new(filters.collect(), shape)
    }
}

pub(crate) fn subscribe(hub: &Arc<Hub>, wish: Subscribe) -> Subscription {
    subscribe_as(hub, &everyone(), wish).unwrap()
}

pub(crate) fn subscribe_as(
    hub: &Arc<Hub>,
    principal: &Principal,
    wish: Subscribe,
) -> Result<Subscription, Fault> {
    let subscription = hub.caller(at(0), principal)?.subscribe(wish)?;
    Ok(*subscription)
}

/// Notes that it was woken.
#[derive(Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    /// Says whether it was woken since it was last asked.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// All that a subscriber is handed until it would sleep.
pub(crate) fn take_all(subscription: &mut Subscription) -> Vec<Next> {
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    let mut taken = Vec::new();
    loop {
        match subscription.poll_next(&mut Context::from_waker(&waker)) {
            Poll::Pending if flag.take() => {}
            Poll::Pending => return taken,
            Poll::Ready(next) => taken.push(next.unwrap()),
        }
        if matches!(taken.last(), Some(Next::Ended(_))) {
            return taken;
        }
    }
}

/// What is there for a subscriber now: values, gaps in brackets, `end` at the end.
pub(crate) fn drain(subscription: &mut Subscription) -> Vec<String> {
    let taken = take_all(subscription);
    let seen = taken.iter().flat_map(|next| match next {
        Next::Ended(Ending::TooSlow) => vec!["end: too slow".into()],
        Next::Ended(Ending::Stopping) => vec!["end: stopping".into()],
        next => words(next),
    });
    seen.collect()
}

/// The payloads of what was handed over.
pub(crate) fn words(next: &Next) -> Vec<String> {
    let Next::Bytes(bytes, _) = next else {
        return vec![format!("{next:?}")];
    };
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let frames = text.split_terminator(';');
    frames
        .map(|frame| match frame.strip_prefix("gap ") {
            Some(gap) => format!("[{gap}]"),
            None => frame.split_once(' ').unwrap().1.to_owned(),
        })
        .collect()
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks this thread until it is ready.
pub(crate) fn wait<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(std::future::poll_fn(|cx| poll(cx)));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}
