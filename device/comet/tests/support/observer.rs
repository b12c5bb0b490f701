//! A client of CoAP that observes: it repeats its request until it is acknowledged, acknowledges what is
//! confirmable, and keeps what it heard.

use super::{BOARD, HOST};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, UdpPacket, UdpRepr};
use std::collections::VecDeque;
use std::convert::Infallible;
use weir_sansio::{Duration, Instant, Output, Session};

/// The client's port and the board's.
const PORTS: [u16; 2] = [6_000, 5_683];
const TIMEOUT: Duration = Duration::from_secs(2);

/// A packet with a message.
pub fn datagram(message: &[u8]) -> Vec<u8> {
    let [from, to] = PORTS;
    let udp = UdpRepr {
        src_port: from,
        dst_port: to,
    };
    let ends = [HOST, BOARD].map(Ipv4Address::from);
    let ip = Ipv4Repr {
        src_addr: ends[0],
        dst_addr: ends[1],
        next_header: IpProtocol::Udp,
        payload_len: udp.header_len() + message.len(),
        hop_limit: 64,
    };
    let mut bytes = vec![0; ip.buffer_len() + ip.payload_len];
    let sums = ChecksumCapabilities::default();
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes);
    ip.emit(&mut packet, &sums);
    udp.emit(
        &mut UdpPacket::new_unchecked(packet.payload_mut()),
        &ends[0].into(),
        &ends[1].into(),
        message.len(),
        |place| place.copy_from_slice(message),
        &sums,
    );
    bytes
}

/// The message in a packet whose checksums are right.
pub fn message(packet: &[u8]) -> Vec<u8> {
    let ip = Ipv4Packet::new_checked(packet).unwrap();
    assert!(ip.verify_checksum());
    let udp = UdpPacket::new_checked(ip.payload()).unwrap();
    let (from, to) = (ip.src_addr().into(), ip.dst_addr().into());
    assert!(udp.verify_checksum(&from, &to) && udp.checksum() != 0);
    udp.payload().to_vec()
}

/// The text behind the marker.
pub fn payload(message: &[u8]) -> String {
    let mut parts = message.splitn(2, |&byte| byte == 0xff);
    let text = parts.nth(1).unwrap_or(b"").to_vec();
    String::from_utf8(text).unwrap()
}

/// The client.
pub struct Observer {
    /// What is asked, until it is acknowledged.
    asks: Option<(Instant, Vec<u8>)>,
    /// Texts as they came, each message once.
    pub heard: Vec<String>,
    /// From when on it says nothing more.
    pub dies: Instant,
    ids: Vec<[u8; 2]>,
    leaving: VecDeque<Vec<u8>>,
    now: Instant,
}

impl Observer {
    pub fn new(request: &[u8]) -> Self {
        Self {
            asks: Some((Instant::START, request.to_vec())),
            heard: Vec::new(),
            dies: Instant::NEVER,
            ids: Vec::new(),
            leaving: VecDeque::new(),
            now: Instant::START,
        }
    }

    fn hear(&mut self, message: &[u8]) {
        let (kind, id) = (message[0] >> 4 & 3, [message[2], message[3]]);
        if kind == 2 {
            self.asks = None;
            return;
        }
        if kind == 0 {
            self.leaving.push_back(datagram(&[0x60, 0, id[0], id[1]]));
        }
        if !self.ids.contains(&id) {
            self.ids.push(id);
            self.heard.push(payload(message));
        }
    }
}

impl Session for Observer {
    type Transmit = Vec<u8>;
    type Event = Infallible;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.now = now;
        if now < self.dies {
            self.hear(&message(bytes));
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        if let Some((at, request)) = &mut self.asks
            && *at <= now
        {
            *at = now + TIMEOUT;
            self.leaving.push_back(datagram(request));
        }
    }

    fn poll_output(&mut self) -> Output<Vec<u8>, Infallible> {
        match self.leaving.pop_front() {
            Some(packet) => Output::Transmit(packet),
            None => Output::Timeout(self.asks.as_ref().map_or(Instant::NEVER, |(at, _)| *at)),
        }
    }
}
