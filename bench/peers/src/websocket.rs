//! WebSocket: text messages each way (RFC 6455).

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use bytes::Bytes;
use weir_carrier::websocket::{Message, Opcode, Reader, Role, accept, key, write_masked};

use crate::error::{Cause, Doing, Error};
use crate::sockets::{Peer, Tcp, Traffic};
use weir_bench_load::load::http::head_len;
use weir_bench_model::limits::{READ_BYTES_MAX, RESPONSE_BYTES_MAX};

/// A client's end.
pub struct WebSocket {
    tcp: Tcp,
    reader: Reader,
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

const OPENING: &str = "opening a WebSocket";
const READING: &str = "reading a WebSocket";

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
    /// Connects, and opens one.
    pub fn open(peer: &Peer, target: &str, subprotocol: Option<&str>) -> Result<Self, Error> {
        let tcp = Tcp::connect(peer, Some("http/1.1"))?;
        Self::over(tcp, &peer.address.to_string(), target, subprotocol)
    }

    /// Opens one on a connection that is open already.
    pub fn over(
        tcp: Tcp,
        host: &str,
        target: &str,
        subprotocol: Option<&str>,
    ) -> Result<Self, Error> {
        let mut socket = Self {
            tcp,
            reader: Reader::new(Role::Client, false, RESPONSE_BYTES_MAX),
            buffer: vec![0; READ_BYTES_MAX],
            frame: Vec::new(),
            messages: VecDeque::new(),
            masks: Masks {
                random: RandomState::new(),
                count: 0,
            },
        };
        let shaken = socket.shake_hands(host, target, subprotocol);
        shaken.doing(OPENING)?;
        Ok(socket)
    }

    /// RFC 6455 section 4.1.
    fn shake_hands(
        &mut self,
        host: &str,
        target: &str,
        subprotocol: Option<&str>,
    ) -> Result<(), Error> {
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&self.masks.next());
        nonce[8..].copy_from_slice(&self.masks.next());
        let key = key(nonce);
        let subprotocol = subprotocol.map_or(String::new(), |name| {
            format!("Sec-WebSocket-Protocol: {name}\r\n")
        });
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\
             {subprotocol}\r\n"
        );
        self.tcp.send(request.as_bytes())?;
        let mut head = Vec::new();
        let end = loop {
            self.tcp.receive_more(&mut head)?;
            match head_len(&head) {
                Some(end) => break end,
                None if head.len() > READ_BYTES_MAX => {
                    let cause = Cause::Unlike("an answer without an end".into());
                    return Err(self.tcp.failed(cause, OPENING));
                }
                None => {}
            }
        };
        let behind = head.split_off(end);
        let head = String::from_utf8_lossy(&head);
        let accepted = accept(&key).unwrap_or_default();
        if !head.starts_with("HTTP/1.1 101") || !head.contains(&accepted) {
            let first = head.lines().next().unwrap_or_default();
            return Err(self.tcp.failed(Cause::Refused(first.into()), OPENING));
        }
        self.take(&behind)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut messages = Vec::new();
        let read = self.reader.read(bytes, &mut messages);
        self.messages.extend(messages);
        read.map_err(|e| self.tcp.failed(Cause::Unlike(e.to_string()), READING))
    }

    /// Waits for the next text, and answers pings.
    pub fn text(&mut self) -> Result<Bytes, Error> {
        loop {
            match self.messages.pop_front() {
                Some(Message::Text(text)) => return Ok(text),
                Some(Message::Ping(payload)) => self.send_as(Opcode::PONG, &payload)?,
                Some(Message::Close(_)) => {
                    let cause = Cause::Closed("the WebSocket is closed".into());
                    return Err(self.tcp.failed(cause, READING));
                }
                Some(_) => {}
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

    /// Sends a text.
    pub fn send(&mut self, text: &[u8]) -> Result<(), Error> {
        self.send_as(Opcode::TEXT, text)
    }

    fn send_as(&mut self, opcode: Opcode, payload: &[u8]) -> Result<(), Error> {
        self.frame.clear();
        write_masked(opcode, payload, self.masks.key(), &mut self.frame);
        self.tcp.send(&self.frame)
    }

    /// Lets the next messages take so long.
    pub fn wait_at_most(&self, wait: Duration) -> Result<(), Error> {
        self.tcp.wait_at_most(wait)
    }

    /// What went over the link since it was opened.
    pub fn traffic(&self) -> Result<Traffic, Error> {
        self.tcp.traffic()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use weir_carrier::websocket::write_frame;

    /// A server that answers the handshake, with the right key if `rightly`, and then says what it is given.
    fn server(rightly: bool, frames: Vec<u8>) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut tcp, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let length = tcp.read(&mut request).unwrap();
            let request = std::str::from_utf8(&request[..length]).unwrap();
            let (_, rest) = request.split_once("Sec-WebSocket-Key: ").unwrap();
            let key = rest.lines().next().unwrap();
            let key = if rightly {
                key
            } else {
                "dGhlIHNhbXBsZSBub25jZQ=="
            };
            let accepted = accept(key).unwrap();
            let head = format!("HTTP/1.1 101 x\r\nSec-WebSocket-Accept: {accepted}\r\n\r\n");
            tcp.write_all(&[head.as_bytes(), &frames].concat()).unwrap();
        });
        Peer {
            address,
            wait: Duration::from_secs(10),
            modem: false,
            certificate: None,
        }
    }

    #[test]
    fn texts_are_received_around_pings() {
        let mut frames = Vec::new();
        write_frame(Opcode::TEXT, b"one", &mut frames);
        write_frame(Opcode::PING, b"?", &mut frames);
        write_frame(Opcode::TEXT, b"two", &mut frames);
        let mut socket = WebSocket::open(&server(true, frames), "/", None).unwrap();
        assert_eq!(socket.text().unwrap(), "one");
        assert_eq!(socket.text().unwrap(), "two");
        assert!(socket.text().is_err());
    }

    #[test]
    fn a_server_that_answers_another_key_opens_no_websocket() {
        let refused = WebSocket::open(&server(false, Vec::new()), "/", None).err();
        let refused = refused.unwrap().to_string();
        assert!(
            refused.ends_with("opening a WebSocket: answered HTTP/1.1 101 x"),
            "{refused}"
        );
    }
}
