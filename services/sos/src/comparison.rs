//! Comparison of results: `sos:result` of GetObservation 1.0.0 (OGC 06-009r6 section 8.4.3, OGC 04-095
//! section 9).
//!
//! Numbers are compared as such, texts as such; what cannot be compared does not hold.

use crate::exception::{Code, Exception};
use crate::limits::PATTERN_BYTES_MAX;
use std::cmp::Ordering;
use weir_codec::document::Element;
use weir_model::Value;

/// A filter of results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Comparison {
    /// Compared with the literal, it is one of these.
    Is(&'static [Ordering], Literal),
    /// Between both, or one of them.
    Between(Literal, Literal),
    /// Text of a pattern.
    Like(Vec<Sign>),
    /// Nothing was observed.
    Null,
}

/// What is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Literal {
    text: String,
    number: Option<f64>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// This character.
    Exactly(char),
    /// Any one.
    One,
    /// Any number of any.
    Any,
}

const OPERATORS: &[(&str, &[Ordering])] = &[
    ("PropertyIsEqualTo", &[Ordering::Equal]),
    ("PropertyIsNotEqualTo", &[Ordering::Less, Ordering::Greater]),
    ("PropertyIsLessThan", &[Ordering::Less]),
    ("PropertyIsGreaterThan", &[Ordering::Greater]),
    (
        "PropertyIsLessThanOrEqualTo",
        &[Ordering::Less, Ordering::Equal],
    ),
    (
        "PropertyIsGreaterThanOrEqualTo",
        &[Ordering::Greater, Ordering::Equal],
    ),
];

/// Names of all, as GetCapabilities lists them.
pub(crate) const NAMES: &[&str] = &[
    "EqualTo",
    "NotEqualTo",
    "LessThan",
    "GreaterThan",
    "LessThanEqualTo",
    "GreaterThanEqualTo",
    "Between",
    "Like",
    "NullCheck",
];

// [SOS1-8.4-2]
impl Comparison {
    /// Reads an operator of Filter Encoding 1.1.
    pub(crate) fn of_element(parameter: &str, filter: &Element) -> Result<Self, Exception> {
        let missing = |what: &str| Exception::invalid(parameter, format!("{what} is missing"));
        let literal = |element: Option<&Element>| {
            let found = element.and_then(|element| element.find("Literal"));
            found.map(Literal::of).ok_or_else(|| missing("ogc:Literal"))
        };
        let plain = OPERATORS.iter().find(|(name, _)| *name == filter.local);
        match (plain, filter.local.as_str()) {
            (Some((_, orderings)), _) => Ok(Comparison::Is(orderings, literal(Some(filter))?)),
            (None, "PropertyIsBetween") => Ok(Comparison::Between(
                literal(filter.child("LowerBoundary"))?,
                literal(filter.child("UpperBoundary"))?,
            )),
            (None, "PropertyIsLike") => {
                let text = literal(Some(filter))?.text;
                if text.len() > PATTERN_BYTES_MAX {
                    let sentence = format!("a pattern of more than {PATTERN_BYTES_MAX} bytes");
                    return Err(Exception::invalid(parameter, sentence));
                }
                Ok(Comparison::Like(pattern(filter, &text)))
            }
            (None, "PropertyIsNull") => Ok(Comparison::Null),
            (None, other) => Err(Exception::new(
                Code::OptionNotSupported,
                parameter,
                format!("there is no comparison {other}"),
            )),
        }
    }

    /// Whether a result is wanted.
    pub(crate) fn holds(&self, value: &Value<'_>) -> bool {
        match self {
            Comparison::Is(orderings, literal) => {
                let order = literal.order(value);
                order.is_some_and(|order| orderings.contains(&order))
            }
            Comparison::Between(lower, upper) => {
                let order = (lower.order(value), upper.order(value));
                matches!(order, (Some(from), Some(to)) if from.is_ge() && to.is_le())
            }
            Comparison::Like(pattern) => match value {
                Value::Text(text) => is_like(text, pattern),
                _ => false,
            },
            Comparison::Null => matches!(value, Value::Null),
        }
    }
}

impl Literal {
    fn of(element: &Element) -> Self {
        let text = element.text();
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        Self { text, number }
    }

    /// How a value lies to it.
    fn order(&self, value: &Value<'_>) -> Option<Ordering> {
        match value {
            _ if value.is_numeric() => value.number()?.partial_cmp(&self.number?),
            Value::Text(text) => Some((*text).cmp(self.text.as_str())),
            Value::Bool(truth) => {
                let text = if *truth { "true" } else { "false" };
                (text == self.text || self.text == if *truth { "1" } else { "0" })
                    .then_some(Ordering::Equal)
                    .or(Some(Ordering::Less))
            }
            _ => None,
        }
    }
}

/// With the signs that the filter's attributes say.
fn pattern(filter: &Element, text: &str) -> Vec<Sign> {
    let sign = |names: [&str; 2], usual: char| {
        let said = names.iter().find_map(|name| filter.attribute(name));
        said.and_then(|said| said.chars().next()).unwrap_or(usual)
    };
    let any = sign(["wildCard", "wildCard"], '*');
    let one = sign(["singleChar", "singleChar"], '?');
    let escape = sign(["escapeChar", "escape"], '\\');
    let mut signs = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        signs.push(match letter {
            own if own == escape => Sign::Exactly(letters.next().unwrap_or(escape)),
            own if own == any => Sign::Any,
            own if own == one => Sign::One,
            own => Sign::Exactly(own),
        });
    }
    signs
}

/// Without going back further than to the last wild card, so that no pattern takes long.
fn is_like(text: &str, pattern: &[Sign]) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let (mut at, mut next) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    while at < letters.len() {
        let fits = match pattern.get(next) {
            Some(Sign::Any) => {
                last = Some((at, next));
                next += 1;
                continue;
            }
            Some(Sign::One) => true,
            Some(Sign::Exactly(letter)) => *letter == letters[at],
            None => false,
        };
        match (fits, last) {
            (true, _) => (at, next) = (at + 1, next + 1),
            (false, Some((from, wild))) => {
                last = Some((from + 1, wild));
                (at, next) = (from + 1, wild + 1);
            }
            (false, None) => return false,
        }
    }
    pattern[next..].iter().all(|sign| *sign == Sign::Any)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_codec::document::read_xml;

    fn read(xml: &str) -> Comparison {
        Comparison::of_element("result", &read_xml(xml.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn numbers_and_texts_compare_and_patterns_match() {
        let at_least =
            "<PropertyIsGreaterThanOrEqualTo><Literal>2</Literal></PropertyIsGreaterThanOrEqualTo>";
        assert!(read(at_least).holds(&Value::Number(2.0)));
        assert!(!read(at_least).holds(&Value::Number(1.5)));
        assert!(!read(at_least).holds(&Value::Null));
        let between = "<PropertyIsBetween><LowerBoundary><Literal>1</Literal></LowerBoundary>\
            <UpperBoundary><Literal>3</Literal></UpperBoundary></PropertyIsBetween>";
        assert!(read(between).holds(&Value::Number(3.0)));
        assert!(!read(between).holds(&Value::Number(3.5)));
        let like = r#"<PropertyIsLike wildCard="*" singleChar="." escapeChar="!">
            <Literal>a.*!*</Literal></PropertyIsLike>"#;
        assert!(read(like).holds(&Value::Text("abcd*")));
        assert!(!read(like).holds(&Value::Text("a*")));
        assert!(read("<PropertyIsNull/>").holds(&Value::Null));
        let truth = "<PropertyIsNotEqualTo><Literal>true</Literal></PropertyIsNotEqualTo>";
        assert!(read(truth).holds(&Value::Bool(false)) && !read(truth).holds(&Value::Bool(true)));
    }

    #[test]
    fn an_unknown_comparison_is_not_supported() {
        let and = read_xml(b"<And/>").unwrap();
        let exception = Comparison::of_element("result", &and).unwrap_err();
        assert_eq!(exception.code, Code::OptionNotSupported);
    }
}
