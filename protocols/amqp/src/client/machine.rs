//! What both versions' machines are to who drives them.

use super::{ClientEvent, Outgoing, Sent, Settle};
use alloc::string::String;
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

    /// What was to end ([`super::Options::ended`]) and stays, as this peer knows no way to end it.
    fn staying(&self) -> &[String] {
        &[]
    }

    /// When something is due next.
    fn deadline(&self) -> Instant;
}
