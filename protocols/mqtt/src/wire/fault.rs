//! What is wrong with a packet, and where.

use super::reason::ReasonCode;
use core::fmt;

/// A broken rule of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What the peer is told.
    pub code: ReasonCode,
    /// The byte at fault, counted from the packet's first.
    pub offset: usize,
    /// The rule, in a few words.
    pub rule: &'static str,
}

impl Fault {
    /// Bytes that are no packet (0x81).
    pub const fn malformed(offset: usize, rule: &'static str) -> Self {
        Self::new(ReasonCode::MALFORMED_PACKET, offset, rule)
    }

    /// A packet that may not be (0x82).
    pub const fn protocol(offset: usize, rule: &'static str) -> Self {
        Self::new(ReasonCode::PROTOCOL_ERROR, offset, rule)
    }

    /// A fault with another code.
    pub const fn new(code: ReasonCode, offset: usize, rule: &'static str) -> Self {
        Self { code, offset, rule }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, offset, rule } = self;
        write!(f, "byte {offset}: {rule} ({code})")
    }
}

impl core::error::Error for Fault {}
