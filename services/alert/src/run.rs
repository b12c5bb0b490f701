//! Alerts at work: a task for each, so that an address that is slow or away holds up its own only.
#![allow(
    clippy::disallowed_methods,
    reason = "drivers run a task for each alert"
)]

use crate::address::Address;
use crate::kept::Kept;
use crate::letter::Letter;
use crate::limits::{IDLE, RETRY};
use crate::plan::Plan;
use crate::quiet::Quiet;
use crate::told::Told;
use crate::verdict::Verdict;
use std::future::poll_fn;
use std::sync::Arc;
use tokio::time::timeout;
use weir_binding::{Gateway, LocalFuture};
use weir_carrier::clock::pause;
use weir_hub::{Gap, GapReason, Item, Next, Shape, Since, Subscribe, Subscription};
use weir_model::Cursor;

/// Runs all of them until the gateway drains.
pub(crate) async fn all(alerts: Vec<Alert>, draining: impl Fn() -> LocalFuture<'static, ()>) {
    for alert in alerts {
        let draining = draining();
        drop(tokio::task::spawn_local(async move {
            tokio::select! {
                () = draining => {}
                () = alert.run() => {}
            }
        }));
    }
    draining().await;
}

/// An alert at work.
pub(crate) struct Alert {
    plan: Arc<Plan>,
    context: Arc<dyn Gateway>,
    kept: Kept,
    quiet: Quiet,
    told: Told,
}

impl Alert {
    /// One that tells what comes from now on, or from where it was.
    pub(crate) fn new(plan: Arc<Plan>, context: Arc<dyn Gateway>) -> Self {
        Self {
            kept: Kept::of(&*context, &plan.name),
            quiet: Quiet::new(plan.quiet),
            told: Told::new(&plan, &*context),
            plan,
            context,
        }
    }

    /// Until the hub stops. What comes faster than it is posted waits in the log, from which it is read on.
    async fn run(mut self) {
        loop {
            match self.subscribe() {
                Ok(subscription) => {
                    if self.follow(subscription).await.is_none() {
                        return;
                    }
                }
                Err(reason) => {
                    self.told.waits(reason);
                    pause(RETRY.1).await;
                }
            }
        }
    }

    fn subscribe(&self) -> Result<Box<Subscription>, String> {
        let subscribe = Subscribe {
            condition: self.plan.condition.clone(),
            unit: self.plan.unit.clone(),
            since: Since::Cursor(self.kept.cursor),
            // What is told stays told: nothing that a crash undoes.
            committed: true,
            ..Subscribe::new(self.plan.filters.clone(), Shape::Items)
        };
        let gateway = self.context.hub().internal().at(self.context.now());
        let subscribed = gateway.subscribe(subscribe);
        subscribed.map_err(|fault| fault.to_string())
    }

    /// Follows a subscription to its end; nothing where the hub has stopped.
    async fn follow(&mut self, mut subscription: Box<Subscription>) -> Option<()> {
        self.told.begins(subscription.uncompared());
        loop {
            let (_, committed) = self.context.hub().positions();
            let next = timeout(IDLE, poll_fn(|cx| subscription.poll_next(cx))).await;
            self.told.uncompared(subscription.uncompared());
            match next {
                Ok(Ok(Next::Items(items, cursor))) => self.tell(&items, cursor).await,
                // It was slower than the queue is long: what was dropped there is in the log.
                Ok(Ok(Next::Gap(gap, _))) if gap.reason == GapReason::Policy => return Some(()),
                Ok(Ok(Next::Gap(gap, cursor))) => self.missed(&gap, cursor),
                Ok(Ok(Next::Bytes(..) | Next::Unframed(..))) => {}
                Ok(Ok(Next::Ended(_))) => return None,
                Ok(Err(fault)) => {
                    self.told.waits(fault.to_string());
                    pause(RETRY.0).await;
                    return Some(());
                }
                // Nothing was wanted of what was on disk before the wait.
                Err(_) if subscription.is_live() => self.kept.pass(&*self.context, committed),
                Err(_) => {}
            }
        }
    }

    fn missed(&mut self, gap: &Gap, cursor: Cursor) {
        self.told.gap(gap);
        self.kept.remember(&*self.context, cursor);
    }

    async fn tell(&mut self, items: &[Item], cursor: Cursor) {
        for item in items {
            self.post(item).await;
        }
        self.kept.remember(&*self.context, cursor);
    }

    /// Posts what is to be told of a message until it is taken, or refused for good.
    async fn post(&mut self, item: &Item) {
        let part = item.selected();
        let Some(batch) = part.as_ref().or(item.message.batch()) else {
            return;
        };
        let Some(due) = self.quiet.left(batch, self.context.now()) else {
            return;
        };
        let (plan, key) = (self.plan.clone(), item.message.cursor.to_string());
        let letter = Letter {
            alert: &plan.name,
            batch: &due,
            key: &key,
            now: self.context.now(),
        };
        for address in &plan.addresses {
            self.deliver(address, &letter).await;
        }
    }

    async fn deliver(&mut self, address: &Address, letter: &Letter<'_>) {
        let mut wait = RETRY.0;
        loop {
            match address.take(&*self.context, letter).await {
                Verdict::Taken => return self.told.taken(),
                Verdict::Never(reason) => return self.told.refused(letter.key, &reason),
                Verdict::Later(reason) => self.told.waits(reason),
            }
            pause(wait).await;
            wait = (wait * 2).min(RETRY.1);
        }
    }
}
