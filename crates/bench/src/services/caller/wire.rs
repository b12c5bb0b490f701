//! A TCP connection, in the clear or by TLS, whose bytes are counted as the link carries them.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use rustls::{ClientConnection, StreamOwned};

use super::Service;
use crate::limits::READ_BYTES_MAX;
use crate::link_efficiency::tcp_info::Segments;
use crate::link_efficiency::traffic::{TCP_HEADER_BYTES, TCP_TIMESTAMP_BYTES, Traffic};
use crate::load::tls_client;

/// A connection.
pub(super) struct Wire {
    stream: Stream,
    local: SocketAddr,
    peer: SocketAddr,
    /// What came and was not taken yet.
    pub(super) input: Vec<u8>,
}

enum Stream {
    Plain(Counted),
    Secured(Box<StreamOwned<ClientConnection, Counted>>),
}

/// A socket that counts.
struct Counted {
    socket: TcpStream,
    bytes: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.socket.read(buffer)?;
        self.bytes += length as u64;
        Ok(length)
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let length = self.socket.write(bytes)?;
        self.bytes += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.socket.flush()
    }
}

impl Wire {
    /// Connects, and shakes hands where there is a certificate.
    pub(super) fn open(service: &Service<'_>, application: &str) -> Result<Self, String> {
        let at = |e: std::io::Error| format!("{}: {e}", service.address);
        let socket = TcpStream::connect(service.address).map_err(at)?;
        socket.set_nodelay(true).map_err(at)?;
        socket.set_read_timeout(Some(service.wait)).map_err(at)?;
        let (local, peer) = (
            socket.local_addr().map_err(at)?,
            socket.peer_addr().map_err(at)?,
        );
        let counted = Counted { socket, bytes: 0 };
        let stream = match service.certificate {
            None => Stream::Plain(counted),
            Some(certificate) => {
                Stream::Secured(Box::new(secure(counted, certificate, application)?))
            }
        };
        Ok(Self {
            stream,
            local,
            peer,
            input: Vec::new(),
        })
    }

    /// Sends all of it at once.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let sent = match &mut self.stream {
            Stream::Plain(stream) => stream.write_all(bytes),
            Stream::Secured(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        };
        sent.map_err(|e| format!("sending: {e}"))
    }

    /// Waits for bytes, which are added to the input; the end is an error, and so is silence.
    pub(super) fn receive(&mut self) -> Result<(), String> {
        let held = self.input.len();
        self.input.resize(held + READ_BYTES_MAX / 4, 0);
        let room = &mut self.input[held..];
        let read = match &mut self.stream {
            Stream::Plain(stream) => stream.read(room),
            Stream::Secured(stream) => stream.read(room),
        };
        self.input.truncate(held + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Err("the server closed the connection".into()),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Err("the server was silent for too long".into())
            }
            Err(error) => Err(format!("receiving: {error}")),
        }
    }

    /// Bytes above TCP, those of TLS among them; segments as the kernel counts them.
    pub(super) fn traffic(&self) -> Result<Traffic, String> {
        let segments = Segments::of(self.local, self.peer)?;
        let packets = u64::from(segments.sent) + u64::from(segments.received);
        let options = match segments.timestamps {
            true => TCP_TIMESTAMP_BYTES,
            false => 0,
        };
        let counted = match &self.stream {
            Stream::Plain(stream) => stream,
            Stream::Secured(stream) => &stream.sock,
        };
        Ok(Traffic {
            application_bytes: counted.bytes,
            packets,
            header_bytes: packets * (TCP_HEADER_BYTES + options),
        })
    }
}

fn secure(
    socket: Counted,
    certificate: &[u8],
    application: &str,
) -> Result<StreamOwned<ClientConnection, Counted>, String> {
    let client = tls_client(certificate, Some(application))?;
    let mut stream = StreamOwned::new(client, socket);
    while stream.conn.is_handshaking() {
        let shaken = stream.conn.complete_io(&mut stream.sock);
        shaken.map_err(|e| format!("TLS: {e}"))?;
    }
    Ok(stream)
}
