//! Which datastreams' observations a query can mean: those that its terms about datastreams leave.

use crate::asked::Asked;
use crate::context::Context;
use crate::fault::Result;
use crate::filter::{Expression, holds};
use crate::history::{filter_of, filters_of};
use crate::kind::Kind;
use crate::node::Node;
use weir_model::Filter;

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
