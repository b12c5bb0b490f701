//! Which datastreams' observations a query can mean: those that its terms about datastreams leave.

use crate::entity::Entity;
use crate::fault::Result;
use crate::filter::{Expression, holds};
use crate::kind::Kind;
use crate::node::{Asked, Context, Node};
use crate::observations::filter_of;
use std::sync::Arc;
use weir_hub::{Grants, Verb};
use weir_model::Filter;

/// Filters of the topics that a datastream's observations are published at, of those that the caller may read.
pub(crate) fn filters_of(grants: &Grants, datastream: &Entity) -> Result<Vec<Filter>> {
    let topics = datastream.published_at().into_iter();
    let readable = topics.filter(|topic| grants.allow(Verb::Read, topic));
    readable.map(filter_of).collect()
}

/// The datastreams that the terms about datastreams leave.
pub(crate) fn of_datastreams(context: &Context<'_>, terms: &[&Expression]) -> Result<Vec<Filter>> {
    let about: Vec<_> = terms
        .iter()
        .filter_map(|term| without_datastream(term))
        .collect();
    let mut filters = Vec::new();
    for datastream in context.view.all(Kind::Datastream) {
        if !context.view.may_read(context.grants(), datastream) {
            continue;
        }
        let asked = Asked {
            context,
            node: Node::Entity(std::borrow::Cow::Borrowed(datastream)),
        };
        let mut meant = true;
        for term in &about {
            meant = meant && holds(term, &asked)?;
        }
        if meant {
            filters.push(filter_of(&datastream.key)?);
        }
    }
    for multi in context.view.all(Kind::MultiDatastream) {
        if context.view.may_read(context.grants(), multi) {
            filters.extend(filters_of(context.grants(), multi)?);
        }
    }
    Ok(filters)
}

/// The datastreams and multi-datastreams that the caller may read.
pub(crate) fn sources<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Arc<Entity>> {
    let view = context.view;
    let all = view.all(Kind::Datastream);
    let all = all.chain(view.all(Kind::MultiDatastream));
    all.filter(|it| view.may_read(context.grants(), it))
}

/// A term all of whose paths begin with `Datastream`, as it is asked of a datastream.
fn without_datastream(term: &Expression) -> Option<Expression> {
    Some(match term {
        Expression::Literal(value) => Expression::Literal(value.clone()),
        Expression::Path(path) => match path.split_first() {
            Some((first, rest)) if first == "Datastream" => Expression::Path(rest.to_vec()),
            _ => return None,
        },
        Expression::Not(inner) => Expression::Not(Box::new(without_datastream(inner)?)),
        Expression::Binary(operator, left, right) => Expression::Binary(
            *operator,
            Box::new(without_datastream(left)?),
            Box::new(without_datastream(right)?),
        ),
        Expression::Call(function, arguments) => {
            let arguments = arguments.iter().map(without_datastream);
            Expression::Call(*function, arguments.collect::<Option<_>>()?)
        }
    })
}
