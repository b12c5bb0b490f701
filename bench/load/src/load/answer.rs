//! One answer of HTTP/1.1 while it comes (RFC 9112 sections 6 and 7.1): its body is handed on piece by piece, without
//! the heads of its chunks, and kept nowhere.
//!
//! [`Responses`](super::http::Responses) keeps an answer until it is whole, which one of hundreds of megabytes is not
//! to cost the load. What it deliberately does not do: pipelined answers, and interim ones (1xx).

use memchr::memchr;

use super::http::{Response, head_len, status};
use weir_bench_model::limits::RESPONSE_BYTES_MAX;

/// An answer that is awaited.
#[derive(Default)]
pub(super) struct Answer {
    state: State,
    /// What has come of the head, or of a line, that is not whole yet.
    begun: Vec<u8>,
}

/// What comes next.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    /// So many bytes of a body whose length was told.
    Body(u64),
    /// The line before a chunk.
    Size,
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The end of line behind a chunk.
    Behind,
    /// Lines behind the last chunk, the last of which is empty.
    Trailer,
    /// Nothing.
    Over,
}

impl Answer {
    /// Takes what was read, hands on what of it is body, and says whether the answer is whole.
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> Result<bool, String> {
        while !bytes.is_empty() && self.state != State::Over {
            bytes = self.step(bytes, &mut each)?;
        }
        match bytes.is_empty() {
            true => Ok(self.state == State::Over),
            false => Err("something stands behind an answer".into()),
        }
    }

    /// Takes the next part; the rest.
    fn step<'a>(
        &mut self,
        bytes: &'a [u8],
        each: &mut impl FnMut(&[u8]),
    ) -> Result<&'a [u8], String> {
        let (left, then): (u64, fn(u64) -> State) = match self.state {
            State::Head => return self.head(bytes),
            State::Body(left) => (left, State::of_body),
            State::Chunk(left) => (left, State::of_chunk),
            State::Size | State::Behind | State::Trailer => return self.line(bytes),
            State::Over => return Ok(bytes),
        };
        let (piece, rest) =
            bytes.split_at(bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
        each(piece);
        self.state = then(left - piece.len() as u64);
        Ok(rest)
    }

    fn head<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        let before = self.begun.len();
        self.begun.extend_from_slice(bytes);
        let Some(len) = head_len(&self.begun) else {
            return match self.begun.len() > RESPONSE_BYTES_MAX {
                true => Err(format!("a head exceeds {RESPONSE_BYTES_MAX} bytes")),
                false => Ok(&[]),
            };
        };
        let begun = std::mem::take(&mut self.begun);
        let (head, body) = (&begun[..len - 4], &begun[len..]);
        let status = status(head).ok_or("an answer that is not HTTP/1")?;
        let response = Response { status, head, body };
        if !(200..300).contains(&status) {
            return Err(format!("answered {}", response.summary()));
        }
        self.state = State::behind_head(&response)?;
        Ok(&bytes[len - before..])
    }

    /// Takes a line, or what has come of it.
    fn line<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        let Some(end) = memchr(b'\n', bytes) else {
            self.begun.extend_from_slice(bytes);
            return Ok(&[]);
        };
        let (last, rest) = bytes.split_at(end + 1);
        self.begun.extend_from_slice(last);
        let line = String::from_utf8_lossy(&self.begun).trim().to_owned();
        self.begun.clear();
        self.state = match self.state {
            State::Size => State::of_size(&line)?,
            State::Behind => State::Size,
            State::Trailer if line.is_empty() => State::Over,
            other => other,
        };
        Ok(rest)
    }
}

impl State {
    fn behind_head(response: &Response<'_>) -> Result<Self, String> {
        if let Some(length) = response.field("content-length") {
            let length = length.parse();
            return length
                .map(Self::of_body)
                .map_err(|_| "a Content-Length that is no number".into());
        }
        match (response.status, response.field("transfer-encoding")) {
            (204, _) => Ok(Self::Over),
            (_, Some(_)) => Ok(Self::Size),
            (_, None) => Err("an answer of unknown length".into()),
        }
    }

    fn of_body(left: u64) -> Self {
        if left == 0 {
            Self::Over
        } else {
            Self::Body(left)
        }
    }

    fn of_chunk(left: u64) -> Self {
        if left == 0 {
            Self::Behind
        } else {
            Self::Chunk(left)
        }
    }

    /// Of the line before a chunk; what stands behind a semicolon is an extension.
    fn of_size(line: &str) -> Result<Self, String> {
        let digits = line.split(';').next().unwrap_or_default().trim();
        match u64::from_str_radix(digits, 16) {
            Ok(0) => Ok(Self::Trailer),
            Ok(bytes) => Ok(Self::Chunk(bytes)),
            Err(_) => Err(format!("`{line}` begins no chunk")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        5\r\nab\ncd\r\nB;x=y\r\n0123456789\n\r\n0\r\nTrailer: x\r\n\r\n";
    const OF_LENGTH: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\nab\ncd0123456789\n";

    /// The body of an answer that is read by so many bytes at once.
    fn body(answer: &[u8], piece: usize) -> Result<Vec<u8>, String> {
        let (mut reading, mut body) = (Answer::default(), Vec::new());
        let mut is_whole = false;
        for part in answer.chunks(piece) {
            assert!(!is_whole, "it ended too early");
            is_whole = reading.feed(part, |piece| body.extend_from_slice(piece))?;
        }
        is_whole.then_some(body).ok_or("it did not end".into())
    }

    proptest! {
        #[test]
        fn a_body_is_the_same_wherever_reads_cut_and_however_it_is_framed(piece in 1usize..120) {
            for answer in [CHUNKED, OF_LENGTH] {
                prop_assert_eq!(body(answer, piece).unwrap(), b"ab\ncd0123456789\n");
            }
        }
    }

    #[test]
    fn what_is_no_success_says_what_it_is() {
        let refused = b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone";
        assert_eq!(
            body(refused, 500).unwrap_err(),
            "answered HTTP/1.1 404 Not Found: none"
        );
        assert!(body(b"SSH-2.0\r\n\r\n", 500).is_err());
    }

    #[test]
    fn what_ends_too_early_is_not_whole_and_what_goes_on_is_an_error() {
        for answer in [CHUNKED, OF_LENGTH] {
            let cut = &answer[..answer.len() - 1];
            assert_eq!(body(cut, 500).unwrap_err(), "it did not end");
            let more = [answer, b"x"].concat();
            assert!(body(&more, 500).unwrap_err().contains("behind"));
        }
        let empty = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(body(empty, 500).unwrap(), b"");
        assert!(body(b"HTTP/1.1 200 OK\r\n\r\n", 500).is_err());
        let odd = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n";
        assert!(body(odd, 500).unwrap_err().contains("begins no chunk"));
    }
}
