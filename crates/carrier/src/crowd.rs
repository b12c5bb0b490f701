//! Who waits for what many wait for.
//!
//! A message that a thousand subscribers want makes a thousand tasks ready at once, and under load all of
//! them always are. A runtime's queue is first come, first served: whoever publishes next would stand behind
//! all thousand of them, and with the answer once more. Here those who are told together come forward a
//! few at a time, in the order in which they were told; a task that its own socket woke stands behind those
//! few.
//!
//! Each thread has a crowd of its own and an [`usher`], a task of that thread. Without one everybody comes
//! forward at once, as tasks do that know nothing of this.

use crate::limits::CROWD_AT_ONCE;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

thread_local! {
    static CROWD: Arc<Crowd> = Arc::default();
}

/// Where one connection waits for what others wait for too.
#[derive(Default)]
pub struct Place {
    visitor: Option<Arc<Visitor>>,
}

impl Place {
    /// What wakes the task of `cx` in its turn; for what is told to many at once.
    pub fn waker(&mut self, cx: &Context<'_>) -> Waker {
        let of_task = |visitor: &Arc<Visitor>| visitor.task.will_wake(cx.waker());
        let visitor = self.visitor.take().filter(of_task);
        let visitor = visitor.unwrap_or_else(|| Visitor::new(cx.waker().clone()));
        self.visitor.insert(visitor).clone().into()
    }
}

/// Lets the crowd of this thread forward, a few a turn, for as long as it is polled.
pub fn usher() -> Usher {
    let crowd = CROWD.with(Arc::clone);
    crowd.line().is_attended = true;
    Usher {
        crowd,
        forward: Vec::with_capacity(CROWD_AT_ONCE),
    }
}

/// The task that lets a crowd forward; once it is dropped, nobody waits any more.
pub struct Usher {
    crowd: Arc<Crowd>,
    /// Those of one turn; empty between turns.
    forward: Vec<Arc<Visitor>>,
}

#[derive(Default)]
struct Crowd {
    line: Mutex<Line>,
}

/// Who waits, and how many came forward since the usher's last turn.
#[derive(Default)]
struct Line {
    waiting: VecDeque<Arc<Visitor>>,
    forward: usize,
    is_attended: bool,
    /// The usher's, while it has nothing to do.
    usher: Option<Waker>,
}

/// A task on the way to its turn.
struct Visitor {
    crowd: Arc<Crowd>,
    task: Waker,
    waits: AtomicBool,
}

impl Future for Usher {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { crowd, forward } = &mut *self;
        crowd.line().next(forward, cx);
        if !forward.is_empty() {
            forward.drain(..).for_each(|visitor| visitor.come());
            // Behind those who came forward, and so before whoever is let forward next.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Drop for Usher {
    fn drop(&mut self) {
        let waiting = {
            let mut line = self.crowd.line();
            line.is_attended = false;
            std::mem::take(&mut line.waiting)
        };
        waiting.into_iter().for_each(|visitor| visitor.come());
    }
}

impl Crowd {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    /// Those whose turn it is; without any the usher is woken by the next that comes.
    fn next(&mut self, forward: &mut Vec<Arc<Visitor>>, cx: &Context<'_>) {
        let turn = self.waiting.len().min(CROWD_AT_ONCE);
        forward.extend(self.waiting.drain(..turn));
        self.forward = turn;
        self.usher = (turn == 0).then(|| cx.waker().clone());
    }

    /// Whether one that is told now need not wait.
    fn is_open(&mut self) -> bool {
        if !self.is_attended {
            return true;
        }
        let open = self.waiting.is_empty() && self.forward < CROWD_AT_ONCE;
        self.forward += usize::from(open);
        open
    }
}

impl Visitor {
    fn new(task: Waker) -> Arc<Self> {
        Arc::new(Self {
            crowd: CROWD.with(Arc::clone),
            task,
            waits: AtomicBool::new(false),
        })
    }

    fn come(&self) {
        // What is told from here on is for another turn.
        self.waits.store(false, Ordering::Release);
        self.task.wake_by_ref();
    }
}

impl Wake for Visitor {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.waits.swap(true, Ordering::AcqRel) {
            return;
        }
        let (open, usher) = {
            let mut line = self.crowd.line();
            let open = line.is_open();
            if !open {
                line.waiting.push_back(self.clone());
            }
            (open, line.usher.take())
        };
        if open {
            self.come();
        }
        // Behind the first that came: its turn ends when they had theirs.
        usher.into_iter().for_each(Waker::wake);
    }
}
