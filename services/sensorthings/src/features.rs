//! Which features that follow from a location are there: those of which something was observed.
//!
//! They are listed while they follow, and kept where what they follow from goes.

use crate::context::Context;
use crate::draft::Draft;
use crate::entity::Entity;
use crate::fault::Result;
use crate::history::{filters_of, read};
use crate::kind::Kind;
use crate::stays::{BEGIN, END, HELD, Span, stays_told};
use crate::values::instant;
use serde_json::json;
use std::sync::Arc;
use weir_hub::limits::PAGE_OBSERVATIONS_MAX;
use weir_model::Time;

/// The features that may be read and that somebody described, or that something observed, by identifier.
pub(crate) fn listed(context: &Context<'_>) -> Result<Vec<Arc<Entity>>> {
    let view = context.view;
    let mut listed: Vec<_> = view.all(Kind::FeatureOfInterest).collect();
    for location in view.all(Kind::Location) {
        let followed = view.placed(&location.id);
        if let Some(feature) = followed.filter(|it| view.follows(it))
            && is_observed(context, feature)?
        {
            listed.push(feature);
        }
    }
    listed.sort_by_key(|feature| &feature.id);
    let may_read = |it: &&Arc<Entity>| view.may_read(context.grants(), it);
    let listed = listed.into_iter().filter(may_read);
    Ok(listed.cloned().collect())
}

/// Whether there are observations of a feature that follows from a location, as far as the caller may read them.
pub(crate) fn is_observed(context: &Context<'_>, feature: &Entity) -> Result<bool> {
    let view = context.view;
    for (thing, span) in view.who_was_at(feature) {
        for source in view.sources_of(&thing) {
            if view.may_read(context.grants(), source) && is_source(context, source, span)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether an observation of a span of time names no feature, as far as a page of them tells.
fn is_source(context: &Context<'_>, source: &Entity, (from, to): Span) -> Result<bool> {
    let filters = filters_of(context.grants(), source)?;
    if filters.is_empty() {
        return Ok(false);
    }
    let topic = source.published_at().into_iter().next().unwrap_or_default();
    let Some(last) = context.hub.last_of(topic) else {
        return Ok(false);
    };
    if last.extra().feature.is_none() && (from..to).contains(&last.time) {
        return Ok(true);
    }
    let page = read(context, &filters, (from, to), PAGE_OBSERVATIONS_MAX, None)?;
    Ok((0..page.batch.len()).any(|row| page.batch.row(row).extra.feature.is_none()))
}

impl Draft<'_> {
    /// Keeps the features that follow and of which something was observed, where what they follow from or what was
    /// observed goes (18-088 table 25).
    pub(crate) fn keep_features(&mut self, goes: &Entity) -> Result<()> {
        let (context, kind) = (self.context, goes.kind);
        let view = context.view;
        if kind == Kind::Location {
            return self.keep_feature(goes);
        }
        let is_source = matches!(kind, Kind::Datastream | Kind::MultiDatastream);
        let kinds = [Kind::Datastream, Kind::MultiDatastream].into_iter();
        let linking = kinds.flat_map(|from| view.linking(kind, &goes.id, from));
        let own = Some(goes).filter(|_| is_source);
        let sources = linking.map(|it| &**it).chain(own);
        for feature in sources.flat_map(|it| view.default_features(it, (BEGIN, END))) {
            if view.follows(feature) && is_observed(context, feature)? {
                self.note((**feature).clone());
            }
        }
        Ok(())
    }

    /// Keeps the feature of an observation that names none and goes.
    pub(crate) fn keep_default(&mut self, source: &Entity, time: Time) {
        let view = self.context.view;
        let feature = view.default_feature(source, time);
        if let Some(feature) = feature.filter(|it| view.follows(it)) {
            self.note((**feature).clone());
        }
    }

    /// Keeps the feature of a location that goes: what was observed there stays of it.
    fn keep_feature(&mut self, location: &Entity) -> Result<()> {
        let context = self.context;
        let view = context.view;
        let Some(feature) = view.feature_at(&location.id) else {
            return Ok(());
        };
        if !is_observed(context, feature)? {
            return Ok(());
        }
        let told = view.linking(Kind::Location, &location.id, Kind::HistoricalLocation);
        let told = told.into_iter().filter(|it| context.goes_along(it));
        let stays = told
            .flat_map(|it| stays_told(it))
            .chain(stays_told(feature));
        let held = stays.map(|(thing, since, _)| json!([thing.to_json(), instant(since)]));
        let mut kept = (**feature).clone();
        kept.body.insert(HELD.into(), held.collect());
        self.note(kept);
        Ok(())
    }
}
