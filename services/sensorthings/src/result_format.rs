//! `$resultFormat`: a collection, or an entity as one of one, as something else than an object of entities
//! (18-088 section 13.1; CSV and GeoJSON as FROST's extensions of these names describe them).
//!
//! What is rendered as JSON is turned into each of them, so that `$select` and `$expand` mean the same in
//! all.

mod arrays;
mod csv;
mod geojson;
mod page;

use crate::fault::{Fault, Result};
use crate::kind::Kind;
use crate::query::Query;
pub(crate) use page::Page;
use serde_json::{Value as Json, json};
use weir_service::Response;

/// What an answer looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultFormat {
    Json,
    DataArray,
    Csv,
    GeoJson,
}

/// Every format by its name, which is read whatever the case.
const NAMES: &[(&str, ResultFormat)] = &[
    ("json", ResultFormat::Json),
    ("dataArray", ResultFormat::DataArray),
    ("CSV", ResultFormat::Csv),
    ("GeoJSON", ResultFormat::GeoJson),
];

impl ResultFormat {
    /// The format that a query names; the query is made to ask for what it needs.
    pub(crate) fn of(kind: Kind, query: &mut Query) -> Result<Self> {
        let Some(said) = &query.format else {
            return Ok(ResultFormat::Json);
        };
        let known = NAMES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(said));
        let Some((_, format)) = known else {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
            let problem = format!("$resultFormat: no `{said}`; there are {}", names.join(", "));
            return Err(Fault::bad(problem));
        };
        match format {
            ResultFormat::DataArray => arrays::prepare(kind, query)?,
            ResultFormat::Csv => csv::check(query)?,
            ResultFormat::Json | ResultFormat::GeoJson => {}
        }
        Ok(*format)
    }

    /// A collection as an answer.
    // [STA-A.6.1.1-1]
    pub(crate) fn collection(self, kind: Kind, query: &Query, page: Page) -> Response {
        match self {
            ResultFormat::Json => json_of(&listed(page.values, page.count, page.next)),
            ResultFormat::DataArray => {
                let groups = arrays::grouped(query, page.values);
                json_of(&listed(groups, page.count, page.next))
            }
            ResultFormat::Csv => csv::table(kind, query, &page),
            ResultFormat::GeoJson => geojson::features(kind, &page),
        }
    }

    /// An entity as an answer.
    pub(crate) fn entity(self, kind: Kind, query: &Query, entity: Json) -> Response {
        let alone = |entity| Page {
            values: vec![entity],
            count: None,
            next: None,
        };
        self.collection(kind, query, alone(entity))
    }
}

fn listed(values: Vec<Json>, count: Option<usize>, next: Option<String>) -> Json {
    let mut body = json!({});
    if let Some(count) = count {
        body["@iot.count"] = count.into();
    }
    if let Some(next) = next {
        body["@iot.nextLink"] = next.into();
    }
    body["value"] = values.into();
    body
}

fn json_of(body: &Json) -> Response {
    Response::with_body(200, "application/json", body.to_string())
}
