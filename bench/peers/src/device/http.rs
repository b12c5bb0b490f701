//! HTTP/1.1: a request and its response on a connection that stays open (RFC 9112).

use super::{Device, Times};
use crate::device::job::Method;
use crate::sockets::{Peer, Tcp, Traffic, http1};
use weir_bench_model::limits::{READ_BYTES_MAX, RESPONSE_BYTES_MAX};

/// A client's connection.
pub(super) struct Http {
    tcp: Tcp,
    host: String,
    target: String,
    /// A request that gives the resource its representation first.
    first: Option<Method>,
    /// The method that is answered by an echo.
    ask: Method,
    buffer: Vec<u8>,
    answer: Vec<u8>,
}

impl Http {
    pub(super) fn open(
        peer: &Peer,
        target: &str,
        first: Option<Method>,
        ask: Method,
    ) -> Result<Self, String> {
        Ok(Self {
            tcp: Tcp::connect(peer, Some("http/1.1"))?,
            host: peer.address.to_string(),
            target: target.into(),
            first,
            ask,
            buffer: vec![0; READ_BYTES_MAX],
            answer: Vec::new(),
        })
    }

    /// Sends a request with a body; the length of the response's.
    fn request(&mut self, method: Method, body: &[u8]) -> Result<usize, String> {
        let kind = match method {
            Method::Get => "Accept",
            Method::Post | Method::Put => "Content-Type",
        };
        let mut request = format!(
            "{} {} HTTP/1.1\r\nHost: {}\r\n{kind}: text/plain\r\nContent-Length: {}\r\n\r\n",
            method.name(),
            self.target,
            self.host,
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        self.tcp.send(&request)?;
        self.answer.clear();
        loop {
            let length = self.tcp.receive(&mut self.buffer)?;
            self.answer.extend_from_slice(&self.buffer[..length]);
            if let Some(body_bytes) = whole(&self.answer)? {
                return Ok(body_bytes);
            }
            if self.answer.len() > RESPONSE_BYTES_MAX {
                return Err("the server's answer has no end".into());
            }
        }
    }
}

/// The length of a response's body, once all of it is there.
fn whole(answer: &[u8]) -> Result<Option<usize>, String> {
    match http1::response(answer).map_err(|cause| cause.to_string())? {
        None => Ok(None),
        Some((200..300, body, _)) => Ok(Some(body.len())),
        Some((status, body, _)) => {
            let body = String::from_utf8_lossy(&body);
            Err(format!("answered {status} {body}"))
        }
    }
}

impl Device for Http {
    fn prepare(&mut self, payload: &[u8]) -> Result<(), String> {
        match self.first {
            Some(method) => self.request(method, payload).map(drop),
            None => Ok(()),
        }
    }

    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String> {
        match self.request(self.ask, payload)? {
            length if length == payload.len() => Ok(Some(Times::now())),
            length => Err(format!("the response carries {length} bytes")),
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.tcp.traffic()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_whole_when_its_body_is() {
        let head = b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 3\r\n\r\n";
        assert_eq!(whole(&head[..20]), Ok(None));
        assert_eq!(whole(&[&head[..], b"ab"].concat()), Ok(None));
        assert_eq!(whole(&[&head[..], b"abc"].concat()), Ok(Some(3)));
        assert_eq!(whole(b"HTTP/1.1 204 No Content\r\n\r\n"), Ok(Some(0)));
        assert!(whole(b"HTTP/1.1 404 Not Found\r\n\r\n").is_err());
    }
}
