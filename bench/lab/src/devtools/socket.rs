//! The protocol's WebSocket, blocking: one message out, messages in. It serves any other as well.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use weir_carrier::websocket::{Message, Opcode, Reader, Role, write_masked};

use crate::link::End;
use weir_bench_model::limits::{DEVTOOLS_MESSAGE_BYTES_MAX, DEVTOOLS_SECONDS_MAX};

/// An open WebSocket.
pub struct Socket {
    tcp: TcpStream,
    reader: Reader,
    ready: std::collections::VecDeque<String>,
}

impl Socket {
    /// Opens one at `ws://authority/path` (RFC 6455 section 4.1), from where programs of an end are.
    pub fn open(url: &str, end: &End) -> Result<Self, String> {
        let rest = url
            .strip_prefix("ws://")
            .ok_or_else(|| format!("no ws:// URL: {url}"))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let address = authority.parse().map_err(|e| format!("{authority}: {e}"))?;
        let connected = end.connect(address);
        let mut tcp = connected.map_err(|e| format!("{authority}: {e}"))?;
        let wait = Duration::from_secs(DEVTOOLS_SECONDS_MAX);
        tcp.set_read_timeout(Some(wait))
            .map_err(|e| e.to_string())?;
        let request = format!(
            "GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        tcp.write_all(request.as_bytes())
            .map_err(|e| e.to_string())?;
        let mut this = Self {
            tcp,
            reader: Reader::new(Role::Client, false, DEVTOOLS_MESSAGE_BYTES_MAX),
            ready: Default::default(),
        };
        this.answer()?;
        Ok(this)
    }

    /// Reads the answer's head; what follows it are frames already.
    fn answer(&mut self) -> Result<(), String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.tcp
                .read_exact(&mut byte)
                .map_err(|e| format!("the browser: {e}"))?;
            head.extend(byte);
            if head.len() > 8192 {
                return Err("the browser's answer has no end".into());
            }
        }
        match head.starts_with(b"HTTP/1.1 101") {
            true => Ok(()),
            false => Err("the browser opens no WebSocket".into()),
        }
    }

    /// Lets the next answers take so long.
    pub fn wait_at_most(&self, wait: Duration) -> Result<(), String> {
        let set = self.tcp.set_read_timeout(Some(wait));
        set.map_err(|e| e.to_string())
    }

    /// Sends a text.
    pub fn send(&mut self, text: &str) -> Result<(), String> {
        let mut frame = Vec::with_capacity(text.len() + 14);
        // The key only keeps old proxies from mistaking frames; there is none on loopback.
        write_masked(Opcode::TEXT, text.as_bytes(), [0; 4], &mut frame);
        self.tcp
            .write_all(&frame)
            .map_err(|e| format!("the browser: {e}"))
    }

    /// Waits for the next text.
    pub fn receive(&mut self) -> Result<String, String> {
        let mut piece = vec![0; 64 * 1024];
        loop {
            if let Some(text) = self.ready.pop_front() {
                return Ok(text);
            }
            let taken = self
                .tcp
                .read(&mut piece)
                .map_err(|e| format!("the browser: {e}"))?;
            if taken == 0 {
                return Err("the browser closed the connection".into());
            }
            let mut messages = Vec::new();
            self.reader
                .read(&piece[..taken], &mut messages)
                .map_err(|e| e.to_string())?;
            for message in messages {
                self.take(message)?;
            }
        }
    }

    fn take(&mut self, message: Message) -> Result<(), String> {
        match message {
            Message::Text(text) => {
                self.ready
                    .push_back(String::from_utf8_lossy(&text).into_owned());
            }
            Message::Ping(payload) => {
                let mut frame = Vec::new();
                write_masked(Opcode::PONG, &payload, [0; 4], &mut frame);
                self.tcp.write_all(&frame).map_err(|e| e.to_string())?;
            }
            Message::Close(_) => return Err("the browser closed the connection".into()),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::net::TcpListener;
    use weir_carrier::websocket::write_frame;

    /// A peer that answers the handshake and then says what it is given.
    fn peer(answer: &'static str, frames: Vec<u8>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/devtools", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut tcp, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let _ = tcp.read(&mut request).unwrap();
            tcp.write_all(answer.as_bytes()).unwrap();
            tcp.write_all(&frames).unwrap();
        });
        url
    }

    #[test]
    fn texts_are_received_around_pings() {
        let mut frames = Vec::new();
        write_frame(Opcode::TEXT, b"one", &mut frames);
        write_frame(Opcode::PING, b"?", &mut frames);
        write_frame(Opcode::TEXT, b"two", &mut frames);
        let url = peer("HTTP/1.1 101 Switching Protocols\r\n\r\n", frames);
        let mut socket = Socket::open(&url, &End::Local).unwrap();
        assert_eq!(socket.receive().unwrap(), "one");
        assert_eq!(socket.receive().unwrap(), "two");
        assert!(socket.receive().is_err());
    }

    #[test]
    fn a_peer_without_websocket_is_refused() {
        let url = peer("HTTP/1.1 404 Not Found\r\n\r\n", Vec::new());
        assert!(Socket::open(&url, &End::Local).is_err());
        assert!(Socket::open("http://127.0.0.1/", &End::Local).is_err());
    }
}
