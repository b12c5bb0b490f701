//! `POST /annotations` of the older plug-in: a mark at the time of each observation.

use crate::ask::{Answered, Ask};
use crate::asked::Annotations;
use crate::limits::ANNOTATIONS_MAX;
use crate::target;
use serde_json::{Value as Json, json};
use weir_hub::{InUnit, Past};

/// Marks of the observations whose topics match the annotation's query: what happened, in their words.
pub(crate) fn answer(ask: &Ask, asked: &Annotations) -> Answered {
    let annotation = &asked.annotation;
    let query = annotation.query.as_deref().unwrap_or_default();
    if query.is_empty() {
        return Ok(Json::Array(Vec::new()));
    }
    let page = ask.page(Past {
        filters: target::filters(query)?,
        from: asked.range.from,
        to: asked.range.to,
        limit: ANNOTATIONS_MAX,
        page: None,
        aggregate: None,
        unit: InUnit::AsMade,
    })?;
    let mut again = annotation.rest.clone();
    again.insert("query".into(), query.into());
    let marks = page.batch.rows().map(|row| {
        let millis = row.time.map(|time| time.nanos().div_euclid(1_000_000));
        json!({
            "annotation": again,
            "time": millis,
            "title": row.topic,
            "text": row.value.to_string(),
            "tags": [row.topic],
        })
    });
    Ok(marks.collect())
}
