//! As much of HTTP/1.1 as reads pipelined answers: status, head, body by length or in chunks.
//!
//! Deliberately lenient: it measures servers, it does not judge them.

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
    pub fn feed(&mut self, bytes: &[u8], each: impl FnMut(Response<'_>)) -> Result<(), String> {
        if self.pending.is_empty() {
            let taken = cut(bytes, each)?;
            self.pending.extend_from_slice(&bytes[taken..]);
        } else {
            self.pending.extend_from_slice(bytes);
            let taken = cut(&self.pending, each)?;
            self.pending.drain(..taken);
        }
        if self.pending.len() > RESPONSE_BYTES_MAX {
            return Err(format!("an answer exceeds {RESPONSE_BYTES_MAX} bytes"));
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

fn cut(bytes: &[u8], mut each: impl FnMut(Response<'_>)) -> Result<usize, String> {
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

fn first(bytes: &[u8]) -> Result<Option<(Response<'_>, usize)>, String> {
    let Some(head_len) = head_len(bytes) else {
        return Ok(None);
    };
    let head = &bytes[..head_len - 4];
    let status = status(head).ok_or("an answer that is not HTTP/1")?;
    let Some(body_len) = body_len(status, head, &bytes[head_len..])? else {
        return Ok(None);
    };
    let Some(body) = bytes.get(head_len..head_len + body_len) else {
        return Ok(None);
    };
    Ok(Some((Response { status, head, body }, head_len + body_len)))
}

fn body_len(status: u16, head: &[u8], rest: &[u8]) -> Result<Option<usize>, String> {
    if status < 200 || status == 204 || status == 304 {
        return Ok(Some(0));
    }
    if let Some(length) = field(head, "content-length") {
        return length
            .parse()
            .map(Some)
            .map_err(|_| format!("Content-Length {length}"));
    }
    if field(head, "transfer-encoding").is_none() {
        return Err("an answer of unknown length".into());
    }
    if rest.starts_with(b"0\r\n\r\n") {
        return Ok(Some(5));
    }
    Ok(memmem::find(rest, b"\r\n0\r\n\r\n").map(|at| at + 7))
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
