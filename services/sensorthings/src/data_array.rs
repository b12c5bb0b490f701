//! `POST /CreateObservations`: observations of many datastreams as arrays (18-088 section 13).
//!
//! Each datastream's observations are one message. A row that is none is answered with `error` in its
//! place and hinders no other; which datastream and which columns is checked before any is stored.

use crate::draft::{Draft, Row};
use crate::entity::{MEMBER, Object};
use crate::fault::{Fault, Result};
use crate::id::{At, Id};
use crate::kind::Kind;
use crate::multi::split;
use crate::render::self_link;
use crate::said::{link, millis, row};
use serde_json::{Value as Json, json};

/// Which rows of a body will be stored.
pub(crate) type Stored = Vec<bool>;

/// Drafts what a body has.
// [STA-A.6.1.1-2]
pub(crate) fn gather(draft: &mut Draft<'_>, body: &Json) -> Result<Stored> {
    let missing = || Fault::bad("a list of data arrays was expected");
    let mut stored = Vec::new();
    for said in body.as_array().ok_or_else(missing)? {
        part(draft, said, &mut stored)?;
    }
    Ok(stored)
}

/// The answer: a URL for each row, or `error`.
pub(crate) fn links(root: &str, stored: &Stored, places: &[At]) -> Json {
    let mut places = places.iter();
    let mut next = |is_stored: bool| is_stored.then(|| places.next()).flatten();
    let link = |&is_stored: &bool| match next(is_stored) {
        Some(at) => self_link(root, Kind::Observation, &Id::Text(at.id().into())).into(),
        None => Json::from("error"),
    };
    stored.iter().map(link).collect::<Vec<_>>().into()
}

fn part(draft: &mut Draft<'_>, said: &Json, stored: &mut Stored) -> Result<()> {
    let is_multi = said.get(MEMBER).is_some();
    let name = if is_multi { MEMBER } else { "Datastream" };
    let expected = || Fault::bad(format!("{name}: a link was expected"));
    link(&said[name]).ok_or_else(expected)?;
    let view = draft.context.view;
    let known = if is_multi {
        view.find(Kind::MultiDatastream, &draft.multi_said(&said[name])?)
    } else {
        view.datastream(&draft.datastream_of(&said[name])?)
    };
    let datastream = known.cloned().ok_or_else(expected)?;
    let topic = datastream.key.to_string();
    let columns = columns(&said["components"])?;
    let data = said["dataArray"].as_array();
    let data = data.ok_or_else(|| Fault::bad("dataArray: a list of rows was expected"))?;
    check_count(said, data.len())?;
    let at = columns.iter().position(|name| *name == FEATURE);
    // What is no row needs none.
    let needs_default = |cells: &Json| at.is_none_or(|at| cells.get(at).is_some_and(Json::is_null));
    match (data.iter().any(needs_default), is_multi) {
        (false, _) => {}
        (true, true) => draft.check_multi_placed(&datastream)?,
        (true, false) => draft.check_placed(&topic)?,
    }
    for cells in data {
        let read = read(draft, &topic, &columns, cells);
        let read = read.and_then(|row| {
            if is_multi {
                split(&datastream, row)
            } else {
                Ok(row)
            }
        });
        stored.push(read.is_ok());
        draft.rows.extend(read.ok().map(|row| (topic.clone(), row)));
    }
    Ok(())
}

/// The number of rows that is said beside them (18-088 section 13.2) is theirs.
fn check_count(said: &Json, rows: usize) -> Result<()> {
    match said.get("dataArray@iot.count") {
        None | Some(Json::Null) => Ok(()),
        Some(count) if count.as_u64() == Some(rows as u64) => Ok(()),
        Some(count) => Err(Fault::bad(format!(
            "dataArray@iot.count: {count} is said of {rows} rows"
        ))),
    }
}

const FEATURE: &str = "FeatureOfInterest/id";

fn columns(said: &Json) -> Result<Vec<&str>> {
    let names = said
        .as_array()
        .ok_or_else(|| Fault::bad("components: a list of names was expected"))?;
    let mut columns = Vec::new();
    for name in names {
        let name = name.as_str().unwrap_or_default();
        let column = match name {
            "FeatureOfInterest/id" | "FeatureOfInterest/@iot.id" => FEATURE,
            name if Kind::Observation.property(name).is_some() => name,
            _ => {
                return Err(Fault::bad(format!(
                    "components: Observations have no `{name}`"
                )));
            }
        };
        if columns.contains(&column) {
            return Err(Fault::bad(format!("components: `{name}` is there twice")));
        }
        columns.push(column);
    }
    if columns.contains(&"result") {
        Ok(columns)
    } else {
        Err(Fault::bad("components: `result` is needed"))
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
            // A cell without one means the location of the Thing, as a row without the column does.
            FEATURE if cell.is_null() => {}
            FEATURE => feature = Some(draft.feature_of(&json!({"@iot.id": cell}), topic)?),
            name => drop(object.insert(name.to_owned(), cell.clone())),
        }
    }
    let mut row = row(&object)?;
    row.feature = feature;
    row.time = row.time.or_else(|| Some(millis(draft.context.now)));
    Ok(row)
}
