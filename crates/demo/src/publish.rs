//! A device's side of the public HTTP interface: publish a message, put a catalog entry.
//!
//! One kept-alive HTTP/1.1 connection per publisher, one request at a time. What fails for a
//! passing reason (no connection, 429, 5xx) is tried again with the same `Idempotency-Key`, so a message
//! whose acknowledgement got lost is not stored twice; what is refused is an error with the
//! gateway's own words.

use crate::limits::{RESPONSE_BYTES_MAX, RESPONSE_WAIT, RETRY_FIRST, RETRY_MAX};
use crate::message::{self, Message};
use crate::{DemoFault, now};
use core::fmt::Write as _;
use core::time::Duration;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use weir_carrier::tls::{self, ClientConfig};
use weir_carrier::{Link, Stream};
use weir_model::{Url, percent};
use weir_random::Random;

/// Where the gateway is, and how to be let in.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// Host and port.
    authority: String,
    /// Whom to believe, where TLS is spoken.
    tls: Option<Arc<ClientConfig>>,
    /// Path before every resource, without a slash at its end.
    prefix: String,
    token: Option<String>,
}

impl Gateway {
    /// Reads `http://host:port/prefix` or the same with `https`, where the gateway shows `certificate`
    /// (PEM), or one that a root of the Web vouches for.
    pub fn parse(
        url: &str,
        token: Option<String>,
        certificate: Option<&[u8]>,
    ) -> Result<Self, DemoFault> {
        let refuse = || DemoFault::Url {
            url: weir_model::url::shown(url),
        };
        let read = Url::parse(url).map_err(|_| refuse())?;
        let (tls, port) = match read.scheme {
            "http" => (None, 80),
            "https" => (Some(settings(certificate)?), 443),
            _ => return Err(refuse()),
        };
        let host = read.authority;
        if host.userinfo.is_some() || host.host.contains(' ') || read.query.is_some() {
            return Err(refuse());
        }
        let path = read.path.trim_end_matches('/');
        Ok(Self {
            authority: host.with_port(port),
            tls,
            prefix: path.to_owned(),
            token,
        })
    }

    async fn connect(&self) -> io::Result<Link> {
        let socket = TcpStream::connect(&self.authority).await?;
        socket.set_nodelay(true)?;
        let peer = socket.peer_addr()?;
        let Some(settings) = &self.tls else {
            return Ok(Link::tcp(socket, peer));
        };
        let host = self.authority.rsplit_once(':').map_or("", |(host, _)| host);
        let name = host.trim_start_matches('[').trim_end_matches(']');
        tls::connect(settings, name, socket, peer).await
    }
}

fn settings(certificate: Option<&[u8]>) -> Result<Arc<ClientConfig>, DemoFault> {
    let settings = match certificate {
        Some(certificate) => tls::pinned_config(certificate),
        None => tls::client_config(None),
    };
    settings.map_err(DemoFault::Tls)
}

/// A publisher with its connection.
#[derive(Debug)]
pub struct Publisher {
    gateway: Gateway,
    connection: Option<BufReader<Stream>>,
    random: Random,
    session: u64,
    sent: u64,
}

/// What came back.
struct Response {
    status: u16,
    retry_after: Option<Duration>,
    body: String,
}

impl Publisher {
    /// A publisher that connects when it first has something to say.
    pub fn new(gateway: Gateway, seed: u64) -> Self {
        let mut random = Random::new(seed ^ now().nanos() as u64);
        let session = random.bits();
        Self {
            gateway,
            connection: None,
            random,
            session,
            sent: 0,
        }
    }

    /// Publishes a message; returns when it is acknowledged, however long that takes.
    pub async fn publish(&mut self, message: &Message) -> Result<(), DemoFault> {
        let path = format!("/live/{}", escape(&message.topic));
        self.send("POST", &path, &message.json(now()))
            .await
            .map(|_| ())
    }

    /// Puts a datastream into the catalog.
    pub async fn describe(&mut self, stream: &message::Stream) -> Result<(), DemoFault> {
        let path = format!("/catalog/{}", escape(&stream.topic));
        self.send("PUT", &path, &stream.json()).await.map(|_| ())
    }

    /// Says whether anything was observed at this topic before.
    pub async fn observed(&mut self, topic: &str) -> Result<bool, DemoFault> {
        let path = format!("/catalog/{}", escape(topic));
        match self.send("GET", &path, b"").await {
            Ok(response) => Ok(has_value(&response.body)),
            Err(DemoFault::Refused { status: 404, .. }) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    async fn send(&mut self, method: &str, path: &str, body: &[u8]) -> Result<Response, DemoFault> {
        self.sent += 1;
        let request = self.request(method, path, body);
        let mut pause = RETRY_FIRST;
        loop {
            let wait = match timeout(RESPONSE_WAIT, self.attempt(&request)).await {
                Ok(Ok(response)) if response.status < 300 => return Ok(response),
                Ok(Ok(response)) if response.status == 429 || response.status >= 500 => {
                    response.retry_after.unwrap_or(pause)
                }
                Ok(Ok(Response { status, body, .. })) => {
                    let path = path.to_owned();
                    return Err(DemoFault::Refused {
                        path,
                        status,
                        reason: body,
                    });
                }
                Ok(Err(_)) | Err(_) => {
                    self.connection = None;
                    pause
                }
            };
            sleep(wait.mul_f64(0.5 + self.random.unit())).await;
            pause = (pause * 2).min(RETRY_MAX);
        }
    }

    fn request(&self, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
        let Gateway {
            authority,
            prefix,
            token,
            ..
        } = &self.gateway;
        let mut head = format!("{method} {prefix}{path} HTTP/1.1\r\nHost: {authority}\r\n");
        if let Some(token) = token {
            let _ = write!(head, "Authorization: Bearer {token}\r\n");
        }
        if !body.is_empty() {
            let length = body.len();
            let _ = write!(
                head,
                "Content-Type: application/json\r\nContent-Length: {length}\r\n"
            );
            let (session, sent) = (self.session, self.sent);
            let _ = write!(head, "Idempotency-Key: {session:016x}-{sent}\r\n");
        }
        let mut request = (head + "\r\n").into_bytes();
        request.extend_from_slice(body);
        request
    }

    /// One try: connect if need be, write, read the answer.
    async fn attempt(&mut self, request: &[u8]) -> io::Result<Response> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => BufReader::new(self.gateway.connect().await?.stream),
        };
        connection.get_mut().write_all(request).await?;
        connection.get_mut().flush().await?;
        let (response, reusable) = read_response(&mut connection).await?;
        if reusable {
            self.connection = Some(connection);
        }
        Ok(response)
    }
}

/// Reads an answer; says whether the connection can serve another request. A body without a length
/// is left unread and ends the connection: the demo needs none of those.
async fn read_response(connection: &mut BufReader<Stream>) -> io::Result<(Response, bool)> {
    let status_line = read_line(connection).await?;
    let status = status_line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    let (mut length, mut retry_after, mut reusable) = (None, None, true);
    loop {
        let line = read_line(connection).await?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse::<usize>().ok(),
            "retry-after" => retry_after = value.parse().ok().map(Duration::from_secs),
            "connection" if value.eq_ignore_ascii_case("close") => reusable = false,
            _ => {}
        }
    }
    let mut body = Vec::new();
    match length {
        Some(length) if length <= RESPONSE_BYTES_MAX => {
            body.resize(length, 0);
            connection.read_exact(&mut body).await?;
        }
        None if status == 204 || status == 304 => {}
        _ => reusable = false,
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok((
        Response {
            status,
            retry_after,
            body,
        },
        reusable,
    ))
}

/// A line without its end; an empty one ends the head.
async fn read_line(connection: &mut BufReader<Stream>) -> io::Result<String> {
    let mut line = String::new();
    let mut limited = connection.take(RESPONSE_BYTES_MAX as u64);
    limited.read_line(&mut line).await?;
    match line.strip_suffix('\n') {
        Some(line) => Ok(line.trim_end_matches('\r').to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Says whether a catalog entry tells of an observation.
fn has_value(body: &str) -> bool {
    let entry: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    entry.get("value").is_some()
}

/// A topic as a URL path.
fn escape(topic: &str) -> String {
    percent::encode(topic, b"/")
}

#[cfg(test)]
mod tests;
