//! The newest observation of a datastream alone, which the hub keeps: the history is not read for it.

use crate::context::Context;
use crate::fault::Result;
use crate::history::Of;
use crate::id::At;
use crate::kind::Kind;
use crate::observed::Observed;
use crate::page::{Found, Place, Show, by_time};
use crate::query::Query;
use weir_model::Observation;
use weir_model::batch::Naming;

/// A page of it; `None` where something else is asked for, or the hub cannot say.
pub(crate) fn page(
    context: &Context<'_>,
    of: &Of,
    query: &Query,
    show: Show<'_>,
) -> Result<Option<Found>> {
    let is_plain = query.filter.is_none() && query.token.is_none() && !query.count;
    let is_one = query.top == Some(1) && query.skip == 0 && by_time(&query.order) == Some(true);
    let Of::Datastream(datastream) = of else {
        return Ok(None);
    };
    let topic = &datastream.key;
    let is_one = is_one && datastream.kind == Kind::Datastream;
    let found = (is_plain && is_one).then(|| context.hub.newest_of(topic));
    let Some((last, others)) = found.flatten() else {
        return Ok(None);
    };
    let at = At {
        datastream: datastream.id.as_u32(),
        time: last.time,
        ordinal: last.ordinal.unwrap_or(0),
    };
    let row = Observation {
        naming: Naming::Topic,
        topic,
        sensor: None,
        property: None,
        unit: None,
        description: 0,
        value: last.value(),
        time: Some(last.time),
        place: None,
        extra: last.extra(),
    };
    show(&Observed {
        row,
        at,
        datastream,
    })?;
    let next = Place {
        time: last.time,
        count: 1,
    };
    Ok(Some(Found {
        count: None,
        next: others.then(|| next.print()),
    }))
}
