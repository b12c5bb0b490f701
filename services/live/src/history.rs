//! `GET /history/{filter}`: pages of the past. What the disk no longer gives back of a page's span is told by
//! the field that tells gaps.

use crate::fault::{from_hub, method_not_allowed, refuse};
use crate::keys;
use crate::query;
use std::sync::Arc;
use weir_codec::Format;
use weir_hub::aggregate::parse_duration;
use weir_hub::{Gap, GapReason, Hub, Page, Past};
use weir_model::{Time, percent};
use weir_service::{Answer, Call, Length, Response, answer_of, gap_json};

/// Observations in a page where the query does not say.
const LIMIT_DEFAULT: usize = 1000;

/// Answers with one page; what follows it is `next` in JSON and a `Link` elsewhere.
///
/// What is asked is checked at once; what is read from files is read off the network's threads.
pub(crate) fn read(hub: &Arc<Hub>, call: Call, rest: &str) -> Result<Answer, Response> {
    if call.method != "GET" {
        return Err(method_not_allowed(&call.method, "GET"));
    }
    keys::check(&call, keys::HISTORY)?;
    let format = query::format(&call)?;
    let past = Past {
        filters: query::filters(&call, rest)?,
        from: time(&call, "from", Time::from_nanos(i64::MIN + 1))?,
        to: time(&call, "to", Time::from_nanos(i64::MAX))?,
        limit: limit(&call)?,
        page: call.query("page").map(str::to_owned),
        aggregate: query::aggregate(&call)?,
        unit: query::unit(&call),
    };
    if past.from > past.to {
        let sentence = format!("from ({}) is after to ({})", past.from, past.to);
        return Err(refuse(400, sentence));
    }
    let (hub, workers) = (hub.clone(), call.workers.clone());
    let length = if past.aggregate.is_some() || past.limit > LIMIT_DEFAULT {
        Length::Long
    } else {
        Length::Short
    };
    Ok(answer_of(&*workers, length, move || {
        look_up(&hub, &call, format, past)
    }))
}

fn look_up(hub: &Arc<Hub>, call: &Call, format: &'static Format, past: Past) -> Response {
    let caller = hub.caller(call.now, &call.principal);
    match caller.and_then(|caller| caller.history(&past)) {
        Ok(page) => respond(call, format, &page),
        Err(fault) => from_hub(&fault, &[]),
    }
}

fn respond(call: &Call, format: &'static Format, page: &Page) -> Response {
    let mut body = Vec::new();
    (format.encode)(&page.batch, &mut body);
    if let (Some(next), "json") = (&page.next, format.name) {
        let trimmed = body.trim_ascii_end().len() - 1;
        body.truncate(trimmed);
        body.extend_from_slice(format!(r#","next":"{next}"}}"#).as_bytes());
    }
    let mut response = Response::with_body(200, format.media, body).header("vary", "accept");
    if page.lost > 0 {
        let gap = Gap {
            reason: GapReason::Damage,
            count: Some(page.lost),
        };
        response = response.header("weir-gap", gap_json(&gap));
    }
    match &page.next {
        Some(next) => response.header("link", format!("<{}>; rel=\"next\"", next_url(call, next))),
        None => response,
    }
}

fn next_url(call: &Call, page: &str) -> String {
    let mut url = call.path.clone();
    let kept = call.query.iter().filter(|(name, _)| name != "page");
    let page = ("page".to_owned(), page.to_owned());
    for (index, (name, value)) in kept.chain([&page]).enumerate() {
        url.push(if index == 0 { '?' } else { '&' });
        url.push_str(&percent::encode(name, b""));
        url.push('=');
        url.push_str(&percent::encode(value, b""));
    }
    url
}

/// A time as RFC 3339, or as a duration before now such as `-1h`.
fn time(call: &Call, name: &str, default: Time) -> Result<Time, Response> {
    let Some(text) = call.query(name).filter(|text| !text.is_empty()) else {
        return Ok(default);
    };
    if let Some(span) = text.strip_prefix('-').map(parse_duration) {
        let span = span.map_err(|error| refuse(400, format!("{name}: {error}")))?;
        return Ok(call.now.plus_nanos(-(span.as_nanos() as i64)));
    }
    // A `+` of an offset that was not escaped arrives as a space.
    let text = text.replace(' ', "+");
    text.parse()
        .map_err(|error| refuse(400, format!("{name}: {error}")))
}

fn limit(call: &Call) -> Result<usize, Response> {
    let Some(text) = call.query("limit") else {
        return Ok(LIMIT_DEFAULT);
    };
    match text.parse() {
        Ok(limit) if limit > 0 => Ok(limit),
        _ => Err(refuse(
            400,
            format!("limit: expected a number from 1, found `{text}`"),
        )),
    }
}
