//! What an undeclared payload is: tried as weir JSON, flat JSON, SenML, plain, else opaque; and, where
//! its beginning leaves no doubt, as Telegraf's line protocol, BSON, an Arrow stream or GWT-RPC.
//!
//! Its first byte says which of these it can be, so that bytes are hardly ever read twice, and
//! broken JSON stays opaque instead of becoming a string. JSON of which a part is wrong is read
//! without that part, which the builder notes.

use crate::error::DecodeError;
use crate::format::Format;
use crate::formats::by_name;
use crate::limits::SNIFFED_PLAIN_BYTES_MAX;
use crate::rows::without_mark;
use alloc::format;
use weir_model::{BatchBuilder, Flaw, FlawKind, Limits};

/// Reads a payload whose format nobody said into an empty builder; `None`: it is opaque, and the
/// builder is empty again.
pub fn sniff(payload: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Option<&'static Format> {
    let text = without_mark(payload).0;
    let begin = *text.trim_ascii_start().first()?;
    let candidates: &[&str] = match begin {
        _ if payload.starts_with(&[0xFF; 4]) => &["arrow"],
        _ if is_a_document(payload) => &["bson"],
        _ if text.starts_with(b"//OK[") => &["gwt"],
        b'{' => &["json"],
        b'[' => &["json", "senml-json"],
        b'<' => &[],
        _ if has_timestamps(text) => &["influx"],
        _ if is_a_line(text) => &["plain"],
        _ => &[],
    };
    let mut candidates = candidates.iter().filter_map(|name| by_name(name));
    let read = candidates.find(|format| reads(format, payload, out, limits));
    match (read, begin) {
        (None, b'{' | b'[') => sniff_json(payload, out, limits, begin == b'['),
        (read, _) => read,
    }
}

/// JSON of which a part is wrong; or an array that is the result of one observation.
#[cold]
fn sniff_json(
    payload: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
    is_array: bool,
) -> Option<&'static Format> {
    let json = by_name("json")?;
    if read_forgiving(json, payload, out, limits).is_ok() && !out.is_empty() {
        return Some(json);
    }
    out.clear();
    let plain = by_name("plain").filter(|_| is_array)?;
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
            let what =
                format!("text that is longer than a line of {SNIFFED_PLAIN_BYTES_MAX} bytes");
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

/// Says whether a payload that calls itself plain text begins with a line of InfluxDB's protocol: Telegraf
/// names its lines no better.
pub fn is_line_protocol(payload: &[u8]) -> bool {
    has_timestamps(without_mark(payload).0)
}

fn reads(format: &Format, payload: &[u8], out: &mut BatchBuilder, limits: &Limits) -> bool {
    let read = (format.decode)(payload, out, limits);
    if read.is_ok() && !out.is_empty() {
        return true;
    }
    out.clear();
    false
}

/// Says whether a payload begins with its own length and ends as documents of BSON do.
fn is_a_document(payload: &[u8]) -> bool {
    let len = payload
        .first_chunk()
        .map(|len| u32::from_le_bytes(*len) as usize);
    len == Some(payload.len()) && payload.ends_with(&[0])
}

#[cfg(feature = "influx")]
use crate::formats::influx::has_timestamps;

#[cfg(not(feature = "influx"))]
fn has_timestamps(_payload: &[u8]) -> bool {
    false
}

/// Says whether a payload is one short line of printable text; senders in C may count its end in.
fn is_a_line(payload: &[u8]) -> bool {
    let end = payload.iter().rposition(|&byte| byte != 0);
    let line = payload[..end.map_or(0, |last| last + 1)].trim_ascii();
    let text = core::str::from_utf8(line);
    line.len() <= SNIFFED_PLAIN_BYTES_MAX
        && text.is_ok_and(|text| !text.chars().any(char::is_control))
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
