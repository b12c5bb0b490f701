//! Streams of HTTP/2 whose peers take nothing: given up one by one, since their windows are theirs to keep shut.
//!
//! hyper has a task a stream and asks for the next of a body only where the peer's windows have room. So a body that
//! is not asked for its next belongs to a peer that takes nothing; its task is ended, which resets the stream. What
//! was handed on already stays until the peer takes it or the connection ends, which it does where memory is short.

use crate::limits::{LOOK_TIME, STREAM_BYTES};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::Context as Gateway;
use weir_carrier::clock::{Timer, now};
use weir_hub::Room;
use weir_sansio::Instant;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Watch>>> = const { RefCell::new(None) };
}

/// Since when a stream's peer is waited for.
#[derive(Debug)]
pub(super) struct Watch(Cell<Instant>);

impl Watch {
    /// The one of the stream whose task runs.
    pub(super) fn current() -> Option<Rc<Watch>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// From now on the peer is to take something.
    pub(super) fn begin(&self) {
        self.0.set(now());
    }

    /// The peer took what there was.
    pub(super) fn end(&self) {
        self.0.set(Instant::NEVER);
    }
}

/// Runs hyper's tasks on the connection's thread, each as long as its peer goes on.
#[derive(Clone)]
pub(super) struct Local {
    context: Arc<dyn Gateway>,
    given_up: Rc<Cell<bool>>,
}

impl Local {
    pub(super) fn new(context: Arc<dyn Gateway>) -> Self {
        let given_up = Rc::default();
        Self { context, given_up }
    }

    /// Whether a stream was given up of which something may be left.
    pub(super) fn has_given_up(&self) -> bool {
        self.given_up.get()
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
            watch: Rc::new(Watch(Cell::new(Instant::NEVER))),
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
        let since = this.watch.0.get();
        if polled.is_ready() || since == Instant::NEVER {
            return polled;
        }
        loop {
            let until = since + this.local.context.patience();
            if now() >= until {
                this.local.given_up.set(true);
                this.local.context.hub().stalled();
                return Poll::Ready(());
            }
            if !this.timer.poll_due(cx, until.min(now() + LOOK_TIME)) {
                return Poll::Pending;
            }
        }
    }
}
