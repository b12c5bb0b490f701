//! A table (RFC 4180): a row for each entity, a column for each property; what is expanded to one entity
//! has columns named by the way to it. A table has no room for an expansion to many.

use super::page::Page;
use crate::fault::{Fault, Result};
use crate::kind::Kind;
use crate::query::Query;
use serde_json::Value as Json;
use std::borrow::Cow;
use weir_service::Response;

/// A column: its name, and where in a rendered entity its values are.
struct Column {
    name: String,
    path: Vec<String>,
}

/// Refuses expansions of more than one entity.
pub(super) fn check(query: &Query) -> Result<()> {
    for (way, inner) in &query.expand {
        if way.many && inner.top != Some(1) {
            let name = way.name;
            let problem = format!("$expand: {name} in a table needs $top=1");
            return Err(Fault::bad(problem));
        }
        check(inner)?;
    }
    Ok(())
}

/// The table; what `$count` asks for and the next page are said in the head.
pub(super) fn table(kind: Kind, query: &Query, page: &Page) -> Response {
    let mut columns = Vec::new();
    add(kind, query, &mut Vec::new(), &mut columns);
    let mut out = String::new();
    row(
        columns.iter().map(|column| Cow::Borrowed(&*column.name)),
        &mut out,
    );
    for value in &page.values {
        row(
            columns.iter().map(|column| cell(value, &column.path)),
            &mut out,
        );
    }
    let mut response = Response::with_body(200, "text/csv; charset=utf-8", out);
    if let Some(next) = &page.next {
        response = response.header("link", format!("<{next}>; rel=\"next\""));
    }
    match page.count {
        Some(count) => response.header("iot-count", count.to_string()),
        None => response,
    }
}

const UNIT: &str = "unitOfMeasurement";

fn add(kind: Kind, query: &Query, way: &mut Vec<String>, columns: &mut Vec<Column>) {
    let all = || {
        let names = kind.properties().iter().map(|(name, _)| (*name).to_owned());
        std::iter::once("id".to_owned()).chain(names).collect()
    };
    let named: Vec<String> = if query.select.is_empty() {
        all()
    } else {
        query.select.clone()
    };
    for name in named {
        match &*name {
            "id" | "@iot.id" => columns.push(column(way, "id", &["@iot.id"])),
            UNIT => {
                let parts = ["name", "symbol", "definition"];
                columns.extend(
                    parts.map(|part| column(way, &format!("{UNIT}/{part}"), &[UNIT, part])),
                );
            }
            name if kind.navigation(name).is_some() => {}
            name => columns.push(column(way, name, &name.split('/').collect::<Vec<_>>())),
        }
    }
    for (navigation, inner) in &query.expand {
        way.push(navigation.name.to_owned());
        add(navigation.to, inner, way, columns);
        way.pop();
    }
}

fn column(way: &[String], name: &str, path: &[&str]) -> Column {
    let path = way.iter().map(String::as_str).chain(path.iter().copied());
    Column {
        name: way
            .iter()
            .map(|level| format!("{level}/"))
            .collect::<String>()
            + name,
        path: path.map(str::to_owned).collect(),
    }
}

fn cell<'j>(mut value: &'j Json, path: &[String]) -> Cow<'j, str> {
    for name in path {
        // What is expanded to many is there with its only one.
        if let Json::Array(many) = value {
            value = many.first().unwrap_or(&Json::Null);
        }
        value = &value[name.as_str()];
    }
    match value {
        Json::Null => Cow::Borrowed(""),
        Json::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

fn row<'t>(cells: impl Iterator<Item = Cow<'t, str>>, out: &mut String) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.push(',');
        }
        if cell.contains([',', '"', '\r', '\n']) {
            out.push_str(&format!("\"{}\"", cell.replace('"', "\"\"")))
        } else {
            out.push_str(&cell)
        }
    }
    out.push_str("\r\n");
}
