//! What a JSON text says, however it is written: `1.0` is `1`, and `"\u00e9"` is `"é"`.
//!
//! The order of members counts, since every format keeps it, and so does the sign of a zero. Numbers are
//! as exact as they are written, or as what carried them can hold.

use crate::error::DecodeError;
use crate::format::Carries;
use crate::number::{as_integer, write_f64};
use crate::syntax::json::Json;
use crate::syntax::json_text::write_string;
use crate::syntax::{DEPTH_MAX, Exact, Key, Kind, Pull};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weir_model::Limits;

/// None but for the depth.
pub(crate) const LIMITS: Limits = Limits {
    message_bytes: usize::MAX,
    observations: usize::MAX,
    depth: DEPTH_MAX,
    text_bytes: usize::MAX,
};

/// The text that stands for all that say the same once they were carried; what is no JSON is left.
pub(crate) fn normal(json: &str, carries: &Carries) -> String {
    let mut out = Vec::with_capacity(json.len());
    let mut pull = Json::new(json, &LIMITS);
    let written = write(&mut pull, carries, &mut out).and_then(|()| pull.finish());
    match (written, String::from_utf8(out)) {
        (Ok(()), Ok(text)) => text,
        _ => json.into(),
    }
}

fn write(json: &mut Json<'_>, carries: &Carries, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    match json.peek()? {
        Kind::Map => write_map(json, carries, out),
        Kind::Array => write_array(json, carries, out),
        Kind::Text => {
            write_string(json.text()?, out);
            Ok(())
        }
        Kind::Number => {
            out.extend_from_slice(number(json, carries)?.as_bytes());
            Ok(())
        }
        Kind::Bool => {
            out.push(if json.bool()? { b't' } else { b'f' });
            Ok(())
        }
        _ => {
            out.push(b'n');
            json.null()
        }
    }
}

fn write_map(json: &mut Json<'_>, carries: &Carries, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    out.push(b'{');
    let mut map = json.map()?;
    while let Some(key) = json.key(&mut map)? {
        match key {
            Key::Text(name) if !carries.nul && name.contains('\0') => {
                write_string(&name.replace('\0', "\u{FFFD}"), out);
            }
            Key::Text(name) => write_string(name, out),
            // JSON has no such names.
            Key::Number(_) => {}
        }
        out.push(b':');
        write(json, carries, out)?;
        out.push(b',');
    }
    out.push(b'}');
    Ok(())
}

fn write_array(
    json: &mut Json<'_>,
    carries: &Carries,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    out.push(b'[');
    let mut array = json.array()?;
    while json.item(&mut array)? {
        write(json, carries, out)?;
        out.push(b',');
    }
    out.push(b']');
    Ok(())
}

fn number(json: &mut Json<'_>, carries: &Carries) -> Result<String, DecodeError> {
    let start = json.mark();
    let text = json.number_text()?;
    json.rewind(start);
    Ok(match json.exact()? {
        // Where no such integer is, its digits are a text.
        Exact::Whole(number) if !carries.integers && number as f64 as i128 != number => {
            alloc::format!("\"{text}\"")
        }
        Exact::Whole(number) if !carries.integers => double(number as f64),
        Exact::Double(number) if !carries.digits => double(number),
        _ => exactly(text),
    })
}

/// A double as it comes back: whole ones may have gone as integers.
fn double(number: f64) -> String {
    if let Some(whole) = as_integer(number) {
        return exactly(&whole.to_string());
    }
    let mut text = Vec::new();
    write_f64(number, &mut text);
    exactly(core::str::from_utf8(&text).unwrap_or_default())
}

/// A number of JSON as its sign, its digits from the first to the last that is not zero, and a power of ten.
fn exactly(text: &str) -> String {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let sign = if whole.starts_with('-') { "-" } else { "" };
    let digits = whole.trim_start_matches('-').to_string() + fraction;
    let short = digits.trim_end_matches('0');
    let significant = short.trim_start_matches('0');
    if significant.is_empty() {
        return sign.to_string() + "0";
    }
    // Longer ones than this are no finite numbers, unless a longer row of zeros stands before them.
    let exponent = exponent.parse::<i64>().unwrap_or(i64::from(i32::MIN));
    let power = exponent - fraction.len() as i64 + (digits.len() - short.len()) as i64;
    alloc::format!("{sign}{significant}e{power}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_say_the_same_are_the_same_and_others_are_not() {
        for (one, other, same) in [
            (r#"["\u00e9\/\ud83d\ude00"]"#, r#"["é/😀"]"#, true),
            ("[1.0,1e2,-0.0]", "[1,100,-0]", true),
            ("[0.10,1E-1,100e-3]", "[0.1,0.1,0.1]", true),
            ("[0]", "[-0]", false),
            ("[9007199254740993]", "[9007199254740992]", false),
            ("[0.1]", "[0.10000000000000000001]", false),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, false),
            (r#"{"a":[true,null]}"#, r#"{ "a" : [ true , null ] }"#, true),
        ] {
            let equal = normal(one, &Carries::ALL) == normal(other, &Carries::ALL);
            assert_eq!(equal, same, "{one} {other}");
        }
    }

    #[test]
    fn what_carried_a_number_says_how_exact_it_is() {
        let doubles = Carries {
            integers: false,
            ..Carries::TREE
        };
        for (one, other, all, tree, double) in [
            (
                "[9007199254740993]",
                "[9007199254740992]",
                false,
                false,
                false,
            ),
            ("[0.1]", "[0.10000000000000000001]", false, true, true),
            (
                "[18446744073709551615]",
                "[18446744073709551614]",
                false,
                false,
                false,
            ),
            (
                "[18446744073709551616]",
                "[18446744073709551617]",
                false,
                true,
                true,
            ),
            ("[1]", "[1.5]", false, false, false),
            (
                "[9007199254740993]",
                "[\"9007199254740993\"]",
                false,
                false,
                true,
            ),
        ] {
            for (carries, same) in [
                (&Carries::ALL, all),
                (&Carries::TREE, tree),
                (&doubles, double),
            ] {
                let equal = normal(one, carries) == normal(other, carries);
                assert_eq!(equal, same, "{one} {other} {carries:?}");
            }
        }
    }
}
