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
        (Self::NoContent, "^204 No Content~"),
        (Self::BadRequest, "^400 Bad Request=0~"),
        (Self::NotFound, "^404 Not Found=0~"),
        // RFC 9110 section 15.5.6: which methods there are.
        (
            Self::MethodNotAllowed,
            "^405 Method Not Allowed\r\nAllow: GET, HEAD=0~",
        ),
        (Self::RequestTimeout, "^408 Request Timeout=0~"),
        (Self::ContentTooLarge, "^413 Content Too Large=0~"),
        (
            Self::VersionNotSupported,
            "^505 HTTP Version Not Supported=0~",
        ),
    ];

    pub(crate) fn number(self) -> u8 {
        self as u8
    }
}

/// Bytes of a head at most, but for its media type.
pub(crate) const HEAD_BYTES_MAX: usize = 100;

/// What stands in the places of a template.
struct Places<'a> {
    media_type: &'a str,
    number: u32,
    text: &'a [u8],
    closes: bool,
}

impl Places<'_> {
    const NONE: Self = Self {
        media_type: "",
        number: 0,
        text: &[],
        closes: false,
    };

    /// Writes a template, in which one character stands for a part:
    ///
    /// | `^` | version | `!` | success and media type | `=` | Content-Length | `~` | end of the head |
    /// |---|---|---|---|---|---|---|---|
    /// | `#` | number | `%` `&` | length of the text, to base 10 or 16 | `@` | text | `*` | its lines as fields |
    #[inline(never)]
    fn write(&self, out: &mut Slice<'_>, template: &str) {
        for byte in template.bytes() {
            let word = match byte {
                b'^' => "HTTP/1.1 ",
                b'=' => "\r\nContent-Length: ",
                b'!' => {
                    self.write(out, "^200 OK\r\nContent-Type: ");
                    self.media_type
                }
                b'~' if self.closes => "\r\nConnection: close\r\n\r\n",
                b'~' => "\r\n\r\n",
                b'#' => {
                    out.number(self.number, 10);
                    continue;
                }
                b'%' | b'&' => {
                    let base = if byte == b'%' { 10 } else { 16 };
                    out.number(self.text.len() as u32, base);
                    continue;
                }
                b'@' => {
                    out.bytes(self.text);
                    continue;
                }
                b'*' => {
                    self.write_lines(out);
                    continue;
                }
                _ => {
                    out.byte(byte);
                    continue;
                }
            };
            out.bytes(word.as_bytes());
        }
    }

    /// Each line of the text is a field.
    fn write_lines(&self, out: &mut Slice<'_>) {
        for &byte in self.text {
            match byte {
                b'\n' => self.write(out, "\ndata: "),
                // Would end a line too.
                b'\r' => {}
                _ => out.byte(byte),
            }
        }
    }
}

/// A status by its number.
pub(crate) fn status(out: &mut Slice<'_>, number: u8, closes: bool) {
    let places = Places {
        closes,
        ..Places::NONE
    };
    let line = Status::ALL.get(usize::from(number));
    places.write(out, line.map_or("", |&(_, line)| line));
}

/// What an answer is made of.
pub(crate) struct Answer<'a> {
    pub(crate) media_type: &'a str,
    /// The number of a notification is the entity tag, which a long poll takes back as `since`.
    pub(crate) number: Option<u32>,
    pub(crate) text: &'a [u8],
    pub(crate) closes: bool,
    /// The head alone.
    pub(crate) is_head: bool,
}

impl Answer<'_> {
    /// Writes a page, or a notification.
    pub(crate) fn write(&self, out: &mut Slice<'_>) {
        let places = Places {
            media_type: self.media_type,
            number: self.number.unwrap_or(0),
            text: self.text,
            closes: self.closes,
        };
        let head = match self.number {
            Some(_) => "!=%\r\nETag: \"#\"~@",
            None => "!=%~@",
        };
        let length = head.len() - usize::from(self.is_head);
        places.write(out, head.get(..length).unwrap_or(head));
    }
}

/// What a stream of chunks begins with (RFC 9112 section 7.1).
pub(crate) fn stream_head(out: &mut Slice<'_>, media_type: &str) {
    let places = Places {
        media_type,
        ..Places::NONE
    };
    places.write(out, "!\r\nTransfer-Encoding: chunked~");
}

/// What server-sent events begin with; they end with the connection.
pub(crate) fn events_head(out: &mut Slice<'_>) {
    let places = Places {
        media_type: "text/event-stream",
        closes: true,
        ..Places::NONE
    };
    places.write(out, "!\r\nCache-Control: no-store~");
}

/// A notification in the framing of a listener: as an event (HTML Living Standard, section 9.2), or as a
/// chunk. A chunk without bytes would be the last one.
#[inline(always)]
pub(crate) fn framed(out: &mut Slice<'_>, number: u32, text: &[u8], is_event: bool) {
    let places = Places {
        number,
        text,
        ..Places::NONE
    };
    let frame = match is_event {
        true => "id: #\ndata: *\n\n",
        false if text.is_empty() => "",
        false => "&\r\n@\r\n",
    };
    places.write(out, frame);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{ANSWER_BYTES_MAX, FRAME_BYTES_MAX};

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
            |out| {
                let answer = Answer {
                    media_type: "text/plain",
                    number: Some(7),
                    text: b"21.5",
                    closes: false,
                    is_head: false,
                };
                answer.write(out);
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
        assert!(text(events_head, out).len() <= FRAME_BYTES_MAX);
        assert!(text(|out| stream_head(out, ""), out).len() <= HEAD_BYTES_MAX);
        for number in [None, Some(u32::MAX)] {
            let answer = Answer {
                media_type: "",
                number,
                text: &[b'.'; ANSWER_BYTES_MAX],
                closes: true,
                is_head: true,
            };
            assert!(text(|out| answer.write(out), out).len() <= HEAD_BYTES_MAX);
        }
    }
}
