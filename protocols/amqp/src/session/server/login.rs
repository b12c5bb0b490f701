//! SASL, as far as the gateway takes it (AMQP 1.0 section 5.3): PLAIN (RFC 4616), ANONYMOUS (RFC 4505)
//! and EXTERNAL (RFC 4422 appendix A), which each need one message.

use super::{Phase, Server, ServerEvent};
use crate::wire::{Condition, Error, Fault, ProtocolHeader, Sasl, SaslCode, Symbol};
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// Which mechanisms are offered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mechanisms {
    /// Whether something outside of AMQP has said who the client is.
    pub external: bool,
}

impl Mechanisms {
    /// As they are told, best first.
    pub(super) fn names(self) -> Vec<Symbol> {
        // [AMQP-5.3.3-5]
        let external = self.external.then_some(Symbol::new("EXTERNAL"));
        let others = [Symbol::new("PLAIN"), Symbol::new("ANONYMOUS")];
        external.into_iter().chain(others).collect()
    }
}

/// Who the client says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// It speaks no SASL.
    Unsaid,
    /// Nobody.
    Anonymous,
    /// Whoever is known from outside of AMQP, to act as who is named; empty for itself (RFC 4422 appendix A).
    External(String),
    /// This user, with this password.
    Plain(String, Vec<u8>),
}

impl Server {
    pub(super) fn take_sasl(&mut self, sasl: Sasl) -> Result<(), Fault> {
        let Sasl::Init {
            mechanism,
            initial_response,
            ..
        } = sasl
        else {
            let rule = "a client begins with its choice of a mechanism";
            return Err(Fault::new(Condition::NOT_ALLOWED, 8, rule));
        };
        let response = initial_response.unwrap_or_default();
        let login = match mechanism.as_str() {
            "ANONYMOUS" => Some(Login::Anonymous),
            "EXTERNAL" if self.mechanisms.external => external(&response),
            "PLAIN" => plain(&response),
            _ => None,
        };
        self.phase = Phase::Deciding;
        match login {
            Some(login) => self.events.push_back(ServerEvent::Login(login)),
            None => self.admit(Err((
                SaslCode::AUTH,
                "no such mechanism, or a response that is none",
            ))),
        }
        Ok(())
    }

    /// Decides a [`ServerEvent::Login`]: lets the client in, or says why not.
    pub fn admit(&mut self, decision: Result<(), (SaslCode, &str)>) {
        if self.phase != Phase::Deciding {
            return;
        }
        match (decision, self.sasl) {
            (Ok(()), true) => {
                // [AMQP-5.3.3-1]
                Sasl::Outcome(SaslCode::OK, None).write(&mut self.out);
                self.phase = Phase::Header;
            }
            (Ok(()), false) => {
                self.out.extend_from_slice(&ProtocolHeader::AMQP.bytes());
                self.phase = Phase::Opening;
            }
            (Err((code, reason)), true) => {
                // [AMQP-5.3.3-2]
                let reason = Bytes::copy_from_slice(reason.as_bytes());
                Sasl::Outcome(code, Some(reason)).write(&mut self.out);
                self.refused();
            }
            // Section 2.2: what would have been taken.
            (Err(_), false) => {
                self.out.extend_from_slice(&ProtocolHeader::SASL.bytes());
                self.refused();
            }
        }
    }

    fn refused(&mut self) {
        let sentence = "the client was not let in";
        self.over(Some(Error::new(Condition::UNAUTHORIZED_ACCESS, sentence)));
    }
}

/// RFC 4422 appendix A.1: who to act as, or nothing.
fn external(response: &[u8]) -> Option<Login> {
    let name = core::str::from_utf8(response).ok()?;
    Some(Login::External(name.into()))
}

/// RFC 4616: who to act as, who it is, and the password, with a zero between.
fn plain(response: &Bytes) -> Option<Login> {
    let mut parts = response.splitn(3, |byte| *byte == 0);
    let (act_as, user, password) = (parts.next()?, parts.next()?, parts.next()?);
    // Nobody acts as somebody else (section 2).
    if !act_as.is_empty() && act_as != user {
        return None;
    }
    let user = core::str::from_utf8(user).ok()?;
    Some(Login::Plain(user.into(), password.to_vec()))
}
