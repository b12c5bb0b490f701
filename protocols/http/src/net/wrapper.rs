//! How HTTP wraps what streams: chunks, gzip, permessage-deflate; each message once for all receivers.
//!
//! Compression carries nothing from one message to the next, so a message's compressed bytes are the
//! same for whoever joins when. A gzip member opened with the head is never closed: its checksum would
//! need every byte that this one client got, and no decoder of streams waits for it.

use crate::limits::{COMPRESS_MESSAGE_BYTES_MIN, SCRATCH_BYTES_MAX};
use crate::wire::response::chunk_line;
use std::cell::RefCell;
use std::sync::{Arc, LazyLock};
use weir_binding::Wrapper;
use weir_carrier::websocket::{Deflate, Header, deflate_message};
use weir_hub::{Frame, Framing, FramingKey, Item};
use weir_model::Cursor;

/// Header of a gzip member without name or time (RFC 1952 section 2.3).
pub(super) const GZIP_HEADER: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

const CHUNKED: u32 = 1 << 28;
const GZIP: u32 = 1 << 29;
const DEFLATE: u32 = 1 << 30;

thread_local! {
    static DEFLATER: RefCell<Deflate> = RefCell::default();
    static FRAME: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static PIECE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What is done to each frame; the bits tell its framings apart from others.
#[derive(Clone, Copy)]
struct Wrapping(u32);

static WRAPPERS: LazyLock<[Arc<dyn Wrapper>; 5]> = LazyLock::new(|| {
    [0, CHUNKED, GZIP, GZIP | CHUNKED, DEFLATE].map(|bits| Arc::new(Wrapping(bits)) as _)
});

/// The wrapper of a response body.
pub(super) fn of_body(chunked: bool, gzip: bool) -> Arc<dyn Wrapper> {
    WRAPPERS[usize::from(chunked) + 2 * usize::from(gzip)].clone()
}

/// The wrapper of WebSocket frames.
pub(super) fn of_frames(deflate: bool) -> Arc<dyn Wrapper> {
    WRAPPERS[if deflate { 4 } else { 0 }].clone()
}

impl Wrapper for Wrapping {
    fn framing(&self, inner: Arc<dyn Framing>) -> Arc<dyn Framing> {
        match self.0 {
            0 => inner,
            _ => Arc::new(Wrapped {
                inner,
                wrapping: *self,
            }),
        }
    }

    fn bytes(&self, inner: &[u8], out: &mut Vec<u8>) {
        match self.0 {
            // An empty chunk would end the body.
            _ if inner.is_empty() => {}
            CHUNKED => chunk(inner, out),
            GZIP => gzip(inner, out),
            DEFLATE => deflate_frames(inner, out),
            0 => out.extend_from_slice(inner),
            _ => PIECE.with_borrow_mut(|piece| {
                piece.clear();
                piece.shrink_to(SCRATCH_BYTES_MAX);
                gzip(inner, piece);
                chunk(piece, out);
            }),
        }
    }
}

struct Wrapped {
    inner: Arc<dyn Framing>,
    wrapping: Wrapping,
}

impl Framing for Wrapped {
    fn key(&self) -> FramingKey {
        let (name, options) = self.inner.key();
        (name, options | self.wrapping.0)
    }

    fn reads_payload(&self) -> bool {
        self.inner.reads_payload()
    }

    fn reads_past(&self, items: &[Item]) -> bool {
        self.inner.reads_past(items)
    }

    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        self.wrap(out, |bytes| self.inner.frame(frame, bytes));
    }

    fn end(&self, cursor: Cursor, out: &mut Vec<u8>) {
        self.wrap(out, |bytes| self.inner.end(cursor, bytes));
    }
}

impl Wrapped {
    fn wrap(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        FRAME.with_borrow_mut(|bytes| {
            bytes.clear();
            write(bytes);
            self.wrapping.bytes(bytes, out);
            bytes.shrink_to(SCRATCH_BYTES_MAX);
        });
    }
}

/// Appends bytes as one chunk (RFC 9112 section 7.1).
pub(super) fn chunk(bytes: &[u8], out: &mut Vec<u8>) {
    let (line, length) = chunk_line(bytes.len());
    out.extend_from_slice(&line[..length]);
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends bytes as blocks of a gzip member; small ones as a stored block (RFC 1951 section 3.2.4).
fn gzip(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.len() >= COMPRESS_MESSAGE_BYTES_MIN {
        return DEFLATER.with_borrow_mut(|deflate| deflate.piece(bytes, out));
    }
    let length = bytes.len() as u16;
    out.push(0);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Rewrites whole unmasked frames with their messages deflated (RFC 7692 section 6.1); control frames
/// and small messages stay as they are.
fn deflate_frames(mut frames: &[u8], out: &mut Vec<u8>) {
    while let Ok(Some((mut header, at))) = Header::read(frames) {
        let end = (at + header.length as usize).min(frames.len());
        let payload = &frames[at..end];
        if header.opcode.is_control() || payload.len() < COMPRESS_MESSAGE_BYTES_MIN {
            out.extend_from_slice(&frames[..end]);
        } else {
            PIECE.with_borrow_mut(|piece| {
                piece.clear();
                piece.shrink_to(SCRATCH_BYTES_MAX);
                DEFLATER.with_borrow_mut(|deflate| deflate_message(deflate, payload, piece));
                header.rsv1 = true;
                header.length = piece.len() as u64;
                header.write(out);
                out.extend_from_slice(piece);
            });
        }
        frames = &frames[end..];
    }
}
