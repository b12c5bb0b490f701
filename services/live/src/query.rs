//! What a URL asks for: filters, format, position, conditions.

use crate::fault::refuse;
use std::time::Duration;
use weir_codec::{FORMATS, Format};
use weir_hub::aggregate::{NotAnAggregate, parse_duration};
use weir_hub::{Aggregate, InUnit, Policy, Shape, Since, Subscribe, every};
use weir_model::{Cursor, Filter, percent};
use weir_service::{Call, Response};

/// The path below the mount, percent-decoded (RFC 3986 section 2.1); `+` stays what it is.
pub(crate) fn decode_path(rest: &str) -> Result<String, Response> {
    percent::decode(rest).map_err(|error| refuse(400, format!("the path `{rest}`: {error}")))
}

/// The filters of the path and of every `?topic=`.
pub(crate) fn filters(call: &Call, rest: &str) -> Result<Vec<Filter>, Response> {
    let path = decode_path(rest)?;
    let texts = Some(path.as_str())
        .filter(|path| !path.is_empty())
        .into_iter();
    let filters = texts.chain(call.queries("topic")).map(|text| {
        Filter::parse(text).map_err(|error| refuse(400, format!("bad filter `{text}`: {error}")))
    });
    let filters = filters.collect::<Result<Vec<_>, _>>()?;
    if filters.is_empty() {
        return Err(refuse(
            400,
            "name a topic or filter: /live/{filter} or ?topic={filter}",
        ));
    }
    Ok(filters)
}

/// The format that `?as=` names, or else the `Accept` field; the first of all by default.
pub(crate) fn format(call: &Call) -> Result<&'static Format, Response> {
    if let Some(name) = call.query("as") {
        return weir_codec::by_name(name).ok_or_else(|| {
            refuse(
                400,
                format!("no format `{name}`; there are {}", format_names()),
            )
        });
    }
    match call.header("accept") {
        None => Ok(&FORMATS[0]),
        // A person who types the URL into a browser, whose Accept would pick XML.
        Some(accept) if accept.contains("text/html") => Ok(&FORMATS[0]),
        Some(accept) => weir_codec::negotiate(accept).ok_or_else(|| {
            refuse(
                406,
                format!("nothing here is `{accept}`; there are {}", media_types()),
            )
        }),
    }
}

/// Every format with its media type.
pub(crate) fn media_types() -> String {
    let named = FORMATS
        .iter()
        .map(|format| format!("{} ({})", format.media, format.name));
    named.collect::<Vec<_>>().join(", ")
}

pub(crate) fn format_names() -> String {
    FORMATS
        .iter()
        .map(|format| format.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Where `?since=`, `Last-Event-ID` or `?snapshot` say to begin.
pub(crate) fn since(call: &Call) -> Result<Since, Response> {
    let said = call
        .header("last-event-id")
        .or(call.query("since"))
        .filter(|text| !text.is_empty());
    match said {
        Some(text) => {
            // As it came in an entity tag, too, of which the cursor is the beginning.
            let bare = text.strip_prefix("W/").unwrap_or(text).trim_matches('"');
            let bare = bare.split('.').next().unwrap_or(bare);
            let cursor = bare.parse::<Cursor>();
            cursor
                .map(Since::Cursor)
                .map_err(|error| refuse(400, format!("since `{text}`: {error}")))
        }
        None if call.query("snapshot").is_some() => Ok(Since::Snapshot),
        None => Ok(Since::Now),
    }
}

/// The window of `?every=` or `?agg=`.
pub(crate) fn aggregate(call: &Call) -> Result<Option<Aggregate>, Response> {
    let bad = |name: &str, error: &dyn std::fmt::Display| refuse(400, format!("{name}: {error}"));
    match (call.query("every"), call.query("agg")) {
        // `agg=mean&every=1m` is `agg=mean:1m`.
        (Some(window), Some(function)) if !function.contains(':') => {
            let both = format!("{function}:{window}");
            both.parse().map(Some).map_err(|e| bad("agg", &e))
        }
        (Some(_), Some(_)) => Err(refuse(400, "agg says its window already: leave every out")),
        (Some(text), None) => parse_duration(text)
            .map(|window| Some(every(window)))
            .map_err(|e| bad("every", &e)),
        (None, Some(text)) => text.parse().map(Some).map_err(|e| bad("agg", &e)),
        (None, None) => Ok(None),
    }
}

/// A subscription as the query describes it.
pub(crate) fn subscribe(call: &Call, rest: &str, shape: Shape) -> Result<Subscribe, Response> {
    let condition = call.query("where").map(str::parse).transpose();
    Ok(Subscribe {
        since: since(call)?,
        condition: condition.map_err(|error| refuse(400, format!("where: {error}")))?,
        aggregate: aggregate(call)?,
        unit: unit(call),
        policy: policy(call)?,
        ..Subscribe::new(filters(call, rest)?, shape)
    })
}

/// In which unit numbers are wanted: `unit=cm`, or `unit=` of each datastream's own.
pub(crate) fn unit(call: &Call) -> InUnit {
    match call.query("unit") {
        None => InUnit::AsMade,
        Some("") => InUnit::Own,
        Some(unit) => InUnit::Named(unit.into()),
    }
}

fn policy(call: &Call) -> Result<Policy, Response> {
    let Some(name) = call.query("policy") else {
        return Ok(Policy::default());
    };
    let known = Policy::ALL.iter().find(|(known, _)| *known == name);
    known.map(|(_, policy)| *policy).ok_or_else(|| {
        let names: Vec<_> = Policy::ALL.iter().map(|(name, _)| *name).collect();
        refuse(
            400,
            format!("no policy `{name}`; there are {}", names.join(", ")),
        )
    })
}

/// Where a wait is asked for without saying how long.
const WAIT_DEFAULT: Duration = Duration::from_secs(30);
/// The longest wait given.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// How long `?wait=` or `Prefer: wait=` allow, at most five minutes; none where they say 0.
pub(crate) fn wait(call: &Call) -> Result<Option<Duration>, Response> {
    let asked = match call.query("wait") {
        Some(text) => waiting(text).map_err(|error| refuse(400, format!("wait: {error}")))?,
        None => preferred_wait(call),
    };
    Ok(asked.map(|wait| wait.min(WAIT_MAX)))
}

/// RFC 7240 section 4.3; a preference that cannot be read is passed over (section 2).
fn preferred_wait(call: &Call) -> Option<Duration> {
    let prefer = call.header("prefer")?;
    let text = prefer
        .split([',', ';'])
        .find_map(|part| part.trim().strip_prefix("wait="))?;
    waiting(text.trim_matches('"')).ok().flatten()
}

fn waiting(text: &str) -> Result<Option<Duration>, NotAnAggregate> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    match text {
        "" => Ok(Some(WAIT_DEFAULT)),
        _ if number.parse() == Ok(0.0) => Ok(None),
        text => parse_duration(text).map(Some),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::Arc;
    use weir_hub::{Framing, Principal};
    use weir_model::Time;
    use weir_service::Wrapper;

    struct AsItIs;

    impl Wrapper for AsItIs {
        fn framing(&self, inner: Arc<dyn Framing>) -> Arc<dyn Framing> {
            inner
        }
        fn bytes(&self, inner: &[u8], out: &mut Vec<u8>) {
            out.extend_from_slice(inner);
        }
    }

    impl weir_service::Workers for AsItIs {
        fn take(&self, work: Box<dyn FnOnce() + Send>) -> Result<(), weir_service::Busy> {
            work();
            Ok(())
        }
    }

    fn call(query: &[(&str, &str)], headers: &[(&str, &str)]) -> Call {
        let owned = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
                .collect()
        };
        Call {
            principal: Principal::unrestricted(),
            peer: None,
            scheme: None,
            now: Time::from_nanos(0),
            method: "GET".into(),
            path: "/live/a".into(),
            query: owned(query),
            raw_query: String::new(),
            headers: owned(headers),
            body: bytes::Bytes::new(),
            wrapper: Arc::new(AsItIs),
            workers: Arc::new(AsItIs),
            websocket: None,
            incoming: Default::default(),
        }
    }

    #[test]
    fn a_path_is_decoded_and_a_bad_escape_is_refused() {
        assert_eq!(decode_path("a/%23").unwrap(), "a/#");
        assert_eq!(decode_path("a+b").unwrap(), "a+b");
        for bad in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decode_path(bad).unwrap_err().status, 400, "{bad}");
        }
    }

    #[test]
    fn filters_come_from_the_path_and_every_topic() {
        let both = call(&[("topic", "b/+"), ("topic", "c")], &[]);
        let texts = |filters: Vec<Filter>| {
            filters
                .iter()
                .map(|filter| filter.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(texts(filters(&both, "a").unwrap()), ["a", "b/+", "c"]);
        assert_eq!(filters(&call(&[], &[]), "").unwrap_err().status, 400);
        assert_eq!(filters(&call(&[], &[]), "a%23b").unwrap_err().status, 400);
    }

    #[test]
    fn a_format_is_named_or_negotiated() {
        let name = |query, headers| format(&call(query, headers)).map(|format| format.name);
        assert_eq!(name(&[("as", "cbor")], &[]).unwrap(), "cbor");
        assert_eq!(
            name(&[], &[("accept", "application/cbor")]).unwrap(),
            "cbor"
        );
        assert_eq!(name(&[("as", "fax")], &[]).unwrap_err().status, 400);
        assert_eq!(
            name(&[], &[("accept", "image/png")]).unwrap_err().status,
            406
        );
    }

    #[test]
    fn a_position_of_the_last_event_goes_before_the_querys() {
        let at = Since::Cursor(Cursor::new(1, 0x2f));
        let id = ("last-event-id", "1-2f");
        assert_eq!(since(&call(&[("since", "1-1")], &[id])).unwrap(), at);
        for tag in ["\"1-2f\"", "W/\"1-2f.3\""] {
            assert_eq!(since(&call(&[("since", tag)], &[])).unwrap(), at, "{tag}");
        }
        assert_eq!(
            since(&call(&[("snapshot", "")], &[])).unwrap(),
            Since::Snapshot
        );
        assert_eq!(
            since(&call(&[("since", "now")], &[])).unwrap_err().status,
            400
        );
    }

    #[test]
    fn no_wait_is_given_where_the_preference_makes_no_sense() {
        for prefer in [
            "wait=0",
            "wait=\"0\"",
            "wait=soon",
            "respond-async",
            "wait=-1",
        ] {
            let call = call(&[], &[("prefer", prefer)]);
            assert_eq!(wait(&call).unwrap(), None, "{prefer}");
        }
        assert_eq!(wait(&call(&[("wait", "0s")], &[])).unwrap(), None);
        assert_eq!(
            wait(&call(&[("wait", "")], &[])).unwrap(),
            Some(WAIT_DEFAULT)
        );
    }

    #[test]
    fn a_window_a_policy_and_a_wait_are_read_or_refused() {
        let every = call(&[("every", "1s")], &[]);
        assert!(aggregate(&every).unwrap().is_some());
        for bad in [
            &[("every", "1s"), ("agg", "mean:1s")][..],
            &[("every", "0s"), ("agg", "mean")],
            &[("every", "0s")],
            &[("agg", "x")],
        ] {
            assert_eq!(
                aggregate(&call(bad, &[])).unwrap_err().status,
                400,
                "{bad:?}"
            );
        }
        assert_eq!(
            policy(&call(&[("policy", "none")], &[]))
                .unwrap_err()
                .status,
            400
        );
        let prefer = call(&[], &[("prefer", "respond-async, wait=10")]);
        assert_eq!(wait(&prefer).unwrap(), Some(Duration::from_secs(10)));
        let long = call(&[("wait", "1d")], &[]);
        assert_eq!(
            wait(&call(&[("wait", "soon")], &[])).unwrap_err().status,
            400
        );
        assert_eq!(wait(&long).unwrap(), Some(Duration::from_secs(300)));
    }
}
