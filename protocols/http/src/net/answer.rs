//! Answers as bytes: heads, compression, what CORS adds.

use super::date::Date;
use super::route::{EXPOSED, Meta};
use super::wrapper::{self, GZIP_HEADER, chunk};
use crate::limits::COMPRESS_BYTES_MIN;
use crate::wire::Version;
use crate::wire::response::{Delimiter, chunk_line, write_head};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::iter;
use std::sync::Arc;
use weir_binding::Response;
use weir_carrier::outbox::Outbox;
use weir_carrier::websocket::Offer;
use weir_hub::Memory;

/// Adds the fields that no service writes, and compresses where that is wanted and worth it.
pub(super) fn prepare(meta: &Meta, answer: &mut Response, memory: &Arc<Memory>) {
    common(meta, answer);
    if let Some(packed) = packed(meta, answer) {
        answer.body = memory.counted(packed);
        coded(answer);
    }
}

/// The same for the head of a stream, whose body the wrapper compresses.
pub(super) fn prepare_stream(meta: &Meta, head: &mut Response) {
    common(meta, head);
    if meta.gzip {
        coded(head);
    }
}

/// The same for the head of a body in pieces; says whether they are to be compressed.
pub(super) fn prepare_pieces(meta: &Meta, head: &mut Response) -> bool {
    common(meta, head);
    let gzip = takes_gzip(meta, head);
    if gzip {
        coded(head);
    }
    gzip
}

fn coded(answer: &mut Response) {
    answer.headers.push(("content-encoding", "gzip".into()));
    varies(answer, "accept-encoding");
}

/// Adds a field of requests that the answer depends on to the one list of such (RFC 9110 section 12.5.5).
fn varies(answer: &mut Response, by: &str) {
    match answer.headers.iter_mut().find(|(name, _)| *name == "vary") {
        Some((_, list)) => {
            list.push_str(", ");
            list.push_str(by);
        }
        None => answer.headers.push(("vary", by.into())),
    }
}

/// Appends a whole answer.
pub(super) fn write_whole(
    meta: &Meta,
    mut answer: Response,
    closing: bool,
    memory: &Arc<Memory>,
    date: Date,
    out: &mut Outbox,
) {
    prepare(meta, &mut answer, memory);
    let delimiter = match answer.status {
        204 | 304 => Delimiter::Nothing,
        _ => Delimiter::Length(answer.body.len()),
    };
    write_head(
        answer.status,
        fields(&answer, &date),
        delimiter,
        keep_alive(meta, closing),
        out.tail(),
    );
    if !meta.head_only && delimiter != Delimiter::Nothing {
        out.push(answer.body);
    }
}

fn fields<'a>(answer: &'a Response, date: &'a Date) -> impl Iterator<Item = (&'a str, &'a str)> {
    let fields = answer.headers.iter();
    let fields = fields.map(|(name, value)| (*name, value.as_str()));
    let guards = guards(answer).iter().copied();
    iter::once(date.field()).chain(fields).chain(guards)
}

/// What a browser is to be told of any body: that it is what it is called.
const TYPED: (&str, &str) = ("x-content-type-options", "nosniff");
/// And of one that it may show as a document with scripts in it: much of it others have published, so none of it is
/// of the gateway's origin and nothing runs. The gateway's own pages say themselves what they may.
const INERT: &[(&str, &str)] = &[
    TYPED,
    (CSP, "default-src 'none'; sandbox; frame-ancestors 'none'"),
    ("referrer-policy", "no-referrer"),
];
const CSP: &str = "content-security-policy";

/// The fields that guard who looks at an answer in a browser.
pub(super) fn guards(answer: &Response) -> &'static [(&'static str, &'static str)] {
    let field = |wanted: &str| answer.headers.iter().find(|(name, _)| *name == wanted);
    let is_document = || field("content-type").is_some_and(|(_, media)| is_document(media));
    match answer.status {
        101 | 204 | 304 => &[],
        _ if is_document() && field(CSP).is_none() => INERT,
        _ => &[TYPED],
    }
}

/// Whether a browser may run scripts of it: HTML, and XML of any kind, and what is made of parts.
fn is_document(media: &str) -> bool {
    let essence = media.split(';').next().unwrap_or_default().trim();
    let ends = |end: &str| {
        let at = essence.len().checked_sub(end.len());
        let found = at.and_then(|at| essence.get(at..));
        found.is_some_and(|found| found.eq_ignore_ascii_case(end))
    };
    let begins = essence.get(..10);
    ends("html")
        || ends("xml")
        || ends("xsl")
        || begins.is_some_and(|it| it.eq_ignore_ascii_case("multipart/"))
}

/// Appends the head of a body in pieces, which is delimited by chunks, or by the connection's end in
/// HTTP/1.0.
pub(super) fn write_begun(
    meta: &Meta,
    head: &Response,
    closing: bool,
    date: Date,
    out: &mut Outbox,
) {
    let (delimiter, keep_alive) = match meta.version {
        Version::Http10 => (Delimiter::Close, Some(false)),
        _ => (Delimiter::Chunked, keep_alive(meta, closing)),
    };
    let fields = fields(head, &date);
    write_head(head.status, fields, delimiter, keep_alive, out.tail());
}

/// Appends a piece of a body as one chunk, or as it is.
pub(super) fn write_piece(chunked: bool, piece: Bytes, out: &mut Outbox) {
    if !chunked {
        return out.push(piece);
    }
    let (line, length) = chunk_line(piece.len());
    out.tail().extend_from_slice(&line[..length]);
    out.push(piece);
    out.tail().extend_from_slice(b"\r\n");
}

/// Appends a stream's head and what goes before its first message.
pub(super) fn write_stream(meta: &Meta, head: &mut Response, date: Date, out: &mut Outbox) {
    prepare_stream(meta, head);
    let chunked = meta.version == Version::Http11;
    let delimiter = if chunked {
        Delimiter::Chunked
    } else {
        Delimiter::Close
    };
    write_head(
        head.status,
        fields(head, &date),
        delimiter,
        Some(false),
        out.tail(),
    );
    if meta.head_only {
        return;
    }
    match (meta.gzip, chunked) {
        (true, true) => chunk(GZIP_HEADER, out.tail()),
        (true, false) => out.tail().extend_from_slice(GZIP_HEADER),
        (false, _) => {}
    }
    wrapper::of_body(chunked, meta.gzip).bytes(&head.body, out.tail());
}

/// Appends the answer to a WebSocket handshake (RFC 6455 section 4.2.2).
pub(super) fn write_upgrade(meta: &Meta, subprotocol: Option<&str>, out: &mut Outbox) {
    let Some(upgrade) = &meta.upgrade else { return };
    let mut fields = vec![
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-accept", upgrade.accept.as_str()),
    ];
    fields.extend(subprotocol.map(|name| ("sec-websocket-protocol", name)));
    fields.extend(
        upgrade
            .deflate
            .then_some(("sec-websocket-extensions", Offer::ANSWER)),
    );
    write_head(101, fields, Delimiter::Nothing, None, out.tail());
}

/// What is said of the connection: nothing where the version's default holds.
fn keep_alive(meta: &Meta, closing: bool) -> Option<bool> {
    match (meta.keep_alive && !closing, meta.version) {
        (false, _) => Some(false),
        (true, Version::Http10) => Some(true),
        (true, _) => None,
    }
}

fn common(meta: &Meta, answer: &mut Response) {
    if let Some(origin) = &meta.allow_origin {
        let headers = &mut answer.headers;
        headers.push(("access-control-allow-origin", origin.clone()));
        headers.push(("access-control-expose-headers", EXPOSED.into()));
        if origin != "*" {
            varies(answer, "origin");
        }
    }
    if let Some((_, allow)) = answer.headers.iter_mut().find(|(name, _)| *name == "allow") {
        allow_what_is_always(allow);
    }
    let headers = &mut answer.headers;
    let challenged = headers.iter().any(|(name, _)| *name == "www-authenticate");
    if answer.status == 401 && !challenged {
        headers.push(("www-authenticate", "Basic realm=\"weir\", Bearer".into()));
    }
}

/// Adds the methods that a service need not know of: `HEAD` is asked as `GET`, `OPTIONS` is answered everywhere.
fn allow_what_is_always(allow: &mut String) {
    let has = |allow: &str, method| allow.split(", ").any(|it| it == method);
    if has(allow, "GET") && !has(allow, "HEAD") {
        allow.push_str(", HEAD");
    }
    if !has(allow, "OPTIONS") {
        allow.push_str(", OPTIONS");
    }
}

/// The body in gzip, where that is wanted and worth it.
fn packed(meta: &Meta, answer: &Response) -> Option<Bytes> {
    if answer.body.len() < COMPRESS_BYTES_MIN || !takes_gzip(meta, answer) {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&answer.body).ok()?;
    let packed = encoder.finish().ok()?;
    // Some formats compress by themselves.
    (packed.len() < answer.body.len()).then(|| Bytes::from(packed))
}

/// Whether gzip is wanted and may make it shorter.
fn takes_gzip(meta: &Meta, answer: &Response) -> bool {
    let named = |wanted| move |(name, _): &&(&'static str, String)| *name == wanted;
    let coded = answer
        .headers
        .iter()
        .any(|field| named("content-encoding")(&field));
    let media = answer.headers.iter().find(named("content-type"));
    let compressible = media.is_some_and(|(_, media)| is_compressible(media));
    meta.gzip && !coded && answer.status != 206 && compressible
}

/// Whether gzip may make it shorter: messages in any format, and text.
fn is_compressible(media: &str) -> bool {
    let essence = media.split(';').next().unwrap_or_default().trim();
    let ends = ["json", "xml", "javascript", "wasm"];
    let text = essence.starts_with("text/") || ends.iter().any(|end| essence.ends_with(end));
    text || weir_codec::by_media(media).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_everywhere_is_allowed() {
        for (said, whole) in [
            ("GET, POST", "GET, POST, HEAD, OPTIONS"),
            ("POST", "POST, OPTIONS"),
            ("GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
        ] {
            let mut allow = said.to_owned();
            allow_what_is_always(&mut allow);
            assert_eq!(allow, whole);
        }
    }

    #[test]
    fn what_a_browser_may_run_is_of_no_origin() {
        for document in [
            "text/html",
            "Text/HTML; charset=utf-8",
            "application/xhtml+xml",
            "image/svg+xml",
            "text/xml",
            "application/xml;a=b",
            "application/vnd.ogc.om+xml",
            "text/xsl",
            "multipart/mixed; boundary=x",
        ] {
            let answer = Response::with_body(200, document, "<x/>");
            assert_eq!(guards(&answer), INERT, "{document}");
            let own = answer.header("content-security-policy", "default-src 'self'");
            assert_eq!(guards(&own), [TYPED], "{document}");
            assert!(guards(&Response::with_body(204, document, "")).is_empty());
        }
        for other in [
            "application/json",
            "text/plain",
            "text/event-stream",
            "image/png",
            "application/exi",
            "",
            "xml2",
            "\u{434}xml\u{434}",
        ] {
            assert_eq!(
                guards(&Response::with_body(404, other, "x")),
                [TYPED],
                "{other}"
            );
        }
        assert_eq!(guards(&Response::empty(500)), [TYPED]);
    }
}
