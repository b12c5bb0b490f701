//! Observations as they come: server-sent events and WebSockets at every collection of Observations, and
//! the topics of 18-088 section 14.
//!
//! What is told of an observation is what a `GET` would show: `$select`, `$expand` and `$filter` mean the
//! same. Deliberately not possible is what needs all of a collection at once: `$orderby`, `$top`, `$skip`,
//! `$count`.

mod changing;
mod inbound;
mod observing;
mod past;
mod placing;
mod renderings;

use crate::fault::{Fault, Result};
use crate::history::{Of, filter_of, filters_of};
use crate::kind::Kind;
use crate::path::{End, Path};
use crate::query::Query;
use crate::read::{Target, resolve};
use crate::result_format::ResultFormat;
use crate::service::{Inner, SensorThings, rest, root};
use changing::Changing;
use inbound::Inbound;
use observing::Observing;
pub(crate) use placing::Placing;
pub(crate) use renderings::Renderings;
use std::sync::Arc;
use weir_hub::Since;
use weir_model::Filter;
use weir_service::{Answer, Call, Watched, rendered};

/// Whether a call asks for what comes.
pub(crate) fn is_meant(call: &Call) -> bool {
    let accept = call.header("accept").unwrap_or_default();
    call.websocket.is_some() || call.method == "GET" && accept.contains("text/event-stream")
}

/// A stream or a WebSocket.
pub(crate) fn open(service: &SensorThings, call: Call) -> Result<Answer> {
    let path = Path::parse(rest(&call)?)?;
    if path.target() != (Kind::Observation, true) || path.end != End::All {
        let problem = "what comes as events or on a WebSocket are Observations: \
                       try /Observations or /Datastreams(1)/Observations";
        return Err(Fault::new(406, problem));
    }
    let inner = &service.inner;
    let root = root(&call);
    let query = query(Kind::Observation, &call.query)?;
    let (filters, rendering) = observe(inner, &call, root, &path, query)?;
    let inbound = Box::new(Inbound::new(service, &call));
    let since = since(&call)?;
    rendered(inner.hub(), &call, filters, since, rendering, inbound).map_err(Fault::from)
}

/// What stands behind a topic `v1.1/...` (18-088 section 14.2).
// [STA-A.8.1.1-4] [STA-A.8.1.1-5]
pub(crate) fn watch(service: &SensorThings, call: &Call) -> Result<Watched> {
    let inner = &service.inner;
    let root = root(call);
    let path = Path::parse(rest(call)?)?;
    let (kind, is_collection) = path.target();
    let query = query(kind, &call.query)?;
    if kind == Kind::Observation && is_collection && path.end == End::All {
        let (filters, rendering) = observe(inner, call, root, &path, query)?;
        return Ok(Watched::Messages(filters, rendering));
    }
    let changes = Changing::new(inner, call, root, path, query)?;
    Ok(Watched::Changes(Arc::new(changes)))
}

/// The options, as far as they mean something of what comes.
fn query(kind: Kind, pairs: &[(String, String)]) -> Result<Query> {
    let mut query = Query::of_pairs(kind, pairs)?;
    let whole = ["$orderby", "$top", "$skip", "$count", "$skiptoken"];
    let asked = query.said.iter().find(|(name, _)| whole.contains(&&**name));
    if let Some((name, _)) = asked {
        let problem = format!("{name} means nothing of what comes one by one");
        return Err(Fault::bad(problem));
    }
    match ResultFormat::of(kind, &mut query)? {
        ResultFormat::Json => Ok(query),
        _ => Err(Fault::bad("$resultFormat: what comes one by one is JSON")),
    }
}

fn observe(
    inner: &Arc<Inner>,
    call: &Call,
    root: String,
    path: &Path,
    query: Query,
) -> Result<(Vec<Filter>, Arc<Observing>)> {
    let view = inner.current()?;
    let target = resolve(&inner.context(&view, call, &root), path)?;
    let (filters, feature) = match target {
        Target::Observations(Of::All) => (vec![filter_of("#")?], None),
        Target::Observations(Of::Feature(feature)) => {
            (vec![filter_of("#")?], Some(feature.id.clone()))
        }
        Target::Observations(Of::Datastream(datastream)) => {
            (filters_of(&call.principal.grants, &datastream)?, None)
        }
        _ => (Vec::new(), None),
    };
    drop(view);
    if filters.is_empty() {
        return Err(Fault::missing(format!("collection `{}`", path.to_url())));
    }
    let principal = call.principal.clone();
    let observing = Observing::new(inner, principal, root, query, feature);
    Ok((filters, Arc::new(observing)))
}

/// Where `Last-Event-ID` or `?since=` say to begin.
fn since(call: &Call) -> Result<Since> {
    let said = call.header("last-event-id").or(call.query("since"));
    match said.filter(|text| !text.is_empty()) {
        None => Ok(Since::Now),
        Some(text) => {
            let cursor = text.parse().map(Since::Cursor);
            cursor.map_err(|error| Fault::bad(format!("since `{text}`: {error}")))
        }
    }
}
