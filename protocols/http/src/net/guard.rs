//! Streams of HTTP/2 whose peers take nothing: given up one by one, since their windows are theirs to keep shut.
//!
//! hyper has a task a stream and asks for the next of a body only where the peer's windows have room. So a body that
//! is not asked for its next belongs to a peer that takes nothing; its task is ended, which resets the stream and drops
//! what it had handed on. A body of which all was handed on has no task any more: where that is not taken, the
//! connection ends.

use crate::limits::{LOOK_TIME, STREAM_BYTES};
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use weir_binding::Gateway;
use weir_carrier::clock::{Timer, now};
use weir_hub::{Memory, Room};
use weir_sansio::Instant;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Watch>>> = const { RefCell::new(None) };
}

/// Since when a stream's peer is waited for, and what was handed on to its connection.
#[derive(Debug)]
pub(super) struct Watch {
    since: Cell<Instant>,
    left: Arc<Left>,
    memory: Arc<Memory>,
}

/// What was handed on and is not sent yet, by its number: since when.
#[derive(Debug, Default)]
pub(super) struct Left(Mutex<(u64, BTreeMap<u64, Instant>)>);

impl Left {
    fn table(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Instant>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since when the oldest of it waits; never where nothing does.
    pub(super) fn oldest(&self) -> Instant {
        let table = self.table();
        let oldest = table.1.first_key_value();
        oldest.map_or(Instant::NEVER, |(_, since)| *since)
    }
}

/// A part of a body that was handed on, until it is sent or dropped.
struct Handed {
    bytes: Bytes,
    _room: Room,
    number: u64,
    left: Arc<Left>,
}

impl AsRef<[u8]> for Handed {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        self.left.table().1.remove(&self.number);
    }
}

impl Watch {
    /// The one of the stream whose task runs.
    pub(super) fn current() -> Option<Rc<Watch>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Hands bytes on, which count with so many that are nobody else's.
    pub(super) fn hand(&self, bytes: Bytes, own: usize) -> Bytes {
        let mut table = self.left.table();
        table.0 += 1;
        let number = table.0;
        table.1.insert(number, now());
        drop(table);
        Bytes::from_owner(Handed {
            bytes,
            _room: self.memory.hold(STREAM_BYTES + own),
            number,
            left: self.left.clone(),
        })
    }

    /// From now on the peer is to take something.
    pub(super) fn begin(&self) {
        self.since.set(now());
    }

    /// The peer took what there was.
    pub(super) fn end(&self) {
        self.since.set(Instant::NEVER);
    }
}

/// Runs hyper's tasks on the connection's thread, each as long as its peer goes on.
#[derive(Clone)]
pub(super) struct Local {
    context: Arc<dyn Gateway>,
    left: Arc<Left>,
}

impl Local {
    pub(super) fn new(context: Arc<dyn Gateway>) -> Self {
        let left = Arc::default();
        Self { context, left }
    }

    /// What was handed on and is not sent yet.
    pub(super) fn left(&self) -> &Left {
        &self.left
    }
}

impl<F: Future<Output = ()> + 'static> hyper::rt::Executor<F> for Local {
    #[allow(
        clippy::disallowed_methods,
        reason = "each request of a connection is a task"
    )]
    fn execute(&self, task: F) {
        tokio::task::spawn_local(Guarded {
            task: Box::pin(task),
            watch: Rc::new(Watch {
                since: Cell::new(Instant::NEVER),
                left: self.left.clone(),
                memory: self.context.hub().answers().clone(),
            }),
            timer: Timer::default(),
            _room: self.context.hub().memory().hold(STREAM_BYTES),
            local: self.clone(),
        });
    }
}

/// The task of one stream.
struct Guarded<F> {
    task: Pin<Box<F>>,
    watch: Rc<Watch>,
    timer: Timer,
    /// What hyper keeps of a stream.
    _room: Room,
    local: Local,
}

impl<F: Future<Output = ()>> Future for Guarded<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        CURRENT.set(Some(this.watch.clone()));
        let polled = this.task.as_mut().poll(cx);
        CURRENT.set(None);
        let since = this.watch.since.get();
        if polled.is_ready() || since == Instant::NEVER {
            return polled;
        }
        loop {
            let until = since + this.local.context.patience();
            if now() >= until {
                this.local.context.hub().stalled();
                return Poll::Ready(());
            }
            if !this.timer.poll_due(cx, until.min(now() + LOOK_TIME)) {
                return Poll::Pending;
            }
        }
    }
}
