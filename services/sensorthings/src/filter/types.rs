//! What an expression is of, before any entity is asked (OData 4.01 part 2, sections 5.1.1.1 and 5.1.1.12): comparing
//! what cannot be compared is an error, whatever there is to be compared.
//!
//! Results, properties of people's own and what lies in them may be anything; they are compared as they come, and what
//! does not compare does not hold.

use super::parser::{Expression, Function, Operator};
use super::value::Value;
use crate::fault::{Fault, Result};
use crate::kind::Kind;

/// What an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    /// What is known when it is there.
    Any,
    Bool,
    Number,
    Text,
    Time,
    Duration,
    /// A geometry.
    Shape,
    /// An object or a list.
    Json,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Any => "anything",
            Type::Bool => "a truth",
            Type::Number => "a number",
            Type::Text => "a text",
            Type::Time => "a time",
            Type::Duration => "a duration",
            Type::Shape => "a geometry",
            Type::Json => "an object",
        }
    }
}

/// Refuses a condition that can hold of no entity of a type.
pub(crate) fn check_filter(kind: Kind, expression: &Expression) -> Result<()> {
    check_truth(kind, expression, "a filter")
}

/// Refuses an expression that gives nothing to sort entities of a type by.
pub(crate) fn check_order(kind: Kind, expression: &Expression) -> Result<()> {
    type_of(kind, expression).map(drop)
}

fn check_truth(kind: Kind, expression: &Expression, whose: &str) -> Result<()> {
    match type_of(kind, expression)? {
        Type::Bool | Type::Any => Ok(()),
        other => Err(Fault::bad(format!(
            "{whose} needs a truth, not {}",
            other.name()
        ))),
    }
}

fn type_of(kind: Kind, expression: &Expression) -> Result<Type> {
    match expression {
        Expression::Literal(value) => Ok(of_literal(value)),
        Expression::Path(names) => of_path(kind, names),
        Expression::Not(inner) => check_truth(kind, inner, "`not`").map(|()| Type::Bool),
        Expression::Binary(Operator::And | Operator::Or, left, right) => {
            check_truth(kind, left, "`and` or `or`")?;
            check_truth(kind, right, "`and` or `or`").map(|()| Type::Bool)
        }
        Expression::Binary(operator, left, right) => {
            let types = (type_of(kind, left)?, type_of(kind, right)?);
            if operator.compares() {
                check_comparison(*operator, types, [left, right]).map(|()| Type::Bool)
            } else {
                arithmetic(*operator, types)
            }
        }
        Expression::Call(function, arguments) => {
            for (index, argument) in arguments.iter().enumerate() {
                let given = type_of(kind, argument)?;
                if !takes(*function, index, given, argument) {
                    let problem =
                        format!("{function:?} takes no such argument as {}", given.name());
                    return Err(Fault::bad(problem));
                }
            }
            Ok(of_function(*function))
        }
    }
}

fn of_literal(value: &Value<'_>) -> Type {
    match value {
        Value::Null | Value::Many(_) => Type::Any,
        Value::Bool(_) => Type::Bool,
        Value::Number(_) | Value::Whole(_) => Type::Number,
        Value::Text(_) => Type::Text,
        Value::Time(_) | Value::Interval(..) => Type::Time,
        Value::Duration(_) => Type::Duration,
        Value::Json(_) => Type::Json,
        Value::Geometry(_) => Type::Shape,
    }
}

/// A path goes along navigations to a property, and on where that may have members.
fn of_path(mut kind: Kind, names: &[String]) -> Result<Type> {
    let mut names = names.iter();
    while let Some(name) = names.next() {
        if let Some(way) = kind.navigation(name) {
            kind = way.to;
            continue;
        }
        let found = match &**name {
            "id" | "@iot.id" => Type::Any,
            name => of_property(kind, name)?,
        };
        let is_whole = matches!(found, Type::Text | Type::Time) || name.ends_with("id");
        return match names.next() {
            None => Ok(found),
            Some(below) if is_whole => Err(nothing_below(name, below)),
            Some(below) if found == Type::Shape => match &**below {
                "type" => Ok(Type::Text),
                "coordinates" => Ok(Type::Any),
                _ => Err(nothing_below(name, below)),
            },
            Some(_) => Ok(Type::Any),
        };
    }
    let problem = format!("a property of {} was expected behind the path", kind.set());
    Err(Fault::bad(problem))
}

/// What is asked for below what has no members.
pub(crate) fn nothing_below(name: &str, below: &str) -> Fault {
    Fault::bad(format!("`{name}` has nothing below it, so no `{below}`"))
}

/// Whether a property has members that a path may lead to.
pub(crate) fn has_members(kind: Kind, name: &str) -> bool {
    of_property(kind, name).is_ok_and(|found| !matches!(found, Type::Text | Type::Time))
}

fn of_property(kind: Kind, name: &str) -> Result<Type> {
    let name = kind.property(name).ok_or_else(|| {
        Fault::bad(format!(
            "{} have no property or navigation `{name}`",
            kind.set()
        ))
    })?;
    Ok(match name {
        "name" | "description" | "encodingType" | "definition" | "observationType" => Type::Text,
        "phenomenonTime" | "resultTime" | "validTime" | "time" | "creationTime" => Type::Time,
        "observedArea" => Type::Shape,
        "properties" | "unitOfMeasurement" | "parameters" | "taskingParameters" => Type::Json,
        _ => Type::Any,
    })
}

fn check_comparison(
    operator: Operator,
    (left, right): (Type, Type),
    sides: [&Expression; 2],
) -> Result<()> {
    // A time may be said in quotes.
    let reads_as_time = |side: &Expression| match side {
        Expression::Literal(value) => value.span().is_some(),
        _ => false,
    };
    let is_null = |side: &&Expression| **side == Expression::Literal(Value::Null);
    let is_order = !matches!(operator, Operator::Equal | Operator::NotEqual);
    let compare = match (left, right) {
        _ if sides.iter().any(is_null) => true,
        (Type::Shape, _) | (_, Type::Shape) => false,
        (Type::Json, _) | (_, Type::Json) if is_order => false,
        (Type::Any, _) | (_, Type::Any) => true,
        (Type::Time, Type::Text) => reads_as_time(sides[1]),
        (Type::Text, Type::Time) => reads_as_time(sides[0]),
        (left, right) => left == right,
    };
    let (left, right) = (left.name(), right.name());
    if compare {
        Ok(())
    } else {
        Err(Fault::bad(format!(
            "{left} cannot be compared with {right} there"
        )))
    }
}

fn arithmetic(operator: Operator, types: (Type, Type)) -> Result<Type> {
    use Type::{Any, Duration, Number, Time};
    let found = match (operator, types.0, types.1) {
        (_, Any, Any | Number | Duration | Time) | (_, Number | Duration | Time, Any) => Some(Any),
        (_, Number, Number) => Some(Number),
        (Operator::Add, Time, Duration) | (Operator::Add, Duration, Time) => Some(Time),
        (Operator::Sub, Time, Duration) => Some(Time),
        (Operator::Sub, Time, Time) => Some(Duration),
        (Operator::Add | Operator::Sub, Duration, Duration) => Some(Duration),
        _ => None,
    };
    found.ok_or_else(|| {
        let (left, right) = (types.0.name(), types.1.name());
        Fault::bad(format!("there is no such arithmetic of {left} and {right}"))
    })
}

/// What a function's arguments are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Texts,
    Times,
    Numbers,
    Shapes,
}

fn family(function: Function) -> Family {
    match function {
        Function::SubstringOf
        | Function::EndsWith
        | Function::StartsWith
        | Function::Length
        | Function::IndexOf
        | Function::Substring
        | Function::ToLower
        | Function::ToUpper
        | Function::Trim
        | Function::Concat => Family::Texts,
        Function::Round | Function::Floor | Function::Ceiling => Family::Numbers,
        function if function.is_of_geometries() => Family::Shapes,
        _ => Family::Times,
    }
}

/// Whether an argument can be of use to a function.
fn takes(function: Function, index: usize, given: Type, argument: &Expression) -> bool {
    match (family(function), given) {
        (_, Type::Any) => true,
        (Family::Texts, _) if function == Function::Substring && index > 0 => given == Type::Number,
        (Family::Texts, given) => matches!(given, Type::Text | Type::Number),
        (Family::Numbers, given) => given == Type::Number,
        (Family::Times, Type::Text) => match argument {
            Expression::Literal(value) => value.span().is_some(),
            _ => false,
        },
        (Family::Times, given) => given == Type::Time,
        (Family::Shapes, given) if function == Function::StRelate && index == 2 => {
            given == Type::Text
        }
        (Family::Shapes, given) => given == Type::Shape,
    }
}

fn of_function(function: Function) -> Type {
    match function {
        Function::SubstringOf | Function::EndsWith | Function::StartsWith => Type::Bool,
        Function::Length | Function::IndexOf => Type::Number,
        Function::Substring
        | Function::ToLower
        | Function::ToUpper
        | Function::Trim
        | Function::Concat => Type::Text,
        Function::Date | Function::Now | Function::MinDateTime | Function::MaxDateTime => {
            Type::Time
        }
        Function::TimeOfDay => Type::Duration,
        Function::GeoDistance | Function::GeoLength => Type::Number,
        function if family(function) == Family::Shapes => Type::Bool,
        _ => Type::Number,
    }
}
