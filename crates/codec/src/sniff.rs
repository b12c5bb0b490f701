//! What an undeclared payload is: tried as weir JSON, flat JSON, SenML, plain, else opaque; and, where
//! its beginning leaves no doubt, as Telegraf's line protocol, BSON, an Arrow stream or GWT-RPC.
//!
//! Its first byte says which of these it can be, so that bytes are hardly ever read twice, and
//! broken JSON stays opaque instead of becoming a string.

use crate::format::Format;
use crate::formats::by_name;
use crate::limits::SNIFFED_PLAIN_BYTES_MAX;
use weir_model::{BatchBuilder, Limits};

/// Reads a payload whose format nobody said into an empty builder; `None`: it is opaque, and the
/// builder is empty again.
pub fn sniff(payload: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Option<&'static Format> {
    let candidates: &[&str] = match payload.trim_ascii_start().first()? {
        _ if payload.starts_with(&[0xFF; 4]) => &["arrow"],
        _ if is_a_document(payload) => &["bson"],
        _ if payload.starts_with(b"//OK[") => &["gwt"],
        b'{' => &["json"],
        // An array that is neither is the result of one observation.
        b'[' => &["json", "senml-json", "plain"],
        b'<' => &[],
        _ if has_timestamps(payload) => &["influx"],
        _ if is_a_line(payload) => &["plain"],
        _ => &[],
    };
    let candidates = candidates.iter().filter_map(|name| by_name(name));
    let mut readable = candidates.filter(|format| reads(format, payload, out, limits));
    readable.next()
}

/// Says whether a payload that calls itself plain text begins with a line of InfluxDB's protocol: Telegraf
/// names its lines no better.
pub fn is_line_protocol(payload: &[u8]) -> bool {
    has_timestamps(payload)
}

fn reads(format: &Format, payload: &[u8], out: &mut BatchBuilder, limits: &Limits) -> bool {
    let read = (format.decode)(payload, out, limits).is_ok();
    let bracket_kept = format.name == "plain" && payload.trim_ascii_start().starts_with(b"[");
    let is_tree = || matches!(out.batch().value(0), weir_model::Value::Json(_));
    if read && !out.is_empty() && (!bracket_kept || (out.len() == 1 && is_tree())) {
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

/// Says whether a payload is one short line of printable text.
fn is_a_line(payload: &[u8]) -> bool {
    let line = payload.trim_ascii();
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
