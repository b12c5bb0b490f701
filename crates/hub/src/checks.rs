//! What a publication must satisfy before it is stored: rights, names, limits.

use crate::access::{Principal, Verb, denied};
use crate::decoded::Decoded;
use crate::entry;
use crate::fault::Fault;
use crate::limits::{DATASTREAMS_MAX, KEY_BYTES_MAX, NEW_DATASTREAMS_MAX};
use crate::requests::Publish;
use crate::room;
use crate::state::catalog::Catalog;
use crate::state::keys;
use crate::weight;
use weir_model::{Batch, Limits, topic};

/// What can be told of a publication before its body is read: its topic, who may publish there, its key, which is
/// answered as it is logged.
pub(crate) fn check_sent(principal: &Principal, publish: &Publish) -> Result<Vec<u8>, Fault> {
    topic::check(&publish.topic).map_err(Fault::Topic)?;
    if !is_a_removal(publish) {
        check_own(principal, &publish.topic)?;
    }
    check_reach(principal, &publish.topic)?;
    check_key(principal, publish)
}

/// Refuses a message longer than the gateway takes.
pub(crate) fn check_bytes(bytes: usize, limits: &Limits) -> Result<(), Fault> {
    let limit = limits.message_bytes;
    match bytes > limit {
        true => Err(Fault::OverLimit {
            what: "message bytes",
            limit,
        }),
        false => Ok(()),
    }
}

/// The idempotency key as it is logged; empty without one.
fn check_key(principal: &Principal, publish: &Publish) -> Result<Vec<u8>, Fault> {
    let Some(key) = &publish.key else {
        return Ok(Vec::new());
    };
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        return Err(Fault::OverLimit {
            what: "idempotency key bytes",
            limit: KEY_BYTES_MAX,
        });
    }
    Ok(keys::qualified(&principal.name, &publish.topic, key))
}

const TOO_MANY: Fault = Fault::OverLimit {
    what: "datastreams",
    limit: DATASTREAMS_MAX,
};

/// Refuses a datastream more than there may be. The gateway's own are few, and have room when no other has: what is
/// set aside because there is none is kept there.
pub(crate) fn check_full(catalog: &Catalog, topic: &str) -> Result<(), Fault> {
    match catalog.find(topic) {
        Some(_) => Ok(()),
        None if topic.starts_with('$') => Ok(()),
        None if !catalog.has_room(1) => Err(TOO_MANY),
        None => room::check(catalog, weight::of_topic(topic)),
    }
}

/// Refuses a message that would bring too many datastreams into being at once, or more than there may be. Those that
/// its publisher may not read count as new, so that the limit does not tell which are there.
pub(crate) fn check_new(
    principal: &Principal,
    catalog: &Catalog,
    batch: &Batch,
) -> Result<(), Fault> {
    let count = batch.stream_count();
    if count <= NEW_DATASTREAMS_MAX && catalog.has_room(count) {
        return Ok(());
    }
    let topics = || (0..count).map(|index| batch.stream(index).topic);
    let is_new = |topic: &&str| catalog.find(topic).is_none();
    let told = topics().filter(|it| is_new(it) || !principal.grants.allow(Verb::Read, it));
    if told.count() > NEW_DATASTREAMS_MAX {
        return Err(Fault::OverLimit {
            what: "new datastreams of one message",
            limit: NEW_DATASTREAMS_MAX,
        });
    }
    let new = topics().filter(is_new).count();
    match new == 0 || catalog.has_room(new) {
        true => Ok(()),
        false => Err(TOO_MANY),
    }
}

/// Says whether a message only takes away what is retained, which at the gateway's own topics whoever is granted
/// to publish there may.
fn is_a_removal(publish: &Publish) -> bool {
    publish.retain && publish.body.is_empty()
}

/// Topics that begin with `$` are the server's to publish at (MQTT 5.0 section 4.7.2), whatever a
/// policy grants.
pub(crate) fn check_own(principal: &Principal, topic: &str) -> Result<(), Fault> {
    match topic.starts_with('$') && !principal.is_gateway() {
        true => Err(Fault::Reserved(topic.into())),
        false => Ok(()),
    }
}

/// Refuses who may publish nothing at or under a topic, before any of the body is read.
fn check_reach(principal: &Principal, sent_to: &str) -> Result<(), Fault> {
    match principal.grants.may_reach(Verb::Publish, sent_to) {
        true => Ok(()),
        false => Err(denied(principal, Verb::Publish, sent_to)),
    }
}

/// Refuses names longer than the catalog keeps.
pub(crate) fn check_names(content: &Decoded) -> Result<(), Fault> {
    let Decoded::Observations(batch, _) = content else {
        return Ok(());
    };
    for index in 0..batch.stream_count() {
        let view = batch.stream(index);
        entry::check_lengths(&[
            ("bytes of a sensor", view.sensor),
            ("bytes of a type", view.property),
            ("bytes of a unit", view.unit),
        ])?;
    }
    Ok(())
}

pub(crate) fn check_grants(
    principal: &Principal,
    sent_to: &str,
    content: &Decoded,
) -> Result<(), Fault> {
    let allowed = |topic: &str| principal.grants.allow(Verb::Publish, topic);
    let refused = match content {
        Decoded::Observations(batch, _) => {
            let topics = (0..batch.stream_count()).map(|index| batch.stream(index).topic);
            topics.into_iter().find(|topic| !allowed(topic))
        }
        Decoded::Opaque(_) => Some(sent_to).filter(|topic| !allowed(topic)),
    };
    match refused {
        Some(topic) => Err(denied(principal, Verb::Publish, topic)),
        None => Ok(()),
    }
}
