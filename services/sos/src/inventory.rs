//! What is offered: the hub's catalog in the words of the service.

use crate::catalog::Known;
use crate::identifiers::{fingerprint, of_nc_name, offering_of};
use crate::named::Named;
use crate::records::{OwnOffering, Set};
use crate::related::Related;
use crate::whereabouts::Followed;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;
use weir_codec::Model;
use weir_hub::{Grants, Hub, Last, Verb};
use weir_model::{Place, Time, Value};

/// What is called so, as it stands.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    named: Arc<Named>,
    /// What observations are of that name no feature, each with since when, the first since ever.
    features: Vec<(Time, Arc<Followed>)>,
    pub(crate) last: Option<Time>,
    /// The type of its last observation.
    pub(crate) class: &'static str,
    /// The same of version 1.0.0.
    pub(crate) model: Option<Model>,
}

impl Deref for Series {
    type Target = Named;

    fn deref(&self) -> &Named {
        &self.named
    }
}

impl Series {
    /// The feature of observations of a time that name none.
    pub(crate) fn feature_at(&self, time: Time) -> &str {
        self.followed_at(time)
            .map_or(&self.named.feature, |it| &it.id)
    }

    /// Where these are.
    pub(crate) fn place_at(&self, time: Option<Time>) -> Option<Place> {
        let followed = time.and_then(|time| self.followed_at(time));
        let place = followed.and_then(|it| it.position()).map(|it| it.place);
        place.or(self.named.place)
    }

    fn followed_at(&self, time: Time) -> Option<&Followed> {
        let later = self.features.partition_point(|(since, _)| *since <= time);
        let found = self.features.get(later.saturating_sub(1))?;
        Some(&found.1)
    }

    /// The feature of observations that come and name none.
    pub(crate) fn feature(&self) -> &str {
        let last = self.features.last();
        last.map_or(&self.named.feature, |(_, it)| &it.id)
    }

    /// All of them, perhaps some more than once.
    pub(crate) fn features(&self) -> impl Iterator<Item = &str> {
        self.features.iter().map(|(_, it)| it.id.as_str())
    }

    /// Whether it depends on the time.
    pub(crate) fn moves(&self) -> bool {
        self.features.len() > 1
    }

    /// The same in the unit of another time.
    pub(crate) fn in_unit(&self, unit: Option<String>) -> Self {
        Self {
            named: Arc::new(self.named.in_unit(unit)),
            ..self.clone()
        }
    }
}

/// All that a principal may read.
pub(crate) struct Inventory<'a> {
    known: Arc<Known>,
    hub: &'a Hub,
    grants: &'a Grants,
}

/// An offering: what one procedure observes, and what is attached to that.
#[derive(Debug)]
pub(crate) struct Offering {
    pub(crate) id: String,
    /// What people call it.
    pub(crate) name: Option<String>,
    pub(crate) procedure: String,
    /// Features that it has something to do with.
    pub(crate) related: Vec<Related>,
    pub(crate) series: Vec<Series>,
}

impl<'a> Inventory<'a> {
    /// What a principal with these grants may read of what is known.
    pub(crate) fn of(known: Arc<Known>, hub: &'a Hub, grants: &'a Grants) -> Self {
        Self { known, hub, grants }
    }

    /// All datastreams, by topic.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Named>> {
        self.readable(self.known.all())
    }

    /// Those of a procedure, by topic.
    pub(crate) fn of_procedure<'s>(
        &'s self,
        procedure: &str,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s, 'a> {
        self.readable(self.known.of_procedure(procedure))
    }

    /// Those that observe a property, by topic.
    pub(crate) fn of_property<'s>(
        &'s self,
        property: &str,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s, 'a> {
        self.readable(self.known.of_property(property))
    }

    /// Those of an offering.
    pub(crate) fn of_offering<'s>(
        &'s self,
        id: &str,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s, 'a> {
        let procedures = self.procedures_of(id).into_iter();
        let all = procedures.flat_map(move |procedure| self.known.of_procedure(&procedure));
        self.readable(all)
    }

    /// The procedures whose observations an offering has, by its identifier or by the name that version 1.0.0
    /// gives it.
    pub(crate) fn procedures_of(&self, id: &str) -> BTreeSet<String> {
        let by_id = self.known.offerings.procedures_of(id);
        match of_nc_name(id) {
            Some(id) if by_id.is_empty() => self.known.offerings.procedures_of(&id),
            _ => by_id,
        }
    }

    /// The offerings that what a procedure observes is in; of one of which nothing may be read, that which it had if
    /// nobody had described it.
    pub(crate) fn offerings_with(&self, procedure: &str) -> BTreeSet<String> {
        if self.tells_of(procedure) {
            self.known.offerings.with(procedure)
        } else {
            BTreeSet::from([offering_of(procedure)])
        }
    }

    /// Whether the caller may read anything of a procedure: its record, or a datastream.
    fn tells_of(&self, procedure: &str) -> bool {
        let record = Set::Sensors.key(procedure);
        self.grants.allow(Verb::Read, &record) || self.of_procedure(procedure).next().is_some()
    }

    /// The offerings of a procedure, the first assigned first.
    pub(crate) fn offerings_of(&self, procedure: &str) -> Vec<OwnOffering> {
        self.known.offerings.owned_by(procedure)
    }

    /// Those that a procedure names itself.
    pub(crate) fn offerings_named_by(&self, procedure: &str) -> &[OwnOffering] {
        self.known.offerings.named_by(procedure)
    }

    /// Whether an offering is another procedure's that the caller may know of.
    pub(crate) fn is_taken(&self, id: &str, procedure: &str) -> bool {
        let is_known = |own: &str| self.known.of_procedure(own).next().is_some();
        let owners = self.known.offerings.owners(id);
        let mut others = owners.iter().filter(|own| *own != procedure);
        others.any(|own| {
            let is_there = is_known(own) || !self.known.offerings.named_by(own).is_empty();
            is_there && self.tells_of(own)
        })
    }

    fn readable<'s, I: Iterator<Item = &'s Arc<Named>>>(
        &'s self,
        all: I,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s, 'a, I> {
        all.filter(|named| self.grants.allow(Verb::Read, &named.topic))
    }

    /// What observations of a datastream are of that name no feature, each with since when, the first since ever; what
    /// is known of a feature, as far as the caller may read it.
    pub(crate) fn features(&self, named: &Named) -> Vec<(Time, Arc<Followed>)> {
        let own = || Arc::new(Followed::unknown(&named.feature));
        let seen = |followed: Arc<Followed>| {
            let key = Set::Features.key(&followed.id);
            if self.grants.allow(Verb::Read, &key) {
                followed
            } else {
                Arc::new(Followed::unknown(&followed.id))
            }
        };
        let told = self.known.whereabouts.features_of(&named.thing);
        let mut all: Vec<_> = told
            .into_iter()
            .map(|(since, feature)| (since, feature.map_or_else(own, seen)))
            .collect();
        if all.is_empty() {
            all.push((Time::from_nanos(i64::MIN), own()));
        }
        all
    }

    /// What is called so, as it stands now.
    pub(crate) fn series(&self, named: &Arc<Named>) -> Series {
        let last = self.hub.last_of(&named.topic);
        let last = last.filter(|last| named.has(last.description));
        let features = self.features(named);
        let series = |value: Option<Value<'_>>, time| Series {
            features: features.clone(),
            named: named.clone(),
            class: class(value.as_ref(), named.unit.is_some()),
            model: model(value.as_ref(), named.unit.as_deref()),
            last: time,
        };
        if last.is_some() || !named.is_part() {
            return series(
                last.as_ref().map(Last::value),
                last.as_ref().map(|last| last.time),
            );
        }
        // The datastream's last observation is called otherwise. What has a unit is of numbers.
        let made = (named.unit.is_none()).then(|| self.hub.last_made(&named.made()));
        match made.and_then(Result::ok).flatten() {
            Some(batch) if !batch.is_empty() => series(Some(batch.value(0)), batch.time(0)),
            _ => series(None, None),
        }
    }

    /// Changes whenever what is offered does, but for until when it was observed, and with nothing else: it is the
    /// same after a restart.
    pub(crate) fn sequence(&self) -> String {
        let mut offered = String::new();
        for own in self.all().map(|named| self.series(named)) {
            let unit = own.unit.as_deref().unwrap_or_default();
            let names = [&*own.topic, &own.procedure, &own.property];
            let names = names.into_iter().chain(own.features());
            for part in names.chain([unit, own.class]) {
                offered.push_str(part);
                offered.push('\n');
            }
            if let Some(place) = own.place {
                offered.push_str(&format!("{} {}\n", place.latitude, place.longitude));
            }
        }
        let procedures = self.all().map(|named| named.procedure.as_str());
        for procedure in distinct(procedures) {
            for own in self.known.offerings.named_by(procedure) {
                let name = own.name.as_deref().unwrap_or_default();
                offered.push_str(&format!("{procedure}\n{}\n{name}\n", own.id));
            }
            for own in self.known.offerings.related_to(procedure) {
                offered.push_str(&format!("{}\n", own.to_json()));
            }
            let below = self.known.offerings.below(procedure).into_iter();
            for part in below.filter(|part| self.tells_of(part)) {
                offered.push_str(&format!("{part}\n"));
            }
        }
        format!("{:016x}", fingerprint(&offered))
    }

    /// The offerings, by procedure.
    pub(crate) fn offerings(&self) -> Vec<Offering> {
        let known = &self.known;
        let procedures = known.procedures().chain(known.offerings.procedures());
        let mut all = Vec::new();
        for procedure in distinct(procedures) {
            let below = known.offerings.below(procedure).into_iter();
            let named = below.flat_map(|own| known.of_procedure(&own));
            let series = self.readable(named).map(|named| self.series(named));
            let series: Vec<Series> = series.collect();
            if series.is_empty() {
                continue;
            }
            let owned = known.offerings.owned_by(procedure).into_iter();
            all.extend(owned.map(|own| Offering {
                id: own.id,
                name: own.name,
                procedure: procedure.to_owned(),
                related: known.offerings.related_to(procedure).to_vec(),
                series: series.clone(),
            }));
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all.dedup_by(|a, b| a.id == b.id);
        all
    }

    /// What a procedure observes of a property: where several are called so, what was so at a time, or else what is
    /// so now.
    pub(crate) fn of_names(
        &self,
        procedure: &str,
        property: &str,
        time: Time,
    ) -> Option<&Arc<Named>> {
        let at = (Some(time), Some(time.plus_nanos(1)));
        let rank = |own: &&Arc<Named>| {
            let held = own.held().iter().any(|held| held.is_in(at));
            (!held, !own.is_newest())
        };
        let own = self.of_procedure(procedure);
        own.filter(|own| own.property == property).min_by_key(rank)
    }

    /// What the datastream of a topic is called, what it is now first.
    pub(crate) fn of_topic<'s>(
        &'s self,
        topic: &str,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s, 'a> {
        self.readable(self.known.of_topic(topic).iter())
    }
}

impl Offering {
    /// What it observes, each once.
    pub(crate) fn properties(&self) -> Vec<&str> {
        distinct(self.series.iter().map(|series| series.property.as_str()))
    }

    /// What it observes that of, each once.
    pub(crate) fn features(&self) -> Vec<&str> {
        distinct(self.series.iter().flat_map(Series::features))
    }
}

/// Sorted, each once.
pub(crate) fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// OGC's type of what was observed last.
fn class(last: Option<&Value<'_>>, has_unit: bool) -> &'static str {
    let types = crate::names::OBSERVATION_TYPES;
    match last {
        Some(value) if has_unit && value.is_numeric() => types[0],
        Some(Value::Bool(_)) => types[1],
        Some(Value::Text(_)) => types[2],
        None if has_unit => types[0],
        _ => types[3],
    }
}

/// The model of what was observed last; of what was announced with a unit, that of numbers.
fn model(last: Option<&Value<'_>>, unit: Option<&str>) -> Option<Model> {
    match last {
        Some(last) => Model::of(last, unit),
        None => unit.map(|_| Model::Measurement),
    }
}
