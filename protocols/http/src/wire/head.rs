//! Request heads (RFC 9112 sections 3 and 5), and why one is refused.

use super::target;
use crate::limits::{FIELD_BYTES, HEADERS_MAX, REQUEST_BYTES, TARGET_BYTES_MAX};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;

/// The version of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Answers end where the connection does, or by `Content-Length`.
    Http10,
    /// Persistent, chunked.
    Http11,
    /// Many streams on a connection; delimited by its frames.
    Http2,
}

/// A whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// As received; methods are case-sensitive.
    pub method: String,
    /// The path, percent-encoded as received.
    pub path: String,
    /// Decoded pairs of the query.
    pub query: Vec<(String, String)>,
    /// The query as received.
    pub raw_query: String,
    /// Of the request line.
    pub version: Version,
    /// Header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
    /// Whether another request may follow on the connection.
    pub keep_alive: bool,
}

impl Request {
    /// Bytes of memory that it takes.
    pub fn held(&self) -> usize {
        let pairs = self.headers.iter().chain(&self.query);
        let raw = self.path.len() + self.raw_query.len();
        let texts = pairs.map(|(name, value)| FIELD_BYTES + name.len() + value.len());
        REQUEST_BYTES + raw + texts.sum::<usize>() + self.body.len()
    }

    /// The first header field of this (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let field = self.headers.iter().find(|(known, _)| known == name)?;
        Some(&field.1)
    }

    /// All header fields of this (lower-case) name.
    pub fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.headers.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Says whether a list-valued header field holds this token, whatever its case.
    pub fn lists(&self, name: &str, token: &str) -> bool {
        let tokens = self.fields(name).flat_map(|value| value.split(','));
        tokens
            .into_iter()
            .any(|listed| listed.trim().eq_ignore_ascii_case(token))
    }
}

/// Why no request can be read, as an answer; the connection ends with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Three digits.
    pub status: u16,
    /// Which byte, which rule.
    pub reason: String,
}

impl Refusal {
    /// A refusal with its sentence.
    pub fn new(status: u16, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { status, reason }
    }

    pub(crate) fn at(byte: usize, rule: impl fmt::Display) -> Self {
        Self::new(400, format!("byte {byte}: {rule}"))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.reason)
    }
}

/// How a request's body is delimited (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// So many bytes.
    Length(usize),
    /// Chunks.
    Chunked,
}

const NO_METHOD: &str = "not a character of a method";

/// Reads a head that ends with its empty line; the body is still to come.
pub fn read(head: &[u8]) -> Result<(Request, Framing), Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut fields);
    match parsed.parse(head) {
        Ok(status) if status.is_complete() => {}
        Ok(_) => return Err(Refusal::at(head.len(), "the head ends inside a line")),
        Err(error) => return Err(fault(head, error)),
    }
    let (Some(method), Some(uri), Some(version)) = (parsed.method, parsed.path, parsed.version)
    else {
        return Err(Refusal::at(0, "the request line is incomplete"));
    };
    if uri.len() > TARGET_BYTES_MAX {
        return Err(target_too_long());
    }
    check_form(method, uri)?;
    let (path, raw_query) = target::split(uri);
    let version = match version {
        0 => Version::Http10,
        _ => Version::Http11,
    };
    let mut request = Request {
        method: method.to_owned(),
        path,
        query: target::pairs(&raw_query),
        raw_query,
        version,
        headers: headers(head, parsed.headers)?,
        body: Bytes::new(),
        keep_alive: true,
    };
    request.keep_alive = match version {
        Version::Http10 => request.lists("connection", "keep-alive"),
        _ => !request.lists("connection", "close"),
    };
    settle_host(&mut request, target::authority(uri))?;
    let framing = framing(&request)?;
    Ok((request, framing))
}

/// Refuses what begins as no request does, with the words of [`read`]: who speaks another protocol need not wait
/// for a line that never ends.
pub fn check_method(begun: &[u8]) -> Result<(), Refusal> {
    let at = begun.iter().position(|byte| !is_token(*byte));
    match begun.get(at.unwrap_or(begun.len())..).unwrap_or_default() {
        [] | [b' ' | b'\n', ..] | [b'\r'] | [b'\r', b'\n', ..] => Ok(()),
        _ => Err(Refusal::at(at.unwrap_or_default(), NO_METHOD)),
    }
}

/// The answer to a method that has no meaning here.
pub fn not_served(method: &str) -> Refusal {
    Refusal::new(501, format!("{method} is not served here"))
}

/// The answer to a target that is too long.
pub fn target_too_long() -> Refusal {
    let reason = format!("the target is longer than {TARGET_BYTES_MAX} bytes: POST long lists");
    Refusal::new(414, reason)
}

fn headers(head: &[u8], fields: &[httparse::Header<'_>]) -> Result<Vec<(String, String)>, Refusal> {
    let pair = |field: &httparse::Header<'_>| match core::str::from_utf8(field.value) {
        Ok(value) => Ok((field.name.to_ascii_lowercase(), value.to_owned())),
        Err(error) => {
            let start = (field.value.as_ptr() as usize).saturating_sub(head.as_ptr() as usize);
            let at = start + error.valid_up_to();
            Err(Refusal::at(
                at,
                format_args!("field `{}` is not UTF-8", field.name),
            ))
        }
    };
    fields.iter().map(pair).collect()
}

/// A target is a path, names the gateway itself, or is `*` for what is asked of all of it (RFC 9112 section 3.2).
pub fn check_form(method: &str, target: &str) -> Result<(), Refusal> {
    let is_one = match target {
        "*" => method == "OPTIONS",
        // Refused for what it asks.
        _ if method == "CONNECT" => true,
        _ => target.starts_with('/') || target::authority(target).is_some(),
    };
    if is_one {
        Ok(())
    } else {
        Err(Refusal::new(
            400,
            "the target is neither a path nor an http URL",
        ))
    }
}

/// Fields that are no lists, of which a request has one (RFC 9110 section 5.3): of two, one would be passed over.
const SINGLE: [&str; 5] = [
    "authorization",
    "content-type",
    "idempotency-key",
    "last-event-id",
    "range",
];

/// Fields of which each line is looked at by itself.
const APART: [&str; 3] = ["content-length", "host", "transfer-encoding"];

/// Makes the lines of a field one, in their order (RFC 9110 section 5.3), so that who reads a list sees all of it.
fn combine_fields(request: &mut Request) -> Result<(), Refusal> {
    let fields = &mut request.headers;
    let is_again = |at: &usize| fields[..*at].iter().any(|(name, _)| *name == fields[*at].0);
    let Some(again) = (1..fields.len()).find(is_again) else {
        return Ok(());
    };
    for (name, value) in fields.split_off(again) {
        match fields.iter_mut().find(|(known, _)| *known == name) {
            Some(_) if SINGLE.contains(&&*name) => {
                return Err(Refusal::new(400, format!("more than one field `{name}`")));
            }
            Some((_, all)) if !APART.contains(&&*name) => {
                // RFC 9113 section 8.2.3.
                all.push_str(if name == "cookie" { "; " } else { ", " });
                all.push_str(&value);
            }
            _ => fields.push((name, value)),
        }
    }
    Ok(())
}

/// Leaves one `Host`, the one that was asked for, so that nobody later takes another for it: what the target names
/// (RFC 9112 section 3.2.2) or `:authority` (RFC 9113 section 8.3.1), else the field. Other fields are there once.
pub fn settle_host(request: &mut Request, named: Option<&str>) -> Result<(), Refusal> {
    combine_fields(request)?;
    let mut fields = request
        .headers
        .iter_mut()
        .filter(|(name, _)| name == "host");
    let (field, more) = (fields.next(), fields.next().is_some());
    let given = field.as_ref().map(|(_, value)| value.as_str());
    let problem = match (given, named) {
        _ if more => Some("more than one Host field"),
        (None, _) if request.version == Version::Http11 => Some("HTTP/1.1 needs a Host field"),
        (None, None) if request.version == Version::Http2 => Some("no :authority and no Host"),
        (Some(given), Some(named))
            if request.version == Version::Http2 && !given.eq_ignore_ascii_case(named) =>
        {
            Some("Host is another than :authority")
        }
        _ if [given, named]
            .into_iter()
            .flatten()
            .all(target::is_authority) =>
        {
            None
        }
        _ => Some("what is named as the host is none"),
    };
    if let Some(problem) = problem {
        return Err(Refusal::new(400, problem));
    }
    match (field, named) {
        (Some((_, value)), Some(named)) => named.clone_into(value),
        (None, Some(named)) => request.headers.push(("host".to_owned(), named.to_owned())),
        (_, None) => {}
    }
    Ok(())
}

/// The body's delimiter; whatever two readers could understand differently is refused, so that no
/// request hides in another's body (RFC 9112 sections 6.1, 6.3 and 11.2).
fn framing(request: &Request) -> Result<Framing, Refusal> {
    let lengths = request.fields("content-length").count();
    let codings = request.fields("transfer-encoding").count();
    if codings == 0 {
        return match lengths {
            0 => Ok(Framing::Length(0)),
            _ => length(request).map(Framing::Length),
        };
    }
    if lengths > 0 {
        return Err(Refusal::new(
            400,
            "both Transfer-Encoding and Content-Length",
        ));
    }
    if request.version == Version::Http10 {
        return Err(Refusal::new(400, "Transfer-Encoding in HTTP/1.0"));
    }
    let only = request.header("transfer-encoding").unwrap_or_default();
    if only.trim().eq_ignore_ascii_case("chunked") && codings == 1 {
        Ok(Framing::Chunked)
    } else {
        let reason = "the only transfer coding taken is one `chunked`";
        Err(Refusal::new(501, reason))
    }
}

fn length(request: &Request) -> Result<usize, Refusal> {
    let mut values = request.fields("content-length").map(str::trim);
    let first = values.next().unwrap_or_default();
    if values.any(|other| other != first) {
        return Err(Refusal::new(400, "Content-Length fields that differ"));
    }
    let digits = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
    match (digits, first.parse()) {
        (true, Ok(length)) => Ok(length),
        (true, Err(_)) => Err(Refusal::new(413, "Content-Length is beyond all limits")),
        (false, _) => {
            let reason = format!("Content-Length `{first}` is not a decimal number");
            Err(Refusal::new(400, reason))
        }
    }
}

/// Where a head that httparse refuses is wrong, and against which rule.
fn fault(head: &[u8], error: httparse::Error) -> Refusal {
    match error {
        httparse::Error::TooManyHeaders => {
            Refusal::new(431, format!("more than {HEADERS_MAX} header fields"))
        }
        httparse::Error::Version => {
            Refusal::new(505, "the version is neither HTTP/1.1 nor HTTP/1.0")
        }
        other => {
            let (at, rule) = locate(head).unwrap_or((0, ""));
            match rule {
                "" => Refusal::new(400, other.to_string()),
                rule => Refusal::at(at, rule),
            }
        }
    }
}

fn locate(head: &[u8]) -> Option<(usize, &'static str)> {
    let line_end = head.windows(2).position(|pair| pair == b"\r\n")?;
    let line = &head[..line_end];
    let method = line
        .iter()
        .position(|byte| *byte == b' ')
        .unwrap_or(line.len());
    if let Some(at) = line[..method].iter().position(|byte| !is_token(*byte)) {
        return Some((at, NO_METHOD));
    }
    if method == 0 || method == line.len() {
        return Some((method, "expected a method, a target and a version"));
    }
    let target = &line[method + 1..];
    let bad = |byte: &u8| *byte < 0x21 || *byte == 0x7f;
    let end = target.iter().position(bad).unwrap_or(target.len());
    if end == 0 || target.get(end) != Some(&b' ') {
        return Some((method + 1 + end, "not a character of a target"));
    }
    if !target[end + 1..].starts_with(b"HTTP/") {
        return Some((method + 2 + end, "expected HTTP/1.1"));
    }
    locate_field(head, line_end + 2)
}

fn locate_field(head: &[u8], mut start: usize) -> Option<(usize, &'static str)> {
    loop {
        let length = head[start..].windows(2).position(|pair| pair == b"\r\n")?;
        let line = &head[start..start + length];
        if matches!(line.first(), Some(b' ' | b'\t')) {
            return Some((start, "a folded header line"));
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            return Some((start + length, "a header line without a colon"));
        };
        if let Some(at) = line[..colon].iter().position(|byte| !is_token(*byte)) {
            return Some((start + at, "not a character of a field name"));
        }
        if colon == 0 {
            return Some((start, "a field without a name"));
        }
        let bad = |byte: &u8| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f;
        if let Some(at) = line[colon..].iter().position(bad) {
            return Some((start + colon + at, "a control character in a field value"));
        }
        start += length + 2;
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
