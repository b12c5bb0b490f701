//! The client's half of the opening handshake (RFC 6455 section 4.1).

use super::stream::WebSocketStream;
use crate::Stream;
use crate::limits::HANDSHAKE_BYTES_MAX;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use weir_websocket::Role;
use weir_websocket::{accept, key};

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// Host and port as the URL has them.
    pub host: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// The one subprotocol spoken.
    pub subprotocol: &'a str,
    /// `Authorization`, where there is one.
    pub credential: Option<&'a str>,
    /// Longest message taken, bytes.
    pub message_bytes_max: usize,
}

/// Shakes hands over an opened stream.
pub async fn open(mut stream: Stream, opening: Opening<'_>) -> io::Result<WebSocketStream> {
    let key = key(weir_random::bytes()?);
    stream
        .write_all(request(&opening, &key)?.as_bytes())
        .await?;
    stream.flush().await?;
    let (head, behind) = read_head(&mut stream).await?;
    check(&head, &opening, &key)?;
    WebSocketStream::new(stream, Role::Client, &behind, opening.message_bytes_max)
}

fn request(opening: &Opening<'_>, key: &str) -> io::Result<String> {
    let Opening {
        host,
        path,
        subprotocol,
        credential,
        ..
    } = opening;
    let parts = [*host, *path, *subprotocol, credential.unwrap_or_default()];
    if parts.iter().any(|part| part.contains(['\r', '\n'])) || path.contains(' ') {
        let problem = "a line end or space where none may be: percent-encode it";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let credential = credential.map(|credential| format!("Authorization: {credential}\r\n"));
    let credential = credential.unwrap_or_default();
    Ok(format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\
         Sec-WebSocket-Protocol: {subprotocol}\r\n{credential}\r\n"
    ))
}

/// The head of the answer, and what came behind it.
async fn read_head(stream: &mut Stream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let behind = bytes.split_off(end + 4);
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), behind));
        }
        if bytes.len() > HANDSHAKE_BYTES_MAX {
            return Err(refused("a head over the limit".into()));
        }
    }
}

/// RFC 6455 section 4.1, what the client must validate.
fn check(head: &str, opening: &Opening<'_>, key: &str) -> io::Result<()> {
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("101") {
        return Err(refused(format!("`{status}`")));
    }
    let fields: Vec<_> = lines.filter_map(|line| line.split_once(':')).collect();
    let field = |name: &str| {
        let mut named = fields
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.trim())
    };
    let lists = |name: &str, wanted: &str| {
        let listed = field(name).into_iter().flat_map(|value| value.split(','));
        listed
            .into_iter()
            .any(|one| one.trim().eq_ignore_ascii_case(wanted))
    };
    if !lists("upgrade", "websocket") || !lists("connection", "upgrade") {
        return Err(refused("it does not upgrade".into()));
    }
    if field("sec-websocket-accept") != accept(key).as_deref() {
        return Err(refused(
            "Sec-WebSocket-Accept does not answer the key".into(),
        ));
    }
    if field("sec-websocket-extensions").is_some_and(|named| !named.is_empty()) {
        return Err(refused("an extension that was not asked for".into()));
    }
    match field("sec-websocket-protocol") {
        Some(chosen) if chosen == opening.subprotocol => Ok(()),
        chosen => Err(refused(format!(
            "subprotocol `{}` instead of `{}`",
            chosen.unwrap_or_default(),
            opening.subprotocol
        ))),
    }
}

fn refused(problem: String) -> io::Error {
    let sentence = format!("the server opens no WebSocket: {problem}");
    io::Error::new(io::ErrorKind::InvalidData, sentence)
}
