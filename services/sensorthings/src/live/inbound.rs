//! What the client of a WebSocket sends: observations to be created in the collection that it follows.

use crate::service::SensorThings;
use bytes::Bytes;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_hub::Principal;
use weir_model::Time;
use weir_service::{Answer, Call, Pending, Response, Service, Workers, Wrapper};

/// Posts each message to the path of the WebSocket.
pub(super) struct Inbound {
    service: SensorThings,
    principal: Principal,
    peer: Option<IpAddr>,
    scheme: Option<&'static str>,
    path: String,
    headers: Vec<(String, String)>,
    wrapper: Arc<dyn Wrapper>,
    workers: Arc<dyn Workers>,
}

impl Inbound {
    pub(super) fn new(service: &SensorThings, call: &Call) -> Self {
        Self {
            service: service.clone(),
            principal: call.principal.clone(),
            peer: call.peer,
            scheme: call.scheme,
            path: call.path.clone(),
            headers: call.headers.clone(),
            wrapper: call.wrapper.clone(),
            workers: call.workers.clone(),
        }
    }
}

impl weir_service::Inbound for Inbound {
    fn receive(&mut self, now: Time, _text: bool, payload: Bytes) -> Answer {
        let answer = self.service.call(Call {
            principal: self.principal.clone(),
            peer: self.peer,
            scheme: self.scheme,
            now,
            method: "POST".into(),
            path: self.path.clone(),
            query: Vec::new(),
            raw_query: String::new(),
            headers: self.headers.clone(),
            body: payload,
            wrapper: self.wrapper.clone(),
            workers: self.workers.clone(),
            websocket: None,
            incoming: Default::default(),
        });
        match answer {
            Answer::Now(response) => Answer::Now(told(response)),
            Answer::Later(pending) => Answer::Later(Box::new(Created(pending))),
            other => other,
        }
    }

    fn is_revoked(&self) -> bool {
        self.principal.standing.is_revoked()
    }
}

/// What was created is told by its URL, so that the client knows that it is on disk.
struct Created(Box<dyn Pending>);

impl Pending for Created {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        self.0.poll(cx).map(told)
    }
}

fn told(response: Response) -> Response {
    let mut fields = response.headers.iter();
    match fields.find(|(name, _)| *name == "location") {
        Some((_, url)) => {
            let body = serde_json::json!({"weir": {"created": url}});
            Response::with_body(response.status, "application/json", body.to_string())
        }
        None => response,
    }
}
