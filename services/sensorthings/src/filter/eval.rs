//! An expression asked of one entity.

use super::compare::{compare, equal};
use super::functions::call;
use super::parser::{Expression, Operator};
use super::value::Value;
use crate::fault::{Fault, Result};
use weir_model::Time;

/// What an expression is asked of.
pub(crate) trait Source {
    /// The value that a path leads to; a fault where the type has no such path.
    fn value(&self, path: &[String]) -> Result<Value<'_>>;

    /// What time it is.
    fn now(&self) -> Time;

    /// Counts what takes as long as visiting so many entities; a fault where that is too much.
    fn visit(&self, visits: usize) -> Result<()>;
}

/// Whether an expression holds.
pub(crate) fn holds(expression: &Expression, source: &dyn Source) -> Result<bool> {
    Ok(truth(expression, source)? == Some(true))
}

/// Whether an expression holds; `None` where that is not known.
fn truth(expression: &Expression, source: &dyn Source) -> Result<Option<bool>> {
    match eval(expression, source)? {
        Value::Bool(truth) => Ok(Some(truth)),
        Value::Null => Ok(None),
        // Of many, one suffices.
        Value::Many(many) => Ok(Some(many.contains(&Value::Bool(true)))),
        _ => Err(Fault::bad(
            "a truth was expected, and something else is there",
        )),
    }
}

fn of_truth(truth: Option<bool>) -> Value<'static> {
    truth.map_or(Value::Null, Value::Bool)
}

/// What an expression is.
// [STA-A.2.1.6-1]
pub(crate) fn eval<'a>(expression: &'a Expression, source: &'a dyn Source) -> Result<Value<'a>> {
    match expression {
        Expression::Literal(value) => Ok(value.clone()),
        Expression::Path(names) => source.value(names),
        Expression::Not(inner) => Ok(of_truth(truth(inner, source)?.map(|truth| !truth))),
        Expression::Binary(operator, left, right) => binary(*operator, left, right, source),
        Expression::Call(function, arguments) => {
            let values = arguments.iter().map(|argument| eval(argument, source));
            let values = values.collect::<Result<Vec<_>>>()?;
            let values: Vec<_> = values.iter().collect();
            spread(&values, source, &|values| call(*function, values, source))
        }
    }
}

fn binary<'a>(
    operator: Operator,
    left: &'a Expression,
    right: &'a Expression,
    source: &'a dyn Source,
) -> Result<Value<'a>> {
    match operator {
        // What decides alone decides, and else what is not known remains so.
        Operator::And | Operator::Or => {
            let decides = Some(operator == Operator::Or);
            let first = truth(left, source)?;
            if first == decides {
                return Ok(of_truth(first));
            }
            let second = truth(right, source)?;
            let is_known = second == decides || first.is_some();
            Ok(of_truth(second.filter(|_| is_known)))
        }
        _ => {
            let (a, b) = (eval(left, source)?, eval(right, source)?);
            let is_unknown = |side: &Expression, value: &Value<'_>| {
                *value == Value::Null && *side != Expression::Literal(Value::Null)
            };
            // What has no value is not known to differ, as SensorThings' own tests have it.
            if operator == Operator::NotEqual && (is_unknown(left, &a) || is_unknown(right, &b)) {
                return Ok(Value::Bool(false));
            }
            let (a, b) = (beside(right, operator, a), beside(left, operator, b));
            spread(&[&a, &b], source, &|values| {
                Ok(combine(operator, values[0], values[1]))
            })
        }
    }
}

/// A value as it is compared with what the other side says: a number beside a text in quotes is a text, so
/// that `result gt '3'` means the order of texts, as SensorThings' own tests do.
fn beside<'a>(other: &Expression, operator: Operator, value: Value<'a>) -> Value<'a> {
    let is_quoted = matches!(other, Expression::Literal(Value::Text(_)));
    match value {
        Value::Number(_) | Value::Whole(_) if is_quoted && operator.compares() => {
            Value::Text(value.text().unwrap_or_default().into_owned().into())
        }
        Value::Many(many) if is_quoted => {
            let many = many.into_iter().map(|one| beside(other, operator, one));
            Value::Many(many.collect())
        }
        other => other,
    }
}

type Combine<'f, 'a> = &'f dyn Fn(&[&Value<'a>]) -> Result<Value<'a>>;

/// Where a value is many, each in turn: true where one gives true, else what the first gives.
fn spread<'a>(
    values: &[&Value<'a>],
    source: &dyn Source,
    combine: Combine<'_, 'a>,
) -> Result<Value<'a>> {
    let mut many = values.iter().enumerate();
    let many = many.find_map(|(index, value)| match value {
        Value::Many(each) => Some((index, each)),
        _ => None,
    });
    let Some((index, each)) = many else {
        return combine(values);
    };
    let mut first = None;
    let mut values = values.to_vec();
    for value in each {
        source.visit(1)?;
        values[index] = value;
        let found = spread(&values, source, combine)?;
        if found == Value::Bool(true) {
            return Ok(found);
        }
        first = first.or(Some(found));
    }
    Ok(first.unwrap_or(Value::Null))
}

// [STA-A.2.1.6-2]
fn combine(operator: Operator, a: &Value<'_>, b: &Value<'_>) -> Value<'static> {
    let ordered =
        |wanted: fn(std::cmp::Ordering) -> bool| Value::Bool(compare(a, b).is_some_and(wanted));
    match operator {
        Operator::Equal => Value::Bool(equal(a, b)),
        Operator::NotEqual => Value::Bool(!equal(a, b)),
        Operator::Greater => ordered(|order| order.is_gt()),
        Operator::GreaterOrEqual => ordered(|order| order.is_ge()),
        Operator::Less => ordered(|order| order.is_lt()),
        Operator::LessOrEqual => ordered(|order| order.is_le()),
        _ => arithmetic(operator, a, b).unwrap_or(Value::Null),
    }
}

/// Numbers with numbers, times with durations, times with times.
fn arithmetic(operator: Operator, a: &Value<'_>, b: &Value<'_>) -> Option<Value<'static>> {
    let moved = |time: &Time, nanos: i64| Value::Time(time.plus_nanos(nanos));
    match (operator, a, b) {
        (Operator::Add, Value::Time(time), Value::Duration(by)) => return Some(moved(time, *by)),
        (Operator::Add, Value::Duration(by), Value::Time(time)) => return Some(moved(time, *by)),
        (Operator::Sub, Value::Time(time), Value::Duration(by)) => {
            return Some(moved(time, by.saturating_neg()));
        }
        (Operator::Sub, Value::Time(a), Value::Time(b)) => {
            return Some(Value::Duration(a.nanos().saturating_sub(b.nanos())));
        }
        (Operator::Add, Value::Duration(a), Value::Duration(b)) => {
            return Some(Value::Duration(a.saturating_add(*b)));
        }
        (Operator::Sub, Value::Duration(a), Value::Duration(b)) => {
            return Some(Value::Duration(a.saturating_sub(*b)));
        }
        _ => {}
    }
    let (a, b) = (a.number()?, b.number()?);
    let number = match operator {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mul => a * b,
        Operator::Div => a / b,
        Operator::Mod => a % b,
        _ => return None,
    };
    number.is_finite().then_some(Value::Number(number))
}
