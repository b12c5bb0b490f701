//! `wse:Expires`: a duration or a time (WS-Eventing section 3.1).

use crate::limits::{EXPIRES_DEFAULT, EXPIRES_MAX};
use std::time::Duration;
use weir_model::Time;

/// How an end was asked for, and is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Duration,
    DateTime,
}

/// When a subscription ends, held at the longest that is granted; `None` for text that says no time to come.
pub(crate) fn read(text: Option<&str>, now: Time) -> Option<(Time, Form)> {
    let (asked, form) = match text.map(str::trim) {
        None => (EXPIRES_DEFAULT, Form::Duration),
        Some(text) if text.starts_with('P') => (duration(text)?, Form::Duration),
        Some(text) => {
            let end: Time = text.parse().or_else(|_| format!("{text}Z").parse()).ok()?;
            let left = u64::try_from(end.nanos().checked_sub(now.nanos())?).ok()?;
            (Duration::from_nanos(left), Form::DateTime)
        }
    };
    let granted = asked.min(EXPIRES_MAX).as_nanos() as i64;
    (!asked.is_zero()).then(|| (Time::from_nanos(now.nanos() + granted), form))
}

/// An end as it is told.
pub(crate) fn write(end: Time, form: Form, now: Time) -> String {
    match form {
        Form::DateTime => end.to_string(),
        Form::Duration => {
            let left = end.nanos().saturating_sub(now.nanos()).max(0);
            format!("PT{}S", (left as u64).div_ceil(1_000_000_000))
        }
    }
}

/// `xs:duration` (XML Schema part 2 section 3.2.6); a year is 365 days and a month 30, which no limit here
/// can tell apart.
fn duration(text: &str) -> Option<Duration> {
    let text = text.strip_prefix('P')?;
    let (days, time) = match text.split_once('T') {
        Some((_, "")) => return None,
        Some((days, time)) => (days, Some(time)),
        None => (text, None),
    };
    let of_days = sum(
        days,
        &[('Y', 31_536_000.0), ('M', 2_592_000.0), ('D', 86_400.0)],
    )?;
    let of_time = match time {
        Some(time) => sum(time, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)])?,
        None if days.is_empty() => return None,
        None => 0.0,
    };
    Some(Duration::from_secs_f64((of_days + of_time).min(1e12)))
}

/// The seconds of parts, each a number and its letter, in this order.
fn sum(mut text: &str, letters: &[(char, f64)]) -> Option<f64> {
    let mut seconds = 0.0;
    for (letter, each) in letters {
        let Some((number, rest)) = text.split_once(*letter) else {
            continue;
        };
        let whole = number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number: f64 = number.parse().ok().filter(|_| whole)?;
        seconds += number * each;
        text = rest;
    }
    text.is_empty().then_some(seconds)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn now() -> Time {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    #[test]
    fn durations_and_times_end_a_subscription() {
        for (text, left) in [
            ("PT30S", 30),
            ("PT1H", 3600),
            ("P0Y0M1DT2H0M0.0S", 86_400),
            ("P1Y", 86_400),
            ("2026-01-01T00:01:00Z", 60),
            ("2026-01-01T00:01:00", 60),
        ] {
            let (end, form) = read(Some(text), now()).unwrap();
            assert_eq!(end.nanos() - now().nanos(), left * 1_000_000_000, "{text}");
            assert_eq!(form == Form::Duration, text.starts_with('P'));
            let told = write(end, form, now());
            assert_eq!(read(Some(&told), now()).unwrap().0, end);
        }
        assert_eq!(read(None, now()).unwrap().1, Form::Duration);
    }

    #[test]
    fn what_says_no_time_to_come_is_refused() {
        for text in [
            "", "P", "PT", "PT0S", "-PT5S", "PT1", "P1S", "PTxS", "PT1S1M", "soon",
        ] {
            assert_eq!(read(Some(text), now()), None, "{text}");
        }
        assert_eq!(read(Some("2025-12-31T23:59:59Z"), now()), None);
    }
}
