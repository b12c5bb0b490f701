//! WebSocket: a text message each way (RFC 6455).

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

use weir_carrier::websocket::{Message, Opcode, Reader, Role, accept, key, write_masked};

use super::{Device, Times};
use crate::sockets::{Peer, Tcp, Traffic};
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::{READ_BYTES_MAX, RESPONSE_BYTES_MAX};

/// A client's end.
pub(super) struct WebSocket {
    tcp: Tcp,
    reader: Reader,
    /// Whether the server says that it has kept a message.
    commits: bool,
    buffer: Vec<u8>,
    frame: Vec<u8>,
    messages: VecDeque<Message>,
    masks: Masks,
}

/// Masking keys, unlike each other and unknown to who chose the payload (RFC 6455 section 10.3).
struct Masks {
    random: RandomState,
    count: u64,
}

impl Masks {
    fn next(&mut self) -> [u8; 8] {
        self.count += 1;
        self.random.hash_one(self.count).to_ne_bytes()
    }

    fn key(&mut self) -> [u8; 4] {
        let [a, b, c, d, ..] = self.next();
        [a, b, c, d]
    }
}

impl WebSocket {
    pub(super) fn open(
        peer: &Peer,
        target: &str,
        subprotocol: Option<&str>,
        commits: bool,
    ) -> Result<Self, String> {
        let mut socket = Self {
            tcp: Tcp::connect(peer, Some("http/1.1"))?,
            reader: Reader::new(Role::Client, false, RESPONSE_BYTES_MAX),
            commits,
            buffer: vec![0; READ_BYTES_MAX],
            frame: Vec::new(),
            messages: VecDeque::new(),
            masks: Masks {
                random: RandomState::new(),
                count: 0,
            },
        };
        socket.shake_hands(peer.address, target, subprotocol)?;
        Ok(socket)
    }

    /// RFC 6455 section 4.1.
    fn shake_hands(
        &mut self,
        address: SocketAddr,
        target: &str,
        subprotocol: Option<&str>,
    ) -> Result<(), String> {
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&self.masks.next());
        nonce[8..].copy_from_slice(&self.masks.next());
        let key = key(nonce);
        let subprotocol = subprotocol.map_or(String::new(), |name| {
            format!("Sec-WebSocket-Protocol: {name}\r\n")
        });
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\
             {subprotocol}\r\n"
        );
        self.tcp.send(request.as_bytes())?;
        let (head, behind) = self.read_head()?;
        let accepted = accept(&key).unwrap_or_default();
        if !head.starts_with("HTTP/1.1 101") || !head.contains(&accepted) {
            let first = head.lines().next().unwrap_or_default();
            return Err(format!("the server opens no WebSocket: {first}"));
        }
        self.take(&behind)
    }

    fn read_head(&mut self) -> Result<(String, Vec<u8>), String> {
        let mut bytes = Vec::new();
        loop {
            let length = self.tcp.receive(&mut self.buffer)?;
            bytes.extend_from_slice(&self.buffer[..length]);
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(end) = end {
                let behind = bytes.split_off(end + 4);
                return Ok((String::from_utf8_lossy(&bytes).into_owned(), behind));
            }
            if bytes.len() > READ_BYTES_MAX {
                return Err("the server's answer has no end".into());
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut messages = Vec::new();
        let read = self.reader.read(bytes, &mut messages);
        self.messages.extend(messages);
        read.map_err(|failure| failure.to_string())
    }

    /// The next message, pings answered.
    fn receive(&mut self) -> Result<Message, String> {
        loop {
            match self.messages.pop_front() {
                Some(Message::Ping(payload)) => self.send(Opcode::PONG, &payload)?,
                Some(Message::Close(_)) => return Err("the server closed the WebSocket".into()),
                Some(message) => return Ok(message),
                None => {
                    let length = self.tcp.receive(&mut self.buffer)?;
                    let bytes = std::mem::take(&mut self.buffer);
                    let taken = self.take(&bytes[..length]);
                    self.buffer = bytes;
                    taken?;
                }
            }
        }
    }

    fn send(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), String> {
        self.frame.clear();
        write_masked(opcode, payload, self.masks.key(), &mut self.frame);
        Ok(self.tcp.send(&self.frame)?)
    }
}

/// What a text of the server is.
enum Said {
    Echo,
    Committed,
    Refused(String),
    Other,
}

impl Said {
    fn of(text: &[u8], payload: &[u8]) -> Self {
        match text {
            text if text == payload => Self::Echo,
            text if text.starts_with(br#"{"weir":{"committed""#) => Self::Committed,
            text if text.starts_with(br#"{"weir":{"error""#) => {
                Self::Refused(String::from_utf8_lossy(text).into_owned())
            }
            _ => Self::Other,
        }
    }
}

impl Device for WebSocket {
    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String> {
        self.send(Opcode::TEXT, payload)?;
        let (mut echo_ns, mut committed) = (None, !self.commits);
        loop {
            let Message::Text(text) = self.receive()? else {
                continue;
            };
            match Said::of(&text, payload) {
                Said::Echo => echo_ns = Some(now_ns()),
                Said::Committed => committed = true,
                Said::Refused(reason) => return Err(reason),
                Said::Other => {}
            }
            if let Some(echo_ns) = echo_ns.filter(|_| committed) {
                let settled_ns = now_ns();
                return Ok(Some(Times {
                    echo_ns,
                    settled_ns,
                }));
            }
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.tcp.traffic()?)
    }
}
