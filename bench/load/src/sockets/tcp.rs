//! A TCP connection whose bytes and segments are counted; small writes leave at once (`TCP_NODELAY`).
//!
//! With TLS on it, its records are what is counted: they are what the link carries above TCP.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use rustls::ClientConnection;

use super::tcp_info::Segments;
use super::traffic::{TCP_HEADER_BYTES, TCP_TIMESTAMP_BYTES, Traffic};
use super::{Peer, modem, tls};
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
    pub fn connect(to: &Peer, alpn: Option<&str>) -> Result<Self, String> {
        let opened = || -> std::io::Result<Line> {
            let stream = TcpStream::connect(to.address)?;
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
        let mut line = opened().map_err(|e| format!("{}: {e}", to.address))?;
        let tls = match &to.certificate {
            None => None,
            Some(certificate) => {
                let mut tls = tls::client(certificate, alpn)?;
                let shaken = tls.complete_io(&mut line);
                shaken.map_err(|e| format!("TLS handshake: {e}"))?;
                Some(Box::new(tls))
            }
        };
        Ok(Self { line, tls })
    }

    /// Sends all of it.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let sent = match &mut self.tls {
            None => self.line.write_all(bytes),
            Some(tls) => {
                let mut stream = rustls::Stream::new(tls.as_mut(), &mut self.line);
                stream.write_all(bytes).and_then(|()| stream.flush())
            }
        };
        sent.map_err(|e| format!("sending: {e}"))
    }

    /// Waits for bytes; the end is an error, and so is silence.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, String> {
        let received = match &mut self.tls {
            None => self.line.read(buffer),
            Some(tls) => rustls::Stream::new(tls.as_mut(), &mut self.line).read(buffer),
        };
        match received {
            Ok(0) => Err("the server closed the connection".into()),
            Ok(length) => Ok(length),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Err("the server was silent for too long".into())
            }
            Err(error) => Err(format!("receiving: {error}")),
        }
    }

    /// Waits for bytes and adds them to those that are held.
    pub fn receive_more(&mut self, held: &mut Vec<u8>) -> Result<(), String> {
        let begin = held.len();
        held.resize(begin + READ_BYTES_MAX / 4, 0);
        let received = self.receive(&mut held[begin..]);
        held.truncate(begin + *received.as_ref().unwrap_or(&0));
        received.map(drop)
    }

    /// What went over the link since it was opened.
    pub fn traffic(&self) -> Result<Traffic, String> {
        let ends = (self.line.local, self.line.peer);
        traffic_of(ends, self.line.application_bytes)
    }
}

/// What a connection between two addresses took that carried so many bytes, by what the kernel counts.
pub fn traffic_of(
    (local, peer): (SocketAddr, SocketAddr),
    application_bytes: u64,
) -> Result<Traffic, String> {
    let segments = Segments::of(local, peer)?;
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
