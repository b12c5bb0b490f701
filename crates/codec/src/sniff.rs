//! What an undeclared payload is: of the format that recognises it most surely, else opaque.
//!
//! A format's row says how it is recognised; the beginning says that of most, so that bytes are hardly
//! ever read twice, and broken JSON stays opaque instead of becoming a string. JSON of which a part is
//! wrong is read without that part, which the builder notes.

use crate::error::DecodeError;
use crate::format::{Confidence, Format};
use crate::formats::{FORMATS, by_name};
use crate::limits::SNIFFED_PLAIN_BYTES_MAX;
use crate::rows::{begins_with, without_mark};
use alloc::format;
use weir_model::{BatchBuilder, Flaw, FlawKind, Limits};

/// Reads a payload whose format nobody said into an empty builder; `None`: it is opaque, and the
/// builder is empty again.
pub fn sniff(payload: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Option<&'static Format> {
    let mut surest = Confidence::None;
    for format in FORMATS {
        let confidence = format.confidence(payload);
        if confidence == Confidence::Certain && reads(format, payload, out, limits) {
            return Some(format);
        }
        surest = surest.max(confidence);
    }
    match surest {
        Confidence::Certain => sniff_json(payload, out, limits),
        Confidence::None => None,
        // XML is read where its format is said.
        _ if begins_with(payload, b"<") => None,
        _ => {
            let mut alike = FORMATS
                .iter()
                .filter(|format| format.confidence(payload) == surest);
            alike.find(|format| reads(format, payload, out, limits))
        }
    }
}

/// JSON of which a part is wrong; or an array that is the result of one observation.
#[cold]
fn sniff_json(payload: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Option<&'static Format> {
    let json = by_name("json").filter(|_| begins_with(payload, b"{["))?;
    if read_forgiving(json, payload, out, limits).is_ok() && !out.is_empty() {
        return Some(json);
    }
    out.clear();
    let plain = by_name("plain").filter(|_| begins_with(payload, b"["))?;
    if reads(plain, payload, out, limits) && is_a_tree(out) {
        return Some(plain);
    }
    out.clear();
    None
}

fn is_a_tree(out: &BatchBuilder) -> bool {
    out.len() == 1 && matches!(out.batch().value(0), weir_model::Value::Json(_))
}

/// Reads what a format can of a message into an empty builder: all of it, or, where a part is wrong, the rest,
/// and the builder notes what is left out. The error is of the whole.
pub fn read_forgiving(
    format: &Format,
    payload: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let Err(error) = (format.decode)(payload, out, limits) else {
        return Ok(());
    };
    out.clear();
    out.forgive();
    match (format.decode)(payload, out, limits) {
        Ok(()) if !out.is_empty() => Ok(()),
        _ => {
            out.clear();
            Err(error)
        }
    }
}

/// Why a payload whose format nobody said is none of them, as far as can be told.
pub fn unreadable(payload: &[u8]) -> Flaw {
    let text = without_mark(payload).0;
    let is_odd = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    match core::str::from_utf8(text) {
        Ok(_) if text.trim_ascii_start().starts_with(b"<") => {
            Flaw::new(FlawKind::Text, "XML is read where its format is said")
        }
        Ok(_) if !text.iter().any(is_odd) => {
            let what = match text.trim_ascii() {
                b"" => "nothing but white space".into(),
                text if text.contains(&b'\n') => "lines of which some are in no format".into(),
                _ => format!("text that is longer than a line of {SNIFFED_PLAIN_BYTES_MAX} bytes"),
            };
            Flaw::new(FlawKind::Text, what)
        }
        Err(error) if is_nearly_text(text) => {
            let what = format!("text that is not UTF-8 at byte {}", error.valid_up_to());
            Flaw::new(FlawKind::Text, what)
        }
        _ => Flaw::new(FlawKind::Bytes, "bytes that are none of the formats"),
    }
}

/// Whether bytes are text but for a few, as Latin-1 is.
fn is_nearly_text(bytes: &[u8]) -> bool {
    let is_of_text = |byte: &&u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let is_odd = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let of_text = bytes.iter().filter(is_of_text).count();
    of_text * 4 >= bytes.len() * 3 && !bytes.iter().any(is_odd)
}

fn reads(format: &Format, payload: &[u8], out: &mut BatchBuilder, limits: &Limits) -> bool {
    let read = (format.decode)(payload, out, limits);
    if read.is_ok() && !out.is_empty() {
        return true;
    }
    out.clear();
    false
}

#[cfg(all(test, feature = "all"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::format;
    use alloc::string::String;

    fn seen(payload: &[u8]) -> String {
        let mut builder = BatchBuilder::new();
        let format = sniff(payload, &mut builder, &Limits::default());
        format!(
            "{} {}",
            format.map_or("opaque", |format| format.name),
            builder.len()
        )
    }

    #[test]
    fn a_payload_says_what_it_is() {
        assert_eq!(
            seen(br#"{"observations":[{"value":1},{"value":2}]}"#),
            "json 2"
        );
        assert_eq!(seen(br#"{"temperature":21.5,"humidity":40}"#), "json 2");
        assert_eq!(seen(br#"[{"value":1}]"#), "json 1");
        assert_eq!(
            seen(br#"[{"n":"urn:dev:ow:10e2073a01080063","u":"Cel","v":23.1}]"#),
            "senml-json 1"
        );
        assert_eq!(seen(b"[1,2,3]"), "plain 1");
        assert_eq!(seen(b"[]"), "plain 1");
        assert_eq!(seen(b"21.5\n"), "plain 1");
        assert_eq!(seen(b"open"), "plain 1");
    }

    #[test]
    fn a_beginning_that_leaves_no_doubt_is_believed() {
        let sample = crate::sample::message(1, 0);
        for name in ["arrow", "bson", "gwt", "influx"] {
            let mut payload = alloc::vec::Vec::new();
            (by_name(name).unwrap().encode)(&sample, &mut payload);
            assert_eq!(seen(&payload), format!("{name} 7"));
            payload.insert(0, b'!');
            assert_ne!(seen(&payload), format!("{name} 7"));
        }
        let telegraf = b"mem,host=a free=3i,used=4i 1795167660250000000\n";
        assert_eq!(seen(telegraf), "influx 2");
        assert_eq!(seen(b"mem free=3"), "plain 1");
    }

    #[test]
    fn what_is_none_of_the_formats_is_opaque() {
        for payload in [
            &b"\x00\x01"[..],
            b"",
            b"  ",
            b"{",
            b"{}",
            b"[1,",
            b"<a/>",
            b"a\nb",
            b"\xff\xfe",
        ] {
            assert_eq!(seen(payload), "opaque 0", "{payload:?}");
        }
        assert_eq!(seen(&[b'a'; SNIFFED_PLAIN_BYTES_MAX + 1]), "opaque 0");
    }
}
