//! Entities as JSON (18-088 section 8.1): control information, properties, links, what is expanded.
//!
//! They are written as text at once. What wants values of them instead (other result formats) reads the text.

use crate::asked::{Asked, by_keys, sort_keys};
use crate::computed;
use crate::context::Context;
use crate::ended::Ended;
use crate::fault::{Fault, Result};
use crate::filter::holds;
use crate::history::Of;
use crate::id::Id;
use crate::kind::{Kind, Navigation};
use crate::limits::{RENDERED_MAX, WRITTEN_BYTES_MAX};
use crate::members::{self, Members, end_list};
use crate::node::Node;
use crate::observations;
use crate::observed::Observed;
use crate::query::Query;
use serde_json::Value as Json;
use std::cell::LazyCell;

/// The URL of an entity: nothing in it needs an escape in JSON.
pub(crate) fn self_link(root: &str, kind: Kind, id: &Id) -> String {
    let set = kind.set();
    let mut link = String::with_capacity(root.len() + set.len() + 24);
    for part in [root, "/", set, "("] {
        link.push_str(part);
    }
    id.write_in_url(&mut link);
    link.push(')');
    link
}

/// Writes an entity as a JSON object.
// [STA-A.1.1-1]
pub(crate) fn write(
    context: &Context<'_>,
    node: &Node<'_>,
    query: &Query,
    out: &mut Vec<u8>,
) -> Result<()> {
    context.rendered.set(context.rendered.get() + 1);
    if context.rendered.get() > RENDERED_MAX {
        return Err(Fault::over("entities of one answer", RENDERED_MAX));
    }
    let (before, begin) = (context.written.get(), out.len());
    let kind = node.kind();
    let id = LazyCell::new(|| node.id(context.view));
    let link = LazyCell::new(|| self_link(context.root, kind, &id));
    let mut object = Members::begin(out);
    if query.selects("id") || query.selects("@iot.id") {
        write_id(&id, object.open(&["@iot.id"]));
    }
    if query.selects("@iot.selfLink") {
        object.plain(&["@iot.selfLink"], &[&link]);
    }
    properties(context, node, query, &mut object)?;
    for way in kind.navigations() {
        let mut expanded = query.expand.iter();
        match expanded.find(|(known, _)| known.name == way.name) {
            Some((_, inner)) => expand(context, node, way, inner, &|| &link, &mut object)?,
            None if query.selects(way.name) && node.has(way) => {
                let name = [way.name, "@iot.navigationLink"];
                object.plain(&name, &[&link, "/", way.name]);
            }
            None => {}
        }
    }
    object.end();
    // Those that were expanded are counted again with this one, and not twice.
    context.written.set(before + out.len() - begin);
    if context.written.get() > WRITTEN_BYTES_MAX {
        Err(too_long())
    } else {
        Ok(())
    }
}

fn too_long() -> Fault {
    let problem =
        format!("an answer ends at {WRITTEN_BYTES_MAX} bytes: ask for less with $top or $select");
    Fault::new(413, problem)
}

fn write_id(id: &Id, out: &mut Vec<u8>) {
    match id {
        Id::Number(number) => members::number(out, *number),
        Id::Text(text) => members::text(out, text),
    }
}

/// An entity as text.
pub(crate) fn text(context: &Context<'_>, node: &Node<'_>, query: &Query) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write(context, node, query, &mut out)?;
    Ok(out)
}

/// What was written as values.
pub(crate) fn read<T: serde::de::DeserializeOwned>(text: &[u8]) -> Result<T> {
    serde_json::from_slice(text).map_err(|error| Fault::new(500, error.to_string()))
}

/// The properties that are selected; of `properties/a/b` the part that is there.
// [STA-A.2.1.2-2]
fn properties(
    context: &Context<'_>,
    node: &Node<'_>,
    query: &Query,
    object: &mut Members<'_>,
) -> Result<()> {
    let names = node.kind().properties().iter().map(|(name, _)| *name);
    let names = names.filter(|name| query.selects_part_of(name));
    let (whole, in_part): (Vec<_>, Vec<_>) =
        names.partition(|name| query.parts_of(name).is_empty());
    for name in in_part {
        if let Some(json) = computed::shown(context, node, name)? {
            object.member(&[name], &parts(&json, &query.parts_of(name)));
        }
    }
    let names = whole.into_iter();
    match node {
        Node::Entity(entity) if query.select.is_empty() => {
            object.written(&entity.texts().all);
            let mut names = names.filter(|name| entity.kind.is_computed(name));
            names.try_for_each(|name| computed::write(context, entity, name, object))
        }
        Node::Entity(entity) => {
            for name in names {
                if entity.kind.is_computed(name) {
                    computed::write(context, entity, name, object)?
                } else {
                    object.written(entity.texts().part(name).unwrap_or_default())
                }
            }
            Ok(())
        }
        Node::Observed(observed) => {
            names.for_each(|name| write_of_observation(observed, name, object));
            Ok(())
        }
    }
}

/// What of a value lies at some paths; of a list, all.
fn parts(json: &Json, paths: &[&str]) -> Json {
    let Json::Object(members) = json else {
        return json.clone();
    };
    let mut kept = serde_json::Map::new();
    for path in paths {
        let (name, below) = path.split_once('/').unwrap_or((path, ""));
        let Some(member) = members.get(name) else {
            continue;
        };
        let part = match below {
            "" => member.clone(),
            below => parts(member, &[below]),
        };
        match (kept.get_mut(name), part) {
            (Some(Json::Object(before)), Json::Object(more)) => before.extend(more),
            (_, part) => drop(kept.insert(name.to_owned(), part)),
        }
    }
    Json::Object(kept)
}

/// Writes a property of an observation, where it has it.
fn write_of_observation(observed: &Observed<'_>, name: &'static str, object: &mut Members<'_>) {
    let extra = &observed.row.extra;
    let text = match name {
        "phenomenonTime" => {
            return members::times(object.open(&[name]), observed.at.time, extra.end);
        }
        "result" => return members::result(object.open(&[name]), observed.row.value),
        "resultTime" => {
            let out = object.open(&[name]);
            return match extra.result_time {
                Some(time) => members::times(out, time, None),
                None => out.extend_from_slice(b"null"),
            };
        }
        "validTime" => {
            if let Some((from, to)) = extra.valid {
                members::times(object.open(&[name]), from, Some(to));
            }
            return;
        }
        "resultQuality" => extra.quality,
        _ => extra.parameters,
    };
    if let Some(text) = text {
        members::parsed(object.open(&[name]), text);
    }
}

// [STA-A.2.1.2-1]
fn expand<'l>(
    context: &Context<'_>,
    node: &Node<'_>,
    way: &'static Navigation,
    query: &Query,
    link: &dyn Fn() -> &'l str,
    object: &mut Members<'_>,
) -> Result<()> {
    let out = object.open(&[way.name]);
    if !way.many {
        let found = node.related(context, way).into_iter().next();
        return match found {
            Some(one) => write(context, &one, query, out),
            None => {
                out.extend_from_slice(b"null");
                Ok(())
            }
        };
    }
    let (count, next) = match (way.to, node) {
        (Kind::Observation, Node::Entity(from)) => {
            of_history(context, &Of::entity(from), query, out)?
        }
        _ => collection(context, node.related(context, way), query, out)?,
    };
    if let Some(count) = count {
        object.member(&[way.name, "@iot.count"], &count.into());
    }
    if let Some(next) = next {
        let name = [way.name, "@iot.nextLink"];
        object.plain(&name, &[link(), "/", way.name, "?", query.to_url(), &next]);
    }
    Ok(())
}

/// How many entities there are in all, and the option that leads on from those that were written.
pub(crate) type Listed = (Option<usize>, Option<String>);

/// Writes a page of observations as a list.
pub(crate) fn of_history(
    context: &Context<'_>,
    of: &Of,
    query: &Query,
    out: &mut Vec<u8>,
) -> Result<Listed> {
    out.push(b'[');
    let found = observations::page(context, of, query, &mut |observed| {
        write(context, &Node::Observed(observed), query, out)?;
        out.push(b',');
        Ok(())
    })?;
    end_list(out);
    Ok((found.count, found.next))
}

/// Entities that room is made for before they are written, and bytes for each.
const ROOM_ENTITIES: usize = 1000;
const ROOM_BYTES: usize = 512;

/// Writes a page of entities as a list: filtered, sorted, cut.
// [STA-A.2.1.1-1] [STA-A.2.1.4-1] [STA-A.2.1.5-1] [STA-A.2.1.5-2] [STA-A.2.1.5-3] [STA-A.2.1.7-1]
pub(crate) fn collection<'a>(
    context: &'a Context<'a>,
    nodes: Vec<Node<'a>>,
    query: &Query,
    out: &mut Vec<u8>,
) -> Result<Listed> {
    let kept = match (&query.filter, &query.order[..]) {
        (None, []) => nodes,
        _ => sorted(context, nodes, query)?,
    };
    let total = kept.len();
    let begin = match &query.token {
        Some(token) => Ended::parse(token)?.begin(&kept, context.view),
        None => query.skip,
    };
    let mut end = begin;
    let most = total.saturating_sub(begin).min(query.page());
    out.reserve(most.min(ROOM_ENTITIES) * ROOM_BYTES);
    out.push(b'[');
    for node in kept.iter().skip(begin).take(query.page()) {
        write(context, node, query, out)?;
        out.push(b',');
        end += 1;
    }
    end_list(out);
    let goes_on = end < total && end > begin;
    let next = goes_on.then(|| Ended::next(&kept, end, context.view));
    Ok((query.count.then_some(total), next.flatten()))
}

/// Those that a filter holds for, in order.
fn sorted<'a>(
    context: &'a Context<'a>,
    nodes: Vec<Node<'a>>,
    query: &Query,
) -> Result<Vec<Node<'a>>> {
    let mut kept = Vec::new();
    for node in nodes {
        let asked = Asked { context, node };
        let filter = query.filter.as_ref();
        if filter.map_or(Ok(true), |filter| holds(filter, &asked))? {
            kept.push((sort_keys(&query.order, &asked)?, asked.node));
        }
    }
    if !query.order.is_empty() {
        kept.sort_by(|(a, _), (b, _)| by_keys(&query.order, a, b));
    }
    Ok(kept.into_iter().map(|(_, node)| node).collect())
}
