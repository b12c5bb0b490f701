//! A TCP connection whose bytes and segments are counted; small writes leave at once (`TCP_NODELAY`).

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::Peer;
use crate::link_efficiency::tcp_info::Segments;
use crate::link_efficiency::traffic::{TCP_HEADER_BYTES, TCP_TIMESTAMP_BYTES, Traffic};

/// A connection.
pub(super) struct Tcp {
    stream: TcpStream,
    local: SocketAddr,
    peer: SocketAddr,
    application_bytes: u64,
}

impl Tcp {
    pub(super) fn connect(to: Peer) -> Result<Self, String> {
        let opened = || -> std::io::Result<Self> {
            let stream = TcpStream::connect(to.address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(to.wait))?;
            Ok(Self {
                local: stream.local_addr()?,
                peer: stream.peer_addr()?,
                stream,
                application_bytes: 0,
            })
        };
        opened().map_err(|e| format!("{}: {e}", to.address))
    }

    /// Sends all of it.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.application_bytes += bytes.len() as u64;
        self.stream
            .write_all(bytes)
            .map_err(|e| format!("sending: {e}"))
    }

    /// Waits for bytes; the end is an error, and so is silence.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, String> {
        match self.stream.read(buffer) {
            Ok(0) => Err("the server closed the connection".into()),
            Ok(length) => {
                self.application_bytes += length as u64;
                Ok(length)
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                Err("the server was silent for too long".into())
            }
            Err(error) => Err(format!("receiving: {error}")),
        }
    }

    pub(super) fn traffic(&self) -> Result<Traffic, String> {
        let segments = Segments::of(self.local, self.peer)?;
        let packets = u64::from(segments.sent) + u64::from(segments.received);
        let options = match segments.timestamps {
            true => TCP_TIMESTAMP_BYTES,
            false => 0,
        };
        Ok(Traffic {
            application_bytes: self.application_bytes,
            packets,
            header_bytes: packets * (TCP_HEADER_BYTES + options),
        })
    }
}
