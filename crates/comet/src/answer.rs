//! What is sent, as functions of what is published: heads, pages, notifications in their framing.

use crate::slice::Slice;

/// Statuses that have no body, in the order of their numbers in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    NoContent,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    ContentTooLarge,
    VersionNotSupported,
}

impl Status {
    const ALL: [(Self, &'static str); 7] = [
        (Self::NoContent, "204 No Content"),
        (Self::BadRequest, "400 Bad Request\r\nContent-Length: 0"),
        (Self::NotFound, "404 Not Found\r\nContent-Length: 0"),
        (
            Self::MethodNotAllowed,
            // RFC 9110 section 15.5.6: which methods there are.
            "405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Length: 0",
        ),
        (
            Self::RequestTimeout,
            "408 Request Timeout\r\nContent-Length: 0",
        ),
        (
            Self::ContentTooLarge,
            "413 Content Too Large\r\nContent-Length: 0",
        ),
        (
            Self::VersionNotSupported,
            "505 HTTP Version Not Supported\r\nContent-Length: 0",
        ),
    ];

    pub(crate) fn number(self) -> u8 {
        self as u8
    }
}

/// A status by its number.
pub(crate) fn status(out: &mut Slice<'_>, number: u8, closes: bool) {
    let line = Status::ALL.get(usize::from(number));
    out.text("HTTP/1.1 ");
    out.text(line.map_or("", |&(_, line)| line));
    end_head(out, closes);
}

fn end_head(out: &mut Slice<'_>, closes: bool) {
    if closes {
        out.text("\r\nConnection: close");
    }
    out.text("\r\n\r\n");
}

fn begin_head(out: &mut Slice<'_>, media_type: &str) {
    out.text("HTTP/1.1 200 OK\r\nContent-Type: ");
    out.text(media_type);
}

fn content_length(out: &mut Slice<'_>, length: usize) {
    out.text("\r\nContent-Length: ");
    out.number(length as u32, 10);
}

/// A page, or its head alone.
pub(crate) fn page(
    out: &mut Slice<'_>,
    media_type: &str,
    page: &[u8],
    closes: bool,
    is_head: bool,
) {
    begin_head(out, media_type);
    content_length(out, page.len());
    end_head(out, closes);
    if !is_head {
        out.bytes(page);
    }
}

/// A notification as an answer; its number is the entity tag, which a long poll takes back as `since`.
pub(crate) fn value(
    out: &mut Slice<'_>,
    media_type: &str,
    (number, text): (u32, &[u8]),
    closes: bool,
    is_head: bool,
) {
    begin_head(out, media_type);
    content_length(out, text.len());
    out.text("\r\nETag: \"");
    out.number(number, 10);
    out.byte(b'"');
    end_head(out, closes);
    if !is_head {
        out.bytes(text);
    }
}

/// What a stream of chunks begins with (RFC 9112 section 7.1).
pub(crate) fn stream_head(out: &mut Slice<'_>, media_type: &str) {
    begin_head(out, media_type);
    out.text("\r\nTransfer-Encoding: chunked\r\n\r\n");
}

/// A notification as a chunk.
pub(crate) fn chunk(out: &mut Slice<'_>, text: &[u8]) {
    // A chunk without bytes would be the last one.
    if !text.is_empty() {
        out.number(text.len() as u32, 16);
        out.text("\r\n");
        out.bytes(text);
        out.text("\r\n");
    }
}

/// What server-sent events begin with; they end with the connection.
pub(crate) fn events_head(out: &mut Slice<'_>) {
    begin_head(out, "text/event-stream");
    out.text("\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n");
}

/// A notification as an event (HTML Living Standard, section 9.2): each of its lines is a field.
pub(crate) fn event(out: &mut Slice<'_>, number: u32, text: &[u8]) {
    out.text("id: ");
    out.number(number, 10);
    out.text("\ndata: ");
    for &byte in text {
        match byte {
            b'\n' => out.text("\ndata: "),
            // Would end a line too.
            b'\r' => {}
            _ => out.byte(byte),
        }
    }
    out.text("\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::FRAME_BYTES_MAX;

    fn text(write: impl Fn(&mut Slice<'_>), out: &mut [u8; 300]) -> &str {
        let mut slice = Slice::new(0, out);
        write(&mut slice);
        let length = slice.length();
        core::str::from_utf8(&out[..length]).expect("text")
    }

    #[test]
    fn statuses_stand_in_the_order_of_their_numbers() {
        for (number, (status, _)) in Status::ALL.iter().enumerate() {
            assert_eq!(usize::from(status.number()), number);
        }
    }

    #[test]
    fn a_notification_is_written_for_each_scheme() {
        let out = &mut [0; 300];
        let value = text(
            |out| value(out, "text/plain", (7, b"21.5"), false, false),
            out,
        );
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\
            Content-Length: 4\r\nETag: \"7\"\r\n\r\n21.5";
        assert_eq!(value, expected);
        assert_eq!(
            text(|out| chunk(out, b"a chunk of 18 b..."), out),
            "12\r\na chunk of 18 b...\r\n"
        );
        assert_eq!(text(|out| chunk(out, b""), out), "");
        let two_lines = text(|out| event(out, 7, b"a\r\nb"), out);
        assert_eq!(two_lines, "id: 7\ndata: a\ndata: b\n\n");
    }

    #[test]
    fn heads_fit_where_their_length_is_a_byte() {
        let out = &mut [0; 300];
        assert!(text(events_head, out).len() <= FRAME_BYTES_MAX);
    }
}
