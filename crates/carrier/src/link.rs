//! An opened byte stream.

use crate::websocket::WebSocketStream;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// An opened byte stream and what is known of it.
#[derive(Debug)]
pub struct Link {
    /// The bytes.
    pub stream: Stream,
    /// The peer's address.
    pub peer: SocketAddr,
    /// The protocol chosen in the TLS handshake (ALPN).
    pub alpn: Option<Vec<u8>>,
    /// The certificate that the peer proved to be its own, in DER.
    pub certificate: Option<Box<[u8]>>,
    /// What was presented before the link was handed over (`Authorization`, RFC 9110 section 11.6.2).
    pub credential: Option<String>,
}

impl Link {
    /// A link over TCP in the clear.
    pub fn tcp(tcp: TcpStream, peer: SocketAddr) -> Self {
        Self {
            stream: Stream::Tcp(tcp),
            peer,
            alpn: None,
            certificate: None,
            credential: None,
        }
    }
}

/// A byte stream. What is not TCP alone is boxed: who does not use it does not pay for its size.
#[derive(Debug)]
pub enum Stream {
    /// TCP in the clear.
    Tcp(TcpStream),
    /// TLS over TCP, either role.
    Tls(Box<tokio_rustls::TlsStream<TcpStream>>),
    /// Bytes in the binary messages of a WebSocket, either role; or the messages themselves.
    WebSocket(Box<WebSocketStream>),
}

impl Stream {
    /// Bytes of memory that is taken by what is framed and was not sent.
    pub fn unsent(&self) -> usize {
        match self {
            Stream::WebSocket(socket) => socket.unsent_capacity(),
            Stream::Tcp(_) | Stream::Tls(_) => 0,
        }
    }

    /// Bytes of memory that is taken by what came and was not handed on.
    pub fn held(&self) -> usize {
        match self {
            Stream::WebSocket(socket) => socket.held(),
            Stream::Tcp(_) | Stream::Tls(_) => 0,
        }
    }

    /// The TCP connection below.
    pub fn tcp(&self) -> &TcpStream {
        match self {
            Stream::Tcp(tcp) => tcp,
            Stream::Tls(tls) => tls.get_ref().0,
            Stream::WebSocket(socket) => socket.below().tcp(),
        }
    }

    /// Sets what long-lived connections of small messages need: none waits for the acknowledgement of
    /// the one before, and a peer that vanished without a word is noticed by the kernel.
    pub fn tune(&self) -> io::Result<()> {
        let tcp = self.tcp();
        tcp.set_nodelay(true)?;
        Ok(rustix::net::sockopt::set_socket_keepalive(tcp, true)?)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_read(cx, buf),
            Stream::Tls(tls) => Pin::new(tls).poll_read(cx, buf),
            Stream::WebSocket(socket) => Pin::new(socket).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_write(cx, bytes),
            Stream::Tls(tls) => Pin::new(tls).poll_write(cx, bytes),
            Stream::WebSocket(socket) => Pin::new(socket).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_write_vectored(cx, slices),
            Stream::Tls(tls) => Pin::new(tls).poll_write_vectored(cx, slices),
            Stream::WebSocket(socket) => Pin::new(socket).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Stream::Tcp(tcp) => tcp.is_write_vectored(),
            Stream::Tls(tls) => tls.is_write_vectored(),
            Stream::WebSocket(socket) => socket.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_flush(cx),
            Stream::Tls(tls) => Pin::new(tls).poll_flush(cx),
            Stream::WebSocket(socket) => Pin::new(socket).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Stream::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
            Stream::WebSocket(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }
}
