//! Responses of HTTP/1.1 with a length or in chunks (RFC 9112), cut from what came.
//!
//! What it deliberately does not do: extensions of chunks and fields behind them, which no server here sends.

use std::borrow::Cow;

use crate::error::Cause;
use weir_bench_model::limits::RESPONSE_BYTES_MAX;

/// Status, body and length of a whole response.
pub type Response<'a> = (u16, Cow<'a, [u8]>, usize);

/// The first whole response; nothing where it is not whole yet.
pub fn response(input: &[u8]) -> Result<Option<Response<'_>>, Cause> {
    let Some(end) = memchr::memmem::find(input, b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(&input[..end]);
    let status = head.split(' ').nth(1).and_then(|status| status.get(..3));
    let status = status.and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| Cause::Unlike(format!("no status in {head:?}")))?;
    let begin = end + 4;
    if field(&head, "transfer-encoding").is_some_and(|coding| coding == "chunked") {
        let chunks = chunks(&input[begin..])?;
        return Ok(chunks.map(|(body, length)| (status, Cow::Owned(body), begin + length)));
    }
    // 204 has no body and says so by itself (RFC 9110 section 15.3.5).
    let length = field(&head, "content-length").map_or(Ok(0), str::parse);
    let length: usize = length.map_err(|_| Cause::Unlike(format!("no length in {head:?}")))?;
    within(length)?;
    let body = input.get(begin..begin + length);
    Ok(body.map(|body| (status, Cow::Borrowed(body), begin + length)))
}

/// The value of the first field of a name in small letters.
fn field<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let found = lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found.map(|(_, value)| value.trim())
}

fn within(length: usize) -> Result<(), Cause> {
    match length > RESPONSE_BYTES_MAX {
        true => Err(Cause::Unlike(format!("an answer of {length} bytes"))),
        false => Ok(()),
    }
}

/// A body in chunks (RFC 9112 section 7.1) and how long it is with them; nothing where the last is missing.
fn chunks(input: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Cause> {
    let (mut body, mut at) = (Vec::new(), 0);
    while let Some(end) = memchr::memmem::find(&input[at..], b"\r\n") {
        let line = String::from_utf8_lossy(&input[at..at + end]);
        let length = usize::from_str_radix(line.trim(), 16);
        let length = length.map_err(|_| Cause::Unlike(format!("`{line}` begins no chunk")))?;
        within(body.len().saturating_add(length))?;
        let begin = at + end + 2;
        let Some(chunk) = input.get(begin..begin + length + 2) else {
            return Ok(None);
        };
        body.extend_from_slice(&chunk[..length]);
        at = begin + length + 2;
        if length == 0 {
            return Ok(Some((body, at)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn answers_are_cut_where_they_end_and_awaited_where_they_do_not() {
        let input =
            b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\n\r\nokHTTP/1.1 204 No Content\r\n\r\n";
        let (status, body, length) = response(input).unwrap().unwrap();
        assert_eq!((status, &body[..]), (200, &b"ok"[..]));
        let (status, body, _) = response(&input[length..]).unwrap().unwrap();
        assert_eq!((status, &body[..]), (204, &b""[..]));
        assert_eq!(response(&input[..length - 1]).unwrap(), None);
        assert!(response(b"odd\r\n\r\n").is_err());
    }

    #[test]
    fn chunks_are_joined_once_the_last_is_there() {
        let whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n";
        let (status, body, length) = response(whole).unwrap().unwrap();
        assert_eq!((status, &body[..]), (200, &b"abc0123456789"[..]));
        assert_eq!(length, whole.len());
        let cut = (0..whole.len()).all(|end| response(&whole[..end]).unwrap().is_none());
        assert!(cut);
        let odd = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n";
        assert!(response(odd).is_err());
    }
}
