//! What a connection of the null server asks and what it is.

use memchr::memmem;

use super::lines::Lines;
use super::log::Log;
use crate::load::message::REPLAY_TOPIC;
use crate::load::reactor::{Reactor, Socket};

/// Where lines are read: `/lines?count=N&width=BYTES`.
pub const LINES: &str = "/lines";

/// How messages are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// Server-sent events.
    Events,
    /// WebSocket text frames.
    Frames,
    /// A message a line: HTTP streaming and long polling.
    Lines,
}

/// What a connection is.
pub(super) enum Role {
    /// One that sends requests.
    Asking,
    /// One that follows a log; `once`: until its next answer.
    Following {
        scheme: Scheme,
        position: u64,
        once: bool,
    },
    /// One that is answered by lines.
    Sending(Lines),
}

/// A request, as far as the null server cares.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request<'a> {
    /// POST; `kept` where it will be read back.
    Publish { body: &'a [u8], kept: bool },
    /// GET of a delivery scheme.
    Subscribe {
        scheme: Scheme,
        since: Option<u64>,
        once: bool,
    },
    /// GET of so many lines of so many bytes each.
    Lines { count: u64, width: usize },
    /// Anything else.
    Unknown,
}

impl Scheme {
    /// All, in the order of their numbers.
    pub(super) const ALL: [Self; 3] = [Self::Events, Self::Frames, Self::Lines];

    /// The head of the answer that never ends.
    pub(super) fn head(self) -> &'static [u8] {
        match self {
            Self::Events => b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
            Self::Frames => {
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
            }
            Self::Lines => b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
        }
    }

    /// Appends a message in its frame.
    pub(super) fn frame(self, body: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Events => {
                out.extend_from_slice(b"data: ");
                out.extend_from_slice(body);
                out.extend_from_slice(b"\n\n");
            }
            Self::Frames => frame_text(body, out),
            Self::Lines => {
                out.extend_from_slice(body);
                out.push(b'\n');
            }
        }
    }
}

/// RFC 6455 section 5.2: a final text frame, unmasked.
fn frame_text(body: &[u8], out: &mut Vec<u8>) {
    out.push(0x81);
    match body.len() {
        len @ 0..=125 => out.push(len as u8),
        len @ 126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        len => {
            out.push(127);
            out.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(body);
}

impl Role {
    /// A connection that follows a log from a position on.
    pub(super) fn following(scheme: Scheme, position: u64, once: bool) -> Self {
        Self::Following {
            scheme,
            position,
            once,
        }
    }

    /// Whether its answer never ends.
    pub(super) fn is_stream(&self) -> bool {
        matches!(self, Self::Following { once: false, .. })
    }

    /// Where it stands in a scheme's log.
    pub(super) fn position_in(&self, wanted: Scheme) -> Option<u64> {
        match self {
            Self::Following {
                scheme, position, ..
            } if *scheme == wanted => Some(*position),
            _ => None,
        }
    }

    /// Sends what is due: all in one write, or a write a message.
    pub(super) fn deliver(
        &mut self,
        socket: &mut Socket,
        reactor: &Reactor,
        logs: &[Log; 3],
        coalesce: bool,
    ) {
        if let Self::Sending(lines) = self {
            if lines.send(socket, reactor) {
                *self = Self::Asking;
            }
            return;
        }
        let Self::Following {
            scheme,
            position,
            once,
        } = self
        else {
            return;
        };
        let log = &logs[*scheme as usize];
        if *once {
            if *position < log.end() {
                answer_poll(socket, log, *position);
                socket.flush(reactor);
                *self = Self::Asking;
            }
            return;
        }
        loop {
            let due = if coalesce {
                log.after(*position)
            } else {
                log.message_after(*position)
            };
            if due.is_empty() {
                socket.quiet(reactor);
                return;
            }
            let taken = socket.write_through(reactor, due);
            *position += taken as u64;
            if taken < due.len() {
                return;
            }
        }
    }
}

fn answer_poll(socket: &mut Socket, log: &Log, position: u64) {
    let body = log.after(position);
    let head = format!(
        "HTTP/1.1 200 OK\r\nWeir-Cursor: {}\r\nContent-Length: {}\r\n\r\n",
        log.end(),
        body.len()
    );
    socket.out().extend_from_slice(head.as_bytes());
    socket.out().extend_from_slice(body);
}

/// The first whole request and its length.
pub(super) fn cut_request(bytes: &[u8]) -> Option<(Request<'_>, usize)> {
    let head_len = memmem::find(bytes, b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..head_len]).unwrap_or("");
    let Some(length) = field(head, "content-length: ") else {
        return Some((subscription(head), head_len));
    };
    let body = bytes.get(head_len..head_len + length.parse::<usize>().ok()?)?;
    let kept = head
        .split(' ')
        .nth(1)
        .is_some_and(|path| path.ends_with(REPLAY_TOPIC));
    Some((Request::Publish { body, kept }, head_len + body.len()))
}

fn subscription(head: &str) -> Request<'_> {
    let target = head.split(' ').nth(1).unwrap_or("");
    if target.starts_with(LINES) {
        return lines(target).unwrap_or(Request::Unknown);
    }
    let since = query(target, "since=").and_then(|value| value.parse().ok());
    let once = query(target, "wait=").is_some();
    let scheme = if head.contains("text/event-stream") {
        Scheme::Events
    } else if field(head, "upgrade: ").is_some() {
        Scheme::Frames
    } else if once || target.contains("stream") {
        Scheme::Lines
    } else {
        return Request::Unknown;
    };
    Request::Subscribe {
        scheme,
        since,
        once,
    }
}

fn lines(target: &str) -> Option<Request<'_>> {
    Some(Request::Lines {
        count: query(target, "count=")?.parse().ok()?,
        width: query(target, "width=")?.parse().ok()?,
    })
}

fn query<'a>(target: &'a str, key: &str) -> Option<&'a str> {
    let (_, query) = target.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix(key))
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.split("\r\n").skip(1).find_map(|line| {
        let (start, value) = (line.get(..name.len())?, line.get(name.len()..)?);
        start.eq_ignore_ascii_case(name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn requests_are_told_apart_by_what_the_gateway_would_look_at() {
        let (request, taken) =
            cut_request(b"POST /live/x HTTP/1.1\r\nContent-Length: 2\r\n\r\nokGET").unwrap();
        assert_eq!(
            (request, taken),
            (
                Request::Publish {
                    body: b"ok",
                    kept: false
                },
                46
            )
        );
        let (request, _) = cut_request(b"GET /live/x?wait=30&since=7 HTTP/1.1\r\n\r\n").unwrap();
        let poll = Request::Subscribe {
            scheme: Scheme::Lines,
            since: Some(7),
            once: true,
        };
        assert_eq!(request, poll);
        let (request, _) = cut_request(b"GET /lines?count=3&width=27 HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!(
            request,
            Request::Lines {
                count: 3,
                width: 27
            }
        );
        assert_eq!(
            cut_request(b"POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\nok"),
            None
        );
    }

    #[test]
    fn a_text_frame_has_the_length_of_its_size() {
        let mut out = Vec::new();
        Scheme::Frames.frame(&[b'x'; 200], &mut out);
        assert_eq!(out[..4], [0x81, 126, 0, 200]);
    }
}
