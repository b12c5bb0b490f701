//! A request of ours: its body in blocks, the response's body in blocks, notifications
//! (RFC 7959 sections 2.4 and 2.5, RFC 7641 section 3).
//!
//! What it deliberately does not do: send anything. It says which message is next, and takes what
//! came back, so that it serves datagrams and streams alike.

use crate::limits::{Limits, RESTARTS_MAX};
use crate::wire::{Block, Code, Message, Number, Token};
use alloc::vec::Vec;
use core::fmt;
use weir_sansio::{Duration, Instant};

/// Why a request of ours failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No acknowledgement or response in time.
    TimedOut,
    /// The peer rejected the message.
    Reset,
    /// The response cannot be understood: a critical option, or blocks that do not fit.
    Misbehaved,
    /// The response's body is larger than what is taken.
    TooLarge,
    /// The connection is over.
    Closed,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Failure::TimedOut => "no answer in time",
            Failure::Reset => "the peer rejected the message",
            Failure::Misbehaved => "the answer cannot be understood",
            Failure::TooLarge => "the answer is too large",
            Failure::Closed => "the connection is over",
        })
    }
}

/// What is to be done after a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Send what [`Call::message`] says.
    Send,
    /// The request is over.
    Done(Message),
    /// A notification; more may follow.
    Notified(Message),
    /// A notification whose body continues: fetch the rest.
    Fetch(Message),
    /// It failed.
    Failed(Failure),
    /// Nothing: old or stray.
    Ignored,
}

/// How far a request is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// All of it went at once.
    Asked,
    /// Its body goes in blocks; so much is acknowledged.
    Sending { offset: usize },
    /// The response's body comes in blocks.
    Fetching,
}

/// The last notification (RFC 7641 section 3.4).
#[derive(Clone, Copy, Debug)]
struct Last {
    number: u32,
    at: Instant,
}

/// A request of ours.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) token: Token,
    request: Message,
    phase: Phase,
    exponent: u8,
    received: Vec<u8>,
    first: Option<Message>,
    restarts: u8,
    last: Option<Last>,
    pub(super) observes: bool,
    /// Whether the transport may reorder notifications.
    ordered: bool,
}

/// What a transport can carry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carriage {
    /// Size exponent of the largest block.
    pub(super) exponent: u8,
    /// Bodies up to here go whole, bytes.
    pub(super) whole_bytes: usize,
    /// Whether messages arrive in the order sent.
    pub(super) ordered: bool,
}

impl Call {
    pub(super) fn new(request: Message, token: Token, carriage: Carriage) -> Self {
        let observes = request.options.uint(Number::OBSERVE) == Some(0);
        let phase = if request.payload.len() > carriage.whole_bytes {
            Phase::Sending { offset: 0 }
        } else {
            Phase::Asked
        };
        Self {
            token,
            request,
            phase,
            exponent: carriage.exponent,
            received: Vec::new(),
            first: None,
            restarts: 0,
            last: None,
            observes,
            ordered: carriage.ordered,
        }
    }

    /// A call that fetches the rest of a body whose first block came.
    pub(super) fn rest_of(&self, token: Token, first: Message) -> Self {
        let mut request = self.request.clone();
        request.options.remove(Number::OBSERVE);
        Self {
            token,
            request,
            phase: Phase::Fetching,
            received: first.payload.to_vec(),
            first: Some(first),
            restarts: 0,
            last: None,
            observes: false,
            ..self.clone()
        }
    }

    /// Says whether the request's body goes in blocks.
    pub(super) fn is_sending(&self) -> bool {
        matches!(self.phase, Phase::Sending { .. })
    }

    /// Tells this body from others to the same resource (RFC 9175 section 3.3).
    pub(super) fn set_tag(&mut self, tag: u32) {
        self.request.options.set_uint(Number::REQUEST_TAG, tag);
    }

    /// What may be observed no longer: asked again, with the same token (RFC 7641 section 3.3.1).
    // [RFC7641-3.3.1-2]
    pub(super) fn again(&mut self) -> Message {
        self.phase = Phase::Asked;
        self.received.clear();
        self.message()
    }

    /// Says that the notifications are not wanted any more (RFC 7641 section 3.6).
    pub(super) fn deregistration(&self) -> Message {
        let mut message = self.request.clone();
        message.token = self.token;
        message.options.set_uint(Number::OBSERVE, 1);
        message
    }

    /// The next message to send.
    // [RFC7959-4-2]
    pub(super) fn message(&self) -> Message {
        let mut message = self.request.clone();
        message.token = self.token;
        match self.phase {
            Phase::Asked => {}
            Phase::Sending { offset } => {
                let mut block = Block::at(offset, self.exponent);
                let end = self.request.payload.len().min(offset + block.size());
                block.more = end < self.request.payload.len();
                message.payload = self.request.payload.slice(offset..end);
                message.options.set_uint(Number::BLOCK1, block.value());
                if offset == 0 {
                    let size = self.request.payload.len() as u32;
                    message.options.set_uint(Number::SIZE1, size);
                }
            }
            Phase::Fetching => {
                let block = Block::at(self.received.len(), self.exponent);
                message.payload.clear();
                message.options.remove(Number::OBSERVE);
                message.options.set_uint(Number::BLOCK2, block.value());
            }
        }
        message
    }

    /// Takes a response.
    pub(super) fn take(&mut self, now: Instant, response: Message, limits: &Limits) -> Step {
        if let Some(step) = self.echo(&response) {
            return step;
        }
        if let Phase::Sending { offset } = self.phase {
            let block = response.options.uint(Number::BLOCK1).map(Block::of);
            if let Some(step) = self.sent(offset, block, &response) {
                return step;
            }
        }
        if self.observes && self.phase != Phase::Fetching {
            return self.notified(now, response);
        }
        self.fetched(response, limits)
    }

    /// The peer wants to know whether the address is ours (RFC 9175 section 2.3).
    // [RFC7252-5.9.2.2-1] [RFC9175-2.3-1]
    fn echo(&mut self, response: &Message) -> Option<Step> {
        let value = response.options.first(Number::ECHO)?;
        let asked = response.code == Code::UNAUTHORIZED && self.restarts < RESTARTS_MAX;
        self.request.options.set(Number::ECHO, value);
        if !asked {
            return None;
        }
        self.restarts += 1;
        Some(Step::Send)
    }

    /// A block of the request's body was answered; none where the answer is the final one.
    // [RFC7959-2.5-2] [RFC7959-2.3-1]
    fn sent(&mut self, offset: usize, block: Option<Block>, response: &Message) -> Option<Step> {
        let smaller = block.filter(|block| block.exponent < self.exponent);
        match response.code {
            Code::CONTINUE => {
                let size = Block::at(0, self.exponent).size();
                let next = offset + size.min(self.request.payload.len() - offset);
                if next >= self.request.payload.len() {
                    return Some(Step::Failed(Failure::Misbehaved));
                }
                if let Some(block) = smaller {
                    self.exponent = block.exponent;
                }
                self.phase = Phase::Sending { offset: next };
                Some(Step::Send)
            }
            Code::REQUEST_ENTITY_TOO_LARGE if offset == 0 && smaller.is_some() => {
                self.exponent = smaller?.exponent;
                Some(Step::Send)
            }
            Code::REQUEST_ENTITY_INCOMPLETE if offset > 0 && self.restarts < RESTARTS_MAX => {
                self.restarts += 1;
                self.phase = Phase::Sending { offset: 0 };
                Some(Step::Send)
            }
            _ => {
                self.phase = Phase::Asked;
                None
            }
        }
    }

    /// An answer to a registration, or a notification.
    // [RFC7641-3.2-1] [RFC7641-3.4-1] [RFC7641-3.4-2] [RFC8323-7-1]
    fn notified(&mut self, now: Instant, response: Message) -> Step {
        let number = response.options.uint(Number::OBSERVE);
        let Some(number) = number.filter(|_| response.code.is_success()) else {
            self.observes = false;
            return if begins_blocks(&response) {
                Step::Fetch(response)
            } else {
                Step::Done(response)
            };
        };
        if !self.ordered && self.last.is_some_and(|last| !is_newer(last, number, now)) {
            return Step::Ignored;
        }
        self.last = Some(Last { number, at: now });
        if begins_blocks(&response) {
            Step::Fetch(response)
        } else {
            Step::Notified(response)
        }
    }

    /// A response, whole or a block of it.
    // [RFC7959-2.4-6]
    fn fetched(&mut self, mut response: Message, limits: &Limits) -> Step {
        let block = response.options.uint(Number::BLOCK2).map(Block::of);
        let Some(block) = block.filter(|_| response.code.is_success()) else {
            return Step::Done(response);
        };
        if self.phase == Phase::Fetching && self.is_another_body(&response) {
            return self.restart();
        }
        // [RFC7959-2.4-4]
        if block.offset() != self.received.len() {
            return Step::Failed(Failure::Misbehaved);
        }
        if self.received.len() + response.payload.len() > limits.body_bytes {
            return Step::Failed(Failure::TooLarge);
        }
        self.received.extend_from_slice(&response.payload);
        if block.more {
            if response.payload.is_empty() {
                return Step::Failed(Failure::Misbehaved);
            }
            self.phase = Phase::Fetching;
            self.exponent = self.exponent.min(block.exponent);
            self.first.get_or_insert(response);
            return Step::Send;
        }
        if let Some(first) = self.first.take() {
            response = first;
        }
        response.options.remove(Number::BLOCK2);
        response.payload = core::mem::take(&mut self.received).into();
        Step::Done(response)
    }

    /// The body changed while it was fetched (RFC 7959 section 2.4).
    // [RFC7959-2.4-5]
    fn is_another_body(&self, response: &Message) -> bool {
        let tag = |message: &Message| message.options.first(Number::ETAG).map(<[u8]>::to_vec);
        let first = self.first.as_ref();
        first.is_some_and(|first| tag(first) != tag(response))
    }

    fn restart(&mut self) -> Step {
        if self.restarts >= RESTARTS_MAX {
            return Step::Failed(Failure::Misbehaved);
        }
        self.restarts += 1;
        self.received.clear();
        self.first = None;
        Step::Send
    }
}

fn begins_blocks(response: &Message) -> bool {
    let block = response.options.uint(Number::BLOCK2).map(Block::of);
    response.code.is_success() && block.is_some_and(|block| block.more)
}

/// After so long any notification is newer than one before (RFC 7641 section 3.4).
const REORDER_TIME: Duration = Duration::from_secs(128);

/// Says whether a notification was sent later than the last one (RFC 7641 section 3.4).
fn is_newer(last: Last, number: u32, now: Instant) -> bool {
    let ahead = number.wrapping_sub(last.number) & 0xff_ffff;
    (1..1 << 23).contains(&ahead) || now.since(last.at) > REORDER_TIME
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::vec;

    const DATAGRAMS: Carriage = Carriage {
        exponent: 6,
        whole_bytes: 1024,
        ordered: false,
    };
    const NOW: Instant = Instant::START;

    fn observation() -> Call {
        let mut request = Message::new(Code::GET);
        request.options.push_uint(Number::OBSERVE, 0);
        Call::new(request, Token::MIN, DATAGRAMS)
    }

    fn numbered(number: u32) -> Message {
        let mut message = Message::new(Code::CONTENT);
        message.options.push_uint(Number::OBSERVE, number);
        message
    }

    fn answer(code: Code, number: Number, block: Block) -> Message {
        let mut message = Message::new(code);
        message.options.push_uint(number, block.value());
        message
    }

    fn is_ignored(call: &mut Call, now: Instant, number: u32) -> bool {
        call.take(now, numbered(number), &Limits::default()) == Step::Ignored
    }

    /// [RFC7641-3.4-1] [RFC7641-3.4-2]
    #[test]
    fn an_older_notification_is_ignored_unless_the_last_is_long_ago() {
        let mut call = observation();
        assert!(!is_ignored(&mut call, NOW, 0xff_fffe));
        assert!(is_ignored(&mut call, NOW, 0xff_fffd));
        assert!(is_ignored(&mut call, NOW, 0xff_fffe));
        assert!(!is_ignored(&mut call, NOW, 3));
        assert!(is_ignored(&mut call, NOW + REORDER_TIME, 2));
        let later = NOW + REORDER_TIME + Duration::from_nanos(1);
        assert!(!is_ignored(&mut call, later, 2));
    }

    /// [RFC7641-3.2-1]
    #[test]
    fn an_answer_without_the_option_ends_the_observation() {
        for last in [
            Message::new(Code::CONTENT),
            Message {
                code: Code::NOT_FOUND,
                ..numbered(9)
            },
        ] {
            let mut call = observation();
            call.take(NOW, numbered(8), &Limits::default());
            let step = call.take(NOW, last.clone(), &Limits::default());
            assert_eq!(step, Step::Done(last));
            assert!(!call.observes);
        }
    }

    /// [RFC7641-3.3.1-2]
    #[test]
    fn an_observation_is_registered_again_and_ended_by_its_token() {
        let mut call = observation();
        call.token = Token::new(&[7]).unwrap();
        let again = call.again();
        assert_eq!(
            (again.token, again.options.uint(Number::OBSERVE)),
            (call.token, Some(0))
        );
        let end = call.deregistration();
        assert_eq!(
            (end.token, end.options.uint(Number::OBSERVE)),
            (call.token, Some(1))
        );
    }

    /// [RFC7959-2.5-2] [RFC7959-2.3-1] [RFC7959-4-2]
    #[test]
    fn a_large_body_goes_in_blocks_and_a_smaller_size_is_taken_up() {
        let request = Message::new(Code::PUT).with_payload(vec![5; 2500]);
        let mut call = Call::new(request, Token::MIN, DATAGRAMS);
        let first = call.message();
        assert_eq!(first.options.uint(Number::SIZE1), Some(2500));
        assert_eq!(first.options.uint(Number::BLOCK1), Some(0x0e));
        let smaller = answer(Code::CONTINUE, Number::BLOCK1, Block::of(0x0c));
        let limits = Limits::default();
        assert_eq!(call.take(NOW, smaller, &limits), Step::Send);
        let next = call.message();
        assert_eq!(
            Block::of(next.options.uint(Number::BLOCK1).unwrap()),
            Block::of(4 << 4 | 0xc)
        );
        assert_eq!(
            (next.payload.len(), next.options.uint(Number::SIZE1)),
            (256, None)
        );
        for number in 4..9 {
            let block = Block::of(number << 4 | 0xc);
            assert_eq!(
                call.take(NOW, answer(Code::CONTINUE, Number::BLOCK1, block), &limits),
                Step::Send
            );
        }
        let last = call.message();
        assert_eq!(
            (last.payload.len(), last.options.uint(Number::BLOCK1)),
            (2500 - 9 * 256, Some(0x94))
        );
        let done = answer(Code::CHANGED, Number::BLOCK1, Block::of(0x94));
        assert!(matches!(call.take(NOW, done, &limits), Step::Done(_)));
    }

    #[test]
    fn an_incomplete_body_is_sent_again_a_few_times() {
        let request = Message::new(Code::PUT).with_payload(vec![5; 2500]);
        let mut call = Call::new(request, Token::MIN, DATAGRAMS);
        let limits = Limits::default();
        for _ in 0..RESTARTS_MAX {
            call.take(
                NOW,
                answer(Code::CONTINUE, Number::BLOCK1, Block::of(0xe)),
                &limits,
            );
            let lost = Message::new(Code::REQUEST_ENTITY_INCOMPLETE);
            assert_eq!(call.take(NOW, lost, &limits), Step::Send);
            assert_eq!(call.message().options.uint(Number::BLOCK1), Some(0xe));
        }
        call.take(
            NOW,
            answer(Code::CONTINUE, Number::BLOCK1, Block::of(0xe)),
            &limits,
        );
        let lost = Message::new(Code::REQUEST_ENTITY_INCOMPLETE);
        assert!(matches!(call.take(NOW, lost, &limits), Step::Done(_)));
    }

    /// [RFC7959-2.4-4] [RFC7959-2.4-5] [RFC7959-2.4-6]
    #[test]
    fn a_response_in_blocks_is_put_together_if_of_one_body() {
        let limits = Limits::default();
        let part = |number: u32, more: bool, tag: u8| {
            let block = Block {
                number,
                more,
                exponent: 0,
            };
            let mut message = answer(Code::CONTENT, Number::BLOCK2, block);
            message.options.push(Number::ETAG, &[tag]);
            message.with_payload(vec![number as u8; if more { 16 } else { 3 }])
        };
        let mut call = Call::new(Message::new(Code::GET), Token::MIN, DATAGRAMS);
        assert_eq!(call.take(NOW, part(0, true, 1), &limits), Step::Send);
        assert_eq!(call.message().options.uint(Number::BLOCK2), Some(0x10));
        assert_eq!(call.take(NOW, part(1, true, 2), &limits), Step::Send);
        assert_eq!(call.message().options.uint(Number::BLOCK2), Some(0));
        assert_eq!(call.take(NOW, part(0, true, 2), &limits), Step::Send);
        let Step::Done(whole) = call.take(NOW, part(1, false, 2), &limits) else {
            panic!("the last block");
        };
        assert_eq!(whole.payload[..], [vec![0; 16], vec![1; 3]].concat());
        assert_eq!(whole.options.uint(Number::BLOCK2), None);
        let mut call = Call::new(Message::new(Code::GET), Token::MIN, DATAGRAMS);
        let stray = call.take(NOW, part(3, true, 2), &limits);
        assert_eq!(stray, Step::Failed(Failure::Misbehaved));
    }

    #[test]
    fn a_body_larger_than_what_is_taken_fails() {
        let limits = Limits {
            body_bytes: 20,
            ..Limits::default()
        };
        let mut call = Call::new(Message::new(Code::GET), Token::MIN, DATAGRAMS);
        let part = |number| {
            let block = Block {
                number,
                more: true,
                exponent: 0,
            };
            answer(Code::CONTENT, Number::BLOCK2, block).with_payload(vec![0; 16])
        };
        assert_eq!(call.take(NOW, part(0), &limits), Step::Send);
        assert_eq!(
            call.take(NOW, part(1), &limits),
            Step::Failed(Failure::TooLarge)
        );
    }

    /// [RFC7252-5.9.2.2-1] [RFC9175-2.3-1]
    #[test]
    fn a_challenge_is_sent_back() {
        let mut call = Call::new(Message::new(Code::GET), Token::MIN, DATAGRAMS);
        let mut challenge = Message::new(Code::UNAUTHORIZED);
        challenge.options.push(Number::ECHO, &[1, 2, 3]);
        assert_eq!(call.take(NOW, challenge, &Limits::default()), Step::Send);
        assert_eq!(
            call.message().options.first(Number::ECHO),
            Some(&[1, 2, 3][..])
        );
    }
}
