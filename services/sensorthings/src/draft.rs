//! What a request is going to change: all of it is gathered and checked before the first of it is done, so
//! that a deep insert that fails leaves nothing behind (18-088 section 10.2.1).

use crate::context::Context;
use crate::entity::{Entity, Object, key};
use crate::fault::{Fault, Result};
use crate::id::{At, Id};
use crate::kind::Kind;
use crate::limits::INSERTED_MAX;
use crate::places;
use crate::tasking::Order;
use crate::view::entries;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use weir_hub::{Change, Media, Principal, Publish, Ticket, Verb};
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Datastream, Extra, Place, Time};
use weir_service::wait;

/// Observations that are published together; the rest of a bulk follows in another message.
const ROWS_OF_ONE_MESSAGE: usize = 50_000;

/// A datastream to be made or described anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    pub(crate) known: Datastream,
    pub(crate) about: Object,
}

impl Stream {
    /// The identifier that a link of it has.
    pub(crate) fn link(&self, name: &str) -> Option<Id> {
        self.about.get(name).and_then(Id::of_json)
    }

    fn into_change(self, topic: String) -> Change {
        let about = Json::Object(self.about).to_string();
        let datastream = Datastream {
            about: Some(about.into()),
            ..self.known
        };
        Change::Datastream(topic, Some(datastream))
    }
}

/// An entity under its key, which is described now.
fn kept(entity: Entity) -> Entity {
    let entity = Entity {
        key: key(entity.kind, &entity.id).into(),
        is_implied: false,
        ..entity
    };
    entity.keyed()
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

/// An observation to be published.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) result: Json,
    pub(crate) time: Option<Time>,
    pub(crate) end: Option<Time>,
    pub(crate) result_time: Option<Time>,
    pub(crate) valid: Option<(Time, Time)>,
    pub(crate) quality: Option<String>,
    pub(crate) parameters: Option<String>,
    pub(crate) feature: Option<Id>,
    /// Where the result is an array, the datastreams of its elements.
    pub(crate) components: Option<Arc<[String]>>,
}

/// The changes.
pub(crate) struct Draft<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) puts: BTreeMap<(Kind, Id), Option<Entity>>,
    /// Entities that follow from observations: the gateway notes them, whoever may publish.
    pub(crate) noted: BTreeMap<(Kind, Id), Entity>,
    pub(crate) streams: BTreeMap<String, Stream>,
    pub(crate) rows: Vec<(String, Row)>,
    /// What tasks become.
    pub(crate) orders: Vec<Order>,
    /// Datastreams to be forgotten, by topic.
    pub(crate) forgotten: Vec<String>,
    /// Observations to be withdrawn.
    pub(crate) withdrawn: Vec<Withdrawn>,
    /// Identifiers that rows are to be known by, with the rows' indices.
    pub(crate) corrected: Vec<(Id, usize)>,
    /// The last identifier given, once there is one.
    last_id: Option<u64>,
}

/// An observation to be withdrawn.
pub(crate) struct Withdrawn {
    pub(crate) topic: String,
    pub(crate) at: At,
    /// The identifier that it was known by since it was corrected, which goes with it.
    pub(crate) known_as: Option<Id>,
}

impl Withdrawn {
    fn place(&self) -> weir_hub::Place {
        weir_hub::Place {
            topic: self.topic.clone(),
            time: self.at.time,
            ordinal: self.at.ordinal,
        }
    }
}

/// What was done.
#[derive(Default)]
pub(crate) struct Done {
    /// Ready once all of it is on disk.
    pub(crate) ticket: Option<Ticket>,
    /// Where the rows stand, in their order.
    pub(crate) places: Vec<At>,
    /// The numbers of the datastreams that were made or described, by topic.
    pub(crate) numbers: BTreeMap<String, u32>,
}

impl Done {
    pub(crate) fn note(&mut self, ticket: Ticket) {
        self.ticket = Some(match self.ticket.take() {
            Some(before) => ticket.with(before),
            None => ticket,
        });
    }

    /// Waits until a shared log has it: what others did before it is seen by then, and how it came to stand.
    fn taken(&self, context: &Context<'_>) -> Result<()> {
        match context.hub.is_shared() {
            true => self.kept(),
            false => Ok(()),
        }
    }

    /// Waits until it is on disk, where the history has it from.
    fn kept(&self) -> Result<()> {
        match &self.ticket {
            Some(ticket) => Ok(wait(|cx| ticket.poll(cx)).map(drop)?),
            None => Ok(()),
        }
    }
}

impl<'a> Draft<'a> {
    pub(crate) fn new(context: &'a Context<'a>) -> Self {
        Self {
            context,
            puts: BTreeMap::new(),
            noted: BTreeMap::new(),
            streams: BTreeMap::new(),
            rows: Vec::new(),
            orders: Vec::new(),
            forgotten: Vec::new(),
            withdrawn: Vec::new(),
            corrected: Vec::new(),
            last_id: None,
        }
    }

    /// Whether it publishes and does nothing else: then it needs not be alone.
    pub(crate) fn only_publishes(&self) -> bool {
        let changes = !self.puts.is_empty() || !self.streams.is_empty();
        !changes
            && self.noted.is_empty()
            && self.orders.is_empty()
            && self.forgotten.is_empty()
            && self.withdrawn.is_empty()
    }

    /// An identifier that no entity has had.
    pub(crate) fn new_id(&mut self) -> Result<Id> {
        if self.puts.len() + self.noted.len() + self.streams.len() >= INSERTED_MAX {
            return Err(Fault::over("entities of one request", INSERTED_MAX));
        }
        let context = self.context;
        if context.hub.is_shared() {
            return Ok(context.view.drawn_id());
        }
        let last = self
            .last_id
            .unwrap_or_else(|| context.view.next_id(context.hub));
        self.last_id = Some(last + 1);
        Ok(Id::Number(last + 1))
    }

    /// An entity as it is to be, or as it is.
    pub(crate) fn entity(&self, kind: Kind, id: &Id) -> Option<Entity> {
        let key = (kind, id.clone());
        if let Some(put) = self.puts.get(&key) {
            return put.clone();
        }
        let noted = self.noted.get(&key).cloned();
        let known = || self.context.view.find(kind, id);
        noted.or_else(|| known().map(|known| (**known).clone()))
    }

    pub(crate) fn put(&mut self, entity: Entity) {
        let mut entity = kept(entity);
        let key = (entity.kind, entity.id.clone());
        if let Some(noted) = self.noted.remove(&key) {
            let is_new = |topic: &String| !entity.topics.contains(topic);
            let topics: Vec<_> = noted.topics.into_iter().filter(is_new).collect();
            entity.topics.extend(topics);
            entity.origin = entity.origin.or(noted.origin);
        }
        self.puts.insert(key, Some(entity));
    }

    /// Puts what follows from an observation, with what else is put of it if that is so.
    pub(crate) fn note(&mut self, entity: Entity) {
        let entity = kept(entity);
        let key = (entity.kind, entity.id.clone());
        match self.puts.get_mut(&key) {
            Some(put) => *put = Some(entity),
            None => drop(self.noted.insert(key, entity)),
        }
    }

    pub(crate) fn remove(&mut self, kind: Kind, id: &Id) {
        self.noted.remove(&(kind, id.clone()));
        self.puts.insert((kind, id.clone()), None);
    }

    /// A datastream as it is to be, or as it is.
    pub(crate) fn stream(&mut self, topic: &str) -> Result<&mut Stream> {
        if !self.streams.contains_key(topic) {
            let found = entries(self.context.hub, topic).into_iter().next();
            let entry = found.ok_or_else(|| Fault::missing(format!("datastream `{topic}`")))?;
            let mut known = entry.datastream;
            let about = known
                .about
                .take()
                .and_then(|about| serde_json::from_str(&about).ok());
            let about = about.unwrap_or_default();
            self.streams
                .insert(topic.to_owned(), Stream { known, about });
        }
        self.streams
            .get_mut(topic)
            .ok_or_else(|| Fault::new(500, "a stream got lost"))
    }

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
            done.note(accepted_of(context, who, change)?);
        }
        for order in orders {
            done.note(accepted(context, order)?);
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
            done.note(accepted(self.context, change)?);
            if let Some(id) = &withdrawn.known_as {
                done.note(correct(self.context, id, None)?);
            }
        }
        for (id, row) in &self.corrected {
            done.note(correct(self.context, id, done.places.get(*row))?);
        }
        Ok(())
    }

    /// Whether an entity may be changed: asked before any work is done for it.
    pub(crate) fn may_change(&self, entity: &Entity) -> Result<()> {
        match entity.kind {
            Kind::Datastream => self.context.may_at(Verb::Change, &entity.key),
            kind => self.context.may_change(kind, &entity.id),
        }
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

/// Has the hub make a change.
pub(crate) fn accepted(context: &Context<'_>, change: Change) -> Result<Ticket> {
    accepted_of(context, context.principal, change)
}

fn accepted_of(context: &Context<'_>, who: &Principal, change: Change) -> Result<Ticket> {
    Ok(context.hub.caller(context.now, who)?.make(change)?)
}

/// Notes under which identifier a corrected observation is known, or forgets it. Who may do this to the
/// observation may have it noted.
fn correct(context: &Context<'_>, id: &Id, place: Option<&At>) -> Result<Ticket> {
    let body = place.map(|at| json!({"is": at.id()}).to_string().into());
    let gateway = context.hub.internal().at(context.now);
    Ok(gateway.put(vec![(key(Kind::Observation, id), body)])?)
}

/// Observations of one datastream as one message, in the format that is shortest to read for so many.
pub(crate) fn message<'r>(topic: &str, rows: impl Iterator<Item = &'r Row>) -> Result<Publish> {
    let mut builder = BatchBuilder::new();
    for row in rows {
        add(&mut builder, row)?;
    }
    let name = if builder.len() > 16 { "block" } else { "json" };
    let format = weir_codec::by_name(name).ok_or_else(|| Fault::new(500, "a format is absent"))?;
    let mut body = Vec::new();
    (format.encode)(&builder.finish(), &mut body);
    Ok(Publish::new(topic, Media::Format(format), body))
}

fn add(builder: &mut BatchBuilder, row: &Row) -> Result<()> {
    let (Some(topics), Json::Array(results)) = (&row.components, &row.result) else {
        return add_one(builder, row, None, &row.result);
    };
    let mut each = topics.iter().zip(results);
    each.try_for_each(|(topic, result)| add_one(builder, row, Some(topic), result))
}

/// A number, which is written to `digits` where a double may not hold it.
pub(crate) fn number_of<'a>(
    number: &serde_json::Number,
    digits: &'a mut String,
) -> weir_model::Value<'a> {
    if !number.is_f64() {
        *digits = number.to_string();
    }
    weir_model::Value::of_number(number.as_f64().unwrap_or(f64::NAN), digits)
}

fn add_one(
    builder: &mut BatchBuilder,
    row: &Row,
    topic: Option<&str>,
    result: &Json,
) -> Result<()> {
    builder.begin();
    if let Some(topic) = topic {
        builder.topic(Naming::Topic, topic);
    }
    let mut json = String::new();
    builder.value(match result {
        Json::Null => weir_model::Value::Null,
        Json::Bool(truth) => weir_model::Value::Bool(*truth),
        Json::Number(number) => number_of(number, &mut json),
        Json::String(text) => weir_model::Value::Text(text),
        other => {
            json = other.to_string();
            weir_model::Value::Json(&json)
        }
    });
    row.time.into_iter().for_each(|time| builder.time(time));
    let feature = row.feature.as_ref().map(Id::to_string);
    let extra = Extra {
        end: row.end,
        result_time: row.result_time,
        valid: row.valid,
        quality: row.quality.as_deref(),
        feature: feature.as_deref(),
        parameters: row.parameters.as_deref(),
    };
    if !extra.is_empty() {
        builder.extra(extra);
    }
    builder.end().map_err(|error| Fault::bad(error.to_string()))
}

/// Where a thing's location lies, if it is a point.
pub(crate) fn place(location: Option<&Json>) -> Option<Place> {
    let location = location?;
    let point = if location["type"] == "Feature" {
        &location["geometry"]
    } else {
        location
    };
    let coordinates = Some(&point["coordinates"]).filter(|_| point["type"] == "Point")?;
    let place = Place {
        latitude: coordinates[1].as_f64()?,
        longitude: coordinates[0].as_f64()?,
    };
    let is_on_earth =
        (-90.0..=90.0).contains(&place.latitude) && (-180.0..=180.0).contains(&place.longitude);
    is_on_earth.then_some(place)
}

/// The entity behind the topic of a datastream or multi-datastream.
pub(crate) fn datastream<'v>(context: &Context<'v>, topic: &str) -> Option<&'v Arc<Entity>> {
    context.view.source(topic)
}
