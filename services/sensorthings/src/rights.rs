//! Rights, as a request's own words allow them to be asked: before anything is looked up, and told without a name that
//! the caller may not read.
//!
//! The decision worth arguing: a refusal says what the caller named, a set of entities, and never the key or the
//! topic that was found behind it. Keys hold numbers, which tell how much there is; a topic may be hidden.

use crate::context::Context;
use crate::entity::{Entity, ROOT, key};
use crate::fault::{Fault, Result};
use crate::id::Id;
use crate::kind::Kind;
use weir_hub::{Hub, Principal, Verb};
use weir_model::Filter;

/// Refuses who may do what a method does to nothing of a set: each such request is answered alike, whatever is there.
pub(crate) fn check_some(hub: &Hub, principal: &Principal, method: &str, set: Kind) -> Result<()> {
    let (verb, filter) = match (method, set) {
        ("POST", Kind::Observation) => (Verb::Publish, "#".to_owned()),
        // They are granted by topics; and what nobody described goes with its datastreams.
        (_, Kind::Datastream | Kind::Observation) | ("DELETE", _) => (Verb::Change, "#".to_owned()),
        _ => (Verb::Change, format!("{ROOT}/{}/+", set.set())),
    };
    let filter = Filter::parse(&filter).map_err(|error| Fault::new(500, error.to_string()))?;
    let checked = hub.check_some(principal, verb, &filter);
    checked.map_err(|_| Fault::denied(principal, verb, set.set()))
}

impl Context<'_> {
    /// Refuses what may not be done to an entity that is kept under a key.
    pub(crate) fn may_change(&self, kind: Kind, id: &Id) -> Result<()> {
        self.may(Verb::Change, &key(kind, id), kind.set())
    }

    /// Refuses what may not be done at the topic of a datastream, which is named where it may be read.
    pub(crate) fn may_at(&self, verb: Verb, topic: &str) -> Result<()> {
        if self.grants().allow(Verb::Read, topic) {
            self.may(verb, topic, &format!("`{topic}`"))
        } else {
            self.may(verb, topic, Kind::Datastream.set())
        }
    }

    /// Refuses who may not describe a datastream at a topic that the caller named: what may not be read is never
    /// looked up for it, so the answer is the same whether there is one.
    pub(crate) fn may_describe(&self, topic: &str) -> Result<()> {
        let named = format!("`{topic}`");
        self.may(Verb::Change, topic, &named)?;
        self.may_read(topic)
    }

    /// Refuses who may not read a topic that the caller named.
    pub(crate) fn may_read(&self, topic: &str) -> Result<()> {
        self.may(Verb::Read, topic, &format!("`{topic}`"))
    }

    fn may(&self, verb: Verb, topic: &str, named: &str) -> Result<()> {
        let checked = self.hub.check(self.principal, verb, topic);
        checked.map_err(|_| Fault::denied(self.principal, verb, named))
    }

    /// Whether what refers to an entity goes with it where that is deleted. What the caller may neither read nor
    /// change is not there for them: it stays.
    pub(crate) fn goes_along(&self, entity: &Entity) -> bool {
        let may_change = |topic: &str| self.grants().allow(Verb::Change, topic);
        let is_theirs = match entity.kind {
            Kind::Datastream => may_change(&entity.key),
            Kind::MultiDatastream => entity.topics.iter().all(|topic| may_change(topic)),
            kind => may_change(&key(kind, &entity.id)),
        };
        is_theirs || self.view.may_read(self.grants(), entity)
    }
}
