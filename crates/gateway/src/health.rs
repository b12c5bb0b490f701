//! `/health/live`, `/health/ready`, `/metrics`.

use crate::context::{Traffic, now};
use crate::metrics;
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use weir_binding::{Answer, Call, Pending, Response, Service};
use weir_hub::{Exchange, Hub, Media, Principal, Publish, Request, Ticket};

/// What an operator's tools ask.
pub(crate) struct Health {
    pub(crate) hub: Arc<Hub>,
    pub(crate) traffic: Arc<Traffic>,
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
            "/metrics" => Answer::Now(metrics::respond(&self.hub, &self.traffic)),
            "/health/live" => Answer::Now(Response::text(200, "live")),
            "/health/ready" => self.ready(),
            path => Answer::Now(Response::text(404, format!("no resource `{path}`"))),
        }
    }
}

impl Health {
    /// Publishes a canary to the gateway itself: ready is who can still store.
    fn ready(&self) -> Answer {
        let publish = Publish {
            topic: "$SYS/weir/canary".into(),
            media: Media::Opaque("text/plain".into()),
            body: Bytes::from_static(b"canary"),
            key: None,
            origin: String::new(),
        };
        let principal = Principal::unrestricted();
        match self.hub.open(now(), &principal, Request::Publish(publish)) {
            Ok(Exchange::Accepted(ticket)) => Answer::Later(Box::new(Canary(ticket))),
            Ok(_) => Answer::Now(Response::text(503, "not ready")),
            Err(fault) => Answer::Now(Response::text(503, format!("not ready: {fault}"))),
        }
    }
}

struct Canary(Ticket);

impl Pending for Canary {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        self.0.poll(cx).map(|done| match done {
            Ok(_) => Response::text(200, "ready"),
            Err(fault) => Response::text(503, format!("not ready: {fault}")),
        })
    }

    fn patience(&self) -> Option<Duration> {
        Some(Duration::from_secs(2))
    }

    fn expire(&mut self) -> Response {
        Response::text(503, "not ready: the canary was not stored within 2 s")
    }
}
