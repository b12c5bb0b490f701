//! Messages of CoAP (RFC 7252 section 3): those that are sent, and what matters of those that come.

use crate::client::buffer::Buffer;
use crate::client::payload::Payload;

/// Kinds of messages.
pub(super) const CON: u8 = 0;
pub(super) const NON: u8 = 1;
pub(super) const ACK: u8 = 2;
pub(super) const RST: u8 = 3;

/// Numbers of options.
pub(super) mod number {
    pub(in super::super) const OBSERVE: u16 = 6;
    pub(in super::super) const URI_PATH: u16 = 11;
    pub(in super::super) const CONTENT_FORMAT: u16 = 12;
    pub(in super::super) const ACCEPT: u16 = 17;
    pub(in super::super) const ECHO: u16 = 252;
}

const VERSION: u8 = 1;
/// What stands before a payload.
const MARK: u8 = 0xff;

/// A method or a response's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(u8);

impl Code {
    pub(super) const GET: Self = Self(1);
    pub(super) const POST: Self = Self(2);
    pub(super) const PUT: Self = Self(3);

    /// 2, 4 or 5 of a response, 0 of anything else.
    pub(super) fn class(self) -> u8 {
        self.0 >> 5
    }
}

/// A message that came.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) kind: u8,
    pub(super) code: Code,
    pub(super) id: u16,
    pub(super) token: &'a [u8],
    /// Whether it has the option Observe.
    pub(super) is_notification: bool,
    pub(super) echo: Option<&'a [u8]>,
    pub(super) payload: &'a [u8],
}

impl<'a> Message<'a> {
    /// A message; nothing where the bytes are none.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[first, code, high, low], rest) = bytes.split_first_chunk()?;
        let token_bytes = usize::from(first & 15);
        if first >> 6 != VERSION || token_bytes > 8 {
            return None;
        }
        let (token, rest) = rest.split_at_checked(token_bytes)?;
        let mut message = Self {
            kind: first >> 4 & 3,
            code: Code(code),
            id: u16::from_be_bytes([high, low]),
            token,
            is_notification: false,
            echo: None,
            payload: &[],
        };
        message.read_options(rest)?;
        Some(message)
    }

    fn read_options(&mut self, mut rest: &'a [u8]) -> Option<()> {
        let mut number = 0;
        while let [first, more @ ..] = rest {
            if *first == MARK {
                self.payload = more;
                return Some(());
            }
            let (delta, more) = extended(first >> 4, more)?;
            let (length, more) = extended(first & 15, more)?;
            let (value, more) = more.split_at_checked(usize::from(length))?;
            number += delta;
            match number {
                number::OBSERVE => self.is_notification = true,
                number::ECHO => self.echo = Some(value),
                _ => {}
            }
            rest = more;
        }
        Some(())
    }
}

/// The value of a nibble with what follows (section 3.1).
fn extended(nibble: u8, rest: &[u8]) -> Option<(u16, &[u8])> {
    match (nibble, rest) {
        (0..13, _) => Some((u16::from(nibble), rest)),
        (13, [more, rest @ ..]) => Some((13 + u16::from(*more), rest)),
        (14, [high, low, rest @ ..]) => {
            let more = u16::from_be_bytes([*high, *low]);
            Some((269u16.checked_add(more)?, rest))
        }
        _ => None,
    }
}

/// Says that a message has come.
pub(super) fn acknowledge(id: u16, out: &mut Buffer) {
    out.push(&[VERSION << 6 | ACK << 4, 0]);
    out.push(&id.to_be_bytes());
}

/// Writes a message: options by their numbers, then a payload.
pub(super) struct Writer<'a> {
    out: &'a mut Buffer,
    number: u16,
}

impl<'a> Writer<'a> {
    pub(super) fn begin(
        kind: u8,
        code: Code,
        id: u16,
        token: &[u8; 2],
        out: &'a mut Buffer,
    ) -> Self {
        out.push(&[VERSION << 6 | kind << 4 | token.len() as u8, code.0]);
        out.push(&id.to_be_bytes());
        out.push(token);
        Self { out, number: 0 }
    }

    /// An option of less than 269 bytes, and less than 269 numbers after the last.
    pub(super) fn option(&mut self, number: u16, value: &[u8]) {
        let (delta, more_delta) = nibble(number - self.number);
        let (length, more_length) = nibble(value.len() as u16);
        self.out.push(&[delta << 4 | length]);
        for more in [more_delta, more_length].into_iter().flatten() {
            self.out.push(&[more]);
        }
        self.out.push(value);
        self.number = number;
    }

    pub(super) fn payload(self, payload: Payload) {
        self.out.push(&[MARK]);
        payload.write(self.out);
    }
}

fn nibble(value: u16) -> (u8, Option<u8>) {
    match value {
        0..13 => (value as u8, None),
        _ => (13, Some((value - 13) as u8)),
    }
}
