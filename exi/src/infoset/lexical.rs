//! Whether two texts are one value of some datatype of XML Schema.

use alloc::string::String;
use alloc::vec::Vec;

/// Whether two texts can be the same value: the same text but for white space, or the same boolean, number,
/// instant, bytes, or list of such.
pub fn same_value(one: &str, two: &str) -> bool {
    if one == two {
        return true;
    }
    let (one, two) = (tokens(one), tokens(two));
    if one.concat() == two.concat() && one.len() == two.len() {
        return true;
    }
    if one.len() == two.len() && one.iter().zip(&two).all(|(one, two)| same_token(one, two)) {
        return true;
    }
    // Bytes may be divided by white space.
    same_bytes(&one.concat(), &two.concat())
}

fn tokens(text: &str) -> Vec<&str> {
    text.split([' ', '\t', '\n', '\r'])
        .filter(|token| !token.is_empty())
        .collect()
}

fn same_token(one: &str, two: &str) -> bool {
    one == two
        || same(boolean(one), boolean(two))
        || same(number(one), number(two))
        || same(instant(one), instant(two))
        || same_bytes(one, two)
}

fn same<T: PartialEq>(one: Option<T>, two: Option<T>) -> bool {
    one.is_some() && one == two
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Sign, digits without zeros around them, and the power of ten of the last digit.
#[derive(PartialEq, Eq)]
struct Number {
    negative: bool,
    digits: String,
    exponent: i64,
}

fn number(text: &str) -> Option<Number> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "INF" || rest == "NaN" {
        return Some(Number {
            negative,
            digits: rest.into(),
            exponent: 0,
        });
    }
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent = exponent
        .parse::<i64>()
        .ok()?
        .checked_sub(fraction.len() as i64)?;
    let significant = digits.trim_end_matches('0');
    let exponent = exponent.checked_add((digits.len() - significant.len()) as i64)?;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some(Number {
            negative: false,
            digits: String::new(),
            exponent: 0,
        });
    }
    Some(Number {
        negative,
        digits: significant.into(),
        exponent,
    })
}

/// A date, a time or a part of them, with its fraction of a second in canonical form.
fn instant(text: &str) -> Option<String> {
    let dashes = text.trim_start_matches('-');
    let shaped = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"-:.TZ+".contains(&byte));
    if !shaped || dashes.len() < 2 || !text.contains(['-', ':']) {
        return None;
    }
    let (before, zone) = divided(text);
    let before = match before.split_once('.') {
        Some((whole, fraction)) => {
            let fraction = fraction.trim_end_matches('0');
            let mark = if fraction.is_empty() { "" } else { "." };
            [whole, mark, fraction].concat()
        }
        None => before.into(),
    };
    let zone = match zone {
        "+00:00" | "-00:00" => "Z",
        zone => zone,
    };
    Some([&*before, zone].concat())
}

/// A time zone, cut off.
fn divided(text: &str) -> (&str, &str) {
    if let Some(before) = text.strip_suffix('Z') {
        return (before, "Z");
    }
    let at = text.len().saturating_sub(6);
    match text.as_bytes().get(at..) {
        Some([b'+' | b'-', _, _, b':', _, _]) => text.split_at(at),
        _ => (text, ""),
    }
}

/// Whether two texts are the same bytes in hexadecimal, or base64.
fn same_bytes(one: &str, two: &str) -> bool {
    let hex = |text: &str| {
        text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    hex(one) && hex(two) && one.eq_ignore_ascii_case(two) || one == two && !one.is_empty()
}
