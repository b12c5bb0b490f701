//! Answers that workers make: whole, after a wait, or piece by piece; 503 where too much waits already.

use crate::answer::Answer;
use crate::pieces::{BrokenOff, Made, Opened, Opening, Pieces};
use crate::response::{Pending, Response};
use crate::work::{Busy, Length, Outcome, Workers, broken, hand_over, too_busy};
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_hub::Memory;

/// The answer of work that reads something and is done elsewhere; 503 where too much waits already, or where answers
/// that nobody takes leave no memory for it.
pub fn answer_of(
    workers: &dyn Workers,
    length: Length,
    work: impl FnOnce() -> Response + Send + 'static,
) -> Answer {
    let memory = workers.memory().clone();
    let work = move || work().fitting(&memory);
    match hand_over(workers, length, work) {
        Ok(outcome) => Answer::Later(Box::new(outcome)),
        Err(Busy) => Answer::Now(too_busy()),
    }
}

/// The same of work that may have done something, and may have to wait for that to be on disk.
pub fn answer_then(workers: &dyn Workers, work: impl FnOnce() -> Next + Send + 'static) -> Answer {
    let memory = workers.memory().clone();
    let work = move || work().fitting(&memory);
    match hand_over(workers, Length::Long, work) {
        Ok(outcome) => Answer::Later(Box::new(Steps::Work(outcome))),
        Err(Busy) => Answer::Now(too_busy()),
    }
}

/// What work comes to.
pub enum Next {
    /// The answer.
    Answer(Response),
    /// What the answer is waited for.
    Wait(Box<dyn Pending>),
}

impl From<Next> for Answer {
    fn from(next: Next) -> Self {
        match next {
            Next::Answer(response) => Answer::Now(response),
            Next::Wait(pending) => Answer::Later(pending),
        }
    }
}

impl Next {
    /// The same of what is answered at once.
    pub(crate) fn fitting(self, memory: &Arc<Memory>) -> Self {
        match self {
            Next::Answer(response) => Next::Answer(response.fitting(memory)),
            wait => wait,
        }
    }
}

enum Steps {
    Work(Outcome<Next>),
    Wait(Box<dyn Pending>),
}

impl Pending for Steps {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        loop {
            match self {
                Steps::Wait(pending) => return pending.poll(cx),
                Steps::Work(outcome) => match ready!(outcome.poll(cx)) {
                    None => return Poll::Ready(broken()),
                    Some(Next::Answer(response)) => return Poll::Ready(response),
                    Some(Next::Wait(pending)) => *self = Steps::Wait(pending),
                },
            }
        }
    }
}

/// The answer of work that may be long; 503 where too much waits already.
pub fn pieces_of(
    workers: Arc<dyn Workers>,
    work: impl FnOnce() -> Opened + Send + 'static,
) -> Answer {
    let memory = workers.memory().clone();
    let work = move || work().fitting(&memory);
    match hand_over(&*workers, Length::Long, work) {
        Ok(outcome) => Answer::Pieces(Box::new(Elsewhere {
            workers,
            outcome,
            made: None,
        })),
        Err(_) => Answer::Now(too_busy()),
    }
}

struct Elsewhere {
    workers: Arc<dyn Workers>,
    outcome: Outcome<Opened>,
    made: Option<Made>,
}

impl Pieces for Elsewhere {
    fn poll_opening(&mut self, cx: &mut Context<'_>) -> Poll<Opening> {
        Poll::Ready(match ready!(self.outcome.poll(cx)) {
            None => Opening::Whole(broken()),
            Some(Opened::Whole(response)) => Opening::Whole(response),
            Some(Opened::Begun(response, source)) => {
                self.made = Some(Made::new(self.workers.clone(), source));
                Opening::Begun(response)
            }
        })
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BrokenOff>> {
        match &mut self.made {
            Some(made) => made.poll(cx),
            None => Poll::Ready(Ok(None)),
        }
    }
}
