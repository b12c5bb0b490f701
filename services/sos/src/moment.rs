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
            value => {
                let span = reach(parameter, value)?;
                let relation = if value.contains('/') {
                    Relation::During
                } else {
                    compared(Relation::Equals, span)
                };
                self.narrow(property, relation, span);
            }
        }
        Ok(())
    }
}

/// From when to when an instant or a period reaches that stands in a text.
pub(crate) fn reach(parameter: &str, text: &str) -> Result<Period, Exception> {
    match text.split_once('/') {
        Some((begin, end)) => period(parameter, begin, end),
        None => span(parameter, text),
    }
}

/// The period between two times: from where the first begins to where the last ends.
pub(crate) fn period(parameter: &str, begin: &str, end: &str) -> Result<Period, Exception> {
    let ((from, _), (_, to)) = (span(parameter, begin)?, span(parameter, end)?);
    if from > to {
        let sentence = format!("the period ends ({end}) before it begins ({begin})");
        return Err(Exception::invalid(parameter, sentence));
    }
    Ok((from, to))
}

/// Where a time begins.
pub(crate) fn time(parameter: &str, text: &str) -> Result<Time, Exception> {
    span(parameter, text).map(|(from, _)| from)
}

/// From when to when a time of ISO 8601 reaches: it is an instant where it says seconds, else all of its year,
/// month, day, hour or minute; with a zone, in UTC without one.
pub(crate) fn span(parameter: &str, text: &str) -> Result<Period, Exception> {
    // A `+` of an offset that was not escaped arrives as a space.
    let text = text.trim().replace(' ', "+");
    let refused = |error| Exception::invalid(parameter, format!("`{text}`: {error}"));
    let (date, clock, zone) = parts(&text);
    let full = |date: &str, clock: &str| format!("{date}T{clock}{zone}").parse::<Time>();
    let begin = match (date.len(), clock.map(str::len)) {
        (4, None) => full(&format!("{date}-01-01"), "00:00:00"),
        (7, None) => full(&format!("{date}-01"), "00:00:00"),
        (10, None) => full(date, "00:00:00"),
        (10, Some(2)) => full(date, &format!("{}:00:00", clock.unwrap_or_default())),
        (10, Some(5)) => full(date, &format!("{}:00", clock.unwrap_or_default())),
        _ => full(date, clock.unwrap_or_default()),
    };
    let begin = begin.map_err(refused)?;
    let number = |from: usize, to: usize| date.get(from..to).and_then(|it| it.parse::<i64>().ok());
    let next = |year: i64, month: i64| full(&format!("{year:04}-{month:02}-01"), "00:00:00").ok();
    const HOUR: i64 = 3_600_000_000_000;
    let end = match (date.len(), clock.map(str::len)) {
        (4, None) => number(0, 4).and_then(|year| next(year + 1, 1)),
        (7, None) => number(0, 4)
            .zip(number(5, 7))
            .and_then(|(year, month)| match month {
                12 => next(year + 1, 1),
                month => next(year, month + 1),
            }),
        (_, None) => Some(begin.plus_nanos(24 * HOUR)),
        (_, Some(2)) => Some(begin.plus_nanos(HOUR)),
        (_, Some(5)) => Some(begin.plus_nanos(HOUR / 60)),
        _ => return Ok((begin, begin)),
    };
    // What begins within the last year that there is ends with it.
    Ok((begin, end.map_or(Span::ALL.to, |end| end.plus_nanos(-1))))
}

/// Date, time of day and zone, the zone as RFC 3339 writes it; without a `T` there is no time of day.
fn parts(text: &str) -> (&str, Option<&str>, String) {
    let (date, rest) = match text.split_once(['T', 't']) {
        Some((date, rest)) => (date, Some(rest)),
        None => (text, None),
    };
    let (date, clock, zone) = match rest {
        Some(rest) => {
            let (clock, zone) =
                rest.split_at(rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len()));
            (date, Some(clock), zone)
        }
        None => match date.split_at_checked(10) {
            Some((date, zone)) => (date, None, zone),
            None => (date.trim_end_matches(['Z', 'z']), None, ""),
        },
    };
    let zone = match (zone.len(), zone.contains(':')) {
        (0, _) => "Z".to_owned(),
        (3, false) => format!("{zone}:00"),
        (5, false) if zone.is_ascii() => format!("{}:{}", &zone[..3], &zone[3..]),
        _ => zone.to_owned(),
    };
    (date, clock, zone)
}

/// How a filter's time is compared: what is equal to a day or an hour lies within it.
pub(crate) fn compared(relation: Relation, (from, to): Period) -> Relation {
    match relation {
        Relation::Equals if from < to => Relation::During,
        relation => relation,
    }
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
        assert!(holds("2026-01-02T23:59:59Z") && !holds("2026-01-03T00:00:00Z"));
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
    fn a_time_reaches_as_far_as_it_is_precise() {
        let day = ["2026-11-20T00:00:00Z", "2026-11-20T23:59:59.999999999Z"];
        for (text, ends) in [
            (
                "2026",
                ["2026-01-01T00:00:00Z", "2026-12-31T23:59:59.999999999Z"],
            ),
            (
                "2026-02",
                ["2026-02-01T00:00:00Z", "2026-02-28T23:59:59.999999999Z"],
            ),
            (
                "2026-12",
                ["2026-12-01T00:00:00Z", "2026-12-31T23:59:59.999999999Z"],
            ),
            ("2026-11-20", day),
            ("2026-11-20Z", day),
            (
                "2026-11-20T10",
                ["2026-11-20T10:00:00Z", "2026-11-20T10:59:59.999999999Z"],
            ),
            (
                "2026-11-20T10:30Z",
                ["2026-11-20T10:30:00Z", "2026-11-20T10:30:59.999999999Z"],
            ),
        ] {
            let (begin, end) = span("x", text).unwrap();
            assert_eq!([begin.to_string(), end.to_string()], ends, "{text}");
        }
        let read = narrowed("om:phenomenonTime,2026-11-20").unwrap();
        let holds = |time: &str| read.holds(Some(time.parse().unwrap()), &Extra::default());
        assert!(holds("2026-11-20T12:00:00Z") && !holds("2026-11-21T00:00:00Z"));
    }

    #[test]
    fn zones_are_read_in_each_way_of_iso_8601() {
        for (text, same) in [
            ("2026-11-20+01:00", "2026-11-19T23:00:00Z"),
            ("2026-11-20T10:00:00+0100", "2026-11-20T09:00:00Z"),
            ("2026-11-20T10:00:00-01", "2026-11-20T11:00:00Z"),
            ("2026-11-20T10:00:00.5", "2026-11-20T10:00:00.500Z"),
        ] {
            assert_eq!(time("x", text).unwrap().to_string(), same, "{text}");
        }
        let dates = "|T|26|2026-|2026-1|2026-13|2026-11-20x|éééééé";
        let times = "|2026T10|2026-11-20T|2026-11-20T1|2026-11-20T10:00:00+1";
        for bad in dates.split('|').chain(times.split('|')) {
            assert!(span("x", bad).is_err(), "{bad}");
        }
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
