//! A message in a byte stream and in a WebSocket frame (RFC 8323 sections 3.2 and 4.2).

use super::code::Code;
use super::datagram::write_payload;
use super::message::{Message, Token};
use super::options::{Malformed, RawOptions, Rule};
use alloc::vec::Vec;
use bytes::Bytes;

/// Where a message's length stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// In the message (TCP, TLS).
    Stream,
    /// In the frame around it; the field for it is 0 (WebSocket).
    Frames,
}

/// What stands before token, options and payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the head itself.
    pub bytes: usize,
    /// Bytes of the token.
    pub token_bytes: usize,
    /// Bytes of options and payload.
    pub body_bytes: usize,
    /// The code.
    pub code: Code,
}

impl Head {
    /// Bytes of the whole message.
    pub fn message_bytes(&self) -> usize {
        self.bytes + self.token_bytes + self.body_bytes
    }
}

/// Reads a head; none where bytes are missing. In [`Framing::Frames`] `bytes` is the whole frame.
// [RFC8323-3.2-1] [RFC8323-3.2-2] [RFC8323-4.2-1]
pub fn head_of(framing: Framing, bytes: &[u8]) -> Result<Option<Head>, Malformed> {
    let Some(&first) = bytes.first() else {
        return Ok(None);
    };
    let token_bytes = usize::from(first & 15);
    if token_bytes > Token::BYTES_MAX {
        return Err(Malformed {
            at: 0,
            rule: Rule::TokenLength,
        });
    }
    // Over WebSockets the field is 0 and not to be looked at (RFC 8323 section 4.2).
    let (extra, base) = match (framing, first >> 4) {
        (Framing::Frames, _) => (0, 0),
        (_, 13) => (1, 13),
        (_, 14) => (2, 269),
        (_, 15) => (4, 65_805),
        (_, small) => (0, usize::from(small)),
    };
    let (Some(more), Some(&code)) = (bytes.get(1..1 + extra), bytes.get(1 + extra)) else {
        return Ok(None);
    };
    let said = more
        .iter()
        .fold(0, |sum, &byte| sum << 8 | usize::from(byte));
    let head = 2 + extra;
    let body_bytes = match framing {
        Framing::Stream => base + said,
        Framing::Frames => bytes.len().saturating_sub(head + token_bytes),
    };
    Ok(Some(Head {
        bytes: head,
        token_bytes,
        body_bytes,
        code: Code(code),
    }))
}

/// Reads the whole message whose head this is.
pub fn parse_body(head: Head, bytes: &[u8]) -> Result<Message, Malformed> {
    let cut_off = Malformed {
        at: bytes.len(),
        rule: Rule::TokenTruncated,
    };
    let from = head.bytes + head.token_bytes;
    let token = bytes.get(head.bytes..from).and_then(Token::new);
    let token = token.ok_or(cut_off)?;
    let body = bytes.get(from..from + head.body_bytes).ok_or(cut_off)?;
    let (options, payload) = RawOptions::split(body, from)?;
    Ok(Message {
        code: head.code,
        token,
        options: options.into(),
        payload: Bytes::copy_from_slice(payload),
    })
}

/// Appends a message.
// [RFC8323-3.2-1]
pub fn write_stream(framing: Framing, message: &Message, out: &mut Vec<u8>) {
    let token = message.token.as_bytes();
    let options = message.options.as_bytes();
    let marker = usize::from(!message.payload.is_empty());
    let body = options.len() + marker + message.payload.len();
    out.reserve(body + token.len() + 6);
    let token_length = token.len() as u8;
    match (framing, body) {
        (Framing::Frames, _) => out.push(token_length),
        (_, 0..=12) => out.push((body as u8) << 4 | token_length),
        (_, 13..=268) => out.extend_from_slice(&[13 << 4 | token_length, (body - 13) as u8]),
        (_, 269..=65_804) => {
            out.push(14 << 4 | token_length);
            out.extend_from_slice(&((body - 269) as u16).to_be_bytes());
        }
        _ => {
            out.push(15 << 4 | token_length);
            out.extend_from_slice(&((body - 65_805) as u32).to_be_bytes());
        }
    }
    out.push(message.code.0);
    out.extend_from_slice(token);
    out.extend_from_slice(options);
    write_payload(&message.payload, out);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::option::Number;
    use alloc::vec;

    /// [RFC8323-3.2-1]
    #[test]
    fn every_length_of_length_is_written_and_read() {
        for size in [0, 1, 11, 12, 13, 267, 268, 300, 65_803, 65_804, 70_000] {
            for framing in [Framing::Stream, Framing::Frames] {
                let mut message = Message::new(Code::POST).with_payload(vec![7; size]);
                message.token = Token::new(b"ab").unwrap();
                let mut bytes = Vec::new();
                write_stream(framing, &message, &mut bytes);
                let head = head_of(framing, &bytes).unwrap().unwrap();
                assert_eq!(head.message_bytes(), bytes.len(), "{size}");
                assert_eq!(parse_body(head, &bytes).unwrap(), message);
            }
        }
    }

    /// RFC 8323 figure 4 has a message without options; a path makes it longer.
    #[test]
    fn a_head_waits_for_its_bytes() {
        let mut message = Message::new(Code::GET);
        message
            .options
            .push(Number::URI_PATH, b"temperature-of-room");
        let mut bytes = Vec::new();
        write_stream(Framing::Stream, &message, &mut bytes);
        assert_eq!(bytes[..3], [0xd0, 21 - 13, 1]);
        assert_eq!(head_of(Framing::Stream, &bytes[..2]).unwrap(), None);
        assert_eq!(head_of(Framing::Stream, &[]).unwrap(), None);
        assert_eq!(head_of(Framing::Frames, &[0]).unwrap(), None);
    }

    /// [RFC8323-3.2-2] [RFC8323-4.2-1]
    #[test]
    fn a_long_token_and_a_cut_frame_are_refused() {
        let refused = head_of(Framing::Stream, &[0x09, 1]).unwrap_err();
        assert_eq!(refused.rule, Rule::TokenLength);
        let head = head_of(Framing::Frames, &[0x04, 1, 0]).unwrap().unwrap();
        assert!(parse_body(head, &[0x04, 1, 0]).is_err());
    }
}
