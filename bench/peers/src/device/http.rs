//! HTTP/1.1: a request and its response on a connection that stays open (RFC 9112).

use super::{Device, Times, length_is};
use crate::device::job::Method;
use crate::http1::{Http1, request};
use crate::sockets::{Peer, Traffic};

/// A client's connection.
pub(super) struct Http {
    http: Http1,
    host: String,
    target: String,
    /// A request that gives the resource its representation first.
    first: Option<Method>,
    /// The method that is answered by an echo.
    ask: Method,
}

impl Http {
    pub(super) fn open(
        peer: &Peer,
        target: &str,
        first: Option<Method>,
        ask: Method,
    ) -> Result<Self, String> {
        Ok(Self {
            http: Http1::open(peer)?,
            host: peer.address.to_string(),
            target: target.into(),
            first,
            ask,
        })
    }

    /// Sends a request with a body; the length of the response's.
    fn request(&mut self, method: Method, body: &[u8]) -> Result<usize, String> {
        let kind = match method {
            Method::Get => "Accept: text/plain",
            Method::Post | Method::Put => "Content-Type: text/plain",
        };
        let asked = format!("{} {}", method.name(), self.target);
        self.http.send(&request(&asked, &self.host, kind, body))?;
        Ok(self.http.success()?.len())
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
        length_is(self.request(self.ask, payload)?, payload)
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.http.traffic()?)
    }
}
