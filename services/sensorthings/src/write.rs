//! `POST`, `PATCH`, `PUT`, `DELETE`: what becomes of them (18-088 section 10).

use crate::counted::count_at;
use crate::create::{Given, Made, check, link, properties, row};
use crate::draft::{Draft, accepted, datastream};
use crate::entity::{Entity, Object, key};
use crate::fault::{Fault, Result};
use crate::id::{At, Id};
use crate::kind::Kind;
use crate::node::{Context, Node, Observed};
use crate::path::{End, Path};
use crate::read::{Target, resolve};
use crate::render::{property, self_link};
use crate::service::Inner;
use crate::view::View;
use crate::{data_array, observations};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::task::{Context as Waiting, Poll};
use weir_binding::{Answer, Call, Pending, Response};
use weir_hub::{Place, Principal, Request, Ticket};
use weir_model::Filter;

/// The answer, once all of it is on disk.
pub(crate) fn answer(
    inner: &Arc<Inner>,
    view: &mut View,
    call: &Call,
    root: &str,
    path: &Path,
) -> Result<Answer> {
    let (ticket, made) = {
        let context = inner.context(view, call, root);
        match &*call.method {
            "POST" => post(&context, path, &json_of(call)?)?,
            "DELETE" => (delete(&context, path)?, None),
            method => (
                update(&context, path, &json_of(call)?, method == "PUT")?,
                None,
            ),
        }
    };
    let response = match made {
        None => Response::empty(200),
        Some(made) => {
            view.update(inner.hub())?;
            let context = inner.context(view, call, root);
            Response::empty(201).header("location", location(&context, &made)?)
        }
    };
    Ok(match ticket {
        Some(ticket) => Answer::Later(Box::new(Acknowledge { ticket, response })),
        None => Answer::Now(response),
    })
}

/// The answer to `CreateObservations`, once all of it is on disk.
pub(crate) fn in_bulk(inner: &Inner, view: &View, call: &Call, root: &str) -> Result<Answer> {
    let context = inner.context(view, call, root);
    let (ticket, links) = data_array::create(&context, &json_of(call)?)?;
    let response = Response::with_body(201, "application/json", links.to_string());
    Ok(match ticket {
        Some(ticket) => Answer::Later(Box::new(Acknowledge { ticket, response })),
        None => Answer::Now(response),
    })
}

struct Acknowledge {
    ticket: Ticket,
    response: Response,
}

impl Pending for Acknowledge {
    fn poll(&mut self, cx: &mut Waiting<'_>) -> Poll<Response> {
        self.ticket.poll(cx).map(|done| match done {
            Ok(_) => std::mem::take(&mut self.response),
            Err(fault) => Fault::from(fault).response(),
        })
    }
}

fn json_of(call: &Call) -> Result<Json> {
    read_json(&call.body)
}

/// A body as JSON, or the byte that is wrong in it.
pub(crate) fn read_json(body: &[u8]) -> Result<Json> {
    serde_json::from_slice(body).map_err(|error| Fault {
        at: Some(offset(body, error.line(), error.column())),
        ..Fault::bad(format!("the body is no JSON: {error}"))
    })
}

/// The byte of a line and column.
fn offset(body: &[u8], line: usize, column: usize) -> usize {
    let lines = body
        .split_inclusive(|byte| *byte == b'\n')
        .take(line.saturating_sub(1));
    lines.map(<[u8]>::len).sum::<usize>() + column.saturating_sub(1)
}

/// What was made, as far as its URL needs it.
pub(crate) enum Created {
    Made(Made),
    /// An observation of a topic at a time, and how many of both came before it.
    Observed(String, weir_model::Time, u32),
}

type Posted = (Option<Ticket>, Option<Created>);

fn post(context: &Context<'_>, path: &Path, body: &Json) -> Result<Posted> {
    let (kind, is_collection) = path.target();
    if !is_collection || path.end != End::All {
        return Err(Fault::new(405, "what can be posted to is a collection"));
    }
    let given = given(context, path)?;
    let mut draft = Draft::new(context);
    let made = draft.insert(kind, body, given)?;
    let created = created(&draft, made)?;
    Ok((draft.commit()?, Some(created)))
}

/// What the last insert into a draft made; an observation stands behind those of its time that are there or
/// drafted before it.
pub(crate) fn created(draft: &Draft<'_>, made: Made) -> Result<Created> {
    let (Made::Observation(topic), Some(((_, row), others))) = (&made, draft.rows.split_last())
    else {
        return Ok(Created::Made(made));
    };
    let time = row.time.unwrap_or(draft.context.now);
    let drafted = others
        .iter()
        .filter(|(of, other)| of == topic && other.time == row.time);
    let before = before(draft.context, topic, time)? + drafted.count() as u32;
    Ok(Created::Observed(topic.clone(), time, before))
}

/// The links that follow from the path that something is posted to.
pub(crate) fn given(context: &Context<'_>, path: &Path) -> Result<Given> {
    let mut parent = path.clone();
    let Some(step) = parent.steps.pop() else {
        return Ok(Vec::new());
    };
    let Target::Entity(from) = resolve(context, &parent)? else {
        return Err(Fault::bad("what is posted there would have no place"));
    };
    let back = step
        .way
        .to
        .navigations()
        .iter()
        .find(|back| back.to == from.kind);
    let made = match from.kind {
        Kind::Datastream => Made::Datastream(from.key.to_string()),
        kind => Made::Entity(kind, from.id.clone()),
    };
    Ok(back.map(|back| (back.name, made)).into_iter().collect())
}

pub(crate) fn location(context: &Context<'_>, created: &Created) -> Result<String> {
    let lost = || Fault::new(500, "what was made cannot be found");
    match created {
        Created::Made(Made::Entity(kind, id)) => Ok(self_link(context.root, *kind, id)),
        Created::Made(Made::Datastream(topic) | Made::Observation(topic)) => {
            let found = datastream(context, topic).ok_or_else(lost)?;
            Ok(self_link(context.root, Kind::Datastream, &found.id))
        }
        Created::Observed(topic, time, ordinal) => {
            let found = datastream(context, topic).ok_or_else(lost)?;
            let at = At {
                datastream: found.id.to_string().parse().map_err(|_| lost())?,
                time: *time,
                ordinal: *ordinal,
            };
            let id = Id::Text(context.view.id_of(at).into());
            Ok(self_link(context.root, Kind::Observation, &id))
        }
    }
}

/// How many observations of a topic and time are in the history, the one on its way left out.
fn before(context: &Context<'_>, topic: &str, time: weir_model::Time) -> Result<u32> {
    let Ok(filter) = Filter::parse(topic) else {
        return Ok(0);
    };
    count_at(context, filter, time)
}

fn update(context: &Context<'_>, path: &Path, body: &Json, whole: bool) -> Result<Option<Ticket>> {
    let object = body
        .as_object()
        .ok_or_else(|| Fault::bad("an object was expected"))?;
    if path.end != End::All {
        return Err(Fault::new(405, "what can be changed is an entity"));
    }
    match resolve(context, path)? {
        Target::Entity(entity) => update_entity(context, &entity, object, whole),
        Target::Observation(id) => update_observation(context, &id, object, whole),
        _ => Err(Fault::new(405, "what can be changed is an entity")),
    }
}

fn update_entity(
    context: &Context<'_>,
    entity: &Entity,
    body: &Object,
    whole: bool,
) -> Result<Option<Ticket>> {
    let mut draft = Draft::new(context);
    change_entity(&mut draft, entity, body, whole)?;
    draft.commit()
}

/// Drafts an entity as it is to be.
pub(crate) fn change_entity(
    draft: &mut Draft<'_>,
    entity: &Entity,
    body: &Object,
    whole: bool,
) -> Result<()> {
    let kind = entity.kind;
    check(kind, body, whole)?;
    let mut changed = entity.clone();
    if whole {
        changed.body.clear();
    }
    for (name, value) in body
        .iter()
        .filter(|(name, _)| kind.property(name).is_some())
    {
        match value.is_null() {
            true => drop(changed.body.remove(name)),
            false => drop(changed.body.insert(name.clone(), value.clone())),
        }
    }
    let mut moved = false;
    for way in kind.navigations() {
        let Some(said) = body.get(way.name) else {
            continue;
        };
        if !kind.keeps(way.to) {
            return Err(Fault::bad(format!(
                "{} are linked from the other end",
                way.name
            )));
        }
        let said = match said {
            Json::Array(many) => many.iter().collect(),
            one => vec![one],
        };
        let ids = said.into_iter().map(|one| {
            let id =
                link(one).ok_or_else(|| Fault::bad("a link was expected: {\"@iot.id\": ...}"))?;
            draft.known(way.to, &id)
        });
        let ids = ids.collect::<Result<Vec<_>>>()?;
        moved |= way.to == Kind::Location && kind == Kind::Thing;
        changed.links.insert(way.name, ids);
    }
    if kind == Kind::Datastream {
        return describe(draft, entity, changed, whole);
    }
    let (id, locations) = (changed.id.clone(), changed.links.get("Locations").cloned());
    draft.put(changed);
    match (moved, locations) {
        (true, Some(locations)) => draft.locate(&id, locations),
        _ => Ok(()),
    }
}

/// A datastream is described in the catalog.
fn describe(draft: &mut Draft<'_>, entity: &Entity, changed: Entity, whole: bool) -> Result<()> {
    let mut stream = draft.stream(&entity.key)?.clone();
    if whole {
        let kept = |name: &String, _: &mut Json| Kind::Datastream.property(name).is_none();
        let mut about = std::mem::take(&mut stream.about);
        about.retain(kept);
        stream.about = about;
    }
    let mut about = properties(Kind::Datastream, &changed.body);
    let ids: Vec<Id> = ["Thing", "Sensor", "ObservedProperty"]
        .iter()
        .filter_map(|name| changed.links.get(name)?.first().cloned())
        .collect();
    for (name, id) in ["Thing", "Sensor", "ObservedProperty"].iter().zip(&ids) {
        if entity.links.get(name) != changed.links.get(name) {
            about.insert((*name).into(), id.to_json());
        }
    }
    let relinked = entity.links != changed.links;
    draft.describe(&mut stream, about, if relinked { &ids } else { &[] });
    draft.streams.insert(entity.key.to_string(), stream);
    Ok(())
}

/// A correction: the observation as it was is withdrawn, and one as it is to be published, under the same
/// identifier.
fn update_observation(
    context: &Context<'_>,
    id: &Id,
    body: &Object,
    whole: bool,
) -> Result<Option<Ticket>> {
    check(Kind::Observation, body, whole)?;
    let missing = || Fault::missing(format!("Observations({})", id.in_url()));
    let at = context.view.place_of(id).ok_or_else(missing)?;
    let known = observations::one(context, at, |observed| Ok(parts(observed, whole)))?;
    let (topic, mut object, feature) = known.ok_or_else(missing)?;
    for (name, value) in body
        .iter()
        .filter(|(name, _)| Kind::Observation.property(name).is_some())
    {
        object.insert(name.clone(), value.clone());
    }
    let mut changed = row(&object)?;
    changed.time = changed.time.or(Some(at.time));
    changed.feature = feature;
    let mut draft = Draft::new(context);
    if let Some(said) = body.get("FeatureOfInterest") {
        let id = link(said).ok_or_else(|| Fault::bad("FeatureOfInterest: a link was expected"))?;
        changed.feature = Some(draft.known(Kind::FeatureOfInterest, &id)?);
    }
    let time = changed.time.unwrap_or(at.time);
    let ordinal = before(context, &topic, time)?;
    draft.rows.push((topic.clone(), changed));
    let published = draft.commit()?;
    withdraw(context, &topic, at)?;
    let place = At {
        time,
        ordinal,
        ..at
    };
    correct(context, id, Some(place))?;
    Ok(published)
}

/// The topic, the properties and the named feature of an observation.
fn parts(observed: &Observed<'_>, whole: bool) -> (String, Object, Option<Id>) {
    let mut object = Object::new();
    for (name, _) in Kind::Observation.properties() {
        let kept = !whole || *name == "phenomenonTime";
        if let Some(value) = property(&Node::Observed(observed), name).filter(|_| kept) {
            object.insert((*name).into(), value);
        }
    }
    let feature = observed.row.extra.feature.map(Id::of_text);
    (observed.datastream.key.to_string(), object, feature)
}

fn withdraw(context: &Context<'_>, topic: &str, at: At) -> Result<Ticket> {
    let place = Place {
        topic: topic.to_owned(),
        time: at.time,
        ordinal: at.ordinal,
    };
    accepted(context, Request::Withdraw(place))
}

/// Notes under which identifier a corrected observation is known, or forgets it. Who may do this to the
/// observation may have it noted.
fn correct(context: &Context<'_>, id: &Id, place: Option<At>) -> Result<Ticket> {
    let body = place.map(|at| json!({"is": at.id()}).to_string().into());
    let put = Request::Put(vec![(key(Kind::Observation, id), body)]);
    match context.hub.open(context.now, &Principal::gateway(), put)? {
        weir_hub::Exchange::Accepted(ticket) => Ok(ticket),
        _ => Err(Fault::new(500, "the hub answered something else")),
    }
}

fn delete(context: &Context<'_>, path: &Path) -> Result<Option<Ticket>> {
    if path.end != End::All {
        return Err(Fault::new(405, "what can be deleted is an entity"));
    }
    match resolve(context, path)? {
        Target::Entity(entity) => delete_entity(context, &entity),
        Target::Observation(id) => delete_observation(context, &id).map(Some),
        _ => Err(Fault::new(405, "what can be deleted is an entity")),
    }
}

fn delete_observation(context: &Context<'_>, id: &Id) -> Result<Ticket> {
    let missing = || Fault::missing(format!("Observations({})", id.in_url()));
    let at = context.view.place_of(id).ok_or_else(missing)?;
    let topic = observations::one(context, at, |observed| {
        Ok(observed.datastream.key.to_string())
    })?;
    let ticket = withdraw(context, &topic.ok_or_else(missing)?, at)?;
    if context.view.is_moved(id) {
        return correct(context, id, None);
    }
    Ok(ticket)
}

/// An entity with all that cannot be without it (18-088 table 25).
fn delete_entity(context: &Context<'_>, entity: &Entity) -> Result<Option<Ticket>> {
    if entity.kind == Kind::FeatureOfInterest {
        withdraw_all(context, entity)?;
    }
    let mut draft = Draft::new(context);
    let mut last = None;
    for topic in drop_entity(&mut draft, entity) {
        last = Some(accepted(context, Request::Change(topic.to_string(), None))?);
    }
    Ok(draft.commit()?.or(last))
}

/// Drafts that an entity is gone; says the topics of the datastreams that are to be forgotten with it.
pub(crate) fn drop_entity(draft: &mut Draft<'_>, entity: &Entity) -> Vec<Arc<str>> {
    let view = draft.context.view;
    let linking = |kind: Kind| view.linking(entity.kind, &entity.id, kind);
    let mut topics: Vec<Arc<str>> = Vec::new();
    match entity.kind {
        Kind::Datastream => topics.push(entity.key.clone()),
        Kind::FeatureOfInterest => {}
        _ => topics.extend(linking(Kind::Datastream).iter().map(|it| it.key.clone())),
    }
    if matches!(entity.kind, Kind::Thing | Kind::Location) {
        for noted in linking(Kind::HistoricalLocation) {
            draft.remove(Kind::HistoricalLocation, &noted.id);
        }
    }
    if entity.kind == Kind::Location {
        for thing in linking(Kind::Thing)
            .into_iter()
            .filter(|thing| !thing.is_implied)
        {
            let mut thing = (**thing).clone();
            if let Some(locations) = thing.links.get_mut("Locations") {
                locations.retain(|id| *id != entity.id);
            }
            draft.put(thing);
        }
    }
    let is_kept = |it: &&Entity| it.kind != Kind::Datastream && !it.is_implied;
    if let Some(entity) = Some(entity).filter(is_kept) {
        draft.remove(entity.kind, &entity.id);
    }
    topics
}

/// Withdraws the observations of a feature.
fn withdraw_all(context: &Context<'_>, feature: &Entity) -> Result<()> {
    let of = observations::Of::Feature(Arc::new(feature.clone()));
    let query = crate::query::Query {
        top: Some(crate::limits::TOP_MAX),
        ..Default::default()
    };
    loop {
        let mut places = Vec::new();
        let found = observations::page(context, &of, &query, &mut |observed| {
            places.push((observed.datastream.key.clone(), observed.at));
            Ok(())
        })?;
        for (topic, at) in &places {
            withdraw(context, topic, *at)?;
        }
        if found.next.is_none() {
            return Ok(());
        }
    }
}
