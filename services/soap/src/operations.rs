//! THE list of operations.

use crate::NAMESPACE;
use crate::fault::Fault;
use crate::members::{Member, check, check_leaf, many, one};
use crate::rows::{self, read_rows};
use std::sync::Arc;
use weir_codec::document::observations::write_rows;
use weir_codec::document::{Element, Xml};
use weir_codec::{Format, by_name};
use weir_hub::{Entry, Hub, InUnit, Media, Past, Publish, Ticket};
use weir_model::{Batch, Filter, Time};
use weir_service::Call;

/// Observations of a page where the request does not say.
const LIMIT_DEFAULT: usize = 1000;

/// One operation.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    /// What its element has, as the WSDL says.
    members: &'static [Member],
    /// Whether its answer may be long or is read from files, so that it is done off the network's threads.
    pub(crate) takes_a_while: bool,
    run: fn(&Arc<Hub>, &Call, &Element) -> Result<Reply, Fault>,
}

impl Operation {
    /// Does what the element asks for.
    pub(crate) fn run(&self, hub: &Arc<Hub>, call: &Call, body: &Element) -> Result<Reply, Fault> {
        check(body, self.members).map_err(Fault::sender)?;
        (self.run)(hub, call, body)
    }
}

/// What an operation answers.
pub(crate) enum Reply {
    /// A document.
    Document(String),
    /// What [`published`] says, once this is on disk.
    Stored(Ticket),
}

/// Every operation.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "publish",
        members: &[one("topic"), one("key"), many("observation")],
        takes_a_while: false,
        run: publish,
    },
    Operation {
        name: "latest",
        members: &[many("filter")],
        takes_a_while: true,
        run: latest,
    },
    Operation {
        name: "history",
        members: &[
            many("filter"),
            one("from"),
            one("to"),
            one("limit"),
            one("page"),
        ],
        takes_a_while: true,
        run: history,
    },
    Operation {
        name: "describe",
        members: &[many("filter")],
        takes_a_while: true,
        run: describe,
    },
];

fn publish(hub: &Arc<Hub>, call: &Call, body: &Element) -> Result<Reply, Fault> {
    let topic = required(body, "topic")?;
    let batch = read_rows(body).map_err(Fault::sender)?;
    if batch.is_empty() {
        return Err(Fault::sender("publish needs an `observation`"));
    }
    let format =
        format_of(&batch).ok_or_else(|| Fault::receiver("this build has no format for it"))?;
    let mut message = Vec::new();
    (format.encode)(&batch, &mut message);
    let publish = Publish {
        key: optional(body, "key")?.map(String::into_bytes),
        incoming: call.incoming,
        ..Publish::new(topic, Media::Format(format), message)
    };
    let ticket = hub.caller(call.now, &call.principal)?.publish(publish)?;
    Ok(Reply::Stored(ticket))
}

/// What a message is written in: columns where datastreams have several observations, which they are for; else
/// as it reads.
fn format_of(batch: &Batch) -> Option<&'static Format> {
    let is_wide = batch.len() < 2 * batch.stream_count();
    let (first, second) = if is_wide {
        ("json", "block")
    } else {
        ("block", "json")
    };
    by_name(first).or_else(|| by_name(second))
}

/// The answer to `publish`.
pub(crate) fn published(cursor: &str) -> String {
    let mut xml = begun("publishResponse");
    xml.leaf("w:cursor", cursor);
    xml.finish()
}

fn latest(hub: &Arc<Hub>, call: &Call, body: &Element) -> Result<Reply, Fault> {
    let filters = filters(body)?;
    let latest = hub.caller(call.now, &call.principal)?.latest(&filters)?;
    let mut xml = begun("latestResponse");
    write_rows(&latest.batch, &mut xml);
    Ok(Reply::Document(xml.finish()))
}

fn history(hub: &Arc<Hub>, call: &Call, body: &Element) -> Result<Reply, Fault> {
    let past = Past {
        filters: filters(body)?,
        from: time(body, "from")?.unwrap_or(Time::from_nanos(i64::MIN + 1)),
        to: time(body, "to")?.unwrap_or(Time::from_nanos(i64::MAX)),
        limit: limit(body)?,
        page: optional(body, "page")?,
        aggregate: None,
        unit: InUnit::AsMade,
    };
    if past.from > past.to {
        return Err(Fault::sender("`to` is before `from`"));
    }
    let page = hub.caller(call.now, &call.principal)?.history(&past)?;
    let mut xml = begun("historyResponse");
    write_rows(&page.batch, &mut xml);
    if let Some(next) = &page.next {
        xml.leaf("w:next", next);
    }
    Ok(Reply::Document(xml.finish()))
}

fn describe(hub: &Arc<Hub>, call: &Call, body: &Element) -> Result<Reply, Fault> {
    let filters = filters(body)?;
    let entries = hub.caller(call.now, &call.principal)?.entries(&filters)?;
    let mut xml = begun("describeResponse");
    entries
        .iter()
        .for_each(|entry| write_entry(entry, &mut xml));
    Ok(Reply::Document(xml.finish()))
}

fn write_entry(entry: &Entry, xml: &mut Xml) {
    let datastream = &entry.datastream;
    xml.start("w:datastream").leaf("w:topic", &entry.topic);
    for (name, text) in [
        ("w:name", &datastream.name),
        ("w:sensor", &datastream.sensor),
        ("w:type", &datastream.property),
        ("w:unit", &datastream.unit),
    ] {
        if let Some(text) = text {
            xml.leaf(name, text);
        }
    }
    if let Some(place) = datastream.place {
        xml.leaf("w:latitude", &place.latitude.to_string());
        xml.leaf("w:longitude", &place.longitude.to_string());
    }
    xml.end();
}

/// An operation's element, or its answer's.
pub(crate) fn begun(name: &str) -> Xml {
    let mut xml = Xml::new();
    xml.start_as("w", name).prefixes(&[("w", NAMESPACE)]);
    xml
}

fn required(body: &Element, name: &str) -> Result<String, Fault> {
    let found = optional(body, name)?;
    found.ok_or_else(|| Fault::sender(format!("{} needs `{name}`", body.local)))
}

fn optional(body: &Element, name: &str) -> Result<Option<String>, Fault> {
    body.child(name).map(text).transpose()
}

/// The text of a member.
fn text(member: &Element) -> Result<String, Fault> {
    check_leaf(member).map_err(Fault::sender)?;
    Ok(member.text())
}

fn filters(body: &Element) -> Result<Vec<Filter>, Fault> {
    required(body, "filter")?;
    let parse = |element: &Element| {
        let text = text(element)?;
        Filter::parse(&text).map_err(|error| Fault::sender(format!("bad filter `{text}`: {error}")))
    };
    body.all("filter").map(parse).collect()
}

fn time(body: &Element, name: &str) -> Result<Option<Time>, Fault> {
    let read = body.child(name).map(rows::time).transpose();
    read.map_err(Fault::sender)
}

fn limit(body: &Element) -> Result<usize, Fault> {
    let Some(text) = optional(body, "limit")? else {
        return Ok(LIMIT_DEFAULT);
    };
    match text.parse() {
        Ok(limit) if limit > 0 => Ok(limit),
        _ => Err(Fault::sender(format!(
            "`limit`: expected a number from 1, found `{text}`"
        ))),
    }
}
