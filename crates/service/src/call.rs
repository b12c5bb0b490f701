//! What is asked of a service.

use crate::work::Workers;
use bytes::Bytes;
use std::net::IpAddr;
use std::sync::Arc;
use weir_hub::trace::Incoming;
use weir_hub::{Framing, Principal};
use weir_model::Time;

/// What is asked of a service.
pub struct Call {
    /// On whose behalf.
    pub principal: Principal,
    /// Where the request came from, where the protocol tells.
    pub peer: Option<IpAddr>,
    /// `http` or `https`, where the client's own link speaks one of them.
    pub scheme: Option<&'static str>,
    /// The gateway's clock.
    pub now: Time,
    /// `GET`, `POST`, ... as HTTP spells it.
    pub method: String,
    /// The path, percent-encoding as received, without the query.
    pub path: String,
    /// Decoded pairs of the query, in order; a name without `=` has an empty value.
    pub query: Vec<(String, String)>,
    /// The query, percent-encoding as received, where the protocol has it as one text: for services that tell what is
    /// encoded from what separates.
    pub raw_query: String,
    /// Header fields, names in lower case; other protocols spell their options as these.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
    /// How the protocol wraps what streams, shared by all who are wrapped alike.
    pub wrapper: Arc<dyn Wrapper>,
    /// Where work goes that takes a while ([`crate::answer_of`]).
    pub workers: Arc<dyn Workers>,
    /// WebSocket subprotocols offered, where the call asks to become a WebSocket.
    pub websocket: Option<Vec<String>>,
    /// How it came, for the trace of what it publishes.
    pub incoming: Incoming,
}

impl Call {
    /// The first header field of this (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The first query value of this name.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// All query values of this name.
    pub fn queries<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.query
            .iter()
            .filter(move |(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// How a protocol wraps a stream of frames (HTTP/1.1 chunks, content codings).
pub trait Wrapper: Send + Sync {
    /// Wraps a framing, so that a group's subscribers share the wrapped bytes too.
    fn framing(&self, inner: Arc<dyn Framing>) -> Arc<dyn Framing>;

    /// Wraps what goes to one subscriber only.
    fn bytes(&self, inner: &[u8], out: &mut Vec<u8>);
}

/// Wraps nothing: for protocols that carry frames as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsItIs;

impl Wrapper for AsItIs {
    fn framing(&self, inner: Arc<dyn Framing>) -> Arc<dyn Framing> {
        inner
    }

    fn bytes(&self, inner: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(inner);
    }
}
