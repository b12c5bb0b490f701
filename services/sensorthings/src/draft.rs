//! What a request is going to change: all of it is gathered and checked before the first of it is done, so
//! that a deep insert that fails leaves nothing behind (18-088 section 10.2.1).

use crate::entity::{Entity, Object, key};
use crate::fault::{Fault, Result};
use crate::id::Id;
use crate::kind::Kind;
use crate::limits::INSERTED_MAX;
use crate::node::Context;
use crate::view::entries;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_hub::{Exchange, Media, Publish, Request, Ticket, Verb};
use weir_model::{BatchBuilder, Datastream, Extra, Place, Time};

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
}

/// The changes.
pub(crate) struct Draft<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) puts: BTreeMap<(Kind, Id), Option<Entity>>,
    pub(crate) streams: BTreeMap<String, Stream>,
    pub(crate) rows: Vec<(String, Row)>,
    next: u64,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(context: &'a Context<'a>) -> Self {
        Self {
            context,
            puts: BTreeMap::new(),
            streams: BTreeMap::new(),
            rows: Vec::new(),
            next: context.view.next_id(context.hub),
        }
    }

    /// An identifier that no entity has had.
    pub(crate) fn new_id(&mut self) -> Result<Id> {
        if self.puts.len() + self.streams.len() >= INSERTED_MAX {
            return Err(Fault::over("entities of one request", INSERTED_MAX));
        }
        self.next += 1;
        Ok(Id::Number(self.next))
    }

    /// An entity as it is to be, or as it is.
    pub(crate) fn entity(&self, kind: Kind, id: &Id) -> Option<Entity> {
        match self.puts.get(&(kind, id.clone())) {
            Some(put) => put.clone(),
            None => self
                .context
                .view
                .find(kind, id)
                .map(|known| (**known).clone()),
        }
    }

    pub(crate) fn put(&mut self, entity: Entity) {
        let entity = Entity {
            key: key(entity.kind, &entity.id).into(),
            is_implied: false,
            ..entity
        };
        self.puts
            .insert((entity.kind, entity.id.clone()), Some(entity));
    }

    pub(crate) fn remove(&mut self, kind: Kind, id: &Id) {
        self.puts.insert((kind, id.clone()), None);
    }

    /// A datastream as it is to be, or as it is.
    pub(crate) fn stream(&mut self, topic: &str) -> Result<&mut Stream> {
        if !self.streams.contains_key(topic) {
            let found = entries(self.context.hub, topic)?.into_iter().next();
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

    /// Does all of it; the ticket is ready once it is on disk.
    pub(crate) fn commit(self) -> Result<Option<Ticket>> {
        self.check()?;
        let context = self.context;
        let mut last = None;
        let puts = self.puts.into_iter().map(|((kind, id), entity)| {
            let body = entity.map(|entity| entity.to_record().into());
            (key(kind, &id), body)
        });
        let puts: Vec<_> = puts.collect();
        if !puts.is_empty() {
            last = Some(accepted(context, Request::Put(puts))?);
        }
        for (topic, stream) in self.streams {
            let about = Json::Object(stream.about).to_string();
            let datastream = Datastream {
                about: Some(about.into()),
                ..stream.known
            };
            last = Some(accepted(context, Request::Change(topic, Some(datastream)))?);
        }
        for group in self.rows.chunk_by(|(a, _), (b, _)| a == b) {
            for part in group.chunks(ROWS_OF_ONE_MESSAGE) {
                let rows = part.iter().map(|(_, row)| row);
                last = Some(publish(context, &part[0].0, rows)?);
            }
        }
        Ok(last)
    }

    /// Whether all of it may be done.
    fn check(&self) -> Result<()> {
        let grants = self.context.grants();
        let name = &self.context.principal.name;
        let may = |verb: Verb, topic: &str| match grants.allow(verb, topic) {
            true => Ok(()),
            false => Err(Fault::from(weir_hub::Fault::Denied {
                principal: name.clone(),
                verb: verb.name(),
                topic: topic.to_owned(),
            })),
        };
        for (kind, id) in self.puts.keys() {
            may(Verb::Change, &key(*kind, id))?;
        }
        self.streams
            .keys()
            .try_for_each(|topic| may(Verb::Change, topic))?;
        let topics = self.rows.chunk_by(|(a, _), (b, _)| a == b);
        topics
            .map(|group| &group[0].0)
            .try_for_each(|topic| may(Verb::Publish, topic))
    }
}

/// Asks the hub for something that it accepts.
pub(crate) fn accepted(context: &Context<'_>, request: Request) -> Result<Ticket> {
    match context.hub.open(context.now, context.principal, request)? {
        Exchange::Accepted(ticket) => Ok(ticket),
        _ => Err(Fault::new(500, "the hub answered something else")),
    }
}

/// Publishes observations of one datastream as one message.
fn publish<'r>(
    context: &Context<'_>,
    topic: &str,
    rows: impl Iterator<Item = &'r Row>,
) -> Result<Ticket> {
    let mut builder = BatchBuilder::new();
    for row in rows {
        add(&mut builder, row)?;
    }
    send(context, topic, &mut builder)
}

/// Publishes what was gathered, in the format that is shortest to read for so many.
pub(crate) fn send(
    context: &Context<'_>,
    topic: &str,
    builder: &mut BatchBuilder,
) -> Result<Ticket> {
    let name = if builder.len() > 16 { "block" } else { "json" };
    let format = weir_codec::by_name(name).ok_or_else(|| Fault::new(500, "a format is absent"))?;
    let mut body = Vec::new();
    (format.encode)(&builder.finish(), &mut body);
    let publish = Publish::new(topic, Media::Format(format), body);
    accepted(context, Request::Publish(publish))
}

fn add(builder: &mut BatchBuilder, row: &Row) -> Result<()> {
    builder.begin();
    let json;
    builder.value(match &row.result {
        Json::Null => weir_model::Value::Null,
        Json::Bool(truth) => weir_model::Value::Bool(*truth),
        Json::Number(number) => weir_model::Value::Number(number.as_f64().unwrap_or(f64::NAN)),
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

/// The entity behind a datastream's topic.
pub(crate) fn datastream<'v>(context: &Context<'v>, topic: &str) -> Option<&'v Arc<Entity>> {
    context.view.datastream(topic)
}
