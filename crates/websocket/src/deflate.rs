//! permessage-deflate (RFC 7692) without context takeover, so that many receivers can share the bytes.

use crate::reader::Failure;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// The marker that every deflated message ends with and that is not sent (RFC 7692 section 7.2.1).
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// What a client offers of permessage-deflate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer;

impl Offer {
    /// The answer to an offer: no context in either direction (RFC 7692 section 7.1.1).
    pub const ANSWER: &'static str =
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

    /// Finds an offer that can be taken in a `Sec-WebSocket-Extensions` field. One that limits the
    /// server's window is declined: messages are deflated once for all, with the full window. So is one with a
    /// parameter that is not known, has a value that it cannot have, or stands there twice (RFC 7692 section 7.1).
    pub fn find(extensions: &str) -> Option<Self> {
        let mut offers = extensions.split(',').map(|offer| offer.split(';'));
        offers.find_map(|mut parts| {
            let named = parts.next()?.trim() == "permessage-deflate";
            let mut known = [
                ("server_no_context_takeover", false),
                ("client_no_context_takeover", false),
                ("client_max_window_bits", false),
            ];
            let fits = parts.all(|part| {
                let (name, value) = match part.split_once('=') {
                    Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"'))),
                    None => (part.trim(), None),
                };
                let one = known.iter_mut().find(|(own, was)| *own == name && !was);
                let is_fit = match value {
                    None => true,
                    Some("8" | "9" | "10" | "11" | "12" | "13" | "14" | "15") => {
                        name == "client_max_window_bits"
                    }
                    Some(_) => false,
                };
                one.map(|one| one.1 = true).is_some() && is_fit
            });
            (named && fits).then_some(Self)
        })
    }
}

/// A deflater that forgets each message; one a thread suffices.
pub struct Deflate {
    state: Compress,
}

impl Default for Deflate {
    fn default() -> Self {
        Self {
            state: Compress::new(Compression::fast(), false),
        }
    }
}

impl Deflate {
    /// Appends one piece as raw deflate blocks that use nothing before them and end at a byte, with the
    /// empty stored block of a sync flush (RFC 1951 section 3.2.4).
    pub fn piece(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.state.reset();
        loop {
            let taken = self.state.total_in() as usize;
            out.reserve((bytes.len() - taken) / 2 + 64);
            let left = &bytes[taken..];
            let done = self.state.compress_vec(left, out, FlushCompress::Sync);
            let finished = self.state.total_in() as usize == bytes.len();
            if done.is_err() || (finished && out.len() < out.capacity()) {
                return;
            }
        }
    }
}

/// Appends a message deflated for one frame with bit RSV1: the flush's last four bytes are left out.
pub fn deflate_message(deflate: &mut Deflate, message: &[u8], out: &mut Vec<u8>) {
    deflate.piece(message, out);
    if out.ends_with(&TAIL) {
        out.truncate(out.len() - TAIL.len());
    }
}

/// A received message inflated, at most `bytes_max` long.
pub(super) fn inflate_message(deflated: &[u8], bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let mut state = Decompress::new(false);
    let mut out = Vec::with_capacity((deflated.len() * 4).clamp(64, bytes_max.max(64)));
    for input in [deflated, &TAIL] {
        inflate_into(&mut state, input, bytes_max, &mut out)?;
    }
    Ok(out)
}

/// Appends what `input` stands for. Also the tail can stand for bytes: it ends what a code began that was cut off.
fn inflate_into(
    state: &mut Decompress,
    input: &[u8],
    bytes_max: usize,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let start = state.total_in();
    loop {
        if out.len() == out.capacity() {
            out.reserve(out.len().max(64));
        }
        let taken = (state.total_in() - start) as usize;
        let status = state
            .decompress_vec(&input[taken..], out, FlushDecompress::Sync)
            .map_err(|_| Failure::protocol("a message that is not deflated"))?;
        if out.len() > bytes_max {
            return Err(Failure::TOO_BIG);
        }
        let all_taken = (state.total_in() - start) as usize == input.len();
        let has_room = out.len() < out.capacity();
        let waits = has_room && (all_taken || status == Status::BufError);
        if waits || status == Status::StreamEnd {
            return Ok(());
        }
    }
}
