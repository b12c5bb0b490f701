//! What goes out, in whatever protocol: read from the log, and set aside where it goes no further.

use super::{SetAside, Taken, Told, state_topic};
use crate::{Gateway, Part};
use weir_hub::{Fault, Policy, Shape, Since, Subscribe, Subscription};
use weir_model::{Cursor, Filter};

/// The position before a message.
pub fn before(cursor: Cursor) -> Cursor {
    Cursor::new(cursor.epoch(), cursor.sequence().saturating_sub(1))
}

/// The messages of these filters from a position on, and before them those that are retained, if that is wanted.
pub fn consume(
    filters: impl Iterator<Item = Filter>,
    from: Cursor,
    retained: bool,
    context: &dyn Gateway,
    told: &Told,
) -> Result<Box<Subscription>, Fault> {
    // Its own state comes by too, so that its position moves where nothing else does.
    let state = Filter::parse(&state_topic(told.name()));
    let mut subscribe = Subscribe::new(filters.chain(state).collect(), Shape::Items);
    subscribe.since = Since::Cursor(from);
    subscribe.policy = Policy::DropOldest;
    subscribe.raw = true;
    subscribe.retained = retained;
    subscribe.committed = true;
    let gateway = context.hub().internal().at(context.now());
    gateway.subscribe(subscribe)
}

/// Sets aside what the other broker does not take; `false` where the log cannot take it now.
pub fn set_aside(
    context: &dyn Gateway,
    told: &Told,
    part: &Part,
    reason: &str,
) -> Result<bool, Fault> {
    let aside = SetAside {
        way: "out",
        name: &part.topic,
        reason,
        payload: part.payload.clone(),
    };
    match aside.keep(context, told) {
        Taken::Logged(_) => Ok(true),
        Taken::Busy => Ok(false),
        Taken::Over => Err(Fault::Stopping),
        Taken::Refused(problem) => {
            let what = format!("a message at `{}`", part.topic);
            let reason = format!("{reason}; nor can it be set aside: {problem}");
            told.refused(&what, &reason);
            Ok(true)
        }
    }
}
