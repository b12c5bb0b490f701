//! Times as OGC's documents hold them: ISO 8601, often without a zone, sometimes without a time.
//!
//! A missing zone is read as UTC, which is what the examples of O&M mean by it; a missing time of day
//! or day begins the period.

use weir_model::Time;
use weir_model::time::TimeError;

/// Longest time that is completed.
const COMPLETED_BYTES_MAX: usize = 48;

/// Reads a time, completing what is missing at its end.
pub(crate) fn parse(text: &str) -> Result<Time, TimeError> {
    let read = Time::parse_rfc3339(text.as_bytes());
    let Err(error) = read else { return read };
    let (head, between, tail) = match (text.len(), text.len().saturating_sub(error.at)) {
        (4, 0) => (text, "-01-01T00:00:00Z", ""),
        (7, 0) => (text, "-01T00:00:00Z", ""),
        (10, 0) => (text, "T00:00:00Z", ""),
        (16, 0) => (text, ":00Z", ""),
        (length, 0) if length >= 19 && !zone_begun(text) => (text, "Z", ""),
        (length, 0) if length >= 22 => (text, ":00", ""),
        (length, 2) if length >= 24 && text.is_char_boundary(length - 2) => {
            let (head, tail) = text.split_at(length - 2);
            (head, ":", tail)
        }
        _ => return read,
    };
    join([head, between, tail]).unwrap_or(read)
}

/// Says whether an offset from UTC is there, if only in part.
fn zone_begun(text: &str) -> bool {
    text.get(19..).is_some_and(|rest| rest.contains(['+', '-']))
}

/// Reads the parts as one text; `None` where they are too long for any time.
fn join(parts: [&str; 3]) -> Option<Result<Time, TimeError>> {
    let mut whole = [0; COMPLETED_BYTES_MAX];
    let mut len = 0;
    for part in parts {
        whole
            .get_mut(len..len + part.len())?
            .copy_from_slice(part.as_bytes());
        len += part.len();
    }
    Some(Time::parse_rfc3339(&whole[..len]))
}

const NANOS: i64 = 1_000_000_000;

/// Reads many times, most of them on the same day.
#[derive(Default)]
pub(crate) struct TimeReader {
    /// `2026-11-20T` of the day met last.
    date: [u8; 11],
    /// Nanoseconds at which that day begins.
    midnight: i64,
}

impl TimeReader {
    /// Reads a time.
    pub(crate) fn read(&mut self, text: &str) -> Result<Time, TimeError> {
        let bytes = text.as_bytes();
        if let Some(nanos) = self.of_same_day(bytes) {
            return Ok(Time::from_nanos(self.midnight.saturating_add(nanos)));
        }
        let time = parse(text)?;
        if let (Some(date), Some(of_day)) = (bytes.first_chunk(), of_day(bytes)) {
            (self.date, self.midnight) = (*date, time.nanos().saturating_sub(of_day));
        }
        Ok(time)
    }

    fn of_same_day(&self, bytes: &[u8]) -> Option<i64> {
        (bytes.first_chunk() == Some(&self.date))
            .then(|| of_day(bytes))
            .flatten()
    }
}

/// Nanoseconds since midnight of `2026-11-20T09:41:00.250Z`, where it has this very shape.
fn of_day(bytes: &[u8]) -> Option<i64> {
    let [
        _,
        _,
        _,
        _,
        _,
        _,
        _,
        _,
        _,
        _,
        b'T',
        h1,
        h2,
        b':',
        m1,
        m2,
        b':',
        s1,
        s2,
        rest @ ..,
    ] = bytes
    else {
        return None;
    };
    let hours = two_digits(*h1, *h2).filter(|&hours| hours < 24)?;
    let minutes = two_digits(*m1, *m2).filter(|&minutes| minutes < 60)?;
    let seconds = two_digits(*s1, *s2).filter(|&seconds| seconds < 60)?;
    let fraction = match rest {
        [b'Z'] => 0,
        [b'.', digits @ .., b'Z'] => fraction(digits)?,
        _ => return None,
    };
    Some((hours * 3600 + minutes * 60 + seconds) * NANOS + fraction)
}

fn two_digits(tens: u8, ones: u8) -> Option<i64> {
    let digits = tens.is_ascii_digit() && ones.is_ascii_digit();
    digits.then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
}

fn fraction(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let mut nanos = 0;
    for digit in digits {
        nanos = nanos * 10 + i64::from(digit.checked_sub(b'0').filter(|&digit| digit < 10)?);
    }
    Some(nanos * 10_i64.pow(9 - digits.len() as u32))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn what_is_missing_at_the_end_is_completed() {
        for (text, same) in [
            ("2005-01-11T17:22:25.00", "2005-01-11T17:22:25Z"),
            ("2005-01-11T17:22:25", "2005-01-11T17:22:25Z"),
            ("2005-01-11T17:22", "2005-01-11T17:22:00Z"),
            ("2005-01-11", "2005-01-11T00:00:00Z"),
            ("2005-01", "2005-01-01T00:00:00Z"),
            ("2005", "2005-01-01T00:00:00Z"),
            ("2005-01-11T17:22:25+01", "2005-01-11T16:22:25Z"),
            ("2005-01-11T17:22:25.5-0130", "2005-01-11T18:52:25.500Z"),
            ("2007-04-01T00:00:00.000-06:00", "2007-04-01T06:00:00Z"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), same, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused_with_its_byte() {
        for (text, at) in [
            ("now", 0),
            ("2005-13", 5),
            ("2005-01-11T17:22:25 UTC", 19),
            ("", 0),
        ] {
            assert_eq!(parse(text).unwrap_err().at, at, "{text}");
        }
    }

    #[test]
    fn a_reader_of_many_times_reads_each_as_the_other_does() {
        let mut reader = TimeReader::default();
        for text in [
            "2026-11-20T09:41:00.250Z",
            "2026-11-20T23:59:59Z",
            "2026-11-20T23:59:60Z",
            "2026-11-20T24:00:00Z",
            "2026-11-20T09:41:00.123456789Z",
            "2026-11-20T09:41:00.1234567890Z",
            "2026-11-20T09:41:00+01:00",
            "2026-11-20T09:41:00",
            "2026-11-21T00:00:00Z",
            "2026-11-20T00:00:00.000001Z",
            "1677-09-21T00:12:44Z",
            "2026-11-2xT00:00:00Z",
            "2026-11-20T0x:00:00Z",
        ] {
            assert_eq!(reader.read(text), parse(text), "{text}");
        }
    }
}
