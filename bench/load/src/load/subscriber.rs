//! One connection that receives: finds the stamps, and polls again where the scheme asks for it, or when it is told to.
//!
//! A WebSocket ping that opens a read is answered; one between two messages of the same read is
//! passed over, since a connection that receives needs no proof of life.

use super::http::Responses;
use super::mqtt::{Packets, puback};
use super::reactor::{Reactor, Socket, Taken};
use super::stamp::{CARRY_BYTES_MAX, Carry, Scanner};
use super::wire::SubscribeWire;

/// One receiving connection.
pub(super) struct Subscriber {
    socket: Socket,
    scheme: Scheme,
    closed: bool,
}

enum Scheme {
    Stream(Carry),
    /// Messages that are acknowledged.
    Packets(Packets),
    Poll(Polling),
    LongPoll {
        responses: Responses,
        again: String,
    },
}

/// Requests at times that the answers do not change.
struct Polling {
    responses: Responses,
    request: String,
    /// The stamp that was heard last.
    last: Option<u64>,
    /// Whether a request is not answered yet.
    is_waiting: bool,
}

/// RFC 6455 section 5.5.2: an empty ping, and the pong that a client masks (here by zeros).
const PING: &[u8] = &[0x89, 0x00];
const PONG: &[u8] = &[0x8a, 0x80, 0, 0, 0, 0];

impl Subscriber {
    /// A subscriber on an open socket.
    pub(super) fn new(socket: Socket, wire: &SubscribeWire) -> Self {
        let scheme = match wire {
            SubscribeWire::Poll { request, .. } => Scheme::Poll(Polling {
                responses: Responses::default(),
                request: request.clone(),
                last: None,
                is_waiting: false,
            }),
            SubscribeWire::LongPoll { again, .. } => Scheme::LongPoll {
                responses: Responses::default(),
                again: again.clone(),
            },
            SubscribeWire::Mqtt { qos: 1.., .. } => Scheme::Packets(Packets::default()),
            SubscribeWire::Stream { .. }
            | SubscribeWire::Mqtt { .. }
            | SubscribeWire::Observe { .. } => Scheme::Stream(Carry::default()),
        };
        Self {
            socket,
            scheme,
            closed: false,
        }
    }

    /// Whether the peer has closed it.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Asks, where it polls and everything is answered.
    pub(super) fn ask(&mut self, reactor: &Reactor) {
        if let Scheme::Poll(polling) = &mut self.scheme
            && !polling.is_waiting
        {
            polling.is_waiting = true;
            let request = polling.request.as_bytes();
            self.socket.out().extend_from_slice(request);
            self.flush(reactor);
        }
    }

    /// Reads once, calls `each` with every stamp and whether it was heard before, returns the bytes read.
    pub(super) fn read(
        &mut self,
        reactor: &Reactor,
        buffer: &mut [u8],
        scanner: &Scanner,
        mut told: impl FnMut(u64, bool),
    ) -> Result<usize, String> {
        let len = match self.socket.take(&mut buffer[CARRY_BYTES_MAX..]) {
            Taken::Bytes(len) => len,
            Taken::Nothing => return Ok(0),
            Taken::Closed => {
                self.closed = true;
                return Ok(0);
            }
        };
        let mut each = |stamp| told(stamp, false);
        match &mut self.scheme {
            Scheme::Poll(polling) => {
                let read = &buffer[CARRY_BYTES_MAX..CARRY_BYTES_MAX + len];
                polling.hear(read, scanner, told)?;
            }
            Scheme::Stream(carry) => {
                scan(carry, &mut buffer[..CARRY_BYTES_MAX + len], scanner, each);
                if buffer[CARRY_BYTES_MAX..CARRY_BYTES_MAX + len].starts_with(PING) {
                    self.socket.out().extend_from_slice(PONG);
                }
            }
            Scheme::Packets(packets) => {
                let out = self.socket.out();
                let read = &buffer[CARRY_BYTES_MAX..CARRY_BYTES_MAX + len];
                packets.feed(read, |packet| {
                    scanner.scan(packet, &mut each);
                    out.extend(puback(packet).into_iter().flatten());
                });
            }
            Scheme::LongPoll { responses, again } => {
                let read = &buffer[CARRY_BYTES_MAX..CARRY_BYTES_MAX + len];
                poll_again(responses, again, read, self.socket.out(), scanner, each)?;
            }
        }
        self.flush(reactor);
        Ok(len)
    }

    /// Sends what the kernel takes.
    pub(super) fn flush(&mut self, reactor: &Reactor) {
        if self.socket.unsent() > 0 {
            self.socket.flush(reactor);
        }
    }
}

impl Polling {
    /// What is answered; that there is nothing yet is an answer.
    fn hear(
        &mut self,
        read: &[u8],
        scanner: &Scanner,
        mut told: impl FnMut(u64, bool),
    ) -> Result<(), String> {
        let (last, is_waiting) = (&mut self.last, &mut self.is_waiting);
        let mut refusal = None;
        self.responses.feed(read, |response| {
            *is_waiting = false;
            if response.status >= 400 && response.status != 404 {
                refusal = Some(response.summary());
            }
            scanner.scan(response.body, |stamp| {
                let is_repeated = last.replace(stamp) == Some(stamp);
                told(stamp, is_repeated);
            });
        })?;
        match refusal {
            Some(summary) => Err(format!("a poll was answered {summary}")),
            None => Ok(()),
        }
    }
}

/// `buffer` has room for what was carried in front of what was read.
fn scan(carry: &mut Carry, buffer: &mut [u8], scanner: &Scanner, each: impl FnMut(u64)) {
    let mut kept = [0; CARRY_BYTES_MAX];
    let len = carry.restore(&mut kept);
    let start = CARRY_BYTES_MAX - len;
    buffer[start..CARRY_BYTES_MAX].copy_from_slice(&kept[..len]);
    let whole = &buffer[start..];
    let rest = scanner.scan(whole, each);
    carry.keep(&whole[rest..]);
}

fn poll_again(
    responses: &mut Responses,
    again: &str,
    read: &[u8],
    out: &mut Vec<u8>,
    scanner: &Scanner,
    mut each: impl FnMut(u64),
) -> Result<(), String> {
    let mut refusal = None;
    responses.feed(read, |response| {
        if response.status >= 400 && response.status != 408 {
            refusal = Some(response.summary());
        }
        scanner.scan(response.body, &mut each);
        out.extend_from_slice(fill(again, |name| response.field(name)).as_bytes());
    })?;
    match refusal {
        Some(summary) => Err(format!("a long poll was answered {summary}")),
        None => Ok(()),
    }
}

/// Replaces each `{name}` by what `value` gives for it, or by nothing.
pub(super) fn fill<'a>(template: &str, value: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut filled = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else {
            break;
        };
        filled.push_str(before);
        filled.push_str(value(name).unwrap_or(""));
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::own::STAMP_BASE;

    #[test]
    fn who_polls_hears_what_is_new_and_what_it_has_heard() {
        let mut polling = Polling {
            responses: Responses::default(),
            request: "GET /".into(),
            last: None,
            is_waiting: true,
        };
        let mut heard = Vec::new();
        let scanner = Scanner::new();
        let mut answer = |text: String| {
            let answered = polling.hear(text.as_bytes(), &scanner, |stamp, is_repeated| {
                heard.push((stamp, is_repeated));
            });
            (answered, polling.is_waiting)
        };
        let nothing = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(answer(nothing.into()), (Ok(()), false));
        for stamp in [STAMP_BASE + 1, STAMP_BASE + 1, STAMP_BASE + 2] {
            let body = format!("{{\"value\":{stamp}}}");
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            assert_eq!(answer(head + &body).0, Ok(()));
        }
        assert!(
            answer("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".into())
                .0
                .is_err()
        );
        let expected = [(1, false), (1, true), (2, false)];
        assert_eq!(heard, expected.map(|(stamp, it)| (STAMP_BASE + stamp, it)));
    }

    #[test]
    fn the_next_poll_names_the_cursor_of_the_last_answer() {
        let filled = fill("GET /x?since={weir-cursor} HTTP/1.1", |name| {
            (name == "weir-cursor").then_some("42")
        });
        assert_eq!(filled, "GET /x?since=42 HTTP/1.1");
    }
}
