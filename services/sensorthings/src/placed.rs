//! What observations are of that name no feature: of where their thing was at their time (18-088 section 8.2.8),
//! whichever protocol they came by.
//!
//! Nothing of it is kept while it follows: historical locations say where a thing was, and a feature follows from the
//! location. So it is also right for what was observed before a historical location was told or corrected. A feature
//! that follows is there where something observed it ([`crate::features::listed`]). The decision worth arguing is
//! `docs/decisions/0068-a-feature-follows-from-where-its-thing-was.md`.

use crate::entity::Entity;
use crate::filter::geometry;
use crate::id::Id;
use crate::kind::Kind;
use crate::stays::{BEGIN, END, Span, Stay, stays_told};
use crate::view::View;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;
use weir_model::Time;

impl View {
    /// The feature of an observation of a datastream that names none: of where its thing was at this time, before all
    /// that is known where it was first.
    // [STA-A.3.1.1-6] [STA-A.3.1.1-7]
    pub(crate) fn default_feature(&self, source: &Entity, time: Time) -> Option<&Arc<Entity>> {
        let thing = source.links["Thing"].first()?;
        let is_before =
            |(its, since, _): &Stay| its.cmp(thing).then(since.cmp(&time)) != Ordering::Greater;
        let last = self.stays.last_before(is_before);
        let last = last.filter(|((its, ..), _)| its == thing);
        match last.or_else(|| self.stays_of(thing).next()) {
            Some(stay) => self.feature_of(stay),
            None => self.feature_at(self.location_now(thing)?),
        }
    }

    /// When a thing was where, each with the type of the entity that says so.
    fn stays_of<'a>(&'a self, thing: &'a Id) -> impl Iterator<Item = (&'a Stay, &'a Kind)> {
        self.stays.matching(move |(its, ..)| its.cmp(thing))
    }

    /// Whether it is told when a thing was where.
    pub(crate) fn was_somewhere(&self, thing: &Id) -> bool {
        self.stays_of(thing).next().is_some()
    }

    /// The feature of who was where a historical location says, or a feature whose location is gone.
    fn feature_of(&self, ((.., told), kind): (&Stay, &Kind)) -> Option<&Arc<Entity>> {
        let told = self.find(*kind, told)?;
        match kind {
            Kind::HistoricalLocation => self.feature_at(self.described(&told.links["Locations"])?),
            _ => Some(told),
        }
    }

    /// Where a thing is of which no historical location tells.
    fn location_now(&self, thing: &Id) -> Option<&Id> {
        let thing = self.find(Kind::Thing, thing);
        self.described(&thing.filter(|it| !it.is_implied)?.links["Locations"])
    }

    /// Of what may be several descriptions of one place (18-088 section 8.2.2) the one that is a geometry, if there is
    /// one.
    fn described<'a>(&self, locations: &'a [Id]) -> Option<&'a Id> {
        let is_geometry = |id: &&Id| {
            let location = self.find(Kind::Location, id);
            location.is_some_and(|it| it.body.get("location").and_then(geometry).is_some())
        };
        match locations {
            [only] => Some(only),
            several => several.iter().find(is_geometry).or(several.first()),
        }
    }

    /// The feature of a location: that which an earlier version made of it or somebody described, or that which
    /// follows.
    pub(crate) fn feature_at(&self, location: &Id) -> Option<&Arc<Entity>> {
        let mut made = self.features.matching(|(origin, _)| origin.cmp(location));
        match made.next() {
            Some(((_, made), ())) => self.find(Kind::FeatureOfInterest, made),
            None => {
                let location = self.find(Kind::Location, location)?;
                (!location.is_implied).then(|| location.feature())
            }
        }
    }

    /// Whether a feature follows from a location, and nobody described it.
    pub(crate) fn follows(&self, feature: &Arc<Entity>) -> bool {
        let origin = feature.origin.as_ref();
        let location = origin.and_then(|id| self.find(Kind::Location, id));
        location.is_some_and(|it| Arc::ptr_eq(it.feature(), feature))
    }

    /// The feature of this identifier that follows from the location of a thing.
    pub(crate) fn placed(&self, id: &Id) -> Option<&Arc<Entity>> {
        let feature = self.feature_at(id)?;
        let is_it = feature.id == *id && self.sources_at(feature).next().is_some();
        is_it.then_some(feature)
    }

    /// Those who were at the location that a feature follows from, each with from when to when, perhaps more than once.
    pub(crate) fn who_was_at<'a>(
        &'a self,
        feature: &'a Entity,
    ) -> impl Iterator<Item = (Id, Span)> + 'a {
        let location = feature.origin.iter();
        let location = location.filter(|_| feature.kind == Kind::FeatureOfInterest);
        let there = location.flat_map(move |location| {
            let referring = self.referring(Kind::Location, location);
            let found = referring.filter_map(move |(kind, id)| self.find(kind, id));
            found.filter(move |it| self.described(&it.links["Locations"]) == Some(location))
        });
        let spans = there.flat_map(move |it| match it.kind {
            Kind::Thing if !self.was_somewhere(&it.id) => vec![(it.id.clone(), (BEGIN, END))],
            _ => self.spans_of(stays_told(it)),
        });
        spans.chain(self.spans_of(stays_told(feature)))
    }

    /// From when to when things were somewhere.
    fn spans_of(&self, stays: Vec<Stay>) -> Vec<(Id, Span)> {
        let with_span = |stay: Stay| (stay.0.clone(), self.span_of(&stay));
        stays.into_iter().map(with_span).collect()
    }

    fn span_of(&self, own: &Stay) -> Span {
        let first = self.stays_of(&own.0).next();
        let is_first = first.is_some_and(|(first, _)| first == own);
        let behind = |stay: &Stay| {
            if stay <= own {
                Ordering::Less
            } else {
                stay.0.cmp(&own.0)
            }
        };
        let next = self.stays.matching(behind).next();
        let end = next.map_or(END, |((_, since, _), _)| *since);
        (if is_first { BEGIN } else { own.1 }, end)
    }

    /// Things that were where a feature follows from.
    pub(crate) fn things_at(&self, feature: &Entity) -> BTreeSet<Id> {
        self.who_was_at(feature).map(|(thing, _)| thing).collect()
    }

    /// The datastreams and multi-datastreams of those things, perhaps more than once.
    pub(crate) fn sources_at<'a>(
        &'a self,
        feature: &'a Entity,
    ) -> impl Iterator<Item = &'a Arc<Entity>> {
        let things = self.who_was_at(feature);
        things.flat_map(move |(thing, _)| self.sources_of(&thing))
    }

    pub(crate) fn sources_of(&self, thing: &Id) -> Vec<&Arc<Entity>> {
        let kinds = [Kind::Datastream, Kind::MultiDatastream].into_iter();
        let sources = kinds.flat_map(|kind| self.linking(Kind::Thing, thing, kind));
        sources.collect()
    }

    /// Whether the thing of a datastream was at one place and no other.
    pub(crate) fn stays_put(&self, source: &Entity) -> bool {
        let things = source.links["Thing"].iter();
        things
            .flat_map(|thing| self.stays_of(thing))
            .nth(1)
            .is_none()
    }

    /// The features that observations of a datastream which name none may have from when to when there are any.
    pub(crate) fn default_features<'a>(
        &'a self,
        source: &'a Entity,
        (first, last): Span,
    ) -> Vec<&'a Arc<Entity>> {
        let Some(thing) = source.links["Thing"].first() else {
            return Vec::new();
        };
        let within = |(stay, _): &(&Stay, &Kind)| {
            let (from, to) = self.span_of(stay);
            from <= last && first < to
        };
        let told = self.stays_of(thing).filter(within);
        let told = told.filter_map(|stay| self.feature_of(stay));
        let now = (!self.was_somewhere(thing)).then(|| self.location_now(thing));
        let now = now.flatten().and_then(|now| self.feature_at(now));
        let mut features: Vec<_> = told.chain(now).collect();
        features.sort_by_key(|feature| &feature.id);
        features.dedup_by_key(|feature| &feature.id);
        features
    }
}
