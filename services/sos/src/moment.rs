//! Times of requests, and the filters made of them.

use crate::exception::Exception;
use crate::relation::{Period, Relation};
use weir_model::{Extra, Time};

/// From the first, it included, to the last, it excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: Time,
    pub(crate) to: Time,
}

impl Span {
    pub(crate) const ALL: Self = Self {
        from: Time::from_nanos(i64::MIN + 1),
        to: Time::from_nanos(i64::MAX),
    };

    pub(crate) fn holds(&self, time: Time) -> bool {
        self.from <= time && time < self.to
    }

    fn both(self, other: Self) -> Self {
        Self {
            from: self.from.max(other.from),
            to: self.to.min(other.to),
        }
    }
}

/// Which time of an observation is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    Phenomenon,
    Result,
}

impl Property {
    pub(crate) fn named(reference: &str) -> Option<Self> {
        let local = reference.trim().rsplit([':', '/', '#']).next()?;
        match local {
            "phenomenonTime" | "samplingTime" | "eventTime" => Some(Property::Phenomenon),
            "resultTime" => Some(Property::Result),
            _ => None,
        }
    }
}

/// What times are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Temporal {
    /// Where phenomenon times can begin: what is read of the past.
    pub(crate) begins: Span,
    /// All must hold.
    conditions: Vec<Condition>,
    /// Only the last observation of each datastream.
    pub(crate) latest: bool,
    /// Only the first.
    pub(crate) first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Condition {
    property: Property,
    relation: Relation,
    period: Period,
}

impl Default for Temporal {
    fn default() -> Self {
        Self {
            begins: Span::ALL,
            conditions: Vec::new(),
            latest: false,
            first: false,
        }
    }
}

impl Temporal {
    /// What begins at one instant.
    pub(crate) fn beginning(time: Time) -> Self {
        let begins = Span {
            from: time,
            to: time.plus_nanos(1),
        };
        Self {
            begins,
            ..Self::default()
        }
    }

    /// Takes another filter; all must hold.
    pub(crate) fn narrow(&mut self, property: Property, relation: Relation, period: Period) {
        if property == Property::Phenomenon {
            self.begins = self.begins.both(relation.begins(period));
        }
        self.conditions.push(Condition {
            property,
            relation,
            period,
        });
    }

    /// Whether all that begins in time is wanted, of observations with or without further times.
    pub(crate) fn is_told_by_begin(&self, has_extras: bool) -> bool {
        let told = |own: &Condition| {
            let instants = own.property == Property::Phenomenon && !has_extras;
            instants && own.relation.is_told_by_begin()
        };
        self.conditions.iter().all(told)
    }

    /// Whether no time is asked for, but perhaps the last or the first.
    pub(crate) fn is_everything(&self) -> bool {
        self.conditions.is_empty() && self.begins == Span::ALL
    }

    /// Whether an observation is wanted.
    pub(crate) fn holds(&self, time: Option<Time>, extra: &Extra<'_>) -> bool {
        let Some(begin) = time else {
            return self.conditions.is_empty();
        };
        let phenomenon = (begin, extra.end.unwrap_or(begin));
        let result = extra.result_time.unwrap_or(begin);
        let held = |own: &Condition| {
            let time = match own.property {
                Property::Phenomenon => phenomenon,
                Property::Result => (result, result),
            };
            own.relation.holds(time, own.period)
        };
        self.begins.holds(begin) && self.conditions.iter().all(held)
    }

    /// Takes what KVP says: `om:phenomenonTime,2026-01-01T00:00:00Z/2026-02-01T00:00:00Z`, an instant,
    /// `latest` or `first`; without a reference phenomenon time is meant.
    // [SOS2-8.3-4] [SOS2-8.3-9]
    pub(crate) fn narrow_by_text(&mut self, parameter: &str, text: &str) -> Result<(), Exception> {
        let (reference, value) = match text.rsplit_once(',') {
            Some((reference, value)) => (reference, value),
            None => ("om:phenomenonTime", text),
        };
        let property = Property::named(reference).ok_or_else(|| {
            let sentence =
                format!("`{reference}` is no time: om:phenomenonTime and om:resultTime are");
            Exception::invalid(parameter, sentence)
        })?;
        match value.trim() {
            "latest" | "getLatest" => self.latest = true,
            "first" | "getFirst" => self.first = true,
            value => match value.split_once('/') {
                Some((begin, end)) => {
                    let period = period(parameter, begin, end)?;
                    self.narrow(property, Relation::During, period);
                }
                None => {
                    let time = time(parameter, value)?;
                    self.narrow(property, Relation::Equals, (time, time));
                }
            },
        }
        Ok(())
    }
}

/// The period between two times.
pub(crate) fn period(parameter: &str, begin: &str, end: &str) -> Result<Period, Exception> {
    let (from, to) = (time(parameter, begin)?, time(parameter, end)?);
    if from > to {
        let sentence = format!("the period ends ({end}) before it begins ({begin})");
        return Err(Exception::invalid(parameter, sentence));
    }
    Ok((from, to))
}

/// A time of ISO 8601: with a zone, in UTC without one, or a day.
pub(crate) fn time(parameter: &str, text: &str) -> Result<Time, Exception> {
    // A `+` of an offset that was not escaped arrives as a space.
    let text = text.trim().replace(' ', "+");
    let full = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        _ if has_zone(&text) => text.clone(),
        _ => format!("{text}Z"),
    };
    full.parse()
        .map_err(|error| Exception::invalid(parameter, format!("`{text}`: {error}")))
}

fn has_zone(text: &str) -> bool {
    let time = text.split_once('T').map_or("", |(_, time)| time);
    time.ends_with(['Z', 'z']) || time.contains(['+', '-'])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn narrowed(text: &str) -> Result<Temporal, Exception> {
        let mut temporal = Temporal::default();
        temporal.narrow_by_text("temporalFilter", text)?;
        Ok(temporal)
    }

    #[test]
    fn periods_instants_and_the_latest_read() {
        let at = |text: &str| text.parse::<Time>().unwrap();
        let read = narrowed("om:phenomenonTime,2026-01-01T00:00:00Z/2026-01-02").unwrap();
        let holds = |time: &str| read.holds(Some(at(time)), &Extra::default());
        assert!(holds("2026-01-02T00:00:00Z") && !holds("2026-01-02T00:00:01Z"));
        assert!(read.is_told_by_begin(false) && !read.is_told_by_begin(true));
        let read = narrowed("2026-01-01T01:00:00 01:00").unwrap();
        let begin = at("2026-01-01T00:00:00Z");
        assert_eq!(read.begins, Temporal::beginning(begin).begins);
        assert!(narrowed("om:phenomenonTime,latest").unwrap().latest);
        let read = narrowed("om:resultTime,2026-01-01").unwrap();
        let extra = |time: &str| Extra {
            result_time: Some(at(time)),
            ..Extra::default()
        };
        let late = Some(at("2027-01-01T00:00:00Z"));
        assert!(read.holds(late, &extra("2026-01-01T00:00:00Z")));
        assert!(!read.holds(late, &Extra::default()));
    }

    #[test]
    fn a_reversed_period_and_an_unknown_time_are_invalid() {
        for text in [
            "2026-02-01/2026-01-01",
            "om:validTime,2026-01-01",
            "x",
            "2026-13-01",
        ] {
            let exception = narrowed(text).unwrap_err();
            assert_eq!(exception.code.name(), "InvalidParameterValue");
            assert_eq!(exception.locator.as_deref(), Some("temporalFilter"));
        }
    }
}
