//! POST by HTTP/1.1 (RFC 9112): pipelined where more than one call is under way, answered in order.

use std::collections::VecDeque;

use super::{Caller, Ended, Number, Service};
use crate::sockets::{Tcp, Traffic, http1};

/// A connection and the calls on it.
pub(super) struct Http1 {
    tcp: Tcp,
    /// What came and was not taken yet.
    input: Vec<u8>,
    head: String,
    waiting: VecDeque<Number>,
}

impl Http1 {
    pub(super) fn open(service: &Service<'_>) -> Result<Self, String> {
        let (path, address) = (service.path, service.peer.address);
        let media = service.coding.media();
        Ok(Self {
            tcp: Tcp::connect(&service.peer, Some("http/1.1"))?,
            input: Vec::new(),
            head: format!("POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {media}\r\n"),
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
        self.tcp.send(&request)
    }

    fn next(&mut self) -> Result<Ended, String> {
        loop {
            if let Some((status, body, length)) = http1::response(&self.input)? {
                let body = body.into_owned();
                self.input.drain(..length);
                let number = self.waiting.pop_front();
                return Ended::answered(number.ok_or("an answer nobody asked for")?, status, body);
            }
            self.tcp.receive_more(&mut self.input)?;
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        self.tcp.traffic()
    }
}
