//! One connection of the client: the machine, its socket, and its clock.

use super::url::Url;
use crate::session::{Client, ClientEvent, ConnectOptions};
use crate::wire::ReasonCode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use weir_binding::Target;
use weir_carrier::clock::now;
use weir_carrier::{Stream, tls, websocket};
use weir_sansio::{Instant, Output, Session};

/// Messages of a WebSocket may be so long, bytes.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// Bytes asked of a socket at once.
const READ_BYTES: usize = 64 << 10;

/// A connection.
pub(super) struct Connection {
    pub(super) client: Client,
    stream: Stream,
    events: VecDeque<ClientEvent>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects and waits until the server has accepted.
    pub(super) async fn open(target: &Target, mut options: ConnectOptions) -> io::Result<Self> {
        let url = Url::parse(&target.url)?;
        let stream = open(&url, target).await?;
        if let Some((user, password)) = login(&url, target) {
            options.user_name = Some(user);
            options.password = Some(password.into_bytes());
        }
        let mut connection = Self {
            client: Client::new(now(), options),
            stream,
            events: VecDeque::new(),
            buffer: vec![0; READ_BYTES],
        };
        match connection.next().await? {
            ClientEvent::Connected(_) => Ok(connection),
            other => Err(ended(other)),
        }
    }

    /// What comes next.
    pub(super) async fn next(&mut self) -> io::Result<ClientEvent> {
        loop {
            let deadline = self.pump().await?;
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            let wait = match deadline {
                Instant::NEVER => Duration::from_secs(86_400),
                deadline => deadline.since(now()),
            };
            let read = self.stream.read(&mut self.buffer);
            match tokio::time::timeout(wait, read).await {
                Err(_) => self.client.handle_timeout(now()),
                Ok(length) => match length? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    length => {
                        let Ok(()) = self.client.handle_input(now(), &self.buffer[..length]);
                    }
                },
            }
        }
    }

    /// Sends what the machine wants to be sent and takes its events; says when it is due next.
    pub(super) async fn pump(&mut self) -> io::Result<Instant> {
        let mut wrote = false;
        loop {
            match self.client.poll_output() {
                Output::Transmit(bytes) => {
                    self.stream.write_all(&bytes).await?;
                    wrote = true;
                }
                Output::Event(event) => self.events.push_back(event),
                Output::Timeout(deadline) => {
                    if wrote {
                        self.stream.flush().await?;
                    }
                    return Ok(deadline);
                }
            }
        }
    }

    /// Sends bytes of a message.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }
}

/// An event that is none of those awaited, as an error.
pub(super) fn ended(event: ClientEvent) -> io::Error {
    match event {
        ClientEvent::Closed { code, reason } => refused(code, reason),
        _ => io::Error::new(
            io::ErrorKind::InvalidData,
            "the broker answers what was not asked",
        ),
    }
}

/// A refusal as an error, with the broker's own sentence where it gave one.
pub(super) fn refused(code: ReasonCode, reason: Option<String>) -> io::Error {
    let kind = match code {
        ReasonCode::NOT_AUTHORIZED | ReasonCode::BAD_USER_NAME_OR_PASSWORD => {
            io::ErrorKind::PermissionDenied
        }
        ReasonCode::QUOTA_EXCEEDED | ReasonCode::SERVER_BUSY => io::ErrorKind::ResourceBusy,
        ReasonCode::PAYLOAD_FORMAT_INVALID | ReasonCode::TOPIC_NAME_INVALID => {
            io::ErrorKind::InvalidInput
        }
        _ => io::ErrorKind::Other,
    };
    let sentence = match reason {
        Some(reason) => format!("{code}: {reason}"),
        None => code.to_string(),
    };
    io::Error::new(kind, sentence)
}

/// Opens what carries the packets: TCP, TLS or a WebSocket.
pub(in crate::net) async fn open(url: &Url, target: &Target) -> io::Result<Stream> {
    let tcp = TcpStream::connect((url.host.as_str(), url.port)).await?;
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
    // [MQTT-6.0.0-3]
    let opening = websocket::Opening {
        host: &host,
        path: &url.path,
        subprotocol: "mqtt",
        credential: target.credential.as_deref(),
        message_bytes_max: MESSAGE_BYTES_MAX,
    };
    let socket = websocket::open(stream, opening).await?;
    Ok(Stream::WebSocket(Box::new(socket)))
}

/// User and password of the URL, or those of `Authorization`.
fn login(url: &Url, target: &Target) -> Option<(String, String)> {
    if url.login.is_some() {
        return url.login.clone();
    }
    let (scheme, value) = target.credential.as_deref()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(("token".into(), value.trim().into()));
    }
    let decoded = STANDARD.decode(value.trim()).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.into(), password.into()))
}
