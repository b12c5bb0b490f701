//! A message in a datagram (RFC 7252 section 3).

use super::code::Code;
use super::message::{Message, Token};
use super::options::{MARKER, Malformed, RawOptions, Rule};
use alloc::vec::Vec;
use bytes::Bytes;

/// What a message is to the message layer (RFC 7252 section 3, `T`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Wants to be acknowledged.
    Confirmable,
    /// Does not.
    NonConfirmable,
    /// Acknowledges.
    Acknowledgement,
    /// Rejects.
    Reset,
}

impl Kind {
    const ALL: [Self; 4] = [
        Self::Confirmable,
        Self::NonConfirmable,
        Self::Acknowledgement,
        Self::Reset,
    ];
}

/// A datagram, its parts where they lie.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// What it is to the message layer.
    pub kind: Kind,
    /// Tells duplicates and matches acknowledgements.
    pub id: u16,
    /// What it is to the layer above.
    pub code: Code,
    /// Which exchange it belongs to.
    pub token: Token,
    /// Its options, checked.
    pub options: RawOptions<'a>,
    /// Its payload.
    pub payload: &'a [u8],
}

impl Datagram<'_> {
    /// The message by itself.
    pub fn to_message(&self) -> Message {
        Message {
            code: self.code,
            token: self.token,
            options: self.options.into(),
            payload: Bytes::copy_from_slice(self.payload),
        }
    }
}

/// A datagram that is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong.
    pub malformed: Malformed,
    /// Kind and Message ID, where there is a header of our version to reject.
    pub header: Option<(Kind, u16)>,
}

/// Reads a datagram.
// [RFC7252-3-1] [RFC7252-3-2] [RFC7252-3-3] [RFC7252-4.1-1]
pub fn parse_datagram(bytes: &[u8]) -> Result<Datagram<'_>, Unreadable> {
    let no_header = |at, rule| Unreadable {
        malformed: Malformed { at, rule },
        header: None,
    };
    let &[first, code, id_high, id_low, ref rest @ ..] = bytes else {
        return Err(no_header(bytes.len(), Rule::Short));
    };
    if first >> 6 != 1 {
        return Err(no_header(0, Rule::Version));
    }
    let kind = Kind::ALL[usize::from(first >> 4 & 3)];
    let id = u16::from_be_bytes([id_high, id_low]);
    let fault = |malformed| Unreadable {
        malformed,
        header: Some((kind, id)),
    };
    let rule = |at, rule| fault(Malformed { at, rule });
    let token_length = usize::from(first & 15);
    if token_length > Token::BYTES_MAX {
        return Err(rule(0, Rule::TokenLength));
    }
    let code = Code(code);
    if code == Code::EMPTY && (bytes.len() > 4 || token_length > 0) {
        return Err(rule(bytes.len().min(4), Rule::EmptyWithBytes));
    }
    let token = rest.get(..token_length).and_then(Token::new);
    let token = token.ok_or(rule(bytes.len(), Rule::TokenTruncated))?;
    let (options, payload) =
        RawOptions::split(&rest[token_length..], 4 + token_length).map_err(fault)?;
    Ok(Datagram {
        kind,
        id,
        code,
        token,
        options,
        payload,
    })
}

/// Appends a message as a datagram.
// [RFC7252-3-5]
pub fn write_datagram(kind: Kind, id: u16, message: &Message, out: &mut Vec<u8>) {
    let token = message.token.as_bytes();
    let options = message.options.as_bytes();
    out.reserve(5 + token.len() + options.len() + message.payload.len());
    out.push(1 << 6 | (kind as u8) << 4 | token.len() as u8);
    out.push(message.code.0);
    out.extend_from_slice(&id.to_be_bytes());
    out.extend_from_slice(token);
    out.extend_from_slice(options);
    write_payload(&message.payload, out);
}

/// Appends an empty message: an acknowledgement, a reset, a ping.
pub fn write_empty(kind: Kind, id: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&[1 << 6 | (kind as u8) << 4, 0]);
    out.extend_from_slice(&id.to_be_bytes());
}

// [RFC7252-3-7]
pub(super) fn write_payload(payload: &[u8], out: &mut Vec<u8>) {
    if !payload.is_empty() {
        out.push(MARKER);
        out.extend_from_slice(payload);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::option::Number;
    use alloc::vec;

    /// RFC 7252 figure 16: GET coap://server/temperature, and the answer.
    /// [RFC7252-3-5] [RFC7252-3-7]
    #[test]
    fn the_example_of_the_standard_is_read_and_written() {
        let mut bytes = vec![0x40, 0x01, 0x7d, 0x34, 0xbb];
        bytes.extend_from_slice(b"temperature");
        let read = parse_datagram(&bytes).unwrap();
        assert_eq!(
            (read.kind, read.id, read.code),
            (Kind::Confirmable, 0x7d34, Code::GET)
        );
        let message = read.to_message();
        assert_eq!(
            message.options.first(Number::URI_PATH),
            Some(&b"temperature"[..])
        );
        let mut out = Vec::new();
        write_datagram(Kind::Confirmable, 0x7d34, &message, &mut out);
        assert_eq!(out, bytes);
        let mut answer = vec![0x60, 0x45, 0x7d, 0x34, 0xff];
        answer.extend_from_slice(b"22.3 C");
        let read = parse_datagram(&answer).unwrap();
        assert_eq!((read.code, read.payload), (Code::CONTENT, &b"22.3 C"[..]));
    }

    /// [RFC7252-3-1] [RFC7252-3-2] [RFC7252-3-3] [RFC7252-4.1-1]
    #[test]
    fn what_is_no_message_is_named_with_its_place() {
        let rejectable = |kind| Some((kind, 7));
        let con = rejectable(Kind::Confirmable);
        for (bytes, at, rule, header) in [
            (&[][..], 0, Rule::Short, None),
            (&[0x40, 1, 0], 3, Rule::Short, None),
            (&[0x00, 1, 0, 7], 0, Rule::Version, None),
            (&[0x80, 1, 0, 7], 0, Rule::Version, None),
            (&[0xc0, 0, 0, 7], 0, Rule::Version, None),
            (&[0x49, 1, 0, 7], 0, Rule::TokenLength, con),
            (&[0x4f, 1, 0, 7], 0, Rule::TokenLength, con),
            (&[0x42, 1, 0, 7, 1], 5, Rule::TokenTruncated, con),
            (&[0x40, 0, 0, 7, 0], 4, Rule::EmptyWithBytes, con),
            (&[0x41, 0, 0, 7, 9], 4, Rule::EmptyWithBytes, con),
            (&[0x41, 0, 0, 7], 4, Rule::EmptyWithBytes, con),
            (
                &[0x50, 1, 0, 7, 0xff],
                4,
                Rule::MarkerWithoutPayload,
                rejectable(Kind::NonConfirmable),
            ),
        ] {
            let unreadable = Unreadable {
                malformed: Malformed { at, rule },
                header,
            };
            assert_eq!(
                parse_datagram(bytes).unwrap_err(),
                unreadable,
                "{bytes:02x?}"
            );
        }
    }
}
