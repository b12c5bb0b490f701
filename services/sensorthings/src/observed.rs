//! An observation of the history, and the feature that it is of.

use crate::entity::Entity;
use crate::id::{At, Id};
use crate::kind::Kind;
use crate::view::View;
use std::borrow::Cow;
use std::sync::Arc;

/// An observation of the history.
#[derive(Clone, Debug)]
pub(crate) struct Observed<'a> {
    pub(crate) row: weir_model::Observation<'a>,
    pub(crate) at: At,
    pub(crate) datastream: &'a Arc<Entity>,
}

impl Observed<'_> {
    /// The feature of interest: that which the observation names, or that where its thing was at its time.
    pub(crate) fn feature<'v>(&self, view: &'v View) -> Option<Cow<'v, Arc<Entity>>> {
        let default = || view.default_feature(self.datastream, self.at.time);
        let id = match (self.row.extra.feature, &self.datastream.origin) {
            (Some(named), _) => Id::of_text(named),
            (None, origin) => match default() {
                Some(default) => return Some(Cow::Borrowed(default)),
                None => origin.clone()?,
            },
        };
        let known = view.find(Kind::FeatureOfInterest, &id);
        Some(match known {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(Arc::new(Entity::implied(Kind::FeatureOfInterest, &id))),
        })
    }

    /// Whether it is of a feature.
    pub(crate) fn is_of(&self, view: &View, feature: &Id) -> bool {
        match self.row.extra.feature {
            Some(named) => Id::of_text(named) == *feature,
            None => self.feature(view).is_some_and(|own| own.id == *feature),
        }
    }
}
