//! As much of HTTP/1.1 as writes requests and reads pipelined answers: status, head, body by length or in chunks.
//!
//! Deliberately lenient: it measures servers, it does not judge them. Fields behind the last chunk are not read, which
//! no server here sends.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use memchr::memmem;

use weir_bench_model::limits::RESPONSE_BYTES_MAX;

/// One whole answer.
pub struct Response<'a> {
    /// The status code.
    pub status: u16,
    /// Status line and header fields, without the empty line.
    pub head: &'a [u8],
    /// The body; of a chunked one, chunk heads included.
    pub body: &'a [u8],
}

/// Why no answer can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It does not begin as one of HTTP/1.
    NotHttp,
    /// It does not tell where its body ends.
    Endless,
    /// This is no length.
    Length(String),
    /// This begins no chunk.
    Chunk(String),
    /// It is longer than an answer may be.
    TooLong,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHttp => f.write_str("an answer that is not HTTP/1"),
            Self::Endless => f.write_str("an answer of unknown length"),
            Self::Length(length) => write!(f, "Content-Length {length}"),
            Self::Chunk(line) => write!(f, "`{line}` begins no chunk"),
            Self::TooLong => write!(f, "an answer exceeds {RESPONSE_BYTES_MAX} bytes"),
        }
    }
}

impl From<Unreadable> for String {
    fn from(unreadable: Unreadable) -> Self {
        unreadable.to_string()
    }
}

/// A request: its first line, whose method and target are `asked`, the host, fields of its own without the last line's
/// end, and a body with its length.
pub fn request(asked: &str, host: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut request =
        format!("{asked} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\nContent-Length: {length}\r\n\r\n")
            .into_bytes();
    request.extend_from_slice(body);
    request
}

/// Cuts a stream of bytes into answers.
#[derive(Default)]
pub struct Responses {
    pending: Vec<u8>,
}

impl Response<'_> {
    /// The value of a header field, by its name in any case.
    pub fn field(&self, name: &str) -> Option<&str> {
        field(self.head, name)
    }

    /// The body without the heads of its chunks.
    pub fn content(&self) -> Cow<'_, [u8]> {
        if self.field("transfer-encoding").is_none() {
            return Cow::Borrowed(self.body);
        }
        let (mut content, mut rest) = (Vec::new(), self.body);
        while let Ok(Some(data)) = chunk(rest) {
            content.extend_from_slice(rest.get(data.clone()).unwrap_or_default());
            rest = rest.get(data.end + 2..).unwrap_or_default();
        }
        Cow::Owned(content)
    }

    /// The answer in a few words, for a report.
    pub fn summary(&self) -> String {
        let line = self
            .head
            .split(|&byte| byte == b'\r')
            .next()
            .unwrap_or_default();
        let body = &self.body[..self.body.len().min(200)];
        format!(
            "{}: {}",
            String::from_utf8_lossy(line),
            String::from_utf8_lossy(body).trim()
        )
    }
}

impl Responses {
    /// Takes what was read and hands on every answer that is whole.
    pub fn feed(&mut self, bytes: &[u8], each: impl FnMut(Response<'_>)) -> Result<(), Unreadable> {
        if self.pending.is_empty() {
            let taken = cut(bytes, each)?;
            self.pending.extend_from_slice(&bytes[taken..]);
        } else {
            self.pending.extend_from_slice(bytes);
            let taken = cut(&self.pending, each)?;
            self.pending.drain(..taken);
        }
        if self.pending.len() > RESPONSE_BYTES_MAX {
            return Err(Unreadable::TooLong);
        }
        Ok(())
    }
}

/// The length of a head, its empty line included, once it is whole.
pub fn head_len(bytes: &[u8]) -> Option<usize> {
    memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4)
}

/// The status of an answer that begins with `bytes`.
pub fn status(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"HTTP/1.")?.get(2..5)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn cut(bytes: &[u8], mut each: impl FnMut(Response<'_>)) -> Result<usize, Unreadable> {
    let mut at = 0;
    while let Some((response, len)) = first(&bytes[at..])? {
        at += len;
        // 1xx is not the answer yet (RFC 9110 section 15.2).
        if response.status >= 200 {
            each(response);
        }
    }
    Ok(at)
}

/// The first whole answer and its length; nothing where it is not whole yet.
pub fn first(bytes: &[u8]) -> Result<Option<(Response<'_>, usize)>, Unreadable> {
    let Some(head_len) = head_len(bytes) else {
        return Ok(None);
    };
    let head = &bytes[..head_len - 4];
    let status = status(head).ok_or(Unreadable::NotHttp)?;
    let Some(body_len) = body_len(status, head, &bytes[head_len..])? else {
        return Ok(None);
    };
    let Some(body) = bytes.get(head_len..head_len + body_len) else {
        return Ok(None);
    };
    Ok(Some((Response { status, head, body }, head_len + body_len)))
}

fn body_len(status: u16, head: &[u8], rest: &[u8]) -> Result<Option<usize>, Unreadable> {
    if status < 200 || status == 204 || status == 304 {
        return Ok(Some(0));
    }
    // The coding overrides the length (RFC 9112 section 6.3).
    if field(head, "transfer-encoding").is_some() {
        return chunked_len(rest);
    }
    let length = field(head, "content-length").ok_or(Unreadable::Endless)?;
    match length.parse() {
        Ok(length) => within(length).map(Some),
        Err(_) => Err(Unreadable::Length(length.into())),
    }
}

fn within(length: usize) -> Result<usize, Unreadable> {
    match length > RESPONSE_BYTES_MAX {
        true => Err(Unreadable::TooLong),
        false => Ok(length),
    }
}

/// How long a body in chunks is with them; nothing where the last is missing.
fn chunked_len(rest: &[u8]) -> Result<Option<usize>, Unreadable> {
    let mut at = 0;
    while let Some(chunk) = chunk(&rest[at..])? {
        at += chunk.end + 2;
        if at > rest.len() {
            return Ok(None);
        }
        if chunk.is_empty() {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Where the data of the first chunk lie, which an end of line follows (RFC 9112 section 7.1); nothing where its head
/// is cut.
fn chunk(rest: &[u8]) -> Result<Option<Range<usize>>, Unreadable> {
    let Some(end) = memmem::find(rest, b"\r\n") else {
        return Ok(None);
    };
    let line = String::from_utf8_lossy(&rest[..end]);
    let length = line.split(';').next().unwrap_or_default().trim();
    let length = usize::from_str_radix(length, 16);
    let length = length.map_err(|_| Unreadable::Chunk(line.into_owned()))?;
    let begin = end + 2;
    Ok(Some(begin..begin + within(length)?))
}

fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    let lines = head.split(|&byte| byte == b'\n').skip(1);
    for line in lines {
        let matches = line
            .get(..name.len())
            .is_some_and(|n| n.eq_ignore_ascii_case(name.as_bytes()));
        if matches && line.get(name.len()) == Some(&b':') {
            return std::str::from_utf8(&line[name.len() + 1..])
                .ok()
                .map(str::trim);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    const PIPELINED: &[u8] = b"HTTP/1.1 204 No Content\r\nWeir-Cursor: 7\r\n\r\n\
        HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nabc\
        HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\n\r\n";

    proptest! {
        #[test]
        fn pipelined_answers_are_told_apart_wherever_reads_cut(piece in 1usize..200) {
            let mut responses = Responses::default();
            let mut seen = Vec::new();
            for part in PIPELINED.chunks(piece) {
                let each = |r: Response<'_>| seen.push((r.status, r.body.len()));
                responses.feed(part, each).unwrap();
            }
            prop_assert_eq!(seen, [(204, 0), (201, 3), (200, 13)]);
        }
    }

    #[test]
    fn an_answer_is_awaited_until_it_is_whole() {
        let whole = b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 3\r\n\r\nabc";
        let cut = (0..whole.len()).all(|end| first(&whole[..end]).unwrap().is_none());
        assert!(cut);
        let (answer, length) = first(whole).unwrap().unwrap();
        assert_eq!((&answer.content()[..], length), (&b"abc"[..], whole.len()));
        let odd: [&[u8]; 3] = [
            b"odd\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
        ];
        assert!(odd.into_iter().all(|odd| first(odd).is_err()));
    }

    #[test]
    fn chunks_are_joined_once_the_last_is_there() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        // What ends a body may stand in a chunk as well.
        let whole = [head, "3\r\nabc\r\nA;x=y\r\n12345\r\n0\r\n\r\n0\r\n\r\n"].concat();
        let whole = whole.as_bytes();
        let cut = (0..whole.len()).all(|end| first(&whole[..end]).unwrap().is_none());
        assert!(cut);
        let (answer, length) = first(whole).unwrap().unwrap();
        assert_eq!(&answer.content()[..], b"abc12345\r\n0\r\n");
        assert_eq!(length, whole.len());
        let odd = [head, "xyz\r\n"].concat();
        assert_eq!(
            first(odd.as_bytes()).err(),
            Some(Unreadable::Chunk("xyz".into()))
        );
    }

    #[test]
    fn a_field_is_found_in_any_case() {
        let response = Response {
            status: 204,
            head: b"HTTP/1.1 204 x\r\nweir-cursor: 7\r",
            body: b"",
        };
        assert_eq!(response.field("Weir-Cursor"), Some("7"));
        assert_eq!(response.field("weir"), None);
    }
}
