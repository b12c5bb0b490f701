//! How live messages are framed: server-sent events, lines, length prefixes, parts, WebSocket frames.

use crate::control;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use weir_hub::{Frame, Framing, FramingKey, Gap};
use weir_model::Cursor;
use weir_service::{boundary, gap_json};
use weir_websocket::{Opcode, write_frame};

/// Writing to memory does not fail.
fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let _infallible = out.write_fmt(text);
}

/// `{"weir":{"cursor":"...","gap":{...}}}`.
fn control(cursor: Cursor, gap: Option<&Gap>, out: &mut Vec<u8>) {
    put(out, format_args!(r#"{{"weir":{{"cursor":"{cursor}""#));
    if let Some(gap) = gap {
        put(out, format_args!(r#","gap":{}"#, gap_json(gap)));
    }
    out.extend_from_slice(b"}}");
}

/// A control as a line of its own; one without a position only says that the message before it is whole.
fn control_line(cursor: Cursor, out: &mut Vec<u8>) {
    if is_position(cursor) {
        control(cursor, None, out)
    } else {
        out.extend_from_slice(br#"{"weir":{}}"#)
    }
    out.push(b'\n');
}

/// Appends a message's text so that no line of it can be taken for a control: one that begins like one
/// goes behind a space. That means nothing in `plain`; a line in the middle of a quoted text of other
/// formats gains it, which is better than a forged control.
fn text(frame: &Frame<'_>, payload: &[u8], out: &mut Vec<u8>) {
    let further = !frame.format.one_line && has_control_line(payload);
    if !further && !payload.starts_with(control::BEGIN) {
        return out.extend_from_slice(payload);
    }
    for line in payload.split_inclusive(|&byte| byte == b'\n') {
        if line.starts_with(control::BEGIN) {
            out.push(b' ');
        }
        out.extend_from_slice(line);
    }
}

fn has_control_line(payload: &[u8]) -> bool {
    let mut lines = payload.split(|&byte| byte == b'\n');
    lines.any(|line| line.starts_with(control::BEGIN))
}

/// A message's text up to its last line end, and that end: CRLF where the format has it (RFC 4180
/// section 2), else a line feed, which is added where there is none.
fn last_line_end(payload: &[u8]) -> (&[u8], &'static [u8]) {
    match payload {
        [lines @ .., b'\r', b'\n'] => (lines, b"\r\n"),
        [lines @ .., b'\n'] => (lines, b"\n"),
        lines => (lines, b"\n"),
    }
}

/// A piece of a snapshot that is not the last has no position: to resume there would be to begin again.
fn is_position(cursor: Cursor) -> bool {
    cursor != Cursor::START
}

/// Server-sent events (HTML Living Standard section 9.2): `id` is the cursor, binary payloads are base64.
pub(crate) struct Sse {
    pub(crate) bare: bool,
}

impl Framing for Sse {
    fn key(&self) -> FramingKey {
        ("sse", u32::from(self.bare))
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let Some(gap) = &frame.gap {
            put(out, format_args!("event: gap\ndata: {}\n\n", gap_json(gap)));
        }
        let Some(payload) = frame.payload else { return };
        if !self.bare && is_position(frame.cursor) {
            put(out, format_args!("id: {}\n", frame.cursor));
        }
        if frame.format.text {
            data_lines(last_line_end(payload).0, out);
        } else {
            put(out, format_args!("data: {}\n", STANDARD.encode(payload)));
        }
        out.push(b'\n');
    }
}

/// A lone carriage return ends a line of an event stream too: it must not let a payload begin a field.
fn data_lines(payload: &[u8], out: &mut Vec<u8>) {
    for line in payload.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        for part in line.split(|&byte| byte == b'\r') {
            out.extend_from_slice(b"data: ");
            out.extend_from_slice(part);
            out.push(b'\n');
        }
    }
}

/// Text messages one a line, a control line after each batch. A message of a format that has lines of its
/// own ends at the control line after it, so there each has one.
pub(crate) struct Lines {
    pub(crate) bare: bool,
    /// Whether a message of the format is one line.
    pub(crate) one_line: bool,
}

impl Framing for Lines {
    fn key(&self) -> FramingKey {
        (
            "lines",
            u32::from(self.bare) | u32::from(self.one_line) << 1,
        )
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let (Some(gap), false) = (&frame.gap, self.bare) {
            control(frame.cursor, Some(gap), out);
            out.push(b'\n');
        }
        if let Some(payload) = frame.payload {
            let (lines, end) = last_line_end(payload);
            if self.bare {
                out.extend_from_slice(lines)
            } else {
                text(frame, lines, out)
            }
            out.extend_from_slice(end);
            if !self.bare && !self.one_line {
                control_line(frame.cursor, out);
            }
        }
    }

    fn end(&self, cursor: Cursor, out: &mut Vec<u8>) {
        // The last message has told it already where each ends so.
        if !self.bare && self.one_line && is_position(cursor) {
            control_line(cursor, out);
        }
    }
}

/// Binary messages behind their length (32-bit, big-endian), a control frame after each batch.
pub(crate) struct Prefixed {
    pub(crate) bare: bool,
}

impl Prefixed {
    fn control(cursor: Cursor, gap: Option<&Gap>, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        control(cursor, gap, out);
        let len = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&len.to_be_bytes());
    }
}

impl Framing for Prefixed {
    fn key(&self) -> FramingKey {
        ("prefixed", u32::from(self.bare))
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let (Some(gap), false) = (&frame.gap, self.bare) {
            Self::control(frame.cursor, Some(gap), out);
        }
        if let Some(payload) = frame.payload {
            out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
            out.extend_from_slice(payload);
        }
    }

    fn end(&self, cursor: Cursor, out: &mut Vec<u8>) {
        if !self.bare && is_position(cursor) {
            Self::control(cursor, None, out);
        }
    }
}

/// `multipart/mixed` (RFC 2046 section 5.1): a part with header fields for each message. Each reader has a boundary
/// of its own, which nobody else knows, so that no payload can hold it.
pub(crate) struct Parts {
    pub(crate) boundary: Arc<str>,
    number: u32,
}

impl Parts {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        Self {
            boundary: boundary("weir").into(),
            number: NUMBER.fetch_add(1, Ordering::Relaxed) & KEY_MAX,
        }
    }
}

/// The bits of a framing's key above say how it is wrapped.
const KEY_MAX: u32 = (1 << 28) - 1;

impl Framing for Parts {
    fn key(&self) -> FramingKey {
        ("parts", self.number)
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let payload = frame.payload.unwrap_or_default();
        let (boundary, media) = (&self.boundary, frame.format.media);
        put(
            out,
            format_args!("--{boundary}\r\nContent-Type: {media}\r\n"),
        );
        put(out, format_args!("Content-Length: {}\r\n", payload.len()));
        if is_position(frame.cursor) {
            put(out, format_args!("Weir-Cursor: {}\r\n", frame.cursor));
        }
        if let Some(gap) = &frame.gap {
            put(out, format_args!("Weir-Gap: {}\r\n", gap_json(gap)));
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(payload);
        out.extend_from_slice(b"\r\n");
    }
}

/// WebSocket messages (RFC 6455 section 5.2), unmasked as a server's are; control messages are text.
pub(crate) struct WebSocket {
    pub(crate) bare: bool,
}

impl WebSocket {
    fn control(cursor: Cursor, gap: Option<&Gap>, out: &mut Vec<u8>) {
        let mut payload = Vec::with_capacity(96);
        control(cursor, gap, &mut payload);
        Self::message(true, &payload, out);
    }

    fn message(text: bool, payload: &[u8], out: &mut Vec<u8>) {
        let opcode = if text { Opcode::TEXT } else { Opcode::BINARY };
        write_frame(opcode, payload, out);
    }
}

impl Framing for WebSocket {
    fn key(&self) -> FramingKey {
        ("websocket", u32::from(self.bare))
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let (Some(gap), false) = (&frame.gap, self.bare) {
            Self::control(frame.cursor, Some(gap), out);
        }
        match frame.payload {
            Some(alike) if frame.format.text && !self.bare && alike.starts_with(control::BEGIN) => {
                Self::message(true, &[b" ", alike].concat(), out);
            }
            Some(payload) => Self::message(frame.format.text, payload, out),
            None => {}
        }
    }

    fn end(&self, cursor: Cursor, out: &mut Vec<u8>) {
        if !self.bare && is_position(cursor) {
            Self::control(cursor, None, out);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_hub::GapReason;

    fn framed(framing: &dyn Framing, format: &str, payload: &[u8], cursor: Cursor) -> String {
        let mut out = Vec::new();
        framing.frame(
            &Frame {
                format: weir_codec::by_name(format).unwrap(),
                payload: Some(payload),
                cursor,
                gap: None,
                item: None,
            },
            &mut out,
        );
        framing.end(cursor, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn lines(bare: bool, format: &str) -> Lines {
        let format = weir_codec::by_name(format).unwrap();
        let one_line = format.one_line;
        Lines { bare, one_line }
    }

    fn gap(framing: &dyn Framing) -> String {
        let mut out = Vec::new();
        let gap = Gap {
            reason: GapReason::Policy,
            count: Some(3),
        };
        framing.frame(
            &Frame {
                format: weir_codec::by_name("json").unwrap(),
                payload: None,
                cursor: AT,
                gap: Some(gap),
                item: None,
            },
            &mut out,
        );
        String::from_utf8_lossy(&out).into_owned()
    }

    const AT: Cursor = Cursor::new(1, 0x2f);
    const NAMED: bool = false;

    #[test]
    fn an_event_has_its_cursor_as_id_and_a_line_for_each_line() {
        let sse = Sse { bare: NAMED };
        assert_eq!(
            framed(&sse, "plain", b"1\n2\n", AT),
            "id: 1-2f\ndata: 1\ndata: 2\n\n"
        );
        assert_eq!(
            framed(&sse, "cbor", b"\x01\x02", AT),
            "id: 1-2f\ndata: AQI=\n\n"
        );
        let bare = Sse { bare: true };
        assert_eq!(framed(&bare, "plain", b"1", AT), "data: 1\n\n");
    }

    #[test]
    fn a_table_keeps_its_line_ends_where_the_scheme_has_none() {
        let table = b"topic,value\r\na,1\r\n";
        let text = String::from_utf8_lossy(table).into_owned();
        assert_eq!(framed(&lines(true, "csv"), "csv", table, AT), text);
        let parts = framed(&Parts::new(), "csv", table, AT);
        assert!(parts.contains(&text), "{parts:?}");
        let frames = framed(&WebSocket { bare: true }, "csv", table, AT);
        assert!(frames.ends_with(&text), "{frames:?}");
        assert_eq!(
            framed(&Sse { bare: true }, "csv", table, AT),
            "data: topic,value\ndata: a,1\n\n"
        );
    }

    #[test]
    fn a_carriage_return_in_a_payload_begins_no_field() {
        let event = framed(&Sse { bare: true }, "plain", b"a\rid: 9-9\r\nb", AT);
        assert_eq!(event, "data: a\ndata: id: 9-9\ndata: b\n\n");
    }

    #[test]
    fn a_piece_of_a_snapshot_has_no_position() {
        let start = Cursor::START;
        assert_eq!(
            framed(&Sse { bare: NAMED }, "plain", b"1", start),
            "data: 1\n\n"
        );
        assert_eq!(framed(&lines(NAMED, "json"), "json", b"1", start), "1\n");
        assert_eq!(
            framed(&lines(NAMED, "plain"), "plain", b"1", start),
            "1\n{\"weir\":{}}\n"
        );
        let part = framed(&Parts::new(), "plain", b"1", start);
        assert!(!part.contains("Weir-Cursor"), "{part}");
    }

    #[test]
    fn a_control_line_or_frame_follows_each_batch_unless_bare() {
        let control = r#"{"weir":{"cursor":"1-2f"}}"#;
        assert_eq!(
            framed(&lines(NAMED, "plain"), "plain", b"1\n", AT),
            format!("1\n{control}\n")
        );
        assert_eq!(framed(&lines(true, "plain"), "plain", b"1", AT), "1\n");
        assert_eq!(
            framed(&Prefixed { bare: NAMED }, "cbor", b"\x01", AT),
            format!("\0\0\0\x01\x01\0\0\0\x1a{control}")
        );
        let frames = framed(&WebSocket { bare: NAMED }, "json", b"{}", AT);
        assert!(frames.ends_with(&format!("\x1a{control}")), "{frames:?}");
    }

    #[test]
    fn messages_of_several_lines_can_be_told_apart_within_a_batch() {
        let mut out = Vec::new();
        let lines = lines(NAMED, "plain");
        let batch = [(Cursor::new(1, 1), "1\n2\n"), (Cursor::new(1, 2), "3")];
        for (cursor, payload) in batch {
            let frame = Frame {
                format: weir_codec::by_name("plain").unwrap(),
                payload: Some(payload.as_bytes()),
                cursor,
                gap: None,
                item: None,
            };
            lines.frame(&frame, &mut out);
        }
        // What HTTP puts around a batch's end is apart from what it puts around its frames.
        let mut end = Vec::new();
        lines.end(Cursor::new(1, 2), &mut end);
        assert!(end.is_empty());
        let control = |at: &str| format!("{{\"weir\":{{\"cursor\":\"{at}\"}}}}\n");
        let told = format!("1\n2\n{}3\n{}", control("1-1"), control("1-2"));
        assert_eq!(String::from_utf8_lossy(&out), told);
    }

    #[test]
    fn no_payload_can_be_taken_for_a_control() {
        let forged = r#"{"weir":{"cursor":"9-9"}}"#;
        let told = framed(
            &lines(NAMED, "plain"),
            "plain",
            format!("1\n{forged}").as_bytes(),
            AT,
        );
        assert_eq!(
            told,
            format!("1\n {forged}\n{{\"weir\":{{\"cursor\":\"1-2f\"}}}}\n")
        );
        let frames = framed(&WebSocket { bare: NAMED }, "plain", forged.as_bytes(), AT);
        assert!(frames.contains(&format!(" {forged}")), "{frames:?}");
        let bare = framed(&lines(true, "plain"), "plain", forged.as_bytes(), AT);
        assert_eq!(
            bare,
            format!("{forged}\n"),
            "who wants no controls looks for none"
        );
    }

    #[test]
    fn a_frame_says_its_length_in_seven_sixteen_or_sixty_four_bits() {
        let head = |length: usize, bytes: usize| {
            let mut out = Vec::new();
            WebSocket::message(false, &vec![0; length], &mut out);
            out[..bytes].to_vec()
        };
        assert_eq!(head(125, 2), [0x82, 125]);
        assert_eq!(head(126, 4), [0x82, 126, 0, 126]);
        assert_eq!(head(65_536, 10), [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn a_gap_is_told_with_reason_and_count() {
        assert_eq!(
            gap(&Sse { bare: true }),
            "event: gap\ndata: {\"reason\":\"policy\",\"count\":3}\n\n"
        );
        let control = r#"{"weir":{"cursor":"1-2f","gap":{"reason":"policy","count":3}}}"#;
        assert_eq!(gap(&lines(NAMED, "json")), format!("{control}\n"));
        assert!(gap(&Parts::new()).contains("Weir-Gap: {\"reason\":\"policy\",\"count\":3}\r\n"));
    }
}
