//! Whose turn it is to read the past: of all who catch up few do so at once, each a part, in the order in which
//! they asked. Reading computes, and would else stand before whoever is up to date on the same threads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

/// Turns that many want and few have.
#[derive(Debug)]
pub(crate) struct Turns {
    line: Mutex<Line>,
}

#[derive(Debug)]
struct Line {
    free: usize,
    waiting: VecDeque<Weak<Waiting>>,
}

/// Where one stands who wants turns.
#[derive(Debug, Default)]
pub(crate) struct Place(Option<Arc<Waiting>>);

#[derive(Debug)]
struct Waiting {
    turns: Arc<Turns>,
    /// It has a turn that it did not take yet.
    called: AtomicBool,
    waker: Mutex<Waker>,
}

/// A turn, for as long as it is kept.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Turns>);

impl Turns {
    /// So many at once.
    pub(crate) fn new(at_once: usize) -> Arc<Self> {
        let line = Line {
            free: at_once.max(1),
            waiting: VecDeque::new(),
        };
        Arc::new(Self {
            line: Mutex::new(line),
        })
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn is over: the next one's begins.
    fn pass_on(&self) {
        let mut line = self.line();
        let next = loop {
            match line.waiting.pop_front().map(|next| next.upgrade()) {
                None => {
                    line.free += 1;
                    return;
                }
                // Who left waits no more.
                Some(None) => {}
                Some(Some(next)) => break next,
            }
        };
        drop(line);
        next.called.store(true, Ordering::Release);
        let waker = next.waker().clone();
        waker.wake();
    }

    /// A turn, once it is one's own; else `cx` is woken then.
    pub(crate) fn poll(self: &Arc<Self>, place: &mut Place, cx: &Context<'_>) -> Poll<Turn> {
        if let Some(waiting) = &place.0 {
            waiting.waker().clone_from(cx.waker());
            if !waiting.called.swap(false, Ordering::Acquire) {
                return Poll::Pending;
            }
            place.0 = None;
            return Poll::Ready(Turn(self.clone()));
        }
        let mut line = self.line();
        if line.free > 0 {
            line.free -= 1;
            return Poll::Ready(Turn(self.clone()));
        }
        let waiting = Arc::new(Waiting {
            turns: self.clone(),
            called: AtomicBool::new(false),
            waker: Mutex::new(cx.waker().clone()),
        });
        line.waiting.push_back(Arc::downgrade(&waiting));
        place.0 = Some(waiting);
        Poll::Pending
    }
}

impl Waiting {
    fn waker(&self) -> MutexGuard<'_, Waker> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if *self.called.get_mut() {
            self.turns.pass_on();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    #[derive(Default)]
    struct Told(AtomicUsize);

    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn turns_come_in_the_order_of_asking_and_pass_over_who_left() {
        let turns = Turns::new(1);
        let told: [Arc<Told>; 4] = Default::default();
        let mut places: [Place; 4] = Default::default();
        let mut ask = |number: usize| {
            let waker = told[number].clone().into();
            turns.poll(&mut places[number], &Context::from_waker(&waker))
        };
        let Poll::Ready(first) = ask(0) else {
            panic!("a turn is free");
        };
        assert!((1..4).all(|number| ask(number).is_pending()));
        assert!(ask(1).is_pending(), "it stands once, however often it asks");
        drop(first);
        let counts = || told.each_ref().map(|told| told.0.load(Ordering::Relaxed));
        assert_eq!(counts(), [0, 1, 0, 0]);
        assert!(ask(2).is_pending() && ask(0).is_pending());
        // Who was called and who is next leave without a word.
        places[1] = Place::default();
        assert_eq!(counts(), [0, 1, 1, 0]);
        places[2] = Place::default();
        assert_eq!(counts(), [0, 1, 1, 1]);
        let mut ask = |number: usize| {
            let waker = told[number].clone().into();
            turns.poll(&mut places[number], &Context::from_waker(&waker))
        };
        let third = ask(3);
        assert!(third.is_ready() && ask(0).is_pending());
        drop(third);
        assert!(
            ask(0).is_ready() && ask(1).is_ready(),
            "and then it is free"
        );
    }
}
