//! A TCP connection whose bytes and segments are counted; small writes leave at once (`TCP_NODELAY`).
//!
//! With TLS on it, its records are what is counted: they are what the link carries above TCP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConnection;
use rustls::pki_types::ServerName;

use super::tcp_info::Segments;
use super::traffic::{TCP_HEADER_BYTES, TCP_TIMESTAMP_BYTES, Traffic};
use super::{Peer, modem};
use crate::error::{Cause, Error};
use weir_bench_load::tls;
use weir_bench_model::limits::READ_BYTES_MAX;

/// A connection.
pub struct Tcp {
    line: Line,
    tls: Option<Box<ClientConnection>>,
}

/// The connection itself, behind the modem where there is one.
struct Line {
    stream: TcpStream,
    local: SocketAddr,
    peer: SocketAddr,
    modem: bool,
    application_bytes: u64,
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.stream.read(buffer)?;
        self.application_bytes += length as u64;
        if self.modem && length > 0 {
            modem::pass_down(length);
        }
        Ok(length)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.modem {
            modem::pass_up(bytes.len());
        }
        // Blocking, and so all of it.
        self.stream.write_all(bytes)?;
        self.application_bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Tcp {
    /// Connects; `alpn` is what the protocol is called in a handshake of TLS.
    pub fn connect(to: &Peer, alpn: Option<&str>) -> Result<Self, Error> {
        let connected = TcpStream::connect(to.address);
        let stream = connected.map_err(|e| Cause::from(e).of(to.address, "connecting"))?;
        Self::over(stream, to, alpn)
    }

    /// Speaks over a connection that is open already.
    pub fn over(stream: TcpStream, to: &Peer, alpn: Option<&str>) -> Result<Self, Error> {
        let set = || -> std::io::Result<Line> {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(to.wait))?;
            Ok(Line {
                local: stream.local_addr()?,
                peer: stream.peer_addr()?,
                stream,
                modem: to.modem,
                application_bytes: 0,
            })
        };
        let failed = |cause: Cause| cause.of(to.address, "setting the socket's options");
        let mut line = set().map_err(|e| failed(e.into()))?;
        let tls = match &to.certificate {
            None => None,
            Some(certificate) => {
                let shaken = shake_hands(&mut line, certificate, alpn);
                let tls = shaken.map_err(|cause| cause.of(to.address, "shaking hands by TLS"))?;
                Some(Box::new(tls))
            }
        };
        Ok(Self { line, tls })
    }

    /// Sends all of it.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let sent = match &mut self.tls {
            None => self.line.write_all(bytes),
            Some(tls) => {
                let mut stream = rustls::Stream::new(tls.as_mut(), &mut self.line);
                stream.write_all(bytes).and_then(|()| stream.flush())
            }
        };
        sent.map_err(|e| self.failed(e, "sending"))
    }

    /// Waits for bytes; the end is an error, and so is silence.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let received = match &mut self.tls {
            None => self.line.read(buffer),
            Some(tls) => rustls::Stream::new(tls.as_mut(), &mut self.line).read(buffer),
        };
        match received {
            Ok(0) => Err(self.failed(Cause::Closed(String::new()), "waiting for bytes")),
            Ok(length) => Ok(length),
            Err(error) => Err(self.failed(error, "waiting for bytes")),
        }
    }

    /// Waits for bytes and adds them to those that are held.
    pub fn receive_more(&mut self, held: &mut Vec<u8>) -> Result<(), Error> {
        let begin = held.len();
        held.resize(begin + READ_BYTES_MAX / 4, 0);
        let received = self.receive(&mut held[begin..]);
        held.truncate(begin + *received.as_ref().unwrap_or(&0));
        received.map(drop)
    }

    /// What went over the link since it was opened.
    pub fn traffic(&self) -> Result<Traffic, Error> {
        let ends = (self.line.local, self.line.peer);
        traffic_of(ends, self.line.application_bytes)
    }

    /// Lets the next reads take so long.
    pub fn wait_at_most(&self, wait: Duration) -> Result<(), Error> {
        let set = self.line.stream.set_read_timeout(Some(wait));
        set.map_err(|e| self.failed(e, "setting the socket's options"))
    }

    /// Whether the kernel says that it sends at once.
    pub fn nodelay(&self) -> Option<bool> {
        self.line.stream.nodelay().ok()
    }

    /// What came in between while that was done.
    pub(crate) fn failed(&self, cause: impl Into<Cause>, doing: &'static str) -> Error {
        cause.into().of(self.line.peer, doing)
    }
}

/// An end of TLS that has shaken hands.
fn shake_hands(
    line: &mut Line,
    certificate: &[u8],
    alpn: Option<&str>,
) -> Result<ClientConnection, Cause> {
    let config = tls::config(certificate, alpn)?;
    let name = ServerName::try_from(tls::NAME).map_err(|_| rustls::Error::UnsupportedNameType)?;
    let mut tls = ClientConnection::new(Arc::new(config), name)?;
    tls.complete_io(line)?;
    Ok(tls)
}

/// What a connection between two addresses took that carried so many bytes, by what the kernel counts.
pub(crate) fn traffic_of(
    (local, peer): (SocketAddr, SocketAddr),
    application_bytes: u64,
) -> Result<Traffic, Error> {
    let segments = Segments::of(local, peer);
    let segments = segments.map_err(|cause| cause.of(peer, "counting segments"))?;
    let packets = u64::from(segments.sent) + u64::from(segments.received);
    let options = match segments.timestamps {
        true => TCP_TIMESTAMP_BYTES,
        false => 0,
    };
    Ok(Traffic {
        application_bytes,
        packets,
        header_bytes: packets * (TCP_HEADER_BYTES + options),
    })
}
