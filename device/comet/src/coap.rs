//! Messages of CoAP (RFC 7252) as a server of observable topics reads and writes them.
//!
//! What it deliberately does not do: bodies of requests, blocks, queries, proxies, names of hosts.

use crate::site::Site;
use crate::slice::Slice;
use crate::word::Word;

pub(crate) const HEADER_BYTES: usize = 4;
pub(crate) const TOKEN_BYTES_MAX: usize = 8;
const VERSION: u8 = 1;
const PAYLOAD: u8 = 0xff;

/// A message's type (section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Confirmable = 0,
    NonConfirmable = 1,
    Acknowledgement = 2,
    Reset = 3,
}

/// Codes (section 12.1).
pub(crate) mod code {
    pub(crate) const EMPTY: u8 = 0;
    pub(crate) const GET: u8 = 1;
    pub(crate) const CONTENT: u8 = 2 << 5 | 5;
    pub(crate) const BAD_OPTION: u8 = 4 << 5 | 2;
    pub(crate) const NOT_FOUND: u8 = 4 << 5 | 4;
    pub(crate) const METHOD_NOT_ALLOWED: u8 = 4 << 5 | 5;
    pub(crate) const NOT_ACCEPTABLE: u8 = 4 << 5 | 6;
    pub(crate) const UNAVAILABLE: u8 = 5 << 5 | 3;
    pub(crate) const PROXYING_NOT_SUPPORTED: u8 = 5 << 5 | 5;
}

/// Options (section 12.2; Observe is RFC 7641 section 2, Block2 RFC 7959 section 2.1).
mod option {
    pub(super) const URI_HOST: u16 = 3;
    pub(super) const ETAG: u16 = 4;
    pub(super) const OBSERVE: u16 = 6;
    pub(super) const URI_PORT: u16 = 7;
    pub(super) const URI_PATH: u16 = 11;
    pub(super) const CONTENT_FORMAT: u16 = 12;
    pub(super) const ACCEPT: u16 = 17;
    pub(super) const BLOCK2: u16 = 23;
    pub(super) const PROXY_URI: u16 = 35;
    pub(super) const PROXY_SCHEME: u16 = 39;
}

/// The fixed part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Type,
    pub(crate) code: u8,
    pub(crate) id: u16,
    pub(crate) token: [u8; TOKEN_BYTES_MAX],
    pub(crate) token_bytes: u8,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Number of the resource.
    pub(crate) resource: Option<usize>,
    /// The value of Observe: 0 registers, 1 ends it (RFC 7641 section 2).
    pub(crate) observe: Option<u32>,
    pub(crate) accept: Option<u32>,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is none: rejected without a word on what it may have meant (section 4.2).
    Format,
    /// A request that gets this code.
    Code(u8),
}

impl Header {
    /// The header and what is behind the token; nothing where this is no CoAP (section 3).
    pub(crate) fn read(message: &[u8]) -> Option<(Self, &[u8])> {
        let (fixed, rest) = message.split_first_chunk::<HEADER_BYTES>()?;
        if fixed[0] >> 6 != VERSION {
            return None;
        }
        let kind = match fixed[0] >> 4 & 3 {
            0 => Type::Confirmable,
            1 => Type::NonConfirmable,
            2 => Type::Acknowledgement,
            _ => Type::Reset,
        };
        let mut header = Self {
            kind,
            code: fixed[1],
            id: u16::from_be_bytes([fixed[2], fixed[3]]),
            token: [0; TOKEN_BYTES_MAX],
            token_bytes: fixed[0] & 15,
        };
        let length = usize::from(header.token_bytes);
        let token = rest.get(..length);
        let places = header.token.get_mut(..length);
        match (token, places) {
            (Some(token), Some(places)) => places.copy_from_slice(token),
            // Longer than a token may be: a format error, of which the identifier is known.
            _ => {
                return Some((
                    Self {
                        token_bytes: u8::MAX,
                        ..header
                    },
                    &[],
                ));
            }
        }
        Some((header, rest.get(length..)?))
    }

    /// Whether the token was none.
    pub(crate) fn is_malformed(&self) -> bool {
        self.token_bytes == u8::MAX
    }

    pub(crate) fn write(&self, out: &mut Slice<'_>) {
        out.byte(VERSION << 6 | (self.kind as u8) << 4 | self.token_bytes);
        out.byte(self.code);
        out.bytes(&self.id.to_be_bytes());
        let token = self.token.get(..usize::from(self.token_bytes));
        out.bytes(token.unwrap_or(&[]));
    }
}

/// Reads a request's options.
pub(crate) fn asked(site: &Site, mut bytes: &[u8]) -> Result<Asked, Fault> {
    let mut asked = Asked {
        resource: None,
        observe: None,
        accept: None,
    };
    let (mut number, mut path, mut code) = (0u16, Word::START, None);
    while let Some((&first, rest)) = bytes.split_first() {
        if first == PAYLOAD {
            // A marker with nothing behind it (section 3).
            if rest.is_empty() {
                return Err(Fault::Format);
            }
            break;
        }
        let (delta, rest) = extended(first >> 4, rest).ok_or(Fault::Format)?;
        let (length, rest) = extended(first & 15, rest).ok_or(Fault::Format)?;
        let value = rest.get(..usize::from(length)).ok_or(Fault::Format)?;
        bytes = rest.get(usize::from(length)..).unwrap_or(&[]);
        number = number.checked_add(delta).ok_or(Fault::Format)?;
        match number {
            option::OBSERVE => asked.observe = uint(value, 3),
            option::ACCEPT => asked.accept = uint(value, 2).or(Some(u32::MAX)),
            option::URI_PATH => segment(&mut path, value),
            // One host has this address and port, whatever they are called.
            option::URI_HOST | option::URI_PORT => {}
            // All values fit one block: the first, of any size.
            option::BLOCK2 if uint(value, 3).is_some_and(|block| block >> 4 == 0) => {}
            option::PROXY_URI | option::PROXY_SCHEME => code = Some(code::PROXYING_NOT_SUPPORTED),
            // Critical ones that are not known (section 5.4.1).
            _ if number % 2 == 1 => code = code.or(Some(code::BAD_OPTION)),
            _ => {}
        }
    }
    if path.is_empty() {
        path.push(b'/');
    }
    asked.resource = site.find(path);
    code.map_or(Ok(asked), |code| Err(Fault::Code(code)))
}

/// A delta or a length, with its extension (section 3.1).
fn extended(nibble: u8, rest: &[u8]) -> Option<(u16, &[u8])> {
    match (nibble, rest) {
        (0..=12, _) => Some((u16::from(nibble), rest)),
        (13, [low, rest @ ..]) => Some((u16::from(*low) + 13, rest)),
        (14, [high, low, rest @ ..]) => {
            let number = u16::from_be_bytes([*high, *low]).checked_add(269)?;
            Some((number, rest))
        }
        _ => None,
    }
}

/// A number of at most so many bytes (section 3.2).
fn uint(value: &[u8], bytes_max: usize) -> Option<u32> {
    let number = value
        .iter()
        .fold(0, |number, &byte| number << 8 | u32::from(byte));
    (value.len() <= bytes_max).then_some(number)
}

/// Another segment of the path.
fn segment(path: &mut Word, value: &[u8]) {
    path.push(b'/');
    for &byte in value {
        // A slash within a segment parts nothing.
        let byte = if byte == b'/' { 0 } else { byte };
        path.push(byte);
    }
}

/// The Content-Format of a media type (section 12.3 and the registry).
pub(crate) fn content_format(media_type: &str) -> Option<u8> {
    let (name, _) = media_type.split_once(';').unwrap_or((media_type, ""));
    match name {
        "text/plain" => Some(0),
        "application/link-format" => Some(40),
        "application/xml" => Some(41),
        "application/octet-stream" => Some(42),
        "application/json" => Some(50),
        "application/cbor" => Some(60),
        "application/senml+json" => Some(110),
        "application/senml+cbor" => Some(112),
        _ => None,
    }
}

/// Writes a 2.05 behind its header: a notification with its number, or a topic that has none yet.
pub(crate) fn content(
    out: &mut Slice<'_>,
    (number, text): (u32, &[u8]),
    observed: bool,
    format: Option<u8>,
) {
    let mut last = 0;
    let mut put = |number: u16, value: &[u8]| {
        out.byte(((number - last) as u8) << 4 | value.len() as u8);
        out.bytes(value);
        last = number;
    };
    let number = number.to_be_bytes();
    put(option::ETAG, &number);
    if observed {
        // The least 24 bits rise with each notification (RFC 7641 section 4.4).
        put(option::OBSERVE, short(&number[1..]));
    }
    if let Some(format) = format {
        put(option::CONTENT_FORMAT, short(&[format]));
    }
    if !text.is_empty() {
        out.byte(PAYLOAD);
        out.bytes(text);
    }
}

/// A number's bytes without the zeros before it.
fn short(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    bytes.get(zeros..).unwrap_or(&[])
}
