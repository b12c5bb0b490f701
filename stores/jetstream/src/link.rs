//! A connection's socket, plain or with TLS, which one thread reads and another writes.
//!
//! The decision worth arguing: with TLS both work on one machine behind a lock, which nobody holds while
//! waiting for bytes to come.

use crate::tls::Tls;
use rustls::ClientConnection;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The writing half, of which there may be several.
#[derive(Clone)]
pub(crate) struct Link {
    socket: Arc<TcpStream>,
    tls: Option<Arc<Mutex<ClientConnection>>>,
}

impl Link {
    /// Without TLS.
    pub(crate) fn plain(socket: TcpStream) -> Self {
        Self {
            socket: Arc::new(socket),
            tls: None,
        }
    }

    /// With it from here on: shakes hands.
    pub(crate) fn encrypt(&mut self, tls: &Tls, host: &str) -> io::Result<()> {
        let mut machine = tls.begin(host)?;
        let mut socket = &*self.socket;
        while machine.is_handshaking() {
            machine
                .complete_io(&mut socket)
                .map_err(|error| tls.told(host, &error))?;
        }
        self.tls = Some(Arc::new(Mutex::new(machine)));
        Ok(())
    }

    /// Sends all of it.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut socket = &*self.socket;
        let Some(machine) = &self.tls else {
            return socket.write_all(bytes);
        };
        let mut machine = locked(machine);
        machine.writer().write_all(bytes)?;
        push(&mut machine, socket)
    }

    /// Ends it in both directions.
    pub(crate) fn end(&self) {
        // It may have ended already.
        let _ended = self.socket.shutdown(Shutdown::Both);
    }
}

/// Sends what the machine has for the peer.
fn push(machine: &mut ClientConnection, mut socket: &TcpStream) -> io::Result<()> {
    while machine.wants_write() {
        machine.write_tls(&mut socket)?;
    }
    Ok(())
}

fn locked(machine: &Mutex<ClientConnection>) -> MutexGuard<'_, ClientConnection> {
    machine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What comes.
impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut socket = &*self.socket;
        let Some(machine) = self.tls.clone() else {
            return socket.read(buffer);
        };
        let mut came = [0; 16 << 10];
        loop {
            match locked(&machine).reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            let count = socket.read(&mut came)?;
            take(&mut locked(&machine), &came[..count], socket)?;
        }
    }
}

/// Gives the machine what came; nothing at the end of the stream.
fn take(machine: &mut ClientConnection, mut came: &[u8], socket: &TcpStream) -> io::Result<()> {
    loop {
        machine.read_tls(&mut came)?;
        machine.process_new_packets().map_err(io::Error::other)?;
        push(machine, socket)?;
        if came.is_empty() {
            return Ok(());
        }
    }
}
