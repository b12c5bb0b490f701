//! Bridges: this gateway as a client of a broker of AMQP, 0.9.1 or 1.0, so that one that is there can stay.
//!
//! What it deliberately does not do: no queue of its own. What goes out is read from the log, from where the
//! broker has confirmed it; what comes in is acknowledged when it is in the log. The decision worth arguing: all
//! is at least once, so the whole memory of a bridge is a cursor and what its queue there is bound to.

mod inward;
mod kept;
mod outward;
mod running;
mod settings;

pub(super) use settings::{Plan, read};

use super::client::{Url, Version, machine, open_stream, options, versions};
use crate::client::{Machine, Options};
use kept::Kept;
use running::{End, Running};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use weir_binding::bridge::{HERE, Told, Wary, measure, remember};
use weir_binding::{Context as Gateway, LocalFuture, Target};
use weir_carrier::Stream;
use weir_carrier::backoff::Backoff;
use weir_carrier::clock::{now, pause};

/// What a record keeps of a bridge, read and written again; `None` for what is none.
pub(super) fn rewritten(bytes: &[u8]) -> Option<bytes::Bytes> {
    Kept::read(bytes).map(|kept| kept.write())
}

/// How long a connection may take until it is there.
const OPEN_TIME_MAX: Duration = Duration::from_secs(20);
/// A connection that lasted so long was a good one, and so is one that has got something out.
const GOOD_TIME: Duration = Duration::from_secs(10);

/// The bridges, each to run until it is dropped.
pub(super) fn all(
    plans: &[Arc<Plan>],
    here: &Arc<str>,
    context: &Arc<dyn Gateway>,
) -> Vec<LocalFuture<'static, ()>> {
    let each = plans.iter().map(|plan| {
        let bridge = Bridge::new(plan.clone(), here.clone(), context.clone());
        let run: LocalFuture<'static, ()> = Box::pin(run(bridge));
        run
    });
    each.collect()
}

/// One bridge.
struct Bridge {
    plan: Arc<Plan>,
    /// This gateway.
    here: Arc<str>,
    /// What its messages are marked with, and the key of its record.
    origin: String,
    context: Arc<dyn Gateway>,
    kept: Kept,
    /// What the log holds of that, where it has taken any.
    recorded: Option<Kept>,
    wary: Wary,
    url: Url,
    /// Which of the URL's versions is spoken.
    version: usize,
    told: Told,
}

async fn run(mut bridge: Bridge) {
    bridge.told.state(false);
    let mut backoff = Backoff::new(bridge.plan.retry_max);
    loop {
        let (began, confirmed) = (now(), bridge.kept.confirmed);
        let end = bridge.connect().await;
        if now().since(began) >= GOOD_TIME || bridge.kept.confirmed > confirmed {
            backoff.reset();
        }
        if end == End::Stopping {
            return;
        }
        if bridge.tries_another(&end) {
            continue;
        }
        measure(&*bridge.context, &bridge.told, bridge.kept.confirmed);
        let wait = backoff.wait();
        let sentence = bridge.sentence(end);
        bridge.told.lost(&sentence, wait);
        pause(wait).await;
    }
}

impl Bridge {
    fn new(plan: Arc<Plan>, here: Arc<str>, context: Arc<dyn Gateway>) -> Self {
        // Beside those of MQTT's bridges, which have their bare names.
        let name = format!("amqp/{}", plan.name);
        let origin = format!("{HERE}/{name}");
        let known = context.hub().consumer(&origin);
        let mut recorded = known.and_then(|bytes| Kept::read(&bytes));
        let kept = recorded.clone().unwrap_or_else(|| Kept {
            // From the first start on nothing is missed, whether or not the broker is there.
            confirmed: context.hub().positions().1,
            bound: Vec::new(),
        });
        if recorded.is_none() && remember(&*context, &origin, kept.write()) {
            recorded = Some(kept.clone());
        }
        Self {
            told: Told::new(&name, context.clone()),
            url: plan.url.clone(),
            recorded,
            version: 0,
            wary: Wary::default(),
            kept,
            origin,
            here,
            context,
            plan,
        }
    }

    /// One connection, from its opening to its end.
    async fn connect(&mut self) -> End {
        if let Err(end) = self.foresee().await {
            return end;
        }
        let opened = tokio::time::timeout(OPEN_TIME_MAX, self.open()).await;
        let stream = match opened {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return End::Lost(self.cannot(&error.to_string())),
            Err(_) => return End::Lost(self.cannot("no answer")),
        };
        let mut running = Running::new(self, stream);
        let end = poll_fn(|cx| running.poll(cx)).await;
        running.ended(&end);
        let was_open = running.was_open();
        drop(running);
        if was_open {
            self.told.state(false);
            // It may come back as another version of itself.
            self.version = 0;
        }
        end
    }

    /// Has on disk what will be subscribed to, before anything is: what is kept there and not known here is never
    /// ended, and a crash may come right behind the broker's answer.
    async fn foresee(&mut self) -> Result<(), End> {
        for filter in self.plan.remote_filters() {
            if !self.kept.bound.contains(&filter) {
                self.kept.bound.push(filter);
            }
        }
        if self.recorded.as_ref() == Some(&self.kept) {
            return Ok(());
        }
        let (gateway, now) = (self.context.hub().internal(), self.context.now());
        let Ok(ticket) = gateway.remember(now, &self.origin, self.kept.write()) else {
            return Err(End::Lost(
                "the log takes no record of the bridge now".into(),
            ));
        };
        let written = poll_fn(|cx| ticket.poll(cx)).await;
        written.map_err(|_| End::Stopping)?;
        self.recorded = Some(self.kept.clone());
        Ok(())
    }

    async fn open(&self) -> std::io::Result<Stream> {
        open_stream(&self.url, &self.target()).await
    }

    fn target(&self) -> Target {
        Target {
            url: String::new(),
            format: &weir_codec::FORMATS[0],
            credential: None,
            roots: self.plan.roots.clone(),
            keys: None,
        }
    }

    fn cannot(&self, reason: &str) -> String {
        format!("cannot connect to {}: {reason}", self.plan.shown)
    }

    fn version(&self) -> Version {
        let versions = versions(&self.url);
        versions[self.version.min(versions.len() - 1)]
    }

    /// The client's half, which asks for all that the lines want.
    fn machine(&self) -> Box<dyn Machine> {
        let plan = &self.plan;
        let filters: Vec<String> = plan.remote_filters();
        let is_ended = |filter: &&String| !filters.contains(filter);
        let name = format!("weir-{}-{:.8}", plan.name, self.here);
        let login = plan.login.clone();
        let options = Options {
            login: login.map(|(user, password)| (user, password.unwrap_or_default())),
            queue: Some(plan.queue.clone().unwrap_or_else(|| name.clone())),
            ended: self.kept.bound.iter().filter(is_ended).cloned().collect(),
            prefetch: plan.prefetch,
            idle_secs: plan.idle_secs,
            publishes: !plan.outward.is_empty(),
            filters,
            ..options(&self.url, &self.target())
        };
        machine(self.version(), options, name)
    }

    /// Says whether another version is to be tried at once.
    fn tries_another(&mut self, end: &End) -> bool {
        let is_other = matches!(end, End::Version(_) | End::Unanswered);
        let tries = is_other && self.version + 1 < versions(&self.url).len();
        self.version = if tries { self.version + 1 } else { 0 };
        tries
    }

    fn sentence(&self, end: End) -> String {
        let url = &self.plan.shown;
        let who = match &self.plan.login {
            Some((user, _)) => format!("user `{user}`"),
            None => "a client without user and password".into(),
        };
        match end {
            End::Lost(sentence) | End::Broken(sentence) => sentence,
            End::Unanswered => format!(
                "{url} closed the connection without an answer, as some brokers do that refuse {who}"
            ),
            End::Version(reason) => format!("{url}: {reason}"),
            End::Stopping => "the gateway is stopping".into(),
            End::Refused(reason) => format!("{url} refuses {who}: {reason}"),
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.told.state(false);
    }
}
