//! What a draft becomes: all of it is checked, then done.

use crate::context::Context;
use crate::draft::{Done, Draft};
use crate::entity::{Entity, key};
use crate::fault::{Fault, Result};
use crate::id::{At, Id};
use crate::kind::Kind;
use crate::message::message;
use crate::places;
use serde_json::json;
use std::collections::BTreeSet;
use std::ops::Range;
use weir_hub::{Change, Media, Principal, Publish, Ticket, Verb};

/// Observations that are published together; the rest of a bulk follows in another message.
const ROWS_OF_ONE_MESSAGE: usize = 50_000;

impl Draft<'_> {
    /// Does all of it, once it is known that none of it would be refused.
    // [STA-A.3.1.1-2] [STA-A.4.1.1-2]
    pub(crate) fn commit(mut self) -> Result<Done> {
        self.check()?;
        let messages = self.messages()?;
        let orders = self.orders()?;
        let (context, gateway) = (self.context, Principal::gateway());
        let changes = self.changes().into_iter();
        let mut changes: Vec<_> = changes.map(|it| (context.principal, it)).collect();
        changes.extend(self.notes().map(|it| (&gateway, it)));
        for (who, change) in &changes {
            context.hub.would_take(who, change)?;
        }
        for withdrawn in &self.withdrawn {
            let change = Change::Withdraw(withdrawn.place());
            context.hub.would_take(context.principal, &change)?;
        }
        let mut done = Done::default();
        let mut described = Vec::new();
        for (who, change) in changes {
            if let Change::Datastream(topic, Some(_)) = &change {
                described.push(topic.clone());
            }
            done.note(context.make_for(who, change)?);
        }
        for order in orders {
            done.note(context.make(order)?);
        }
        done.taken(context)?;
        let number = |topic: &String| context.hub.stood(topic).map(|stood| stood.number);
        let numbers = described.into_iter().filter_map(|topic| {
            let number = number(&topic)?;
            Some((topic, number))
        });
        done.numbers.extend(numbers);
        places::publish_all(context, messages, &self.rows, &mut done)?;
        if !self.withdrawn.is_empty() {
            // The last value is looked up anew, and may be what comes in the place of another.
            done.kept()?;
        }
        self.withdraw(&mut done)?;
        done.taken(context)?;
        Ok(done)
    }

    /// What changes in the catalog and beside it.
    fn changes(&mut self) -> Vec<Change> {
        let puts = std::mem::take(&mut self.puts).into_iter();
        let mut changes = Vec::from_iter(put(puts));
        for (topic, stream) in std::mem::take(&mut self.streams) {
            changes.push(stream.into_change(topic));
        }
        // What two deletions lead to is forgotten once.
        let forgotten: BTreeSet<String> = self.forgotten.drain(..).collect();
        changes.extend(
            forgotten
                .into_iter()
                .map(|topic| Change::Datastream(topic, None)),
        );
        changes
    }

    /// What follows from the observations, for the gateway to note.
    fn notes(&mut self) -> Option<Change> {
        let noted = std::mem::take(&mut self.noted).into_iter();
        put(noted.map(|(key, entity)| (key, Some(entity))))
    }

    /// The rows as messages, each with where its rows are.
    fn messages(&self) -> Result<Vec<(Publish, Range<usize>)>> {
        let (mut messages, mut begin) = (Vec::new(), 0);
        for group in self.rows.chunk_by(|(a, _), (b, _)| a == b) {
            let components = group[0]
                .1
                .components
                .as_ref()
                .map_or(1, |it| it.len().max(1));
            for part in group.chunks(ROWS_OF_ONE_MESSAGE / components) {
                let message = message(&part[0].0, part.iter().map(|(_, row)| row))?;
                let hub = self.context.hub;
                hub.would_publish(self.context.principal, &message)?;
                messages.push((message, begin..begin + part.len()));
                begin += part.len();
            }
        }
        Ok(messages)
    }

    /// Tasks as messages.
    // [TASKING-4-2] [TASKING-4-3]
    fn orders(&self) -> Result<Vec<Change>> {
        let format = weir_codec::by_name("json");
        let format = format.ok_or_else(|| Fault::new(500, "a format is absent"))?;
        let mut orders = Vec::new();
        for (topic, body) in &self.orders {
            let message = Publish::new(topic.clone(), Media::Format(format), body.clone());
            let order = Change::Publish(message);
            let hub = self.context.hub;
            hub.would_take(self.context.principal, &order)?;
            orders.push(order);
        }
        Ok(orders)
    }

    fn withdraw(&self, done: &mut Done) -> Result<()> {
        for withdrawn in &self.withdrawn {
            let change = Change::Withdraw(withdrawn.place());
            done.note(self.context.make(change)?);
            if let Some(id) = &withdrawn.known_as {
                done.note(correct(self.context, id, None)?);
            }
        }
        for (id, row) in &self.corrected {
            done.note(correct(self.context, id, done.places.get(*row))?);
        }
        Ok(())
    }

    /// Whether all of it may be done.
    fn check(&self) -> Result<()> {
        let may = |verb: Verb, topic: &str| self.context.may_at(verb, topic);
        let mut orders = self.orders.iter();
        orders.try_for_each(|(topic, _)| may(Verb::Publish, topic))?;
        let mut puts = self.puts.keys();
        puts.try_for_each(|(kind, id)| self.context.may_change(*kind, id))?;
        let withdrawn = self.withdrawn.iter().map(|withdrawn| &withdrawn.topic);
        let topics = self.streams.keys().chain(&self.forgotten).chain(withdrawn);
        topics
            .into_iter()
            .try_for_each(|topic| may(Verb::Change, topic))?;
        for group in self.rows.chunk_by(|(a, _), (b, _)| a == b) {
            let (topic, row) = &group[0];
            may(Verb::Publish, topic)?;
            let mut components = row.components.iter().flat_map(|topics| topics.iter());
            components.try_for_each(|topic| may(Verb::Publish, topic))?;
        }
        Ok(())
    }
}

/// Entities to be put, and removed where there is none, if there are any.
fn put(entities: impl Iterator<Item = ((Kind, Id), Option<Entity>)>) -> Option<Change> {
    let puts = entities.map(|((kind, id), entity)| {
        let body = entity.map(|entity| entity.to_record().into());
        (key(kind, &id), body)
    });
    let puts: Vec<_> = puts.collect();
    (!puts.is_empty()).then_some(Change::Put(puts))
}

/// Notes under which identifier a corrected observation is known, or forgets it. Who may do this to the
/// observation may have it noted.
fn correct(context: &Context<'_>, id: &Id, place: Option<&At>) -> Result<Ticket> {
    let body = place.map(|at| json!({"is": at.id()}).to_string().into());
    let gateway = context.hub.internal().at(context.now);
    Ok(gateway.put(vec![(key(Kind::Observation, id), body)])?)
}
