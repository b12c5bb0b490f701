//! From a request to a service's answer: credentials, CORS, negotiation of codings and upgrades.

use super::coding;
use super::host::{check_origin, reached};
use super::over::Handover;
use super::settings::Settings;
use super::wrapper;
use crate::wire::{Request, Version};
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::{Answer, Call, Identity, Outcome, Over, Response, Tally};
use weir_carrier::clock;
use weir_carrier::websocket::{Offer, accept};
use weir_hub::trace::{Incoming, Parent};
use weir_hub::{Principal, Room};
use weir_sansio::Instant;

/// What a connection's requests have in common.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) settings: Arc<Settings>,
    pub(super) context: Arc<dyn weir_binding::Context>,
    pub(super) peer: IpAddr,
    /// What the link itself presented, for requests that present nothing.
    pub(super) credential: Option<Arc<str>>,
    /// Whether the gateway itself speaks TLS here.
    pub(super) is_secured: bool,
    /// Whether what is at the other end is a proxy whose word counts.
    pub(super) is_proxied: bool,
    /// Of requests, and of WebSockets.
    pub(super) tallies: [Arc<Tally>; 2],
}

impl Shared {
    /// Notes an answer.
    pub(super) fn answered(&self, meta: &Meta, status: u16) {
        self.context.answered(meta.service, status);
        if meta.publishes && status == 204 {
            self.tallies[0].receive(1);
        }
    }

    /// How a request came whose first bytes were there at this time, where traces are made.
    fn incoming(&self, request: &Request, began: Option<Instant>) -> Incoming {
        if !self.context.hub().is_traced() {
            return Incoming::default();
        }
        let since = began.map(|began| clock::now() - began);
        let nanos = since.map(|since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
        Incoming {
            parent: request.header("traceparent").and_then(Parent::parse),
            began: nanos.map(|nanos| self.context.now().plus_nanos(-nanos)),
        }
    }

    /// Largest body of a request, bytes.
    pub(super) fn body_bytes_max(&self) -> usize {
        let messages = self.context.hub().limits().message_bytes;
        self.settings.body_bytes_max.unwrap_or(messages)
    }
}

/// What must be known of a request to write its answer.
pub(super) struct Meta {
    pub(super) service: &'static str,
    /// Whether an empty answer says that a message was stored.
    pub(super) publishes: bool,
    pub(super) version: Version,
    pub(super) keep_alive: bool,
    /// `HEAD`: the answer's body is not sent.
    pub(super) head_only: bool,
    /// Whether gzip may be sent.
    pub(super) gzip: bool,
    /// `Access-Control-Allow-Origin`.
    pub(super) allow_origin: Option<String>,
    pub(super) upgrade: Option<Upgrade>,
    /// Of the request.
    pub(super) body_bytes: usize,
    /// What its body takes beyond that once it is inflated.
    pub(super) inflated: Room,
}

/// A WebSocket handshake that is in order.
pub(super) struct Upgrade {
    /// `Sec-WebSocket-Accept`.
    pub(super) accept: String,
    /// Whether permessage-deflate is agreed.
    pub(super) deflate: bool,
    /// Subprotocols offered.
    offers: Vec<String>,
    /// Another binding takes the WebSocket.
    pub(super) over: Option<Box<Handover>>,
}

/// Who asks: found out, or on its way.
pub(super) type Who = Result<Principal, Response>;

/// What has become of a request.
#[allow(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and is taken apart at once"
)]
pub(super) enum Step {
    /// The service that holds the path was asked.
    Answered(Answer, Meta),
    /// Who asks is still being found out; then it is for [`answer`].
    Checking(Check, Box<Request>),
}

/// A credential that is being checked on another thread.
pub(super) struct Check(Outcome<Result<Principal, String>>);

impl Check {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Who> {
        let broken = || Response::text(500, "the credential's check broke off: try again");
        self.0.poll(cx).map(|outcome| match outcome {
            None => Err(broken()),
            Some(identified) => identified.map_err(|reason| Response::text(401, reason)),
        })
    }
}

/// Finds out who asks, and asks the service that holds the path. The request's first bytes were there when
/// it began, where that is known.
pub(super) fn dispatch(shared: &Shared, request: Request, began: Option<Instant>) -> Step {
    // What a page asks before it asks, without a credential; and what is allowed of the gateway as a whole.
    if request.method == "OPTIONS" && (is_preflight(&request) || request.path == "*") {
        let meta = meta(shared, &request);
        return Step::Answered(Answer::Now(options(&request, &meta)), meta);
    }
    let credential = credential(shared, &request);
    let identity = shared
        .context
        .principal(credential.as_deref(), shared.peer.is_loopback());
    let who = match identity {
        Identity::Known(identified) => identified.map_err(|reason| Response::text(401, reason)),
        Identity::Checking(outcome) => return Step::Checking(Check(outcome), Box::new(request)),
        Identity::Busy => {
            let busy = Response::text(503, "too many credentials wait to be checked: try again");
            Err(busy.header("retry-after", "1"))
        }
    };
    let (answer, meta) = answer(shared, request, who, began);
    Step::Answered(answer, meta)
}

/// Asks the service that holds the path.
pub(super) fn answer(
    shared: &Shared,
    mut request: Request,
    who: Who,
    began: Option<Instant>,
) -> (Answer, Meta) {
    let mut meta = meta(shared, &request);
    if meta.head_only {
        request.method = "GET".into();
    }
    let incoming = shared.incoming(&request, began);
    let is_about_methods = request.method == "OPTIONS";
    let called = called(shared, request, who, incoming, &mut meta);
    let answer = called.unwrap_or_else(Answer::Now);
    if is_about_methods {
        (allowed(answer), meta)
    } else {
        (answer, meta)
    }
}

/// What a resource says that it allows when it is asked with a method that it has not.
fn allowed(answer: Answer) -> Answer {
    match answer {
        Answer::Now(refusal) if refusal.status == 405 => {
            let allow = refusal
                .headers
                .into_iter()
                .filter(|(name, _)| *name == "allow");
            let answer = Response::empty(204);
            Answer::Now(allow.fold(answer, |answer, (name, methods)| {
                answer.header(name, methods)
            }))
        }
        other => other,
    }
}

fn is_preflight(request: &Request) -> bool {
    request.header("access-control-request-method").is_some()
}

/// 426, which says to what (RFC 9110 sections 7.8 and 15.5.22).
pub(super) fn upgrade_required(reason: &str) -> Response {
    Response::text(426, reason)
        .header("upgrade", "websocket")
        .header("connection", "upgrade")
}

fn meta(shared: &Shared, request: &Request) -> Meta {
    let origin = request.header("origin");
    let plain = request
        .query
        .iter()
        .any(|pair| pair.0 == "compress" && pair.1 == "0");
    Meta {
        service: "",
        publishes: matches!(&*request.method, "POST" | "PUT") && request.path.starts_with("/live/"),
        version: request.version,
        keep_alive: request.keep_alive,
        head_only: request.method == "HEAD",
        gzip: shared.settings.compress && !plain && accepts_gzip(request),
        allow_origin: origin.and_then(|origin| shared.settings.cors.allow(origin)),
        upgrade: None,
        body_bytes: request.body.len(),
        inflated: Room::default(),
    }
}

fn called(
    shared: &Shared,
    mut request: Request,
    who: Who,
    incoming: Incoming,
    meta: &mut Meta,
) -> Result<Answer, Response> {
    let Some(service) = shared.context.service(&request.path) else {
        let reason = format!(
            "nothing is served at {}: try /live, /catalog or /",
            request.path
        );
        return Err(Response::text(404, reason));
    };
    meta.service = service.name();
    let scheme = reached(shared, &mut request)?;
    if request.method != "GET" {
        check_origin(shared, &request)?;
    }
    let principal = who?;
    check_matched(&request)?;
    meta.inflated = coding::take_off(shared, &mut request)?;
    meta.upgrade = upgrade(shared, &request, meta)?;
    if let Some(upgrade) = &mut meta.upgrade {
        upgrade.over = handover(shared, &request, &upgrade.offers)?;
        if upgrade.over.is_some() {
            upgrade.deflate = false;
            return Ok(Answer::Now(Response::empty(101)));
        }
    }
    let websocket = meta
        .upgrade
        .as_mut()
        .map(|upgrade| std::mem::take(&mut upgrade.offers));
    let wrapper = match &meta.upgrade {
        Some(upgrade) => wrapper::of_frames(upgrade.deflate),
        None => wrapper::of_body(meta.version == Version::Http11, meta.gzip),
    };
    Ok(service.call(Call {
        principal,
        peer: Some(shared.peer),
        scheme: Some(scheme),
        now: shared.context.now(),
        method: std::mem::take(&mut request.method),
        path: request.path,
        query: request.query,
        raw_query: request.raw_query,
        headers: request.headers,
        body: request.body,
        wrapper,
        workers: shared.context.workers(),
        websocket,
        incoming,
    }))
}

/// Refuses what is to be done only to what a tag names: no resource here has a strong tag, and no other would do
/// (RFC 9110 section 13.1.1).
fn check_matched(request: &Request) -> Result<(), Response> {
    match request.header("if-match").map(str::trim) {
        None | Some("*") => Ok(()),
        Some(tags) => {
            let reason =
                format!("If-Match: nothing here is `{tags}`: tags are weak, as last values are");
            Err(Response::text(412, reason))
        }
    }
}

/// The binding that takes the WebSocket in the place of a service.
fn handover(
    shared: &Shared,
    request: &Request,
    offers: &[String],
) -> Result<Option<Box<Handover>>, Response> {
    match shared.context.over(&request.path, offers) {
        Over::Nobody => Ok(None),
        Over::Unspoken(spoken) => {
            let reason = format!("at {} the subprotocol `{spoken}` is spoken", request.path);
            Err(Response::text(400, reason))
        }
        Over::Binding(binding, subprotocol) => Ok(Some(Box::new(Handover {
            binding,
            subprotocol,
            credential: credential(shared, request),
        }))),
    }
}

/// `Authorization`, or `?access_token=` (RFC 6750 section 2.3) where a browser cannot set the field.
fn credential(shared: &Shared, request: &Request) -> Option<String> {
    let field = request.header("authorization").map(str::to_owned);
    let said = field.or_else(|| {
        let token = request.query.iter().find(|pair| pair.0 == "access_token")?;
        Some(format!("Bearer {}", token.1))
    });
    said.or_else(|| shared.credential.as_deref().map(str::to_owned))
}

/// The handshake of RFC 6455 section 4.2.1, where one is asked for.
fn upgrade(shared: &Shared, request: &Request, meta: &Meta) -> Result<Option<Upgrade>, Response> {
    let asked = request.lists("upgrade", "websocket") && request.lists("connection", "upgrade");
    if !asked || request.version != Version::Http11 {
        return Ok(None);
    }
    if request.method != "GET" || meta.head_only {
        return Err(Response::text(400, "a WebSocket is asked for with GET"));
    }
    if request.header("sec-websocket-version") != Some("13") {
        let answer = upgrade_required("the WebSocket version spoken here is 13");
        return Err(answer.header("sec-websocket-version", "13"));
    }
    check_origin(shared, request)?;
    let key = request.header("sec-websocket-key").unwrap_or_default();
    let Some(accept) = accept(key) else {
        let reason = "Sec-WebSocket-Key is not 16 bytes in base64";
        return Err(Response::text(400, reason));
    };
    let mut extensions = request.fields("sec-websocket-extensions");
    let deflate = shared.settings.compress && extensions.any(|field| Offer::find(field).is_some());
    let offers = request.fields("sec-websocket-protocol");
    let offers = offers
        .flat_map(|field| field.split(','))
        .map(|name| name.trim().to_owned());
    Ok(Some(Upgrade {
        accept,
        deflate,
        offers: offers.collect(),
        over: None,
    }))
}

const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
const REQUEST_FIELDS: &str =
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Prefer";
/// What a page may read beside the safe fields.
pub(super) const EXPOSED: &str = "Weir-Cursor, Weir-Gap, ETag, Link";

/// `OPTIONS`, as a preflight of CORS or by itself.
fn options(request: &Request, meta: &Meta) -> Response {
    let answer = Response::empty(204).header("allow", METHODS);
    if is_preflight(request) && meta.allow_origin.is_some() {
        answer
            .header("access-control-allow-methods", METHODS)
            .header("access-control-allow-headers", REQUEST_FIELDS)
            .header("access-control-max-age", "86400")
    } else {
        answer
    }
}

/// Says whether gzip is listed with a weight above zero (RFC 9110 section 12.5.3).
fn accepts_gzip(request: &Request) -> bool {
    let codings = request
        .fields("accept-encoding")
        .flat_map(|field| field.split(','));
    codings.into_iter().any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        name.trim().eq_ignore_ascii_case("gzip") && weight.parse::<f32>().is_ok_and(|q| q > 0.0)
    })
}
