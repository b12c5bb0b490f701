//! The subscriptions that there are.

use crate::limits::{SUBSCRIPTIONS_MAX, SUBSCRIPTIONS_OF_ONE_MAX};
use crate::names::Generation;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use weir_codec::document::addressing::Endpoint;
use weir_hub::Subscription;
use weir_model::Time;

/// What was agreed with who subscribes.
pub(crate) struct Agreement {
    /// Names it at the manager.
    pub(crate) id: String,
    /// Who may manage it.
    pub(crate) owner: Arc<str>,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) generation: &'static Generation,
    /// Where events go.
    pub(crate) notify_to: Endpoint,
    /// Where its end is told.
    pub(crate) end_to: Option<Endpoint>,
    /// Where it is managed.
    pub(crate) manager: String,
    state: Mutex<State>,
}

struct State {
    expires: Time,
    over: Option<Ending>,
    waker: Option<Waker>,
}

/// Why a subscription is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its time has come.
    Expired,
    /// Its owner does not want it any more.
    Unsubscribed,
    /// Its sink does not take what it is sent.
    DeliveryFailure,
    /// The gateway stops.
    SourceShuttingDown,
    /// The gateway ends it for another reason and goes on: its owner may not read any more.
    SourceCanceling,
}

impl Ending {
    /// `wse:Status`, where the end is told (WS-Eventing section 3.5): who asked for it knows.
    pub(crate) fn status(self) -> Option<&'static str> {
        match self {
            Ending::Expired | Ending::Unsubscribed => None,
            Ending::DeliveryFailure => Some("DeliveryFailure"),
            Ending::SourceShuttingDown => Some("SourceShuttingDown"),
            Ending::SourceCanceling => Some("SourceCanceling"),
        }
    }
}

impl Agreement {
    pub(crate) fn new(
        id: String,
        (owner, peer): (Arc<str>, Option<IpAddr>),
        generation: &'static Generation,
        (notify_to, end_to): (Endpoint, Option<Endpoint>),
        manager: String,
        expires: Time,
    ) -> Self {
        Self {
            id,
            owner,
            peer,
            generation,
            notify_to,
            end_to,
            manager,
            state: Mutex::new(State {
                expires,
                over: None,
                waker: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn expires(&self) -> Time {
        self.state().expires
    }

    pub(crate) fn renew(&self, expires: Time) {
        let mut state = self.state();
        state.expires = expires;
        state.waker.take().into_iter().for_each(Waker::wake);
    }

    pub(crate) fn end(&self, why: Ending) {
        let mut state = self.state();
        state.over.get_or_insert(why);
        state.waker.take().into_iter().for_each(Waker::wake);
    }

    /// Whether it is over, or until when it is not; wakes `cx` when that changes.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Result<Time, Ending> {
        let mut state = self.state();
        state.waker = Some(cx.waker().clone());
        state.over.map_or(Ok(state.expires), Err)
    }
}

/// A subscription that is to be served.
pub(crate) struct Job {
    pub(crate) agreement: Arc<Agreement>,
    pub(crate) messages: Box<Subscription>,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    known: HashMap<String, Arc<Agreement>>,
    /// Those that nobody serves yet.
    new: Vec<Job>,
    waker: Option<Waker>,
}

impl Subscriptions {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says which limit one more would be beyond.
    pub(crate) fn check_room(&self, peer: Option<IpAddr>) -> Result<(), String> {
        let inner = self.inner();
        let of_one = inner.known.values().filter(|own| own.peer == peer).count();
        for (what, count, limit) in [
            ("there are", inner.known.len(), SUBSCRIPTIONS_MAX),
            ("you have", of_one, SUBSCRIPTIONS_OF_ONE_MAX),
        ] {
            if count >= limit {
                return Err(format!(
                    "{what} {limit} subscriptions already, which is all"
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn add(&self, job: Job) {
        let mut inner = self.inner();
        let agreement = job.agreement.clone();
        inner.known.insert(agreement.id.clone(), agreement);
        inner.new.push(job);
        inner.waker.take().into_iter().for_each(Waker::wake);
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Agreement>> {
        self.inner().known.get(id).cloned()
    }

    pub(crate) fn remove(&self, id: &str) {
        self.inner().known.remove(id);
    }

    /// Those that came since the last time; wakes `cx` when there are more.
    pub(crate) fn take_new(&self, cx: &mut Context<'_>) -> Vec<Job> {
        let mut inner = self.inner();
        inner.waker = Some(cx.waker().clone());
        std::mem::take(&mut inner.new)
    }
}
