//! All entities as they are linked: a view of the hub's catalog and records, brought up to date before
//! each request from what changed since.
//!
//! It is no second store: all in it can be dropped and read again. Observations are not in it. The decision
//! worth arguing: a copy of it costs some references ([`Sorted`]), so that a request keeps the view that it
//! began with and holds no lock while it reads the history.

use crate::entity::{Entity, MEMBER, ROOT, of_key};
use crate::fault::Result;
use crate::id::{At, Id};
use crate::kind::Kind;
use crate::sorted::Sorted;
use crate::stays::{Stay, stays_told};
use std::collections::BTreeSet;
use std::sync::Arc;
use weir_hub::{Entry, Grants, Hub, Verb};
use weir_model::Filter;

/// From whom a link leads to whom, the latter first.
type Back = (Kind, Id, Kind, Id);

/// The entities.
#[derive(Clone, Default)]
pub(crate) struct View {
    /// As of which revision of the hub's descriptions; `None` before the first.
    revision: Option<u64>,
    /// By type, in the order of [`Kind::ALL`].
    sets: Vec<Sorted<Id, Arc<Entity>>>,
    /// Who links to an entity.
    back: Sorted<Back, ()>,
    topics: Sorted<Arc<str>, Id>,
    /// Multi-datastreams by topic, and by those of their components with the components' numbers.
    multis: Sorted<Arc<str>, Id>,
    components: Sorted<Arc<str>, (Id, u32)>,
    numbers: Sorted<u32, Id>,
    /// Features that some observations of a topic name.
    featured: Sorted<(String, Id), ()>,
    /// Datastreams and multi-datastreams by the feature of their observations that name none.
    origins: Sorted<(Id, Kind, Id), ()>,
    /// Features by the location that they were made from.
    pub(crate) features: Sorted<(Id, Id), ()>,
    /// When things were where, each with the type of the entity that says so.
    pub(crate) stays: Sorted<Stay, Kind>,
    /// Observations that were corrected: from the identifier they keep to the place they have, and back.
    moved: Sorted<Id, At>,
    named: Sorted<At, Id>,
    last_id: u64,
    /// Entities that lost the last reference to them.
    orphans: Vec<(Kind, Id)>,
}

impl View {
    /// Takes what changed.
    pub(crate) fn update(&mut self, hub: &Arc<Hub>) -> Result<()> {
        if self.revision == Some(hub.revision()) {
            return Ok(());
        }
        let changed = hub.changed_since(self.revision.unwrap_or(u64::MAX));
        match changed.names {
            None => self.read_all(hub)?,
            Some(names) => {
                let names: BTreeSet<_> = names.into_iter().collect();
                names.iter().try_for_each(|name| self.read_one(hub, name))?;
            }
        }
        self.revision = Some(changed.revision);
        Ok(())
    }

    fn read_all(&mut self, hub: &Arc<Hub>) -> Result<()> {
        *self = View {
            sets: vec![Sorted::default(); Kind::ALL.len()],
            ..View::default()
        };
        let root = format!("{ROOT}/#");
        for entity in entities(hub, &root) {
            self.take_record(&entity.key, Some(&entity.body));
        }
        for entry in entries(hub, "#") {
            self.take_entry(&entry.topic.clone(), Some(&entry));
        }
        Ok(())
    }

    fn read_one(&mut self, hub: &Arc<Hub>, name: &str) -> Result<()> {
        if name.starts_with(ROOT) && of_key(name).is_some() {
            let found = entities(hub, name);
            let body = found.first().map(|entity| &entity.body[..]);
            self.take_record(name, body);
            return Ok(());
        }
        let found = entries(hub, name);
        self.take_entry(name, found.first());
        Ok(())
    }

    fn take_record(&mut self, key: &str, body: Option<&[u8]>) {
        let Some((kind, id)) = of_key(key) else {
            return;
        };
        if let Id::Number(number) = id {
            self.last_id = self.last_id.max(number);
        }
        if kind == Kind::Observation {
            return self.take_correction(id, body);
        }
        match body.and_then(|body| Entity::of_record(kind, id.clone(), body)) {
            Some(entity) => self.put(entity),
            None => self.remove(kind, &id),
        }
    }

    fn take_correction(&mut self, id: Id, body: Option<&[u8]>) {
        if let Some(at) = self.moved.remove(&id) {
            self.named.remove(&at);
        }
        let place = body.and_then(|body| serde_json::from_slice::<serde_json::Value>(body).ok());
        let place = place.and_then(|body| At::parse(body["is"].as_str()?));
        if let Some(at) = place {
            self.moved.insert(id.clone(), at);
            self.named.insert(at, id);
        }
    }

    fn take_entry(&mut self, topic: &str, entry: Option<&Entry>) {
        if let Some(id) = self.topics.remove(topic) {
            self.remove(Kind::Datastream, &id);
        }
        if let Some((_, number)) = self.components.remove(topic) {
            self.numbers.remove(&number);
        }
        let entity = entry.and_then(Entity::of_entry);
        let multi = entity.as_ref().and_then(|entity| entity.body.get(MEMBER));
        if let (Some(entity), Some(multi)) = (&entity, multi.and_then(Id::of_json)) {
            return self.take_component(entity, multi);
        }
        if let (Some(entity), Some(entry)) = (entity, entry) {
            self.topics.insert(entity.key.clone(), entity.id.clone());
            let thing = entity.links["Thing"][0].clone();
            self.put(entity);
            self.place(&thing, entry);
        }
    }

    /// A component is no datastream of this service.
    fn take_component(&mut self, entity: &Entity, multi: Id) {
        let Id::Number(number) = entity.id else {
            return;
        };
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.numbers.insert(number, multi.clone());
        self.components.insert(entity.key.clone(), (multi, number));
    }

    /// Gives a thing that nobody described the place that its datastream has.
    fn place(&mut self, thing: &Id, entry: &Entry) {
        let known = self
            .find(Kind::Thing, thing)
            .filter(|thing| thing.is_implied);
        let (Some(known), Some(place)) = (known, entry.datastream.place) else {
            return;
        };
        if known.links["Locations"] != [thing.clone()] {
            let mut known = (**known).clone();
            known.links.insert("Locations", vec![thing.clone()]);
            self.put(known);
        }
        let mut location = Entity::implied_location(thing, place, &entry.topic);
        if let Some(known) = self.find(Kind::Location, thing) {
            if known.body == location.body
                && known.topics.iter().any(|topic| **topic == *entry.topic)
            {
                return;
            }
            location.tell_beside(known, &entry.topic);
        }
        self.put(location);
    }

    fn set_of(&mut self, kind: Kind) -> &mut Sorted<Id, Arc<Entity>> {
        &mut self.sets[kind as usize]
    }

    fn put(&mut self, entity: Entity) {
        let (kind, id) = (entity.kind, entity.id.clone());
        self.unlink(kind, &id);
        if kind == Kind::MultiDatastream {
            self.multis.insert(entity.key.clone(), id.clone());
        }
        for topic in named_by(&entity) {
            self.featured.insert((topic.clone(), id.clone()), ());
        }
        if let Some(feature) = usual_feature(&entity) {
            self.origins.insert((feature.clone(), kind, id.clone()), ());
        }
        for (to, target) in targets(&entity) {
            let back = (to, target.clone(), kind, id.clone());
            self.back.insert(back, ());
            if self.find(to, &target).is_none() {
                let implied = Arc::new(Entity::implied(to, &target));
                self.set_of(to).insert(target, implied);
            }
        }
        if let Some(origin) = made_from(&entity) {
            self.features.insert((origin.clone(), id.clone()), ());
        }
        for stay in stays_told(&entity) {
            self.stays.insert(stay, kind);
        }
        self.set_of(kind).insert(id, Arc::new(entity));
        self.prune();
    }

    fn remove(&mut self, kind: Kind, id: &Id) {
        self.unlink(kind, id);
        if self.set_of(kind).remove(id).is_some() && self.is_needed(kind, id) {
            let implied = Arc::new(Entity::implied(kind, id));
            self.set_of(kind).insert(id.clone(), implied);
        }
        self.prune();
    }

    /// Takes back the links of an entity as it was; what nobody refers to any more and nobody described
    /// goes with the last of them.
    fn unlink(&mut self, kind: Kind, id: &Id) {
        let Some(old) = self.find(kind, id).cloned() else {
            return;
        };
        if kind == Kind::MultiDatastream {
            self.multis.remove(&old.key);
        }
        for topic in named_by(&old) {
            self.featured.remove(&(topic.clone(), id.clone()));
        }
        if let Some(feature) = usual_feature(&old) {
            self.origins.remove(&(feature.clone(), kind, id.clone()));
        }
        if let Some(origin) = made_from(&old) {
            self.features.remove(&(origin.clone(), id.clone()));
        }
        for stay in stays_told(&old) {
            self.stays.remove(&stay);
        }
        for (to, target) in targets(&old) {
            let back = (to, target, kind, id.clone());
            self.back.remove(&back);
            if !self.is_needed(to, &back.1) {
                self.orphans.push((to, back.1));
            }
        }
    }

    /// Whether something refers to an entity.
    fn is_needed(&self, kind: Kind, id: &Id) -> bool {
        self.referring(kind, id).next().is_some()
    }

    /// Those that refer to an entity.
    pub(crate) fn referring<'a>(
        &'a self,
        kind: Kind,
        id: &'a Id,
    ) -> impl Iterator<Item = (Kind, &'a Id)> {
        let links = self
            .back
            .matching(move |(to, target, ..)| (to, target).cmp(&(&kind, id)));
        links.map(|((_, _, from, source), ())| (*from, source))
    }
}

impl View {
    fn prune(&mut self) {
        while let Some((kind, id)) = self.orphans.pop() {
            let is_implied = self.find(kind, &id).is_some_and(|entity| entity.is_implied);
            if is_implied && !self.is_needed(kind, &id) {
                self.unlink(kind, &id);
                self.set_of(kind).remove(&id);
            }
        }
    }

    /// The entity of this identifier, a feature also where it follows from a location.
    pub(crate) fn find(&self, kind: Kind, id: &Id) -> Option<&Arc<Entity>> {
        let known = self.sets.get(kind as usize)?.get(id);
        match kind {
            Kind::FeatureOfInterest => known.or_else(|| self.placed(id)),
            _ => known,
        }
    }

    /// The datastream of this topic.
    pub(crate) fn datastream(&self, topic: &str) -> Option<&Arc<Entity>> {
        self.find(Kind::Datastream, self.topics.get(topic)?)
    }

    /// The datastream or multi-datastream of this topic.
    pub(crate) fn source(&self, topic: &str) -> Option<&Arc<Entity>> {
        let multi = || self.find(Kind::MultiDatastream, self.multis.get(topic)?);
        self.datastream(topic).or_else(multi)
    }

    /// The multi-datastream that the datastream of this topic is a component of.
    pub(crate) fn component(&self, topic: &str) -> Option<&Arc<Entity>> {
        let (multi, _) = self.components.get(topic)?;
        self.find(Kind::MultiDatastream, multi)
    }

    /// The number that observations of a datastream or multi-datastream are known by.
    pub(crate) fn number_of(&self, source: &Entity) -> Option<u32> {
        match (source.topics.first(), &source.id) {
            (Some(first), _) => Some(self.components.get(&**first)?.1),
            (None, Id::Number(number)) => u32::try_from(*number).ok(),
            (None, Id::Text(_)) => None,
        }
    }

    /// All of a type, by identifier.
    pub(crate) fn all(&self, kind: Kind) -> impl Iterator<Item = &Arc<Entity>> {
        let set = self.sets.get(kind as usize).into_iter();
        set.flat_map(Sorted::iter).map(|(_, entity)| entity)
    }

    /// Those of a type that link to an entity, by identifier.
    pub(crate) fn linking(&self, kind: Kind, id: &Id, from: Kind) -> Vec<&Arc<Entity>> {
        let wanted =
            move |(to, target, source, _): &Back| (to, target, source).cmp(&(&kind, id, &from));
        let linking = self.back.matching(wanted);
        linking
            .filter_map(|((_, _, kind, id), ())| self.find(*kind, id))
            .collect()
    }

    /// Whether an entity may be read; what nobody described may be where something that refers to it may, a place that
    /// a datastream tells where that may, and a feature that follows from observations where some of these may.
    pub(crate) fn may_read(&self, grants: &Grants, entity: &Entity) -> bool {
        if !entity.is_implied {
            let is_told = !entity.follows() || self.is_observed_for(grants, entity);
            return is_told && grants.allow(Verb::Read, &entity.key);
        }
        if entity.kind == Kind::Location && entity.told_to(grants).is_none() {
            return false;
        }
        let mut from = self.referring(entity.kind, &entity.id);
        from.any(|(kind, id)| {
            self.find(kind, id)
                .is_some_and(|it| self.may_read(grants, it))
        })
    }

    /// Whether observations of a feature may be read, where there are any.
    fn is_observed_for(&self, grants: &Grants, feature: &Entity) -> bool {
        let mut named = feature.topics.iter();
        let wanted = |(of, ..): &(Id, Kind, Id)| of.cmp(&feature.id);
        let usual = self.origins.matching(wanted);
        let usual = usual.filter_map(|((_, kind, id), ())| self.find(*kind, id));
        let mut usual = usual.chain(self.sources_at(feature)).peekable();
        let is_observed = !feature.topics.is_empty() || usual.peek().is_some();
        !is_observed
            || named.any(|topic| grants.allow(Verb::Read, topic))
            || usual.any(|source| self.may_read(grants, source))
    }

    /// An entity as far as it may be read.
    pub(crate) fn seen<'v>(
        &self,
        grants: &Grants,
        entity: &'v Arc<Entity>,
    ) -> Option<&'v Arc<Entity>> {
        if !self.may_read(grants, entity) {
            return None;
        }
        if entity.is_implied && entity.kind == Kind::Location {
            Some(entity.told_to(grants).flatten().unwrap_or(entity))
        } else {
            Some(entity)
        }
    }

    /// The features that observations of a datastream name.
    pub(crate) fn named_at<'a>(
        &'a self,
        datastream: &'a Entity,
    ) -> impl Iterator<Item = &'a Arc<Entity>> {
        let named = |(topic, _): &(String, Id)| (**topic).cmp(&*datastream.key);
        let named = self.featured.matching(named).map(|((_, id), ())| id);
        named.filter_map(|id| self.find(Kind::FeatureOfInterest, id))
    }

    /// Where an observation stands.
    pub(crate) fn place_of(&self, id: &Id) -> Option<At> {
        self.moved
            .get(id)
            .copied()
            .or_else(|| At::parse(&id.to_string()))
    }

    /// The identifier of the observation that stands at a place.
    pub(crate) fn id_of(&self, at: At) -> String {
        let named = self.named.get(&at).map(Id::to_string);
        named.unwrap_or_else(|| at.id())
    }

    /// Whether an observation keeps an identifier from before it was corrected.
    pub(crate) fn is_moved(&self, id: &Id) -> bool {
        self.moved.get(id).is_some()
    }

    /// A number beyond which no entity had one: it grows with the log.
    pub(crate) fn next_id(&self, hub: &Hub) -> u64 {
        self.last_id.max(hub.positions().0.sequence())
    }

    /// An identifier that nobody has, for where other gateways give some at the same time.
    pub(crate) fn drawn_id(&self) -> Id {
        let is_free = |id: &Id| Kind::ALL.iter().all(|&kind| self.find(kind, id).is_none());
        let mut drawn = std::iter::repeat_with(Id::drawn);
        drawn.find(is_free).unwrap_or_else(Id::drawn)
    }

    /// The datastream or multi-datastream of this number.
    pub(crate) fn of_number(&self, number: u32) -> Option<&Arc<Entity>> {
        let multi = || self.find(Kind::MultiDatastream, self.numbers.get(&number)?);
        let datastream = self.find(Kind::Datastream, &Id::Number(u64::from(number)));
        datastream.or_else(multi)
    }
}

/// The topics at which some observations name a feature.
fn named_by(entity: &Entity) -> impl Iterator<Item = &String> {
    let is_feature = entity.kind == Kind::FeatureOfInterest;
    entity.topics.iter().filter(move |_| is_feature)
}

/// The feature of the observations of a datastream or multi-datastream that name none.
fn usual_feature(entity: &Entity) -> Option<&Id> {
    let is_source = matches!(entity.kind, Kind::Datastream | Kind::MultiDatastream);
    entity.origin.as_ref().filter(|_| is_source)
}

/// The location that a feature was made from.
fn made_from(entity: &Entity) -> Option<&Id> {
    let origin = entity.origin.as_ref();
    origin.filter(|_| entity.kind == Kind::FeatureOfInterest)
}

/// What an entity's own links lead to.
fn targets(entity: &Entity) -> Vec<(Kind, Id)> {
    let kept = entity.links.iter().filter_map(|(name, ids)| {
        let way = entity.kind.navigation(name)?;
        Some(ids.iter().map(move |id| (way.to, id.clone())))
    });
    kept.flatten().collect()
}

fn entities(hub: &Arc<Hub>, filter: &str) -> Vec<weir_hub::Entity> {
    let filter = Filter::parse(filter).ok();
    hub.internal().entities(filter.as_slice())
}

/// The datastreams of the catalog that match.
pub(crate) fn entries(hub: &Arc<Hub>, filter: &str) -> Vec<Entry> {
    let filter = Filter::parse(filter).ok();
    hub.internal().entries(filter.as_slice())
}
