//! When things were where, as a historical location tells it, or a feature whose location is gone.

use crate::entity::Entity;
use crate::filter::time;
use crate::id::Id;
use crate::kind::Kind;
use serde_json::Value as Json;
use weir_model::Time;

/// A thing, since when it was somewhere, and the entity that says so.
pub(crate) type Stay = (Id, Time, Id);

/// From this time up to that, it excluded.
pub(crate) type Span = (Time, Time);

pub(crate) const BEGIN: Time = Time::from_nanos(i64::MIN + 1);

pub(crate) const END: Time = Time::from_nanos(i64::MAX);

/// Member of a feature's record whose location is gone: which things were there, and since when.
pub(crate) const HELD: &str = "@held";

/// When things were where, as a historical location tells it, or a feature whose location is gone.
pub(crate) fn stays_told(entity: &Entity) -> Vec<Stay> {
    let since = |json: &Json| time::instant(json.as_str()?);
    let stay = |thing: &Id, at: &Json| Some((thing.clone(), since(at)?, entity.id.clone()));
    match entity.kind {
        Kind::HistoricalLocation => {
            let thing = entity.links["Thing"].first().zip(entity.body.get("time"));
            thing
                .and_then(|(thing, at)| stay(thing, at))
                .into_iter()
                .collect()
        }
        Kind::FeatureOfInterest => {
            let held = entity.body.get(HELD).and_then(Json::as_array);
            let held = held.into_iter().flatten();
            held.filter_map(|it| stay(&Id::of_json(&it[0])?, &it[1]))
                .collect()
        }
        _ => Vec::new(),
    }
}
