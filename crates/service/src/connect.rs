//! A protocol as client.

use crate::client::{Caller, LocalFuture, Pages, Past, Publisher, Subscriber, Target};
use crate::web::Web;
use bytes::Bytes;
use std::io;
use weir_model::{Cursor, Filter};

/// A protocol as client.
pub trait Connect: Send + Sync {
    /// URL schemes of its client.
    fn schemes(&self) -> &'static [&'static str];

    /// Opens a publisher.
    fn publisher(&self, target: Target) -> LocalFuture<'static, io::Result<Box<dyn Publisher>>>;

    /// Opens a subscriber.
    fn subscriber(
        &self,
        target: Target,
        filters: Vec<Filter>,
        since: Option<Cursor>,
    ) -> LocalFuture<'static, io::Result<Box<dyn Subscriber>>>;

    /// What posts to a URL that is no gateway's, and trusts these roots (PEM) beside the Web's; a protocol in which
    /// nothing is posted says so.
    fn caller(&self, url: &str, _roots: Option<&Bytes>) -> io::Result<Box<dyn Caller>> {
        let sentence = format!("nothing is posted to `{url}`: take http");
        Err(io::Error::new(io::ErrorKind::Unsupported, sentence))
    }

    /// What carries the requests of a service's client to the server of a URL; a protocol that has no such
    /// requests says so.
    fn web(&self, target: &Target, url: &str) -> io::Result<Box<dyn Web>> {
        let sentence = format!("{} carries no requests to `{url}`: take http", target.url);
        Err(io::Error::new(io::ErrorKind::Unsupported, sentence))
    }

    /// Opens the past; a protocol in which none can be asked for says so.
    fn past(
        &self,
        _target: Target,
        _past: Past,
    ) -> LocalFuture<'static, io::Result<Box<dyn Pages>>> {
        let sentence = format!(
            "{}: the past cannot be asked for: take http",
            self.schemes().join(", ")
        );
        let refused = io::Error::new(io::ErrorKind::Unsupported, sentence);
        Box::pin(std::future::ready(Err(refused)))
    }
}
