//! A whole answer, and one that is still to come.

use bytes::Bytes;
use std::task::{Context, Poll};
use std::time::Duration;

/// A whole answer. Status codes are HTTP's (RFC 9110 section 15); other protocols map them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Three digits.
    pub status: u16,
    /// Header fields.
    pub headers: Vec<(&'static str, String)>,
    /// The whole body.
    pub body: Bytes,
}

impl Response {
    /// An answer without a body.
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// A text body; errors are one sentence that says what to do.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        let text = text.into() + "\n";
        Self::with_body(status, "text/plain; charset=utf-8", text.into_bytes())
    }

    /// A body of a media type.
    pub fn with_body(status: u16, media: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type", media.to_owned())];
        Self {
            status,
            headers,
            body: body.into(),
        }
    }

    /// The answer with one more header field.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// An answer that is still to come.
pub trait Pending: Send {
    /// The answer, once ready.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response>;

    /// How long to wait for it at most.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// The answer when patience ends.
    fn expire(&mut self) -> Response {
        Response::text(503, "not ready in time: try again")
    }
}
