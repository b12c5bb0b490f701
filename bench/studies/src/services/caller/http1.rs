//! POST by HTTP/1.1 (RFC 9112): pipelined where more than one call is under way, answered in order.

use std::collections::VecDeque;

use super::{Caller, Ended, Number, Service};
use weir_bench_peers::Traffic;
use weir_bench_peers::http1::{Http1, request};

/// A connection and the calls on it.
pub(super) struct Calls {
    http: Http1,
    path: String,
    host: String,
    media: String,
    waiting: VecDeque<Number>,
}

impl Calls {
    pub(super) fn open(service: &Service<'_>) -> Result<Self, String> {
        Ok(Self {
            http: Http1::open(&service.peer)?,
            path: service.path.into(),
            host: service.peer.address.to_string(),
            media: format!("Content-Type: {}", service.coding.media()),
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
        let asked = format!("POST /{path}");
        self.waiting.push_back(number);
        let request = request(&asked, &self.host, &self.media, message);
        Ok(self.http.send(&request)?)
    }
}

impl Caller for Calls {
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String> {
        let path = std::mem::take(&mut self.path);
        let sent = self.post(&path, number, message);
        self.path = path;
        sent
    }

    fn next(&mut self) -> Result<Ended, String> {
        let body = self.http.success()?;
        let number = self.waiting.pop_front();
        Ok(Ended::Answered(
            number.ok_or("an answer nobody asked for")?,
            body,
        ))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.http.traffic()?)
    }
}
