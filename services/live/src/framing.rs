//! How live messages are framed: server-sent events, lines, length prefixes, parts, WebSocket frames.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::Write;
use weir_hub::{Frame, Framing, FramingKey, Gap};
use weir_model::Cursor;

/// A gap as JSON: `{"reason":"policy","count":3}`.
pub(crate) fn gap_json(gap: &Gap) -> String {
    let reason = gap.reason.name();
    match gap.count {
        Some(count) => format!(r#"{{"reason":"{reason}","count":{count}}}"#),
        None => format!(r#"{{"reason":"{reason}"}}"#),
    }
}

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
            data_lines(payload.trim_ascii_end(), out);
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

/// Text messages one a line (more where the format has lines of its own), a control line after each batch.
pub(crate) struct Lines {
    pub(crate) bare: bool,
}

impl Framing for Lines {
    fn key(&self) -> FramingKey {
        ("lines", u32::from(self.bare))
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        if let (Some(gap), false) = (&frame.gap, self.bare) {
            control(frame.cursor, Some(gap), out);
            out.push(b'\n');
        }
        if let Some(payload) = frame.payload {
            out.extend_from_slice(payload.trim_ascii_end());
            out.push(b'\n');
        }
    }

    fn end(&self, cursor: Cursor, out: &mut Vec<u8>) {
        if !self.bare && is_position(cursor) {
            control(cursor, None, out);
            out.push(b'\n');
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

/// The boundary of [`Parts`].
pub(crate) const BOUNDARY: &str = "weir-part";

/// `multipart/mixed` (RFC 2046 section 5.1): a part with header fields for each message.
pub(crate) struct Parts;

impl Framing for Parts {
    fn key(&self) -> FramingKey {
        ("parts", 0)
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        let payload = frame.payload.unwrap_or_default();
        put(
            out,
            format_args!("--{BOUNDARY}\r\nContent-Type: {}\r\n", frame.format.media),
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
        out.push(if text { 0x81 } else { 0x82 });
        match payload.len() {
            len @ ..126 => out.push(len as u8),
            len @ 126..=0xffff => {
                out.push(126);
                out.extend_from_slice(&(len as u16).to_be_bytes());
            }
            len => {
                out.push(127);
                out.extend_from_slice(&(len as u64).to_be_bytes());
            }
        }
        out.extend_from_slice(payload);
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
        if let Some(payload) = frame.payload {
            Self::message(frame.format.text, payload, out);
        }
    }

    fn end(&self, cursor: Cursor, out: &mut Vec<u8>) {
        if !self.bare && is_position(cursor) {
            Self::control(cursor, None, out);
        }
    }
}
