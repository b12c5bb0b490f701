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
mod settings;

pub(super) use settings::{Plan, read};

use crate::net::client::{Url, open_stream};
use crate::session::{ConnectOptions, InFlight, Message};
use crate::wire::{ReasonCode, Version};
use kept::Kept;
use outward::Careful;
use running::{End, Running};
use settings::Speaks;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use weir_binding::bridge::{self, HERE, Told, remember};
use weir_binding::{Context as Gateway, LocalFuture, Target};
use weir_carrier::Stream;
use weir_carrier::backoff::Backoff;
use weir_carrier::clock::now;
use weir_hub::Hub;

/// What a record keeps of a bridge, read and written again; `None` for what is none.
pub(super) fn rewritten(bytes: &[u8]) -> Option<bytes::Bytes> {
    Kept::read(bytes).map(|kept| kept.write())
}

/// How long a connection may take until it is there.
const OPEN_TIME_MAX: Duration = Duration::from_secs(20);
/// A connection that lasted so long was a good one, and so is one that has got something out.
const GOOD_TIME: Duration = Duration::from_secs(10);
/// QoS 1 and 2 messages taken at once.
const RECEIVE_MAX: u16 = 1024;

/// Says whether a client brings a message that went out of here by a bridge.
pub(super) fn came_back(hub: &Hub, message: &Message) -> bool {
    let user = message.properties.as_deref().map_or(&[][..], |of| &of.user);
    bridge::came_back(hub, user)
}

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
    speaks: Speaks,
    careful: Careful,
    told: Told,
}

async fn run(mut bridge: Bridge) {
    bridge.told.state(false);
    let mut backoff = Backoff::new(bridge.plan.retry_max);
    loop {
        let (began, delivered) = (now(), bridge.kept.delivered);
        let end = bridge.connect().await;
        if now().since(began) >= GOOD_TIME || bridge.kept.delivered > delivered {
            backoff.reset();
        }
        if end == End::Stopping {
            return;
        }
        if bridge.steps_down(&end) {
            continue;
        }
        bridge.measure();
        let wait = backoff.wait();
        let sentence = bridge.sentence(end);
        bridge.told.lost(&sentence, wait);
        tokio::time::sleep(wait).await;
    }
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

    /// One connection, from its opening to its end.
    async fn connect(&mut self) -> End {
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
            self.speaks = self.plan.speaks;
        }
        end
    }

    async fn open(&self) -> std::io::Result<Stream> {
        let url = Url::parse(&self.plan.url)?;
        let target = Target {
            url: self.plan.url.clone(),
            format: &weir_codec::FORMATS[0],
            credential: None,
            roots: self.plan.roots.clone(),
            keys: None,
        };
        let stream = open_stream(&url, &target).await?;
        stream.tune()?;
        Ok(stream)
    }

    fn cannot(&self, reason: &str) -> String {
        format!("cannot connect to {}: {reason}", self.plan.shown)
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

    /// Says whether an older version is to be tried at once.
    fn steps_down(&mut self, end: &End) -> bool {
        let next = match (self.speaks, end) {
            (Speaks::V5, End::Refused(ReasonCode::UNSUPPORTED_PROTOCOL_VERSION, _)) => {
                Speaks::V311Bridge
            }
            // Some do not answer what is not their version.
            (
                Speaks::V311Bridge,
                End::Unanswered | End::Refused(ReasonCode::UNSUPPORTED_PROTOCOL_VERSION, _),
            ) => Speaks::V311,
            _ => return false,
        };
        if self.plan.falls_back {
            self.speaks = next;
        }
        self.plan.falls_back
    }

    fn sentence(&self, end: End) -> String {
        let url = &self.plan.shown;
        match end {
            End::Lost(sentence) | End::Broken(sentence) => sentence,
            End::Unanswered => format!("{url} closed the connection without an answer"),
            End::Stopping => "the gateway is stopping".into(),
            End::Refused(code, reason) => {
                let who = match &self.plan.login {
                    Some((user, _)) => format!("user `{user}`"),
                    None => "a client without user and password".into(),
                };
                let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
                format!("{url} refuses {who}: {code}{reason}")
            }
        }
    }

    /// How many records the bridge has not looked at.
    fn measure(&self) -> u64 {
        bridge::measure(&*self.context, &self.told, self.kept.delivered)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.told.state(false);
    }
}
