//! The client: publishers and subscribers over every delivery scheme of HTTP.

mod past;
mod post;
mod publish;
mod socket;
mod subscribe;
mod url;
mod web;

use crate::wire::Refusal;
use crate::wire::answers::{Answers, Head, Part};
use bytes::Bytes;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::task::Poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use url::Url;
use weir_binding::{Caller, Pages, Past, Publisher, Subscriber, Target, Web};
use weir_carrier::{Stream, tls};
use weir_model::{Cursor, Filter};

/// How messages are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// An answer that never ends.
    Stream,
    Sse,
    Poll,
    LongPoll,
    Socket,
}

impl Way {
    /// What stands before `http` or `https`.
    const PREFIXES: &'static [(&'static str, Way)] = &[
        ("", Way::Sse),
        ("stream+", Way::Stream),
        ("sse+", Way::Sse),
        ("poll+", Way::Poll),
        ("longpoll+", Way::LongPoll),
    ];

    /// The way of a scheme, and whether it is secure.
    fn of_scheme(scheme: &str) -> Option<(Self, bool)> {
        match scheme {
            "ws" => return Some((Way::Socket, false)),
            "wss" => return Some((Way::Socket, true)),
            _ => {}
        }
        let (secure, prefix) = match scheme.strip_suffix("https") {
            Some(prefix) => (true, prefix),
            None => (false, scheme.strip_suffix("http")?),
        };
        let line = Self::PREFIXES.iter().find(|line| line.0 == prefix)?;
        Some((line.1, secure))
    }
}

/// Whole answers and messages of a peer may be so long, bytes.
const BYTES_MAX: usize = 64 << 20;
/// Bytes asked of a socket at once.
const READ_BYTES: usize = 64 << 10;

/// Opens a publisher.
pub(super) async fn publisher(target: Target) -> io::Result<Box<dyn Publisher>> {
    let url = Url::parse(&target.url)?;
    match url.way {
        Way::Socket => Ok(Box::new(socket::SocketPublisher::new(url, target))),
        _ => Ok(Box::new(publish::Poster::open(url, target).await?)),
    }
}

/// Opens a subscriber.
pub(super) async fn subscriber(
    target: Target,
    filters: Vec<Filter>,
    since: Option<Cursor>,
) -> io::Result<Box<dyn Subscriber>> {
    let url = Url::parse(&target.url)?;
    Ok(match url.way {
        Way::Socket => Box::new(socket::subscribe(&url, &target, &filters, since).await?),
        Way::Poll | Way::LongPoll => {
            Box::new(subscribe::Poller::open(url, target, filters, since).await?)
        }
        Way::Stream | Way::Sse => {
            Box::new(subscribe::Endless::open(&url, &target, &filters, since).await?)
        }
    })
}

/// What posts to a URL.
pub(super) fn caller(url: &str, roots: Option<&Bytes>) -> io::Result<Box<dyn Caller>> {
    Ok(Box::new(post::Posts::to(url, roots.cloned())?))
}

/// What carries the requests of a service's client.
pub(super) fn web(target: Target, url: &str) -> io::Result<Box<dyn Web>> {
    Ok(Box::new(web::Requests::to(target, url)?))
}

/// Opens the past.
pub(super) async fn past(target: Target, past: Past) -> io::Result<Box<dyn Pages>> {
    let url = Url::parse(&target.url)?;
    Ok(Box::new(past::Pager::open(url, target, past).await?))
}

/// A connection with requests and answers.
struct Connection {
    stream: Stream,
    answers: Answers,
    parts: VecDeque<Part>,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(url: &Url, target: &Target) -> io::Result<Self> {
        Self::trusting(url, target.roots.as_deref(), BYTES_MAX).await
    }

    /// A connection that trusts these roots too, and takes answers so long.
    async fn trusting(url: &Url, roots: Option<&[u8]>, bytes_max: usize) -> io::Result<Self> {
        Ok(Self {
            stream: open(url, roots).await?,
            answers: Answers::new(bytes_max),
            parts: VecDeque::new(),
            buffer: vec![0; READ_BYTES],
        })
    }

    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// The next part of an answer; `None` once the peer has closed where it may.
    async fn part(&mut self) -> io::Result<Option<Part>> {
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

    async fn head(&mut self) -> io::Result<Head> {
        match self.part().await? {
            Some(Part::Head(head)) => Ok(head),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The whole body of an answer whose head is known, and whether the connection serves on.
    async fn body(&mut self) -> io::Result<(Vec<u8>, bool)> {
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
    async fn is_stale(&self) -> bool {
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

fn broken(refusal: Refusal) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, refusal.reason)
}

/// The peer's own sentence for an answer that is no success.
fn refused(status: u16, body: &[u8]) -> io::Error {
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
fn common(url: &Url, target: &Target, out: &mut String) {
    out.push_str(&format!("Host: {}\r\n", url.authority()));
    if let Some(credential) = target.credential.as_ref().or(url.credential.as_ref()) {
        out.push_str(&format!("Authorization: {credential}\r\n"));
    }
}
