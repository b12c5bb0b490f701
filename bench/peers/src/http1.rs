//! HTTP/1.1 (RFC 9112): requests on a connection that stays open, pipelined or not, and their answers in order.
//!
//! A request is written by [`request`].

pub use weir_bench_load::load::http::request;
use weir_bench_load::load::http::{Unreadable, first};

use crate::error::{Cause, Error};
use crate::sockets::{Peer, Tcp, Traffic};
use weir_bench_model::limits::RESPONSE_BYTES_MAX;

/// A connection.
pub struct Http1 {
    tcp: Tcp,
    /// What came and was not taken yet.
    input: Vec<u8>,
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The body, without the heads of chunks.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// The body of a success.
    pub(crate) fn success(self) -> Result<Vec<u8>, Cause> {
        match self.status {
            200..300 => Ok(self.body),
            status => {
                let said = String::from_utf8_lossy(&self.body);
                Err(Cause::Refused(format!("{status} {said}")))
            }
        }
    }
}

const WAITING: &str = "waiting for an answer by HTTP/1.1";

impl Http1 {
    /// Connects.
    pub fn open(peer: &Peer) -> Result<Self, Error> {
        Tcp::connect(peer, Some("http/1.1")).map(Self::over)
    }

    /// Speaks over a connection that is open already.
    pub fn over(tcp: Tcp) -> Self {
        let input = Vec::new();
        Self { tcp, input }
    }

    /// Sends a whole request.
    pub fn send(&mut self, request: &[u8]) -> Result<(), Error> {
        self.tcp.send(request)
    }

    /// Waits for the next answer, whatever its status is.
    pub fn response(&mut self) -> Result<HttpResponse, Error> {
        loop {
            let unreadable = |e: Unreadable| self.tcp.failed(Cause::Unlike(e.into()), WAITING);
            while let Some((answer, length)) = first(&self.input).map_err(unreadable)? {
                let (status, body) = (answer.status, answer.content().into_owned());
                self.input.drain(..length);
                // 1xx is not the answer yet (RFC 9110 section 15.2).
                if status >= 200 {
                    return Ok(HttpResponse { status, body });
                }
            }
            if self.input.len() > RESPONSE_BYTES_MAX {
                return Err(unreadable(Unreadable::TooLong));
            }
            self.tcp.receive_more(&mut self.input)?;
        }
    }

    /// The body of the next answer, which is to be a success.
    pub fn success(&mut self) -> Result<Vec<u8>, Error> {
        let body = self.response()?.success();
        body.map_err(|cause| self.tcp.failed(cause, WAITING))
    }

    /// What went over the link since it was opened.
    pub fn traffic(&self) -> Result<Traffic, Error> {
        self.tcp.traffic()
    }
}
