//! Host metadata (RFC 6415): by what the gateway is reached through servers of others, for who knows its address
//! alone. So browsers find the WebSocket of the XMPP server that it is behind (XEP-0156).

use weir_codec::document::Xml;
use weir_service::Response;

/// The document as XRD.
pub(crate) const XRD: &str = "/.well-known/host-meta";
/// The same as JRD.
pub(crate) const JRD: &str = "/.well-known/host-meta.json";

type Link = (&'static str, String);

pub(crate) fn xrd(links: &[Link]) -> Response {
    let mut xml = Xml::new();
    xml.start("XRD")
        .attribute("xmlns", "http://docs.oasis-open.org/ns/xri/xrd-1.0");
    for (rel, href) in links {
        xml.start("Link")
            .attribute("rel", rel)
            .attribute("href", href)
            .end();
    }
    as_it_is_now("application/xrd+xml", xml.finish())
}

pub(crate) fn jrd(links: &[Link]) -> Response {
    let link = |(rel, href): &Link| serde_json::json!({"rel": rel, "href": href});
    let links: Vec<_> = links.iter().map(link).collect();
    let body = serde_json::json!({"links": links});
    as_it_is_now("application/jrd+json", body.to_string())
}

fn as_it_is_now(media: &str, body: String) -> Response {
    Response::with_body(200, media, body).header("cache-control", "no-cache")
}
