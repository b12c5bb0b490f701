//! The datastreams by their names, brought up to date before each request from what the hub says changed.
//!
//! It is no second store: all in it can be dropped and read again. What observations change is not in it. The
//! decision worth arguing: a request has it as it was when the request began, and shares it; only where one
//! reads while something is described anew, it is copied.

use crate::exception::Exception;
use crate::named::{Named, is_offered, named};
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
    by_topic: BTreeMap<Arc<str>, Vec<Arc<Named>>>,
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
        let all: Vec<_> = named(entry).into_iter().map(Arc::new).collect();
        for named in &all {
            for (index, name) in [
                (&mut self.by_procedure, &named.procedure),
                (&mut self.by_property, &named.property),
            ] {
                let topics = index.entry(name.clone()).or_default();
                topics.insert(named.topic.clone());
            }
        }
        self.by_topic.insert(entry.topic.clone(), all);
    }

    fn forget(&mut self, topic: &str) {
        for named in self.by_topic.remove(topic).into_iter().flatten() {
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
    }

    /// All, by topic.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Named>> {
        self.by_topic.values().flatten()
    }

    /// What the datastream of a topic is called, what it is now first.
    pub(crate) fn of_topic(&self, topic: &str) -> &[Arc<Named>] {
        self.by_topic.get(topic).map_or(&[], Vec::as_slice)
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
        let topics = self.by_procedure.get_key_value(procedure);
        self.listed(topics, |own| &own.procedure)
    }

    /// Those that observe a property, by topic.
    pub(crate) fn of_property<'s>(
        &'s self,
        property: &str,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s> {
        let topics = self.by_property.get_key_value(property);
        self.listed(topics, |own| &own.property)
    }

    fn listed<'s>(
        &'s self,
        topics: Option<(&'s String, &'s BTreeSet<Arc<str>>)>,
        name: fn(&Named) -> &String,
    ) -> impl Iterator<Item = &'s Arc<Named>> + use<'s> {
        let topics = topics.into_iter();
        let each = topics.flat_map(|(called, topics)| topics.iter().map(move |it| (called, it)));
        each.flat_map(move |(called, topic)| {
            let all = self.of_topic(topic).iter();
            all.filter(move |own| name(own) == called)
        })
    }
}

/// The datastreams that match: one that is not there any more is none.
fn entries(hub: &Arc<Hub>, filter: &str) -> Vec<Entry> {
    // Keys of records that are no topics name no datastream.
    let filter = Filter::parse(filter).ok();
    hub.internal().entries(filter.as_slice())
}
