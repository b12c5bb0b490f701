//! Observations of multi-datastreams, made of those of their components: what has the same time and is
//! the how manieth of it (18-088 section 12; `docs/decisions/0027-a-multi-datastream-is-its-components.md`).
//!
//! Rows come in the order of time, so no more is held than those of one time. A component that has nothing
//! to a time has null in its place: other protocols publish components alone.

use crate::context::Context;
use crate::entity::Entity;
use crate::fault::Result;
use crate::id::{At, Id};
use crate::observed::Observed;
use crate::values::result;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_model::batch::Naming;
use weir_model::{Extra, Observation, Time, Value};

/// The rows of one time.
#[derive(Default)]
pub(crate) struct Join {
    time: Option<Time>,
    /// By multi-datastream, and how many of the time came before.
    rows: BTreeMap<(Id, u32), Joined>,
}

struct Joined {
    multi: Arc<Entity>,
    cells: Vec<Json>,
    extra: Kept,
}

/// What the first component carries beside its result.
#[derive(Default)]
struct Kept {
    end: Option<Time>,
    result_time: Option<Time>,
    valid: Option<(Time, Time)>,
    quality: Option<String>,
    feature: Option<String>,
    parameters: Option<String>,
}

impl Kept {
    fn of(extra: &Extra<'_>) -> Self {
        Self {
            end: extra.end,
            result_time: extra.result_time,
            valid: extra.valid,
            quality: extra.quality.map(str::to_owned),
            feature: extra.feature.map(str::to_owned),
            parameters: extra.parameters.map(str::to_owned),
        }
    }

    fn lent(&self) -> Extra<'_> {
        Extra {
            end: self.end,
            result_time: self.result_time,
            valid: self.valid,
            quality: self.quality.as_deref(),
            feature: self.feature.as_deref(),
            parameters: self.parameters.as_deref(),
        }
    }
}

impl Join {
    /// Whether rows of another time are held, which are whole when one of this time comes.
    pub(crate) fn is_whole_at(&self, time: Time) -> bool {
        !self.rows.is_empty() && self.time != Some(time)
    }

    /// Takes a component's row; one that is no component's is left alone.
    pub(crate) fn take(&mut self, multi: &Arc<Entity>, row: &Observation<'_>, ordinal: u32) {
        let index = multi.topics.iter().position(|topic| topic == row.topic);
        let Some(index) = index else { return };
        self.time = row.time;
        let joined = self.rows.entry((multi.id.clone(), ordinal));
        let joined = joined.or_insert_with(|| Joined {
            multi: multi.clone(),
            cells: vec![Json::Null; multi.topics.len()],
            extra: Kept::of(&row.extra),
        });
        joined.cells[index] = result(row.value);
    }

    /// Shows what is held, until one is not taken, and forgets it.
    pub(crate) fn drain(
        &mut self,
        context: &Context<'_>,
        take: &mut dyn FnMut(&Observed<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let time = self.time.unwrap_or(context.now);
        for ((_, ordinal), joined) in std::mem::take(&mut self.rows) {
            let Some(datastream) = context.view.number_of(&joined.multi) else {
                continue;
            };
            let result = Json::Array(joined.cells).to_string();
            let row = Observation {
                naming: Naming::Topic,
                topic: &joined.multi.key,
                sensor: None,
                property: None,
                unit: None,
                description: 0,
                value: Value::Json(&result),
                time: Some(time),
                place: None,
                extra: joined.extra.lent(),
            };
            let at = At {
                datastream,
                time,
                ordinal,
            };
            let multi = &joined.multi;
            let observed = Observed {
                row,
                at,
                datastream: multi,
            };
            if !take(&observed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
