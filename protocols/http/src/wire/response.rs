//! Response heads (RFC 9112 section 4).

use alloc::string::String;
use alloc::vec::Vec;

/// The answer to `Expect: 100-continue` (RFC 9110 section 10.1.1).
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// How what follows a head is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// So many bytes.
    Length(usize),
    /// Chunks.
    Chunked,
    /// The end of the connection.
    Close,
    /// Nothing follows, and nothing is said of a length (RFC 9110 section 8.6: 1xx and 204).
    Nothing,
}

/// Appends a head; `keep_alive` is what is said of the connection, where it must be.
pub fn write_head<'a>(
    status: u16,
    headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    delimiter: Delimiter,
    keep_alive: Option<bool>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"HTTP/1.1 ");
    decimal(usize::from(status), out);
    out.push(b' ');
    out.extend_from_slice(phrase(status).as_bytes());
    out.extend_from_slice(b"\r\n");
    for (name, value) in headers {
        field(name, value, out);
    }
    match delimiter {
        Delimiter::Length(length) => {
            out.extend_from_slice(b"content-length: ");
            decimal(length, out);
            out.extend_from_slice(b"\r\n");
        }
        Delimiter::Chunked => field("transfer-encoding", "chunked", out),
        Delimiter::Close | Delimiter::Nothing => {}
    }
    match keep_alive {
        None => {}
        Some(true) => field("connection", "keep-alive", out),
        Some(false) => field("connection", "close", out),
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a field line; a value never breaks out of its line, whatever it holds.
fn field(name: &str, value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    if value.bytes().any(|byte| byte == b'\r' || byte == b'\n') {
        let one_line: String = value.replace(['\r', '\n'], " ");
        out.extend_from_slice(one_line.as_bytes());
    } else {
        out.extend_from_slice(value.as_bytes())
    }
    out.extend_from_slice(b"\r\n");
}

fn decimal(mut number: usize, out: &mut Vec<u8>) {
    let start = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out[start..].reverse();
}

/// Appends the line that begins a chunk of so many bytes.
pub fn chunk_line(length: usize) -> ([u8; 18], usize) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut line = [0; 18];
    let digits = (usize::BITS - length.max(1).leading_zeros()).div_ceil(4) as usize;
    for (at, digit) in line[..digits].iter_mut().enumerate() {
        *digit = DIGITS[(length >> (4 * (digits - 1 - at))) & 15];
    }
    line[digits..digits + 2].copy_from_slice(b"\r\n");
    (line, digits + 2)
}

/// What ends a chunked body.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// The reason phrase of RFC 9110 section 15, or nothing.
pub fn phrase(status: u16) -> &'static str {
    let found = PHRASES.iter().find(|(known, _)| *known == status);
    found.map_or("", |(_, phrase)| phrase)
}

const PHRASES: &[(u16, &str)] = &[
    (101, "Switching Protocols"),
    (200, "OK"),
    (201, "Created"),
    (202, "Accepted"),
    (204, "No Content"),
    (206, "Partial Content"),
    (301, "Moved Permanently"),
    (302, "Found"),
    (303, "See Other"),
    (304, "Not Modified"),
    (307, "Temporary Redirect"),
    (308, "Permanent Redirect"),
    (400, "Bad Request"),
    (401, "Unauthorized"),
    (403, "Forbidden"),
    (404, "Not Found"),
    (405, "Method Not Allowed"),
    (406, "Not Acceptable"),
    (408, "Request Timeout"),
    (409, "Conflict"),
    (410, "Gone"),
    (411, "Length Required"),
    (412, "Precondition Failed"),
    (413, "Content Too Large"),
    (414, "URI Too Long"),
    (415, "Unsupported Media Type"),
    (417, "Expectation Failed"),
    (422, "Unprocessable Content"),
    (426, "Upgrade Required"),
    (429, "Too Many Requests"),
    (431, "Request Header Fields Too Large"),
    (500, "Internal Server Error"),
    (501, "Not Implemented"),
    (502, "Bad Gateway"),
    (503, "Service Unavailable"),
    (504, "Gateway Timeout"),
    (505, "HTTP Version Not Supported"),
    (507, "Insufficient Storage"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_line_is_hexadecimal_without_zeros_before_it() {
        for (length, line) in [
            (1, "1\r\n"),
            (16, "10\r\n"),
            (0x1f4a, "1f4a\r\n"),
            (usize::MAX, "ffffffffffffffff\r\n"),
        ] {
            let (bytes, end) = chunk_line(length);
            assert_eq!(&bytes[..end], line.as_bytes());
        }
    }

    #[test]
    fn a_value_cannot_break_out_of_its_line() {
        let mut out = Vec::new();
        let headers = [("etag", "a\r\nset-cookie: b")];
        write_head(200, headers, Delimiter::Length(0), Some(false), &mut out);
        let expected = "HTTP/1.1 200 OK\r\netag: a  set-cookie: b\r\n\
            content-length: 0\r\nconnection: close\r\n\r\n";
        assert_eq!(out, expected.as_bytes());
    }
}
