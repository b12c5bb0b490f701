//! POST by HTTP/2 (RFC 9113), known beforehand or by ALPN: a stream a call.
//!
//! What it deliberately does not do: decode header fields but the status, which servers send first. What it
//! sends keeps no state of HPACK (RFC 7541), so that each request is the same bytes. The device of link-efficiency,
//! whose bytes are to be those of a client with that state, drives the h2 library instead.

use std::collections::BTreeMap;

use crate::error::{Cause, Error};
use crate::http1::HttpResponse;
use crate::sockets::{Peer, Tcp, Traffic};
use weir_bench_model::limits::RESPONSE_BYTES_MAX;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes of a frame's head (RFC 9113 section 4.1).
const HEAD_BYTES: usize = 9;
/// Bytes of a frame that every peer takes (RFC 9113 section 4.2).
const FRAME_BYTES_MAX: usize = 16_384;
/// Bytes that may be sent at first, on a stream and on all (RFC 9113 section 6.9.2).
const WINDOW: i64 = 65_535;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const PRIORITY: u8 = 32;

/// A connection and the calls on it.
pub struct Http2 {
    tcp: Tcp,
    /// What came and was not taken yet.
    input: Vec<u8>,
    /// The header block of each request but for its length.
    fields: Vec<u8>,
    next_stream: u32,
    streams: BTreeMap<u32, HttpResponse>,
    /// Bytes that may be sent on all streams.
    window: i64,
}

/// A frame: kind, flags, stream and payload.
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

impl Http2 {
    /// Connects; all messages go to one path, in one media type.
    pub fn open(peer: &Peer, path: &str, media: &str) -> Result<Self, Error> {
        let mut tcp = Tcp::connect(peer, Some("h2"))?;
        let mut opening = PREFACE.to_vec();
        write_frame(SETTINGS, 0, 0, &[], &mut opening);
        // Room for echoes: the default of the connection is used up and given back rarely.
        write_frame(
            WINDOW_UPDATE,
            0,
            0,
            &0x3fff_0000_u32.to_be_bytes(),
            &mut opening,
        );
        tcp.send(&opening)?;
        Ok(Self {
            tcp,
            input: Vec::new(),
            fields: fields(peer, path, media),
            next_stream: 1,
            streams: BTreeMap::new(),
            window: WINDOW,
        })
    }

    fn read_frame(&mut self) -> Result<Frame, Error> {
        loop {
            let taken = take_frame(&mut self.input);
            if let Some(frame) = taken.map_err(|cause| self.failed(cause))? {
                return Ok(frame);
            }
            self.tcp.receive_more(&mut self.input)?;
        }
    }

    /// Takes a frame; the stream that it ended.
    fn take(&mut self, frame: Frame) -> Result<Option<(u32, HttpResponse)>, Error> {
        match frame.kind {
            SETTINGS if frame.flags & ACK == 0 => self.reply(SETTINGS, &[])?,
            PING if frame.flags & ACK == 0 => self.reply(PING, &frame.payload)?,
            WINDOW_UPDATE if frame.stream == 0 => {
                let increment = frame.payload.get(..4).and_then(|b| b.try_into().ok());
                let short = || self.failed(Cause::Unlike("a short WINDOW_UPDATE".into()));
                let increment = u32::from_be_bytes(increment.ok_or_else(short)?);
                self.window += i64::from(increment & 0x7fff_ffff);
            }
            GOAWAY => return Err(self.failed(Cause::Closed("GOAWAY".into()))),
            RST_STREAM => return Err(self.failed(Cause::Refused("RST_STREAM".into()))),
            HEADERS | DATA => {
                return self.take_part(&frame).map_err(|cause| self.failed(cause));
            }
            _ => {}
        }
        Ok(None)
    }

    fn take_part(&mut self, frame: &Frame) -> Result<Option<(u32, HttpResponse)>, Cause> {
        let Some(stream) = self.streams.get_mut(&frame.stream) else {
            return Ok(None);
        };
        let short = || Cause::Unlike("a frame shorter than its padding".into());
        let content = content(frame).ok_or_else(short)?;
        match frame.kind {
            HEADERS if stream.status == 0 => stream.status = status(content)?,
            DATA => stream.body.extend_from_slice(content),
            _ => {}
        }
        if stream.body.len() > RESPONSE_BYTES_MAX {
            return Err(Cause::Unlike("an answer that does not end".into()));
        }
        let ended = frame.flags & END_STREAM != 0;
        let whole = ended.then(|| self.streams.remove(&frame.stream)).flatten();
        Ok(whole.map(|response| (frame.stream, response)))
    }

    fn reply(&mut self, kind: u8, payload: &[u8]) -> Result<(), Error> {
        let mut out = Vec::new();
        write_frame(kind, ACK, 0, payload, &mut out);
        self.tcp.send(&out)
    }

    /// Sends a message; the number of its stream. It is to be small beside a stream's window; all of them together may
    /// exceed the connection's.
    pub fn post(&mut self, message: &[u8]) -> Result<u32, Error> {
        while self.window < message.len() as i64 {
            let frame = self.read_frame()?;
            if self.take(frame)?.is_some() {
                let what = "an answer came before there was room for the next call";
                return Err(self.failed(Cause::Unlike(what.into())));
            }
        }
        let stream = self.next_stream;
        let mut out = Vec::with_capacity(message.len() + 128);
        let mut fields = self.fields.clone();
        // content-length: 28 of the static table (RFC 7541 appendix A), literal.
        fields.extend([0x0f, 0x0d]);
        write_text(&message.len().to_string(), &mut fields);
        write_frame(HEADERS, END_HEADERS, stream, &fields, &mut out);
        let pieces = message.chunks(FRAME_BYTES_MAX);
        let last = pieces.len().saturating_sub(1);
        for (index, piece) in pieces.enumerate() {
            let flags = if index == last { END_STREAM } else { 0 };
            write_frame(DATA, flags, stream, piece, &mut out);
        }
        self.window -= message.len() as i64;
        self.next_stream += 2;
        self.streams.insert(stream, HttpResponse::default());
        self.tcp.send(&out)?;
        Ok(stream)
    }

    /// Waits for the next answer that is whole, which is to be a success; its stream and its body.
    pub fn success(&mut self) -> Result<(u32, Vec<u8>), Error> {
        loop {
            let frame = self.read_frame()?;
            let Some((stream, response)) = self.take(frame)? else {
                continue;
            };
            let body = response.success().map_err(|cause| self.failed(cause))?;
            return Ok((stream, body));
        }
    }

    /// What went over the link since it was opened.
    pub fn traffic(&self) -> Result<Traffic, Error> {
        self.tcp.traffic()
    }

    fn failed(&self, cause: Cause) -> Error {
        self.tcp.failed(cause, "calling by HTTP/2")
    }
}

/// The fields of every request, by the static table (RFC 7541 appendix A) and literals without indexing.
fn fields(peer: &Peer, path: &str, media: &str) -> Vec<u8> {
    let scheme = if peer.certificate.is_some() {
        0x87
    } else {
        0x86
    };
    // :method POST, :scheme.
    let mut fields = vec![0x83, scheme];
    // :path is 4, :authority 1, content-type 31.
    fields.push(0x04);
    write_text(&format!("/{path}"), &mut fields);
    fields.push(0x01);
    write_text(&peer.address.to_string(), &mut fields);
    fields.extend([0x0f, 0x10]);
    write_text(media, &mut fields);
    fields
}

/// A string literal of less than 127 bytes, not compressed (RFC 7541 section 5.2).
fn write_text(text: &str, out: &mut Vec<u8>) {
    debug_assert!(text.len() < 127);
    out.push(text.len() as u8);
    out.extend_from_slice(text.as_bytes());
}

fn write_frame(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend([kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

fn take_frame(input: &mut Vec<u8>) -> Result<Option<Frame>, Cause> {
    let Some(head) = input.get(..HEAD_BYTES) else {
        return Ok(None);
    };
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(Cause::Unlike(format!("a frame of {length} bytes")));
    }
    let (kind, flags) = (head[3], head[4]);
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7fff_ffff;
    if input.len() < HEAD_BYTES + length {
        return Ok(None);
    }
    let payload = input[HEAD_BYTES..HEAD_BYTES + length].to_vec();
    input.drain(..HEAD_BYTES + length);
    Ok(Some(Frame {
        kind,
        flags,
        stream,
        payload,
    }))
}

/// What a frame carries without padding and priority.
fn content(frame: &Frame) -> Option<&[u8]> {
    let mut content = &frame.payload[..];
    if frame.flags & PADDED != 0 {
        let (&padding, rest) = content.split_first()?;
        content = rest.get(..rest.len().checked_sub(padding.into())?)?;
    }
    if frame.kind == HEADERS && frame.flags & PRIORITY != 0 {
        content = content.get(5..)?;
    }
    Some(content)
}

/// The status at the beginning of a header block: one of the static table's, or a literal's digits.
fn status(block: &[u8]) -> Result<u16, Cause> {
    const KNOWN: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
    // The size of the dynamic table may be told first (RFC 7541 section 6.3).
    let update = block
        .iter()
        .take_while(|byte| **byte & 0xe0 == 0x20)
        .count();
    match block.get(update..) {
        Some([byte @ 0x88..=0x8e, ..]) => Ok(KNOWN[usize::from(byte - 0x88)]),
        Some([_, 3, digits @ ..]) if digits.len() >= 3 => {
            let text = String::from_utf8_lossy(&digits[..3]);
            text.parse()
                .map_err(|_| Cause::Unlike(format!("a status `{text}`")))
        }
        // Compressed: which one it is does not matter, since success is in the table.
        Some([_, ..]) => Ok(599),
        _ => Err(Cause::Unlike("a response without a status".into())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_frame_reads_back_as_written_and_not_before_it_is_whole() {
        let mut bytes = Vec::new();
        write_frame(DATA, END_STREAM, 5, b"abc", &mut bytes);
        assert_eq!(bytes, b"\x00\x00\x03\x00\x01\x00\x00\x00\x05abc");
        let mut torn = bytes[..11].to_vec();
        assert!(take_frame(&mut torn).unwrap().is_none());
        let frame = take_frame(&mut bytes).unwrap().unwrap();
        assert_eq!((frame.stream, content(&frame).unwrap()), (5, &b"abc"[..]));
        assert!(bytes.is_empty());
    }

    #[test]
    fn padding_and_priority_are_no_content() {
        let payload = b"\x02\0\0\0\0\x10\x89\0\0".to_vec();
        let flags = PADDED | PRIORITY;
        let (kind, stream) = (HEADERS, 1);
        let frame = Frame {
            kind,
            flags,
            stream,
            payload,
        };
        assert_eq!(status(content(&frame).unwrap()).unwrap(), 204);
        let payload = vec![9];
        let frame = Frame {
            kind,
            flags,
            stream,
            payload,
        };
        assert!(content(&frame).is_none());
    }

    #[test]
    fn a_status_is_read_from_the_table_and_from_digits() {
        assert_eq!(status(b"\x48\x82\x64\x02").unwrap(), 599);
        assert_eq!(status(b"\x20\x88").unwrap(), 200);
        assert_eq!(status(b"\x48\x03415").unwrap(), 415);
        assert!(status(b"").is_err());
    }
}
