//! The client's half: answers out of bytes that arrive in pieces (RFC 9112 sections 4, 6 and 7).

use super::body::Chunked;
use super::head::Refusal;
use crate::limits::{HEAD_BYTES_MAX, HEADERS_MAX};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{borrow::ToOwned, format};

/// A response head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Three digits.
    pub status: u16,
    /// Header fields, names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// The first header field of this (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let field = self.headers.iter().find(|(known, _)| known == name)?;
        Some(&field.1)
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// An answer begins.
    Head(Head),
    /// A piece of its body.
    Body(Vec<u8>),
    /// It is whole; says whether the connection serves on.
    End {
        /// Whether another request may be sent.
        keep_alive: bool,
    },
}

/// Reads the answers of one connection, none of them to `HEAD`.
#[derive(Debug)]
pub struct Answers {
    rest: Vec<u8>,
    state: State,
    keep_alive: bool,
    bytes_max: usize,
}

#[derive(Debug)]
enum State {
    Head,
    Length(usize),
    Chunks(Chunked),
    /// To the end of the connection.
    Open,
    /// Not HTTP any more: 101.
    Switched,
}

impl Answers {
    /// A reader of answers with delimited bodies of at most so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            rest: Vec::new(),
            state: State::Head,
            keep_alive: true,
            bytes_max,
        }
    }

    /// What followed the head of a 101, in the protocol switched to.
    pub fn take_rest(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.rest)
    }

    /// Takes bytes and hands on what they complete.
    pub fn read(&mut self, bytes: &[u8], out: &mut Vec<Part>) -> Result<(), Refusal> {
        let mut held = core::mem::take(&mut self.rest);
        held.extend_from_slice(bytes);
        let mut input = held.as_slice();
        while self.step(&mut input, out)? {}
        self.rest = input.to_vec();
        Ok(())
    }

    /// Is told that the peer sends nothing more; says whether the last answer is whole with that.
    pub fn finish(&mut self, out: &mut Vec<Part>) -> bool {
        match self.state {
            State::Open => {
                out.push(Part::End { keep_alive: false });
                self.state = State::Head;
                true
            }
            State::Head => self.rest.is_empty(),
            _ => false,
        }
    }

    fn step(&mut self, input: &mut &[u8], out: &mut Vec<Part>) -> Result<bool, Refusal> {
        match &mut self.state {
            State::Head => return self.head(input, out),
            State::Switched => return Ok(false),
            State::Open => {
                push_body(input, input.len(), out);
                return Ok(false);
            }
            State::Length(left) => {
                let taken = (*left).min(input.len());
                push_body(input, taken, out);
                *left -= taken;
                if *left > 0 {
                    return Ok(false);
                }
            }
            State::Chunks(chunks) => {
                let mut body = Vec::new();
                chunks.read(input, &mut body)?;
                if !body.is_empty() {
                    out.push(Part::Body(body));
                }
                if !chunks.is_done() {
                    return Ok(false);
                }
            }
        }
        let keep_alive = self.keep_alive;
        out.push(Part::End { keep_alive });
        self.state = State::Head;
        Ok(true)
    }

    fn head(&mut self, input: &mut &[u8], out: &mut Vec<Part>) -> Result<bool, Refusal> {
        let mut fields = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Response::new(&mut fields);
        let length = match parsed.parse(input) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(_) if input.len() > HEAD_BYTES_MAX => {
                let reason = format!("the answer's head is longer than {HEAD_BYTES_MAX} bytes");
                return Err(Refusal::new(502, reason));
            }
            Ok(_) => return Ok(false),
            Err(error) => return Err(Refusal::new(502, error.to_string())),
        };
        let field = |field: &httparse::Header<'_>| {
            let value = String::from_utf8_lossy(field.value).into_owned();
            (field.name.to_ascii_lowercase().to_owned(), value)
        };
        let head = Head {
            status: parsed.code.unwrap_or_default(),
            headers: parsed.headers.iter().map(field).collect(),
        };
        self.keep_alive = parsed.version == Some(1) && !says(&head, "connection", "close");
        *input = &input[length..];
        if matches!(head.status, 100 | 102..=199) {
            return Ok(true);
        }
        self.state = self.delimiter(&head)?;
        out.push(Part::Head(head));
        Ok(true)
    }

    fn delimiter(&self, head: &Head) -> Result<State, Refusal> {
        if head.status == 101 {
            return Ok(State::Switched);
        }
        if matches!(head.status, 204 | 304) {
            return Ok(State::Length(0));
        }
        if says(head, "transfer-encoding", "chunked") {
            return Ok(State::Chunks(Chunked::new(usize::MAX)));
        }
        match head.header("content-length").map(str::parse) {
            None => Ok(State::Open),
            Some(Ok(length)) if length <= self.bytes_max => Ok(State::Length(length)),
            Some(Ok(length)) => Err(Refusal::new(502, format!("an answer of {length} bytes"))),
            Some(Err(_)) => Err(Refusal::new(502, "an answer with a bad Content-Length")),
        }
    }
}

fn push_body(input: &mut &[u8], length: usize, out: &mut Vec<Part>) {
    if length > 0 {
        out.push(Part::Body(input[..length].to_vec()));
        *input = &input[length..];
    }
}

fn says(head: &Head, name: &str, token: &str) -> bool {
    let value = head.header(name).unwrap_or_default();
    value
        .split(',')
        .any(|listed| listed.trim().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ANSWERS: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n\
        HTTP/1.1 204 No Content\r\nWeir-Cursor: 1-2\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n21.5\
        HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n\
        HTTP/1.0 200 OK\r\n\r\nto the end";

    /// Status, body and whether the connection serves on, of each answer.
    fn read(pieces: &[&[u8]]) -> Vec<(u16, Vec<u8>, bool)> {
        let mut answers = Answers::new(1000);
        let mut parts = Vec::new();
        for piece in pieces {
            answers.read(piece, &mut parts).unwrap();
        }
        assert!(answers.finish(&mut parts));
        let mut seen: Vec<(u16, Vec<u8>, bool)> = Vec::new();
        for part in parts {
            match (part, seen.last_mut()) {
                (Part::Head(head), _) => seen.push((head.status, Vec::new(), false)),
                (Part::Body(body), Some(last)) => last.1.extend_from_slice(&body),
                (Part::End { keep_alive }, Some(last)) => last.2 = keep_alive,
                (part, None) => panic!("{part:?} before a head"),
            }
        }
        seen
    }

    #[test]
    fn answers_do_not_depend_on_where_the_bytes_are_split() {
        let expected = [
            (204, b"".to_vec(), true),
            (200, b"21.5".to_vec(), true),
            (400, b"no".to_vec(), true),
            (200, b"to the end".to_vec(), false),
        ];
        for at in 0..ANSWERS.len() {
            let (first, second) = ANSWERS.split_at(at);
            assert_eq!(read(&[first, second]), expected, "split at byte {at}");
        }
    }

    #[test]
    fn what_follows_an_upgrade_is_not_http() {
        let mut answers = Answers::new(1000);
        let mut parts = Vec::new();
        let bytes = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x01a";
        answers.read(bytes, &mut parts).unwrap();
        assert!(matches!(&parts[..], [Part::Head(head)] if head.status == 101));
        assert_eq!(answers.take_rest(), b"\x81\x01a");
    }

    #[test]
    fn an_answer_that_ends_early_is_not_whole() {
        let mut answers = Answers::new(1000);
        let mut parts = Vec::new();
        answers
            .read(
                b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n21",
                &mut parts,
            )
            .unwrap();
        assert!(!answers.finish(&mut parts));
        let huge = b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n";
        assert!(Answers::new(1000).read(huge, &mut parts).is_err());
    }
}
