//! Quantities as people write them: `7.2 Mbit/s`, `14400 B/s`, `15 ms`, `0.1 %`, `64 kB`.

use crate::limits::{RATE_MAX, SPAN_NANOS_MAX};
use crate::time::Nanos;
use std::fmt;

/// A quantity that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityFault {
    text: String,
    expected: &'static str,
}

impl fmt::Display for QuantityFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found `{}`", self.expected, self.text)
    }
}

impl std::error::Error for QuantityFault {}

/// A unit and what one of it is.
type Units = &'static [(&'static str, f64)];

const SPANS: Units = &[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
const SIZES: Units = &[("B", 1.0), ("kB", 1e3), ("MB", 1e6)];
const RATES: Units = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("B/s", 8.0),
    ("kB/s", 8e3),
    ("MB/s", 8e6),
];
const SHARES: Units = &[("%", 0.01), ("", 1.0)];

/// A span of at most an hour.
pub(crate) fn span(text: &str) -> Result<Nanos, QuantityFault> {
    let expected = "a time of at most an hour such as 15 ms (s, ms, us, ns)";
    read(text, SPANS, 0.0, SPAN_NANOS_MAX as f64, expected).map(|nanos| nanos as Nanos)
}

/// A rate in bits a second.
pub(crate) fn rate(text: &str) -> Result<u64, QuantityFault> {
    let expected = "a rate of 1 bit/s to 100 Gbit/s such as 7.2 Mbit/s or 14400 B/s";
    read(text, RATES, 1.0, RATE_MAX as f64, expected).map(|bits| bits as u64)
}

/// A number of bytes.
pub(crate) fn size(text: &str) -> Result<u64, QuantityFault> {
    let expected = "a size of 1 B to 1000 MB such as 64 kB";
    read(text, SIZES, 1.0, 1e9, expected).map(|bytes| bytes as u64)
}

/// A share from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, QuantityFault> {
    read(text, SHARES, 0.0, 1.0, "a share such as 0.1 % or 0.001")
}

fn read(
    text: &str,
    units: Units,
    least: f64,
    most: f64,
    expected: &'static str,
) -> Result<f64, QuantityFault> {
    let fault = || QuantityFault {
        text: text.into(),
        expected,
    };
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let split = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| fault())?;
    let found = units.iter().find(|(name, _)| *name == unit.trim());
    let value = number * found.ok_or_else(fault)?.1;
    match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(fault()),
    }
}

/// A rate with the unit that reads best.
pub(crate) fn rate_text(bits: f64) -> String {
    let (value, unit) = match bits {
        bits if bits >= 1e9 => (bits / 1e9, "Gbit/s"),
        bits if bits >= 1e6 => (bits / 1e6, "Mbit/s"),
        bits if bits >= 1e5 => (bits / 1e3, "kbit/s"),
        bits => (bits, "bit/s"),
    };
    format!("{} {unit}", trimmed(value))
}

/// A span in milliseconds.
pub(crate) fn span_text(nanos: Nanos) -> String {
    format!("{} ms", trimmed(nanos as f64 / 1e6))
}

/// Three decimals at most, and no zeros behind.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(span("15 ms"), Ok(15_000_000));
        assert_eq!(span("0.3ms"), Ok(300_000));
        assert_eq!(rate("14400 B/s"), Ok(115_200));
        assert_eq!(rate("7.2 Mbit/s"), Ok(7_200_000));
        assert_eq!(size("64 kB"), Ok(64_000));
        assert_eq!(share("0.1 %"), Ok(0.001));
        assert_eq!(share("0.5"), Ok(0.5));
    }

    #[test]
    fn what_is_none_is_refused_with_an_example() {
        for text in ["", "ms", "15", "15 m", "-1 ms", "1e3 ms", "2 h", "3601 s"] {
            let said = span(text).map_err(|fault| fault.to_string());
            assert!(said.is_err_and(|said| said.contains("15 ms")), "{text}");
        }
        assert!(rate("0 bit/s").is_err() && rate("101 Gbit/s").is_err());
        assert!(share("101 %").is_err());
    }

    #[test]
    fn what_is_written_reads_well() {
        assert_eq!(rate_text(115_200.0), "115.2 kbit/s");
        assert_eq!(rate_text(7.2e6), "7.2 Mbit/s");
        assert_eq!(span_text(150_000), "0.15 ms");
    }
}
