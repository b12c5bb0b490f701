//! A UDP socket whose datagrams are counted.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use super::traffic::{Traffic, UDP_HEADER_BYTES};
use super::{Peer, modem};
use crate::error::{Cause, Error};
use weir_bench_load::datagrams::datagrams_to;
use weir_bench_model::limits::ECHO_TICK_MS;

/// A socket that speaks to one server.
pub struct Udp {
    socket: UdpSocket,
    peer: SocketAddr,
    modem: bool,
    traffic: Traffic,
}

impl Udp {
    /// A socket that knows one peer.
    pub fn connect(to: &Peer) -> Result<Self, Error> {
        let wait = to.wait.min(Duration::from_millis(ECHO_TICK_MS));
        let opened = datagrams_to(to.address, wait);
        Ok(Self {
            socket: opened.map_err(|e| Cause::from(e).of(to.address, "opening a socket"))?,
            peer: to.address,
            modem: to.modem,
            traffic: Traffic::default(),
        })
    }

    /// Speaks from another port from now on: to the server it is another endpoint.
    pub fn change_port(&mut self) -> Result<(), Error> {
        let changed = || -> std::io::Result<UdpSocket> {
            let wait = self.socket.read_timeout()?;
            datagrams_to(self.peer, wait.unwrap_or_default())
        };
        let changed = changed().map_err(|e| Cause::from(e).of(self.peer, "taking another port"));
        self.socket = changed?;
        Ok(())
    }

    /// Sends a datagram.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.modem {
            modem::pass_up(bytes.len());
        }
        let sent = self.socket.send(bytes);
        sent.map_err(|e| Cause::from(e).of(self.peer, "sending a datagram"))?;
        self.count(bytes.len());
        Ok(())
    }

    /// Waits a little for a datagram.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Error> {
        match self.socket.recv(buffer) {
            Ok(length) => {
                self.count(length);
                if self.modem {
                    modem::pass_down(length);
                }
                Ok(Some(length))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(Cause::from(error).of(self.peer, "waiting for a datagram")),
        }
    }

    /// What went over the link since it was opened.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn count(&mut self, length: usize) {
        self.traffic.application_bytes += length as u64;
        self.traffic.packets += 1;
        self.traffic.header_bytes += UDP_HEADER_BYTES;
    }
}
