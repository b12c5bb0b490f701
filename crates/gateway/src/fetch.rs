//! What the gateway itself asks of the Web, from threads that may wait: traces go out, certificates come in.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use weir_model::Url;

/// Authorities in PEM that are trusted in the place of the Web's.
pub(crate) type Roots = Option<Vec<Certificate<'static>>>;

/// Reads the authorities of a file.
pub(crate) fn roots(file: Option<&Path>) -> Result<Roots, String> {
    let Some(file) = file else { return Ok(None) };
    let place = file.display();
    let text = std::fs::read(file).map_err(|error| format!("cannot read {place}: {error}"))?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        let item = item.map_err(|error| format!("{place}: {error}"))?;
        if let PemItem::Certificate(certificate) = item {
            found.push(certificate);
        }
    }
    match found.is_empty() {
        true => Err(format!(
            "{place}: no certificate: expected `-----BEGIN CERTIFICATE-----`"
        )),
        false => Ok(Some(found)),
    }
}

/// What asks, and waits so long for an answer; every status is an answer, and nothing is followed.
pub(crate) fn agent(roots: &Roots, patience: Duration) -> ureq::Agent {
    let trusted = match roots {
        Some(roots) => RootCerts::Specific(Arc::new(roots.clone())),
        None => RootCerts::WebPki,
    };
    ureq::Agent::config_builder()
        .timeout_global(Some(patience))
        .http_status_as_error(false)
        .max_redirects(0)
        .tls_config(TlsConfig::builder().root_certs(trusted).build())
        .build()
        .new_agent()
}

/// Says whether what is sent to a URL is read by nobody on its way: by TLS, or on this machine.
pub(crate) fn is_private(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let is_local = matches!(url.authority.host, "127.0.0.1" | "::1" | "localhost");
    url.scheme == "https" || url.scheme == "http" && is_local && url.authority.userinfo.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_can_read_on_its_way_is_not_private() {
        let private = [
            "https://a.example/x",
            "http://127.0.0.1:4318",
            "http://[::1]:1/",
            "http://localhost",
        ];
        assert!(private.iter().all(|url| is_private(url)));
        let open = [
            "http://a.example",
            "http://127.0.0.1.example:80",
            "http://127.0.0.1:80@a.example/",
            "http://localhost@a.example/",
            "ftp://localhost",
        ];
        assert!(open.iter().all(|url| !is_private(url)));
    }
}
