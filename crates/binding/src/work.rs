//! Work that takes a while: done on threads of its own, so that it holds up nobody's messages.

use crate::service::{Answer, Pending, Response};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Threads for work that reads files or computes long.
pub trait Workers: Send + Sync {
    /// Takes the work, or says that too much waits already.
    fn take(&self, work: Box<dyn FnOnce() + Send>) -> Result<(), Busy>;
}

/// Too much work waits already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// The answer of work that is done elsewhere; 503 where too much waits already.
pub fn answer_of(
    workers: &dyn Workers,
    work: impl FnOnce() -> Response + Send + 'static,
) -> Answer {
    let result = Arc::new(Mutex::new(Shared::default()));
    let promise = Promise(result.clone());
    let taken = workers.take(Box::new(move || promise.keep(work())));
    match taken {
        Ok(()) => Answer::Later(Box::new(Working(result))),
        Err(Busy) => {
            let response = Response::text(503, "too many questions wait: try again");
            Answer::Now(response.header("retry-after", "1"))
        }
    }
}

#[derive(Default)]
struct Shared {
    response: Option<Response>,
    waker: Option<Waker>,
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The worker's end; dropped without an answer, it answers that the work broke off.
struct Promise(Arc<Mutex<Shared>>);

impl Promise {
    fn keep(&self, response: Response) {
        let mut shared = lock(&self.0);
        shared.response.get_or_insert(response);
        let waker = shared.waker.take();
        drop(shared);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.keep(Response::text(
            500,
            "the work broke off; the gateway's log says why",
        ));
    }
}

struct Working(Arc<Mutex<Shared>>);

impl Pending for Working {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        let mut shared = lock(&self.0);
        match shared.response.take() {
            Some(response) => Poll::Ready(response),
            None => {
                shared.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    type Job = Box<dyn FnOnce() + Send>;

    /// Keeps the work until the test does it.
    #[derive(Default)]
    struct Drawer(Mutex<Vec<Job>>);

    impl Workers for Drawer {
        fn take(&self, work: Job) -> Result<(), Busy> {
            let mut jobs = self.0.lock().unwrap();
            if jobs.len() == 1 {
                return Err(Busy);
            }
            jobs.push(work);
            Ok(())
        }
    }

    fn poll(answer: &mut Answer) -> Poll<Response> {
        let Answer::Later(pending) = answer else {
            return Poll::Pending;
        };
        pending.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn an_answer_comes_when_the_work_is_done_and_says_so_when_it_broke_off() {
        let drawer = Drawer::default();
        let mut answer = answer_of(&drawer, || Response::empty(204));
        assert!(poll(&mut answer).is_pending());
        let refused = answer_of(&drawer, || Response::empty(204));
        assert!(matches!(refused, Answer::Now(Response { status: 503, .. })));
        let job = drawer.0.lock().unwrap().pop().unwrap();
        job();
        assert_eq!(poll(&mut answer), Poll::Ready(Response::empty(204)));
        let mut broken = answer_of(&drawer, || Response::empty(204));
        drop(drawer.0.lock().unwrap().pop());
        assert!(matches!(
            poll(&mut broken),
            Poll::Ready(Response { status: 500, .. })
        ));
    }
}
