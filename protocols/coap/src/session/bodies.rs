//! Bodies of responses that leave in blocks (RFC 7959 section 2.4).

use super::assemblies::Key;
use super::ids::Address;
use super::recent::Recent;
use crate::limits::{BODY_TIME_MAX, Limits};
use crate::wire::{Block, Code, Message, Number, Options};
use weir_sansio::Instant;

/// The key of a body that leaves: requests for its further blocks are without the first one's payload
/// and what speaks of it, and do not register an observation again.
pub(super) fn key_of<A>(peer: A, code: Code, options: &Options) -> Key<A> {
    let apart = [
        Number::BLOCK1,
        Number::BLOCK2,
        Number::OBSERVE,
        Number::ETAG,
        Number::CONTENT_FORMAT,
        Number::HOP_LIMIT,
        Number::REQUEST_TAG,
    ];
    let kept = |number: Number| !number.is_no_cache_key() && !apart.contains(&number);
    (peer, code, options.filtered(kept))
}

/// What part of a body is asked for, and what may be sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The block asked for, where one is.
    pub(super) asked: Option<Block>,
    /// Whether the size is asked for (RFC 7959 section 4).
    pub(super) size: bool,
    /// Size exponent of the largest block sent.
    pub(super) exponent: u8,
    /// Bodies up to here go whole, bytes; so much of them goes in a message of BERT.
    pub(super) whole_bytes: usize,
}

impl Cut {
    /// Over datagrams a body that is no larger than a block goes whole.
    // [RFC7252-4.6-1]
    pub(super) fn of_datagrams(asked: Option<Block>, size: bool, exponent: u8) -> Self {
        Self {
            asked,
            size,
            exponent,
            whole_bytes: Block::at(0, exponent).size(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Bodies<A> {
    recent: Recent<Key<A>, Message>,
}

impl<A: Address> Bodies<A> {
    pub(super) fn new() -> Self {
        Self {
            recent: Recent::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.recent.len() == 0
    }

    pub(super) fn expire(&mut self, now: Instant) {
        self.recent.expire(now, BODY_TIME_MAX);
    }

    /// A further block of a body whose first went out before; none where it is not kept.
    pub(super) fn further(
        &mut self,
        now: Instant,
        key: &Key<A>,
        asked: Block,
        cut: Cut,
    ) -> Option<Message> {
        let body = self.recent.touch(now, key)?;
        Some(slice(body, asked, cut))
    }

    /// The response as it goes out: whole, or the block asked for; then the rest is kept.
    // [RFC7959-2.4-1] [RFC7959-2.4-2]
    pub(super) fn cut(
        &mut self,
        now: Instant,
        key: impl FnOnce() -> Key<A>,
        cut: Cut,
        mut response: Message,
        limits: &Limits,
    ) -> Message {
        let length = response.payload.len();
        let asked = cut.asked.unwrap_or(Block::at(0, cut.exponent));
        let limit = match cut.asked {
            Some(block) => cut.whole_bytes.min(piece_bytes(block, cut)),
            None => cut.whole_bytes,
        };
        if length <= limit && asked.number == 0 {
            if cut.asked.is_some() {
                let block = Block::at(0, asked.exponent.min(cut.exponent));
                response.options.set_uint(Number::BLOCK2, block.value());
            }
            if cut.size {
                response.options.set_uint(Number::SIZE2, length as u32);
            }
            return response;
        }
        tag(&mut response);
        let sent = slice(&response, asked, cut);
        // Further blocks are no notifications (RFC 7959 section 3.4).
        response.options.remove(Number::OBSERVE);
        self.recent.put(now, key(), response, length);
        self.recent.shrink(limits.bodies, limits.bodies_bytes);
        sent
    }
}

/// A body in blocks needs an entity tag, so that blocks of different bodies are not mixed.
// [RFC7959-2.4-3]
fn tag(response: &mut Message) {
    if response.code == Code::CONTENT && response.options.first(Number::ETAG).is_none() {
        let hash = response
            .payload
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        response
            .options
            .push(Number::ETAG, &((hash >> 32 ^ hash) as u32).to_be_bytes());
    }
}

/// Bytes of a block; of BERT, as many blocks of 1,024 bytes as go (RFC 8323 section 6).
// [RFC8323-6-1]
fn piece_bytes(block: Block, cut: Cut) -> usize {
    match block.exponent {
        Block::BERT => (cut.whole_bytes / block.size()).max(1) * block.size(),
        _ => block.size(),
    }
}

/// The block asked for, in blocks no larger than may be.
// [RFC7959-2.4-7] [RFC7959-2.4-8] [RFC7959-4-1]
fn slice(body: &Message, asked: Block, cut: Cut) -> Message {
    let offset = asked.offset();
    let length = body.payload.len();
    if offset >= length && offset > 0 {
        let reason = alloc::format!(
            "the body ends at byte {length}, before block {}",
            asked.number
        );
        return Message::diagnostic(Code::BAD_REQUEST, &reason);
    }
    let mut block = Block::at(offset, asked.exponent.min(cut.exponent));
    let end = length.min(offset + piece_bytes(block, cut));
    block.more = end < length;
    let mut sent = Message {
        payload: body.payload.slice(offset..end),
        ..body.clone()
    };
    sent.options.set_uint(Number::BLOCK2, block.value());
    if cut.size {
        sent.options.set_uint(Number::SIZE2, length as u32);
    }
    sent
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::vec::Vec;

    fn body(length: usize) -> Message {
        let bytes: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
        Message::new(Code::CONTENT).with_payload(bytes)
    }

    fn block(number: u32, exponent: u8) -> Block {
        Block {
            number,
            more: false,
            exponent,
        }
    }

    fn cut(bodies: &mut Bodies<u8>, asked: Option<Block>, response: Message) -> Message {
        let how = Cut::of_datagrams(asked, false, 6);
        let key = || (1, Code::GET, Options::new());
        bodies.cut(Instant::START, key, how, response, &Limits::default())
    }

    fn block2(message: &Message) -> Block {
        Block::of(message.options.uint(Number::BLOCK2).unwrap())
    }

    /// [RFC7959-2.4-1] [RFC7959-2.4-3] [RFC7959-2.4-8] [RFC7959-4-1]
    #[test]
    fn a_large_body_leaves_in_blocks_as_asked_with_a_tag() {
        let mut bodies = Bodies::new();
        let first = cut(&mut bodies, Some(block(0, 2)), body(150));
        assert_eq!((first.payload.len(), block2(&first).value()), (64, 0x0a));
        let tag = first.options.first(Number::ETAG).unwrap().to_vec();
        let key = (1, Code::GET, Options::new());
        let how = Cut::of_datagrams(None, true, 6);
        let last = bodies
            .further(Instant::START, &key, block(2, 2), how)
            .unwrap();
        assert_eq!(last.payload[..], body(150).payload[128..]);
        assert_eq!(block2(&last).value(), 0x22);
        assert_eq!(last.options.first(Number::ETAG).unwrap(), tag);
        assert_eq!(last.options.uint(Number::SIZE2), Some(150));
        let beyond = bodies.further(Instant::START, &key, block(3, 2), how);
        assert_eq!(beyond.unwrap().code, Code::BAD_REQUEST);
    }

    /// [RFC7959-2.4-2]
    #[test]
    fn what_fits_goes_whole_and_says_so_where_blocks_were_asked_for() {
        let mut bodies = Bodies::new();
        assert_eq!(cut(&mut bodies, None, body(1024)), body(1024));
        let small = cut(&mut bodies, Some(block(0, 2)), body(64));
        assert_eq!((small.payload.len(), block2(&small).value()), (64, 2));
        assert!(bodies.is_empty());
        let late = cut(&mut bodies, None, body(1025));
        assert_eq!((late.payload.len(), block2(&late).value()), (1024, 0x0e));
    }

    /// [RFC7959-2.4-7]
    #[test]
    fn a_block_in_the_middle_can_be_asked_for_first() {
        let mut bodies = Bodies::new();
        let third = cut(&mut bodies, Some(block(2, 0)), body(40));
        assert_eq!((third.payload.len(), block2(&third).value()), (8, 0x20));
        let beyond = cut(&mut bodies, Some(block(3, 0)), body(40));
        assert_eq!(beyond.code, Code::BAD_REQUEST);
    }

    #[test]
    fn a_body_is_not_kept_for_ever() {
        let mut bodies = Bodies::new();
        cut(&mut bodies, None, body(2000));
        bodies.expire(Instant::START + BODY_TIME_MAX);
        assert!(bodies.is_empty());
    }
}
