//! An answer on its way: worked out, on disk where something was inserted, and then whole or in pieces.

use crate::bindings::Form;
use crate::exception::Exception;
use crate::params::Version;
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_hub::{Memory, Ticket};
use weir_service::{
    Answer, BrokenOff, Busy, Counted, Length, Made, Opened, Opening, Outcome, Pieces, Response,
    Workers, hand_over, hand_over_next, too_busy,
};

/// What the work came to: an answer, and what must be on disk before it is given.
pub(crate) struct Worked {
    pub(crate) opened: Opened,
    pub(crate) tickets: Vec<Ticket>,
    pub(crate) form: Form,
}

/// What a job came to.
pub(crate) enum Step {
    Done(Box<Worked>),
    /// More is to be worked before the answer can begin.
    More(Box<dyn FnOnce() -> Step + Send>),
}

impl Counted for Step {
    /// What was read must fit; what was inserted is told whether or not it does.
    fn counted(self, memory: &Arc<Memory>) -> Self {
        match self {
            Step::Done(worked) => {
                let Worked {
                    opened,
                    tickets,
                    form,
                } = *worked;
                let opened = if tickets.is_empty() {
                    opened.fitting(memory)
                } else {
                    opened.counted(memory)
                };
                Step::Done(Box::new(Worked {
                    opened,
                    tickets,
                    form,
                }))
            }
            more => more,
        }
    }
}

/// An answer on its way.
pub(crate) struct Delivered {
    workers: Arc<dyn Workers>,
    stage: Stage,
}

enum Stage {
    Work(Outcome<Step>),
    Disk(Box<Worked>),
    Rest(Made),
    Over,
}

impl Delivered {
    /// The answer that work comes to.
    pub(crate) fn of(
        workers: Arc<dyn Workers>,
        work: impl FnOnce() -> Step + Send + 'static,
    ) -> Answer {
        let memory = workers.memory().clone();
        match hand_over(&*workers, Length::Long, move || work().counted(&memory)) {
            Ok(outcome) => Answer::Pieces(Box::new(Self {
                workers,
                stage: Stage::Work(outcome),
            })),
            Err(Busy) => Answer::Now(too_busy()),
        }
    }
}

impl Pieces for Delivered {
    fn poll_opening(&mut self, cx: &mut Context<'_>) -> Poll<Opening> {
        loop {
            match &mut self.stage {
                Stage::Work(outcome) => match ready!(outcome.poll(cx)) {
                    Some(Step::Done(worked)) => self.stage = Stage::Disk(worked),
                    Some(Step::More(work)) => {
                        let memory = self.workers.memory().clone();
                        let work = move || work().counted(&memory);
                        match hand_over_next(&*self.workers, work) {
                            Ok(outcome) => self.stage = Stage::Work(outcome),
                            Err(Busy) => return Poll::Ready(Opening::Whole(too_busy())),
                        }
                    }
                    None => {
                        let sentence = "the work broke off; the gateway's log says why";
                        return Poll::Ready(Opening::Whole(Response::text(500, sentence)));
                    }
                },
                Stage::Disk(worked) => {
                    let opened = ready!(worked.poll(cx));
                    let (opening, stage) = match opened {
                        Opened::Whole(response) => (Opening::Whole(response), Stage::Over),
                        Opened::Begun(head, source) => {
                            let rest = Made::new(self.workers.clone(), source);
                            (Opening::Begun(head), Stage::Rest(rest))
                        }
                    };
                    self.stage = stage;
                    return Poll::Ready(opening);
                }
                Stage::Rest(_) | Stage::Over => {
                    return Poll::Ready(Opening::Whole(Response::empty(500)));
                }
            }
        }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BrokenOff>> {
        match &mut self.stage {
            Stage::Rest(rest) => loop {
                match ready!(rest.poll(cx)) {
                    // A page of which nothing was wanted.
                    Ok(Some(piece)) if piece.is_empty() => {}
                    piece => return Poll::Ready(piece),
                }
            },
            _ => Poll::Ready(Ok(None)),
        }
    }
}

impl Worked {
    /// Ready once all is on disk.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Opened> {
        while let Some(ticket) = self.tickets.last() {
            if let Err(fault) = ready!(ticket.poll(cx)) {
                let exception = Exception::from(fault);
                let refused = self.form.exception("", Version::default(), &exception);
                return Poll::Ready(Opened::Whole(refused));
            }
            self.tickets.pop();
        }
        let nothing = Opened::Whole(Response::default());
        Poll::Ready(std::mem::replace(&mut self.opened, nothing))
    }
}
