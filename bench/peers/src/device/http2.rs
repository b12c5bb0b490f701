//! HTTP/2 in TLS: a request and its response, a stream each, on one connection (RFC 9113).
//!
//! The frames are the h2 library's, which hyper and with it the gateway uses; the device drives it by
//! hand and only while it waits for an echo.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use http::{Method, Request};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;

use super::{Device, Times, length_is};
use crate::sockets::{Peer, Traffic, modem, traffic_of};
use weir_bench_load::tls;

/// The name of HTTP/2 in a handshake of TLS (RFC 9113 section 3.2).
const ALPN: &str = "h2";

/// A client's connection.
pub(super) struct Http2 {
    runtime: Runtime,
    requests: SendRequest<Bytes>,
    uri: String,
    bytes: Arc<AtomicU64>,
    ends: (SocketAddr, SocketAddr),
    wait: Duration,
}

/// The connection itself, counted, behind the modem where there is one.
struct Line {
    stream: TcpStream,
    bytes: Arc<AtomicU64>,
    modem: bool,
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let length = buffer.filled().len() - before;
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        if self.modem && length > 0 {
            modem::pass_down(length);
        }
        polled
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.modem {
            modem::pass_up(bytes.len());
        }
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(length)) = polled {
            self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("HTTP/2: {error}")
}

impl Http2 {
    pub(super) fn open(peer: &Peer, target: &str) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let bytes = Arc::new(AtomicU64::new(0));
        let opened = runtime.block_on(connect(peer, bytes.clone()));
        let (requests, ends) = opened?;
        Ok(Self {
            runtime,
            requests,
            uri: format!("https://{}{target}", tls::NAME),
            bytes,
            ends,
            wait: peer.wait,
        })
    }

    /// Sends a request with a body; the length of the response's.
    fn request(&mut self, method: Method, body: &[u8]) -> Result<usize, String> {
        let kind = if method == Method::GET {
            "accept"
        } else {
            "content-type"
        };
        let request = Request::builder()
            .method(method)
            .uri(&self.uri)
            .header(kind, "text/plain")
            .body(())
            .map_err(failed)?;
        let asked = ask(self.requests.clone(), request, Bytes::copy_from_slice(body));
        let wait = self.wait;
        let answered = async { tokio::time::timeout(wait, asked).await };
        let answered = self.runtime.block_on(answered);
        answered.map_err(|_| "the server was silent for too long".to_string())?
    }
}

type Opened = (SendRequest<Bytes>, (SocketAddr, SocketAddr));

async fn connect(peer: &Peer, bytes: Arc<AtomicU64>) -> Result<Opened, String> {
    let certificate = peer.certificate.as_deref();
    let certificate = certificate.ok_or("HTTP/2 is spoken in TLS only")?;
    let config = tls::config(certificate, Some(ALPN)).map_err(failed)?;
    let stream = TcpStream::connect(peer.address).await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    let ends = (
        stream.local_addr().map_err(failed)?,
        stream.peer_addr().map_err(failed)?,
    );
    let line = Line {
        stream,
        bytes,
        modem: peer.modem,
    };
    let name = tls::NAME.try_into().map_err(failed)?;
    let connector = TlsConnector::from(Arc::new(config));
    let tls = connector.connect(name, line).await.map_err(failed)?;
    let (requests, connection) = h2::client::handshake(tls).await.map_err(failed)?;
    // It ends with the runtime; what fails shows in the next request.
    tokio::spawn(async move { _ = connection.await });
    Ok((requests, ends))
}

async fn ask(
    requests: SendRequest<Bytes>,
    request: Request<()>,
    body: Bytes,
) -> Result<usize, String> {
    let mut requests = requests.ready().await.map_err(failed)?;
    let (response, mut sending) = requests.send_request(request, false).map_err(failed)?;
    sending.send_data(body, true).map_err(failed)?;
    let response = response.await.map_err(failed)?;
    if !response.status().is_success() {
        return Err(format!("answered {}", response.status()));
    }
    let mut body = response.into_body();
    let mut length = 0;
    while let Some(piece) = body.data().await {
        let piece = piece.map_err(failed)?;
        length += piece.len();
        let released = body.flow_control().release_capacity(piece.len());
        released.map_err(failed)?;
    }
    Ok(length)
}

impl Device for Http2 {
    fn prepare(&mut self, payload: &[u8]) -> Result<(), String> {
        self.request(Method::POST, payload).map(drop)
    }

    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String> {
        length_is(self.request(Method::GET, payload)?, payload)
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(traffic_of(self.ends, self.bytes.load(Ordering::Relaxed))?)
    }
}
