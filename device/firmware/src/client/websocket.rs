//! WebSocket: a text message each way (RFC 6455).

use super::Micros;
use super::base64;
use super::buffer::Buffer;
use super::order::Order;
use super::payload::Payload;
use super::sha1;
use super::talk::{Conversation, Fault, Progress, Random};
use core::fmt::Write;

/// Bytes of a key in Base64, and of its digest.
const KEY_BYTES: usize = 24;
const ACCEPT_BYTES: usize = 28;
/// RFC 6455 section 1.3.
const GUID: &[u8; 36] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// First bytes of frames: the last of a message, and what it is.
const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;
/// The mask's bit, and the length that says that two bytes of it follow.
const MASKED: u8 = 0x80;
const TWO_BYTES: u8 = 126;

/// What a gateway says of a message that it has kept, or not taken.
const COMMITTED: &[u8] = br#"{"weir":{"committed""#;
const REFUSED: &[u8] = br#"{"weir":{"error""#;

/// A client's end.
pub(crate) struct WebSocket {
    order: Order,
    random: Random,
    key: [u8; KEY_BYTES],
    payload: Option<Payload>,
    progress: Progress,
}

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

impl WebSocket {
    pub(crate) fn new(order: Order, mut random: Random) -> Self {
        let mut nonce = [0; 16];
        for four in nonce.chunks_exact_mut(4) {
            four.copy_from_slice(&random.next().to_be_bytes());
        }
        Self {
            order,
            random,
            key: base64::text(&nonce),
            payload: None,
            progress: Progress::default(),
        }
    }

    /// RFC 6455 section 4.1.
    fn shaken(&mut self, heard: &[u8]) -> Result<usize, Fault> {
        let Some(end) = heard.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(0);
        };
        let head = heard.get(..end).unwrap_or_default();
        let accept = accept(&self.key);
        let is_accepted = head.windows(ACCEPT_BYTES).any(|it| it == accept);
        if !head.starts_with(b"HTTP/1.1 101") || !is_accepted {
            return Err(Fault::Refused);
        }
        self.progress.is_open = true;
        Ok(end + 4)
    }

    fn take(&mut self, first: u8, text: &[u8], out: &mut Buffer) -> Result<(), Fault> {
        match first {
            PING => self.frame(PONG, text.len(), out, |out| out.push(text)),
            PONG => {}
            CLOSE => return Err(Fault::Closed),
            TEXT if text.starts_with(COMMITTED) => self.progress.is_acknowledged = true,
            TEXT if text.starts_with(REFUSED) => return Err(Fault::Refused),
            TEXT if self.payload.is_some_and(|payload| payload.is(text)) => {
                self.progress.is_echoed = true;
            }
            TEXT => {}
            _ => return Err(Fault::Malformed),
        }
        Ok(())
    }

    /// A masked frame (section 5.2).
    fn frame(
        &mut self,
        first: u8,
        length: usize,
        out: &mut Buffer,
        write: impl FnOnce(&mut Buffer),
    ) {
        match length {
            0..126 => out.push(&[first, MASKED | length as u8]),
            _ => {
                out.push(&[first, MASKED | TWO_BYTES]);
                out.push(&(length as u16).to_be_bytes());
            }
        }
        let mask = self.random.next().to_be_bytes();
        out.push(&mask);
        let begin = out.len();
        write(out);
        for (byte, mask) in out.behind(begin).iter_mut().zip(mask.iter().cycle()) {
            *byte ^= mask;
        }
    }
}

/// What the server has to answer to a key.
fn accept(key: &[u8; KEY_BYTES]) -> [u8; ACCEPT_BYTES] {
    let mut text = [0; KEY_BYTES + GUID.len()];
    let (front, back) = text.split_at_mut(KEY_BYTES);
    front.copy_from_slice(key);
    back.copy_from_slice(GUID);
    base64::text(&sha1::digest(&text))
}

impl Conversation for WebSocket {
    fn open(&mut self, _now: Micros, out: &mut Buffer) {
        out.push(b"GET ");
        out.push(self.order.target.bytes());
        // It fits: what is cut off is no request, and refused.
        let _fits = write!(out, " HTTP/1.1\r\nHost: {}\r\n", self.order.server);
        out.push(b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
        out.push(b"Sec-WebSocket-Key: ");
        out.push(&self.key);
        if !self.order.subprotocol.bytes().is_empty() {
            out.push(b"\r\nSec-WebSocket-Protocol: ");
            out.push(self.order.subprotocol.bytes());
        }
        out.push(b"\r\n\r\n");
    }

    fn hear(&mut self, heard: &[u8], out: &mut Buffer) -> Result<usize, Fault> {
        if !self.progress.is_open {
            return self.shaken(heard);
        }
        let [first, length, rest @ ..] = heard else {
            return Ok(0);
        };
        let (begin, length) = match (*length, rest) {
            (TWO_BYTES, [high, low, ..]) => (4, usize::from(u16::from_be_bytes([*high, *low]))),
            (TWO_BYTES, _) => return Ok(0),
            (length, _) if length < TWO_BYTES => (2, usize::from(length)),
            (length, _) if length < MASKED => return Err(Fault::TooLong),
            // A server's frames are not masked (section 5.1).
            _ => return Err(Fault::Malformed),
        };
        let Some(text) = heard.get(begin..begin + length) else {
            return Ok(0);
        };
        self.take(*first, text, out)?;
        Ok(begin + length)
    }

    fn say(&mut self, _now: Micros, payload: Payload, out: &mut Buffer) {
        self.payload = Some(payload);
        self.progress.is_echoed = false;
        self.progress.is_acknowledged = !self.order.is_gateway;
        self.frame(TEXT, payload.length, out, |out| payload.write(out));
    }

    fn progress(&self) -> Progress {
        self.progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(peer: &str) -> WebSocket {
        let order = format!(
            "id=1 protocol=websocket server=10.9.0.1:80 payload=5 packets=1 warm-up=0 rest-ms=0 wait-ms=1 \
             target=/chat subprotocol=chat peer={peer}"
        );
        let order = Order::read(order.as_bytes()).unwrap();
        let mut socket = WebSocket::new(order, Random::new(1));
        // The example of RFC 6455 section 1.3.
        socket.key = *b"dGhlIHNhbXBsZSBub25jZQ==";
        let mut out = Buffer::new();
        socket.open(0, &mut out);
        let request = String::from_utf8_lossy(out.bytes()).into_owned();
        assert!(request.starts_with("GET /chat HTTP/1.1\r\nHost: 10.9.0.1:80\r\n"));
        assert!(request.ends_with("Sec-WebSocket-Protocol: chat\r\n\r\n"));
        let head = b"HTTP/1.1 101 Switching Protocols\r\n\
                     Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        assert_eq!(socket.hear(&head[..40], &mut out), Ok(0));
        assert_eq!(socket.hear(head, &mut out), Ok(head.len()));
        socket
    }

    #[test]
    fn a_text_goes_masked_and_its_echo_comes_bare() {
        let mut socket = opened("echo");
        let mut out = Buffer::new();
        let payload = Payload {
            length: 5,
            number: 1,
        };
        socket.say(0, payload, &mut out);
        let frame = out.bytes();
        assert_eq!(frame[..2], [0x81, 0x85]);
        let text: Vec<u8> = frame[6..]
            .iter()
            .zip(frame[2..6].iter().cycle())
            .map(|(a, b)| a ^ b)
            .collect();
        assert_eq!(text, b"cbbbb");
        assert_eq!(socket.hear(b"\x81\x05cbb", &mut Buffer::new()), Ok(0));
        assert_eq!(socket.hear(b"\x81\x05cbbbb\x81", &mut Buffer::new()), Ok(7));
        assert!(socket.progress().is_echoed && socket.progress().is_acknowledged);
    }

    #[test]
    fn of_a_gateway_the_echo_is_settled_when_it_is_kept() {
        let mut socket = opened("gateway");
        let mut out = Buffer::new();
        socket.say(
            0,
            Payload {
                length: 5,
                number: 1,
            },
            &mut out,
        );
        socket.hear(b"\x81\x05cbbbb", &mut out).unwrap();
        assert!(!socket.progress().is_acknowledged);
        let kept = br#"{"weir":{"committed":"1.2"}}"#;
        let frame = [&[0x81, kept.len() as u8], &kept[..]].concat();
        assert_eq!(socket.hear(&frame, &mut out), Ok(frame.len()));
        assert!(socket.progress().is_acknowledged);
    }

    #[test]
    fn pings_are_answered_and_what_is_wrong_ends_it() {
        let mut socket = opened("echo");
        let mut out = Buffer::new();
        assert_eq!(socket.hear(b"\x89\x02hi", &mut out), Ok(4));
        assert_eq!(out.bytes()[..2], [0x8a, 0x82]);
        assert_eq!(
            socket.hear(b"\x81\x85cbbbb", &mut out),
            Err(Fault::Malformed)
        );
        assert_eq!(socket.hear(b"\x88\x00", &mut out), Err(Fault::Closed));
        let mut other = opened("echo");
        other.progress.is_open = false;
        let refused = b"HTTP/1.1 403 Forbidden\r\n\r\n";
        assert_eq!(other.hear(refused, &mut out), Err(Fault::Refused));
    }
}
