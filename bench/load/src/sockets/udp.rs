//! A UDP socket whose datagrams are counted.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::traffic::{Traffic, UDP_HEADER_BYTES};
use super::{Peer, modem};
use weir_bench_model::limits::ECHO_TICK_MS;

/// A socket that speaks to one server.
pub struct Udp {
    socket: UdpSocket,
    modem: bool,
    traffic: Traffic,
}

impl Udp {
    /// A socket that knows one peer.
    pub fn connect(to: &Peer) -> Result<Self, String> {
        let wait = to.wait.min(Duration::from_millis(ECHO_TICK_MS));
        Ok(Self {
            socket: open(to.address, wait).map_err(|e| format!("{}: {e}", to.address))?,
            modem: to.modem,
            traffic: Traffic::default(),
        })
    }

    /// Speaks from another port from now on: to the server it is another endpoint.
    pub fn change_port(&mut self) -> Result<(), String> {
        let changed = || -> std::io::Result<UdpSocket> {
            let wait = self.socket.read_timeout()?;
            open(self.socket.peer_addr()?, wait.unwrap_or_default())
        };
        self.socket = changed().map_err(|e| format!("another port: {e}"))?;
        Ok(())
    }

    /// Sends a datagram.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.modem {
            modem::pass_up(bytes.len());
        }
        self.socket
            .send(bytes)
            .map_err(|e| format!("sending: {e}"))?;
        self.count(bytes.len());
        Ok(())
    }

    /// Waits a little for a datagram.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, String> {
        match self.socket.recv(buffer) {
            Ok(length) => {
                self.count(length);
                if self.modem {
                    modem::pass_down(length);
                }
                Ok(Some(length))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(format!("receiving: {error}")),
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

/// A socket that speaks to this address alone, and waits no longer than that.
pub fn open(to: SocketAddr, wait: Duration) -> std::io::Result<UdpSocket> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    socket.set_read_timeout(Some(wait))?;
    Ok(socket)
}
