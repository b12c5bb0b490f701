//! Alerts at work: a task for each, so that an address that is slow or away holds up its own only.
#![allow(
    clippy::disallowed_methods,
    reason = "drivers run a task for each alert"
)]

use crate::kept::Kept;
use crate::limits::{IDLE, POST_TIME_MAX, RETRY};
use crate::plan::Plan;
use crate::quiet::Quiet;
use crate::told::Told;
use bytes::Bytes;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use tokio::time::timeout;
use weir_binding::{Caller, Context, LocalFuture, Post};
use weir_carrier::clock::pause;
use weir_codec::{FORMATS, Format, by_name};
use weir_hub::{
    Exchange, Gap, GapReason, Item, Next, Principal, Request, Shape, Since, Subscribe, Subscription,
};
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
    context: Arc<dyn Context>,
    kept: Kept,
    quiet: Quiet,
    told: Told,
    /// What is posted is in this.
    format: &'static Format,
}

/// What an address says of a message.
enum Verdict {
    Taken,
    /// Not now; why.
    Later(String),
    /// Not ever; why.
    Never(String),
}

impl Alert {
    /// One that tells what comes from now on, or from where it was.
    pub(crate) fn new(plan: Arc<Plan>, context: Arc<dyn Context>) -> Self {
        Self {
            kept: Kept::of(&*context, &plan.name),
            quiet: Quiet::new(plan.quiet),
            told: Told::new(&plan, &*context),
            format: by_name("json").unwrap_or(&FORMATS[0]),
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
            since: Since::Cursor(self.kept.cursor),
            // What is told stays told: nothing that a crash undoes.
            committed: true,
            ..Subscribe::new(self.plan.filters.clone(), Shape::Items)
        };
        let request = Request::Subscribe(subscribe);
        let (now, principal) = (self.context.now(), Principal::gateway());
        match self.context.hub().open(now, &principal, request) {
            Ok(Exchange::Subscription(subscription)) => Ok(subscription),
            Ok(_) => Err("the hub gives no subscription".into()),
            Err(fault) => Err(fault.to_string()),
        }
    }

    /// Follows a subscription to its end; nothing where the hub has stopped.
    async fn follow(&mut self, mut subscription: Box<Subscription>) -> Option<()> {
        loop {
            let (_, committed) = self.context.hub().positions();
            let next = timeout(IDLE, poll_fn(|cx| subscription.poll_next(cx))).await;
            match next {
                Ok(Ok(Next::Items(items, cursor))) => self.tell(&items, cursor).await,
                // It was slower than the queue is long: what was dropped there is in the log.
                Ok(Ok(Next::Gap(gap, _))) if gap.reason == GapReason::Policy => return Some(()),
                Ok(Ok(Next::Gap(gap, cursor))) => self.missed(&gap, cursor),
                Ok(Ok(Next::Bytes(..))) => {}
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
        let mut body = Vec::new();
        (self.format.encode)(&due, &mut body);
        let (body, key) = (Bytes::from(body), item.message.cursor.to_string());
        let mut wait = RETRY.0;
        loop {
            match self.posted(body.clone(), &key).await {
                Verdict::Taken => return self.told.taken(),
                Verdict::Never(reason) => return self.told.refused(&reason),
                Verdict::Later(reason) => self.told.waits(reason),
            }
            pause(wait).await;
            wait = (wait * 2).min(RETRY.1);
        }
    }

    /// Posts once. The key is the message's cursor, by which an address knows what it had before a crash.
    async fn posted(&self, body: Bytes, key: &str) -> Verdict {
        let mut fields = vec![("Idempotency-Key", key)];
        let authorization = self.plan.authorization.as_deref();
        fields.extend(authorization.map(|token| ("Authorization", token)));
        let post = Post {
            media: self.format.media,
            body,
            fields: &fields,
        };
        let mut caller = match self.caller() {
            Ok(caller) => caller,
            Err(error) => return Verdict::Later(error.to_string()),
        };
        match timeout(POST_TIME_MAX, caller.post(post)).await {
            Ok(Ok((status, answer))) => verdict(status, &answer),
            Ok(Err(error)) => Verdict::Later(error.to_string()),
            Err(_) => Verdict::Later(format!("no answer in {} s", POST_TIME_MAX.as_secs())),
        }
    }

    fn caller(&self) -> io::Result<Box<dyn Caller>> {
        let url = &self.plan.url;
        let Some(binding) = self.context.client(url) else {
            let scheme = url.split(':').next().unwrap_or_default();
            let sentence =
                format!("nothing here posts to `{scheme}:`; http and https are possible");
            return Err(io::Error::new(io::ErrorKind::Unsupported, sentence));
        };
        binding.caller(url)
    }
}

/// What a status says (RFC 9110 section 15): some pass (RFC 6585 section 4, RFC 8470 section 5.2).
fn verdict(status: u16, answer: &[u8]) -> Verdict {
    let reason = || {
        let answer = String::from_utf8_lossy(answer);
        let first: String = answer
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(200)
            .collect();
        match first.is_empty() {
            true => format!("it answers {status}"),
            false => format!("it answers {status}: {first}"),
        }
    };
    match status {
        200..=299 => Verdict::Taken,
        408 | 425 | 429 | 500..=599 => Verdict::Later(reason()),
        _ => Verdict::Never(reason()),
    }
}
