//! No protocol at all: what transport, kernel and runtime take by themselves.

use super::{Device, Times};
use crate::sockets::{Peer, Tcp, Traffic, Udp};
use weir_bench_model::clock::now_ns;

/// Largest payload that is echoed, bytes.
const PAYLOAD_BYTES_MAX: usize = 64 * 1024;

/// Bare datagrams.
pub(super) struct Datagrams {
    udp: Udp,
    wait_ns: u64,
    buffer: Vec<u8>,
}

impl Datagrams {
    pub(super) fn open(peer: &Peer) -> Result<Self, String> {
        Ok(Self {
            udp: Udp::connect(peer)?,
            wait_ns: peer.wait.as_nanos() as u64,
            buffer: vec![0; PAYLOAD_BYTES_MAX],
        })
    }
}

impl Device for Datagrams {
    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String> {
        let end = now_ns() + self.wait_ns;
        self.udp.send(payload)?;
        while now_ns() < end {
            let length = self.udp.receive(&mut self.buffer)?;
            if length.is_some_and(|length| self.buffer[..length] == *payload) {
                return Ok(Some(Times::now()));
            }
        }
        Ok(None)
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.udp.traffic())
    }
}

/// A bare stream.
pub(super) struct Stream {
    tcp: Tcp,
    buffer: Vec<u8>,
}

impl Stream {
    pub(super) fn open(peer: &Peer) -> Result<Self, String> {
        Ok(Self {
            tcp: Tcp::connect(peer, None)?,
            buffer: vec![0; PAYLOAD_BYTES_MAX],
        })
    }
}

impl Device for Stream {
    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String> {
        self.tcp.send(payload)?;
        let mut come = 0;
        while come < payload.len() {
            come += self.tcp.receive(&mut self.buffer[come..])?;
        }
        match self.buffer[..come] == *payload {
            true => Ok(Some(Times::now())),
            false => Err("the server sent back something else".into()),
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.tcp.traffic()?)
    }
}
