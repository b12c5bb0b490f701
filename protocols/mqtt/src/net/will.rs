//! Wills: what is published in the name of a client that is gone.

use super::publish::{Refused, publish};
use super::record::Stored;
use super::refused::{is_dropped, set_aside};
use crate::session::{Message, Will};
use weir_binding::Gateway;
use weir_hub::{Principal, Standing};
use weir_model::Cursor;

/// Publishes the will of a session without a connection, in the name of its owner, if the policy still knows that.
pub(super) fn publish_stored_will(context: &dyn Gateway, id: &str, stored: &Stored, will: &Will) {
    if let Some(owner) = context.named(&stored.owner) {
        publish_will(context, (&owner, id), stored.connection, &will.message);
    }
}

/// Publishes a will as far as its owner may; it counts with no rate, since a client that sent as much as it may would
/// be missed by nobody. Several gateways may: the connection that it is of is its key.
pub(super) fn publish_will(
    context: &dyn Gateway,
    (owner, id): (&Principal, &str),
    connection: Cursor,
    message: &Message,
) {
    if owner.standing.is_revoked() {
        return;
    }
    let principal = Principal {
        standing: Standing::default(),
        ..owner.clone()
    };
    let key = match connection {
        Cursor::START => None,
        of => Some(format!("mqtt-will/{:x}", of.bits()).into_bytes()),
    };
    let (hub, now) = (context.hub(), context.now());
    // Nobody is left to be told.
    let published = publish(hub, now, (&principal, id), None, message, key, false);
    if let Err(Refused::Code(code, reason)) = published
        && !is_dropped(code)
    {
        drop(set_aside(context, message, &reason));
    }
}
