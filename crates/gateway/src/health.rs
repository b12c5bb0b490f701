//! `/health/live`, `/health/ready`, `/metrics`.
//!
//! Health is for whoever asks, since balancers and supervisors have no credentials; so it says no more
//! than yes or no and why not, and however often it is asked, the canary flies once a second. Metrics
//! tell what a gateway is used for and are read by who may read [`METRICS_TOPIC`]. A peer on loopback
//! is not let in for that: behind a proxy on the same machine everyone is on loopback.

use crate::clock::now;
use crate::metrics;
use crate::traffic::Traffic;
use bytes::Bytes;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use weir_binding::{Answer, Call, Pending, Response, Service};
use weir_hub::{Fault, Hub, Media, Principal, Publish, Ticket, Verb};

/// Who may read this topic may read the metrics.
const METRICS_TOPIC: &str = "$SYS/weir/metrics";
/// For how long a canary answers for the gateway.
const CANARY_AGE_MAX: Duration = Duration::from_secs(1);
/// For how long a canary may be on its way.
const CANARY_PATIENCE: Duration = Duration::from_secs(2);

/// What it serves, as part of an OpenAPI document.
pub(crate) const OPENAPI: &str = include_str!("../openapi.json");

/// What an operator's tools ask.
pub(crate) struct Health {
    hub: Arc<Hub>,
    traffic: Arc<Traffic>,
    canary: Mutex<Option<(Instant, Arc<Ticket>)>>,
}

impl Service for Health {
    fn name(&self) -> &'static str {
        "health"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &["/health", "/metrics"]
    }

    fn call(&self, call: Call) -> Answer {
        match call.path.as_str() {
            "/metrics" => Answer::Now(self.metrics(&call.principal)),
            "/health/live" => Answer::Now(Response::text(200, "live")),
            "/health/ready" => self.ready(Instant::now()),
            path => Answer::Now(Response::text(404, format!("no resource `{path}`"))),
        }
    }
}

impl Health {
    pub(crate) fn new(hub: Arc<Hub>, traffic: Arc<Traffic>) -> Self {
        Self {
            hub,
            traffic,
            canary: Mutex::default(),
        }
    }

    fn metrics(&self, principal: &Principal) -> Response {
        if principal.grants.allow(Verb::Read, METRICS_TOPIC) {
            return metrics::respond(&self.hub, &self.traffic);
        }
        let status = match &*principal.name {
            "anonymous" => 401,
            _ => 403,
        };
        let sentence = format!("{principal} may not read `{METRICS_TOPIC}`, nor so the metrics");
        Response::text(status, sentence)
    }

    /// Ready is who can still store: a canary published to the gateway itself says so.
    fn ready(&self, asked: Instant) -> Answer {
        match self.canary(asked) {
            Ok(ticket) => Answer::Later(Box::new(Canary(ticket))),
            Err(fault) => Answer::Now(Response::text(503, format!("not ready: {fault}"))),
        }
    }

    /// The canary of the last second, or a new one.
    fn canary(&self, asked: Instant) -> Result<Arc<Ticket>, Fault> {
        let mut last = self.canary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((flown, ticket)) = &*last
            && asked.saturating_duration_since(*flown) < CANARY_AGE_MAX
        {
            return Ok(ticket.clone());
        }
        let ticket = Arc::new(self.fly()?);
        *last = Some((asked, ticket.clone()));
        Ok(ticket)
    }

    fn fly(&self) -> Result<Ticket, Fault> {
        let media = Media::Opaque("text/plain".into());
        let body = Bytes::from_static(b"canary");
        let publish = Publish::new("$SYS/weir/canary", media, body);
        self.hub.internal().at(now()).publish(publish)
    }
}

struct Canary(Arc<Ticket>);

impl Pending for Canary {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        self.0.poll(cx).map(|done| match done {
            Ok(_) => Response::text(200, "ready"),
            Err(fault) => Response::text(503, format!("not ready: {fault}")),
        })
    }

    fn patience(&self) -> Option<Duration> {
        Some(CANARY_PATIENCE)
    }

    fn expire(&mut self) -> Response {
        Response::text(503, "not ready: the canary was not stored within 2 s")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Gateway;
    use crate::testing::Folder;
    use weir_hub::Grants;
    use weir_model::Filter;

    /// A gateway that listens nowhere, on a folder of its own.
    fn with_health(name: &str, test: impl FnOnce(&Health)) {
        let folder = Folder::new(name);
        let gateway = Gateway::start(&folder.config(""), false).unwrap();
        test(&Health::new(gateway.hub().clone(), Arc::default()));
        gateway.stop();
    }

    #[test]
    fn one_canary_a_second_answers_all_who_ask() {
        with_health("canary", |health| {
            let begin = Instant::now();
            let flown = |after_millis: u64| {
                let asked = begin + Duration::from_millis(after_millis);
                assert!(matches!(health.ready(asked), Answer::Later(_)));
                health.canary(asked).unwrap()
            };
            let first = flown(0);
            assert!([1, 999].map(flown).iter().all(|it| Arc::ptr_eq(it, &first)));
            let second = flown(1000);
            assert!(!Arc::ptr_eq(&second, &first));
            assert!(Arc::ptr_eq(&flown(1001), &second));
        });
    }

    #[test]
    fn metrics_are_read_by_who_may_read_their_topic() {
        with_health("metrics", |health| {
            let status = |name: &str, filter: &str| {
                let rules = vec![(Verb::Read, Filter::parse(filter).unwrap())];
                let grants = Arc::new(Grants::new(rules));
                let name = name.into();
                health
                    .metrics(&Principal {
                        name,
                        grants,
                        standing: Default::default(),
                    })
                    .status
            };
            assert_eq!(status("anonymous", "#"), 401, "`#` is none of $SYS");
            assert_eq!(status("ada", "heating/#"), 403);
            assert_eq!(status("prometheus", "$SYS/#"), 200);
            assert_eq!(health.metrics(&Principal::unrestricted()).status, 200);
        });
    }
}
