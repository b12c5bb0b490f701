//! Dates and times in UTC (Canonical EXI section 4.5.5, option utcTime).

use crate::stored::StoredDateTime;
use crate::value::DateTimeKind;

/// The same instant without an offset; values without a time of day stay as they are.
pub(super) fn normalized(value: &StoredDateTime) -> StoredDateTime {
    let Some(zone) = value.zone_minutes.filter(|zone| *zone != 0) else {
        return *value;
    };
    if value.kind != DateTimeKind::DateTime && value.kind != DateTimeKind::Time {
        return *value;
    }
    let minutes = i64::from(value.time.hour) * 60 + i64::from(value.time.minute) - i64::from(zone);
    // [C14N-4.5.5-3]
    let mut utc = *value;
    utc.zone_minutes = Some(0);
    let minute = minutes.rem_euclid(24 * 60);
    (utc.time.hour, utc.time.minute) = ((minute / 60) as u8, (minute % 60) as u8);
    if value.kind == DateTimeKind::DateTime {
        let days = days_of(value.year, value.month, value.day) + minutes.div_euclid(24 * 60);
        (utc.year, utc.month, utc.day) = date_of(days);
    }
    utc
}

/// Midnight as the hour 0 of the next day instead of the hour 24.
pub(super) fn midnight(value: &StoredDateTime) -> StoredDateTime {
    let mut same = *value;
    // [C14N-4.5.5-1]
    if value.time.hour != 24 {
        return same;
    }
    same.time.hour = 0;
    if value.kind == DateTimeKind::DateTime {
        let next = days_of(value.year, value.month, value.day) + 1;
        (same.year, same.month, same.day) = date_of(next);
    }
    same
}

/// Days since 0000-03-01 of the proleptic Gregorian calendar.
fn days_of(year: i64, month: u8, day: u8) -> i64 {
    let month = i64::from(month);
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year
}

/// The date of a number of days since 0000-03-01.
fn date_of(days: i64) -> (i64, u8, u8) {
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + carry, month as u8, day as u8)
}
