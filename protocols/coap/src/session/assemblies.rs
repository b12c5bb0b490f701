//! Bodies of requests that arrive in blocks (RFC 7959 section 2.5, RFC 9175 section 3).

use super::ids::Address;
use super::recent::Recent;
use crate::limits::{ASSEMBLY_TIME_MAX, Limits};
use crate::wire::{Block, Code, Message, Number, Options};
use alloc::vec::Vec;
use bytes::Bytes;
use weir_sansio::Instant;

/// What tells one body from another: who sends it, what is asked, and every option that is part of
/// the cache key, the Request-Tag among them (RFC 9175 section 3.3).
pub(super) type Key<A> = (A, Code, Options);

/// The key of a body that arrives.
// [RFC7959-2.5-3] [RFC7959-2.8-1] [RFC9175-3.3-1]
pub(super) fn key_of<A>(peer: A, code: Code, options: &Options) -> Key<A> {
    let apart = [
        Number::BLOCK1,
        Number::BLOCK2,
        Number::OBSERVE,
        Number::HOP_LIMIT,
    ];
    let kept = |number: Number| !number.is_no_cache_key() && !apart.contains(&number);
    (peer, code, options.filtered(kept))
}

/// What became of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Assembled {
    /// It was the last: the whole body.
    Whole(Bytes),
    /// It is to be answered at once.
    Answer(Message),
}

#[derive(Clone, Debug)]
pub(super) struct Assemblies<A> {
    recent: Recent<Key<A>, Vec<u8>>,
}

impl<A: Address> Assemblies<A> {
    pub(super) fn new() -> Self {
        Self {
            recent: Recent::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.recent.len() == 0
    }

    pub(super) fn bytes(&self) -> usize {
        self.recent.bytes()
    }

    // [RFC7959-2.5-5]
    pub(super) fn expire(&mut self, now: Instant) {
        self.recent.expire(now, ASSEMBLY_TIME_MAX);
    }

    /// Takes a block of a body.
    // [RFC7959-2.5-4] [RFC7959-7-1]
    pub(super) fn take(
        &mut self,
        now: Instant,
        key: Key<A>,
        block: Block,
        message: &Message,
        limits: &Limits,
    ) -> Assembled {
        if let Err(answer) = check(block, message, limits) {
            self.recent.remove(&key);
            return Assembled::Answer(answer);
        }
        let payload = &message.payload;
        if block.number == 0 {
            return if block.more {
                self.recent.put(now, key, payload.to_vec(), payload.len());
                self.recent.shrink(limits.assemblies, limits.assembly_bytes);
                Assembled::Answer(proceed(block))
            } else {
                self.recent.remove(&key);
                Assembled::Whole(payload.clone())
            };
        }
        self.append(now, key, block, payload, limits)
    }

    // [RFC7959-2.5-1] [RFC7959-2.9.2-1] [RFC7959-2.9.3-1] [RFC7959-2.3-2]
    fn append(
        &mut self,
        now: Instant,
        key: Key<A>,
        block: Block,
        payload: &Bytes,
        limits: &Limits,
    ) -> Assembled {
        let Some(body) = self.recent.touch(now, &key) else {
            let reason = "the blocks before this one are not here: begin again";
            return Assembled::Answer(incomplete(reason));
        };
        if body.len() != block.offset() {
            let reason = alloc::format!("the next block begins at byte {}", body.len());
            return Assembled::Answer(incomplete(&reason));
        }
        if body.len() + payload.len() > limits.body_bytes {
            self.recent.remove(&key);
            return Assembled::Answer(too_large(limits));
        }
        body.extend_from_slice(payload);
        if !block.more {
            let body = self.recent.remove(&key).unwrap_or_default();
            return Assembled::Whole(body.into());
        }
        self.recent.grow(&key, payload.len());
        self.recent.shrink(limits.assemblies, limits.assembly_bytes);
        Assembled::Answer(proceed(block))
    }
}

/// A block that is not what it says.
// [RFC7959-2.2-1] [RFC7959-2.2-2]
fn check(block: Block, message: &Message, limits: &Limits) -> Result<(), Message> {
    let length = message.payload.len();
    let bert = block.exponent == Block::BERT;
    let fits = match (block.more, bert) {
        (true, false) => length == block.size(),
        (true, true) => length > 0 && length.is_multiple_of(block.size()),
        (false, false) => length <= block.size(),
        (false, true) => true,
    };
    if !fits {
        let reason = alloc::format!(
            "a block of {} bytes where {} were announced",
            length,
            block.size()
        );
        return Err(Message::diagnostic(Code::BAD_REQUEST, &reason));
    }
    let announced = message.options.uint(Number::SIZE1).unwrap_or(0) as usize;
    if announced.max(length) > limits.body_bytes {
        Err(too_large(limits))
    } else {
        Ok(())
    }
}

/// 2.31: the next block, please.
// [RFC7959-2.9.1-1]
fn proceed(block: Block) -> Message {
    let mut message = Message::new(Code::CONTINUE);
    message.options.push_uint(Number::BLOCK1, block.value());
    message
}

fn incomplete(reason: &str) -> Message {
    Message::diagnostic(Code::REQUEST_ENTITY_INCOMPLETE, reason)
}

/// 4.13, with the largest body that would be taken (RFC 7959 section 4).
// [RFC7252-5.9.2.9-1]
pub(super) fn too_large(limits: &Limits) -> Message {
    let reason = alloc::format!("a body has at most {} bytes", limits.body_bytes);
    let mut message = Message::diagnostic(Code::REQUEST_ENTITY_TOO_LARGE, &reason);
    message
        .options
        .push_uint(Number::SIZE1, limits.body_bytes as u32);
    message
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::vec;

    struct Sender {
        assemblies: Assemblies<u32>,
        limits: Limits,
        options: Options,
        peer: u32,
    }

    impl Sender {
        fn new() -> Self {
            let mut options = Options::new();
            options.push(Number::URI_PATH, b"a");
            Self {
                assemblies: Assemblies::new(),
                limits: Limits::default(),
                options,
                peer: 1,
            }
        }

        fn send(&mut self, number: u32, more: bool, payload: &[u8]) -> Assembled {
            let block = Block {
                number,
                more,
                exponent: 0,
            };
            let mut message = Message::new(Code::PUT).with_payload(payload.to_vec());
            message.options = self.options.clone();
            let key = key_of(self.peer, Code::PUT, &self.options);
            self.assemblies
                .take(Instant::START, key, block, &message, &self.limits)
        }

        fn code(&mut self, number: u32, more: bool, payload: &[u8]) -> Code {
            match self.send(number, more, payload) {
                Assembled::Answer(message) => message.code,
                Assembled::Whole(_) => Code::CHANGED,
            }
        }
    }

    /// [RFC7959-2.5-1] [RFC7959-2.9.1-1] [RFC7959-2.3-2]
    #[test]
    fn blocks_in_order_become_the_body() {
        let mut sender = Sender::new();
        let Assembled::Answer(first) = sender.send(0, true, &[1; 16]) else {
            panic!("more follow");
        };
        assert_eq!(first.code, Code::CONTINUE);
        assert_eq!(first.options.uint(Number::BLOCK1), Some(8));
        assert_eq!(sender.code(1, true, &[2; 16]), Code::CONTINUE);
        let whole = [vec![1; 16], vec![2; 16], vec![3; 5]].concat();
        assert_eq!(
            sender.send(2, false, &[3; 5]),
            Assembled::Whole(whole.into())
        );
        assert!(sender.assemblies.is_empty());
    }

    /// [RFC7959-2.9.2-1]
    #[test]
    fn a_block_that_is_not_the_next_is_incomplete() {
        let mut sender = Sender::new();
        assert_eq!(
            sender.code(1, true, &[0; 16]),
            Code::REQUEST_ENTITY_INCOMPLETE
        );
        sender.code(0, true, &[0; 16]);
        assert_eq!(
            sender.code(2, true, &[0; 16]),
            Code::REQUEST_ENTITY_INCOMPLETE
        );
        assert_eq!(sender.code(1, true, &[0; 16]), Code::CONTINUE);
        assert_eq!(
            sender.code(1, true, &[0; 16]),
            Code::REQUEST_ENTITY_INCOMPLETE
        );
    }

    /// [RFC7959-2.2-1] [RFC7959-2.2-2]
    #[test]
    fn a_block_of_another_size_than_it_says_is_a_bad_request() {
        let mut sender = Sender::new();
        assert_eq!(sender.code(0, true, &[0; 15]), Code::BAD_REQUEST);
        assert_eq!(sender.code(0, true, &[0; 17]), Code::BAD_REQUEST);
        assert_eq!(sender.code(0, false, &[0; 17]), Code::BAD_REQUEST);
        assert!(sender.assemblies.is_empty());
    }

    /// [RFC7959-2.5-3] [RFC7959-2.8-1] [RFC9175-3.3-1]
    #[test]
    fn bodies_of_other_peers_resources_and_tags_are_apart() {
        let mut sender = Sender::new();
        sender.code(0, true, &[0; 16]);
        sender.peer = 2;
        assert_eq!(
            sender.code(1, false, &[0; 1]),
            Code::REQUEST_ENTITY_INCOMPLETE
        );
        sender.peer = 1;
        sender.options.push(Number::REQUEST_TAG, &[1]);
        assert_eq!(
            sender.code(1, false, &[0; 1]),
            Code::REQUEST_ENTITY_INCOMPLETE
        );
        sender.options.remove(Number::REQUEST_TAG);
        sender.options.push_uint(Number::SIZE1, 17);
        assert_eq!(sender.code(1, false, &[0; 1]), Code::CHANGED);
    }

    /// [RFC7959-2.9.3-1] [RFC7252-5.9.2.9-1]
    #[test]
    fn a_body_too_large_is_refused_when_announced_and_when_it_grows() {
        let mut sender = Sender::new();
        sender.limits.body_bytes = 40;
        sender.code(0, true, &[0; 16]);
        sender.code(1, true, &[0; 16]);
        let Assembled::Answer(refused) = sender.send(2, true, &[0; 16]) else {
            panic!("too large");
        };
        assert_eq!(refused.code, Code::REQUEST_ENTITY_TOO_LARGE);
        assert_eq!(refused.options.uint(Number::SIZE1), Some(40));
        sender.options.push_uint(Number::SIZE1, 41);
        assert_eq!(
            sender.code(0, true, &[0; 16]),
            Code::REQUEST_ENTITY_TOO_LARGE
        );
        assert!(sender.assemblies.is_empty());
    }

    /// [RFC7959-2.5-5] [RFC7959-7-1]
    #[test]
    fn no_more_bodies_are_kept_than_allowed_and_none_for_ever() {
        let mut sender = Sender::new();
        sender.limits.assemblies = 10;
        sender.limits.assembly_bytes = 100;
        for peer in 0..1000 {
            sender.peer = peer;
            sender.code(0, true, &[0; 16]);
        }
        assert_eq!(sender.assemblies.recent.len(), 6);
        assert_eq!(sender.code(1, false, &[0; 1]), Code::CHANGED);
        sender.assemblies.expire(Instant::START + ASSEMBLY_TIME_MAX);
        assert!(sender.assemblies.is_empty());
    }
}
