//! Pushes observations to event sinks: a task for each subscription, so that a sink that fails or is slow costs
//! itself only.
//!
//! What waits for a sink waits in the hub's queue of its group, which is bounded; what the sink is too late for is
//! told as missed, and so is what is too long for an envelope of the profile. What it deliberately does not do: HTTP,
//! which the binding's client has.

use crate::eventing::event::{end, notification, parts};
use crate::eventing::{Agreement, Ending, Job, Subscriptions};
use crate::limits::{FAREWELL_TIME_MAX, PUSH_ATTEMPTS, PUSH_TIME_MAX};
use bytes::Bytes;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use weir_binding::{Caller, Gateway, LocalFuture, Post};
use weir_carrier::clock::{Timer, now};
use weir_codec::document::soap::Version;
use weir_hub::{Next, Subscription};

/// Serves subscriptions as they come, until the gateway drains.
pub(crate) async fn run(subscriptions: Arc<Subscriptions>, gateway: Arc<dyn Gateway>) {
    let mut draining = gateway.draining();
    poll_fn(|cx| {
        for job in subscriptions.take_new(cx) {
            let work = serve(job, subscriptions.clone(), gateway.clone());
            drop(tokio::task::spawn_local(work));
        }
        draining.as_mut().poll(cx)
    })
    .await;
}

/// Serves one subscription to its end, and tells that where it is to be told.
async fn serve(job: Job, subscriptions: Arc<Subscriptions>, gateway: Arc<dyn Gateway>) {
    let agreement = job.agreement;
    let mut watch = Watch {
        agreement: agreement.clone(),
        draining: gateway.draining(),
        gateway: gateway.clone(),
        timer: Timer::default(),
    };
    let why = push_all(job.messages, &mut watch).await;
    subscriptions.remove(&agreement.id);
    agreement.end(why);
    tracing::debug!(id = agreement.id, ?why, "a subscription of events ended");
    let Some((endpoint, message)) = end(&agreement, why) else {
        return;
    };
    let told = async {
        let mut caller = gateway.poster(&endpoint.address, None)?;
        let post = Post::new(Version::V12.media(), message.into());
        caller.post(post).await
    };
    // Whoever is not there any more is not told.
    let _told = within(told, FAREWELL_TIME_MAX).await;
}

/// Pushes until the subscription is over, and says why it is.
async fn push_all(mut messages: Box<Subscription>, watch: &mut Watch) -> Ending {
    let mut missed = 0;
    let tally = watch.gateway.tally("dpws", "push");
    let address = watch.agreement.notify_to.address.clone();
    let Ok(mut caller) = watch.gateway.poster(&address, None) else {
        return Ending::DeliveryFailure;
    };
    loop {
        let next = match watch
            .unless_over(poll_fn(|cx| messages.poll_next(cx)))
            .await
        {
            Ok(next) => next,
            Err(why) => return why,
        };
        let (items, cursor) = match next {
            Ok(Next::Items(items, cursor)) => (items, cursor),
            Ok(Next::Gap(gap, _)) => {
                missed += gap.count.unwrap_or(1);
                continue;
            }
            Ok(Next::Bytes(..) | Next::Unframed(..)) => continue,
            Ok(Next::Ended(weir_hub::Ending::Stopping)) => return Ending::SourceShuttingDown,
            Ok(Next::Ended(_)) | Err(_) => return Ending::SourceCanceling,
        };
        for part in parts(&watch.agreement, cursor, &items) {
            let Some(rows) = part else {
                missed += 1;
                continue;
            };
            let message = notification(&watch.agreement, &rows, cursor, missed);
            if let Err(why) = push(&mut *caller, message.into(), watch).await {
                return why;
            }
            tally.send(1);
            missed = 0;
        }
    }
}

/// Pushes one notification, again where the sink does not take it.
async fn push(caller: &mut dyn Caller, message: Bytes, watch: &mut Watch) -> Result<(), Ending> {
    let (attempts, mut wait) = PUSH_ATTEMPTS;
    for attempt in 1..=attempts {
        let posted = caller.post(Post::new(Version::V12.media(), message.clone()));
        match watch.unless_over(within(posted, PUSH_TIME_MAX)).await? {
            Some(Ok((200..=299, _))) => return Ok(()),
            refused => log(&watch.agreement, attempt, &refused),
        }
        if attempt < attempts {
            watch.unless_over(weir_carrier::clock::pause(wait)).await?;
            wait *= 2;
        }
    }
    Err(Ending::DeliveryFailure)
}

fn log(agreement: &Agreement, attempt: u32, refused: &Option<io::Result<(u16, Bytes)>>) {
    let why = match refused {
        None => "no answer in time".to_owned(),
        Some(Ok((status, _))) => format!("status {status}"),
        Some(Err(error)) => error.to_string(),
    };
    let sink = &agreement.notify_to.address;
    tracing::debug!(
        sink,
        attempt,
        why,
        "an event sink did not take a notification"
    );
}

/// What ends a subscription beside its own messages.
struct Watch {
    agreement: Arc<Agreement>,
    gateway: Arc<dyn Gateway>,
    draining: LocalFuture<'static, ()>,
    timer: Timer,
}

impl Watch {
    /// What the work comes to, unless the subscription is over before.
    async fn unless_over<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Ending> {
        let mut work = pin!(work);
        poll_fn(|cx| match self.poll(cx) {
            Poll::Ready(why) => Poll::Ready(Err(why)),
            Poll::Pending => work.as_mut().poll(cx).map(Ok),
        })
        .await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ending> {
        if self.draining.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ending::SourceShuttingDown);
        }
        loop {
            let expires = match self.agreement.poll(cx) {
                Ok(expires) => expires.nanos(),
                Err(why) => return Poll::Ready(why),
            };
            let left = expires.saturating_sub(self.gateway.now().nanos());
            let Some(left) = u64::try_from(left).ok().filter(|left| *left > 0) else {
                return Poll::Ready(Ending::Expired);
            };
            if !self.timer.poll_due(cx, now() + Duration::from_nanos(left)) {
                return Poll::Pending;
            }
        }
    }
}

/// What the work comes to, where that is soon enough.
async fn within<T>(work: impl Future<Output = T>, most: Duration) -> Option<T> {
    let (mut work, mut timer, until) = (pin!(work), Timer::default(), now() + most);
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if timer.poll_due(cx, until) => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}
