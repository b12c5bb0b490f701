//! Messages out of bytes that arrive in pieces.

use crate::close::{Close, CloseCode};
use crate::deflate::inflate_message;
use crate::frame::{Header, Opcode, mask};
use crate::limits::CONTROL_BYTES_MAX;
use bytes::Bytes;
use std::fmt;

/// Whose bytes are read: clients mask theirs, servers must not (RFC 6455 section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The reader is the server.
    Server,
    /// The reader is the client.
    Client,
}

/// What has been received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// UTF-8, checked.
    Text(Bytes),
    /// Bytes.
    Binary(Bytes),
    /// Must be answered with a pong of the same payload.
    Ping(Bytes),
    /// An answer to a ping, or a sign of life.
    Pong(Bytes),
    /// The peer sends nothing more.
    Close(Option<Close>),
}

/// Why a WebSocket cannot go on: the code and reason to close it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The close code.
    pub code: CloseCode,
    /// What the peer did.
    pub reason: &'static str,
}

impl Failure {
    pub(super) const NOT_UTF8: Self = Self {
        code: CloseCode::NOT_UTF8,
        reason: "text that is not UTF-8",
    };
    pub(super) const TOO_BIG: Self = Self {
        code: CloseCode::TOO_BIG,
        reason: "a message over the limit",
    };

    pub(super) const fn protocol(reason: &'static str) -> Self {
        let code = CloseCode::PROTOCOL;
        Self { code, reason }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.reason, self.code.0)
    }
}

impl std::error::Error for Failure {}

/// Reads frames and joins fragments.
#[derive(Debug)]
pub struct Reader {
    role: Role,
    /// Whether deflated messages may come (RFC 7692).
    deflate: bool,
    message_bytes_max: usize,
    /// Bytes of a frame that is still incomplete.
    rest: Vec<u8>,
    /// A message whose last fragment is still to come.
    open: Option<Box<Fragments>>,
}

#[derive(Debug)]
struct Fragments {
    opcode: Opcode,
    deflated: bool,
    bytes: Vec<u8>,
}

impl Reader {
    /// A reader for one side; `deflate` where permessage-deflate was agreed.
    pub fn new(role: Role, deflate: bool, message_bytes_max: usize) -> Self {
        Self {
            role,
            deflate,
            message_bytes_max,
            rest: Vec::new(),
            open: None,
        }
    }

    /// Says whether nothing unfinished is held.
    pub fn is_idle(&self) -> bool {
        self.rest.is_empty() && self.open.is_none()
    }

    /// Bytes of memory that what is unfinished takes.
    pub fn held(&self) -> usize {
        let open = self.open.as_ref().map_or(0, |open| open.bytes.capacity());
        self.rest.capacity() + open
    }

    /// Takes bytes and hands on every message that they complete.
    pub fn read(&mut self, mut input: &[u8], out: &mut Vec<Message>) -> Result<(), Failure> {
        if self.rest.is_empty() {
            self.frames(&mut input, out)?;
            self.rest.extend_from_slice(input);
            return Ok(());
        }
        let mut held = std::mem::take(&mut self.rest);
        held.extend_from_slice(input);
        let mut left = held.as_slice();
        self.frames(&mut left, out)?;
        let taken = held.len() - left.len();
        held.drain(..taken);
        if !held.is_empty() {
            self.rest = held;
        }
        Ok(())
    }

    fn frames(&mut self, input: &mut &[u8], out: &mut Vec<Message>) -> Result<(), Failure> {
        while let Some((header, at)) = Header::read(input)? {
            self.check(&header)?;
            let length = usize::try_from(header.length).map_err(|_| Failure::TOO_BIG)?;
            let Some(payload) = input.get(at..at + length) else {
                return Ok(());
            };
            let mut payload = payload.to_vec();
            if let Some(key) = header.mask {
                mask(&mut payload, key);
            }
            *input = &input[at + length..];
            out.extend(self.frame(&header, payload)?);
        }
        Ok(())
    }

    /// Refuses what a header alone shows to be wrong, before its payload is waited for.
    fn check(&self, header: &Header) -> Result<(), Failure> {
        match (self.role, header.mask) {
            (Role::Server, None) => {
                return Err(Failure::protocol("a client's frame is not masked"));
            }
            (Role::Client, Some(_)) => return Err(Failure::protocol("a server's frame is masked")),
            _ => {}
        }
        if header.opcode.is_control() {
            return self.check_control(header);
        }
        let held = self.open.as_ref().map_or(0, |open| open.bytes.len());
        if header.length.saturating_add(held as u64) > self.message_bytes_max as u64 {
            return Err(Failure::TOO_BIG);
        }
        match (header.opcode, self.open.is_some()) {
            (Opcode::CONTINUATION, false) => {
                Err(Failure::protocol("a continuation without a beginning"))
            }
            (Opcode::CONTINUATION, true) if header.rsv1 => {
                Err(Failure::protocol("reserved bit 1 is set on a continuation"))
            }
            (Opcode::CONTINUATION, true) => Ok(()),
            (Opcode::TEXT | Opcode::BINARY, true) => {
                Err(Failure::protocol("a message begins inside another"))
            }
            (Opcode::TEXT | Opcode::BINARY, false) if header.rsv1 && !self.deflate => Err(
                Failure::protocol("reserved bit 1 is set without an extension"),
            ),
            (Opcode::TEXT | Opcode::BINARY, false) => Ok(()),
            _ => Err(Failure::protocol("an unknown opcode")),
        }
    }

    fn check_control(&self, header: &Header) -> Result<(), Failure> {
        if header.opcode.0 > Opcode::PONG.0 {
            return Err(Failure::protocol("an unknown opcode"));
        }
        if header.rsv1 {
            return Err(Failure::protocol(
                "reserved bit 1 is set on a control frame",
            ));
        }
        if !header.fin {
            return Err(Failure::protocol("a control frame is fragmented"));
        }
        if header.length > CONTROL_BYTES_MAX as u64 {
            return Err(Failure::protocol("a control frame over 125 bytes"));
        }
        Ok(())
    }

    fn frame(&mut self, header: &Header, payload: Vec<u8>) -> Result<Option<Message>, Failure> {
        match header.opcode {
            Opcode::PING => return Ok(Some(Message::Ping(payload.into()))),
            Opcode::PONG => return Ok(Some(Message::Pong(payload.into()))),
            Opcode::CLOSE => return Ok(Some(Message::Close(Close::read(&payload)?))),
            _ => {}
        }
        let whole = match self.open.take() {
            None => Fragments {
                opcode: header.opcode,
                deflated: header.rsv1,
                bytes: payload,
            },
            Some(mut open) => {
                open.bytes.extend_from_slice(&payload);
                *open
            }
        };
        if header.fin {
            return self.message(whole).map(Some);
        }
        self.open = Some(Box::new(whole));
        Ok(None)
    }

    fn message(&self, whole: Fragments) -> Result<Message, Failure> {
        let bytes = match whole.deflated {
            false => whole.bytes,
            true => inflate_message(&whole.bytes, self.message_bytes_max)?,
        };
        match whole.opcode {
            Opcode::TEXT if std::str::from_utf8(&bytes).is_err() => Err(Failure::NOT_UTF8),
            Opcode::TEXT => Ok(Message::Text(bytes.into())),
            _ => Ok(Message::Binary(bytes.into())),
        }
    }
}
