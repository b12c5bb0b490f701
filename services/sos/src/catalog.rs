//! The datastreams by their names, brought up to date before each request from what the hub says changed.
//!
//! It is no second store: all in it can be dropped and read again. What observations change is not in it. The
//! decision worth arguing: a request has it as it was when the request began, and shares it; only where one
//! reads while something is described anew, it is copied.

use crate::exception::Exception;
use crate::inventory::{Named, is_offered, named};
use crate::offerings::Offerings;
use crate::records::Set;
use crate::whereabouts::Whereabouts;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use weir_hub::{Entry, Hub};
use weir_model::Filter;

/// What is known, for all requests.
#[derive(Default)]
pub(crate) struct Catalog {
    known: Mutex<Arc<Known>>,
}

type Index = BTreeMap<String, BTreeSet<Arc<str>>>;

/// The datastreams as of some revision of the hub's descriptions.
#[derive(Clone, Default)]
pub(crate) struct Known {
    /// `None` before the first.
    revision: Option<u64>,
    by_topic: BTreeMap<Arc<str>, Arc<Named>>,
    by_procedure: Index,
    by_property: Index,
    pub(crate) offerings: Offerings,
    pub(crate) whereabouts: Whereabouts,
}

impl Catalog {
    /// What is known as of now.
    pub(crate) fn current(&self, hub: &Arc<Hub>) -> Result<Arc<Known>, Exception> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.revision != Some(hub.revision()) {
            Arc::make_mut(&mut known).update(hub)?;
        }
        Ok(known.clone())
    }
}

impl Known {
    fn update(&mut self, hub: &Arc<Hub>) -> Result<(), Exception> {
        let changed = hub.changed_since(self.revision.unwrap_or(u64::MAX));
        match changed.names {
            None => {
                *self = Self::default();
                let entries = entries(hub, "#");
                entries.iter().for_each(|entry| self.take(entry));
                for (procedure, sensor) in Set::Sensors.kept(hub) {
                    self.offerings.take(&procedure, &sensor);
                }
                for set in Set::OF_WHEREABOUTS {
                    for (id, record) in set.kept(hub) {
                        self.whereabouts.take(set, &id, Some(&record));
                    }
                }
            }
            Some(names) => {
                let names: BTreeSet<_> = names.into_iter().collect();
                for name in names {
                    if let Some(procedure) = Set::Sensors.id_of(&name) {
                        self.offerings.forget(&procedure);
                        for (procedure, sensor) in Set::Sensors.kept_at(hub, &name) {
                            self.offerings.take(&procedure, &sensor);
                        }
                        continue;
                    }
                    self.move_things(hub, &name);
                    self.forget(&name);
                    let found = entries(hub, &name);
                    found.iter().for_each(|entry| self.take(entry));
                }
            }
        }
        self.revision = Some(changed.revision);
        Ok(())
    }

    /// Takes a record that says where things were, if this is one's key.
    fn move_things(&mut self, hub: &Arc<Hub>, key: &str) {
        let mut sets = Set::OF_WHEREABOUTS.into_iter();
        let found = sets.find_map(|set| Some((set, set.id_of(key)?)));
        if let Some((set, id)) = found {
            let record = set.kept_at(hub, key).pop();
            let record = record.as_ref().map(|(_, record)| record);
            self.whereabouts.take(set, &id, record);
        }
    }

    fn take(&mut self, entry: &Entry) {
        if !is_offered(entry) {
            return;
        }
        let named = Arc::new(named(entry));
        let topic = named.topic.clone();
        for (index, name) in [
            (&mut self.by_procedure, &named.procedure),
            (&mut self.by_property, &named.property),
        ] {
            let topics = index.entry(name.clone()).or_default();
            topics.insert(topic.clone());
        }
        self.by_topic.insert(topic, named);
    }

    fn forget(&mut self, topic: &str) {
        let Some(named) = self.by_topic.remove(topic) else {
            return;
        };
        for (index, name) in [
            (&mut self.by_procedure, &named.procedure),
            (&mut self.by_property, &named.property),
        ] {
            let Some(topics) = index.get_mut(name) else {
                continue;
            };
            topics.remove(topic);
            if topics.is_empty() {
                index.remove(name);
            }
        }
    }

    /// All, by topic.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Named>> {
        self.by_topic.values()
    }

    /// The datastream of a topic.
    pub(crate) fn of_topic(&self, topic: &str) -> Option<&Arc<Named>> {
        self.by_topic.get(topic)
    }

    /// The procedures that have datastreams.
    pub(crate) fn procedures(&self) -> impl Iterator<Item = &str> {
        self.by_procedure.keys().map(String::as_str)
    }

    /// Those of a procedure, by topic.
    pub(crate) fn of_procedure<'s>(
        &'s self,
        procedure: &str,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s> {
        self.listed(&self.by_procedure, procedure)
    }

    /// Those that observe a property, by topic.
    pub(crate) fn of_property<'s>(
        &'s self,
        property: &str,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s> {
        self.listed(&self.by_property, property)
    }

    fn listed<'s>(
        &'s self,
        index: &'s Index,
        name: &str,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s> {
        let topics = index.get(name).into_iter().flatten();
        topics.filter_map(|topic| self.of_topic(topic))
    }
}

/// The datastreams that match: one that is not there any more is none.
fn entries(hub: &Arc<Hub>, filter: &str) -> Vec<Entry> {
    // Keys of records that are no topics name no datastream.
    let filter = Filter::parse(filter).ok();
    hub.internal().entries(filter.as_slice())
}
