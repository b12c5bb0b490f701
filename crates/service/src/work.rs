//! Work that takes a while: done on threads of its own, so that it holds up nobody's messages.

use crate::response::{Pending, Response};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use weir_hub::Memory;

/// Counts without a bound.
static UNBOUNDED: LazyLock<Arc<Memory>> = LazyLock::new(Arc::default);

/// Threads for work that reads files or computes long.
pub trait Workers: Send + Sync {
    /// Takes the work, or says that too much waits already.
    fn take(&self, work: Box<dyn FnOnce() + Send>) -> Result<(), Busy>;

    /// Takes work that may take long, which then waits behind its like.
    fn take_long(&self, work: Box<dyn FnOnce() + Send>) -> Result<(), Busy> {
        self.take(work)
    }

    /// Takes the next part of work that was begun: however much waits, since each who goes on has no more
    /// than one part under way.
    fn take_next(&self, work: Box<dyn FnOnce() + Send>) -> Result<(), Busy> {
        self.take(work)
    }

    /// Where the answers count that they make ([`weir_hub::Hub::answers`]).
    fn memory(&self) -> &Arc<Memory> {
        &UNBOUNDED
    }
}

/// How long work may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Some milliseconds.
    Short,
    /// As long as what was asked for: whoever asks for little does not wait for it.
    Long,
}

/// Too much work waits already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// What is answered where too much waits already.
pub fn too_busy() -> Response {
    let response = Response::text(503, "too many questions wait: try again");
    response.header("retry-after", "1")
}

/// What is answered where work broke off.
pub(crate) fn broken() -> Response {
    Response::text(500, "the work broke off; the gateway's log says why")
}

/// Has work done elsewhere.
pub fn hand_over<T: Send + 'static>(
    workers: &dyn Workers,
    length: Length,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Outcome<T>, Busy> {
    let (outcome, work) = promised(work);
    match length {
        Length::Short => workers.take(work)?,
        Length::Long => workers.take_long(work)?,
    }
    Ok(outcome)
}

/// Has the next part of work that was begun done elsewhere.
pub fn hand_over_next<T: Send + 'static>(
    workers: &dyn Workers,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Outcome<T>, Busy> {
    let (outcome, work) = promised(work);
    workers.take_next(work)?;
    Ok(outcome)
}

fn promised<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> (Outcome<T>, Box<dyn FnOnce() + Send>) {
    let shared = Arc::new(Mutex::new(Shared::default()));
    let promise = Promise(shared.clone());
    let work = Box::new(move || {
        // Whoever is gone needs no answer, and waits in nobody's way.
        if promise.is_wanted() {
            promise.keep(Some(work()));
        }
    });
    (Outcome(shared), work)
}

/// Blocks the thread that does the work until something is ready.
pub fn wait<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        match poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// What work done elsewhere will come to.
pub struct Outcome<T>(Arc<Mutex<Shared<T>>>);

impl<T> Outcome<T> {
    /// Of work that nobody will do.
    pub(crate) fn lost() -> Self {
        let shared = Shared {
            over: true,
            ..Shared::default()
        };
        Self(Arc::new(Mutex::new(shared)))
    }

    /// The outcome, once the work is done; `None` where it broke off, which the gateway's log explains.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut shared = lock(&self.0);
        if shared.over {
            return Poll::Ready(shared.outcome.take());
        }
        shared.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Pending for Outcome<Response> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        Outcome::poll(self, cx).map(|outcome| outcome.unwrap_or_else(broken))
    }
}

struct Shared<T> {
    outcome: Option<T>,
    over: bool,
    waker: Option<Waker>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self {
            outcome: None,
            over: false,
            waker: None,
        }
    }
}

fn lock<T>(shared: &Mutex<Shared<T>>) -> MutexGuard<'_, Shared<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The worker's end; dropped before it is kept, the work broke off.
struct Promise<T>(Arc<Mutex<Shared<T>>>);

impl<T> Promise<T> {
    /// Whether somebody still waits for the outcome.
    fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    fn keep(&self, outcome: Option<T>) {
        let mut shared = lock(&self.0);
        if !std::mem::replace(&mut shared.over, true) {
            shared.outcome = outcome;
        }
        let waker = shared.waker.take();
        drop(shared);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.keep(None);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::answer::Answer;
    use crate::answering::{Next, answer_of, answer_then};
    use crate::{AtOnce, Drawer};

    fn poll(answer: &mut Answer) -> Poll<Response> {
        let Answer::Later(pending) = answer else {
            return Poll::Pending;
        };
        pending.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn an_answer_comes_when_the_work_is_done_or_broke_off() {
        let drawer = Drawer::with_room(1);
        let mut answer = answer_of(&drawer, Length::Short, || Response::empty(204));
        assert!(poll(&mut answer).is_pending());
        let refused = answer_of(&drawer, Length::Long, || Response::empty(204));
        assert!(matches!(refused, Answer::Now(Response { status: 503, .. })));
        assert_eq!(drawer.work_off(), 1);
        assert_eq!(poll(&mut answer), Poll::Ready(Response::empty(204)));
        let mut two_steps = answer_then(&drawer, || {
            Next::Wait(Box::new(
                hand_over(&AtOnce, Length::Short, || Response::empty(204)).unwrap(),
            ))
        });
        assert!(poll(&mut two_steps).is_pending());
        drawer.work_off();
        assert_eq!(poll(&mut two_steps), Poll::Ready(Response::empty(204)));
        let mut broken = answer_of(&drawer, Length::Short, || Response::empty(204));
        drawer.lose();
        assert!(matches!(
            poll(&mut broken),
            Poll::Ready(Response { status: 500, .. })
        ));
    }
}
