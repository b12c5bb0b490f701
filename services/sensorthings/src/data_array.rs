//! `POST /CreateObservations`: observations of many datastreams as arrays (18-088 section 13).
//!
//! Each datastream's observations are one message. A row that is none is answered with `error` in its
//! place and hinders no other; which datastream and which columns is checked before any is stored.

use crate::counted::Counted;
use crate::create::row;
use crate::draft::{Draft, Row};
use crate::entity::{Entity, Object};
use crate::fault::{Fault, Result};
use crate::id::{At, Id};
use crate::kind::Kind;
use crate::node::Context;
use crate::render::self_link;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use weir_hub::Ticket;

/// A datastream's part of a request.
struct Part {
    datastream: Arc<Entity>,
    rows: Vec<Option<Row>>,
}

/// Stores what a body has; the answer lists a URL or `error` for each row.
pub(crate) fn create(context: &Context<'_>, body: &Json) -> Result<(Option<Ticket>, Json)> {
    let missing = || Fault::bad("a list of data arrays was expected");
    let mut draft = Draft::new(context);
    let mut parts = Vec::new();
    for said in body.as_array().ok_or_else(missing)? {
        parts.push(part(&mut draft, said)?);
    }
    let mut links = Vec::new();
    for part in &parts {
        add_links(context, part, &mut links)?;
    }
    for part in parts {
        let topic = part.datastream.key.to_string();
        let rows = part.rows.into_iter().flatten();
        draft.rows.extend(rows.map(|row| (topic.clone(), row)));
    }
    Ok((draft.commit()?, links.into()))
}

fn part(draft: &mut Draft<'_>, said: &Json) -> Result<Part> {
    let topic = draft.datastream_of(&said["Datastream"])?;
    let known = draft.context.view.datastream(&topic);
    let datastream = known
        .cloned()
        .ok_or_else(|| Fault::bad("Datastream: a link was expected"))?;
    let columns = columns(&said["components"])?;
    let data = said["dataArray"].as_array();
    let data = data.ok_or_else(|| Fault::bad("dataArray: a list of rows was expected"))?;
    let has_feature = columns.contains(&FEATURE);
    let feature = match has_feature {
        true => None,
        false => draft.default_feature(&topic)?,
    };
    let mut rows = Vec::with_capacity(data.len());
    for cells in data {
        let read = read(draft, &topic, &columns, cells);
        rows.push(read.ok().map(|read| Row {
            feature: read.feature.or_else(|| feature.clone()),
            ..read
        }));
    }
    Ok(Part { datastream, rows })
}

const FEATURE: &str = "FeatureOfInterest/id";

fn columns(said: &Json) -> Result<Vec<&str>> {
    let names = said
        .as_array()
        .ok_or_else(|| Fault::bad("components: a list of names was expected"))?;
    let mut columns = Vec::new();
    for name in names {
        let name = name.as_str().unwrap_or_default();
        columns.push(match name {
            "FeatureOfInterest/id" | "FeatureOfInterest/@iot.id" => FEATURE,
            name if Kind::Observation.property(name).is_some() => name,
            _ => {
                return Err(Fault::bad(format!(
                    "components: Observations have no `{name}`"
                )));
            }
        });
    }
    match columns.contains(&"result") {
        true => Ok(columns),
        false => Err(Fault::bad("components: `result` is needed")),
    }
}

fn read(draft: &mut Draft<'_>, topic: &str, columns: &[&str], cells: &Json) -> Result<Row> {
    let cells = cells
        .as_array()
        .filter(|cells| cells.len() == columns.len());
    let cells =
        cells.ok_or_else(|| Fault::bad("a row has as many cells as there are components"))?;
    let mut object = Object::new();
    let mut feature = None;
    for (name, cell) in columns.iter().zip(cells) {
        match *name {
            FEATURE => feature = Some(draft.feature_of(&json!({"@iot.id": cell}), topic)?),
            name => drop(object.insert(name.to_owned(), cell.clone())),
        }
    }
    let mut row = row(&object)?;
    row.feature = feature;
    row.time = row
        .time
        .or_else(|| Some(crate::create::millis(draft.context.now)));
    Ok(row)
}

fn add_links(context: &Context<'_>, part: &Part, links: &mut Vec<Json>) -> Result<()> {
    let times = part.rows.iter().flatten().filter_map(|row| row.time);
    let mut counted = Counted::of(context, &part.datastream, times)?;
    let number = part.datastream.id.to_string().parse().unwrap_or(u32::MAX);
    for row in &part.rows {
        let time = row.as_ref().and_then(|row| row.time);
        links.push(match time {
            None => "error".into(),
            Some(time) => {
                let ordinal = counted.next(time);
                let at = At {
                    datastream: number,
                    time,
                    ordinal,
                };
                let id = Id::Text(context.view.id_of(at).into());
                self_link(context.root, Kind::Observation, &id).into()
            }
        });
    }
    Ok(())
}
