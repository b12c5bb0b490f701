//! A connection of the client: requests go out, answers come in by parts.

use super::url::Url;
use crate::wire::Refusal;
use crate::wire::answers::{Answers, Head, Part};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::task::Poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use weir_binding::Target;
use weir_carrier::{Stream, tls};

/// Whole answers and messages of a peer may be so long, bytes.
pub(super) const BYTES_MAX: usize = 64 << 20;
/// Bytes asked of a socket at once.
const READ_BYTES: usize = 64 << 10;

/// A connection with requests and answers.
pub(super) struct Connection {
    stream: Stream,
    answers: Answers,
    parts: VecDeque<Part>,
    buffer: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(url: &Url, target: &Target) -> io::Result<Self> {
        Self::trusting(url, target.roots.as_deref(), BYTES_MAX).await
    }

    /// A connection that trusts these roots too, and takes answers so long.
    pub(super) async fn trusting(
        url: &Url,
        roots: Option<&[u8]>,
        bytes_max: usize,
    ) -> io::Result<Self> {
        Ok(Self {
            stream: open(url, roots).await?,
            answers: Answers::new(bytes_max),
            parts: VecDeque::new(),
            buffer: vec![0; READ_BYTES],
        })
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Bytes as they come, for who reads no answers any more; none once the peer has closed.
    pub(super) async fn read(&mut self) -> io::Result<&[u8]> {
        let length = self.stream.read(&mut self.buffer).await?;
        Ok(&self.buffer[..length])
    }

    /// What has come behind the last answer.
    pub(super) fn take_rest(&mut self) -> Vec<u8> {
        self.answers.take_rest()
    }

    /// The next part of an answer; `None` once the peer has closed where it may.
    pub(super) async fn part(&mut self) -> io::Result<Option<Part>> {
        loop {
            if let Some(part) = self.parts.pop_front() {
                return Ok(Some(part));
            }
            let length = self.stream.read(&mut self.buffer).await?;
            let mut parts = Vec::new();
            if length == 0 {
                let whole = self.answers.finish(&mut parts);
                return match (parts.pop(), whole) {
                    (part, true) => Ok(part),
                    _ => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
            let read = self.answers.read(&self.buffer[..length], &mut parts);
            self.parts.extend(parts);
            read.map_err(broken)?;
        }
    }

    pub(super) async fn head(&mut self) -> io::Result<Head> {
        match self.part().await? {
            Some(Part::Head(head)) => Ok(head),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The whole body of an answer whose head is known, and whether the connection serves on.
    pub(super) async fn body(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut body = Vec::new();
        loop {
            match self.part().await? {
                Some(Part::Body(piece)) if body.len() + piece.len() <= BYTES_MAX => {
                    body.extend_from_slice(&piece);
                }
                Some(Part::End { keep_alive }) => return Ok((body, keep_alive)),
                _ => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// Says whether the peer has closed meanwhile, so that a request would be lost.
    pub(super) async fn is_stale(&self) -> bool {
        let mut byte = [0];
        let mut buffer = ReadBuf::new(&mut byte);
        let tcp = self.stream.tcp();
        poll_fn(|cx| {
            Poll::Ready(match tcp.poll_peek(cx, &mut buffer) {
                Poll::Pending => false,
                Poll::Ready(peeked) => peeked.map_or(true, |length| length == 0),
            })
        })
        .await
    }
}

/// An answer that is none.
pub(super) fn broken(refusal: Refusal) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, refusal.reason)
}

/// The peer's own sentence for an answer that is no success.
pub(super) fn refused(status: u16, body: &[u8]) -> io::Error {
    weir_binding::refused(status, String::from_utf8_lossy(body).trim_end())
}

/// Connects, with TLS where the scheme says so.
async fn open(url: &Url, roots: Option<&[u8]>) -> io::Result<Stream> {
    let tcp = TcpStream::connect((url.host.as_str(), url.port)).await?;
    tcp.set_nodelay(true)?;
    if !url.secure {
        return Ok(Stream::Tcp(tcp));
    }
    let peer = tcp.peer_addr()?;
    let settings = tls::client_config(roots)?;
    let link = tls::connect(&settings, &url.host, tcp, peer).await?;
    Ok(link.stream)
}

/// Fields that every request has.
pub(super) fn common(url: &Url, target: &Target, out: &mut String) {
    out.push_str(&format!("Host: {}\r\n", url.authority()));
    if let Some(credential) = target.credential.as_ref().or(url.credential.as_ref()) {
        out.push_str(&format!("Authorization: {credential}\r\n"));
    }
}
