//! Server-side `where`: a condition on an observation's result.

use std::fmt;
use std::str::FromStr;
use weir_model::Value;

/// `value` compared with a constant; all of the terms must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq)]
struct Term {
    operator: Operator,
    constant: Constant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

#[derive(Clone, Debug, PartialEq)]
enum Constant {
    Number(f64),
    Text(Box<str>),
}

/// Longer signs first, so that `>=` is not read as `>`.
const OPERATORS: &[(&str, Operator)] = &[
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("!=", Operator::NotEqual),
    ("==", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("=", Operator::Equal),
];

impl Condition {
    /// Says whether a result satisfies every term; one of another kind than the constant does not,
    /// except that it differs from it.
    pub fn holds(&self, value: &Value<'_>) -> bool {
        self.terms.iter().all(|term| term.holds(value))
    }
}

impl Term {
    fn holds(&self, value: &Value<'_>) -> bool {
        let order = match (&self.constant, value) {
            (Constant::Number(constant), value) => value
                .number()
                .and_then(|number| number.partial_cmp(constant)),
            (Constant::Text(constant), Value::Text(text)) => Some((*text).cmp(constant)),
            _ => None,
        };
        match (self.operator, order) {
            (Operator::NotEqual, order) => order.is_none_or(|order| order.is_ne()),
            (_, None) => false,
            (Operator::Less, Some(order)) => order.is_lt(),
            (Operator::LessOrEqual, Some(order)) => order.is_le(),
            (Operator::Greater, Some(order)) => order.is_gt(),
            (Operator::GreaterOrEqual, Some(order)) => order.is_ge(),
            (Operator::Equal, Some(order)) => order.is_eq(),
        }
    }
}

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotACondition(String);

impl fmt::Display for NotACondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no condition: expected such as value>80 or value>=18 and value<24",
            self.0
        )
    }
}

impl std::error::Error for NotACondition {}

impl FromStr for Condition {
    type Err = NotACondition;

    /// Reads `value>80`, terms joined by ` and `; a constant that is no number, `true` or `false` is text,
    /// in quotes or without.
    fn from_str(text: &str) -> Result<Self, NotACondition> {
        let terms = text.split(" and ").map(|term| parse_term(term.trim()));
        let terms = terms.collect::<Option<Vec<_>>>();
        terms
            .map(|terms| Self { terms })
            .ok_or_else(|| NotACondition(text.into()))
    }
}

fn parse_term(text: &str) -> Option<Term> {
    let rest = text.strip_prefix("value")?.trim_start();
    let (sign, operator) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign))?;
    let constant = rest[sign.len()..].trim();
    let constant = match constant {
        "" => return None,
        "true" => Constant::Number(1.0),
        "false" => Constant::Number(0.0),
        other => match other.parse::<f64>() {
            Ok(number) if number.is_finite() => Constant::Number(number),
            // Nothing is `NaN`, or more than what no double holds.
            Ok(_) => return None,
            Err(_) => Constant::Text(other.trim_matches(['"', '\'']).into()),
        },
    };
    Some(Term {
        operator: *operator,
        constant,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn holds(condition: &str, value: Value<'_>) -> bool {
        condition.parse::<Condition>().unwrap().holds(&value)
    }

    #[test]
    fn numbers_texts_and_booleans_compare_with_their_kind() {
        assert!(holds("value>80", Value::Number(80.5)));
        assert!(!holds("value>80", Value::Number(80.0)));
        assert!(holds("value >= 18 and value < 24", Value::Number(18.0)));
        assert!(!holds("value >= 18 and value < 24", Value::Number(24.0)));
        assert!(holds("value=open", Value::Text("open")));
        assert!(holds("value='half open'", Value::Text("half open")));
        assert!(holds("value=true", Value::Bool(true)));
        assert!(!holds("value>80", Value::Text("81")));
        assert!(holds("value!=3", Value::Null));
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in [
            "",
            "temperature>3",
            "value",
            "value>",
            "value~3",
            "value>NaN",
            "value<inf",
            "value<1e999",
        ] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }
}
