//! Where things were that SensorThings describes, and so of which feature their observations are that name none:
//! of where the thing was at their time (OGC 18-088 section 8.2.8), out of the same records as that service has it.

use crate::records::{Set, id_of, ids_of, origin_of, position_at};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weir_codec::crs::Position;
use weir_model::Time;

/// A thing, since when it was somewhere, and the historical location that says so, or the feature where that is gone.
type Stay = (String, Time, String);

const BEGIN: Time = Time::from_nanos(i64::MIN);

/// What the records say.
#[derive(Clone, Default)]
pub(crate) struct Whereabouts {
    /// Each with its locations.
    stays: BTreeMap<Stay, Vec<String>>,
    /// Stays by what says so.
    told: BTreeMap<String, Vec<Stay>>,
    /// The locations of each thing now.
    now: BTreeMap<String, Vec<String>>,
    locations: BTreeMap<String, Location>,
    /// Features that were made from a location and described, by it; and the location of each.
    made: BTreeSet<(String, String)>,
    origins: BTreeMap<String, String>,
}

/// What is known of a location.
#[derive(Clone)]
struct Location {
    is_geometry: bool,
    feature: Arc<Followed>,
}

/// A feature that follows from a location.
#[derive(Debug)]
pub(crate) struct Followed {
    pub(crate) id: String,
    known: Option<(Option<String>, Option<Position>)>,
}

impl Followed {
    /// One of which nothing is known here: it was described, it is of no location, or the caller may not read it.
    pub(crate) fn unknown(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            known: None,
        }
    }

    /// What people call it.
    pub(crate) fn name(&self) -> Option<&str> {
        self.known.as_ref()?.0.as_deref()
    }

    /// Where it is.
    pub(crate) fn position(&self) -> Option<Position> {
        self.known.as_ref()?.1
    }

    /// Whether it follows from a location that is known.
    pub(crate) fn is_known(&self) -> bool {
        self.known.is_some()
    }
}

impl Whereabouts {
    /// Takes a record of a set; none where it is gone.
    pub(crate) fn take(&mut self, set: Set, id: &str, record: Option<&Json>) {
        match set {
            Set::Stays => {
                let stay = record.and_then(|it| {
                    let thing = ids_of(&it["Thing"]).into_iter().next()?;
                    let stay = (thing, since(&it["time"])?, id.to_owned());
                    Some((stay, ids_of(&it["Locations"])))
                });
                self.take_stays(id, stay.into_iter().collect());
            }
            Set::Things => {
                let locations = record.map(|it| ids_of(&it["Locations"]));
                replace(&mut self.now, id, locations);
            }
            Set::Locations => {
                let location = record.map(|it| location(id, it));
                replace(&mut self.locations, id, location);
            }
            Set::Features => {
                if let Some(origin) = self.origins.remove(id) {
                    self.made.remove(&(origin, id.to_owned()));
                }
                let origin = record.and_then(origin_of);
                let held = record.into_iter().flat_map(held_of);
                let held = held.map(|(thing, since)| (thing, since, id.to_owned()));
                let location: Vec<_> = origin.iter().cloned().collect();
                self.take_stays(id, held.map(|stay| (stay, location.clone())).collect());
                if let Some(origin) = origin {
                    self.made.insert((origin.clone(), id.to_owned()));
                    self.origins.insert(id.to_owned(), origin);
                }
            }
            Set::Sensors | Set::Templates => {}
        }
    }

    fn take_stays(&mut self, id: &str, stays: Vec<(Stay, Vec<String>)>) {
        for before in self.told.remove(id).unwrap_or_default() {
            self.stays.remove(&before);
        }
        if !stays.is_empty() {
            let told = stays.iter().map(|(stay, _)| stay.clone());
            self.told.insert(id.to_owned(), told.collect());
            self.stays.extend(stays);
        }
    }

    /// The features that observations of a thing which name none have, each with since when; the first since ever.
    pub(crate) fn features_of(&self, thing: &str) -> Vec<(Time, Option<Arc<Followed>>)> {
        let begin = (thing.to_owned(), BEGIN, String::new());
        let stays = self.stays.range(begin..);
        let stays = stays.take_while(|((its, ..), _)| its == thing);
        let mut all: Vec<_> = stays
            .map(|((_, since, _), locations)| (*since, self.feature_at(locations)))
            .collect();
        if let (true, Some(now)) = (all.is_empty(), self.now.get(thing)) {
            let feature = self.feature_at(now);
            all.extend(feature.map(|feature| (BEGIN, Some(feature))));
        }
        if let Some(first) = all.first_mut() {
            first.0 = BEGIN;
        }
        all
    }

    /// The feature that follows from one of several descriptions of a place, from a geometry if there is one.
    fn feature_at(&self, locations: &[String]) -> Option<Arc<Followed>> {
        let is_geometry = |id: &&String| {
            let known = self.locations.get(*id);
            known.is_some_and(|it| it.is_geometry)
        };
        let id = locations.iter().find(is_geometry).or(locations.first())?;
        let begin = (id.clone(), String::new());
        match self.made.range(begin..).next() {
            Some((origin, made)) if origin == id => Some(Arc::new(Followed::unknown(made))),
            _ => Some(self.locations.get(id)?.feature.clone()),
        }
    }
}

fn location(id: &str, record: &Json) -> Location {
    let name = record["name"].as_str().map(str::to_owned);
    let place = &record["location"];
    Location {
        is_geometry: weir_geo::of_json(place).is_some(),
        feature: Arc::new(Followed {
            id: id.to_owned(),
            known: Some((name, position_at(place))),
        }),
    }
}

fn replace<T>(map: &mut BTreeMap<String, T>, id: &str, value: Option<T>) {
    match value {
        Some(value) => drop(map.insert(id.to_owned(), value)),
        None => drop(map.remove(id)),
    }
}

/// Things that were where a feature is whose location is gone, and since when.
fn held_of(feature: &Json) -> impl Iterator<Item = (String, Time)> {
    let held = feature["@held"].as_array().into_iter().flatten();
    held.filter_map(|it| Some((id_of(&it[0])?, since(&it[1])?)))
}

fn since(said: &Json) -> Option<Time> {
    let text = said.as_str()?;
    match text.len() {
        10 => format!("{text}T00:00:00Z").parse().ok(),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(known: &Whereabouts) -> Vec<(bool, String)> {
        let all = known.features_of("1").into_iter();
        let id = |it: Option<Arc<Followed>>| it.map_or_else(String::new, |it| it.id.clone());
        all.map(|(since, it)| (since == BEGIN, id(it))).collect()
    }

    #[test]
    fn a_thing_is_where_the_records_say_and_first_since_ever() {
        let mut known = Whereabouts::default();
        let point = json!({"type": "Point", "coordinates": [7.5, 50.5]});
        for id in ["2", "3"] {
            let location = json!({"name": id, "location": point});
            known.take(Set::Locations, id, Some(&location));
        }
        known.take(Set::Locations, "4", Some(&json!({"location": "upstairs"})));
        assert_eq!(told(&known), []);
        known.take(Set::Things, "1", Some(&json!({"Locations": [4, 3]})));
        assert_eq!(told(&known), [(true, "3".to_owned())]);
        let stay = |time: &str, at: u32| json!({"Thing": [1], "Locations": [at], "time": time});
        known.take(Set::Stays, "8", Some(&stay("2026-01-02T00:00:00Z", 3)));
        known.take(Set::Stays, "9", Some(&stay("2026-01-01T01:00:00+01:00", 2)));
        let both = [(true, "2".to_owned()), (false, "3".to_owned())];
        assert_eq!(told(&known), both);
        let place = known.features_of("1")[0]
            .1
            .as_ref()
            .and_then(|it| it.position());
        assert!(place.is_some_and(|it| it.place.longitude == 7.5));
        // Somebody described the feature of a location, which goes then.
        let held = json!({"@origin": 2, "@held": [["1", "2026-01-01T00:00:00Z"]]});
        known.take(Set::Features, "10", Some(&held));
        known.take(Set::Stays, "9", None);
        known.take(Set::Locations, "2", None);
        assert_eq!(told(&known), [(true, "10".to_owned()), both[1].clone()]);
        known.take(Set::Features, "10", None);
        assert_eq!(told(&known), [(true, "3".to_owned())]);
    }
}
