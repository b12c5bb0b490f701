//! Why a client cannot go on: whom it spoke to, what it was doing, and what came in between.

use std::fmt;
use std::io::{self, ErrorKind};

/// What failed, of one peer.
#[derive(Debug)]
pub struct Error {
    /// Whom was spoken to: an address, a domain.
    pub peer: String,
    /// What was being done, as in `subscribing by MQTT`.
    pub doing: &'static str,
    /// What came in between.
    pub cause: Cause,
}

/// What came in between.
#[derive(Debug)]
pub enum Cause {
    /// The socket, or the pipe.
    Io(io::Error),
    /// TLS.
    Tls(rustls::Error),
    /// Nothing came for as long as it may take.
    Silent,
    /// The peer ended the connection, in its words if it has any.
    Closed(String),
    /// The peer answered, and not with success: its words.
    Refused(String),
    /// What came is not what the protocol, or the question, allows.
    Unlike(String),
    /// What was to be sent cannot be.
    Unsendable(String),
    /// As many requests are under way as may be.
    Full,
    /// The kernel does not tell what it counted.
    Uncounted(&'static str),
}

impl Cause {
    /// The error, once it is known of whom and while what.
    pub fn of(self, peer: impl ToString, doing: &'static str) -> Error {
        Error {
            peer: peer.to_string(),
            doing,
            cause: self,
        }
    }
}

impl From<io::Error> for Cause {
    /// A blocking socket that waited for as long as it may would block.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock => Self::Silent,
            _ => Self::Io(error),
        }
    }
}

impl From<rustls::Error> for Cause {
    fn from(error: rustls::Error) -> Self {
        Self::Tls(error)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Tls(error) => write!(f, "TLS: {error}"),
            Self::Silent => f.write_str("the peer was silent for too long"),
            Self::Closed(said) if said.is_empty() => f.write_str("the peer closed the connection"),
            Self::Closed(said) => write!(f, "the connection is over: {said}"),
            Self::Refused(said) => write!(f, "answered {said}"),
            Self::Unlike(what) => f.write_str(what),
            Self::Unsendable(why) => write!(f, "it cannot be sent: {why}"),
            Self::Full => f.write_str("too many requests are under way"),
            Self::Uncounted(why) => write!(f, "TCP_INFO: {why}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.peer, self.doing, self.cause)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::Io(error) => Some(error),
            Cause::Tls(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}

/// What is said of a result where more is known of what was being done.
pub(crate) trait Doing {
    /// The same while that was done.
    fn doing(self, doing: &'static str) -> Self;
}

impl<T> Doing for Result<T, Error> {
    fn doing(self, doing: &'static str) -> Self {
        self.map_err(|error| Error { doing, ..error })
    }
}

/// What came, or nothing where the peer was silent for as long as it may be.
pub fn unless_silent<T>(came: Result<T, Error>) -> Result<Option<T>, Error> {
    match came {
        Ok(came) => Ok(Some(came)),
        Err(error) if matches!(error.cause, Cause::Silent) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_error_names_the_peer_and_what_was_being_done() {
        let error = Cause::Refused("4.04 no such thing".into()).of("127.0.0.1:5683", "asking");
        let said = "127.0.0.1:5683: asking: answered 4.04 no such thing";
        assert_eq!(String::from(error), said);
    }

    #[test]
    fn silence_is_nothing_and_every_other_failure_stays_one() {
        let silent = io::Error::from(ErrorKind::WouldBlock);
        let come: Result<(), _> = Err(Cause::from(silent).of("a", "waiting"));
        assert!(unless_silent(come).unwrap().is_none());
        let gone = io::Error::from(ErrorKind::ConnectionReset);
        let come: Result<(), _> = Err(Cause::from(gone).of("a", "waiting"));
        assert!(unless_silent(come).is_err());
    }
}
