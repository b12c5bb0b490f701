//! Messages closed and opened (RFC 8613 sections 4 and 8): which parts are secret, which stay outside.

use super::context::{Context, Nonce, TAG_BYTES, Whose};
use super::header::{Header, PartialIv};
use super::{OSCORE, Window};
use crate::wire::{Code, Message, Number, Options, RawOptions};
use bytes::Bytes;
use core::fmt;

/// What responses are bound to: whose request it was, and its number (RFC 8613 section 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    pub(super) whose: Whose,
    pub(super) piv: PartialIv,
}

impl Binding {
    /// The request's sequence number.
    pub fn sequence(&self) -> u64 {
        self.piv.sequence()
    }
}

/// Why a message cannot be opened (RFC 8613 sections 8.2 and 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The option, or what is inside, is malformed.
    Malformed,
    /// No keys of that name.
    Unknown,
    /// It came before.
    Replay,
    /// It was not closed with these keys, or changed on the way.
    Forged,
}

impl Fault {
    /// What answers such a request, in the clear.
    // [RFC8613-8.2-1] [RFC8613-8.2-2] [RFC8613-8.2-3] [RFC8613-8.2-4]
    pub fn answer(self) -> Message {
        let code = match self {
            Fault::Malformed => Code::BAD_OPTION,
            Fault::Unknown | Fault::Replay => Code::UNAUTHORIZED,
            Fault::Forged => Code::BAD_REQUEST,
        };
        let mut message = Message::diagnostic(code, &self.to_string());
        message.options.push_uint(Number::MAX_AGE, 0);
        message
    }
}

/// The diagnostics are those of RFC 8613 section 8.2.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Malformed => "Failed to decode COSE",
            Fault::Unknown => "Security context not found",
            Fault::Replay => "Replay detected",
            Fault::Forged => "Decryption failed",
        })
    }
}

/// What is for those on the way and cannot be secret (class U, RFC 8613 section 4.1).
fn is_for_the_way(number: Number) -> bool {
    matches!(
        number,
        Number::URI_HOST
            | Number::URI_PORT
            | Number::HOP_LIMIT
            | Number::PROXY_URI
            | Number::PROXY_SCHEME
            | OSCORE
    )
}

/// A code, options and payload as they are closed (RFC 8613 section 5.3).
fn plaintext(message: &Message, options: &Options) -> Vec<u8> {
    let payload = &message.payload;
    let length = 2 + options.as_bytes().len() + payload.len() + TAG_BYTES;
    let mut text = Vec::with_capacity(length);
    text.push(message.code.0);
    text.extend_from_slice(options.as_bytes());
    if !payload.is_empty() {
        text.push(0xff);
        text.extend_from_slice(payload);
    }
    text
}

/// The inner options and the outer ones; `inner_observe` stands in the first for what is outside, too.
// [RFC8613-4.1-1] [RFC8613-4.1.3.5-1]
fn divided(options: &Options, inner_observe: impl Fn(u32) -> u32) -> (Options, Options) {
    let (mut inner, mut outer) = (Options::new(), Options::new());
    for option in options.iter() {
        match option.number {
            Number::OBSERVE => {
                inner.push_uint(option.number, inner_observe(option.uint()));
                outer.push(option.number, option.value);
            }
            number if is_for_the_way(number) => outer.push(number, option.value),
            number => inner.push(number, option.value),
        }
    }
    (inner, outer)
}

/// What was inside a text that was opened.
fn inner_of(text: &[u8]) -> Result<(Code, RawOptions<'_>, Bytes), Fault> {
    let (&code, rest) = text.split_first().ok_or(Fault::Malformed)?;
    let (options, payload) = RawOptions::split(rest, 1).map_err(|_| Fault::Malformed)?;
    Ok((Code(code), options, Bytes::copy_from_slice(payload)))
}

impl Context {
    /// Closes a request of ours under a number that was never used.
    // [RFC8613-8.1-1] [RFC8613-4.2-1]
    pub fn close_request(&self, message: &Message, piv: PartialIv) -> Option<(Message, Binding)> {
        let whose = Whose::Own;
        let bound = Binding { whose, piv };
        let (inner, mut outer) = divided(&message.options, |value| value);
        let header = Header {
            piv: Some(piv),
            kid: Some(self.own_id()),
            kid_context: self.id_context(),
        };
        outer.push(OSCORE, &header.write());
        let mut text = plaintext(message, &inner);
        let closed = self.seal(Nonce { whose, piv }, &bound, &mut text);
        let observes = message.options.first(Number::OBSERVE).is_some();
        let code = if observes { Code::FETCH } else { Code::POST };
        let message = Message {
            code,
            token: message.token,
            options: outer,
            payload: text.into(),
        };
        closed.then_some((message, bound))
    }

    /// Opens a peer's request; whether it came before is the caller's to ask.
    // [RFC8613-8.2-5] [RFC8613-4.1-2]
    pub fn open_request(
        &self,
        outer: &Message,
        header: &Header<'_>,
    ) -> Result<(Message, Binding), Fault> {
        let whose = Whose::Peer;
        let piv = header.piv.ok_or(Fault::Malformed)?;
        let bound = Binding { whose, piv };
        let mut text = outer.payload.to_vec();
        if !self.open(Nonce { whose, piv }, &bound, &mut text) {
            return Err(Fault::Forged);
        }
        let (code, inner, payload) = inner_of(&text)?;
        if !code.is_request() {
            return Err(Fault::Malformed);
        }
        let observed = outer.options.first(Number::OBSERVE).is_some();
        let mut options = Options::new();
        for option in inner.iter() {
            let passed = match option.number {
                Number::OBSERVE => observed,
                number => !is_for_the_way(number),
            };
            if passed {
                options.push(option.number, option.value);
            }
        }
        self.keep_outer(outer, &mut options);
        let token = outer.token;
        let message = Message {
            code,
            token,
            options,
            payload,
        };
        Ok((message, bound))
    }

    /// Options for those on the way stay; whatever else stands outside says nothing.
    // [RFC8613-8.2-6]
    fn keep_outer(&self, outer: &Message, options: &mut Options) {
        for option in outer.options.iter() {
            if is_for_the_way(option.number) && option.number != OSCORE {
                options.push(option.number, option.value);
            }
        }
    }

    /// Closes a response: with a number of ours, or, where `own` is none, with the request's, which may
    /// be done once only.
    // [RFC8613-8.3-1] [RFC8613-4.2-2]
    pub fn close_response(
        &self,
        message: &Message,
        bound: &Binding,
        own: Option<PartialIv>,
    ) -> Option<Message> {
        let nonce = match own {
            Some(piv) => Nonce {
                whose: Whose::Own,
                piv,
            },
            None => Nonce {
                whose: bound.whose,
                piv: bound.piv,
            },
        };
        let (inner, mut outer) = divided(&message.options, |_| 0);
        let header = Header {
            piv: own,
            ..Header::default()
        };
        outer.push(OSCORE, &header.write());
        let mut text = plaintext(message, &inner);
        let closed = self.seal(nonce, bound, &mut text);
        let observed = message.options.first(Number::OBSERVE).is_some();
        let code = if observed {
            Code::CONTENT
        } else {
            Code::CHANGED
        };
        closed.then(|| Message {
            code,
            token: message.token,
            options: outer,
            payload: text.into(),
        })
    }

    /// Opens a response to a request of ours; `told` are the numbers of its notifications so far.
    // [RFC8613-8.4-1] [RFC8613-7.4.1-1]
    pub fn open_response(
        &self,
        outer: &Message,
        header: &Header<'_>,
        bound: &Binding,
        told: &mut Window,
    ) -> Result<Message, Fault> {
        let nonce = match header.piv {
            Some(piv) => Nonce {
                whose: Whose::Peer,
                piv,
            },
            None => Nonce {
                whose: bound.whose,
                piv: bound.piv,
            },
        };
        let mut text = outer.payload.to_vec();
        if !self.open(nonce, bound, &mut text) {
            return Err(Fault::Forged);
        }
        let (code, inner, payload) = inner_of(&text)?;
        let mut options = Options::new();
        for option in inner.iter() {
            match option.number {
                Number::OBSERVE => {
                    // Their order is that of the numbers, which nobody on the way can change.
                    let order = header.piv.map_or(0, |piv| piv.sequence());
                    options.push_uint(option.number, order as u32 & 0x00ff_ffff);
                }
                number if is_for_the_way(number) => {}
                number => options.push(number, option.value),
            }
        }
        if header.piv.is_some_and(|piv| !told.take(piv.sequence())) {
            return Err(Fault::Replay);
        }
        Ok(Message {
            code,
            token: outer.token,
            options,
            payload,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::secure::Material;
    use crate::wire::{Kind, parse_datagram, write_datagram};

    pub(crate) fn hex(text: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
        (0..text.len()).step_by(2).map(digit).collect()
    }

    pub(crate) fn material(salt: &str, own: &str, peer: &str, id: Option<&str>) -> Material {
        Material {
            secret: (1..=16).collect(),
            salt: hex(salt),
            own: hex(own),
            peer: hex(peer),
            id_context: id.map(hex),
        }
    }

    fn turned(material: &Material) -> Material {
        Material {
            own: material.peer.clone(),
            peer: material.own.clone(),
            ..material.clone()
        }
    }

    fn message(bytes: &str) -> (Kind, u16, Message) {
        let bytes = hex(bytes);
        let datagram = parse_datagram(&bytes).unwrap();
        (datagram.kind, datagram.id, datagram.to_message())
    }

    fn written(kind: Kind, id: u16, message: &Message) -> Vec<u8> {
        let mut out = Vec::new();
        write_datagram(kind, id, message, &mut out);
        out
    }

    /// RFC 8613 appendices C.4, C.5 and C.6.
    #[test]
    fn requests_are_those_of_the_standards_examples() {
        for (material, plain, closed) in [
            (
                material("9e7ca92223786340", "", "01", None),
                "44015d1f00003974396c6f63616c686f737483747631",
                "44025d1f00003974396c6f63616c686f7374620914ff612f1092f1776f1c1668b3825e",
            ),
            (
                material("", "00", "01", None),
                "440171c30000b932396c6f63616c686f737483747631",
                "440271c30000b932396c6f63616c686f737463091400ff4ed339a5a379b0b8bc731fffb0",
            ),
            (
                material("9e7ca92223786340", "", "01", Some("37cbf3210017a2d3")),
                "44012f8eef9bbf7a396c6f63616c686f737483747631",
                concat!(
                    "44022f8eef9bbf7a396c6f63616c686f73746b19140837cbf3210017a2d3ff",
                    "72cd7273fd331ac45cffbe55c3"
                ),
            ),
        ] {
            let client = Context::derive(&material).unwrap();
            let (kind, id, request) = message(plain);
            let piv = PartialIv::new(20).unwrap();
            let (sent, bound) = client.close_request(&request, piv).unwrap();
            assert_eq!(written(kind, id, &sent), hex(closed));
            let server = Context::derive(&turned(&material)).unwrap();
            let header = sent.options.first(OSCORE).unwrap();
            let header = Header::parse(header).unwrap();
            assert_eq!(header.kid, Some(&material.own[..]));
            assert_eq!(header.kid_context, material.id_context.as_deref());
            let (opened, at_server) = server.open_request(&sent, &header).unwrap();
            assert_eq!((opened, at_server.sequence()), (request, bound.sequence()));
        }
    }

    /// RFC 8613 appendices C.7 and C.8. [RFC8613-4.2-2] [RFC8613-5.2-1] [RFC8613-5.4-1] [RFC8613-8.4-1]
    #[test]
    fn responses_are_those_of_the_standards_examples() {
        let material = material("9e7ca92223786340", "01", "", None);
        let server = Context::derive(&material).unwrap();
        let piv = PartialIv::new(20).unwrap();
        let bound = |whose| Binding { whose, piv };
        let (kind, id, response) = message("64455d1f00003974ff48656c6c6f20576f726c6421");
        for (own, closed) in [
            (
                None,
                "64445d1f0000397490ffdbaad1e9a7e7b2a813d3c31524378303cdafae119106",
            ),
            (
                PartialIv::new(0),
                "64445d1f00003974920100ff4d4c13669384b67354b2b6175ff4b8658c666a6cf88e",
            ),
        ] {
            let sent = server
                .close_response(&response, &bound(Whose::Peer), own)
                .unwrap();
            assert_eq!(written(kind, id, &sent), hex(closed));
            let client = Context::derive(&turned(&material)).unwrap();
            let header = Header::parse(sent.options.first(OSCORE).unwrap()).unwrap();
            let mut told = Window::default();
            let opened = client.open_response(&sent, &header, &bound(Whose::Own), &mut told);
            assert_eq!(opened, Ok(response.clone()));
            let again = client.open_response(&sent, &header, &bound(Whose::Own), &mut told);
            assert_eq!(again.is_err(), own.is_some());
        }
    }

    /// [RFC8613-4.1-1] [RFC8613-4.1-2] [RFC8613-4.1.3.5-1] [RFC8613-4.2-1] [RFC8613-8.2-6]
    #[test]
    fn what_is_said_outside_is_not_believed() {
        let material = material("", "00", "01", None);
        let client = Context::derive(&material).unwrap();
        let server = Context::derive(&turned(&material)).unwrap();
        let mut request = Message::new(Code::GET);
        request.options.push(Number::URI_PATH, b"live");
        request.options.push_uint(Number::OBSERVE, 0);
        let piv = PartialIv::new(7).unwrap();
        let (mut sent, _) = client.close_request(&request, piv).unwrap();
        assert_eq!(sent.code, Code::FETCH);
        assert_eq!(sent.options.first(Number::URI_PATH), None);
        let opened = |sent: &Message| {
            let header = Header::parse(sent.options.first(OSCORE).unwrap()).unwrap();
            server.open_request(sent, &header).map(|opened| opened.0)
        };
        sent.options.push(Number::URI_QUERY, b"as=xml");
        sent.options.set_uint(Number::OBSERVE, 1);
        assert_eq!(opened(&sent), Ok(request.clone()));
        // A proxy that knows no observation takes the option away: then it is none.
        sent.options.remove(Number::OBSERVE);
        request.options.remove(Number::OBSERVE);
        assert_eq!(opened(&sent), Ok(request));
        let mut changed = sent.payload.to_vec();
        changed[3] ^= 1;
        sent.payload = changed.into();
        assert_eq!(opened(&sent), Err(Fault::Forged));
        sent.payload = Bytes::from_static(&[1; 7]);
        assert_eq!(opened(&sent), Err(Fault::Forged));
    }
}
