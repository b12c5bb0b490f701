//! What is due in the background: closing windows, feeding history, keeping house.

use crate::clock::now;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};
use weir_hub::{Hub, Log};

/// How often windows are looked at.
const TICK: Duration = Duration::from_millis(10);
/// How often the history store is made durable and the log released.
const MAINTENANCE: Duration = Duration::from_secs(10);
/// How often the log is looked at while nothing is published.
const LOOK: Duration = Duration::from_secs(2);
/// Commits are gathered for so long before they go to the history store.
const GATHERING: Duration = Duration::from_millis(20);

/// Closes windows as they end, for ever.
pub(crate) async fn close_windows(hub: Arc<Hub>) {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        ticks.tick().await;
        let now = now();
        if hub.next_tick().is_some_and(|due| due <= now.nanos()) {
            hub.tick(now);
        }
    }
}

/// The thread that feeds the history store.
pub(crate) struct Historian {
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Historian {
    pub(crate) fn start(hub: Arc<Hub>) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let builder = thread::Builder::new().name("historian".into());
        let thread = builder.spawn(move || work(&hub, &stopped))?;
        Ok(Self { thread, stop })
    }

    /// Feeds what is left, makes all durable and closes the log.
    pub(crate) fn finish(self, hub: &Hub, log: &dyn Log) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        if self.thread.join().is_err() {
            tracing::error!("the historian ended early");
        }
        if let Err(fault) = hub.maintain(now()) {
            tracing::error!(%fault, "history was not made durable; the log still holds it");
        }
        if let Err(fault) = log.close() {
            tracing::error!(%fault, "the log was not closed cleanly");
        }
    }
}

fn work(hub: &Hub, stop: &AtomicBool) {
    let waker = Arc::new(Unpark(thread::current())).into();
    let (mut maintained, mut said) = (Instant::now(), false);
    let mut standing = Standing::default();
    while !stop.load(Ordering::Relaxed) {
        match hub.poll_feed(&mut Context::from_waker(&waker)) {
            Poll::Pending => thread::park_timeout(LOOK),
            Poll::Ready(Ok(())) => {
                said = false;
                report(hub.feed());
            }
            Poll::Ready(Err(fault)) => {
                // It may stay so: once is enough.
                if !std::mem::replace(&mut said, true) {
                    tracing::error!(%fault, "nothing is published");
                }
                thread::park_timeout(Duration::from_secs(1));
            }
        }
        standing.look(hub);
        if maintained.elapsed() >= MAINTENANCE {
            maintained = Instant::now();
            report(hub.maintain(now()));
        }
        thread::park_timeout(GATHERING);
    }
}

fn report(done: Result<(), weir_hub::Fault>) {
    if let Err(fault) = done {
        tracing::error!(%fault, "history falls behind; the log keeps what it misses");
        thread::park_timeout(Duration::from_secs(1));
    }
}

/// What was last said of the log: its trouble, or that it has none.
#[derive(Default)]
struct Standing(Option<String>);

impl Standing {
    /// Says it when it begins and when it is over.
    fn look(&mut self, hub: &Hub) {
        let trouble = hub.trouble();
        match (&self.0, &trouble) {
            (None, Some(why)) => tracing::error!(why, "the log keeps nothing now; publishers wait"),
            (Some(_), None) => tracing::info!("the log keeps what is published again"),
            _ => {}
        }
        self.0 = trouble;
    }
}
