//! `POST`, `PATCH`, `PUT`, `DELETE`: what becomes of them (18-088 section 10).
//!
//! What a request changes is first gathered in a draft and then done. What only publishes is done beside
//! others; who changes entities is alone from the look at them to the change.

use crate::context::Context;
use crate::data_array::{self, Stored};
use crate::draft::{Done, Draft, Given, Made, Withdrawn};
use crate::entity::{Entity, MEMBER, Object};
use crate::fault::{Fault, Result};
use crate::history::Of;
use crate::id::{At, Id};
use crate::kind::{Kind, Navigation};
use crate::node::Node;
use crate::observed::Observed;
use crate::path::{End, Path};
use crate::read::{Target, resolve};
use crate::render::self_link;
use crate::rights::check_some;
use crate::said::{check, link, properties, read_json, row};
use crate::service::{Inner, rest, root};
use crate::{multi, observations, patch, tasking, walk};
use serde_json::Value as Json;
use std::sync::Arc;
use std::task::{Context as Waiting, Poll};
use weir_hub::{Ticket, Verb};
use weir_service::{Call, Outcome, Pending, Response};

/// What was done, and the answer that says so once it is on disk.
pub(crate) struct Written {
    ticket: Option<Ticket>,
    response: Response,
}

/// Does what a call asks.
pub(crate) fn answer(inner: &Inner, call: &Call) -> Result<Written> {
    let root = root(call);
    let wanted = Wanted::of(inner, call)?;
    {
        let view = inner.current()?;
        let context = inner.context(&view, call, &root);
        let mut draft = Draft::new(&context);
        let gathered = wanted.gather(&mut draft)?;
        if draft.only_publishes() {
            return written(&root, gathered, draft.commit()?);
        }
    }
    let _alone = inner.changing();
    let view = inner.current()?;
    let context = inner.context(&view, call, &root);
    let mut draft = Draft::new(&context);
    let gathered = wanted.gather(&mut draft)?;
    written(&root, gathered, draft.commit()?)
}

/// What a request wants.
enum Wanted {
    /// `CreateObservations`.
    Bulk(Json),
    Post(Path, Json),
    Update(Path, Json, Way),
    Delete(Path),
}

/// What was gathered, as far as the answer needs it.
enum Gathered {
    Bulk(Stored),
    Made(Created),
    Changed,
}

impl Wanted {
    /// What a call says, of who may do such a thing at all.
    fn of(inner: &Inner, call: &Call) -> Result<Self> {
        let rest = rest(call)?;
        let check = |set| check_some(inner.hub(), &call.principal, &call.method, set);
        if rest == "CreateObservations" && call.method == "POST" {
            check(Kind::Observation)?;
            return Ok(Wanted::Bulk(json_of(call)?));
        }
        let path = Path::parse(rest)?;
        check(path.target().0)?;
        Ok(match &*call.method {
            "POST" => Wanted::Post(path, json_of(call)?),
            "DELETE" => Wanted::Delete(path),
            _ => Wanted::Update(path, json_of(call)?, Way::of(call)),
        })
    }

    fn gather(&self, draft: &mut Draft<'_>) -> Result<Gathered> {
        match self {
            Wanted::Bulk(body) => data_array::gather(draft, body).map(Gathered::Bulk),
            Wanted::Post(path, body) => post(draft, path, body).map(Gathered::Made),
            Wanted::Update(path, body, way) => {
                update(draft, path, body, *way).map(|()| Gathered::Changed)
            }
            Wanted::Delete(path) => delete(draft, path).map(|()| Gathered::Changed),
        }
    }
}

fn written(root: &str, gathered: Gathered, done: Done) -> Result<Written> {
    let response = match gathered {
        Gathered::Changed => Response::empty(200),
        Gathered::Made(made) => {
            Response::empty(201).header("location", location(root, &made, &done)?)
        }
        Gathered::Bulk(stored) => {
            let links = data_array::links(root, &stored, &done.places);
            Response::with_body(201, "application/json", links.to_string())
        }
    };
    let ticket = done.ticket;
    Ok(Written { ticket, response })
}

/// What was made, as far as its URL needs it.
pub(crate) struct Created {
    pub(crate) made: Made,
    /// Of an observation, the index of its row.
    row: usize,
}

impl Created {
    /// What the last insert into a draft made.
    pub(crate) fn last(draft: &Draft<'_>, made: Made) -> Self {
        let row = draft.rows.len().saturating_sub(1);
        Self { made, row }
    }
}

/// The URL of what was made: known from the change itself, whatever became of it since.
pub(crate) fn location(root: &str, created: &Created, done: &Done) -> Result<String> {
    let lost = || Fault::new(500, "what was made cannot be found");
    match &created.made {
        Made::Entity(kind, id) => Ok(self_link(root, *kind, id)),
        Made::Datastream(topic) => {
            let number = done.numbers.get(topic).ok_or_else(lost)?;
            let id = Id::Number(u64::from(*number));
            Ok(self_link(root, Kind::Datastream, &id))
        }
        Made::Observation(_) => {
            let at = done.places.get(created.row).ok_or_else(lost)?;
            let id = Id::Text(at.id().into());
            Ok(self_link(root, Kind::Observation, &id))
        }
    }
}

/// An answer that is being worked at, then on its way to the disk.
pub(crate) enum Writing {
    Working(Outcome<Result<Written>>),
    Committing(Written),
}

impl Pending for Writing {
    fn poll(&mut self, cx: &mut Waiting<'_>) -> Poll<Response> {
        if let Writing::Working(outcome) = self {
            match std::task::ready!(outcome.poll(cx)) {
                Some(Ok(written)) => *self = Writing::Committing(written),
                Some(Err(fault)) => return Poll::Ready(fault.response()),
                None => return Poll::Ready(Fault::new(500, "the work broke off").response()),
            }
        }
        let Writing::Committing(Written { ticket, response }) = self else {
            return Poll::Pending;
        };
        let committed = match ticket {
            Some(ticket) => std::task::ready!(ticket.poll(cx)).map(drop),
            None => Ok(()),
        };
        Poll::Ready(match committed {
            Ok(()) => std::mem::take(response),
            Err(fault) => Fault::from(fault).response(),
        })
    }
}

fn json_of(call: &Call) -> Result<Json> {
    read_json(&call.body)
}

fn post(draft: &mut Draft<'_>, path: &Path, body: &Json) -> Result<Created> {
    let (kind, is_collection) = path.target();
    if !is_collection || path.end != End::All {
        return Err(Fault::new(405, "what can be posted to is a collection"));
    }
    let given = given(draft.context, path)?;
    let made = draft.insert(kind, body, given)?;
    Ok(Created::last(draft, made))
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

/// How a change is written (18-088 section 10.3).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// `PUT`: all of the entity.
    Whole,
    /// `PATCH`: the members that change.
    Merge,
    /// `PATCH` by operations on what there is.
    Operations,
}

impl Way {
    /// How the change of a call is written.
    pub(crate) fn of(call: &Call) -> Self {
        match (&*call.method, call.header("content-type")) {
            ("PUT", _) => Way::Whole,
            (_, Some(media)) if media.starts_with(patch::MEDIA) => Way::Operations,
            _ => Way::Merge,
        }
    }
}

/// The members that are to change.
fn members(before: &Object, body: &Json, way: Way) -> Result<Object> {
    let expected = || Fault::bad("an object was expected");
    match way {
        Way::Operations => patch::merge(before, body),
        _ => body.as_object().cloned().ok_or_else(expected),
    }
}

fn update(draft: &mut Draft<'_>, path: &Path, body: &Json, way: Way) -> Result<()> {
    if path.end != End::All {
        return Err(Fault::new(405, "what can be changed is an entity"));
    }
    let target = resolve(draft.context, path)?;
    update_target(draft, target, body, way)
}

/// Changes what a path led to.
pub(crate) fn update_target(
    draft: &mut Draft<'_>,
    target: Target,
    body: &Json,
    way: Way,
) -> Result<()> {
    match target {
        Target::Entity(entity) => {
            draft.may_change(&entity)?;
            let body = members(&entity.body, body, way)?;
            update_entity(draft, &entity, &body, way == Way::Whole)
        }
        Target::Observation(id) => update_observation(draft, &id, body, way),
        _ => Err(Fault::new(405, "what can be changed is an entity")),
    }
}

/// A link to one entity is to one, and what cannot be left out is not (18-088 tables 4 to 16).
fn check_number(way: &Navigation, ids: &[Id]) -> Result<()> {
    let name = way.name;
    match ids.len() {
        0 if way.needed => Err(Fault::bad(format!("{name} cannot be left out"))),
        0 | 1 => Ok(()),
        _ if way.many => Ok(()),
        _ => Err(Fault::bad(format!("{name} is one entity"))),
    }
}

// [STA-A.3.1.2-1] [STA-A.3.1.2-2] [STA-A.3.1.2-3] [STA-A.3.1.2-4]
pub(crate) fn update_entity(
    draft: &mut Draft<'_>,
    entity: &Entity,
    body: &Object,
    whole: bool,
) -> Result<()> {
    let kind = entity.kind;
    check(kind, body, whole)?;
    check_topic(entity, body)?;
    let mut changed = entity.clone();
    if whole {
        // What it is known by beside its properties stays.
        changed.body.retain(|name, _| kind.property(name).is_none());
    }
    for (name, value) in body
        .iter()
        .filter(|(name, _)| kind.property(name).is_some())
    {
        if value.is_null() {
            drop(changed.body.remove(name))
        } else {
            drop(changed.body.insert(name.clone(), value.clone()))
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
        check_number(way, &ids)?;
        moved |= way.to == Kind::Location && kind == Kind::Thing;
        changed.links.insert(way.name, ids);
    }
    tasking::change(draft, entity, &mut changed)?;
    if kind == Kind::MultiDatastream {
        multi::change(draft, changed)?;
    } else if kind == Kind::Datastream {
        describe(draft, entity, changed)?;
    } else {
        draft.put_changed(changed, moved)?;
    }
    Ok(())
}

/// Where a datastream is published is said when it is made; it does not move.
fn check_topic(entity: &Entity, body: &Object) -> Result<()> {
    let topic = |body: &Object| body.get("properties")?.get("topic").cloned();
    let is_published = matches!(entity.kind, Kind::Datastream | Kind::MultiDatastream);
    match topic(body).filter(|_| is_published) {
        Some(said) if said != *entity.key && Some(&said) != topic(&entity.body).as_ref() => {
            let problem = format!(
                "properties/topic: it is `{}` and does not change",
                entity.key
            );
            Err(Fault::new(409, problem))
        }
        _ => Ok(()),
    }
}

/// A datastream is described in the catalog.
fn describe(draft: &mut Draft<'_>, entity: &Entity, changed: Entity) -> Result<()> {
    let mut stream = draft.stream(&entity.key)?.clone();
    let is_property = |name: &str| Kind::Datastream.property(name).is_some();
    let kept = |name: &String| !is_property(name) || changed.body.contains_key(name);
    stream.about.retain(|name, _| kept(name));
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

/// Where an observation that may be changed would stand, and of what it would be: asked before the past is looked at.
/// One of a datastream that the caller may not read is none, like one of a datastream that is not there.
fn changeable<'c>(context: &'c Context<'_>, id: &Id) -> Result<(At, &'c Arc<Entity>)> {
    let at = context.view.place_of(id).ok_or_else(|| missing(id))?;
    let source = context.view.of_number(at.datastream);
    let source = source.filter(|it| context.view.may_read(context.grants(), it));
    let source = source.ok_or_else(|| missing(id))?;
    let mut topics = source.published_at().into_iter();
    topics.try_for_each(|topic| context.may_at(Verb::Change, topic))?;
    Ok((at, source))
}

fn missing(id: &Id) -> Fault {
    Fault::missing(format!("Observations({})", id.in_url()))
}

/// A correction: the observation as it was is withdrawn, and one as it is to be published, under the same
/// identifier.
fn update_observation(draft: &mut Draft<'_>, id: &Id, body: &Json, way: Way) -> Result<()> {
    let (at, source) = changeable(draft.context, id)?;
    let known = walk::one(draft.context, at, |observed| Ok(parts(observed)))?;
    let (topic, before, feature) = known.ok_or_else(|| missing(id))?;
    let body = members(&before, body, way)?;
    check(Kind::Observation, &body, way == Way::Whole)?;
    let mut object = match way {
        Way::Whole => Object::new(),
        _ => before,
    };
    for (name, value) in body
        .iter()
        .filter(|(name, _)| Kind::Observation.property(name).is_some())
    {
        object.insert(name.clone(), value.clone());
    }
    let mut changed = row(&object)?;
    let moved = moved_to(draft, &body)?;
    let (topic, multi) = match &moved {
        Some((topic, multi)) => (topic.clone(), multi.as_ref()),
        None => (topic, Some(&**source)),
    };
    if let Some(multi) = multi.filter(|multi| multi.kind == Kind::MultiDatastream) {
        changed = multi::split(multi, changed)?;
    }
    changed.time = changed.time.or(Some(at.time));
    changed.feature = match (body.get("FeatureOfInterest"), moved) {
        (Some(said), _) => Some(draft.feature_of(linked("FeatureOfInterest", said)?, &topic)?),
        // What it has by default it has from where it was.
        (None, Some(_)) => {
            let default = || draft.context.view.default_feature(source, at.time);
            let feature = feature.or_else(|| default().map(|it| it.id.clone()));
            feature.inspect(|feature| draft.name_feature(feature, &topic))
        }
        (None, None) => feature,
    };
    draft.corrected.push((id.clone(), draft.rows.len()));
    draft.rows.push((topic, changed));
    withdraw(draft, source, at, None);
    Ok(())
}

/// The topic that an observation is moved to, and the multi-datastream where it is one's.
// [STA-A.3.1.2-4]
fn moved_to(draft: &mut Draft<'_>, body: &Object) -> Result<Option<(String, Option<Entity>)>> {
    match (body.get("Datastream"), body.get(MEMBER)) {
        (None, None) => Ok(None),
        (Some(said), None) => {
            let topic = draft.datastream_of(linked("Datastream", said)?)?;
            Ok(Some((topic, None)))
        }
        (None, Some(said)) => {
            linked(MEMBER, said)?;
            let multi = draft.multi_of(body, &Vec::new())?;
            Ok(multi.map(|multi| (multi.key.to_string(), Some(multi))))
        }
        _ => Err(Fault::bad(
            "Observations have one Datastream or one MultiDatastream",
        )),
    }
}

/// What is said, if it is a link: a change makes no entities (18-088 section 10.3).
fn linked<'j>(name: &str, said: &'j Json) -> Result<&'j Json> {
    let expected = || Fault::bad(format!("{name}: a link was expected: {{\"@iot.id\": ...}}"));
    link(said).map(|_| said).ok_or_else(expected)
}

/// Withdraws an observation: of a multi-datastream that of each component.
fn withdraw(draft: &mut Draft<'_>, source: &Entity, at: At, known_as: Option<Id>) {
    let mut known_as = known_as;
    for topic in source.published_at() {
        draft.withdrawn.push(Withdrawn {
            topic: topic.to_owned(),
            at,
            known_as: known_as.take(),
        });
    }
}

/// The topic, the properties and the named feature of an observation.
fn parts(observed: &Observed<'_>) -> (String, Object, Option<Id>) {
    let mut object = Object::new();
    for (name, _) in Kind::Observation.properties() {
        if let Some(value) = Node::Observed(observed).property(name) {
            object.insert((*name).into(), value);
        }
    }
    let feature = observed.row.extra.feature.map(Id::of_text);
    (observed.datastream.key.to_string(), object, feature)
}

fn delete(draft: &mut Draft<'_>, path: &Path) -> Result<()> {
    if path.end != End::All {
        return Err(Fault::new(405, "what can be deleted is an entity"));
    }
    let target = resolve(draft.context, path)?;
    delete_target(draft, &target)
}

/// Deletes what a path led to.
pub(crate) fn delete_target(draft: &mut Draft<'_>, target: &Target) -> Result<()> {
    match target {
        Target::Entity(entity) => delete_entity(draft, entity),
        Target::Observation(id) => delete_observation(draft, id),
        _ => Err(Fault::new(405, "what can be deleted is an entity")),
    }
}

fn delete_observation(draft: &mut Draft<'_>, id: &Id) -> Result<()> {
    let context = draft.context;
    let (at, source) = changeable(context, id)?;
    let names_none = |it: &Observed<'_>| Ok(it.row.extra.feature.is_none());
    let found = walk::one(context, at, names_none)?;
    if found.ok_or_else(|| missing(id))? {
        draft.keep_default(source, at.time);
    }
    let known_as = Some(id.clone()).filter(|id| context.view.is_moved(id));
    withdraw(draft, source, at, known_as);
    Ok(())
}

/// An entity with all that cannot be without it (18-088 table 25), as far as the caller knows of it: what else refers
/// to it refers to an entity that nobody described.
// [STA-A.3.1.3-1]
pub(crate) fn delete_entity(draft: &mut Draft<'_>, entity: &Entity) -> Result<()> {
    let context = draft.context;
    if !entity.is_implied {
        draft.may_change(entity)?;
    }
    let linking = |kind: Kind| {
        let all = context.view.linking(entity.kind, &entity.id, kind);
        all.into_iter().filter(move |it| context.goes_along(it))
    };
    draft.keep_features(entity)?;
    match entity.kind {
        Kind::Datastream => draft.forgotten.push(entity.key.to_string()),
        Kind::MultiDatastream => draft.forgotten.extend(entity.topics.iter().cloned()),
        Kind::FeatureOfInterest => withdraw_all(draft, entity)?,
        _ => {
            let topics = linking(Kind::Datastream).map(|it| it.key.to_string());
            draft.forgotten.extend(topics);
        }
    }
    tasking::remove_below(draft, entity);
    for multi in linking(Kind::MultiDatastream) {
        draft.forgotten.extend(multi.topics.iter().cloned());
        draft.remove(multi.kind, &multi.id);
    }
    if matches!(entity.kind, Kind::Thing | Kind::Location) {
        for noted in linking(Kind::HistoricalLocation) {
            draft.remove(Kind::HistoricalLocation, &noted.id);
        }
    }
    if entity.kind == Kind::Location {
        for thing in linking(Kind::Thing).filter(|thing| !thing.is_implied) {
            let mut thing = (**thing).clone();
            if let Some(locations) = thing.links.get_mut("Locations") {
                locations.retain(|id| *id != entity.id);
            }
            draft.put(thing);
        }
    }
    if entity.kind != Kind::Datastream && !entity.is_implied {
        draft.remove(entity.kind, &entity.id);
    }
    Ok(())
}

/// Withdraws the observations of a feature.
fn withdraw_all(draft: &mut Draft<'_>, feature: &Entity) -> Result<()> {
    let of = Of::Feature(Arc::new(feature.clone()));
    let mut query = crate::query::Query {
        top: Some(crate::limits::TOP_MAX),
        ..Default::default()
    };
    loop {
        let found = observations::page(draft.context, &of, &query, &mut |observed| {
            withdraw(draft, observed.datastream, observed.at, None);
            Ok(())
        })?;
        query.token = found.next;
        if query.token.is_none() {
            return Ok(());
        }
    }
}
