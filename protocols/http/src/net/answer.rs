//! Answers as bytes: heads, compression, what CORS adds.

use super::bytes::Outbox;
use super::route::{EXPOSED, Meta};
use super::wrapper::{self, GZIP_HEADER, chunk};
use crate::limits::COMPRESS_BYTES_MIN;
use crate::wire::Version;
use crate::wire::response::{Delimiter, write_head};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use weir_binding::{Response, Stream};
use weir_carrier::websocket::Offer;

/// Appends a whole answer.
pub(super) fn write_whole(meta: &Meta, mut answer: Response, closing: bool, out: &mut Outbox) {
    let mut extra = extras(meta, answer.status, &answer.headers);
    if let Some(packed) = packed(meta, &answer) {
        answer.body = packed;
        extra.push(("content-encoding", "gzip".into()));
        extra.push(("vary", "accept-encoding".into()));
    }
    let delimiter = match answer.status {
        204 | 304 => Delimiter::Nothing,
        _ => Delimiter::Length(answer.body.len()),
    };
    let keep_alive = keep_alive(meta, closing);
    let fields = answer.headers.iter().chain(&extra);
    let fields = fields.map(|(name, value)| (*name, value.as_str()));
    write_head(answer.status, fields, delimiter, keep_alive, out.tail());
    if !meta.head_only && delimiter != Delimiter::Nothing {
        out.push(answer.body);
    }
}

/// Appends a stream's head and what goes before its first message.
pub(super) fn write_stream(meta: &Meta, stream: &Stream, out: &mut Outbox) {
    let head = &stream.head;
    let mut extra = extras(meta, head.status, &head.headers);
    if meta.gzip {
        extra.push(("content-encoding", "gzip".into()));
        extra.push(("vary", "accept-encoding".into()));
    }
    let chunked = meta.version == Version::Http11;
    let delimiter = if chunked {
        Delimiter::Chunked
    } else {
        Delimiter::Close
    };
    let fields = head.headers.iter().chain(&extra);
    let fields = fields.map(|(name, value)| (*name, value.as_str()));
    write_head(head.status, fields, delimiter, Some(false), out.tail());
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
        (true, Version::Http11) => None,
    }
}

/// Fields that no service writes.
fn extras(
    meta: &Meta,
    status: u16,
    headers: &[(&'static str, String)],
) -> Vec<(&'static str, String)> {
    let mut extra = Vec::new();
    if let Some(origin) = &meta.allow_origin {
        extra.push(("access-control-allow-origin", origin.clone()));
        extra.push(("access-control-expose-headers", EXPOSED.into()));
        if origin != "*" {
            extra.push(("vary", "origin".into()));
        }
    }
    if status == 401 && !headers.iter().any(|(name, _)| *name == "www-authenticate") {
        extra.push(("www-authenticate", "Basic realm=\"weir\", Bearer".into()));
    }
    extra
}

/// The body in gzip, where that is wanted and worth it.
fn packed(meta: &Meta, answer: &Response) -> Option<Bytes> {
    let named = |wanted| move |(name, _): &&(&'static str, String)| *name == wanted;
    let coded = answer
        .headers
        .iter()
        .any(|field| named("content-encoding")(&field));
    if !meta.gzip || coded || answer.body.len() < COMPRESS_BYTES_MIN || answer.status == 206 {
        return None;
    }
    let media = answer.headers.iter().find(named("content-type"));
    if !media.is_some_and(|(_, media)| is_text(media)) {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&answer.body).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

fn is_text(media: &str) -> bool {
    let essence = media.split(';').next().unwrap_or_default().trim();
    let ends = ["json", "xml", "javascript", "wasm"];
    essence.starts_with("text/") || ends.iter().any(|end| essence.ends_with(end))
}
