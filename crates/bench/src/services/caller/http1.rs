//! POST by HTTP/1.1 (RFC 9112): pipelined where more than one call is under way, answered in order.

use std::collections::VecDeque;

use super::wire::Wire;
use super::{Caller, Ended, Number, Service};
use crate::limits::RESPONSE_BYTES_MAX;
use crate::link_efficiency::traffic::Traffic;

/// A connection and the calls on it.
pub(super) struct Http1 {
    wire: Wire,
    head: String,
    waiting: VecDeque<Number>,
}

impl Http1 {
    pub(super) fn open(service: &Service<'_>) -> Result<Self, String> {
        let (path, address) = (service.path, service.address);
        Ok(Self {
            wire: Wire::open(service, "http/1.1")?,
            head: format!(
                "POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/x-protobuf\r\n"
            ),
            waiting: VecDeque::new(),
        })
    }
}

impl Caller for Http1 {
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String> {
        let mut request =
            format!("{}Content-Length: {}\r\n\r\n", self.head, message.len()).into_bytes();
        request.extend_from_slice(message);
        self.waiting.push_back(number);
        self.wire.send(&request)
    }

    fn next(&mut self) -> Result<Ended, String> {
        loop {
            if let Some((status, body, length)) = response(&self.wire.input)? {
                let body = body.to_vec();
                self.wire.input.drain(..length);
                let number = self
                    .waiting
                    .pop_front()
                    .ok_or("an answer nobody asked for")?;
                return match status {
                    200..300 => Ok(Ended::Answered(number, body)),
                    _ => Err(format!(
                        "answered {status} {}",
                        String::from_utf8_lossy(&body)
                    )),
                };
            }
            self.wire.receive()?;
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        self.wire.traffic()
    }
}

/// Status, body and length of a whole response.
type Response<'a> = (u16, &'a [u8], usize);

/// The first whole response; nothing where it is not whole yet.
fn response(input: &[u8]) -> Result<Option<Response<'_>>, String> {
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
