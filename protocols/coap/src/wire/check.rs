//! Options against what is known of them: what must be refused, what is passed over.

use super::option::{Number, Shape};
use super::options::{Options, RawOption, RawOptions};
use core::fmt;
use core::str::from_utf8;

/// Why a message's options cannot be acted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A critical option that is not known, malformed or one too many: 4.02 (RFC 7252 section 5.4).
    Option(Number),
    /// An option that asks for a proxy: 5.05 (RFC 7252 section 5.10.2).
    Proxy(Number),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, reason) = match self {
            Refusal::Option(number) => (number, "is not understood as it stands"),
            Refusal::Proxy(number) => (number, "asks for a proxy, which this is not"),
        };
        match number.definition() {
            Some(known) => write!(f, "option {} ({}) {reason}", number.0, known.name),
            None => write!(f, "option {} {reason}", number.0),
        }
    }
}

/// The options of a request without what is to be passed over, or why they must be refused.
// [RFC7252-5.7.2-1] [RFC7252-5.10.2-2]
pub fn check_request(raw: &RawOptions<'_>) -> Result<Options, Refusal> {
    check(raw, |option| match option.number {
        // [RFC7252-5.10.2-1]
        Number::PROXY_URI | Number::PROXY_SCHEME => Err(Refusal::Proxy(option.number)),
        _ => Ok(()),
    })
}

/// The same of a response: critical options that are defined for requests only are not understood in it.
// [RFC7252-5.4-1]
pub fn check_response(raw: &RawOptions<'_>) -> Result<Options, Refusal> {
    check(raw, |option| match option.number {
        Number::IF_MATCH
        | Number::IF_NONE_MATCH
        | Number::URI_HOST
        | Number::URI_PORT
        | Number::URI_PATH
        | Number::URI_QUERY
        | Number::ACCEPT
        | Number::PROXY_URI
        | Number::PROXY_SCHEME => Err(Refusal::Option(option.number)),
        _ => Ok(()),
    })
}

// [RFC7252-5.4.1-1] [RFC7252-5.4.1-2] [RFC7252-5.4.3-1] [RFC7252-5.4.5-1]
fn check(
    raw: &RawOptions<'_>,
    extra: impl Fn(&RawOption<'_>) -> Result<(), Refusal>,
) -> Result<Options, Refusal> {
    let mut before = None;
    let mut passed_over = false;
    for option in raw.iter() {
        extra(&option)?;
        if !is_fine(&option, before) {
            if option.number.is_critical() {
                return Err(Refusal::Option(option.number));
            }
            passed_over = true;
        }
        before = Some(option.number);
    }
    Ok(if passed_over {
        without_unfine(raw)
    } else {
        Options::of_checked(raw, before.map_or(0, |number: Number| number.0))
    })
}

fn without_unfine(raw: &RawOptions<'_>) -> Options {
    let mut options = Options::new();
    let mut before = None;
    for option in raw.iter() {
        if is_fine(&option, before) {
            options.push(option.number, option.value);
        }
        before = Some(option.number);
    }
    options
}

/// Says whether an option is known, of the right length and shape, and not one too many.
// [RFC7252-3.2-3]
fn is_fine(option: &RawOption<'_>, before: Option<Number>) -> bool {
    let Some(known) = option.number.definition() else {
        return false;
    };
    let length = option.value.len();
    let supernumerary = !known.repeatable && before == Some(option.number);
    let shaped = match known.shape {
        Shape::String => from_utf8(option.value).is_ok(),
        _ => true,
    };
    (known.min..=known.max).contains(&length) && !supernumerary && shaped && !is_dots(option)
}

/// A segment that a relative reference would mean something by (RFC 7252 section 5.10.1).
// [RFC7252-5.10.1-1]
fn is_dots(option: &RawOption<'_>) -> bool {
    let paths = [Number::URI_PATH, Number::LOCATION_PATH];
    paths.contains(&option.number) && matches!(option.value, b"." | b"..")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::vec::Vec;

    fn checked(pairs: &[(u16, &[u8])]) -> Result<Vec<u16>, Refusal> {
        let mut options = Options::new();
        pairs
            .iter()
            .for_each(|&(number, value)| options.push(Number(number), value));
        let (raw, _) = RawOptions::split(options.as_bytes(), 0).unwrap();
        let kept = check_request(&raw)?;
        Ok(kept.iter().map(|option| option.number.0).collect())
    }

    /// [RFC7252-5.4.1-1] [RFC7252-5.4.1-2]
    #[test]
    fn an_unknown_option_is_refused_only_where_critical() {
        assert_eq!(checked(&[(9, b"")]), Err(Refusal::Option(Number(9))));
        assert_eq!(checked(&[(11, b"a"), (10, b"x")]).unwrap(), [11]);
        assert_eq!(checked(&[(31, b"")]), Err(Refusal::Option(Number(31))));
    }

    /// [RFC7252-5.4-1]
    #[test]
    fn what_is_defined_for_requests_is_not_understood_in_responses() {
        for number in [1, 3, 5, 7, 11, 15, 17, 35, 39] {
            let mut options = Options::new();
            let length = Number(number).definition().unwrap().min;
            options.push(Number(number), &b"x"[..length]);
            let (raw, _) = RawOptions::split(options.as_bytes(), 0).unwrap();
            assert_eq!(check_response(&raw), Err(Refusal::Option(Number(number))));
        }
    }

    /// [RFC7252-5.4.3-1] [RFC7252-3.2-3]
    #[test]
    fn a_length_outside_the_table_counts_as_unknown() {
        assert_eq!(checked(&[(3, b"")]), Err(Refusal::Option(Number(3))));
        assert_eq!(checked(&[(17, b"abc")]), Err(Refusal::Option(Number(17))));
        assert_eq!(
            checked(&[(14, b"12345"), (4, b"123456789")]).unwrap(),
            [0; 0]
        );
        assert_eq!(
            checked(&[(11, &[0xff])]),
            Err(Refusal::Option(Number::URI_PATH))
        );
    }

    /// [RFC7252-5.4.5-1] [RFC7959-2.1-1]
    #[test]
    fn one_too_many_counts_as_unknown() {
        assert_eq!(
            checked(&[(17, b"a"), (17, b"b")]),
            Err(Refusal::Option(Number::ACCEPT))
        );
        assert_eq!(checked(&[(14, b"a"), (14, b"b")]).unwrap(), [14]);
        assert_eq!(checked(&[(11, b"a"), (11, b"a")]).unwrap(), [11, 11]);
    }

    /// [RFC7252-5.10.1-1] [RFC7252-5.10.2-1]
    #[test]
    fn dots_in_a_path_and_proxying_are_refused() {
        assert_eq!(
            checked(&[(11, b"..")]),
            Err(Refusal::Option(Number::URI_PATH))
        );
        assert_eq!(
            checked(&[(35, b"coap://a/")]),
            Err(Refusal::Proxy(Number::PROXY_URI))
        );
        assert_eq!(
            checked(&[(39, b"http")]),
            Err(Refusal::Proxy(Number::PROXY_SCHEME))
        );
    }
}
