//! `$filter` and `$orderby`: the expression language of 18-088 section 9.3.3.5.
//!
//! An expression is read once, with limits on depth and terms, and then asked of each entity. The decision
//! worth arguing: a path through a navigation to many entities has many values, and a comparison holds
//! where it holds for one of them, so that `Datastreams/ObservedProperty/name eq 'x'` means what it says. What can
//! never be compared is refused before any entity is asked ([`types`]).

mod compare;
mod eval;
mod functions;
mod lexer;
mod parser;
mod relations;
pub(crate) mod time;
pub(crate) mod types;
mod value;

use weir_geo as geo;

pub(crate) use compare::order;
pub(crate) use eval::{Source, eval, holds};
pub(crate) use geo::of_json as geometry;
pub(crate) use parser::{Expression, Operator, parse, parse_prefix};
pub(crate) use value::Value;

#[cfg(test)]
mod tests;
