//! How a message is wrapped for a protocol, once for all who want it so.

use crate::message::Item;
use bytes::Bytes;
use weir_codec::Format;
use weir_model::Cursor;
use weir_storage::Gap;

/// Wraps encoded messages; a group's subscribers share the outcome.
pub trait Framing: Send + Sync {
    /// What tells this framing from every other: the protocol's name for it and its options.
    fn key(&self) -> FramingKey;

    /// Appends a frame.
    fn frame(&self, frame: &Frame<'_>, out: &mut Vec<u8>);

    /// Says whether a frame tells how long its message is good for yet: such a frame, of a message that
    /// expires, is made for each who takes it at the time when it is taken.
    fn ages(&self) -> bool {
        false
    }

    /// Says whether it writes the payload; what only looks at the message need not have one encoded.
    fn reads_payload(&self) -> bool {
        true
    }

    /// Says whether framing these reads of the past: then whoever takes them has it done where that holds up
    /// nobody ([`crate::Next::Unframed`]).
    fn reads_past(&self, _items: &[Item]) -> bool {
        false
    }

    /// Appends what ends a batch of frames that travel together, the last of them at this cursor.
    fn end(&self, _cursor: Cursor, _out: &mut Vec<u8>) {}
}

/// Name of a framing and its options as bits; two framings with one key yield the same bytes.
pub type FramingKey = (&'static str, u32);

/// What is to be wrapped.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Format of the payload.
    pub format: &'static Format,
    /// The encoded message, or what raw readers get: its bytes as published, all of them even where only
    /// a part is due. `None` where only the cursor or a gap is to be told.
    pub payload: Option<&'a [u8]>,
    /// Position after this message.
    pub cursor: Cursor,
    /// What is missing before this message.
    pub gap: Option<Gap>,
    /// The message and what of it is due, where there is a payload.
    pub item: Option<&'a Item>,
}

/// Appends messages in a format (or, raw, as published), framed, as one batch.
pub(crate) fn frame_batch(
    items: &[Item],
    format: &'static Format,
    raw: bool,
    framing: &dyn Framing,
    out: &mut Vec<u8>,
) {
    let mut last = Cursor::START;
    for item in items {
        let payload = match raw && item.message.is_as_published() {
            _ if !framing.reads_payload() => Bytes::new(),
            true => item.message.body.clone(),
            false => item.encoded(format),
        };
        last = item.message.cursor;
        let frame = Frame {
            format,
            payload: Some(&payload),
            cursor: last,
            gap: None,
            item: Some(item),
        };
        framing.frame(&frame, out);
    }
    framing.end(last, out);
}
