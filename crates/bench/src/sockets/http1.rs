//! Responses of HTTP/1.1 with a length (RFC 9112), cut from what came.
//!
//! What it deliberately does not do: chunks, which none of the servers sends that are asked so.

use crate::limits::RESPONSE_BYTES_MAX;

/// Status, body and length of a whole response.
pub(crate) type Response<'a> = (u16, &'a [u8], usize);

/// The first whole response; nothing where it is not whole yet.
pub(crate) fn response(input: &[u8]) -> Result<Option<Response<'_>>, String> {
    let Some(end) = memchr::memmem::find(input, b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(&input[..end]);
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let status = status.and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| format!("no status in {head:?}"))?;
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    // 204 has no body and says so by itself (RFC 9110 section 15.3.5).
    let length: usize = length.unwrap_or(0);
    if length > RESPONSE_BYTES_MAX {
        return Err(format!("an answer of {length} bytes"));
    }
    let begin = end + 4;
    let body = input.get(begin..begin + length);
    Ok(body.map(|body| (status, body, begin + length)))
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
        assert_eq!((status, body), (200, &b"ok"[..]));
        let (status, body, _) = response(&input[length..]).unwrap().unwrap();
        assert_eq!((status, body), (204, &b""[..]));
        assert_eq!(response(&input[..length - 1]).unwrap(), None);
        assert!(response(b"odd\r\n\r\n").is_err());
    }
}
