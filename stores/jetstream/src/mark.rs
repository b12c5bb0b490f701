//! Which version of weir's records a stream has: a mark in its metadata.
//!
//! A record of a later version cannot be told from what somebody else published there, which is passed over. So the
//! mark is put before the first record of its version. Who does not know that version does not start on the stream, and
//! who runs on it already takes nothing more. What it deliberately does not do: hold a later weir back until the others
//! are upgraded, since nobody knows who they are.

use serde_json::{Value, json};
use std::cmp::Ordering;
use std::fmt;
use weir_storage::Record;

/// Metadata of a stream: the version of the records in it, in decimal.
const RECORDS: &str = "weir.records";
/// What the servers say in a stream's metadata, and do not take from others.
const SERVERS_OWN: &str = "_nats.";

/// A stream's mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecordsMark {
    /// Of a weir before this one, or none; with the configuration that marks the stream.
    Earlier(Box<Value>),
    /// This weir's.
    Own,
    /// Of a weir to come, as it stands there.
    Later(String),
}

impl RecordsMark {
    /// The one of a stream's configuration.
    pub(crate) fn of(config: &Value) -> Self {
        let Some(text) = config["metadata"][RECORDS].as_str() else {
            return Self::Earlier(Box::new(marked(config)));
        };
        match text.parse::<u8>().map(|said| said.cmp(&Record::VERSION)) {
            Ok(Ordering::Less) => Self::Earlier(Box::new(marked(config))),
            Ok(Ordering::Equal) => Self::Own,
            Ok(Ordering::Greater) | Err(_) => Self::Later(text.into()),
        }
    }

    /// Refuses a stream of a later weir.
    pub(crate) fn check(&self, stream: &str) -> Result<(), LaterWeir> {
        match self {
            Self::Later(said) => Err(LaterWeir {
                stream: stream.into(),
                said: said.clone(),
            }),
            Self::Earlier(_) | Self::Own => Ok(()),
        }
    }
}

/// A stream has records that this weir does not know.
#[derive(Debug)]
pub(crate) struct LaterWeir {
    stream: String,
    /// The version of its records, as it stands there.
    said: String,
}

impl fmt::Display for LaterWeir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the stream {} has records of version {}, made by a later weir; this one knows {}: \
             upgrade this gateway",
            self.stream,
            self.said,
            Record::VERSION
        )
    }
}

/// The configuration with this weir's mark.
fn marked(config: &Value) -> Value {
    let mut config = config.clone();
    if let Some(metadata) = config["metadata"].as_object_mut() {
        metadata.retain(|name, _| !name.starts_with(SERVERS_OWN));
    }
    let (name, version) = own();
    config["metadata"][name] = version;
    config
}

/// The metadata that marks a stream as this weir's.
pub(crate) fn own() -> (&'static str, Value) {
    (RECORDS, json!(Record::VERSION.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_a_mark_is_marked_and_keeps_what_it_has() {
        let said = json!({"weir.identity": "a", "_nats.ver": "2.11.10"});
        let config = json!({"name": "weir", "max_bytes": 7, "metadata": said});
        let own = json!({"weir.identity": "a", "weir.records": Record::VERSION.to_string()});
        let marked = json!({"name": "weir", "max_bytes": 7, "metadata": own});
        assert_eq!(
            RecordsMark::of(&config),
            RecordsMark::Earlier(Box::new(marked.clone()))
        );
        assert_eq!(RecordsMark::of(&marked), RecordsMark::Own);
        let bare = json!({"name": "weir"});
        let own = json!({"weir.records": Record::VERSION.to_string()});
        let marked = json!({"name": "weir", "metadata": own});
        assert_eq!(
            RecordsMark::of(&bare),
            RecordsMark::Earlier(Box::new(marked))
        );
    }

    #[test]
    fn a_later_mark_and_what_is_no_number_are_refused() {
        for said in ["3", "255", "256", "2.1", "", "two"] {
            let mark = RecordsMark::of(&json!({"metadata": {"weir.records": said}}));
            assert_eq!(mark, RecordsMark::Later(said.into()));
            let why = mark
                .check("weir")
                .err()
                .map_or(String::new(), |it| it.to_string());
            assert!(why.contains(&format!("version {said}, ")), "{why}");
        }
    }
}
