//! POST by HTTP/2 (RFC 9113), known beforehand or by ALPN: a stream a call.

use std::collections::BTreeMap;

use super::{Caller, Ended, Number, Service};
use weir_bench_peers::Traffic;
use weir_bench_peers::http2::Http2;

/// A connection and the calls on it, by their streams.
pub(super) struct Calls {
    http: Http2,
    calls: BTreeMap<u32, Number>,
}

impl Calls {
    pub(super) fn open(service: &Service<'_>) -> Result<Self, String> {
        let http = Http2::open(&service.peer, service.path, service.coding.media())?;
        let calls = BTreeMap::new();
        Ok(Self { http, calls })
    }
}

impl Caller for Calls {
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String> {
        self.calls.insert(self.http.post(message)?, number);
        Ok(())
    }

    fn next(&mut self) -> Result<Ended, String> {
        let (stream, body) = self.http.success()?;
        let number = self.calls.remove(&stream);
        Ok(Ended::Answered(
            number.ok_or("an answer nobody asked for")?,
            body,
        ))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.http.traffic()?)
    }
}
