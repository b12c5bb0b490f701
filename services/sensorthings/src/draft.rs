//! What a request is going to change: all of it is gathered and checked before the first of it is done, so
//! that a deep insert that fails leaves nothing behind (18-088 section 10.2.1).

use crate::context::Context;
use crate::entity::{Entity, Object, key};
use crate::fault::{Fault, Result};
use crate::id::{At, Id};
use crate::kind::Kind;
use crate::limits::INSERTED_MAX;
use crate::view::entries;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_hub::{Change, Ticket, Verb};
use weir_model::{Datastream, Place, Time};
use weir_service::wait;

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

    pub(crate) fn into_change(self, topic: String) -> Change {
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

/// A message that a task is to become: its topic and its body.
pub(crate) type Order = (String, String);

/// An observation to be withdrawn.
pub(crate) struct Withdrawn {
    pub(crate) topic: String,
    pub(crate) at: At,
    /// The identifier that it was known by since it was corrected, which goes with it.
    pub(crate) known_as: Option<Id>,
}

impl Withdrawn {
    pub(crate) fn place(&self) -> weir_hub::Place {
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
    pub(crate) fn taken(&self, context: &Context<'_>) -> Result<()> {
        if context.hub.is_shared() {
            self.kept()
        } else {
            Ok(())
        }
    }

    /// Waits until it is on disk, where the history has it from.
    pub(crate) fn kept(&self) -> Result<()> {
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
            let mut known = Arc::unwrap_or_clone(entry.datastream);
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

    /// Whether an entity may be changed: asked before any work is done for it.
    pub(crate) fn may_change(&self, entity: &Entity) -> Result<()> {
        match entity.kind {
            Kind::Datastream => self.context.may_at(Verb::Change, &entity.key),
            kind => self.context.may_change(kind, &entity.id),
        }
    }
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

/// What was drafted: an entity, a datastream by its topic, or an observation of the topic.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Made {
    Entity(Kind, Id),
    Datastream(String),
    Observation(String),
}

/// Links that an entity has from where it stands in a request or a path.
pub(crate) type Given = Vec<(&'static str, Made)>;
