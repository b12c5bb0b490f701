//! POST by HTTP/1.1 (RFC 9112): pipelined where more than one call is under way, answered in order.

use std::collections::VecDeque;

use super::{Caller, Ended, Number, Service};
use weir_bench_peers::sockets::{Tcp, Traffic, http1};

/// A connection and the calls on it.
pub(super) struct Http1 {
    tcp: Tcp,
    /// What came and was not taken yet.
    input: Vec<u8>,
    path: String,
    /// The fields of every request but for its length.
    fields: String,
    waiting: VecDeque<Number>,
}

impl Http1 {
    pub(super) fn open(service: &Service<'_>) -> Result<Self, String> {
        let (media, address) = (service.coding.media(), service.peer.address);
        Ok(Self {
            tcp: Tcp::connect(&service.peer, Some("http/1.1"))?,
            input: Vec::new(),
            path: service.path.into(),
            fields: format!("HTTP/1.1\r\nHost: {address}\r\nContent-Type: {media}\r\n"),
            waiting: VecDeque::new(),
        })
    }

    /// Sends a message to a path.
    pub(super) fn post(
        &mut self,
        path: &str,
        number: Number,
        message: &[u8],
    ) -> Result<(), String> {
        let (fields, length) = (&self.fields, message.len());
        let head = format!("POST /{path} {fields}Content-Length: {length}\r\n\r\n");
        let mut request = head.into_bytes();
        request.extend_from_slice(message);
        self.waiting.push_back(number);
        Ok(self.tcp.send(&request)?)
    }
}

impl Caller for Http1 {
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String> {
        let path = std::mem::take(&mut self.path);
        let sent = self.post(&path, number, message);
        self.path = path;
        sent
    }

    fn next(&mut self) -> Result<Ended, String> {
        loop {
            if let Some((status, body, length)) =
                http1::response(&self.input).map_err(|cause| cause.to_string())?
            {
                let body = body.into_owned();
                self.input.drain(..length);
                let number = self.waiting.pop_front();
                return Ended::answered(number.ok_or("an answer nobody asked for")?, status, body);
            }
            self.tcp.receive_more(&mut self.input)?;
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.tcp.traffic()?)
    }
}
