//! Bridges: this gateway as a client of another broker, so that one that is there can stay.
//!
//! What it deliberately does not do: no queue of its own. What goes out is read from the log, from where the
//! bridge is; what comes in is acknowledged when it is in the log. The decision worth arguing: a message
//! carries the gateways that it went through by bridges (user property `weir-via`), so that it goes round no
//! ring of them, whoever else is in it.

mod inward;
mod kept;
mod outward;
mod running;
pub(super) mod settings;

use crate::net::client::{Url, open_stream};
use crate::session::{ConnectOptions, InFlight};
use crate::wire::{ReasonCode, Version};
use kept::Kept;
use outward::Careful;
use running::{End, Running};
use settings::{Plan, Speaks};
use std::io;
use std::sync::Arc;
use weir_binding::bridge::{self, HERE, Told, remember, who};
use weir_binding::{Gateway, LocalFuture, Target};
use weir_carrier::Stream;
use weir_model::Cursor;
use weir_sansio::Duration;

/// What a record keeps of a bridge, read and written again; `None` for what is none.
pub(super) fn rewritten(bytes: &[u8]) -> Option<bytes::Bytes> {
    Kept::read(bytes).map(|kept| kept.write())
}

/// QoS 1 and 2 messages taken at once.
const RECEIVE_MAX: u16 = 1024;

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
    speaks: Speaks,
    careful: Careful,
    told: Told,
}

impl Bridge {
    fn new(plan: Arc<Plan>, here: Arc<str>, context: Arc<dyn Gateway>) -> Self {
        let origin = format!("{HERE}/{}", plan.name);
        let known = context.hub().consumer(&origin);
        let mut recorded = known.and_then(|bytes| Kept::read(&bytes));
        let mut kept = recorded.clone().unwrap_or_else(|| Kept {
            // From the first start on nothing is missed, whether or not the other broker is there.
            delivered: context.hub().positions().1,
            ..Kept::default()
        });
        let filters = plan
            .outward
            .iter()
            .map(|line| line.names.local_filter().to_string());
        let offered: Vec<String> = filters.collect();
        if kept.offered != offered {
            kept.offered = offered;
            kept.greeted = false;
        }
        if recorded.is_none() && remember(&*context, &origin, kept.write()) {
            recorded = Some(kept.clone());
        }
        Self {
            told: Told::new(&plan.name, context.clone()),
            speaks: plan.speaks,
            careful: Careful::default(),
            recorded,
            kept,
            origin,
            here,
            context,
            plan,
        }
    }

    async fn open_stream(&self) -> io::Result<Stream> {
        let url = Url::parse(&self.plan.url)?;
        let target = Target {
            url: self.plan.url.clone(),
            format: &weir_codec::FORMATS[0],
            credential: None,
            roots: self.plan.roots.clone(),
            keys: None,
        };
        open_stream(&url, &target).await
    }

    /// How the broker is greeted.
    fn options(&self) -> ConnectOptions {
        let made = || format!("weir-{}-{:.8}", self.plan.name, self.here);
        let (user_name, password) = match self.plan.login.clone() {
            Some((user, password)) => (Some(user), password),
            None => (None, None),
        };
        let known = |of: &&InFlight| of.packet_id != 0;
        ConnectOptions {
            version: match self.speaks {
                Speaks::V5 => Version::V5,
                Speaks::V311Bridge | Speaks::V311 => Version::V311,
            },
            bridge: self.speaks == Speaks::V311Bridge,
            client_id: self.plan.client_id.clone().unwrap_or_else(made),
            clean_start: false,
            keep_alive: self.plan.keep_alive,
            session_expiry_secs: self.plan.session_secs,
            user_name,
            password: password.map(String::into_bytes),
            receive_max: RECEIVE_MAX,
            in_flight: self.kept.in_flight.iter().filter(known).copied().collect(),
            received: self.kept.received.clone(),
            ..ConnectOptions::default()
        }
    }

    /// Notes whether the broker has the session still: what was under way in one that is gone is new.
    fn begin_session(&mut self, session_present: bool) {
        if session_present {
            return;
        }
        let kept = &mut self.kept;
        kept.in_flight
            .retain(|of| of.stage != crate::session::Stage::Pubcomp);
        for of in &mut kept.in_flight {
            of.packet_id = 0;
        }
        kept.received.clear();
        kept.taken = 0;
        kept.sessions = kept.sessions.wrapping_add(1);
    }
}

impl bridge::Bridge for Bridge {
    type Refused = (ReasonCode, Option<String>);
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
        self.kept.delivered
    }

    fn open(&self) -> LocalFuture<'_, io::Result<Stream>> {
        Box::pin(self.open_stream())
    }

    fn running(&mut self) -> Running<'_> {
        Running::new(self)
    }

    fn tries_another(&mut self, end: &End) -> bool {
        let is_of_version = matches!(
            end,
            End::Refused((ReasonCode::UNSUPPORTED_PROTOCOL_VERSION, _))
        );
        let next = match self.speaks {
            Speaks::V5 if is_of_version => Speaks::V311Bridge,
            // Some do not answer what is not their version.
            Speaks::V311Bridge if is_of_version || *end == End::Unanswered => Speaks::V311,
            _ => return false,
        };
        if self.plan.falls_back {
            self.speaks = next;
        }
        self.plan.falls_back
    }

    fn forget_version(&mut self) {
        self.speaks = self.plan.speaks;
    }

    fn unanswered(&self) -> String {
        format!(
            "{} closed the connection without an answer",
            self.plan.shown
        )
    }

    fn refused(&self, (code, reason): Self::Refused) -> String {
        let (url, who) = (&self.plan.shown, who(self.plan.login.as_ref()));
        let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
        format!("{url} refuses {who}: {code}{reason}")
    }
}
