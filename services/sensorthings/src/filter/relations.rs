//! How geometries lie to each other (18-088 table 24): each question is counted by what it costs before it is asked,
//! since two long outlines take seconds.

use super::eval::Source;
use super::geo::{self, Geometry};
use super::parser::Function;
use super::value::Value;
use crate::fault::{Fault, Result};
use std::sync::Arc;

/// Corners whose reading takes as long as a visit, and steps of a relation.
const VISIT_CORNERS: usize = 8;
const VISIT_STEPS: usize = 256;

impl Function {
    /// Whether it is asked of geometries.
    pub(crate) fn is_of_geometries(self) -> bool {
        relation(self).is_some()
            || matches!(self, Self::GeoLength | Self::GeoDistance | Self::StRelate)
    }
}

/// The function's value.
pub(super) fn call<'a>(
    function: Function,
    values: &[&Value<'a>],
    source: &dyn Source,
) -> Result<Value<'a>> {
    let Some(a) = geometry(values[0]) else {
        return Ok(Value::Null);
    };
    let of_a = a.corners().count();
    source.visit(of_a / VISIT_CORNERS)?;
    if function == Function::GeoLength {
        return Ok(Value::Number(geo::length(&a)));
    }
    let Some(b) = geometry(values[1]) else {
        return Ok(Value::Null);
    };
    let of_b = b.corners().count();
    source.visit(of_b / VISIT_CORNERS)?;
    // These two look at all of both, however far from each other they are.
    let all = match function {
        Function::GeoDistance | Function::StRelate => (of_a + of_b) * (of_a + of_b),
        _ => 0,
    };
    source.visit((all + geo::effort(&a, &b)) / VISIT_STEPS)?;
    match (function, relation(function)) {
        (_, Some(relation)) => Ok(Value::Bool(relation(&a, &b))),
        (Function::StRelate, None) => relate(&a, &b, values[2]),
        _ => Ok(Value::Number(geo::distance(&a, &b))),
    }
}

type Relation = fn(&Geometry, &Geometry) -> bool;

fn relation(function: Function) -> Option<Relation> {
    Some(match function {
        Function::StEquals => geo::equals,
        Function::StDisjoint => |a, b| !geo::intersects(a, b),
        Function::StTouches => geo::touches,
        Function::StWithin => |a, b| geo::contains(b, a),
        Function::StOverlaps => geo::overlaps,
        Function::StCrosses => geo::crosses,
        Function::StIntersects | Function::GeoIntersects => geo::intersects,
        Function::StContains => geo::contains,
        _ => return None,
    })
}

fn geometry(value: &Value<'_>) -> Option<Arc<Geometry>> {
    match value {
        Value::Geometry(geometry) => Some(geometry.clone()),
        Value::Json(json) => geo::of_json(json).map(Arc::new),
        _ => None,
    }
}

/// Whether two geometries are of a pattern of nine intersections (OGC 06-103r4 section 6.1.15.2).
fn relate<'a>(a: &Geometry, b: &Geometry, pattern: &Value<'_>) -> Result<Value<'a>> {
    let pattern = pattern.text().unwrap_or_default();
    match geo::Matrix::of(a, b).is(&pattern) {
        Some(holds) => Ok(Value::Bool(holds)),
        None => {
            let problem = format!("st_relate: `{pattern}` is not nine of `TF*012`");
            Err(Fault::bad(problem))
        }
    }
}
