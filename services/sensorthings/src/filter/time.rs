//! Times, intervals and durations as expressions have them (ISO 8601).

use weir_model::Time;
use weir_model::time::{civil, day_number};

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// An instant: RFC 3339, or a date alone for its midnight.
pub(crate) fn instant(text: &str) -> Option<Time> {
    let whole = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        _ => text.to_owned(),
    };
    whole.parse().ok()
}

/// A time of day, `12:30`, `12:30:15` or `12:30:15.5`, as the nanoseconds since midnight.
pub(crate) fn of_day(text: &str) -> Option<i64> {
    let whole = match text.len() {
        5 => format!("1970-01-01T{text}:00Z"),
        _ => format!("1970-01-01T{text}Z"),
    };
    let time: Time = whole.parse().ok()?;
    Some(time.nanos())
}

/// A duration such as `P1DT2H30M`; a year is 365 days and a month 30.
pub(crate) fn duration(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let (date, time) = match text.strip_prefix('P')?.split_once('T') {
        Some((date, time)) => (date, time),
        None => (text.strip_prefix('P')?, ""),
    };
    let of_date = [
        ('Y', 365.0 * 86400.0),
        ('M', 30.0 * 86400.0),
        ('W', 604_800.0),
        ('D', 86400.0),
    ];
    let of_time = [('H', 3600.0), ('M', 60.0), ('S', 1.0)];
    let seconds = sum(date, &of_date)? + sum(time, &of_time)?;
    let nanos = sign * seconds * SECOND as f64;
    (text.len() > 1 && nanos.abs() < 9e18).then_some(nanos as i64)
}

fn sum(text: &str, units: &[(char, f64)]) -> Option<f64> {
    let (mut rest, mut sum) = (text, 0.0);
    for &(unit, seconds) in units {
        if let Some((number, behind)) = rest.split_once(unit) {
            sum += number.parse::<f64>().ok().filter(|number| *number >= 0.0)? * seconds;
            rest = behind;
        }
    }
    rest.is_empty().then_some(sum)
}

/// Year, month, day, hour, minute, second and nanosecond of an instant.
pub(crate) fn parts(time: Time) -> (i64, u64, u64, i64, i64, i64, i64) {
    let seconds = time.nanos().div_euclid(SECOND);
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let of_day = seconds.rem_euclid(DAY);
    let nanos = time.nanos().rem_euclid(SECOND);
    (
        year,
        month,
        day,
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60,
        nanos,
    )
}

/// Midnight of an instant's day.
pub(crate) fn midnight(time: Time) -> Time {
    let (year, month, day, ..) = parts(time);
    let days = day_number(year, month as i64, day as i64);
    Time::from_nanos(days.saturating_mul(DAY * SECOND))
}
