//! One connection of the client: the machine, its socket, and its clock.

use super::url::{self, Url, Version};
use crate::client::{ClientEvent, Closed, ClosedKind, Machine, Options, v10, v091};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use weir_binding::Target;
use weir_carrier::clock::now;
use weir_carrier::{Stream, tls, websocket};
use weir_sansio::{Instant, Output};

/// Bytes asked of a socket at once.
const READ_BYTES: usize = 64 << 10;
/// Messages of a WebSocket may be so long, bytes.
const SOCKET_MESSAGE_BYTES_MAX: usize = 64 << 20;
/// How long a machine without a deadline is left alone.
const NO_DEADLINE: Duration = Duration::from_secs(86_400);

/// A connection.
pub(super) struct Connection {
    pub(super) machine: Box<dyn Machine>,
    stream: Stream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects by the first version that the peer speaks, and waits until all is granted.
    pub(super) async fn open(target: &Target, options: &Options) -> io::Result<Self> {
        let url = Url::parse(&target.url)?;
        let versions = url::versions(&url);
        for (number, version) in versions.iter().enumerate() {
            let stream = open_stream(&url, target).await?;
            let mut connection = Self {
                machine: machine(*version, options.clone(), name()),
                stream,
                buffer: vec![0; READ_BYTES],
            };
            let is_last = number + 1 == versions.len();
            match connection.next().await {
                Ok(ClientEvent::Ready(_)) => return Ok(connection),
                Ok(ClientEvent::Closed(closed))
                    if closed.kind == ClosedKind::Version && !is_last => {}
                Ok(ClientEvent::Closed(closed)) => return Err(ended(closed)),
                Ok(_) => return Err(io::ErrorKind::InvalidData.into()),
                // Some close without a word what is not their version.
                Err(error) if is_last || !is_cut(&error) => return Err(error),
                Err(_) => {}
            }
        }
        Err(io::ErrorKind::Unsupported.into())
    }

    /// What comes next.
    pub(super) async fn next(&mut self) -> io::Result<ClientEvent> {
        loop {
            match self.pump().await? {
                Ok(event) => return Ok(event),
                Err(deadline) => self.hear(deadline).await?,
            }
        }
    }

    /// Hears what the peer says next, or sees to what is due by then.
    async fn hear(&mut self, deadline: Instant) -> io::Result<()> {
        let wait = match deadline {
            Instant::NEVER => NO_DEADLINE,
            deadline => deadline.since(now()),
        };
        let read = self.stream.read(&mut self.buffer);
        match tokio::time::timeout(wait, read).await {
            Err(_) => self.machine.handle_timeout(now()),
            Ok(length) => match length? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                length => {
                    let Ok(()) = self.machine.handle_input(now(), &self.buffer[..length]);
                }
            },
        }
        Ok(())
    }

    /// Sends what the machine wants to be sent; its next event, or when it is due next.
    pub(super) async fn pump(&mut self) -> io::Result<Result<ClientEvent, Instant>> {
        loop {
            match self.machine.poll_output() {
                Output::Transmit(bytes) => self.send(&bytes).await?,
                Output::Event(ClientEvent::Held(why)) => tell_held(why.as_deref()),
                Output::Event(event) => return Ok(Ok(event)),
                Output::Timeout(deadline) => return Ok(Err(deadline)),
            }
        }
    }

    /// Waits until the peer has said something, which may be that it takes more; meanwhile it hears that this side
    /// is there.
    pub(super) async fn granted(&mut self) -> io::Result<()> {
        match self.pump().await? {
            Ok(ClientEvent::Closed(closed)) => Err(ended(closed)),
            Ok(_) => Ok(()),
            Err(deadline) => self.hear(deadline).await,
        }
    }

    /// Sends bytes of a message.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }
}

/// Who waits is told for what.
fn tell_held(why: Option<&str>) {
    match why {
        Some(why) => tracing::warn!("AMQP: the broker takes nothing for now: {why}"),
        None => tracing::warn!("AMQP: the broker takes messages again"),
    }
}

/// The client's half of a version, under a name by which a peer knows it again.
pub(in crate::net) fn machine(
    version: Version,
    options: Options,
    name: String,
) -> Box<dyn Machine> {
    match version {
        Version::V091 => Box::new(v091::Client::new(now(), options)),
        Version::V10 => Box::new(v10::Client::new(now(), options, name)),
    }
}

/// A name of nobody else.
fn name() -> String {
    format!("weir-{:016x}", weir_random::number())
}

fn is_cut(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset)
}

/// An end as an error, with the peer's own sentence.
pub(super) fn ended(closed: Closed) -> io::Error {
    let kind = match closed.kind {
        ClosedKind::Version => io::ErrorKind::Unsupported,
        ClosedKind::Message => io::ErrorKind::InvalidData,
        ClosedKind::Refused => io::ErrorKind::PermissionDenied,
        ClosedKind::Silent => io::ErrorKind::TimedOut,
        ClosedKind::Lost => io::ErrorKind::Other,
    };
    io::Error::new(kind, closed.reason)
}

/// Opens what carries the frames: TCP, TLS or a WebSocket (AMQP WebSocket Binding 1.0 section 2.1).
pub(in crate::net) async fn open_stream(url: &Url, target: &Target) -> io::Result<Stream> {
    let tcp = TcpStream::connect((url.host.as_str(), url.port)).await?;
    // Small frames would otherwise wait for the acknowledgment of the one before.
    tcp.set_nodelay(true)?;
    let stream = if url.secure {
        let peer = tcp.peer_addr()?;
        let settings = tls::client_config(target.roots.as_deref())?;
        tls::connect(&settings, &url.host, tcp, peer).await?.stream
    } else {
        Stream::Tcp(tcp)
    };
    if !url.websocket {
        return Ok(stream);
    }
    let host = format!("{}:{}", url.host, url.port);
    let path = if url.path.is_empty() {
        "/amqp"
    } else {
        &url.path
    };
    let opening = websocket::Opening {
        host: &host,
        path,
        subprotocol: "amqp",
        credential: target.credential.as_deref(),
        message_bytes_max: SOCKET_MESSAGE_BYTES_MAX,
    };
    let socket = websocket::open(stream, opening).await?;
    Ok(Stream::WebSocket(Box::new(socket)))
}
