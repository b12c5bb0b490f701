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
use running::{End, Refused, Running};
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use weir_binding::bridge::{self, HERE, Told, Wary, remember, who};
use weir_binding::{Gateway, LocalFuture, Target};
use weir_carrier::Stream;
use weir_model::Cursor;
use weir_sansio::Duration;

/// What a record keeps of a bridge, read and written again; `None` for what is none.
pub(super) fn rewritten(bytes: &[u8]) -> Option<bytes::Bytes> {
    Kept::read(bytes).map(|kept| kept.write())
}

/// The bridges, each to run until it is dropped.
pub(super) fn all(
    plans: &[Arc<Plan>],
    here: &Arc<str>,
    context: &Arc<dyn Gateway>,
) -> Vec<LocalFuture<'static, ()>> {
    let each = plans.iter().map(|plan| {
        let bridge = Bridge::new(plan.clone(), here.clone(), context.clone());
        let run: LocalFuture<'static, ()> = Box::pin(bridge::run(bridge));
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

    /// Has on disk what will be subscribed to, before anything is: what is kept there and not known here is never
    /// ended, and a crash may come right behind the broker's answer.
    async fn write_ahead(&mut self) -> Result<(), End> {
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

    fn target(&self) -> Target {
        Target {
            url: String::new(),
            format: &weir_codec::FORMATS[0],
            credential: None,
            roots: self.plan.roots.clone(),
            keys: None,
        }
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
}

impl bridge::Bridge for Bridge {
    type Refused = Refused;
    type Running<'b> = Running<'b>;

    fn told(&mut self) -> &mut Told {
        &mut self.told
    }

    fn shown(&self) -> &str {
        &self.plan.shown
    }

    fn retry_max(&self) -> Duration {
        self.plan.retry_max
    }

    fn reached(&self) -> Cursor {
        self.kept.confirmed
    }

    fn foresee(&mut self) -> LocalFuture<'_, Result<(), End>> {
        Box::pin(self.write_ahead())
    }

    fn open(&self) -> LocalFuture<'_, io::Result<Stream>> {
        Box::pin(async { open_stream(&self.url, &self.target()).await })
    }

    fn running(&mut self) -> Running<'_> {
        Running::new(self)
    }

    fn tries_another(&mut self, end: &End) -> bool {
        let is_other = matches!(end, End::Refused(Refused::Version(_)) | End::Unanswered);
        let tries = is_other && self.version + 1 < versions(&self.url).len();
        self.version = if tries { self.version + 1 } else { 0 };
        tries
    }

    fn forget_version(&mut self) {
        self.version = 0;
    }

    fn unanswered(&self) -> String {
        let (url, who) = (&self.plan.shown, who(self.plan.login.as_ref()));
        format!(
            "{url} closed the connection without an answer, as some brokers do that refuse {who}"
        )
    }

    fn refused(&self, why: Refused) -> String {
        let url = &self.plan.shown;
        match why {
            Refused::Version(reason) => format!("{url}: {reason}"),
            Refused::User(reason) => {
                let who = who(self.plan.login.as_ref());
                format!("{url} refuses {who}: {reason}")
            }
        }
    }
}
