//! `Date` (RFC 9110 section 6.6.1), which is made once a second and not for each answer.

use std::cell::Cell;
use weir_model::Time;
use weir_model::time::civil;

const NANOS: i64 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;
const DAYS: &[u8; 21] = b"ThuFriSatSunMonTueWed";
const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

thread_local! {
    /// The one made last, and of which second since 1970.
    static LAST: Cell<(i64, Date)> = const { Cell::new((i64::MIN, Date([b' '; 29]))) };
}

/// An IMF-fixdate (section 5.6.7).
#[derive(Clone, Copy)]
pub(super) struct Date([u8; 29]);

impl Date {
    /// Of this time.
    pub(super) fn of(now: Time) -> Self {
        let second = now.nanos().div_euclid(NANOS);
        LAST.with(|last| match last.get() {
            (known, date) if known == second => date,
            _ => {
                let made = Self::made(second);
                last.set((second, made));
                made
            }
        })
    }

    /// The field of an answer.
    pub(super) fn field(&self) -> (&str, &str) {
        ("date", std::str::from_utf8(&self.0).unwrap_or_default())
    }

    fn made(second: i64) -> Self {
        let (day, of_day) = (
            second.div_euclid(DAY_SECONDS),
            second.rem_euclid(DAY_SECONDS),
        );
        let (year, month, day_of_month) = civil(day);
        let mut text = *b"Thu, 01 Jan 1970 00:00:00 GMT";
        let weekday = day.rem_euclid(7) as usize * 3;
        text[..3].copy_from_slice(&DAYS[weekday..weekday + 3]);
        let month = (month as usize - 1) * 3;
        text[8..11].copy_from_slice(&MONTHS[month..month + 3]);
        for (at, number) in [
            (5, day_of_month as i64),
            (12, year / 100),
            (14, year % 100),
            (17, of_day / 3600),
            (20, of_day / 60 % 60),
            (23, of_day % 60),
        ] {
            text[at] = b'0' + (number / 10) as u8;
            text[at + 1] = b'0' + (number % 10) as u8;
        }
        Self(text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_date_is_as_the_standards_example_has_it() {
        for (time, date) in [
            ("1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("2024-02-29T23:59:59.999Z", "Thu, 29 Feb 2024 23:59:59 GMT"),
            ("2026-12-31T12:00:00Z", "Thu, 31 Dec 2026 12:00:00 GMT"),
            ("1969-12-31T23:59:59Z", "Wed, 31 Dec 1969 23:59:59 GMT"),
        ] {
            assert_eq!(Date::of(time.parse().unwrap()).field(), ("date", date));
        }
    }
}
