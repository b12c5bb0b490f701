//! Tasks (17-079r1): what is asked of an actuator is published at the topic of the capability, so that
//! whoever listens there by any protocol is driven: an MQTT subscriber, a CoAP observer.
//!
//! A task is its entity and one message, its parameters as a flat JSON object, which makes each of them a
//! datastream below the topic. Deliberately nothing is said of whether it was done: what a thing did, it
//! observes itself. A task once sent is not changed.

use crate::draft::Draft;
use crate::entity::{Entity, Object};
use crate::fault::{Fault, Result};
use crate::kind::Kind;
use crate::said::millis;
use crate::swe;
use crate::values::instant;
use serde_json::Value as Json;
use weir_model::topic;

impl Draft<'_> {
    /// What an entity of part 2 has beyond what is said of it.
    pub(crate) fn complete(&mut self, entity: &mut Entity) -> Result<()> {
        match entity.kind {
            Kind::TaskingCapability => {
                check_capability(&entity.body)?;
                entity.topics = vec![self.topic_of_capability(entity)?];
                Ok(())
            }
            Kind::Task => self.complete_task(entity),
            _ => Ok(()),
        }
    }

    // [TASKING-4-1] [TASKING-4-4]
    fn complete_task(&mut self, task: &mut Entity) -> Result<()> {
        let made = instant(millis(self.context.now));
        task.body.insert("creationTime".into(), made.into());
        let capability = self.entity(Kind::TaskingCapability, &task.links["TaskingCapability"][0]);
        let lost = || Fault::new(500, "the capability of a task cannot be found");
        let capability = capability.ok_or_else(lost)?;
        let said = task.body.get("taskingParameters").unwrap_or(&Json::Null);
        record_of(&capability.body)?.check(said)?;
        if !says_something(said) {
            return Err(Fault::bad("taskingParameters: nothing is asked for"));
        }
        let topic = capability.topics.first().ok_or_else(lost)?;
        self.orders.push((topic.clone(), said.to_string()));
        Ok(())
    }

    /// `properties/topic`, or one of the names of thing and capability.
    fn topic_of_capability(&self, capability: &Entity) -> Result<String> {
        if let Some(said) = topic_said(&capability.body) {
            let named = |error| Fault::bad(format!("properties/topic: {error}"));
            topic::check(said).map_err(named)?;
            return Ok(said.to_owned());
        }
        let named = self.topic_named(&capability.body, &capability.links["Thing"][0]);
        let others = (2..).map(|number| format!("{named}-{number}"));
        let mut free = std::iter::once(named.clone()).chain(others);
        let free = free.find(|topic| !self.is_tasked(topic)).unwrap_or(named);
        topic::check(&free).map_err(|error| Fault::bad(error.to_string()))?;
        Ok(free)
    }

    fn is_tasked(&self, topic: &str) -> bool {
        let known = self.context.view.all(Kind::TaskingCapability);
        let mut known = known.map(|it| &it.topics);
        let of_kind = |it: &&Entity| it.kind == Kind::TaskingCapability;
        let mut drafted = self
            .puts
            .values()
            .flatten()
            .filter(of_kind)
            .map(|it| &it.topics);
        let is_it = |topics: &Vec<String>| topics.iter().any(|known| known == topic);
        known.any(is_it) || drafted.any(is_it)
    }
}

/// What follows from a change of an entity of part 2, if it may be as it is to be: tasks go to another topic where
/// that is said, and to the same one whatever it is called now.
pub(crate) fn change(draft: &Draft<'_>, before: &Entity, changed: &mut Entity) -> Result<()> {
    match changed.kind {
        Kind::TaskingCapability => {
            check_capability(&changed.body)?;
            if topic_said(&before.body) != topic_said(&changed.body) {
                changed.topics = vec![draft.topic_of_capability(changed)?];
            }
            Ok(())
        }
        Kind::Task => Err(Fault::new(405, "a task that was sent cannot be changed")),
        _ => Ok(()),
    }
}

/// `properties/topic`.
fn topic_said(capability: &Object) -> Option<&str> {
    capability.get("properties")?.get("topic")?.as_str()
}

/// Removes the capabilities of a thing or an actuator, and the tasks of those and of a capability.
pub(crate) fn remove_below(draft: &mut Draft<'_>, entity: &Entity) {
    for kind in [Kind::TaskingCapability, Kind::Task] {
        let context = draft.context;
        let linking = context.view.linking(entity.kind, &entity.id, kind);
        for below in linking.into_iter().filter(|it| context.goes_along(it)) {
            draft.remove(kind, &below.id);
            remove_below(draft, below);
        }
    }
}

/// Whether there is a parameter in a record or in one below it.
fn says_something(said: &Json) -> bool {
    match said.as_object() {
        Some(members) => members.values().any(says_something),
        None => true,
    }
}

fn record_of(capability: &Object) -> Result<swe::Component> {
    swe::record(capability.get("taskingParameters").unwrap_or(&Json::Null))
}

/// Whether a capability says what its tasks are of: a message of one datastream for each parameter.
pub(crate) fn check_capability(capability: &Object) -> Result<()> {
    let record = record_of(capability)?;
    if record.is_flat_message() {
        Ok(())
    } else {
        Err(Fault::bad(
            "taskingParameters: `observations`, or `value` beside others, would be read as observations \
             and not as parameters",
        ))
    }
}
