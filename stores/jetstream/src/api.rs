//! The JetStream API, as far as a log needs it: making the streams and looking at them.

use crate::connection::Connection;
use crate::limits::{DUPLICATES, OPEN_WAIT};
use crate::log::Options;
use crate::name::{Names, digest};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// `err_code` of a stream that is not there.
const NO_STREAM: u64 = 10_059;

/// Metadata of a stream that tells it from one made before it. When it was made does not: servers that were
/// started again may each remember another instant than the one that they answered with before.
const IDENTITY: &str = "weir.identity";

/// How a stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Of its identity, never 0.
    pub(crate) epoch: u16,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The two streams, made where they are not there.
pub(crate) fn open(
    nats: &Connection,
    names: &Names,
    options: &Options,
) -> Result<Standing, String> {
    let log = json!({
        "name": names.stream,
        "subjects": [format!("{}.>", names.stream)],
        "retention": "limits", "discard": "old", "storage": "file",
        "num_replicas": options.replicas,
        "max_bytes": options.retention_bytes,
        "max_age": nanos(options.retention_age),
        "duplicate_window": nanos(DUPLICATES),
        "metadata": {IDENTITY: nats.nonce},
    });
    let standing = ensure(nats, &names.stream, &log)?;
    let mirror = json!({
        "name": names.keyed,
        "mirror": {"name": names.stream, "filter_subject": names.keyed_filter()},
        "retention": "limits", "discard": "old", "storage": "file",
        "num_replicas": options.replicas,
        "max_msgs_per_subject": 1,
    });
    ensure(nats, &names.keyed, &mirror)?;
    Ok(standing)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Looks at a stream, and makes it where it is not there. Several gateways that make it at once make the
/// same one.
fn ensure(nats: &Connection, name: &str, config: &Value) -> Result<Standing, String> {
    let until = Instant::now() + OPEN_WAIT;
    loop {
        let found = request(nats, &format!("$JS.API.STREAM.INFO.{name}"), b"")?;
        if found["error"]["err_code"] == NO_STREAM {
            let made = format!("$JS.API.STREAM.CREATE.{name}");
            let made = request(nats, &made, config.to_string().as_bytes())?;
            if made["error"].is_null() {
                return standing(&made);
            }
            if Instant::now() >= until {
                return Err(format!(
                    "the stream {name} cannot be made: {}",
                    problem(&made)
                ));
            }
        } else if found["error"].is_null() {
            return standing(&found);
        } else if Instant::now() >= until {
            return Err(format!("the stream {name}: {}", problem(&found)));
        }
        std::thread::sleep(crate::limits::CONNECT_PAUSE);
    }
}

/// How a stream stands now.
pub(crate) fn look(nats: &Connection, name: &str) -> Result<Standing, String> {
    standing(&request(nats, &format!("$JS.API.STREAM.INFO.{name}"), b"")?)
}

fn request(nats: &Connection, subject: &str, payload: &[u8]) -> Result<Value, String> {
    nats.request(subject, payload, OPEN_WAIT)
}

pub(crate) fn problem(answer: &Value) -> String {
    let said = answer["error"]["description"].as_str();
    said.unwrap_or("an error without a description").into()
}

/// How a stream stands, of what `STREAM.INFO` or `STREAM.CREATE` answered.
pub(crate) fn standing(info: &Value) -> Result<Standing, String> {
    if !info["error"].is_null() {
        return Err(problem(info));
    }
    let state = |name: &str| info["state"][name].as_u64();
    // Nobody's identity but its own name is that of a stream which the owner made.
    let identity = info["config"]["metadata"][IDENTITY].as_str();
    let identity = identity.or(info["config"]["name"].as_str());
    match (identity, state("first_seq"), state("last_seq")) {
        (Some(identity), Some(first), Some(last)) => Ok(Standing {
            epoch: (digest(&[identity.as_bytes()]) % 0xffff) as u16 + 1,
            first,
            last,
        }),
        _ => Err("the stream does not say how it stands".into()),
    }
}
