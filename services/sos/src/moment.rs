//! Times of requests, and the filters made of them.

use crate::exception::Exception;
use weir_model::Time;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Temporal {
    pub(crate) phenomenon: Span,
    pub(crate) result: Option<Span>,
    /// Only the last observation of each datastream.
    pub(crate) latest: bool,
    /// Only the first.
    pub(crate) first: bool,
}

impl Default for Temporal {
    fn default() -> Self {
        Self {
            phenomenon: Span::ALL,
            result: None,
            latest: false,
            first: false,
        }
    }
}

impl Temporal {
    /// Takes another filter; all must hold.
    pub(crate) fn narrow(&mut self, property: Property, span: Span) {
        match property {
            Property::Phenomenon => self.phenomenon = self.phenomenon.both(span),
            Property::Result => {
                self.result = Some(self.result.map_or(span, |known| known.both(span)));
            }
        }
    }

    /// Takes what KVP says: `om:phenomenonTime,2026-01-01T00:00:00Z/2026-02-01T00:00:00Z`, an instant,
    /// `latest` or `first`; without a reference phenomenon time is meant.
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
            value => self.narrow(property, span(parameter, value)?),
        }
        Ok(())
    }
}

/// `begin/end`, both included, or an instant.
fn span(parameter: &str, text: &str) -> Result<Span, Exception> {
    match text.split_once('/') {
        Some((begin, end)) => period(parameter, begin, end),
        None => Ok(instant(time(parameter, text)?)),
    }
}

/// The period between two times, both included: what `fes:During` is to other servers too.
pub(crate) fn period(parameter: &str, begin: &str, end: &str) -> Result<Span, Exception> {
    let (from, to) = (time(parameter, begin)?, time(parameter, end)?);
    if from > to {
        let sentence = format!("the period ends ({end}) before it begins ({begin})");
        return Err(Exception::invalid(parameter, sentence));
    }
    Ok(Span {
        from,
        to: to.plus_nanos(1),
    })
}

/// One instant.
pub(crate) fn instant(time: Time) -> Span {
    Span {
        from: time,
        to: time.plus_nanos(1),
    }
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
        assert!(read.phenomenon.holds(at("2026-01-02T00:00:00Z")));
        assert!(!read.phenomenon.holds(at("2026-01-02T00:00:01Z")));
        let read = narrowed("2026-01-01T01:00:00 01:00").unwrap();
        assert_eq!(read.phenomenon, instant(at("2026-01-01T00:00:00Z")));
        assert!(narrowed("om:phenomenonTime,latest").unwrap().latest);
        assert!(
            narrowed("om:resultTime,2026-01-01")
                .unwrap()
                .result
                .is_some()
        );
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
