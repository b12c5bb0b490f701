//! Requests of the ACME client by the HTTP client that the house has: from a thread that may wait.

use crate::fetch::{self, Roots};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use ureq::http::{Request, Response};

/// For how long an authority may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest answer of an authority, bytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// What asks the authority.
pub(super) struct Asking(ureq::Agent);

impl Asking {
    pub(super) fn new(roots: &Roots) -> Self {
        Self(fetch::agent(roots, PATIENCE))
    }
}

impl HttpClient for Asking {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let agent = self.0.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await;
            let body = body.map_err(|error| Error::Other(error.into()))?.to_bytes();
            // What has no body must not say that it has an empty one.
            let answer = match body.is_empty() {
                true => agent.run(Request::from_parts(head, ())),
                false => agent.run(Request::from_parts(head, body.to_vec())),
            };
            let answer = answer.map_err(|error| Error::Other(error.into()))?;
            let (head, mut body) = answer.into_parts();
            let limited = body.with_config().limit(ANSWER_BYTES_MAX);
            let body = limited.read_to_vec();
            let body = body.map_err(|error| Error::Other(error.into()))?;
            Ok(Response::from_parts(head, Full::new(Bytes::from(body))).into())
        })
    }
}
