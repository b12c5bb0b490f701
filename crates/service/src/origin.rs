//! Where the client of a call found the gateway: what absolute URLs in an answer begin with.
//!
//! What it deliberately does not do: ask the listeners, or read what a proxy says it was asked by: whether that is
//! to be believed knows only the protocol, which then says it as if there were no proxy. What a client says of itself
//! goes into answers to itself alone, and only where it could be a host.

use crate::call::Call;

/// Bytes of a host and port that are believed.
const AUTHORITY_BYTES_MAX: usize = 255;

impl Call {
    /// Scheme and authority by which the client reached the gateway (RFC 6454 section 6.2); `None` where it
    /// named no host, as protocols without one do.
    pub fn origin(&self) -> Option<String> {
        let scheme = if self.is_secured() { "https" } else { "http" };
        Some(format!("{scheme}://{}", self.authority()?))
    }

    /// [`Call::origin`], or that of this machine, for answers that hold nothing but absolute URLs.
    pub fn origin_or_local(&self) -> String {
        self.origin().unwrap_or_else(|| "http://127.0.0.1".into())
    }

    /// Host and port as the client named them.
    pub fn authority(&self) -> Option<&str> {
        self.header("host").filter(|named| is_authority(named))
    }

    /// Whether the client speaks TLS.
    pub fn is_secured(&self) -> bool {
        self.scheme == Some("https")
    }
}

/// What could break out of a URL is no host.
fn is_authority(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !text.is_empty() && text.len() <= AUTHORITY_BYTES_MAX && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsItIs, AtOnce};
    use std::sync::Arc;
    use weir_hub::Principal;
    use weir_model::Time;

    fn call(scheme: Option<&'static str>, headers: &[(&str, &str)]) -> Call {
        let headers = headers.iter();
        Call {
            principal: Principal::unrestricted(),
            peer: None,
            scheme,
            now: Time::from_nanos(0),
            method: "GET".into(),
            path: "/sos".into(),
            query: Vec::new(),
            raw_query: String::new(),
            headers: headers.map(|(n, v)| ((*n).into(), (*v).into())).collect(),
            body: Default::default(),
            wrapper: Arc::new(AsItIs),
            workers: Arc::new(AtOnce),
            websocket: None,
            incoming: Default::default(),
        }
    }

    #[test]
    fn the_origin_is_what_the_client_names() {
        let host = ("host", "weir.example:8443");
        let said = [
            host,
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "evil.example"),
            ("forwarded", "host=evil.example;proto=https"),
        ];
        for (scheme, headers, origin) in [
            (Some("http"), &[host][..], Some("http://weir.example:8443")),
            (Some("https"), &[host], Some("https://weir.example:8443")),
            (Some("http"), &said, Some("http://weir.example:8443")),
            (
                Some("http"),
                &[("host", "[::1]:80")],
                Some("http://[::1]:80"),
            ),
            (Some("http"), &[("host", "a/<b>")], None),
            (Some("http"), &[("host", &"h".repeat(256))], None),
            (None, &[], None),
        ] {
            let call = call(scheme, headers);
            assert_eq!(call.origin().as_deref(), origin, "{scheme:?} {headers:?}");
        }
        assert_eq!(call(None, &[]).origin_or_local(), "http://127.0.0.1");
    }
}
