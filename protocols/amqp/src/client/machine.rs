//! What both versions' machines are to who drives them.

use super::{ClientEvent, Outgoing, Sent, Settle};
use alloc::vec::Vec;
use core::convert::Infallible;
use weir_sansio::{Instant, Session};

/// A client's machine: told the time and bytes, asked for bytes and events.
pub trait Machine:
    Session<Transmit = Vec<u8>, Event = ClientEvent, Error = Infallible> + Send
{
    /// Writes a message behind what is there.
    fn publish(&mut self, now: Instant, message: &Outgoing<'_>, out: &mut Vec<u8>) -> Sent;

    /// Answers a message that came.
    fn settle(&mut self, tag: u64, answer: Settle);

    /// Says goodbye; what comes after is not heard.
    fn close(&mut self);

    /// When something is due next.
    fn deadline(&self) -> Instant;
}
