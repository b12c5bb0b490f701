//! Instants on the UTC time scale, RFC 3339 with up to nine decimals.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Nanoseconds since 1970-01-01T00:00:00Z without leap seconds; from 1677 to 2262.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

const NANOS: i64 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;

impl Time {
    /// The instant this many nanoseconds after the Unix epoch.
    #[inline]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// The instant this many milliseconds after the Unix epoch, held at the ends of the range.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// The instant this many seconds after the Unix epoch, rounded to the nearest microsecond, which
    /// is what a double resolves today (SenML, RFC 8428 section 4.5.3); `None` out of range.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let whole = libm_floor(seconds);
        if !(-9.2e9..=9.2e9).contains(&whole) {
            return None;
        }
        let micros = ((seconds - whole) * 1e6 + 0.5) as i64;
        Some(Self(whole as i64 * NANOS + micros * 1000))
    }

    /// The instant so many nanoseconds after the beginning of a second, which may lie before the first instant
    /// there is; `None` out of range.
    pub fn from_parts(second: i64, nanos: i64) -> Option<Self> {
        let whole = i128::from(second) * i128::from(NANOS) + i128::from(nanos);
        // The least number stands for no time.
        let whole = i64::try_from(whole).ok().filter(|&it| it != i64::MIN);
        whole.map(Self)
    }

    /// Nanoseconds since the Unix epoch.
    #[inline]
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Seconds since the Unix epoch, to the precision of a double.
    pub fn seconds(self) -> f64 {
        let whole = self.0.div_euclid(NANOS);
        whole as f64 + self.0.rem_euclid(NANOS) as f64 / 1e9
    }

    /// This instant moved by nanoseconds, held at the ends of the range.
    pub const fn plus_nanos(self, nanos: i64) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// Appends `2026-11-20T09:41:00.250Z`: no decimals, or three, six or nine, as needed.
    pub fn write_rfc3339(self, out: &mut Vec<u8>) {
        let seconds = self.0.div_euclid(NANOS);
        let nanos = self.0.rem_euclid(NANOS) as u64;
        let (year, month, day) = civil(seconds.div_euclid(DAY_SECONDS));
        let of_day = seconds.rem_euclid(DAY_SECONDS) as u64;
        digits(out, year as u64, 4);
        for (mark, number) in [(b'-', month), (b'-', day), (b'T', of_day / 3600)] {
            out.push(mark);
            digits(out, number, 2);
        }
        for number in [of_day / 60 % 60, of_day % 60] {
            out.push(b':');
            digits(out, number, 2);
        }
        write_fraction(out, nanos);
        out.push(b'Z');
    }
}

fn write_fraction(out: &mut Vec<u8>, nanos: u64) {
    let (number, width) = match nanos {
        0 => return,
        n if n % 1_000_000 == 0 => (n / 1_000_000, 3),
        n if n % 1000 == 0 => (n / 1000, 6),
        n => (n, 9),
    };
    out.push(b'.');
    digits(out, number, width);
}

fn digits(out: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut text = [b'0'; 9];
    for place in text[..width].iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&text[..width]);
}

fn libm_floor(x: f64) -> f64 {
    if !(-9.2e18..9.2e18).contains(&x) {
        return x;
    }
    let cut = x as i64 as f64;
    if cut > x { cut - 1.0 } else { cut }
}

/// Year, month and day of a day number since 1970-01-01, proleptic Gregorian.
///
/// Counted in years that begin in March, so that the leap day comes last.
pub fn civil(day_number: i64) -> (i64, u64, u64) {
    let since_march_0000 = day_number + 719_468;
    let era = since_march_0000.div_euclid(146_097);
    let of_era = since_march_0000.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u64, day as u64)
}

/// The day number since 1970-01-01 of a date of the proleptic Gregorian calendar.
pub fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let march_month = (month + 9) % 12;
    let of_year = (153 * march_month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Why a text is no RFC 3339 time, with the byte where it stops being one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeError {
    /// Offset of the first byte that does not fit.
    pub at: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not an RFC 3339 time: expected {} at byte {}",
            self.expected, self.at
        )
    }
}

impl core::error::Error for TimeError {}

/// A reader of fixed-width fields that remembers where it is.
struct Fields<'a> {
    text: &'a [u8],
    at: usize,
}

impl Fields<'_> {
    fn fail<T>(&self, expected: &'static str) -> Result<T, TimeError> {
        Err(TimeError {
            at: self.at,
            expected,
        })
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn one_of(&mut self, marks: &[u8], expected: &'static str) -> Result<u8, TimeError> {
        match self.peek() {
            Some(byte) if marks.contains(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            _ => self.fail(expected),
        }
    }

    fn number(&mut self, width: usize, max: i64, expected: &'static str) -> Result<i64, TimeError> {
        let field = self.text.get(self.at..self.at + width);
        let Some(field) = field.filter(|field| field.iter().all(u8::is_ascii_digit)) else {
            return self.fail(expected);
        };
        let number = field
            .iter()
            .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        if number > max {
            return self.fail(expected);
        }
        self.at += width;
        Ok(number)
    }

    fn fraction(&mut self) -> Result<i64, TimeError> {
        if self.peek() != Some(b'.') {
            return Ok(0);
        }
        self.at += 1;
        let start = self.at;
        let mut nanos = 0;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            if self.at - start == 9 {
                return self.fail("at most nine decimals");
            }
            nanos = nanos * 10 + i64::from(digit - b'0');
            self.at += 1;
        }
        match self.at - start {
            0 => self.fail("decimals"),
            width => Ok(nanos * 10_i64.pow(9 - width as u32)),
        }
    }

    fn offset(&mut self) -> Result<i64, TimeError> {
        let expected = "Z or an offset such as +01:00";
        let sign = match self.one_of(b"Zz+-", expected)? {
            b'+' => 1,
            b'-' => -1,
            _ => return Ok(0),
        };
        let hours = self.number(2, 23, expected)?;
        self.one_of(b":", expected)?;
        let minutes = self.number(2, 59, expected)?;
        Ok(sign * (hours * 3600 + minutes * 60))
    }
}

/// What stands first: said where something else was taken for a time.
const YEAR: &str = "a time such as 2026-11-20T09:41:00Z, beginning with a year of four digits";

impl Time {
    /// Reads an RFC 3339 `date-time` (section 5.6); a leap second counts as the next second.
    pub fn parse_rfc3339(text: &[u8]) -> Result<Self, TimeError> {
        let mut fields = Fields { text, at: 0 };
        let year = fields.number(4, 9999, YEAR)?;
        fields.one_of(b"-", "a hyphen between year and month")?;
        let month = fields.number(2, 12, "a month from 01 to 12")?;
        fields.one_of(b"-", "a hyphen between month and day")?;
        let day = fields.number(2, 31, "a day from 01 to 31")?;
        if month == 0 || day == 0 || day > days_in_month(year, month) {
            fields.at = 5;
            return fields.fail("a date that exists");
        }
        fields.one_of(b"Tt ", "a T between date and time of day")?;
        let hour = fields.number(2, 23, "an hour from 00 to 23")?;
        fields.one_of(b":", "a colon between hour and minute")?;
        let minute = fields.number(2, 59, "a minute from 00 to 59")?;
        fields.one_of(b":", "a colon between minute and second")?;
        let second = fields.number(2, 60, "a second from 00 to 60")?;
        let nanos = fields.fraction()?;
        let offset = fields.offset()?;
        if fields.at != text.len() {
            return fields.fail("the end of the time");
        }
        let of_day = hour * 3600 + minute * 60 + second - offset;
        let seconds = day_number(year, month, day) * DAY_SECONDS + of_day;
        let whole = seconds.checked_mul(NANOS);
        match whole.and_then(|whole| whole.checked_add(nanos)) {
            Some(nanos) => Ok(Self(nanos)),
            None => Self::from_parts(seconds, nanos).ok_or(TimeError {
                at: 0,
                expected: "a year from 1678 to 2261",
            }),
        }
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    }
}

impl FromStr for Time {
    type Err = TimeError;
    fn from_str(text: &str) -> Result<Self, TimeError> {
        Self::parse_rfc3339(text.as_bytes())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(30);
        self.write_rfc3339(&mut text);
        f.write_str(core::str::from_utf8(&text).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_rfc_3339_section_5_8_read() {
        for (text, same) in [
            ("1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50.520Z"),
            ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57Z"),
            ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z"),
            ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27.870Z"),
        ] {
            assert_eq!(text.parse::<Time>().unwrap().to_string(), same);
        }
    }

    #[test]
    fn an_error_says_which_byte() {
        let at = |text: &str| text.parse::<Time>().unwrap_err().at;
        assert_eq!(at("2026-02-29T00:00:00Z"), 5);
        assert_eq!(at("2026-11-20T25:00:00Z"), 11);
        assert_eq!(at("2026-11-20T09:41:00"), 19);
        assert_eq!(at("2026-11-20T09:41:00.1234567890Z"), 29);
        assert_eq!(at("9999-01-01T00:00:00Z"), 0);
    }

    proptest! {
        #[test]
        fn a_time_reads_back_what_it_prints(nanos in any::<i64>()) {
            let time = Time::from_nanos(nanos);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }

        #[test]
        fn seconds_keep_microseconds(micros in 0_i64..4_000_000_000_000_000) {
            let time = Time::from_nanos(micros * 1000);
            prop_assert_eq!(Time::from_seconds(time.seconds()), Some(time));
        }
    }
}
