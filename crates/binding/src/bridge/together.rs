//! Several futures as one, each polled only when it was woken itself.

use crate::LocalFuture;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Done when all are.
pub struct Together {
    running: Vec<(LocalFuture<'static, ()>, Arc<Flag>)>,
}

/// Says that one of them is to be polled.
#[derive(Default)]
struct Flag {
    woken: AtomicBool,
    whole: Mutex<Option<Waker>>,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        let whole = self.lock().clone();
        whole.into_iter().for_each(Waker::wake);
    }
}

impl Flag {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whom to wake.
    fn follow(&self, waker: &Waker) {
        match &mut *self.lock() {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
    }
}

impl Together {
    /// Of these.
    pub fn new(futures: Vec<LocalFuture<'static, ()>>) -> Self {
        let running = futures.into_iter().map(|future| {
            let flag = Arc::new(Flag::default());
            flag.woken.store(true, Ordering::Release);
            (future, flag)
        });
        Self {
            running: running.collect(),
        }
    }
}

impl Future for Together {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.running.retain_mut(|(future, flag)| {
            flag.follow(cx.waker());
            if !flag.woken.swap(false, Ordering::AcqRel) {
                return true;
            }
            let waker = Waker::from(flag.clone());
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            polled.is_pending()
        });
        match self.running.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    #[test]
    fn only_who_was_woken_is_polled() {
        let counts = Rc::new([Cell::new(0), Cell::new(0)]);
        let kept: Rc<RefCell<Vec<Waker>>> = Rc::default();
        let one = |index: usize| -> LocalFuture<'static, ()> {
            let (counts, kept) = (counts.clone(), kept.clone());
            Box::pin(std::future::poll_fn(move |cx| {
                counts[index].set(counts[index].get() + 1);
                kept.borrow_mut().push(cx.waker().clone());
                match index == 1 && counts[index].get() == 2 {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            }))
        };
        let mut both = Together::new(vec![one(0), one(1)]);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut both).poll(&mut cx).is_pending());
        let second = kept.borrow()[1].clone();
        second.wake();
        assert!(Pin::new(&mut both).poll(&mut cx).is_pending());
        assert!(Pin::new(&mut both).poll(&mut cx).is_pending());
        assert_eq!((counts[0].get(), counts[1].get()), (1, 2));
    }
}
