//! What the log holds of sessions when the gateway starts.

use super::claims::own_key;
use super::house::House;
use super::record::Stored;
use super::remember::{claim, remember};
use std::sync::Arc;
use weir_binding::Gateway;

/// Reads what the log holds of sessions, once.
pub(super) fn load(house: &Arc<House>, gateway: &dyn Gateway) {
    house.sessions.loaded.get_or_init(|| {
        if gateway.hub().is_shared() {
            return load_shared(house, gateway);
        }
        let mut found = Vec::new();
        gateway.hub().consumers(&own_key(""), &mut |key, bytes| {
            found.push((key.to_owned(), bytes.clone()));
        });
        let head = gateway.hub().positions().0;
        for (key, bytes) in found {
            let read = key.strip_prefix(&own_key("")).zip(Stored::read(&bytes));
            if let Some((id, mut stored)) = read {
                // Whoever had a connection lost it with the gateway.
                stored.leave_at(gateway.now(), head);
                house.sessions.keep(id.into(), stored);
            }
        }
    });
}

/// The same where other gateways have sessions, too; from then on what they say of them is followed.
fn load_shared(house: &Arc<House>, gateway: &dyn Gateway) {
    let sessions = &house.sessions;
    let claims = sessions.share(gateway.name());
    let weak = Arc::downgrade(house);
    let hub = gateway.hub();
    hub.watch_consumers(Box::new(move |at, key, bytes| {
        if let Some(house) = weak.upgrade() {
            house.sessions.taken(at, key, bytes);
        }
    }));
    let head = hub.positions().0;
    for id in claims.mine() {
        match claims.latest(&id) {
            // What others left is claimed once more, behind what they may have written since.
            Some(of) if *of.gateway != *gateway.name() => {
                let owner = of.stored().map(|stored| stored.owner).unwrap_or_default();
                drop(claim(claims, gateway, &id, &owner));
            }
            Some(of) => {
                let Some(mut stored) = of.stored() else {
                    continue;
                };
                stored.claim = of.claim;
                if stored.left.is_none() {
                    // Whoever claims it need not wait.
                    stored.leave_at(gateway.now(), head);
                    drop(remember(house, gateway, &id, &stored));
                }
                sessions.keep(id, *stored);
            }
            None => claims.abandoned(&id),
        }
    }
}
