//! From when to when a certificate holds: all that is read of X.509 here by ourselves.
//!
//! rustls checks certificates but does not say when they end, and whoever renews or warns needs nothing
//! else of them. What it deliberately does not do: check anything.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// From when to when, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// It counts from then on.
    pub from: i64,
    /// It counts up to then.
    pub until: i64,
}

/// Reads the first certificate of a text in PEM; `None` where there is none, or it is none of X.509.
pub fn validity(pem: &[u8]) -> Option<Validity> {
    let certificate = CertificateDer::from_pem_slice(pem).ok()?;
    of_der(&certificate)
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
/// `[0]`, which holds the version.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// RFC 5280 section 4.1: a certificate holds what is signed first, and that its validity fifth, behind
/// version, serial number, algorithm and issuer.
fn of_der(der: &[u8]) -> Option<Validity> {
    let (mut certificate, _) = value(der, SEQUENCE)?;
    let mut signed = take(&mut certificate, SEQUENCE)?;
    if signed.first() == Some(&VERSION) {
        take(&mut signed, VERSION)?;
    }
    take(&mut signed, INTEGER)?;
    take(&mut signed, SEQUENCE)?;
    take(&mut signed, SEQUENCE)?;
    let mut validity = take(&mut signed, SEQUENCE)?;
    let from = time(&mut validity)?;
    let until = time(&mut validity)?;
    Some(Validity { from, until })
}

/// The value of this tag at the beginning, which is then behind it.
fn take<'d>(der: &mut &'d [u8], tag: u8) -> Option<&'d [u8]> {
    let (value, rest) = value(der, tag)?;
    *der = rest;
    Some(value)
}

/// The value of this tag (ITU-T X.690 section 8.1), and what follows.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
            let more = |length: usize, digit: &u8| length << 8 | usize::from(*digit);
            (digits.iter().fold(0, more), rest)
        }
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(length)?;
    (found == tag).then_some((value, rest))
}

/// RFC 5280 section 4.1.2.5: `YYMMDDHHMMSSZ` of 1950 to 2049, or `YYYYMMDDHHMMSSZ`.
fn time(der: &mut &[u8]) -> Option<i64> {
    let (year, digits) = match *der.first()? {
        UTC_TIME => {
            let text = take(der, UTC_TIME)?;
            let (year, rest) = text.split_at_checked(2)?;
            let year = number(year)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        _ => {
            let text = take(der, GENERALIZED_TIME)?;
            let (year, rest) = text.split_at_checked(4)?;
            (number(year)?, rest)
        }
    };
    let (digits, zone) = digits.split_at_checked(10)?;
    let pair = |at: usize| number(&digits[2 * at..2 * at + 2]);
    let day = days(year, pair(0)?, pair(1)?)?;
    (zone == b"Z").then_some(())?;
    Some(day * 86_400 + pair(2)? * 3600 + pair(3)? * 60 + pair(4)?)
}

fn number(digits: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(digits).ok()?;
    let are_digits = digits.iter().all(u8::is_ascii_digit);
    are_digits.then(|| text.parse().ok())?
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is their last.
    let year = if month < 3 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leaps + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn made(from: (i32, u8, u8), until: (i32, u8, u8)) -> String {
        let mut wanted = rcgen::CertificateParams::new(vec!["a.example".to_owned()]).unwrap();
        wanted.not_before = rcgen::date_time_ymd(from.0, from.1, from.2);
        wanted.not_after = rcgen::date_time_ymd(until.0, until.1, until.2);
        let key = rcgen::KeyPair::generate().unwrap();
        wanted.self_signed(&key).unwrap().pem()
    }

    #[test]
    fn both_ways_to_write_a_time_are_read() {
        let pem = made((2024, 2, 29), (2026, 1, 2));
        let expected = Validity {
            from: 1_709_164_800,
            until: 1_767_312_000,
        };
        assert_eq!(validity(pem.as_bytes()), Some(expected));
        let far = made((1970, 1, 1), (2100, 3, 1)).into_bytes();
        let expected = Validity {
            from: 0,
            until: 4_107_542_400,
        };
        assert_eq!(validity(&far), Some(expected));
    }

    #[test]
    fn what_is_cut_short_or_changed_harms_nobody() {
        assert_eq!(validity(b"nonsense"), None);
        let pem = made((2024, 2, 29), (2026, 1, 2));
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        for end in 0..der.len() {
            of_der(&der[..end]);
        }
        for at in 0..der.len() {
            let mut other = der.to_vec();
            other[at] ^= 0xff;
            of_der(&other);
        }
    }
}
