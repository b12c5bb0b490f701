//! What is sent, as functions of what is published: heads, pages, notifications in their framing.

use crate::features::{ANSWERS, PAGES, STREAMING, VALUES};
use crate::limits::SMALLEST;
use crate::slice::Slice;

/// Statuses that have no body. What a status means is said by its code alone: a reason is for nobody to read
/// (RFC 9112 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    NoContent,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    NotAcceptable,
    RequestTimeout,
    ContentTooLarge,
    VersionNotSupported,
}

/// Their codes, in the order of their numbers in a record.
const CODES: [u16; 8] = [204, 400, 404, 405, 406, 408, 413, 505];

impl Status {
    pub(crate) fn number(self) -> u8 {
        self as u8
    }
}

/// Bytes of a head at most, but for its media type: a notification's, a stream's, and a page's.
pub(crate) const HEAD_BYTES_MAX: usize = if PLAIN { 52 } else { 100 };
pub(crate) const PAGE_HEAD_BYTES_MAX: usize = 110;

/// What is sent, part by part. In a part a control character stands for what varies, and one from
/// [`FIRST`] on for the part with that place:
///
/// | `01` | `02` `03` | `04` | `05` | `06` | `07` |
/// |---|---|---|---|---|---|
/// | number | length of the text, to base 10 or 16 | text | its lines as fields | media type | end of a head |
const PARTS: [&str; 16] = [
    when(!PLAIN, "HTTP/1.1 "),
    when(ANSWERS, "\r\nContent-Length: "),
    when(!PLAIN, "\x0e200 OK\r\nContent-Type: \x06"),
    when(!PLAIN, "\r\n\r\n"),
    when(!PLAIN, "\r\nConnection: close\x11"),
    "\ndata: ",
    when(ANSWERS, "\x0e\x01 \x07"),
    // RFC 9110 section 15.5.6: which methods there are.
    when(ANSWERS, "\x0e\x01 \r\nAllow: GET, HEAD\x0f0\x07"),
    when(ANSWERS, "\x0e\x01 \x0f0\x07"),
    when(VALUES, "\x10\x0f\x02\r\nETag: \"\x01\"\x07\x04"),
    when(PAGES, "\x10\x0f\x02\x07\x04"),
    when(PAGES, "\x10\r\nContent-Encoding: deflate\x0f\x02\x07\x04"),
    when(STREAMING, "\x10\r\nTransfer-Encoding: chunked\x07"),
    // More need not be said: an EventSource asks past all caches, and what has no length ends with its connection.
    if PLAIN {
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    } else {
        "\x10\r\nCache-Control: no-store\x07"
    },
    "id: \x01\ndata: \x05\n\n",
    when(STREAMING, "\x03\r\n\x04\r\n"),
];
const FIRST: u8 = 0x0e;
/// Whether there is one head alone, in which nothing varies.
const PLAIN: bool = SMALLEST && !ANSWERS && !STREAMING;

const fn when(is_served: bool, part: &'static str) -> &'static str {
    if is_served { part } else { "" }
}

/// Places of parts that are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    End = 3,
    Closing = 4,
    Line = 5,
    NoContent = 6,
    Methods = 7,
    Status = 8,
    /// A notification; its number is the entity tag, which a long poll takes back as `since`.
    Value = 9,
    Page = 10,
    Deflated = 11,
    /// What a stream of chunks begins with (RFC 9112 section 7.1).
    Stream = 12,
    /// What server-sent events begin with; they end with the connection.
    Events = 13,
    /// A notification as an event (HTML Living Standard, section 9.2).
    Event = 14,
    /// A notification as a chunk; one without bytes would be the last.
    Chunk = 15,
}

/// What stands in the places of a part.
#[derive(Clone, Copy, Default)]
pub(crate) struct Places<'a> {
    pub(crate) media_type: &'a str,
    pub(crate) number: u32,
    pub(crate) text: &'a [u8],
    pub(crate) closes: bool,
    /// The head alone.
    pub(crate) is_head: bool,
}

impl Places<'_> {
    pub(crate) fn write(&self, out: &mut Slice<'_>, part: Part) {
        self.write_part(out, part as u8);
    }

    #[inline(never)]
    fn write_part(&self, out: &mut Slice<'_>, part: u8) {
        let text = PARTS.get(usize::from(part)).copied().unwrap_or("");
        for byte in text.bytes() {
            match byte {
                1 => out.number(self.number, 10),
                2 if ANSWERS => out.number(self.text.len() as u32, 10),
                3 if STREAMING => out.number(self.text.len() as u32, 16),
                4 if self.is_head => {}
                4 if ANSWERS || STREAMING => out.bytes(self.text),
                5 => self.write_lines(out),
                6 if !PLAIN => out.bytes(self.media_type.as_bytes()),
                7 if !PLAIN && self.closes => self.write(out, Part::Closing),
                7 if !PLAIN => self.write(out, Part::End),
                FIRST..0x20 if !PLAIN => self.write_part(out, byte - FIRST),
                _ => out.byte(byte),
            }
        }
    }

    /// Each line of the text is a field.
    fn write_lines(&self, out: &mut Slice<'_>) {
        for &byte in self.text {
            match byte {
                b'\n' => self.write(out, Part::Line),
                // Would end a line too.
                b'\r' => {}
                _ => out.byte(byte),
            }
        }
    }
}

/// A status by its number.
pub(crate) fn status(out: &mut Slice<'_>, number: u8, closes: bool) {
    let code = CODES.get(usize::from(number)).copied().unwrap_or(0);
    let places = Places {
        number: code.into(),
        closes,
        ..Places::default()
    };
    let part = match code {
        204 => Part::NoContent,
        405 => Part::Methods,
        _ => Part::Status,
    };
    places.write(out, part);
}

/// A notification in the framing of a listener.
pub(crate) fn framed(out: &mut Slice<'_>, number: u32, text: &[u8], is_event: bool) {
    let places = Places {
        number,
        text,
        ..Places::default()
    };
    if is_event || !STREAMING {
        places.write(out, Part::Event);
    } else if !text.is_empty() {
        places.write(out, Part::Chunk);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::limits::{ANSWER_BYTES_MAX, FRAME_BYTES_MAX};

    fn text(write: impl Fn(&mut Slice<'_>), out: &mut [u8; 300]) -> &str {
        let mut slice = Slice::new(0, out);
        write(&mut slice);
        let length = slice.length();
        core::str::from_utf8(&out[..length]).expect("text")
    }

    #[test]
    fn a_status_is_said_by_its_code() {
        let out = &mut [0; 300];
        let mut said = |number: Status, closes| {
            let said = text(|out| status(out, number.number(), closes), out);
            std::string::String::from(said)
        };
        assert_eq!(said(Status::NoContent, false), "HTTP/1.1 204 \r\n\r\n");
        assert_eq!(
            said(Status::NotFound, false),
            "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n"
        );
        assert_eq!(
            said(Status::MethodNotAllowed, true),
            "HTTP/1.1 405 \r\nAllow: GET, HEAD\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        assert!(said(Status::VersionNotSupported, true).starts_with("HTTP/1.1 505 "));
    }

    #[test]
    fn a_notification_is_written_for_each_scheme() {
        let out = &mut [0; 300];
        let value = text(
            |out| {
                let places = Places {
                    media_type: "text/plain",
                    number: 7,
                    text: b"21.5",
                    ..Places::default()
                };
                places.write(out, Part::Value);
            },
            out,
        );
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\
            Content-Length: 4\r\nETag: \"7\"\r\n\r\n21.5";
        assert_eq!(value, expected);
        assert_eq!(
            text(|out| framed(out, 7, b"a chunk of 18 b...", false), out),
            "12\r\na chunk of 18 b...\r\n"
        );
        assert_eq!(text(|out| framed(out, 7, b"", false), out), "");
        let two_lines = text(|out| framed(out, 7, b"a\r\nb", true), out);
        assert_eq!(two_lines, "id: 7\ndata: a\ndata: b\n\n");
    }

    #[test]
    fn heads_fit_where_their_length_is_a_byte() {
        let out = &mut [0; 300];
        for (part, most) in [
            (Part::Events, FRAME_BYTES_MAX),
            (Part::Stream, HEAD_BYTES_MAX),
            (Part::Value, HEAD_BYTES_MAX),
            (Part::Page, PAGE_HEAD_BYTES_MAX),
            (Part::Deflated, PAGE_HEAD_BYTES_MAX),
        ] {
            let places = Places {
                number: u32::MAX,
                text: &[b'.'; ANSWER_BYTES_MAX],
                closes: true,
                is_head: true,
                ..Places::default()
            };
            assert!(
                text(|out| places.write(out, part), out).len() <= most,
                "{part:?}"
            );
        }
    }
}
