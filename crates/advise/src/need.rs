//! What is needed: `p99<200ms`, `loss<0.1%`, `bytes<=1kB`, `t_decode.p50<1ms`, `format=json`, `browser`.

use std::fmt;

use crate::limits::NEEDS_MAX;

/// A figure of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// The chief time of its experiment.
    Latency(Stat),
    /// Share of messages that did not come.
    Loss,
    /// Bytes a message takes.
    Bytes,
    /// Processor time of the server a message.
    Cpu,
    /// Greatest memory of the server.
    Memory,
    /// Any other metric by its name.
    Metric(String, Stat),
}

/// Which figure of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stat {
    Mean,
    P50,
    P90,
    P99,
    P999,
    Max,
}

/// How two numbers must stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A need.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// As it was written.
    pub text: String,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A figure within a bound, in the figure's own unit (us, share, bytes; of a metric its own).
    Bound(Quantity, Comparison, Bound),
    /// A factor at this level, or at any other.
    Level(String, bool, String),
    /// A browser takes part.
    Browser,
    /// What goes over the link cannot be read there.
    Encrypted,
}

/// A bound with its unit's kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    pub(crate) kind: Kind,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Microseconds.
    Time,
    /// From 0 to 1.
    Share,
    /// Bytes.
    Bytes,
    /// A second.
    Rate,
    /// Nothing more is known.
    Plain,
}

/// Why a need is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedFault {
    need: String,
    problem: String,
}

impl fmt::Display for NeedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "need `{}`: {}", self.need, self.problem)
    }
}

impl std::error::Error for NeedFault {}

/// Units: of times in microseconds, of sizes in bytes.
const UNITS: [(&str, Kind, f64); 17] = [
    ("ns", Kind::Time, 1e-3),
    ("us", Kind::Time, 1.0),
    ("µs", Kind::Time, 1.0),
    ("ms", Kind::Time, 1e3),
    ("s", Kind::Time, 1e6),
    ("%", Kind::Share, 1e-2),
    ("B", Kind::Bytes, 1.0),
    ("kB", Kind::Bytes, 1e3),
    ("MB", Kind::Bytes, 1e6),
    ("GB", Kind::Bytes, 1e9),
    ("KiB", Kind::Bytes, 1024.0),
    ("MiB", Kind::Bytes, 1_048_576.0),
    ("GiB", Kind::Bytes, 1_073_741_824.0),
    ("/s", Kind::Rate, 1.0),
    ("Hz", Kind::Rate, 1.0),
    ("k/s", Kind::Rate, 1e3),
    ("", Kind::Plain, 1.0),
];

const OPERATORS: [(&str, Comparison); 4] = [
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Need {
    /// Reads one need.
    pub fn parse(text: &str) -> Result<Self, NeedFault> {
        let what = what(text.trim()).map_err(|problem| NeedFault {
            need: text.into(),
            problem,
        })?;
        let text = text.trim().to_owned();
        Ok(Self { text, what })
    }

    /// Reads all needs of a question.
    pub fn parse_all<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<Self>, NeedFault> {
        let needs = texts
            .into_iter()
            .map(Self::parse)
            .collect::<Result<Vec<_>, _>>()?;
        match needs.get(NEEDS_MAX) {
            None => Ok(needs),
            Some(need) => Err(NeedFault {
                need: need.text.clone(),
                problem: format!("is one more than {NEEDS_MAX}"),
            }),
        }
    }
}

fn what(text: &str) -> Result<What, String> {
    match text {
        "browser" => return Ok(What::Browser),
        "encrypted" => return Ok(What::Encrypted),
        _ => {}
    }
    let found = OPERATORS.iter().filter_map(|(sign, operator)| {
        let (left, right) = text.split_once(sign)?;
        Some((left, *operator, right))
    });
    // The operator that begins first; of `<` and `<=` at one place the longer, which is listed first.
    let first = found.min_by_key(|(left, ..)| left.len());
    if let Some((left, operator, right)) = first {
        let quantity = quantity(left.trim())?;
        let bound = bound(&quantity, right.trim())?;
        return Ok(What::Bound(quantity, operator, bound));
    }
    let (factor, equal, level) = match (text.split_once("!="), text.split_once('=')) {
        (Some((factor, level)), _) => (factor, false, level),
        (None, Some((factor, level))) => (factor, true, level),
        (None, None) => {
            return Err("is neither FIGURE<VALUE, FACTOR=LEVEL, `browser` nor `encrypted`".into());
        }
    };
    let (factor, level) = (factor.trim(), level.trim());
    match is_name(factor) && !level.is_empty() {
        true => Ok(What::Level(factor.into(), equal, level.into())),
        false => Err("a factor and its level stand on both sides of `=`".into()),
    }
}

fn quantity(text: &str) -> Result<Quantity, String> {
    if let Some(stat) = stat(text) {
        return Ok(Quantity::Latency(stat));
    }
    Ok(match text {
        "latency" => Quantity::Latency(Stat::Mean),
        "loss" => Quantity::Loss,
        "bytes" => Quantity::Bytes,
        "cpu" => Quantity::Cpu,
        "memory" => Quantity::Memory,
        _ => {
            let (name, stat) = match text.rsplit_once('.') {
                None => (text, Stat::Mean),
                Some((name, figure)) => (
                    name,
                    stat(figure).ok_or_else(|| {
                        format!("`{figure}` is none of mean, p50, p90, p99, p999, max")
                    })?,
                ),
            };
            match (is_name(name), name) {
                (false, _) => return Err(format!("`{name}` is no name of a figure")),
                (true, "latency") => Quantity::Latency(stat),
                (true, _) => Quantity::Metric(name.into(), stat),
            }
        }
    })
}

fn stat(text: &str) -> Option<Stat> {
    Some(match text {
        "mean" => Stat::Mean,
        "p50" => Stat::P50,
        "p90" => Stat::P90,
        "p99" => Stat::P99,
        "p999" | "p99.9" => Stat::P999,
        "max" => Stat::Max,
        _ => return None,
    })
}

fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.chars().all(allowed)
}

fn bound(quantity: &Quantity, text: &str) -> Result<Bound, String> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
    let value: f64 = digits
        .parse()
        .map_err(|_| format!("`{text}` begins with no number"))?;
    let unit = unit.trim();
    let known = UNITS.iter().find(|(name, ..)| *name == unit);
    let &(_, kind, scale) = known.ok_or_else(|| {
        let names: Vec<&str> = UNITS
            .iter()
            .map(|(name, ..)| *name)
            .filter(|n| !n.is_empty())
            .collect();
        format!("unknown unit `{unit}`; there are {}", names.join(", "))
    })?;
    let wanted = match quantity {
        Quantity::Latency(_) | Quantity::Cpu => Some((Kind::Time, "a time, such as 200ms")),
        Quantity::Loss => Some((Kind::Share, "a share, such as 0.1%")),
        Quantity::Bytes | Quantity::Memory => Some((Kind::Bytes, "a size, such as 1kB")),
        Quantity::Metric(..) => None,
    };
    match wanted {
        Some((wanted, such)) if wanted != kind => Err(format!("is compared with {such}")),
        _ => Ok(Bound {
            value: value * scale,
            kind,
        }),
    }
}

impl Comparison {
    /// Whether a number stands so to a bound.
    pub(crate) fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::LessOrEqual => value <= bound,
            Self::Greater => value > bound,
            Self::GreaterOrEqual => value >= bound,
        }
    }

    /// Whether small is what is asked for.
    pub(crate) fn wants_little(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn bound_of(text: &str) -> (Quantity, Comparison, f64) {
        match Need::parse(text).unwrap().what {
            What::Bound(quantity, comparison, bound) => (quantity, comparison, bound.value),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_bound_has_a_figure_a_comparison_and_a_value_with_its_unit() {
        use Comparison::*;
        assert_eq!(
            bound_of("p99<200ms"),
            (Quantity::Latency(Stat::P99), Less, 200_000.0)
        );
        assert_eq!(
            bound_of("loss <= 0.1%"),
            (Quantity::Loss, LessOrEqual, 0.001)
        );
        assert_eq!(
            bound_of("memory<64 MiB"),
            (Quantity::Memory, Less, 67_108_864.0)
        );
        let decode = Quantity::Metric("t_decode".into(), Stat::P50);
        assert_eq!(bound_of("t_decode.p50<1ms"), (decode, Less, 1000.0));
        let rate = Quantity::Metric("message_rate".into(), Stat::Mean);
        assert_eq!(
            bound_of("message_rate>=1k/s"),
            (rate, GreaterOrEqual, 1000.0)
        );
    }

    #[test]
    fn a_factor_may_be_asked_for_or_ruled_out() {
        let level = |text| Need::parse(text).unwrap().what;
        assert_eq!(
            level("format=json"),
            What::Level("format".into(), true, "json".into())
        );
        assert_eq!(
            level("target != null"),
            What::Level("target".into(), false, "null".into())
        );
        assert_eq!(level("browser"), What::Browser);
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        for (text, said) in [
            ("fast", "is neither FIGURE<VALUE"),
            ("p99<", "begins with no number"),
            ("p99<200", "is compared with a time, such as 200ms"),
            ("p99<20%", "is compared with a time"),
            ("loss<5ms", "is compared with a share"),
            ("p99<3furlongs", "unknown unit `furlongs`"),
            ("rtt.p42<1ms", "`p42` is none of mean"),
            ("<5ms", "`` is no name of a figure"),
            ("=json", "a factor and its level"),
        ] {
            let fault = Need::parse(text).unwrap_err().to_string();
            assert!(fault.contains(said), "{fault}");
            assert!(fault.contains(text), "{fault}");
        }
    }
}
