//! Error conditions, and what is wrong with bytes, and where.

use core::fmt;

/// A condition that weir tells (AMQP 1.0 sections 2.8.15 to 2.8.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition(pub &'static str);

impl Condition {
    /// Something went wrong inside.
    pub const INTERNAL_ERROR: Self = Self("amqp:internal-error");
    /// There is nothing at an address.
    pub const NOT_FOUND: Self = Self("amqp:not-found");
    /// The peer may not do this.
    pub const UNAUTHORIZED_ACCESS: Self = Self("amqp:unauthorized-access");
    /// Bytes that are no frame.
    pub const DECODE_ERROR: Self = Self("amqp:decode-error");
    /// A limit is reached.
    pub const RESOURCE_LIMIT_EXCEEDED: Self = Self("amqp:resource-limit-exceeded");
    /// The peer may not do this here.
    pub const NOT_ALLOWED: Self = Self("amqp:not-allowed");
    /// A field's value is none that may stand there.
    pub const INVALID_FIELD: Self = Self("amqp:invalid-field");
    /// This is not done here.
    pub const NOT_IMPLEMENTED: Self = Self("amqp:not-implemented");
    /// It cannot be done in the state that things are in.
    pub const PRECONDITION_FAILED: Self = Self("amqp:precondition-failed");
    /// What was there is gone.
    pub const RESOURCE_DELETED: Self = Self("amqp:resource-deleted");
    /// The gateway closes.
    pub const CONNECTION_FORCED: Self = Self("amqp:connection:forced");
    /// A frame cannot be made sense of.
    pub const FRAMING_ERROR: Self = Self("amqp:connection:framing-error");
    /// More transfers came than the session's window had room for.
    pub const WINDOW_VIOLATION: Self = Self("amqp:session:window-violation");
    /// A frame for a link that is not attached.
    pub const UNATTACHED_HANDLE: Self = Self("amqp:session:unattached-handle");
    /// A handle that is in use.
    pub const HANDLE_IN_USE: Self = Self("amqp:session:handle-in-use");
    /// A session that does not go on with its links.
    pub const ERRANT_LINK: Self = Self("amqp:session:errant-link");
    /// The link is ended by its peer's doing.
    pub const DETACH_FORCED: Self = Self("amqp:link:detach-forced");
    /// More came than there was credit for.
    pub const TRANSFER_LIMIT_EXCEEDED: Self = Self("amqp:link:transfer-limit-exceeded");
    /// A message is larger than the link takes.
    pub const MESSAGE_SIZE_EXCEEDED: Self = Self("amqp:link:message-size-exceeded");
    /// The link is another connection's now.
    pub const STOLEN: Self = Self("amqp:link:stolen");
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A broken rule of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What the peer is told.
    pub condition: Condition,
    /// The byte at fault, counted from the first of the frame or of the message.
    pub offset: usize,
    /// The rule, in a few words.
    pub rule: &'static str,
}

impl Fault {
    /// A fault with its condition.
    pub const fn new(condition: Condition, offset: usize, rule: &'static str) -> Self {
        Self {
            condition,
            offset,
            rule,
        }
    }

    /// Bytes that are not what should stand there.
    pub const fn decode(offset: usize, rule: &'static str) -> Self {
        Self::new(Condition::DECODE_ERROR, offset, rule)
    }

    /// A field with a value that it cannot have.
    pub const fn field(offset: usize, rule: &'static str) -> Self {
        Self::new(Condition::INVALID_FIELD, offset, rule)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            condition,
            offset,
            rule,
        } = self;
        write!(f, "byte {offset}: {rule} ({condition})")
    }
}

impl core::error::Error for Fault {}
