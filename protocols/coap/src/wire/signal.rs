//! Signals of reliable transports: capabilities, ping and pong, release, abort (RFC 8323 section 5).

use super::code::Code;
use super::message::{Message, Token};
use super::option::Number;
use alloc::string::String;

const MAX_MESSAGE_SIZE: Number = Number(2);
const BLOCK_WISE_TRANSFER: Number = Number(4);
const CUSTODY: Number = Number(2);
const ALTERNATIVE_ADDRESS: Number = Number(2);
const HOLD_OFF: Number = Number(4);
const BAD_CSM_OPTION: Number = Number(2);

/// What a peer said it can take (RFC 8323 section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Largest message, bytes.
    pub message_bytes_max: u32,
    /// Whether bodies may come in blocks.
    pub block_wise: bool,
}

impl Default for Capabilities {
    /// Base values, before a peer said anything (RFC 8323 section 5.3.1).
    fn default() -> Self {
        Self {
            message_bytes_max: 1152,
            block_wise: false,
        }
    }
}

impl Capabilities {
    /// The message that says so.
    // [RFC8323-5.6-1]
    pub fn to_message(self) -> Message {
        let mut message = Message::new(Code::CSM);
        message
            .options
            .push_uint(MAX_MESSAGE_SIZE, self.message_bytes_max);
        if self.block_wise {
            message.options.push(BLOCK_WISE_TRANSFER, &[]);
        }
        message
    }

    /// Takes what another message says over what was said before (RFC 8323 section 5.3).
    // [RFC8323-5.3-2]
    fn take(&mut self, message: &Message) -> Result<(), Number> {
        for option in message.options.iter() {
            match option.number {
                MAX_MESSAGE_SIZE => self.message_bytes_max = option.uint(),
                BLOCK_WISE_TRANSFER => self.block_wise = true,
                unknown if unknown.is_critical() => return Err(unknown),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Why a connection is given up at once (RFC 8323 section 5.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abort {
    /// The option that was not understood, where that is why.
    pub bad_option: Option<Number>,
    /// Why, in words.
    pub reason: String,
}

impl Abort {
    /// Giving up for this reason.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            bad_option: None,
            reason: reason.into(),
        }
    }

    /// The message that says so.
    pub fn to_message(&self) -> Message {
        let mut message = Message::diagnostic(Code::ABORT, &self.reason);
        if let Some(number) = self.bad_option {
            message
                .options
                .push_uint(BAD_CSM_OPTION, u32::from(number.0));
        }
        message
    }
}

/// A signal that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The peer's capabilities, with what they are now.
    Capabilities(Capabilities),
    /// Wants this back; with custody, once all that was sent before is done with.
    Ping(Message),
    /// A ping came back.
    Pong(Token),
    /// The peer wants no more requests: another address and seconds to wait, where it says so.
    Release(Option<String>, Option<u32>),
    /// The peer gave up.
    Abort(Abort),
    /// A signal that is not known; it is passed over (RFC 8323 section 5.1).
    Unknown,
}

impl Signal {
    /// Reads a signal; an unknown critical option makes it unusable (RFC 8323 section 5.2).
    // [RFC8323-5.1-1]
    pub fn read(message: &Message, known: Capabilities) -> Result<Self, Abort> {
        let refused = |number: Number| Abort {
            bad_option: (message.code == Code::CSM).then_some(number),
            reason: alloc::format!("option {} of {} is critical", number.0, message.code),
        };
        match message.code {
            Code::CSM => {
                let mut capabilities = known;
                let taken = capabilities.take(message);
                taken.map(|()| Self::Capabilities(capabilities))
            }
            Code::PING => Self::only(message, &[CUSTODY]).map(|()| Self::Ping(pong(message))),
            Code::PONG => Self::only(message, &[CUSTODY]).map(|()| Self::Pong(message.token)),
            Code::RELEASE => {
                let only = Self::only(message, &[ALTERNATIVE_ADDRESS, HOLD_OFF]);
                only.map(|()| Self::release(message))
            }
            Code::ABORT => Ok(Self::Abort(Abort {
                bad_option: message
                    .options
                    .uint(BAD_CSM_OPTION)
                    .map(|number| Number(number as u16)),
                reason: String::from_utf8_lossy(&message.payload).into_owned(),
            })),
            _ => Ok(Self::Unknown),
        }
        .map_err(refused)
    }

    fn only(message: &Message, known: &[Number]) -> Result<(), Number> {
        let unknown = |number: &Number| number.is_critical() && !known.contains(number);
        let mut numbers = message.options.iter().map(|option| option.number);
        numbers.find(unknown).map_or(Ok(()), Err)
    }

    fn release(message: &Message) -> Self {
        let address = message.options.first(ALTERNATIVE_ADDRESS);
        let address = address.map(|text| String::from_utf8_lossy(text).into_owned());
        Self::Release(address, message.options.uint(HOLD_OFF))
    }
}

/// The answer to a ping: the same token, and custody where it was asked for (RFC 8323 section 5.4).
// [RFC8323-5.4-1]
fn pong(ping: &Message) -> Message {
    let mut pong = Message::new(Code::PONG);
    pong.token = ping.token;
    if ping.options.first(CUSTODY).is_some() {
        pong.options.push(CUSTODY, &[]);
    }
    pong
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// [RFC8323-5.3-2]
    #[test]
    fn capabilities_are_said_and_remembered() {
        let said = Capabilities {
            message_bytes_max: 70_000,
            block_wise: true,
        };
        let read = Signal::read(&said.to_message(), Capabilities::default()).unwrap();
        assert_eq!(read, Signal::Capabilities(said));
        let nothing = Signal::read(&Message::new(Code::CSM), said).unwrap();
        assert_eq!(nothing, Signal::Capabilities(said));
    }

    /// [RFC8323-5.1-1]
    #[test]
    fn an_unknown_critical_option_of_a_csm_is_named_in_the_abort() {
        let mut csm = Message::new(Code::CSM);
        csm.options.push(Number(9), &[]);
        let abort = Signal::read(&csm, Capabilities::default()).unwrap_err();
        assert_eq!(abort.bad_option, Some(Number(9)));
        let told = abort.to_message();
        assert_eq!(told.options.uint(Number(2)), Some(9));
        let read = Signal::read(&told, Capabilities::default()).unwrap();
        assert_eq!(read, Signal::Abort(abort));
    }

    /// [RFC8323-5.4-1]
    #[test]
    fn a_ping_comes_back_with_its_token_and_custody() {
        let mut ping = Message::new(Code::PING);
        ping.token = Token::new(&[1, 2]).unwrap();
        ping.options.push(CUSTODY, &[]);
        let Signal::Ping(pong) = Signal::read(&ping, Capabilities::default()).unwrap() else {
            panic!("a ping");
        };
        assert_eq!((pong.code, pong.token), (Code::PONG, ping.token));
        assert!(pong.options.first(CUSTODY).is_some());
    }

    #[test]
    fn a_release_may_name_another_address_and_a_time() {
        let mut release = Message::new(Code::RELEASE);
        release.options.push(ALTERNATIVE_ADDRESS, b"[::1]:5683");
        release.options.push_uint(HOLD_OFF, 5);
        let read = Signal::read(&release, Capabilities::default()).unwrap();
        assert_eq!(read, Signal::Release(Some("[::1]:5683".into()), Some(5)));
    }
}
