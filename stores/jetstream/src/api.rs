//! The JetStream API, as far as a log needs it: making the streams and looking at them.

use crate::connection::Connection;
use crate::limits::{DUPLICATES, OPEN_WAIT};
use crate::log::Options;
use crate::mark::{self, RecordsMark};
use crate::name::{Names, digest};
use serde_json::{Value, json};
use std::fmt;
use std::time::{Duration, Instant};

/// `err_code` of a stream that is not there.
const NO_STREAM: u64 = 10_059;

/// Metadata of a stream that tells it from one made before it. When it was made does not: servers that were
/// started again may each remember another instant than the one that they answered with before.
const IDENTITY: &str = "weir.identity";

/// How a stream stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Of its identity, never 0.
    pub(crate) epoch: u16,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) mark: RecordsMark,
}

/// The two streams, made where they are not there.
pub(crate) fn open(
    nats: &Connection,
    names: &Names,
    options: &Options,
) -> Result<Standing, String> {
    let (mark, version) = mark::own();
    let log = json!({
        "name": names.stream,
        "subjects": [format!("{}.>", names.stream)],
        "retention": "limits", "discard": "old", "storage": "file",
        "num_replicas": options.replicas,
        "max_bytes": options.retention_bytes,
        "max_age": nanos(options.retention_age),
        "duplicate_window": nanos(DUPLICATES),
        "metadata": {IDENTITY: nats.nonce, mark: version},
    });
    let found = ensure(nats, &names.stream, &log)?;
    holds(&found["config"], options)
        .map_err(|why| format!("the stream {}: {why}", names.stream))?;
    let standing = standing(&found)?;
    let marked = standing.mark.check(&names.stream);
    marked.map_err(|later| later.to_string())?;
    if let RecordsMark::Earlier(marked) = &standing.mark {
        let put = put_mark(nats, &names.stream, marked);
        put.map_err(|unmarked| unmarked.to_string())?;
    }
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

/// Marks a stream of an earlier weir, whose records this one reads, as its own.
fn put_mark(nats: &Connection, name: &str, marked: &Value) -> Result<(), Unmarked> {
    let subject = format!("$JS.API.STREAM.UPDATE.{name}");
    let answer = request(nats, &subject, marked.to_string().as_bytes());
    let why = match &answer {
        Ok(info) if info["error"].is_null() => return Ok(()),
        Ok(info) => problem(info),
        Err(why) => why.clone(),
    };
    Err(Unmarked {
        stream: name.into(),
        subject,
        why,
    })
}

/// A stream does not take the version of its records.
#[derive(Debug)]
struct Unmarked {
    stream: String,
    subject: String,
    why: String,
}

impl fmt::Display for Unmarked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the stream {} cannot be marked with the version of its records, which needs the right to \
             publish to {}: {}",
            self.stream, self.subject, self.why
        )
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Looks at a stream, and makes it where it is not there. Several gateways that make it at once make the
/// same one.
fn ensure(nats: &Connection, name: &str, config: &Value) -> Result<Value, String> {
    let until = Instant::now() + OPEN_WAIT;
    loop {
        let found = request(nats, &format!("$JS.API.STREAM.INFO.{name}"), b"")?;
        if found["error"]["err_code"] == NO_STREAM {
            let made = format!("$JS.API.STREAM.CREATE.{name}");
            let made = request(nats, &made, config.to_string().as_bytes())?;
            if made["error"].is_null() {
                return Ok(made);
            }
            if Instant::now() >= until {
                return Err(format!(
                    "the stream {name} cannot be made: {}",
                    problem(&made)
                ));
            }
        } else if found["error"].is_null() {
            return Ok(found);
        } else if Instant::now() >= until {
            return Err(format!("the stream {name}: {}", problem(&found)));
        }
        std::thread::sleep(crate::limits::CONNECT_PAUSE);
    }
}

/// Says what of a stream's configuration breaks the promise: what was acknowledged is kept, once, as long as the
/// stream's limits say. How often servers sync is theirs and not said here.
fn holds(config: &Value, options: &Options) -> Result<(), String> {
    let number = |name: &str| config[name].as_i64().unwrap_or_default();
    let replicas = number("num_replicas");
    if config["storage"] != "file" {
        return Err("its storage is not `file`, so it is gone with its servers".into());
    }
    if config["retention"] != "limits" {
        return Err("its retention is not `limits`, so it drops what some have read".into());
    }
    if number("max_msgs_per_subject") > 0 {
        return Err("max_msgs_per_subject drops messages that nobody is told of".into());
    }
    if config["no_ack"] == true {
        return Err("with no_ack it does not say what it has kept".into());
    }
    if number("duplicate_window") < i64::try_from(nanos(DUPLICATES)).unwrap_or(i64::MAX) {
        let least = DUPLICATES.as_secs();
        return Err(format!(
            "duplicate_window is below the {least} s in which records are sent again"
        ));
    }
    if replicas < i64::try_from(options.replicas).unwrap_or(i64::MAX) {
        let wanted = options.replicas;
        return Err(format!(
            "it has {replicas} replicas, and bus.replicas asks for {wanted}"
        ));
    }
    Ok(())
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
            mark: RecordsMark::of(&info["config"]),
        }),
        _ => Err("the stream does not say how it stands".into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::url::Servers;

    #[test]
    fn a_stream_that_breaks_the_promise_is_refused() {
        let options = Options {
            servers: Servers::parse("nats://a").unwrap(),
            stream: "weir".into(),
            replicas: 3,
            retention_bytes: 0,
            retention_age: Duration::ZERO,
        };
        let good = json!({
            "storage": "file", "retention": "limits", "num_replicas": 3, "max_msgs_per_subject": -1,
            "duplicate_window": 120_000_000_000_u64,
        });
        assert_eq!(holds(&good, &options), Ok(()));
        for (name, value) in [
            ("storage", json!("memory")),
            ("retention", json!("workqueue")),
            ("max_msgs_per_subject", json!(1)),
            ("no_ack", json!(true)),
            ("duplicate_window", json!(1)),
            ("num_replicas", json!(1)),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert!(holds(&bad, &options).is_err(), "{name}");
        }
    }
}
