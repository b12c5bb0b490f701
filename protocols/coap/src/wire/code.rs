//! Codes: what a message asks, or how it answers.

use core::fmt;

/// A message's code, class and detail (RFC 7252 section 3); unknown values survive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u8);

impl Code {
    /// The code of this class and detail.
    pub const fn new(class: u8, detail: u8) -> Self {
        Self(class << 5 | detail & 0x1f)
    }

    /// 0 request, 2 success, 4 client error, 5 server error, 7 signal.
    pub const fn class(self) -> u8 {
        self.0 >> 5
    }

    /// The two digits behind the point.
    pub const fn detail(self) -> u8 {
        self.0 & 0x1f
    }

    /// Says whether this is a method.
    pub const fn is_request(self) -> bool {
        self.class() == 0 && self.0 != 0
    }

    /// Says whether this is a response code.
    pub const fn is_response(self) -> bool {
        matches!(self.class(), 2 | 4 | 5)
    }

    /// Says whether this is a signal of a reliable transport (RFC 8323 section 5.1).
    pub const fn is_signal(self) -> bool {
        self.class() == 7
    }

    /// Says whether this is a response that tells of success.
    // [RFC7252-5.2-1]
    pub const fn is_success(self) -> bool {
        self.class() == 2
    }

    /// The method as HTTP spells it, where there is one (RFC 7252 section 12.1.1, RFC 8132 section 4).
    pub fn method(self) -> Option<&'static str> {
        METHODS
            .iter()
            .find(|(code, _)| *code == self)
            .map(|(_, name)| *name)
    }
}

/// Methods with their names.
const METHODS: &[(Code, &str)] = &[
    (Code::GET, "GET"),
    (Code::POST, "POST"),
    (Code::PUT, "PUT"),
    (Code::DELETE, "DELETE"),
    (Code::FETCH, "FETCH"),
    (Code::PATCH, "PATCH"),
    (Code::IPATCH, "iPATCH"),
];

/// The codes of RFC 7252 section 12.1, RFC 7959 section 6, RFC 8132 section 4, RFC 8323 section 11.1,
/// RFC 8768 section 6 and RFC 8516 section 4.
#[allow(missing_docs, reason = "named as in the registry")]
impl Code {
    pub const EMPTY: Self = Self(0);
    pub const GET: Self = Self::new(0, 1);
    pub const POST: Self = Self::new(0, 2);
    pub const PUT: Self = Self::new(0, 3);
    pub const DELETE: Self = Self::new(0, 4);
    pub const FETCH: Self = Self::new(0, 5);
    pub const PATCH: Self = Self::new(0, 6);
    pub const IPATCH: Self = Self::new(0, 7);
    pub const CREATED: Self = Self::new(2, 1);
    pub const DELETED: Self = Self::new(2, 2);
    pub const VALID: Self = Self::new(2, 3);
    pub const CHANGED: Self = Self::new(2, 4);
    pub const CONTENT: Self = Self::new(2, 5);
    pub const CONTINUE: Self = Self::new(2, 31);
    pub const BAD_REQUEST: Self = Self::new(4, 0);
    pub const UNAUTHORIZED: Self = Self::new(4, 1);
    pub const BAD_OPTION: Self = Self::new(4, 2);
    pub const FORBIDDEN: Self = Self::new(4, 3);
    pub const NOT_FOUND: Self = Self::new(4, 4);
    pub const METHOD_NOT_ALLOWED: Self = Self::new(4, 5);
    pub const NOT_ACCEPTABLE: Self = Self::new(4, 6);
    pub const REQUEST_ENTITY_INCOMPLETE: Self = Self::new(4, 8);
    pub const CONFLICT: Self = Self::new(4, 9);
    pub const PRECONDITION_FAILED: Self = Self::new(4, 12);
    pub const REQUEST_ENTITY_TOO_LARGE: Self = Self::new(4, 13);
    pub const UNSUPPORTED_CONTENT_FORMAT: Self = Self::new(4, 15);
    pub const UNPROCESSABLE_ENTITY: Self = Self::new(4, 22);
    pub const TOO_MANY_REQUESTS: Self = Self::new(4, 29);
    pub const INTERNAL_SERVER_ERROR: Self = Self::new(5, 0);
    pub const NOT_IMPLEMENTED: Self = Self::new(5, 1);
    pub const BAD_GATEWAY: Self = Self::new(5, 2);
    pub const SERVICE_UNAVAILABLE: Self = Self::new(5, 3);
    pub const GATEWAY_TIMEOUT: Self = Self::new(5, 4);
    pub const PROXYING_NOT_SUPPORTED: Self = Self::new(5, 5);
    pub const HOP_LIMIT_REACHED: Self = Self::new(5, 8);
    pub const CSM: Self = Self::new(7, 1);
    pub const PING: Self = Self::new(7, 2);
    pub const PONG: Self = Self::new(7, 3);
    pub const RELEASE: Self = Self::new(7, 4);
    pub const ABORT: Self = Self::new(7, 5);
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.class(), self.detail())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_code_is_written_as_class_and_two_digits() {
        assert_eq!(Code(0x45).to_string(), "2.05");
        assert_eq!(Code(0x84), Code::NOT_FOUND);
        assert_eq!(Code::CONTINUE.0, 0x5f);
        assert!(Code::GET.is_request() && !Code::EMPTY.is_request());
        assert_eq!(Code::IPATCH.method(), Some("iPATCH"));
        assert_eq!(Code::new(0, 9).method(), None);
    }
}
