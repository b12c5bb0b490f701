//! A change set: its requests are drafted one after another, then all are done, or none (OData 4.0 section
//! 11.7.4).
//!
//! What a request made is there for those after it though it is nowhere yet. An observation is corrected or
//! deleted once in a set: what becomes of it is known only when the set is done.

use super::reference::Places;
use super::step::Asked;
use crate::draft::{Draft, Given, Made, Withdrawn};
use crate::fault::{Fault, Result};
use crate::id::Id;
use crate::kind::Kind;
use crate::path::{End, Path};
use crate::read::{Target, resolve};
use crate::rights::check_some;
use crate::said::read_json;
use crate::service::{Inner, SensorThings, rest, root};
use crate::write::{self, Created, Way};
use std::collections::HashSet;
use std::sync::Arc;
use weir_hub::Ticket;
use weir_service::{Call, Response};

/// An answer for each request, and what they wait for.
pub(super) type Drafted = (Vec<Response>, Option<Ticket>);

/// What is to be done elsewhere for a set.
pub(super) fn work(
    service: &SensorThings,
    batch: &Call,
    all: &[Asked],
    places: &Places,
) -> impl FnOnce() -> Drafted + Send + 'static {
    let inner = service.inner.clone();
    let (all, mut places) = (all.to_vec(), places.clone());
    let batch = places.base(batch);
    move || match done(&inner, &batch, &all, &mut places) {
        Ok(drafted) => drafted,
        Err((index, fault)) => (failed(&all, index, &fault), None),
    }
}

/// The fault for the request that has it, and for all others that nothing was done.
fn failed(all: &[Asked], index: usize, fault: &Fault) -> Vec<Response> {
    let name = all[index]
        .id
        .clone()
        .unwrap_or_else(|| format!("number {}", index + 1));
    let other = Fault::new(
        424,
        format!("nothing of the set was done: request {name} failed"),
    );
    let each = (0..all.len()).map(|at| {
        if at == index {
            fault.response()
        } else {
            other.response()
        }
    });
    each.collect()
}

/// Which request failed, and why.
type Failure = (usize, Fault);

fn done(
    inner: &Arc<Inner>,
    batch: &Call,
    all: &[Asked],
    places: &mut Places,
) -> std::result::Result<Drafted, Failure> {
    let last = all.len().saturating_sub(1);
    let whole = |fault: Fault| (last, fault);
    // Each is a request, and all are counted before anything is done.
    for index in 0..all.len() {
        if let Err(fault) = inner.hub().caller(batch.now, &batch.principal) {
            return Err((index, fault.into()));
        }
    }
    let root = root(batch);
    let _alone = inner.changing();
    let view = inner.current().map_err(whole)?;
    let context = inner.context(&view, batch, &root);
    let mut set = Set {
        draft: Draft::new(&context),
    };
    let mut made = Vec::new();
    for (index, asked) in all.iter().enumerate() {
        let drafted = set.request(asked, batch, places);
        made.push(drafted.map_err(|fault| (index, fault))?);
    }
    set.check()
        .and_then(|()| set.check_withdrawn())
        .map_err(whole)?;
    let done = set.draft.commit().map_err(whole)?;
    let answers = made.iter().map(|created| match created {
        None => Ok(Response::empty(200)),
        Some(created) => {
            let location = write::location(&root, created, &done)?;
            Ok(Response::empty(201).header("location", location))
        }
    });
    let answers = answers.collect::<Result<Vec<_>>>().map_err(whole)?;
    Ok((answers, done.ticket))
}

struct Set<'a> {
    draft: Draft<'a>,
}

impl Set<'_> {
    /// Refuses what would link to something that the set deletes, and observations of what it forgets.
    fn check(&self) -> Result<()> {
        let draft = &self.draft;
        let is_gone = |kind: Kind, id: &Id| {
            let put = draft.puts.get(&(kind, id.clone()));
            put.is_some_and(Option::is_none)
        };
        let refuse = |what: String| {
            let problem = format!("{what} is deleted in the same set that something links to it");
            Err(Fault::new(409, problem))
        };
        let is_forgotten = |topic: &str| draft.forgotten.iter().any(|gone| gone == topic);
        let streams = draft.streams.iter();
        for (_, stream) in streams.filter(|(topic, _)| !is_forgotten(topic)) {
            for way in Kind::Datastream
                .navigations()
                .iter()
                .filter(|way| way.needed)
            {
                if let Some(id) = stream.link(way.name).filter(|id| is_gone(way.to, id)) {
                    return refuse(format!("{}({})", way.to.set(), id.in_url()));
                }
            }
        }
        for entity in draft.puts.values().flatten().chain(draft.noted.values()) {
            for (name, ids) in entity.links.iter() {
                let to = entity.kind.navigation(name).map(|way| way.to);
                let gone = to.and_then(|to| ids.iter().find(|id| is_gone(to, id)));
                if let Some(id) = gone {
                    return refuse(format!("{name}({})", id.in_url()));
                }
            }
        }
        for (topic, row) in &draft.rows {
            let feature = row.feature.as_ref();
            if let Some(id) = feature.filter(|id| is_gone(Kind::FeatureOfInterest, id)) {
                return refuse(format!("FeaturesOfInterest({})", id.in_url()));
            }
            if is_forgotten(topic) {
                return refuse(format!("datastream `{topic}`"));
            }
        }
        Ok(())
    }

    /// Refuses what is withdrawn twice; what goes with its datastream need not be withdrawn.
    fn check_withdrawn(&mut self) -> Result<()> {
        let draft = &mut self.draft;
        let forgotten = &draft.forgotten;
        let stays = |gone: &Withdrawn| !forgotten.contains(&gone.topic);
        draft.withdrawn.retain(stays);
        let mut seen = HashSet::new();
        let mut places = draft.withdrawn.iter().map(|gone| (&gone.topic, gone.at));
        match places.find(|place| !seen.insert(*place)) {
            None => Ok(()),
            Some((_, at)) => {
                let id = draft.context.view.id_of(at);
                let problem =
                    format!("Observations({id}) is corrected or deleted more than once in the set");
                Err(Fault::new(409, problem))
            }
        }
    }

    /// Drafts a request; says what it makes.
    fn request(
        &mut self,
        asked: &Asked,
        batch: &Call,
        places: &mut Places,
    ) -> Result<Option<Created>> {
        let call = places.call(asked, batch)?;
        let path = Path::parse(rest(&call)?)?;
        let context = self.draft.context;
        check_some(
            context.hub,
            context.principal,
            &call.method,
            path.target().0,
        )?;
        if path.end != End::All {
            return Err(Fault::new(405, "what can be changed is an entity"));
        }
        match &*call.method {
            "POST" => {
                let created = self.post(&path, &call)?;
                places.will_be(asked, place(&created));
                return Ok(Some(created));
            }
            "PATCH" | "PUT" => {
                let (target, body) = (self.target(&path)?, read_json(&call.body)?);
                write::update_target(&mut self.draft, target, &body, Way::of(&call))?;
            }
            "DELETE" => {
                let target = self.target(&path)?;
                write::delete_target(&mut self.draft, &target)?;
            }
            other => return Err(Fault::new(405, format!("{other} is not possible in a set"))),
        }
        Ok(None)
    }

    fn post(&mut self, path: &Path, call: &Call) -> Result<Created> {
        let (kind, is_collection) = path.target();
        if !is_collection {
            return Err(Fault::new(405, "what can be posted to is a collection"));
        }
        let given = self.given(path)?;
        let made = self.draft.insert(kind, &read_json(&call.body)?, given)?;
        Ok(Created::last(&self.draft, made))
    }

    /// The links that follow from a path that may begin at something drafted.
    fn given(&self, path: &Path) -> Result<Given> {
        let Some(made) = path.id.as_ref().and_then(|id| self.made(path.set, id)) else {
            return write::given(self.draft.context, path);
        };
        let [step] = &path.steps[..] else {
            return Err(Fault::bad(
                "what was made in the set has nothing behind it yet",
            ));
        };
        let mut ways = step.way.to.navigations().iter();
        let back = ways.find(|back| back.to == path.set);
        Ok(back.map(|back| (back.name, made)).into_iter().collect())
    }

    /// Something that the set makes or changes.
    fn made(&self, kind: Kind, id: &Id) -> Option<Made> {
        match (kind, id) {
            (Kind::Datastream, Id::Text(topic)) if self.draft.streams.contains_key(&**topic) => {
                Some(Made::Datastream(topic.to_string()))
            }
            _ => {
                let put = self.draft.puts.get(&(kind, id.clone()))?;
                put.as_ref()
                    .map(|entity| Made::Entity(kind, entity.id.clone()))
            }
        }
    }

    /// What a path leads to, as it is drafted or as it is.
    fn target(&self, path: &Path) -> Result<Target> {
        if let (Some(id), true) = (&path.id, path.steps.is_empty())
            && let Some(Some(put)) = self.draft.puts.get(&(path.set, id.clone()))
        {
            return Ok(Target::Entity(Arc::new(put.clone())));
        }
        resolve(self.draft.context, path)
    }
}

/// The path that will lead to what is drafted; of an observation there is none yet.
fn place(created: &Created) -> Option<String> {
    match &created.made {
        Made::Entity(kind, id) => Some(format!("{}({})", kind.set(), id.in_url())),
        Made::Datastream(topic) => {
            let id = Id::Text(topic.as_str().into());
            Some(format!("{}({})", Kind::Datastream.set(), id.in_url()))
        }
        _ => None,
    }
}
