//! Frames (section 4.2.3): type, channel, size, payload, end.

use super::reader::Fault;
use alloc::vec::Vec;

/// What a client sends first (section 4.2.2).
pub const PROTOCOL_HEADER: [u8; 8] = *b"AMQP\x00\x00\x09\x01";
/// What every peer takes before another size is agreed upon, bytes (section 4.2.3, `frame-min-size`).
pub const FRAME_BYTES_MIN: u32 = 4096;
/// Type, channel, size.
const HEAD_BYTES: usize = 7;
/// The byte behind every frame (section 4.2.3).
const END: u8 = 0xCE;

/// The type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameKind(pub u8);

impl FrameKind {
    /// A method.
    pub const METHOD: Self = Self(1);
    /// What stands before content.
    pub const HEADER: Self = Self(2);
    /// Content, or a part of it.
    pub const BODY: Self = Self(3);
    /// That the peer is there.
    pub const HEARTBEAT: Self = Self(8);
}

/// A whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its type.
    pub kind: FrameKind,
    /// Its channel.
    pub channel: u16,
    /// What it holds.
    pub payload: &'a [u8],
}

/// The first frame and its length, or nothing while it is not whole.
pub fn frame(bytes: &[u8], bytes_max: u32) -> Result<Option<(Frame<'_>, usize)>, Fault> {
    if bytes.starts_with(b"AMQP") {
        return Err(Fault::new(
            0,
            "the peer answers with a protocol header: it speaks another version than 0.9.1",
        ));
    }
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
        return Ok(None);
    };
    let [kind, c0, c1, s0, s1, s2, s3] = *head;
    let size = u32::from_be_bytes([s0, s1, s2, s3]);
    // The size that is agreed upon counts head and end (section 1.4.2.6, tune.frame-max).
    if size > bytes_max.saturating_sub(HEAD_BYTES as u32 + 1) {
        return Err(Fault::new(3, "a frame is larger than was agreed upon"));
    }
    let size = size as usize;
    if rest.len() <= size {
        return Ok(None);
    }
    if rest[size] != END {
        return Err(Fault::new(
            HEAD_BYTES + size,
            "a frame does not end with 0xCE",
        ));
    }
    let frame = Frame {
        kind: FrameKind(kind),
        channel: u16::from_be_bytes([c0, c1]),
        payload: &rest[..size],
    };
    Ok(Some((frame, HEAD_BYTES + size + 1)))
}

/// Writes a frame around what a function writes.
pub fn write_frame(
    kind: FrameKind,
    channel: u16,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) {
    out.push(kind.0);
    out.extend_from_slice(&channel.to_be_bytes());
    let size_at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let size = (out.len() - size_at - 4) as u32;
    out[size_at..size_at + 4].copy_from_slice(&size.to_be_bytes());
    out.push(END);
}

/// Writes a heartbeat (section 4.2.7).
pub fn write_heartbeat(out: &mut Vec<u8>) {
    write_frame(FrameKind::HEARTBEAT, 0, out, |_| ());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_frame_comes_back_as_it_was_and_a_part_of_it_is_none() {
        let mut bytes = Vec::new();
        write_frame(FrameKind::BODY, 7, &mut bytes, |out| {
            out.extend_from_slice(b"abc")
        });
        write_heartbeat(&mut bytes);
        for end in 0..11 {
            assert_eq!(frame(&bytes[..end], FRAME_BYTES_MIN), Ok(None), "{end}");
        }
        let (first, length) = frame(&bytes, FRAME_BYTES_MIN).unwrap().unwrap();
        assert_eq!(
            (first.kind, first.channel, first.payload),
            (FrameKind::BODY, 7, &b"abc"[..])
        );
        let (second, _) = frame(&bytes[length..], FRAME_BYTES_MIN).unwrap().unwrap();
        assert_eq!(
            (second.kind, second.payload.len()),
            (FrameKind::HEARTBEAT, 0)
        );
    }

    #[test]
    fn a_frame_that_is_too_large_is_refused_by_its_byte() {
        assert_eq!(
            frame(&[1, 0, 0, 0, 1, 0, 0], FRAME_BYTES_MIN)
                .unwrap_err()
                .offset,
            3
        );
        assert_eq!(
            frame(&[8, 0, 0, 0, 0, 0, 0, 0xCD], 4096)
                .unwrap_err()
                .offset,
            7
        );
        assert!(frame(b"AMQP\x03\x01\x00\x00", 4096).is_err());
    }
}
