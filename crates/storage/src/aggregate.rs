//! One observation a window instead of all: `every=1s`, `agg=mean:10s`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use weir_model::Time;
use weir_model::batch::NO_TIME;

/// What becomes of the numbers of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Arithmetic mean.
    Mean,
    /// Least.
    Min,
    /// Greatest.
    Max,
    /// Sum.
    Sum,
    /// Number of observations.
    Count,
    /// First in time.
    First,
    /// Last in time.
    Last,
}

impl Function {
    /// Every function with its name on the wire.
    pub const ALL: &'static [(&'static str, Function)] = &[
        ("mean", Function::Mean),
        ("min", Function::Min),
        ("max", Function::Max),
        ("sum", Function::Sum),
        ("count", Function::Count),
        ("first", Function::First),
        ("last", Function::Last),
    ];

    /// Whether it computes with numbers; how many there are, and which is the last, is of no unit.
    pub fn is_of_a_unit(self) -> bool {
        !matches!(self, Function::Count | Function::Last)
    }
}

/// A function over windows of one length, aligned to the Unix epoch, begin included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// What becomes of the numbers.
    pub function: Function,
    /// Length of a window, at least a millisecond.
    pub window: Duration,
}

impl Aggregate {
    /// Begin of the window that holds this time; the first time that there is, where it begins before that.
    pub fn begin(&self, time: Time) -> Time {
        let window = self.window.as_nanos() as i64;
        let begin = time.nanos().div_euclid(window).saturating_mul(window);
        Time::from_nanos(begin.max(NO_TIME + 1))
    }

    /// End of the window that begins here: the begin of the next.
    pub fn end(&self, begin: Time) -> Time {
        begin.plus_nanos(self.window.as_nanos() as i64)
    }
}

/// The numbers of one window so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    first: f64,
    last: f64,
}

impl Window {
    /// Takes one more number, later in time than those before.
    pub fn add(&mut self, number: f64) {
        if self.count == 0 {
            *self = Self {
                count: 0,
                sum: 0.0,
                min: number,
                max: number,
                first: number,
                last: number,
            };
        }
        self.count += 1;
        self.sum += number;
        self.min = self.min.min(number);
        self.max = self.max.max(number);
        self.last = number;
    }

    /// Number of observations taken.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The window's value; `None` where it is empty.
    pub fn value(&self, function: Function) -> Option<f64> {
        (self.count > 0).then_some(match function {
            Function::Mean => self.sum / self.count as f64,
            Function::Min => self.min,
            Function::Max => self.max,
            Function::Sum => self.sum,
            Function::Count => self.count as f64,
            Function::First => self.first,
            Function::Last => self.last,
        })
    }
}

/// Why a text is no aggregate or no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnAggregate(&'static str);

impl fmt::Display for NotAnAggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NotAnAggregate {}

impl FromStr for Aggregate {
    type Err = NotAnAggregate;

    /// Reads `mean:10s`.
    fn from_str(text: &str) -> Result<Self, NotAnAggregate> {
        let (name, window) = text
            .split_once(':')
            .ok_or(NotAnAggregate("expected FUNCTION:WINDOW such as mean:10s"))?;
        let function = Function::ALL.iter().find(|(known, _)| *known == name);
        let &(_, function) = function.ok_or(NotAnAggregate(
            "the function must be mean, min, max, sum, count, first or last",
        ))?;
        Ok(Self {
            function,
            window: parse_duration(window)?,
        })
    }
}

/// Reads `250ms`, `10s`, `1.5m`, `2h` or `1d`; from a millisecond to a hundred years.
pub fn parse_duration(text: &str) -> Result<Duration, NotAnAggregate> {
    const EXPECTED: NotAnAggregate =
        NotAnAggregate("expected a duration such as 250ms, 10s, 1.5m, 2h or 1d");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(EXPECTED),
    };
    let seconds = digits.parse::<f64>().map_err(|_| EXPECTED)? * unit;
    if !(0.001..=3.2e9).contains(&seconds) {
        return Err(NotAnAggregate("a duration must be from 1ms to 100 years"));
    }
    Ok(Duration::from_nanos((seconds * 1e9) as u64))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_aggregate_reads_function_and_window() {
        let aggregate: Aggregate = "mean:10s".parse().unwrap();
        assert_eq!(aggregate.window, Duration::from_secs(10));
        assert_eq!(
            aggregate.begin(Time::from_millis(19_999)),
            Time::from_millis(10_000)
        );
        assert_eq!(
            aggregate.begin(Time::from_millis(-1)),
            Time::from_millis(-10_000)
        );
        assert!("median:10s".parse::<Aggregate>().is_err());
        assert!("mean:0s".parse::<Aggregate>().is_err());
        assert_eq!(parse_duration("1.5m").unwrap(), Duration::from_secs(90));
    }

    #[test]
    fn a_window_at_either_end_of_all_times_begins_at_a_time() {
        for window in ["mean:1d", "mean:36500d", "mean:1ms"] {
            let aggregate: Aggregate = window.parse().unwrap();
            for nanos in [NO_TIME + 1, NO_TIME + 1_000_000, i64::MAX] {
                let begin = aggregate.begin(Time::from_nanos(nanos));
                assert!((NO_TIME + 1..=nanos).contains(&begin.nanos()), "{window}");
                assert_eq!(aggregate.begin(begin), begin, "{window}");
            }
        }
    }

    #[test]
    fn a_window_knows_all_its_functions() {
        let mut window = Window::default();
        assert_eq!(window.value(Function::Mean), None);
        [3.0, 1.0, 2.0]
            .into_iter()
            .for_each(|number| window.add(number));
        let values = Function::ALL.iter().map(|(_, f)| window.value(*f).unwrap());
        assert_eq!(
            values.collect::<Vec<_>>(),
            [2.0, 1.0, 3.0, 6.0, 3.0, 3.0, 2.0]
        );
    }
}
