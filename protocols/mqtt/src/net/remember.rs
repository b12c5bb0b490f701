//! Records of sessions in the log: written, claimed and removed.

use super::claims::{self, Claims};
use super::house::House;
use super::record::Stored;
use bytes::Bytes;
use std::sync::Arc;
use weir_binding::Gateway;
use weir_hub::Ticket;

/// Writes a session's record; a session that the log does not take lives as long as the gateway.
pub(super) fn remember(
    house: &House,
    context: &dyn Gateway,
    id: &str,
    stored: &Stored,
) -> Option<Ticket> {
    let (key, bytes) = match house.sessions.claims() {
        Some(claims) => claims.state(id, stored.claim, stored),
        None => (claims::own_key(id), stored.write()),
    };
    put(context, key, bytes)
}

/// Claims a session for this gateway.
pub(super) fn claim(
    claims: &Claims,
    context: &dyn Gateway,
    id: &Arc<str>,
    owner: &str,
) -> Option<Ticket> {
    let (key, bytes) = claims.claim(id, owner);
    put(context, key, bytes)
}

/// Writes a record of a session or about one.
pub(super) fn put(context: &dyn Gateway, key: String, bytes: Bytes) -> Option<Ticket> {
    let gateway = context.hub().internal();
    gateway.remember(context.now(), &key, bytes).ok()
}

/// Removes what the log has of a session.
pub(super) fn forget(house: &House, context: &dyn Gateway, id: &str) {
    match house.sessions.claims() {
        Some(claims) => claims
            .keys_of(id)
            .into_iter()
            .for_each(|key| remove(context, key)),
        None => remove(context, claims::own_key(id)),
    }
}

/// Removes a record.
pub(super) fn remove(context: &dyn Gateway, key: String) {
    drop(context.hub().internal().forget(context.now(), &key));
}
