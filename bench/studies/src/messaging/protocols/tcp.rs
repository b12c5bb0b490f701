//! The connection of a blocking native client: it sends at once, and waits for bytes no longer than it may.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use super::super::job::At;
use weir_bench_model::limits::READ_BYTES_MAX;

/// A connection with its buffer.
pub(super) struct Tcp {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Tcp {
    /// Connects.
    pub(super) fn open(at: At) -> Result<Self, String> {
        let stream = TcpStream::connect(at.address).map_err(|e| format!("{}: {e}", at.address))?;
        let options = stream.set_nodelay(true);
        let options = options.and_then(|()| stream.set_read_timeout(Some(at.silence)));
        options.map_err(|e| format!("socket options: {e}"))?;
        Ok(Self {
            stream,
            buffer: vec![0; READ_BYTES_MAX],
        })
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let sent = self.stream.write_all(bytes);
        sent.map_err(|e| format!("sending: {e}"))
    }

    /// Waits for bytes; nothing where none come in time.
    pub(super) fn read(&mut self) -> Result<Option<&[u8]>, String> {
        match self.stream.read(&mut self.buffer) {
            Ok(0) => Err("the broker closed the connection".into()),
            Ok(length) => Ok(Some(&self.buffer[..length])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(format!("receiving: {error}")),
        }
    }

    /// What the kernel says.
    pub(super) fn nodelay(&self) -> Option<bool> {
        self.stream.nodelay().ok()
    }
}
