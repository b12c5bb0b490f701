//! The server that a client talks to, over whatever carries the messages.

use super::keys::Secured;
use super::url::{Over, Url};
use crate::limits::Limits;
use crate::net::seed::seed;
use crate::secure::{Opened, Remote};
use crate::session::{Arrival, CallId, Connection, Endpoint, Event, Outgoing, Parameters};
use crate::wire::{Framing, Message};
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use weir_binding::Target;
use weir_carrier::clock::{Timer, now};
use weir_carrier::websocket::{Opening, open};
use weir_carrier::{Datagrams, Stream, tls};
use weir_sansio::{Instant, Output, Session};

/// Largest body taken, bytes.
const BODY_BYTES_MAX: usize = 64 << 20;
/// Longest datagram there is.
const BUFFER_BYTES: usize = 64 << 10;

/// A server.
pub(super) struct Peer {
    way: Way,
    timer: Timer,
    buffer: Vec<u8>,
}

enum Way {
    Datagrams {
        socket: Datagrams,
        endpoint: Box<Endpoint<Remote<SocketAddr>>>,
        server: Remote<SocketAddr>,
        secured: Option<Box<Secured>>,
        unsent: Option<Outgoing<Remote<SocketAddr>>>,
    },
    Stream {
        stream: Stream,
        connection: Box<Connection>,
        out: Vec<u8>,
        sent: usize,
    },
}

impl Peer {
    /// Connects as the URL says.
    pub(super) async fn open(url: &Url, target: &Target) -> io::Result<Self> {
        let limits = Limits {
            body_bytes: BODY_BYTES_MAX,
            ..Limits::default()
        };
        let way = match url.over {
            Over::Datagrams => datagrams(url, target, limits).await?,
            _ if target.keys.is_some() => return Err(not_keyed()),
            Over::Stream | Over::WebSocket => stream(url, target, limits).await?,
        };
        Ok(Self {
            way,
            timer: Timer::default(),
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// Begins a request.
    pub(super) fn request(&mut self, message: Message) -> io::Result<CallId> {
        let call = match &mut self.way {
            Way::Datagrams {
                endpoint, server, ..
            } => endpoint.request(now(), *server, message, true),
            Way::Stream { connection, .. } => connection.request(message),
        };
        call.ok_or_else(|| io::Error::other("no more requests can be made on this connection"))
    }

    /// Gives a request up, and says so where that can be sent at once.
    pub(super) fn cancel(&mut self, call: CallId) {
        match &mut self.way {
            Way::Datagrams {
                socket,
                endpoint,
                secured,
                ..
            } => {
                endpoint.cancel(now(), call);
                while let Output::Transmit(datagram) = endpoint.poll() {
                    if let Ok(Some(datagram)) = closed(secured, datagram) {
                        let to = datagram.peer.address;
                        let _as_well_as_can_be = socket.try_send(&datagram.bytes, to);
                    }
                }
            }
            Way::Stream { connection, .. } => connection.cancel(call),
        }
    }

    /// What happens next.
    pub(super) async fn event(&mut self) -> io::Result<Event<()>> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Event<()>>> {
        loop {
            let at = match self.way.poll_put(cx)? {
                Poll::Ready(Ok(event)) => return Poll::Ready(Ok(event)),
                Poll::Ready(Err(at)) => at,
                Poll::Pending => return Poll::Pending,
            };
            if self.way.take(cx, &mut self.buffer)?.is_ready() {
                continue;
            }
            if !self.timer.poll_due(cx, at) {
                return Poll::Pending;
            }
            if let Way::Datagrams { endpoint, .. } = &mut self.way {
                endpoint.timeout(now());
            }
        }
    }
}

impl Way {
    /// Sends what is to be sent; an event, or when the machine wants to be called.
    fn poll_put(&mut self, cx: &mut Context<'_>) -> io::Result<Poll<Result<Event<()>, Instant>>> {
        loop {
            if self.poll_flush(cx)?.is_pending() {
                return Ok(Poll::Pending);
            }
            match self {
                Way::Datagrams {
                    endpoint,
                    secured,
                    unsent,
                    ..
                } => match endpoint.poll() {
                    Output::Transmit(datagram) => *unsent = closed(secured, datagram)?,
                    Output::Event(event) => return Ok(Poll::Ready(Ok(without_address(event)))),
                    Output::Timeout(at) => return Ok(Poll::Ready(Err(at))),
                },
                Way::Stream {
                    stream,
                    connection,
                    out,
                    ..
                } => match connection.poll_output() {
                    Output::Transmit(bytes) => match stream {
                        Stream::WebSocket(socket) => socket.send_message(&bytes),
                        _ => out.extend_from_slice(&bytes),
                    },
                    Output::Event(event) => return Ok(Poll::Ready(Ok(event))),
                    Output::Timeout(at) => return Ok(Poll::Ready(Err(at))),
                },
            }
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> io::Result<Poll<()>> {
        let (stream, out, sent) = match self {
            Way::Stream {
                stream, out, sent, ..
            } => (stream, out, sent),
            Way::Datagrams { socket, unsent, .. } => {
                let Some(datagram) = unsent else {
                    return Ok(Poll::Ready(()));
                };
                let sent = socket.poll_send(cx, &datagram.bytes, datagram.peer.address)?;
                if sent.is_ready() {
                    *unsent = None;
                }
                return Ok(sent);
            }
        };
        while *sent < out.len() {
            match Pin::new(&mut *stream).poll_write(cx, &out[*sent..])? {
                Poll::Pending => return Ok(Poll::Pending),
                Poll::Ready(0) => return Err(ErrorKind::WriteZero.into()),
                Poll::Ready(written) => *sent += written,
            }
        }
        out.clear();
        *sent = 0;
        Ok(Pin::new(stream).poll_flush(cx)?)
    }

    /// Takes what the server sent.
    fn take(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> io::Result<Poll<()>> {
        Ok(match self {
            Way::Datagrams {
                socket,
                endpoint,
                secured,
                ..
            } => match socket.poll_receive(cx, buffer) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(received) => {
                    let (length, from) = received?;
                    let datagram = &buffer[..length];
                    let opened = match secured {
                        None => Opened::Untouched(Remote::plain(from)),
                        Some(secured) => secured.guard.open(from, datagram),
                    };
                    match opened {
                        Opened::Untouched(from) => {
                            endpoint.receive(now(), from, Arrival::default(), datagram);
                        }
                        Opened::Taken(from, inner) => {
                            endpoint.receive(now(), from, Arrival::default(), &inner);
                        }
                        Opened::Answer(answer) => socket.try_send(&answer, from)?,
                        Opened::Dropped => {}
                    }
                    Poll::Ready(())
                }
            },
            Way::Stream {
                stream, connection, ..
            } => match poll_bytes(stream, cx, buffer)? {
                Poll::Pending => Poll::Pending,
                Poll::Ready(bytes) => {
                    let broken = |fault: crate::session::ConnectionFault| {
                        io::Error::new(ErrorKind::ConnectionAborted, fault.to_string())
                    };
                    connection.handle_input(now(), &bytes).map_err(broken)?;
                    Poll::Ready(())
                }
            },
        })
    }
}

fn poll_bytes(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> io::Result<Poll<bytes::Bytes>> {
    if let Stream::WebSocket(socket) = stream {
        return Ok(match socket.poll_message(cx)? {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(message)) => Poll::Ready(message),
            Poll::Ready(None) => return Err(ErrorKind::UnexpectedEof.into()),
        });
    }
    let mut into = ReadBuf::new(buffer);
    Ok(match Pin::new(stream).poll_read(cx, &mut into)? {
        Poll::Pending => Poll::Pending,
        Poll::Ready(()) if into.filled().is_empty() => {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Poll::Ready(()) => Poll::Ready(bytes::Bytes::copy_from_slice(into.filled())),
    })
}

/// Keys of OSCORE are for datagrams; TLS secures connections.
fn not_keyed() -> io::Error {
    let sentence = "keys of OSCORE are for coap://; coaps+tcp:// and coaps+ws:// have TLS";
    io::Error::new(ErrorKind::Unsupported, sentence)
}

/// What an endpoint sends, closed where keys are shared.
fn closed(
    secured: &mut Option<Box<Secured>>,
    datagram: Outgoing<Remote<SocketAddr>>,
) -> io::Result<Option<Outgoing<Remote<SocketAddr>>>> {
    let Some(secured) = secured else {
        return Ok(Some(datagram));
    };
    secured.look()?;
    let peer = datagram.peer;
    let bytes = match peer.context {
        Some(_) => secured.guard.close(peer, &datagram.bytes),
        // To somebody else: a reset, at most.
        None => return Ok(Some(datagram)),
    };
    Ok(bytes.map(|bytes| Outgoing {
        peer,
        bytes: bytes.into(),
    }))
}

fn without_address(event: Event<Remote<SocketAddr>>) -> Event<()> {
    match event {
        Event::Response(call, _, message) => Event::Response(call, (), message),
        Event::Notification(call, message) => Event::Notification(call, message),
        Event::Failed(call, failure) => Event::Failed(call, failure),
        Event::Ended(observation) => Event::Ended(observation),
        Event::Request(incoming) => Event::Request(crate::session::Incoming {
            exchange: incoming.exchange,
            peer: (),
            message: incoming.message,
            multicast: incoming.multicast,
            observe: incoming.observe,
        }),
    }
}

async fn datagrams(url: &Url, target: &Target, limits: Limits) -> io::Result<Way> {
    let mut addresses = tokio::net::lookup_host((url.host.as_str(), url.port)).await?;
    let server = addresses.next().ok_or(ErrorKind::NotFound)?;
    Ok(Way::Datagrams {
        socket: Datagrams::connected(server)?,
        endpoint: Box::new(Endpoint::new(Parameters::default(), limits, seed()?)),
        server: Remote {
            address: server,
            context: target.keys.as_ref().map(|_| Secured::CONTEXT),
        },
        secured: target
            .keys
            .as_deref()
            .map(|path| Secured::open(path).map(Box::new))
            .transpose()?,
        unsent: None,
    })
}

async fn stream(url: &Url, target: &Target, limits: Limits) -> io::Result<Way> {
    let tcp = TcpStream::connect((url.host.as_str(), url.port)).await?;
    tcp.set_nodelay(true)?;
    let mut stream = if url.secure {
        let peer = tcp.peer_addr()?;
        let settings = tls::client_config(target.roots.as_deref())?;
        tls::connect(&settings, &url.host, tcp, peer).await?.stream
    } else {
        Stream::Tcp(tcp)
    };
    let mut framing = Framing::Stream;
    if url.over == Over::WebSocket {
        let opening = Opening {
            host: &url.authority(),
            path: "/.well-known/coap",
            subprotocol: "coap",
            credential: target.credential.as_deref(),
            message_bytes_max: BODY_BYTES_MAX,
        };
        stream = Stream::WebSocket(Box::new(open(stream, opening).await?));
        framing = Framing::Frames;
    }
    Ok(Way::Stream {
        stream,
        connection: Box::new(Connection::new(framing, limits, seed()?)),
        out: Vec::new(),
        sent: 0,
    })
}
