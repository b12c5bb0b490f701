//! One login: the machine, its socket, and its clock; a stream that breaks off goes on where it was.

use crate::net::connect;
use crate::net::url::Url;
use crate::session::{Client, ClientOptions, Failure, Resumption, SessionEvent};
use crate::xml::{Element, Skipped};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use weir_binding::Target;
use weir_carrier::Stream;
use weir_carrier::backoff::Backoff;
use weir_carrier::clock::now;
use weir_sansio::{Instant, Output, Session};

/// Bytes asked of a socket at once.
const READ_BYTES: usize = 64 << 10;
/// Attempts to get back to a server that was there.
const ATTEMPTS_MAX: usize = 8;
/// The longest wait between two of them.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// A stream to a server, or what follows it.
pub(super) struct Connection {
    target: Target,
    pub(super) url: Url,
    client: Client,
    /// There is none while TLS begins.
    stream: Option<Stream>,
    events: VecDeque<SessionEvent>,
    buffer: Vec<u8>,
    /// Requests made, for their identifiers.
    requests: u64,
}

/// What a connection hands over.
pub(super) enum Came {
    /// A stanza, and the document that it was read from.
    Stanza(Element, Vec<u8>),
    /// A stanza over a limit, which was not read.
    Skipped(Skipped),
    /// The stream could not go on where it was: another one is there, and whatever was asked for is to be
    /// asked for again.
    Anew,
}

impl Connection {
    /// Logs in.
    pub(super) async fn open(target: &Target) -> io::Result<Self> {
        let url = Url::parse(&target.url)?;
        let (client, stream) = log_in(&url, target, None).await?;
        let mut connection = Self {
            target: target.clone(),
            url,
            client,
            stream: Some(stream),
            events: VecDeque::new(),
            buffer: vec![0; READ_BYTES],
            requests: 0,
        };
        connection.ready().await?;
        Ok(connection)
    }

    /// Waits until stanzas flow; says whether the earlier stream goes on.
    async fn ready(&mut self) -> io::Result<bool> {
        loop {
            match self.event().await? {
                SessionEvent::Ready { resumed, .. } => return Ok(resumed),
                SessionEvent::StartTls => self.start_tls().await?,
                SessionEvent::Closed(failure) => return Err(ended(failure)),
                SessionEvent::Stanza(..) | SessionEvent::Skipped(_) => self.client.handled(),
            }
        }
    }

    async fn start_tls(&mut self) -> io::Result<()> {
        let Some(Stream::Tcp(tcp)) = self.stream.take() else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "TLS within TLS"));
        };
        let roots = self.target.roots.as_deref();
        self.stream = Some(connect::secure(tcp, &self.url.domain, roots).await?);
        self.client.secured(None);
        Ok(())
    }

    /// The address of this stream.
    pub(super) fn jid(&self) -> &str {
        self.client.jid()
    }

    /// An identifier for a request.
    pub(super) fn next_id(&mut self) -> String {
        self.requests += 1;
        format!("weir-{}", self.requests)
    }

    /// Sends a stanza.
    pub(super) async fn send(&mut self, stanza: String) -> io::Result<()> {
        self.client.send(stanza);
        self.pump().await.map(|_| ())
    }

    /// The next stanza. A stream that breaks off is taken up again, where the server kept it.
    pub(super) async fn next(&mut self) -> io::Result<Came> {
        let lost = match self.event().await {
            Ok(SessionEvent::Stanza(stanza, document)) => {
                // It is the caller's now; who takes it no further has the cursor to ask from.
                self.client.handled();
                return Ok(Came::Stanza(stanza, document));
            }
            Ok(SessionEvent::Skipped(skipped)) => {
                self.client.handled();
                return Ok(Came::Skipped(skipped));
            }
            Ok(SessionEvent::Closed(failure)) => ended(failure),
            Ok(_) => io::Error::new(io::ErrorKind::InvalidData, "the stream begins anew"),
            Err(error) => error,
        };
        if lost.kind() == io::ErrorKind::PermissionDenied {
            return Err(lost);
        }
        self.take_up(lost).await
    }

    async fn take_up(&mut self, mut lost: io::Error) -> io::Result<Came> {
        let (mut backoff, mut told) = (Backoff::new(WAIT_MAX), String::new());
        for _ in 0..ATTEMPTS_MAX {
            tokio::time::sleep(backoff.wait()).await;
            let said = match lost.kind() {
                io::ErrorKind::UnexpectedEof => "the server closed it".into(),
                _ => lost.to_string(),
            };
            if said != told {
                tracing::warn!("XMPP: the stream broke off: {said}; connecting again");
                told = said;
            }
            match self.again().await {
                Ok(true) => {
                    tracing::info!("XMPP: the stream of {} goes on where it was", self.jid());
                    return Box::pin(self.next()).await;
                }
                Ok(false) => return Ok(Came::Anew),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
                Err(error) => lost = error,
            }
        }
        Err(lost)
    }

    /// Connects again; says whether the stream goes on where it was.
    async fn again(&mut self) -> io::Result<bool> {
        let resume = self.resumption();
        let kept = resume.clone();
        let logged_in = log_in(&self.url, &self.target, resume).await;
        let (client, stream) = match logged_in {
            Ok(both) => both,
            Err(error) => {
                self.keep(kept);
                return Err(error);
            }
        };
        (self.client, self.stream) = (client, Some(stream));
        self.events.clear();
        let ready = self.ready().await;
        if ready.is_err() {
            self.keep(kept);
        }
        ready
    }

    fn resumption(&mut self) -> Option<Resumption> {
        let idle = Client::new(now(), ClientOptions::default());
        std::mem::replace(&mut self.client, idle).into_resumption()
    }

    /// For the next attempt.
    fn keep(&mut self, resume: Option<Resumption>) {
        self.client = Client::interrupted(now(), resume);
    }

    async fn event(&mut self) -> io::Result<SessionEvent> {
        loop {
            let deadline = self.pump().await?;
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            let wait = match deadline {
                Instant::NEVER => Duration::from_secs(86_400),
                deadline => deadline.since(now()),
            };
            let Some(stream) = &mut self.stream else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            let read = stream.read(&mut self.buffer);
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

    /// Sends what the machine wants sent and keeps its events; says when it wants to be woken.
    async fn pump(&mut self) -> io::Result<Instant> {
        loop {
            match self.client.poll_output() {
                Output::Transmit(bytes) => {
                    let stream = self.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
                    stream.write_all(&bytes).await?;
                    stream.flush().await?;
                }
                Output::Event(event) => self.events.push_back(event),
                Output::Timeout(deadline) => return Ok(deadline),
            }
        }
    }
}

/// Opens a stream and begins to log in.
async fn log_in(
    url: &Url,
    target: &Target,
    resume: Option<Resumption>,
) -> io::Result<(Client, Stream)> {
    let tcp = connect::tcp(&url.host, url.port).await?;
    let may_be_clear = tcp.peer_addr()?.ip().is_loopback();
    let stream = if url.direct_tls {
        connect::secure(tcp, &url.domain, target.roots.as_deref()).await?
    } else {
        Stream::Tcp(tcp)
    };
    let (user, password) = login(url, target)?;
    let options = ClientOptions {
        domain: url.domain.clone(),
        user,
        password,
        nonce: nonce()?,
        secure: url.direct_tls,
        may_be_clear,
        resume,
        ..ClientOptions::default()
    };
    Ok((Client::new(now(), options), stream))
}

fn nonce() -> io::Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(weir_random::bytes::<18>()?))
}

/// User and password of the URL, or those of `Authorization`.
fn login(url: &Url, target: &Target) -> io::Result<(String, String)> {
    if let (Some(user), Some(password)) = (&url.user, &url.password) {
        return Ok((user.clone(), password.clone()));
    }
    let of_header = || {
        let (_, value) = target.credential.as_deref()?.split_once(' ')?;
        let text = String::from_utf8(STANDARD.decode(value.trim()).ok()?).ok()?;
        let (user, password) = text.split_once(':')?;
        Some((
            url.user.clone().unwrap_or_else(|| user.into()),
            password.to_owned(),
        ))
    };
    of_header().ok_or_else(|| {
        let sentence = "XMPP needs a login: xmpp://user:password@host";
        io::Error::new(io::ErrorKind::PermissionDenied, sentence)
    })
}

fn ended(failure: Failure) -> io::Error {
    let kind = match failure {
        Failure::Refused(_) => io::ErrorKind::PermissionDenied,
        Failure::Broken(_) => io::ErrorKind::InvalidData,
        Failure::Ended(_) => io::ErrorKind::UnexpectedEof,
        Failure::Silent => io::ErrorKind::TimedOut,
    };
    io::Error::new(kind, failure)
}
