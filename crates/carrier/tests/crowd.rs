//! Many who are told at once, and one who is not among them.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes the tasks that wait"
)]

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use tokio::runtime;
use tokio::task::{LocalSet, spawn_local, yield_now};
use weir_carrier::crowd::{Place, usher};
use weir_carrier::limits::CROWD_AT_ONCE;

const MANY: usize = 1000;
const PUBLISHER: usize = usize::MAX;

/// What wakes the visitors, and who came.
#[derive(Default)]
struct Hall {
    wakers: RefCell<Vec<Waker>>,
    came: RefCell<Vec<usize>>,
}

impl Hall {
    /// Tasks that come once for every time that they are told.
    async fn of(visitors: usize) -> Rc<Self> {
        let hall = Rc::new(Self::default());
        for number in 0..visitors {
            spawn_local(visitor(number, hall.clone()));
        }
        while hall.wakers.borrow().len() < visitors {
            yield_now().await;
        }
        hall
    }

    fn tell_all(&self) {
        self.wakers.borrow().iter().for_each(Waker::wake_by_ref);
    }

    async fn until_came(&self, visits: usize) {
        while self.came.borrow().len() < visits {
            yield_now().await;
        }
    }
}

async fn visitor(number: usize, hall: Rc<Hall>) {
    let mut place = Place::default();
    let mut is_there = false;
    poll_fn(|cx| -> Poll<()> {
        match std::mem::replace(&mut is_there, true) {
            true => hall.came.borrow_mut().push(number),
            false => hall.wakers.borrow_mut().push(place.waker(cx)),
        }
        Poll::Pending
    })
    .await;
}

/// A task that comes when its own waker is woken.
async fn publisher(hall: Rc<Hall>) -> Waker {
    let waker = Rc::new(RefCell::new(None::<Waker>));
    let kept = waker.clone();
    spawn_local(poll_fn(move |cx| -> Poll<()> {
        if kept.replace(Some(cx.waker().clone())).is_some() {
            hall.came.borrow_mut().push(PUBLISHER);
        }
        Poll::Pending
    }));
    while waker.borrow().is_none() {
        yield_now().await;
    }
    waker
        .take()
        .inspect(|it| *waker.borrow_mut() = Some(it.clone()))
        .unwrap()
}

fn run(test: impl Future<Output = ()>) {
    let runtime = runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(LocalSet::new().run_until(test));
}

#[test]
fn who_is_woken_by_its_socket_stands_behind_a_few_only() {
    run(async {
        spawn_local(usher());
        let hall = Hall::of(MANY).await;
        let publisher = publisher(hall.clone()).await;
        hall.tell_all();
        publisher.wake();
        hall.until_came(MANY + 1).await;
        let came = hall.came.borrow();
        let before = came.iter().position(|&who| who == PUBLISHER).unwrap();
        assert!(before <= 2 * CROWD_AT_ONCE, "{before}");
        let crowd = came.iter().filter(|&&who| who != PUBLISHER);
        assert!(
            crowd.copied().eq(0..MANY),
            "in the order in which they were told"
        );
    });
}

#[test]
fn without_an_usher_all_come_at_once() {
    run(async {
        let hall = Hall::of(MANY).await;
        let publisher = publisher(hall.clone()).await;
        hall.tell_all();
        publisher.wake();
        hall.until_came(MANY + 1).await;
        assert_eq!(hall.came.borrow().last(), Some(&PUBLISHER));
    });
}

#[test]
fn nobody_waits_for_an_usher_that_left() {
    run(async {
        let usher = spawn_local(usher());
        let hall = Hall::of(MANY).await;
        hall.tell_all();
        usher.abort();
        hall.until_came(MANY).await;
        hall.tell_all();
        hall.until_came(2 * MANY).await;
    });
}

#[test]
fn who_is_told_twice_while_it_waits_comes_once() {
    run(async {
        spawn_local(usher());
        let hall = Hall::of(MANY).await;
        hall.tell_all();
        hall.tell_all();
        hall.until_came(MANY).await;
        for _ in 0..MANY {
            yield_now().await;
        }
        // Those who came forward at once had no place in the line to be told at twice.
        let again = hall.came.borrow().len() - MANY;
        assert!(again <= CROWD_AT_ONCE, "{again}");
        hall.came.borrow_mut().clear();
        hall.tell_all();
        hall.until_came(MANY).await;
    });
}
